//! The step size of stochastic gradient methods.
//!
//! Steps shrink like η_t = η/(1 + ηλt). Where the user gives no η, every method makes the same search for one, on the
//! training clock: each worker tries steps of the method's own kind, from zero, on a sample of its rows, and the η that
//! lowers the objective of all samples most is taken. Every trial visits each row of the sample once, so no method is
//! better tuned than another; one whose steps average over b rows makes fewer steps of it, and can make longer ones. But a
//! single step does not tell which size lasts: where b rows are most of the sample, they are visited again.

use super::sgd::{self, descend, local_steps};
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
    /// The given one, or the best of a few on a sample. A step of the method is along the mean gradient of so many rows of
    /// this worker.
    pub(super) fn choose(worker: &mut Worker, given: Option<f64>, rows: usize) -> Result<StepSize, Error> {
        let lambda = worker.local.problem.lambda;
        let size = |relative: f64, norm: f64| usual(relative, norm, lambda);
        StepSize::search(worker, given, size, |worker, size, sample| Ok(trial(worker, size, sample, rows)))
    }

    /// The given one, or the best of a few: sizes by how long they are relative to the mean squared norm of a row, and what
    /// steps of such a size over the first rows of this worker lead to.
    pub(super) fn search(
        worker: &mut Worker,
        given: Option<f64>,
        size: impl Fn(f64, f64) -> f64,
        trial: impl Fn(&mut Worker, StepSize, usize) -> Result<Vec<f64>, Error>,
    ) -> Result<StepSize, Error> {
        let lambda = worker.local.problem.lambda;
        if let Some(first) = given {
            // Their product has to be a number.
            return Ok(StepSize { first: first.min(f64::MAX / lambda.max(1.0)), lambda });
        }
        let sample = worker.local.rows().min(SAMPLE);
        let norm = mean_squared_norm(worker, sample)?;
        let size = |relative: f64| StepSize { first: size(relative, norm), lambda };
        let mut objectives = |sizes: &[StepSize]| {
            let mut objectives = Vec::new();
            for size in sizes {
                let weights = trial(worker, *size, sample)?;
                objectives.push(sample_objective(worker, sample, &weights));
            }
            worker.sum(&mut objectives)?;
            Ok::<_, Error>(objectives)
        };
        let coarse = objectives(&COARSE.map(size))?;
        let best = lowest(&coarse);
        let fine = objectives(&FINE.map(|by| size(COARSE[best] * by)))?;
        Ok(match lowest(&[coarse[best], fine[0], fine[1]]) {
            0 => size(COARSE[best]),
            other => size(COARSE[best] * FINE[other - 1]),
        })
    }

    pub(super) fn at(self, step: f64) -> f64 {
        self.first / (1.0 + self.first * self.lambda * step)
    }
}

/// A step relative to one over the mean squared norm of a row. A longer one than 1/λ would turn the weights round by their
/// penalty alone.
pub(super) fn usual(relative: f64, norm: f64, lambda: f64) -> f64 {
    (relative / norm).min(1.0 / lambda)
}

/// Rows of the sample on each worker: what a trial visits.
const SAMPLE: usize = 1000;
/// Step sizes that are tried first, relative to a method's usual one: for most, one over the mean squared norm of a row.
const COARSE: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
/// And then, relative to the best of those.
const FINE: [f64; 2] = [0.316, 3.16];

/// A trial makes at least so many steps, and is at least so many times as long as steps are late.
pub(super) const TURNS: usize = 4;

/// Of the first rows of all workers, each times its weight.
fn mean_squared_norm(worker: &mut Worker, sample: usize) -> Result<f64, Error> {
    let mut sums = [worker.local.squared_norms(sample), sample as f64];
    worker.sum(&mut sums)?;
    Ok((sums[0] / sums[1]).max(1e-12))
}

/// Steps over the sample, from zero.
fn trial(worker: &mut Worker, size: StepSize, sample: usize, rows: usize) -> Vec<f64> {
    let mut weights = vec![0.0; worker.local.dimension()];
    let order: Vec<u32> = (0..sample as u32).collect();
    if rows <= 1 {
        local_steps(worker, size, 0.0, &order, &mut weights);
        return weights;
    }
    let mut gradient = vec![0.0; weights.len()];
    let steps = sample.div_ceil(rows).max(TURNS);
    for (step, rows) in order.chunks(rows).cycle().take(steps).enumerate() {
        gradient.fill(0.0);
        worker.local.gradient_of(rows, &weights, &mut gradient);
        descend(worker, size, step as f64, &gradient, rows.len(), &mut weights);
    }
    weights
}

/// Where the lowest number is; the first one if there are no numbers.
fn lowest(objectives: &[f64]) -> usize {
    let finite = objectives.iter().enumerate().filter(|(_, value)| value.is_finite());
    finite.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(at, _)| at)
}

/// What a search costs, where a step is along the mean gradient of so many rows of a worker.
pub(super) fn search_cost(share: &Share, rows: f64) -> [Phase; 3] {
    let sample = sample_of(share);
    if rows <= 1.0 {
        return trials_cost(share, share.steps(sample, 2.0));
    }
    let batches = (sample / rows).ceil();
    let steps = batches.max(TURNS as f64);
    let visits = (steps / batches).floor() * sample + steps % batches * rows;
    trials_cost(share, share.steps(visits, 2.0) + steps * sgd::descent(share))
}

/// What a search costs whose trials cost so much.
pub(super) fn trials_cost(share: &Share, trial: Work) -> [Phase; 3] {
    let sample = sample_of(share);
    let scored = trial + share.values_of(sample) + (sample / share.rows) * share.losses();
    let trials = |count: usize| Phase::once(count as f64 * scored, count);
    [Phase::once(Work::default(), 2), trials(COARSE.len()), trials(FINE.len())]
}

/// Rows of the sample on the worker that has most.
pub(super) fn sample_of(share: &Share) -> f64 {
    share.rows.min(SAMPLE as f64)
}

fn sample_objective(worker: &mut Worker, sample: usize, weights: &[f64]) -> f64 {
    let (matrix, range) = worker.local.matrix();
    let features = worker.local.features();
    let problem = worker.local.problem;
    let bias = weights.get(features).copied().unwrap_or(0.0);
    let targets = worker.local.targets();
    let (mut loss, mut values) = (0.0, 0);
    with_rows!(matrix, rows => for (row, target) in targets.iter().enumerate().take(sample) {
        let prediction = rows.dot::<false>(range.start + row, &weights[..features]) + bias;
        loss += worker.local.weight(row) * problem.loss.value(prediction, f64::from(*target));
        values += rows.length(range.start + row);
    });
    worker.local.meter(values as f64);
    worker.local.meter_losses(sample as f64);
    loss + sample as f64 * penalty(problem, features, weights)
}
