//! What batch methods share: objective and whole gradient at the present weights, in one pass over the data.

use crate::local::{dot, penalty};
use crate::{Error, Estimate, Problem, Worker};

/// Objective, gradient and predictions at `weights`.
pub(super) struct Passes {
    pub weights: Vec<f64>,
    /// P(w).
    pub objective: f64,
    /// ∇P(w), the same on every worker.
    pub gradient: Vec<f64>,
    /// x_i·w for this worker's rows.
    pub predictions: Vec<f64>,
    problem: Problem,
}

impl Passes {
    pub(super) fn at(worker: &mut Worker, weights: Vec<f64>) -> Result<Passes, Error> {
        let mut passes = Passes {
            gradient: vec![0.0; weights.len()],
            predictions: vec![0.0; worker.local.rows()],
            objective: f64::INFINITY,
            problem: worker.local.problem,
            weights,
        };
        passes.pass(worker)?;
        Ok(passes)
    }

    /// One pass over the rows and one sum over the workers.
    pub(super) fn pass(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.gradient.fill(0.0);
        let loss = worker.local.loss_and_gradient(&self.weights, &mut self.predictions, &mut self.gradient);
        self.finish(worker, loss)
    }

    /// The same when predictions, their loss and the slopes are known already: half a pass.
    pub(super) fn pass_from_slopes(
        &mut self,
        worker: &mut Worker,
        loss: f64,
        slopes: &[f64],
    ) -> Result<(), Error> {
        self.gradient.fill(0.0);
        worker.local.combine(slopes, &mut self.gradient);
        self.finish(worker, loss)
    }

    /// Goes on from predictions that were updated step by step, rather than computed from the weights.
    pub(super) fn restore(&mut self, worker: &mut Worker, predictions: &[f64]) -> Result<(), Error> {
        self.predictions.copy_from_slice(predictions);
        let loss = worker.local.loss(predictions);
        self.pass_from_slopes(worker, loss, &worker.local.slopes(predictions))
    }

    fn finish(&mut self, worker: &mut Worker, loss: f64) -> Result<(), Error> {
        let mut sums = std::mem::take(&mut self.gradient);
        sums.push(loss);
        worker.sum(&mut sums)?;
        let n = worker.local.total_rows as f64;
        let features = worker.local.features();
        let loss = sums.pop().expect("pushed above");
        self.objective = loss / n + penalty(self.problem, features, &self.weights);
        self.gradient = sums;
        for (at, (slope, weight)) in self.gradient.iter_mut().zip(&self.weights).enumerate() {
            *slope /= n;
            if at < features {
                *slope += self.problem.lambda * weight;
            }
        }
        Ok(())
    }

    /// For smooth losses ‖∇P‖²/(2λ) is the duality gap itself.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        self.problem.loss.smoothness()?;
        let gap = dot(&self.gradient, &self.gradient) / (2.0 * self.problem.lambda);
        Some(Estimate { primal: self.objective, gap })
    }
}
