//! Mini-batch SGD: every round one step along the mean gradient of a random batch, drawn in equal parts from all
//! workers. The noise of a step is ∝ ησ²/b.
//!
//! Dekel et al., Optimal distributed online prediction using mini-batches, 2012.

use hemingway_data::shard;

use super::sgd::{self, Move, descend, draw, known};
use super::step_size::StepSize;
use super::{About, Entry, Family, Floor, TakeOver, suits_all};
use crate::footprint::Vectors;
use crate::{Algorithm, Error, Model, Phase, Share, Solver, Worker};

/// Hyperparameters of mini-batch SGD.
#[derive(Debug, Clone, PartialEq)]
pub struct MinibatchSgd {
    /// Rows per round over all workers (b).
    pub batch: Option<usize>,
    /// First step size (η); searched for if not given.
    pub step_size: Option<f64>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "minibatch-sgd",
    summary: "one stochastic step per round from a batch over all workers",
    reference: "Dekel et al. 2012",
    about: About {
        idea: "Every round takes one step along the mean gradient of a random batch, drawn in equal parts from \
            all workers. Steps shrink with time; what is scored is an average over recent rounds.",
        suits: "Any loss, where a rough model is wanted soon and sums are fast: a round is short, so the network \
            decides. For errors below about 1e-3 other methods are faster.",
        round: "The worker's part of the batch, then a sum of one number for each feature.",
        counts: "rounds",
        defaults: &["256", "searched for"],
        floor: Floor::Falls,
    },
    parameters: &["batch", "step_size"],
    vectors: Vectors { weights: 4.0, rows: 0.5, saved_weights: 1.0, ..Vectors::NONE },
    family: Family::Stochastic,
    depends_on_workers: false,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 2.87,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up: |share| sgd::set_up(share, sgd::batch_each(share)),
    round,
    build: |given| Box::new(MinibatchSgd { batch: given.batch, step_size: given.step_size }),
};

impl Algorithm for MinibatchSgd {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let batch = sgd::batch(self.batch, worker)?;
        let gradient = vec![0.0; from.weights.len()];
        let mine = shard(batch, worker.size(), worker.rank()).len();
        let size = StepSize::choose(worker, known(saved, self.step_size), mine)?;
        sgd::start(worker, from, saved, size, Batch { rows: batch, gradient })
    }
}

fn round(share: &Share) -> Vec<Phase> {
    let steps = share.steps(sgd::batch_each(share), 2.0) + sgd::descent(share);
    vec![Phase::once(steps + sgd::averaging(share), share.dimension)]
}

/// One step along the mean gradient of so many rows.
struct Batch {
    rows: usize,
    gradient: Vec<f64>,
}

impl Move for Batch {
    fn round(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        weights: &mut [f64],
    ) -> Result<(), Error> {
        let mine = shard(self.rows, worker.size(), worker.rank()).len();
        let rows = draw(worker, round, mine);
        self.gradient.fill(0.0);
        worker.local.gradient_of(&rows, weights, &mut self.gradient);
        worker.sum(&mut self.gradient)?;
        descend(worker, size, round as f64, &self.gradient, self.rows, weights);
        Ok(())
    }
}
