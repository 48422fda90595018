//! L-BFGS: quasi-Newton steps from the last few changes of weights and gradient.
//!
//! A round is one step: a direction from the two-loop recursion (the same on every worker), half a pass for its
//! predictions, a line search, half a pass for the new gradient. On the hinge it takes subgradients, without
//! guarantee.
//!
//! Nocedal and Wright, Numerical Optimization, 2nd edition, chapters 3 and 7.

use std::collections::VecDeque;

use super::drift::Drift;
use super::line_search::{self, LineSearch, add};
use super::{About, Entry, Family, Floor, Passes, TakeOver, suits_all};
use crate::footprint::{Leaves, Vectors};
use crate::local::dot;
use crate::{Algorithm, Error, Estimate, Model, Phase, Share, Solver, Worker};

/// Hyperparameters of L-BFGS.
#[derive(Debug, Clone, PartialEq)]
pub struct Lbfgs {
    /// Pairs of changes kept.
    pub memory: Option<usize>,
}

pub(super) const DEFAULT_MEMORY: usize = 10;

pub(super) static ENTRY: Entry = Entry {
    name: "l-bfgs",
    summary: "quasi-Newton steps with whole gradients; strong on smooth losses",
    reference: "Nocedal 1980",
    about: About {
        idea: "Steps along the gradient over all rows, bent by what the last few steps showed of its curvature, \
            with a line search along each. Every worker finds the same direction, so only gradients are \
            summed.",
        suits: "Smooth losses (logistic, squared, smoothed-hinge), any number of features. On the hinge it takes \
            subgradients, without a guarantee, and may stop early.",
        round: "A pass over the worker's rows in two halves, a sum of one number for each feature, and short \
            sums of the line search. The number of workers does not change what it achieves.",
        counts: "rounds",
        defaults: &["10"],
        floor: Floor::None,
    },
    parameters: &["memory"],
    vectors: Vectors {
        weights: 8.0,
        rows: 3.0,
        pairs: DEFAULT_MEMORY,
        saved_rows: 1.0,
        leaves: Leaves::Gradient,
        ..Vectors::NONE
    },
    family: Family::Batch,
    depends_on_workers: false,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 0.62,
    takes_over: |_| TakeOver::After { rounds: 2.0 },
    unsuited: suits_all,
    set_up,
    round: |share| line_search::round(share).into(),
    build: |given| Box::new(Lbfgs { memory: given.memory }),
};

impl Algorithm for Lbfgs {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let memory = self.memory.unwrap_or(DEFAULT_MEMORY);
        let passes = Passes::at(worker, from.weights.clone())?;
        let (search, (scale, drift)) = (LineSearch::new(worker), scale(worker)?);
        let mut solver =
            QuasiNewton { passes, pairs: VecDeque::new(), memory, search, scale, drift, stuck: false };
        if let Some(saved) = saved {
            solver.restore(worker, saved)?;
        }
        Ok(Box::new(solver))
    }
}

/// A pass at the first weights, and the diagonal of the Hessian.
pub(super) fn set_up(share: &Share) -> Vec<Phase> {
    vec![
        Phase::once(share.steps(share.rows, 2.0), share.dimension + 1),
        Phase::once(share.squares(), share.dimension),
    ]
}

struct QuasiNewton {
    passes: Passes,
    pairs: VecDeque<Pair>,
    memory: usize,
    search: LineSearch,
    /// The first guess of the inverse Hessian's diagonal, up to a factor.
    scale: Vec<f64>,
    drift: Drift,
    stuck: bool,
}

/// A change of weights and the change of gradient it caused.
struct Pair {
    weights: Vec<f64>,
    gradient: Vec<f64>,
    /// Their product, positive.
    product: f64,
}

impl QuasiNewton {
    /// −H∇P by the two-loop recursion.
    fn direction(&self) -> Vec<f64> {
        let mut direction: Vec<f64> = self.passes.gradient.iter().map(|slope| -slope).collect();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = dot(&pair.weights, &direction) / pair.product;
            add(&mut direction, -share, &pair.gradient);
            shares.push(share);
        }
        let factor = self.pairs.back().map_or(1.0, |last| last.product / last.scaled_square(&self.scale));
        direction.iter_mut().zip(&self.scale).for_each(|(value, scale)| *value *= factor * scale);
        for (pair, share) in self.pairs.iter().zip(shares.iter().rev()) {
            let correction = share - dot(&pair.gradient, &direction) / pair.product;
            add(&mut direction, correction, &pair.weights);
        }
        direction
    }

    fn accurate(&self) -> bool {
        self.drift.is_small(&self.passes.weights, self.passes.objective)
    }

    /// Predictions were updated step by step, so they are restored rather than computed afresh.
    fn restore(&mut self, worker: &mut Worker, saved: &[f64]) -> Result<(), Error> {
        let dimension = self.passes.weights.len();
        let (predictions, pairs) =
            saved.split_at_checked(worker.local.rows()).ok_or_else(Error::damaged_worker)?;
        if !pairs.len().is_multiple_of(2 * dimension) {
            return Err(Error::damaged_worker());
        }
        self.passes.restore(worker, predictions)?;
        self.pairs = pairs
            .chunks(2 * dimension)
            .map(|pair| Pair::new(pair[..dimension].to_vec(), pair[dimension..].to_vec()))
            .collect();
        Ok(())
    }
}

/// Features of small values need long steps. The root of the curvature's diagonal is a compromise between none and
/// all of it: it saved up to a quarter of the rounds on every dataset tried, the whole diagonal less or nothing. What
/// rounding depends on comes with it.
pub(super) fn scale(worker: &mut Worker) -> Result<(Vec<f64>, Drift), Error> {
    let mut squares = vec![0.0; worker.local.dimension()];
    worker.local.add_squares(&mut squares);
    worker.sum(&mut squares)?;
    let problem = worker.local.problem;
    let curvature = problem.loss.smoothness().unwrap_or(1.0) / worker.local.total_rows as f64;
    let scale = squares.iter().map(|square| 1.0 / (problem.lambda + curvature * square).sqrt());
    Ok((scale.collect(), Drift::of_squares(squares.iter().sum())))
}

impl Pair {
    /// ‖change of gradient‖² under a diagonal scale.
    fn scaled_square(&self, scale: &[f64]) -> f64 {
        self.gradient.iter().zip(scale).map(|(change, scale)| change * change * scale).sum()
    }

    fn new(weights: Vec<f64>, gradient: Vec<f64>) -> Pair {
        let product = dot(&weights, &gradient);
        Pair { weights, gradient, product }
    }
}

impl Solver for QuasiNewton {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let mut direction = self.direction();
        let mut slope = dot(&self.passes.gradient, &direction);
        if slope >= 0.0 || slope.is_nan() {
            self.pairs.clear();
            direction = self.direction();
            slope = dot(&self.passes.gradient, &direction);
        }
        if slope == 0.0 {
            self.stuck = true;
            return Ok(());
        }
        let first = if self.pairs.is_empty() { 1.0 / dot(&direction, &direction).sqrt() } else { 1.0 };
        let first = first.min(f64::MAX);
        let before = self.passes.gradient.clone();
        let Some(step) = self.search.advance(worker, &mut self.passes, direction, first)? else {
            // Without curvature pairs this was the gradient itself, and even that leads nowhere.
            self.stuck = self.pairs.is_empty();
            self.pairs.clear();
            return Ok(());
        };
        let change = self.passes.gradient.iter().zip(&before).map(|(now, then)| now - then).collect();
        let pair = Pair::new(step, change);
        if pair.product > 0.0 {
            self.pairs.push_back(pair);
            if self.pairs.len() > self.memory {
                self.pairs.pop_front();
            }
        }
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        &self.passes.weights
    }

    fn predictions(&self) -> Option<&[f64]> {
        self.accurate().then_some(&self.passes.predictions)
    }

    fn gradient(&self) -> Option<&[f64]> {
        self.accurate().then_some(&self.passes.gradient)
    }

    fn stuck(&self) -> bool {
        self.stuck
    }

    fn estimate(&self) -> Option<Estimate> {
        self.passes.estimate()
    }

    fn save(&self) -> Vec<f64> {
        let pairs = self.pairs.iter().flat_map(|pair| pair.weights.iter().chain(&pair.gradient));
        self.passes.predictions.iter().chain(pairs).copied().collect()
    }
}
