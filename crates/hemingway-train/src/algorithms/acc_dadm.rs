//! Accelerated DADM: mini-batch dual ascent inside a proximal point method with momentum.
//!
//! Where λn is small, dual steps are short and DADM slow. Here it minimises P(w) + (κ/2)‖w − y‖² instead, whose steps are
//! long, for about as many rounds as a pass over the rows takes; then the centre y moves on, beyond the new weights by a
//! share of what they moved:
//!
//! ```text
//! y = w_t + β(w_t − w_{t−1}),  β = (1 − √q)/(1 + √q),  q = λ/(λ + κ).
//! ```
//!
//! The number of rounds then grows with the root of the condition. Where the move and the momentum point apart, the
//! momentum has gone too far and begins anew, without which rounds are up to 3.6 times as many. The weights are those of the inner problem, (κy + (1/n) Σ α_i x_i)/(λ + κ);
//! the duals are feasible for the problem itself, and what they prove is computed from the weights that belong to them there.
//!
//! Zheng et al., A general distributed dual coordinate optimization framework for regularized loss minimization, 2017;
//! Lin et al., A universal catalyst for first-order optimization, 2015.

use super::dadm::{self, rows_of_batch};
use super::line_search::add;
use super::local_dual::{self, begin};
use super::{About, Entry, Family, Floor, TakeOver, suits_all};
use crate::aggregation::Aggregation;
use crate::footprint::{Leaves, Vectors};
use crate::local::dot;
use crate::sdca::Sdca;
use crate::{Algorithm, Error, Model, Phase, Share, Solver, Worker};

/// Hyperparameters of accelerated DADM.
#[derive(Debug, Clone, PartialEq)]
pub struct AccDadm {
    /// Rows per round over all workers; a fifth of them if not given.
    pub batch: Option<usize>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "acc-dadm",
    summary: "dadm inside a proximal point method with momentum, for small lambda",
    reference: "Zheng et al. 2017",
    about: About {
        idea: "DADM inside a proximal point method: each inner problem has a larger penalty around a \
            centre, so that dual steps are long, and the centre moves on with momentum. Rounds grow \
            with the root of the condition.",
        suits: "Any loss, where lambda times the number of rows is below about 1. For larger lambda \
            dadm and cocoa-plus are as good.",
        round: "A coordinate step on each row of the batch, then a sum of one number for each feature.",
        counts: "rounds",
        defaults: &["a fifth of the rows"],
        floor: Floor::None,
    },
    parameters: &["batch"],
    vectors: Vectors {
        weights: 7.0,
        rows: 6.0,
        saved_weights: 3.0,
        saved_rows: 2.0,
        leaves: Leaves::Duals,
        ..Vectors::NONE
    },
    family: Family::Dual,
    depends_on_workers: true,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 0.91,
    takes_over: |_| TakeOver::After { rounds: 2.5 },
    unsuited: suits_all,
    set_up,
    round: dadm::round,
    build: |given| Box::new(AccDadm { batch: given.batch }),
};

impl Algorithm for AccDadm {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn starts_from_duals(&self) -> bool {
        true
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let rows = rows_of_batch(worker, self.batch)?;
        let (duals, weights) = begin(worker, from, saved)?;
        let (proximal, lambda) = (proximal(worker)?, worker.local.problem.lambda);
        let (centre, before) = (weights.clone(), weights.clone());
        let sdca = Sdca::new(worker, duals, weights, Aggregation::Adding)?.with_penalty(lambda + proximal);
        let root = (lambda / (lambda + proximal)).sqrt();
        let mut solver = Accelerated {
            sdca,
            rows,
            inner: inner_rounds(worker.local.total_rows, self.batch),
            done: 0,
            pull: proximal / (lambda + proximal),
            momentum: (1.0 - root) / (1.0 + root),
            centre,
            before,
        };
        if let Some(saved) = saved.filter(|saved| !saved.is_empty()) {
            solver.restore(saved)?;
        }
        Ok(Box::new(solver))
    }
}

fn set_up(share: &Share) -> Vec<Phase> {
    std::iter::once(Phase::once(share.squares(), 1)).chain(local_dual::set_up(share)).collect()
}

/// κ: with it the curvature of an average row, as m workers crowd each other, is as large as that of its loss. A third of
/// it, or three times as much, takes up to 2.3 times as many rounds on a9a with λ from 1e-5 to 1e-7.
fn proximal(worker: &mut Worker) -> Result<f64, Error> {
    let norms = worker.local.squared_norms(worker.local.rows());
    worker.local.meter(worker.local.stored() as f64);
    let n = worker.local.total_rows as f64;
    let mean = worker.sum_of(norms)? / n;
    let problem = worker.local.problem;
    let wanted = problem.loss.smoothness().unwrap_or(1.0) * mean * worker.size() as f64 / n;
    Ok((wanted - problem.lambda).clamp(0.0, f64::MAX / 4.0))
}

/// About a pass over the rows, the same on every worker. Half of it loses the way where λ is small, twice as much takes up to
/// half as many rounds again.
fn inner_rounds(total_rows: usize, batch: Option<usize>) -> usize {
    batch.map_or((1.0 / dadm::DEFAULT_SHARE) as usize, |batch| total_rows.div_ceil(batch))
}

struct Accelerated {
    sdca: Sdca,
    /// Rows of this worker per round.
    rows: usize,
    /// Rounds for one centre, and how many of them are done.
    inner: usize,
    done: usize,
    /// κ/(λ + κ): how far the weights follow the centre.
    pull: f64,
    /// β.
    momentum: f64,
    /// y.
    centre: Vec<f64>,
    /// The weights that the centre before led to.
    before: Vec<f64>,
}

impl Accelerated {
    /// The next centre.
    fn move_on(&mut self, features: usize) {
        let weights = &self.sdca.weights()[..features];
        let mut step = weights.to_vec();
        add(&mut step, -1.0, &self.before);
        let mut shift = weights.to_vec();
        add(&mut shift, -1.0, &self.centre);
        // −shift is the gradient at the centre, up to a factor.
        if dot(&shift, &step) >= 0.0 {
            add(&mut shift, self.momentum, &step);
        }
        add(&mut self.before, 1.0, &step);
        add(&mut self.centre, 1.0, &shift);
        shift.iter_mut().for_each(|value| *value *= self.pull);
        self.sdca.shift(&shift);
    }

    fn restore(&mut self, saved: &[f64]) -> Result<(), Error> {
        let dimension = self.centre.len();
        let (mine, rest) = saved.split_at_checked(1 + 2 * dimension).ok_or_else(Error::damaged_worker)?;
        self.done = mine[0] as usize;
        self.centre.copy_from_slice(&mine[1..=dimension]);
        self.before.copy_from_slice(&mine[1 + dimension..]);
        self.sdca.restore(rest)
    }
}

impl Solver for Accelerated {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        if self.done == self.inner {
            self.done = 0;
            self.move_on(worker.local.features());
        }
        self.done += 1;
        self.sdca.round_on_sample(worker, self.rows)
    }

    fn weights(&self) -> &[f64] {
        self.sdca.weights()
    }

    fn proposal(&self) -> &[f64] {
        self.sdca.proposal()
    }

    fn duals(&self) -> Option<Vec<f64>> {
        Some(self.sdca.duals())
    }

    fn weights_belong_to_duals(&self) -> bool {
        false
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.done as f64];
        saved.extend(&self.centre);
        saved.extend(&self.before);
        saved.extend(self.sdca.save());
        saved
    }
}
