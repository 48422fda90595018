//! Mini-batch SGD: every round one step along the mean gradient of a random batch, drawn in equal parts from all
//! workers. What is scored is an average over recent rounds, since single steps are noisy (∝ ησ²/b).
//!
//! Dekel et al., Optimal distributed online prediction using mini-batches, 2012.

use hemingway_data::shard;

use super::sgd::{StepSize, draw, keep_in_reach, objective_at_zero};
use crate::recent::Recent;
use crate::{Algorithm, Error, Model, Parameters, Solver, Worker};

/// Hyperparameters of mini-batch SGD.
#[derive(Debug, Clone, PartialEq)]
pub struct MinibatchSgd {
    /// Rows per round over all workers (b).
    pub batch: Option<usize>,
    /// First step size (η); searched for if not given.
    pub step_size: Option<f64>,
}

const DEFAULT_BATCH: usize = 256;

impl Algorithm for MinibatchSgd {
    fn name(&self) -> &'static str {
        "minibatch-sgd"
    }

    fn parameters(&self) -> Parameters {
        Parameters { batch: self.batch, step_size: self.step_size, ..Parameters::default() }
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let batch = self.batch.unwrap_or(DEFAULT_BATCH.min(worker.local.total_rows).max(worker.size()));
        if batch < worker.size() {
            let expected = "at least one row for each worker";
            return Err(Error::Parameter { parameter: "--batch", value: batch as f64, expected });
        }
        let given = saved.and_then(|saved| saved.first().copied()).or(self.step_size);
        let mut solver = Batches {
            size: StepSize::choose(worker, given)?,
            batch,
            at_zero: objective_at_zero(worker)?,
            recent: Recent::new(&from.weights),
            gradient: vec![0.0; from.weights.len()],
            weights: from.weights.clone(),
        };
        if let Some(saved) = saved {
            let rest = solver.recent.restore(saved.get(1..).ok_or_else(Error::damaged_worker)?)?;
            rest.is_empty().then_some(()).ok_or_else(Error::damaged_worker)?;
        }
        Ok(Box::new(solver))
    }
}

struct Batches {
    size: StepSize,
    batch: usize,
    at_zero: f64,
    weights: Vec<f64>,
    gradient: Vec<f64>,
    recent: Recent,
}

impl Solver for Batches {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let round = self.recent.rounds;
        let mine = shard(self.batch, worker.size(), worker.rank()).len();
        let rows = draw(&mut worker.rng(round), worker.local.rows(), mine);
        self.gradient.fill(0.0);
        worker.local.gradient_of(&rows, &self.weights, &mut self.gradient);
        worker.sum(&mut self.gradient)?;
        let features = worker.local.features();
        let step = self.size.at(round as f64);
        for (at, (weight, slope)) in self.weights.iter_mut().zip(&self.gradient).enumerate() {
            let penalty = if at < features { self.size.lambda * *weight } else { 0.0 };
            *weight -= step * (slope / self.batch as f64 + penalty);
        }
        keep_in_reach(worker, self.at_zero, &mut self.weights);
        self.recent.add(&self.weights);
        worker.local.meter_flops(4.0 * self.weights.len() as f64);
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn proposal(&self) -> &[f64] {
        &self.recent.average
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.size.first];
        saved.extend(self.recent.save());
        saved
    }
}
