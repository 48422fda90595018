//! Local SGD: each worker takes stochastic steps on its own rows, then all weights are averaged.
//!
//! Fewer sums than mini-batch SGD for the same rows; the averages drift apart the more, the longer a round is.
//! What is scored is an average over recent rounds.
//!
//! Zinkevich et al., Parallelized stochastic gradient descent, 2010.

use super::sgd::{StepSize, draw, keep_in_reach, local_steps, objective_at_zero};
use crate::recent::Recent;
use crate::{Algorithm, Error, Model, Parameters, Solver, Worker};

/// Hyperparameters of local SGD.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalSgd {
    /// Steps of each worker per round (H); as many as it has rows if not given.
    pub local_steps: Option<usize>,
    /// First step size (η); searched for if not given.
    pub step_size: Option<f64>,
}

impl Algorithm for LocalSgd {
    fn name(&self) -> &'static str {
        "local-sgd"
    }

    fn parameters(&self) -> Parameters {
        Parameters { local_steps: self.local_steps, step_size: self.step_size, ..Parameters::default() }
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let given = saved.and_then(|saved| saved.first().copied()).or(self.step_size);
        let mut solver = Rounds {
            size: StepSize::choose(worker, given)?,
            local_steps: self.local_steps.unwrap_or(worker.local.rows()),
            at_zero: objective_at_zero(worker)?,
            recent: Recent::new(&from.weights),
            weights: from.weights.clone(),
        };
        if let Some(saved) = saved {
            let rest = solver.recent.restore(saved.get(1..).ok_or_else(Error::damaged_worker)?)?;
            rest.is_empty().then_some(()).ok_or_else(Error::damaged_worker)?;
        }
        Ok(Box::new(solver))
    }
}

struct Rounds {
    size: StepSize,
    local_steps: usize,
    at_zero: f64,
    weights: Vec<f64>,
    recent: Recent,
}

impl Solver for Rounds {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let round = self.recent.rounds;
        let rows = draw(&mut worker.rng(round), worker.local.rows(), self.local_steps);
        let done = (round * self.local_steps as u64) as f64;
        local_steps(worker, self.size, done, &rows, &mut self.weights);
        let share = 1.0 / worker.size() as f64;
        self.weights.iter_mut().for_each(|weight| *weight *= share);
        worker.sum(&mut self.weights)?;
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
