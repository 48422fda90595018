//! DADM: local dual coordinate ascent on mini-batches, added.
//!
//! Each round every worker draws a random mini-batch of its rows and takes a coordinate step on each of them; the changes
//! of all workers add up as in CoCoA+, and on all rows it is CoCoA+. Rounds are shorter, so workers hear of one another
//! more often: fewer passes over the data, and more sums.
//!
//! Zheng et al., A general distributed dual coordinate optimization framework for regularized loss minimization, 2017.

use hemingway_data::shard;

use super::local_dual::{self, begin};
use super::{About, Entry, Family, Floor, TakeOver, suits_all};
use crate::aggregation::Aggregation;
use crate::footprint::{Leaves, Vectors};
use crate::sdca::{SUMS, Sdca};
use crate::{Algorithm, Error, Model, Phase, Share, Solver, Worker};

/// Hyperparameters of DADM.
#[derive(Debug, Clone, PartialEq)]
pub struct Dadm {
    /// Rows per round over all workers; a fifth of them if not given.
    pub batch: Option<usize>,
}

/// A round visits this share of the rows. With half of it a9a (λ = 1e-5, 8 workers) takes as many passes to 1e-3 with momentum
/// and twice as many sums, with twice as much a fifth more passes and 40 % fewer sums (`cargo run --release -p
/// hemingway-train --example rounds -- a9a.libsvm.gz --algorithms dadm,acc-dadm --lambdas 1e-3,1e-5 --workers 8 --batch 3256`).
pub(super) const DEFAULT_SHARE: f64 = 0.2;

pub(super) static ENTRY: Entry = Entry {
    name: "dadm",
    summary: "local dual coordinate ascent on mini-batches, added; on all rows it is cocoa-plus",
    reference: "Zheng et al. 2017",
    about: About {
        idea: "Coordinate ascent on the dual, as cocoa-plus does it, but each round visits a random \
            mini-batch of the rows only: workers hear of one another more often, and a pass over the \
            data achieves more.",
        suits: "Any loss. Where sums are cheap it takes fewer passes than cocoa-plus; where they are \
            slow, more sums make it slower. For small lambda acc-dadm is better.",
        round: "A coordinate step on each row of the batch, then a sum of one number for each feature.",
        counts: "rounds",
        defaults: &["a fifth of the rows"],
        floor: Floor::None,
    },
    parameters: &["batch"],
    vectors: Vectors {
        weights: 4.0,
        rows: 6.0,
        saved_weights: 1.0,
        saved_rows: 2.0,
        leaves: Leaves::Duals,
        ..Vectors::NONE
    },
    family: Family::Dual,
    depends_on_workers: true,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 0.98,
    takes_over: |_| TakeOver::After { rounds: 2.5 },
    unsuited: suits_all,
    set_up: local_dual::set_up,
    round,
    build: |given| Box::new(Dadm { batch: given.batch }),
};

impl Algorithm for Dadm {
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
        let mut sdca = Sdca::new(worker, duals, weights, Aggregation::Adding)?;
        if let Some(saved) = saved.filter(|saved| !saved.is_empty()) {
            sdca.restore(saved)?;
        }
        Ok(Box::new(MiniBatches { sdca, rows }))
    }
}

/// How many of a batch, or of the usual one, are this worker's.
pub(super) fn rows_of_batch(worker: &Worker, batch: Option<usize>) -> Result<usize, Error> {
    let workers = worker.size();
    match batch {
        None => Ok(usual(worker.local.rows() as f64) as usize),
        Some(batch) if batch < workers => {
            let expected = "at least one row for each worker";
            Err(Error::Parameter { parameter: "--batch", value: batch as f64, expected })
        }
        Some(batch) => Ok(shard(batch, workers, worker.rank()).len().min(worker.local.rows())),
    }
}

/// The usual batch, of a worker of so many rows.
fn usual(rows: f64) -> f64 {
    (DEFAULT_SHARE * rows).ceil()
}

pub(super) fn round(share: &Share) -> Vec<Phase> {
    let changed = local_dual::changed(share);
    vec![Phase::once(share.steps(usual(share.rows), 1.0 + changed), share.dimension + SUMS)]
}

/// Rounds on random mini-batches.
struct MiniBatches {
    sdca: Sdca,
    /// Rows of this worker per round.
    rows: usize,
}

impl Solver for MiniBatches {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
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

    fn save(&self) -> Vec<f64> {
        self.sdca.save()
    }
}
