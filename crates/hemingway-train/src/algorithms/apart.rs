//! Stochastic methods whose workers have different weights: what stands for all of them is their mean, which is formed
//! when a round is scored and takes no part in training.

use super::sgd::{self, Move};
use super::step_size::StepSize;
use crate::recent::Recent;
use crate::{Error, Model, Solver, Worker};

/// A worker with weights of its own.
struct Apart<M> {
    step: M,
    size: StepSize,
    own: Vec<f64>,
    recent: Recent,
    /// The means over all workers, of the weights and of their running averages.
    weights: Vec<f64>,
    average: Vec<f64>,
}

/// Begins with this step size, from the same weights on every worker.
pub(super) fn start<M: Move + 'static>(
    from: &Model,
    saved: Option<&[f64]>,
    size: StepSize,
    step: M,
) -> Result<Box<dyn Solver>, Error> {
    let mut solver = Apart {
        step,
        size,
        own: from.weights.clone(),
        recent: Recent::new(&from.weights),
        weights: from.weights.clone(),
        average: from.weights.clone(),
    };
    if let Some(saved) = saved {
        let rest = solver.recent.restore(saved.get(1..).ok_or_else(Error::damaged_worker)?)?;
        let (own, kept) = rest.split_at_checked(solver.own.len()).ok_or_else(Error::damaged_worker)?;
        solver.own.copy_from_slice(own);
        sgd::restore(&mut solver.step, kept)?;
    }
    Ok(Box::new(solver))
}

impl<M: Move> Solver for Apart<M> {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.step.round(worker, self.size, self.recent.rounds, &mut self.own)?;
        self.recent.add(&self.own);
        worker.local.meter_flops(sgd::AVERAGING_FLOPS * self.own.len() as f64);
        Ok(())
    }

    fn bring_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        mean(worker, &self.own, &mut self.weights)?;
        mean(worker, &self.recent.average, &mut self.average)
    }

    fn step_size(&self) -> Option<f64> {
        Some(self.size.first)
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn proposal(&self) -> &[f64] {
        &self.average
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.size.first];
        saved.extend(self.recent.save());
        saved.extend(&self.own);
        saved.extend(self.step.save());
        saved
    }
}

/// The mean of what the workers have.
fn mean(worker: &mut Worker, own: &[f64], into: &mut [f64]) -> Result<(), Error> {
    into.copy_from_slice(own);
    sgd::average(worker, into)
}
