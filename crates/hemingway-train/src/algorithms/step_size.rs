//! The step size of stochastic gradient methods.
//!
//! Steps shrink like η_t = η/(1 + ηλt). Where the user gives no η, every method makes the same search for one, on the
//! training clock: each worker tries steps of the method's own kind, from zero, on a sample of its rows, and the η that
//! lowers the objective of all samples most is taken. Every trial visits each row of the sample once, so no method is
//! better tuned than another; one whose steps average over b rows makes fewer steps of it, and can make longer ones.

use super::sgd::{DESCENT_FLOPS, descend, local_steps};
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
    /// The given one, or the best of a few on a sample. A step of the method averages over so many rows of this worker.
    pub(super) fn choose(worker: &mut Worker, given: Option<f64>, rows: usize) -> Result<StepSize, Error> {
        let lambda = worker.local.problem.lambda;
        match given {
            // Their product has to be a number.
            Some(first) => Ok(StepSize { first: first.min(f64::MAX / lambda.max(1.0)), lambda }),
            None => search(worker, lambda, rows),
        }
    }

    pub(super) fn at(self, step: f64) -> f64 {
        self.first / (1.0 + self.first * self.lambda * step)
    }
}

/// Rows of the sample on each worker: what a trial visits.
const SAMPLE: usize = 1000;
/// Step sizes that are tried first, relative to one over the mean squared norm of a row.
const COARSE: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
/// And then, relative to the best of those.
const FINE: [f64; 2] = [0.316, 3.16];

fn search(worker: &mut Worker, lambda: f64, rows: usize) -> Result<StepSize, Error> {
    let sample = worker.local.rows().min(SAMPLE);
    let (matrix, range) = worker.local.matrix();
    let norms: f64 =
        with_rows!(matrix, rows => (0..sample).map(|row| rows.squared_norm(range.start + row)).sum());
    let mut sums = [norms, sample as f64];
    worker.sum(&mut sums)?;
    let norm = (sums[0] / sums[1]).max(1e-12);
    // A longer step would turn the weights round by their penalty alone.
    let size = |relative: f64| StepSize { first: (relative / norm).min(1.0 / lambda), lambda };
    let coarse = objectives(worker, COARSE.map(size), sample, rows)?;
    let best = lowest(coarse);
    let fine = objectives(worker, FINE.map(|by| size(COARSE[best] * by)), sample, rows)?;
    Ok(match lowest([coarse[best], fine[0], fine[1]]) {
        0 => size(COARSE[best]),
        other => size(COARSE[best] * FINE[other - 1]),
    })
}

/// The objectives of all samples after a trial of each size.
fn objectives<const N: usize>(
    worker: &mut Worker,
    sizes: [StepSize; N],
    sample: usize,
    rows: usize,
) -> Result<[f64; N], Error> {
    let mut objectives = sizes.map(|size| {
        let weights = trial(worker, size, sample, rows);
        sample_objective(worker, sample, &weights)
    });
    worker.sum(&mut objectives)?;
    Ok(objectives)
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
    for (step, rows) in order.chunks(rows).enumerate() {
        gradient.fill(0.0);
        worker.local.gradient_of(rows, &weights, &mut gradient);
        descend(worker, size, step as f64, &gradient, rows.len(), &mut weights);
    }
    weights
}

/// Where the lowest number is; the first one if there are no numbers.
fn lowest<const N: usize>(objectives: [f64; N]) -> usize {
    let finite = objectives.iter().enumerate().filter(|(_, value)| value.is_finite());
    finite.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(at, _)| at)
}

/// What a search costs, where a step averages over so many rows of a worker.
pub(super) fn search_cost(share: &Share, rows: f64) -> [Phase; 3] {
    let sample = share.rows.min(SAMPLE as f64);
    let descents = if rows > 1.0 { (sample / rows).ceil() } else { 0.0 };
    let trial = share.steps(sample, 3.0)
        + (sample / share.rows) * share.losses()
        + Work::flops(descents * DESCENT_FLOPS * share.dimension as f64);
    let trials = |count: usize| Phase::once(count as f64 * trial, count);
    [Phase::once(Work::default(), 2), trials(COARSE.len()), trials(FINE.len())]
}

fn sample_objective(worker: &mut Worker, sample: usize, weights: &[f64]) -> f64 {
    let (matrix, range) = worker.local.matrix();
    let features = worker.local.features();
    let problem = worker.local.problem;
    let bias = weights.get(features).copied().unwrap_or(0.0);
    let targets = worker.local.targets();
    let (mut loss, mut values) = (0.0, 0);
    with_rows!(matrix, rows => for row in 0..sample {
        let prediction = rows.dot::<false>(range.start + row, &weights[..features]) + bias;
        loss += problem.loss.value(prediction, f64::from(targets[row]));
        values += rows.length(range.start + row);
    });
    worker.local.meter(values as f64);
    worker.local.meter_losses(sample as f64);
    loss + sample as f64 * penalty(problem, features, weights)
}
