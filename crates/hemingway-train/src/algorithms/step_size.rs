//! The step size of stochastic gradient methods.
//!
//! Steps shrink like η_t = η/(1 + ηλt). Where the user gives no η, a few are tried on a small sample of each
//! worker's rows and the one that lowers its objective most is taken; this happens on the training clock.

use super::sgd::local_steps;
use crate::kernels::{Rows, with_rows};
use crate::local::penalty;
use crate::{Error, Phase, Share, Work, Worker};

/// A step size that shrinks with the number of steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StepSize {
    pub first: f64,
    pub lambda: f64,
}

impl StepSize {
    /// The given one, or the best of a few on a sample.
    pub(super) fn choose(worker: &mut Worker, given: Option<f64>) -> Result<StepSize, Error> {
        let lambda = worker.local.problem.lambda;
        match given {
            // Their product has to be a number.
            Some(first) => Ok(StepSize { first: first.min(f64::MAX / lambda.max(1.0)), lambda }),
            None => search(worker, lambda),
        }
    }

    pub(super) fn at(self, step: f64) -> f64 {
        self.first / (1.0 + self.first * self.lambda * step)
    }
}

/// Rows of the sample on each worker, and how many steps each try takes.
const SAMPLE: usize = 1000;
/// Steps tried, relative to one over the mean squared norm of a row.
const TRIES: [f64; 7] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];

fn search(worker: &mut Worker, lambda: f64) -> Result<StepSize, Error> {
    let sample = worker.local.rows().min(SAMPLE);
    let (matrix, range) = worker.local.matrix();
    let norms: f64 =
        with_rows!(matrix, rows => (0..sample).map(|row| rows.squared_norm(range.start + row)).sum());
    let mut sums = [norms, sample as f64];
    worker.sum(&mut sums)?;
    let norm = (sums[0] / sums[1]).max(1e-12);
    // A longer step would turn the weights round by their penalty alone.
    let first = |try_: f64| (try_ / norm).min(1.0 / lambda);
    let mut objectives = [0.0; TRIES.len()];
    for (objective, try_) in objectives.iter_mut().zip(TRIES) {
        let size = StepSize { first: first(try_), lambda };
        let mut weights = vec![0.0; worker.local.dimension()];
        let order: Vec<u32> = (0..sample as u32).collect();
        local_steps(worker, size, 0.0, &order, &mut weights);
        *objective = sample_objective(worker, sample, &weights);
    }
    worker.sum(&mut objectives)?;
    let best = objectives
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        .min_by(|a, b| a.1.total_cmp(b.1));
    Ok(StepSize { first: first(TRIES[best.map_or(0, |(at, _)| at)]), lambda })
}

/// What a search costs.
pub(super) fn search_cost(share: &Share) -> [Phase; 2] {
    let sample = share.rows.min(SAMPLE as f64);
    let try_ = share.steps(sample, 2.0) + (sample / share.rows) * share.losses();
    [Phase::once(Work::default(), 2), Phase::once(TRIES.len() as f64 * try_, TRIES.len())]
}

fn sample_objective(worker: &mut Worker, sample: usize, weights: &[f64]) -> f64 {
    let (matrix, range) = worker.local.matrix();
    let features = worker.local.features();
    let problem = worker.local.problem;
    let bias = weights.get(features).copied().unwrap_or(0.0);
    let targets = worker.local.targets();
    let loss: f64 = with_rows!(matrix, rows => (0..sample)
        .map(|row| {
            let prediction = rows.dot::<false>(range.start + row, &weights[..features]) + bias;
            problem.loss.value(prediction, f64::from(targets[row]))
        })
        .sum());
    worker.local.meter_losses(sample as f64);
    loss + sample as f64 * penalty(problem, features, weights)
}
