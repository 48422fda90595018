//! L-BFGS: quasi-Newton steps from the last few changes of weights and gradient.
//!
//! A round is one step: a direction from the two-loop recursion (the same on every worker), one pass for its
//! predictions, a line search, one pass for the new gradient. Predictions are linear in the weights, so each try
//! of the line search needs only the loss of numbers at hand and a sum of two scalars, no pass over the data.
//! On the hinge it takes subgradients, without guarantee.
//!
//! Nocedal and Wright, Numerical Optimization, 2nd edition, chapters 3 and 7.

use std::collections::VecDeque;

use super::Passes;
use crate::local::dot;
use crate::{Algorithm, Error, Estimate, Model, Parameters, Solver, Worker};

/// Hyperparameters of L-BFGS.
#[derive(Debug, Clone, PartialEq)]
pub struct Lbfgs {
    /// Pairs of changes kept.
    pub memory: Option<usize>,
}

const DEFAULT_MEMORY: usize = 10;

impl Algorithm for Lbfgs {
    fn name(&self) -> &'static str {
        "l-bfgs"
    }

    fn parameters(&self) -> Parameters {
        Parameters { memory: self.memory, ..Parameters::default() }
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let memory = self.memory.unwrap_or(DEFAULT_MEMORY);
        let passes = Passes::at(worker, from.weights.clone())?;
        let (step, slopes) = (vec![0.0; worker.local.rows()], vec![0.0; worker.local.rows()]);
        let scale = scale(worker)?;
        let mut solver =
            QuasiNewton { passes, pairs: VecDeque::new(), memory, step, slopes, scale, stuck: false };
        if let Some(saved) = saved {
            solver.restore(worker, saved)?;
        }
        Ok(Box::new(solver))
    }
}

struct QuasiNewton {
    passes: Passes,
    pairs: VecDeque<Pair>,
    memory: usize,
    /// Predictions of the direction, and slopes at the last step length tried, for this worker's rows.
    step: Vec<f64>,
    slopes: Vec<f64>,
    /// The first guess of the inverse Hessian's diagonal, up to a factor.
    scale: Vec<f64>,
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

    /// A step length that satisfies the strong Wolfe conditions, by safeguarded interpolation of slopes.
    /// Leaves the slopes of that step behind.
    fn search(&mut self, worker: &mut Worker, direction: &[f64], first: f64) -> Result<Option<Step>, Error> {
        let line = Line::new(worker, &self.passes, direction);
        let slope = dot(&self.passes.gradient, direction);
        let (mut low, mut high) = ((0.0, slope), None::<(f64, f64)>);
        let mut length = first;
        for _ in 0..MOST_TRIES {
            let (value, derivative, loss) = self.try_length(worker, &line, length)?;
            let sufficient = value <= self.passes.objective + SUFFICIENT * length * slope;
            if sufficient && derivative.abs() <= FLAT * slope.abs() {
                return Ok(Some(Step { length, loss }));
            }
            if sufficient && derivative < 0.0 {
                low = (length, derivative);
            } else {
                high = Some((length, if value.is_finite() { derivative } else { f64::INFINITY }));
            }
            length = match high {
                None => 4.0 * length,
                Some(high) => between(low, high),
            };
        }
        // A corner, or the end of precision: the longest step that was good enough, if there is one.
        let (length, _) = low;
        let (_, _, loss) = self.try_length(worker, &line, length)?;
        Ok((length > 0.0).then_some(Step { length, loss }))
    }

    /// Value and derivative of P at a step length, and this worker's loss there.
    fn try_length(
        &mut self,
        worker: &mut Worker,
        line: &Line,
        length: f64,
    ) -> Result<(f64, f64, f64), Error> {
        let QuasiNewton { passes, step, slopes, .. } = self;
        let loss = worker.local.slopes_along(&passes.predictions, step, length, slopes);
        let mut sums = [loss, dot(step, slopes)];
        worker.sum(&mut sums)?;
        let n = worker.local.total_rows as f64;
        let value = sums[0] / n + line.fixed + length * (line.linear + length * line.square);
        Ok((value, sums[1] / n + line.linear + 2.0 * length * line.square, loss))
    }

    /// Predictions were updated step by step, so they are restored rather than computed afresh.
    fn restore(&mut self, worker: &mut Worker, saved: &[f64]) -> Result<(), Error> {
        let dimension = self.passes.weights.len();
        let (predictions, pairs) =
            saved.split_at_checked(worker.local.rows()).ok_or_else(Error::damaged_worker)?;
        if !pairs.len().is_multiple_of(2 * dimension) {
            return Err(Error::damaged_worker());
        }
        self.passes.predictions.copy_from_slice(predictions);
        let loss = worker.local.loss(predictions);
        self.passes.pass_from_slopes(worker, loss, &worker.local.slopes(predictions))?;
        self.pairs = pairs
            .chunks(2 * dimension)
            .map(|pair| Pair::new(pair[..dimension].to_vec(), pair[dimension..].to_vec()))
            .collect();
        Ok(())
    }
}

/// A step has to lower the objective by this share of what the slope promises,
const SUFFICIENT: f64 = 1e-4;
/// and flatten the slope to this share of what it was.
const FLAT: f64 = 0.5;
const MOST_TRIES: usize = 25;

/// Where the slope should vanish between a point that still falls and one that rises, kept away from both.
fn between(low: (f64, f64), high: (f64, f64)) -> f64 {
    let share = -low.1 / (high.1 - low.1);
    let share = if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.1 };
    low.0 + share * (high.0 - low.0)
}

/// A step length that was accepted, and this worker's loss there.
struct Step {
    length: f64,
    loss: f64,
}

/// The penalty along a direction.
struct Line {
    /// (λ/2)‖w + t d‖² = fixed + t·linear + t²·square.
    fixed: f64,
    linear: f64,
    square: f64,
}

impl Line {
    fn new(worker: &Worker, passes: &Passes, direction: &[f64]) -> Line {
        let (features, lambda) = (worker.local.features(), worker.local.problem.lambda);
        let (weights, direction) = (&passes.weights[..features], &direction[..features]);
        Line {
            fixed: lambda / 2.0 * dot(weights, weights),
            linear: lambda * dot(weights, direction),
            square: lambda / 2.0 * dot(direction, direction),
        }
    }
}

/// Features of small values need long steps. The root of the curvature's diagonal is a compromise between none and
/// all of it: it saved up to a quarter of the rounds on every dataset tried, the whole diagonal less or nothing.
fn scale(worker: &mut Worker) -> Result<Vec<f64>, Error> {
    let mut squares = vec![0.0; worker.local.dimension()];
    worker.local.add_squares(&mut squares);
    worker.sum(&mut squares)?;
    let problem = worker.local.problem;
    let curvature = problem.loss.smoothness().unwrap_or(1.0) / worker.local.total_rows as f64;
    Ok(squares.iter().map(|square| 1.0 / (problem.lambda + curvature * square).sqrt()).collect())
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
        worker.local.predict(&direction, &mut self.step);
        let first = if self.pairs.is_empty() { 1.0 / dot(&direction, &direction).sqrt() } else { 1.0 };
        let Some(Step { length, loss }) = self.search(worker, &direction, first)? else {
            // Without curvature pairs this was the gradient itself, and even that leads nowhere.
            self.stuck = self.pairs.is_empty();
            self.pairs.clear();
            return Ok(());
        };
        let before = self.passes.gradient.clone();
        direction.iter_mut().for_each(|value| *value *= length);
        add(&mut self.passes.weights, 1.0, &direction);
        add(&mut self.passes.predictions, length, &self.step);
        self.passes.pass_from_slopes(worker, loss, &self.slopes)?;
        let change = self.passes.gradient.iter().zip(&before).map(|(now, then)| now - then).collect();
        let pair = Pair::new(direction, change);
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
        Some(&self.passes.predictions)
    }

    fn gradient(&self) -> Option<&[f64]> {
        Some(&self.passes.gradient)
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

/// values += scale·other.
fn add(values: &mut [f64], scale: f64, other: &[f64]) {
    values.iter_mut().zip(other).for_each(|(value, other)| *value += scale * other);
}
