//! PASSCoDe: dual coordinate ascent by all cores at once, on weights in memory that they share.
//!
//! Every worker visits its own rows like plain SDCA and changes the common weights as it goes, without locks and without
//! waiting for anybody; nothing is damped, because what the others do is seen at once. Additions to the weights are atomic:
//! none is lost, so the weights stay those of the duals up to rounding, and the certificate is that of SDCA. A visit
//! works with weights that are a few updates old. That is harmless where rows share few features or few duals still
//! move, and slows convergence where they do not.
//!
//! Hsieh, Yu, Dhillon, PASSCoDe: parallel asynchronous stochastic dual co-ordinate descent, 2015 (the variant "atomic").

use std::sync::Arc;

use super::local_dual;
use super::{About, Entry, Family, TakeOver, suits_all};
use crate::footprint::{Leaves, Vectors};
use crate::sdca::{Aggregation, Sdca};
use crate::{Algorithm, Error, Model, Needs, Phase, Share, SharedMemory, Solver, Worker};

/// PASSCoDe has no hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Passcode;

pub(super) static ENTRY: Entry = Entry {
    name: "passcode",
    summary: "asynchronous dual coordinate ascent in shared memory",
    reference: "Hsieh et al. 2015",
    about: About {
        idea: "Every worker visits its own rows as SDCA does and changes weights in memory that all of them \
            share, without locks and without waiting. Nothing is damped, because each sees at once what the \
            others do. Additions are atomic, so none is lost and the proof is that of SDCA.",
        suits: "Any loss, on the cores of one machine. Best on sparse rows that share few features; where all \
            rows share all features, updates contend for them and are made with weights that are a little \
            old.",
        round: "As many visits of all workers together as there are rows. Nothing is sent; a fast worker makes \
            more of the visits.",
        counts: "rounds",
        defaults: &[],
        floor: false,
    },
    parameters: &[],
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
    alone: Some("cocoa"),
    settles_alone: true,
    late: false,
    takes_over: |_| TakeOver::After { rounds: 0.5 },
    unsuited: suits_all,
    set_up: local_dual::set_up,
    round,
    build: |_| Box::new(Passcode),
};

impl Algorithm for Passcode {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn needs(&self) -> Needs {
        Needs::SharedMemory
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
        let sdca = local_dual::start(worker, from, saved, Aggregation::InCommon)?;
        // Behind the weights every worker tells the sum of its duals, which the bias has to know.
        let mut values = sdca.weights().to_vec();
        values.resize(values.len() + worker.size(), 0.0);
        let memory = worker.share(&values)?;
        Ok(Box::new(InMemory { sdca, memory, begun: worker.steps(), rounds: 0 }))
    }
}

/// A pass over all rows, which all workers make together.
fn round(share: &Share) -> Vec<Phase> {
    vec![Phase::apart(share.steps(share.rows, 2.0))]
}

/// Coordinate ascent on memory that is shared.
struct InMemory {
    sdca: Sdca,
    memory: Arc<SharedMemory>,
    /// Steps of all workers before the first round of this solver, and rounds since.
    begun: u64,
    rounds: u64,
}

impl Solver for InMemory {
    /// As many visits of all workers together as there are rows.
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        if worker.size() == 1 {
            return self.sdca.round(worker, worker.local.rows());
        }
        self.rounds += 1;
        let until = self.begun + self.rounds * worker.local.total_rows as u64;
        while let Some(steps) = worker.turn(until)? {
            self.sdca.release(worker, &self.memory);
            let made = self.sdca.visit_shared(worker, &self.memory, steps);
            worker.made(made);
        }
        self.move_centre(worker);
        if worker.rank() == 0 {
            self.sdca.take_over(&self.memory);
        }
        self.sdca.finish_round();
        Ok(())
    }

    /// Everyone has left the round, so that the weights stand still.
    fn bring_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        if worker.size() > 1 {
            self.sdca.take_over(&self.memory);
            worker.broadcast(0, self.sdca.average())?;
        }
        Ok(())
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

impl InMemory {
    /// The multiplier step of the bias is the first worker's; it goes by the sums that the others told last.
    fn move_centre(&self, worker: &Worker) {
        let dimension = worker.local.dimension();
        self.memory.set(dimension + worker.rank(), self.sdca.sum_of_duals());
        if worker.rank() > 0 {
            return;
        }
        let sum = (0..worker.size()).map(|rank| self.memory.get(dimension + rank)).sum();
        if let Some(step) = self.sdca.step_of_centre(worker, sum) {
            self.memory.add(worker.local.features(), step);
        }
    }
}
