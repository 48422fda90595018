//! What stochastic gradient methods share: the step size, its search, and the local steps.
//!
//! Steps shrink like η_t = η/(1 + ηλt). Where the user gives no η, a few are tried on a small sample of each
//! worker's rows and the one that lowers its objective most is taken; this happens on the training clock.

use rand::RngExt;

use crate::kernels::{Rows, Task, fastest, with_rows};
use crate::local::{dot, penalty};
use crate::loss::{Shape, with_loss};
use crate::{Error, Rng, Worker};

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
            Some(first) => Ok(StepSize { first, lambda }),
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
    let mut objectives = [0.0; TRIES.len()];
    for (objective, try_) in objectives.iter_mut().zip(TRIES) {
        let size = StepSize { first: try_ / norm, lambda };
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
    let first = TRIES[best.map_or(0, |(at, _)| at)] / norm;
    Ok(StepSize { first, lambda })
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

/// Rows drawn at random from this worker's.
pub(super) fn draw(rng: &mut Rng, rows: usize, count: usize) -> Vec<u32> {
    (0..count).map(|_| rng.random_range(0..rows as u32)).collect()
}

/// One stochastic step per row of `order`, starting as step number `done`.
pub(super) fn local_steps(
    worker: &mut Worker,
    size: StepSize,
    done: f64,
    order: &[u32],
    weights: &mut [f64],
) {
    let (matrix, range) = worker.local.matrix();
    let (features, targets, first) = (worker.local.features(), worker.local.targets(), range.start);
    let (weights, bias) = weights.split_at_mut(features);
    let values = with_rows!(matrix, rows => with_loss!(worker.local.problem.loss, loss => {
        fastest(Steps { rows, loss, first, targets, size, done, order, weights, bias: bias.first_mut() })
    }));
    worker.local.meter(2.0 * values);
    worker.local.meter_visits(order.len() as f64);
}

/// Stochastic steps. The weights are kept as `scale`·`weights`, so that the penalty touches one number only.
struct Steps<'a, R, S> {
    rows: R,
    loss: S,
    first: usize,
    targets: &'a [f32],
    size: StepSize,
    done: f64,
    order: &'a [u32],
    weights: &'a mut [f64],
    bias: Option<&'a mut f64>,
}

impl<R: Rows, S: Shape> Task for Steps<'_, R, S> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let Steps { rows, loss, first, targets, size, mut done, order, weights, mut bias } = self;
        let (mut scale, mut values) = (1.0, 0.0);
        for (at, row) in order.iter().enumerate() {
            if let Some(soon) = order.get(at + 3) {
                rows.prefetch(first + *soon as usize);
            }
            let row = *row as usize;
            let constant = bias.as_ref().map_or(0.0, |bias| **bias);
            let prediction = scale * rows.dot::<FMA>(first + row, weights) + constant;
            let slope = loss.slope(prediction, f64::from(targets[row]));
            let step = size.at(done);
            done += 1.0;
            scale *= (1.0 - step * size.lambda).max(SMALLEST_SCALE);
            if scale < SMALLEST_SCALE {
                weights.iter_mut().for_each(|weight| *weight *= scale);
                scale = 1.0;
            }
            if slope != 0.0 {
                rows.add::<FMA>(first + row, -step * slope / scale, weights);
                if let Some(bias) = bias.as_mut() {
                    **bias -= step * slope;
                }
            }
            values += rows.length(first + row) as f64;
        }
        weights.iter_mut().for_each(|weight| *weight *= scale);
        values
    }
}

const SMALLEST_SCALE: f64 = 1e-6;

/// Keeps the weights where the optimum must be: (λ/2)‖w*‖² ≤ P(w*) ≤ P(0).
pub(super) fn keep_in_reach(worker: &Worker, at_zero: f64, weights: &mut [f64]) {
    let features = worker.local.features();
    let weights = &mut weights[..features];
    let reach = (2.0 * at_zero / worker.local.problem.lambda).sqrt();
    let norm = dot(weights, weights).sqrt();
    if norm > reach {
        weights.iter_mut().for_each(|weight| *weight *= reach / norm);
    }
}

/// P(0), the mean loss of predicting nothing.
pub(super) fn objective_at_zero(worker: &mut Worker) -> Result<f64, Error> {
    let loss = worker.local.problem.loss;
    let local: f64 = worker.local.targets().iter().map(|target| loss.value(0.0, f64::from(*target))).sum();
    Ok(worker.sum_of(local)? / worker.local.total_rows as f64)
}
