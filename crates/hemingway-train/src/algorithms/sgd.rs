//! What stochastic gradient methods share: the solver around their rounds, and the local steps.
//!
//! Single steps are noisy, so what is scored is an average over recent rounds.

use super::step_size::{self, StepSize};
use crate::kernels::{Rows, Task, fastest, with_rows};
use crate::local::dot;
use crate::loss::{Losses, Shape, with_losses};
use crate::recent::Recent;
use crate::{Error, Model, Phase, Share, Solver, Work, Worker};

/// What a method does with the weights in one round.
pub(super) trait Move {
    fn round(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        weights: &mut [f64],
    ) -> Result<(), Error>;

    /// What the next round depends on besides the weights.
    fn kept(&mut self) -> Option<&mut Vec<f64>> {
        None
    }

    /// A copy of it.
    fn save(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// A stochastic method at work.
struct Stochastic<M> {
    step: M,
    size: StepSize,
    reach: Reach,
    weights: Vec<f64>,
    recent: Recent,
}

/// The step size that was saved, or the one that is given.
pub(super) fn known(saved: Option<&[f64]>, given: Option<f64>) -> Option<f64> {
    saved.and_then(|saved| saved.first().copied()).or(given)
}

/// Begins with this step size.
pub(super) fn start<M: Move + 'static>(
    worker: &mut Worker,
    from: &Model,
    saved: Option<&[f64]>,
    size: StepSize,
    step: M,
) -> Result<Box<dyn Solver>, Error> {
    let mut solver = Stochastic {
        step,
        size,
        reach: Reach::find(worker)?,
        recent: Recent::new(&from.weights),
        weights: from.weights.clone(),
    };
    if let Some(saved) = saved {
        let rest = solver.recent.restore(saved.get(1..).ok_or_else(Error::damaged_worker)?)?;
        restore(&mut solver.step, rest)?;
    }
    Ok(Box::new(solver))
}

/// Takes what the method kept; it is all that is left of what was saved.
pub(super) fn restore(step: &mut impl Move, saved: &[f64]) -> Result<(), Error> {
    let mut nothing = Vec::new();
    let kept = step.kept().unwrap_or(&mut nothing);
    if kept.len() != saved.len() {
        return Err(Error::damaged_worker());
    }
    kept.copy_from_slice(saved);
    Ok(())
}

/// The search for a step size, and the objective of no weights at all.
pub(super) fn set_up(share: &Share, rows: f64) -> Vec<Phase> {
    let mut phases = step_size::search_cost(share, rows).to_vec();
    phases.push(Phase::once(Work::default(), 1));
    phases
}

/// The running average of the weights.
pub(super) fn averaging(share: &Share) -> Work {
    Work::flops(AVERAGING_FLOPS * share.dimension as f64)
}

/// A step of all weights.
pub(super) fn descent(share: &Share) -> Work {
    Work::flops(DESCENT_FLOPS * share.dimension as f64)
}

/// What adding one weight to the average costs.
pub(super) const AVERAGING_FLOPS: f64 = 4.0;

impl<M: Move> Solver for Stochastic<M> {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.step.round(worker, self.size, self.recent.rounds, &mut self.weights)?;
        self.reach.keep(&mut self.weights);
        self.recent.add(&self.weights);
        worker.local.meter_flops(AVERAGING_FLOPS * self.weights.len() as f64);
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn proposal(&self) -> &[f64] {
        &self.recent.average
    }

    fn step_size(&self) -> Option<f64> {
        Some(self.size.first)
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.size.first];
        saved.extend(self.recent.save());
        saved.extend(self.step.save());
        saved
    }
}

/// Rows of a batch unless the user says otherwise.
const DEFAULT_BATCH: usize = 256;

/// Rows of a batch over all workers, at least one for each of them.
pub(super) fn batch(given: Option<usize>, worker: &Worker) -> Result<usize, Error> {
    let batch = given.unwrap_or(DEFAULT_BATCH.min(worker.local.total_rows).max(worker.size()));
    if batch < worker.size() {
        let expected = "at least one row for each worker";
        return Err(Error::Parameter { parameter: "--batch", value: batch as f64, expected });
    }
    Ok(batch)
}

/// Rows of a batch on the worker that has most of them.
pub(super) fn batch_each(share: &Share) -> f64 {
    let batch = (DEFAULT_BATCH as f64).min(share.total_rows).max(share.workers);
    (batch / share.workers).ceil()
}

/// So many of this worker's rows for a round, where every round takes as many.
pub(super) fn draw(worker: &Worker, round: u64, count: usize) -> Vec<u32> {
    worker.pick(&mut worker.rng(round), worker.local.rows(), round * count as u64, count)
}

/// The mean over all workers, in place.
pub(super) fn average(worker: &mut Worker, weights: &mut [f64]) -> Result<(), Error> {
    let share = 1.0 / worker.size() as f64;
    weights.iter_mut().for_each(|weight| *weight *= share);
    worker.sum(weights)
}

/// One step of gradient descent, along a sum of gradients over so many rows.
pub(super) fn descend(
    worker: &mut Worker,
    size: StepSize,
    done: f64,
    gradient: &[f64],
    rows: usize,
    weights: &mut [f64],
) {
    let (features, step) = (worker.local.features(), size.at(done));
    for (at, (weight, slope)) in weights.iter_mut().zip(gradient).enumerate() {
        let penalty = if at < features { size.lambda * *weight } else { 0.0 };
        *weight -= step * (slope / rows as f64 + penalty);
    }
    worker.local.meter_flops(DESCENT_FLOPS * weights.len() as f64);
}

/// What a step costs for each weight.
pub(super) const DESCENT_FLOPS: f64 = 4.0;

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
    let (loss, row_weights) = (worker.local.problem.loss, worker.local.weights());
    let (weights, bias) = weights.split_at_mut(features);
    let values = with_rows!(matrix, rows => with_losses!(loss, row_weights, losses => {
        fastest(Steps { rows, losses, first, targets, size, done, order, weights, bias: bias.first_mut() })
    }));
    worker.local.meter(2.0 * values);
    worker.local.meter_visits(order.len() as f64);
}

/// Stochastic steps. The weights are kept as `scale`·`weights`, so that the penalty touches one number only.
struct Steps<'a, R, L> {
    rows: R,
    losses: L,
    first: usize,
    targets: &'a [f32],
    size: StepSize,
    done: f64,
    order: &'a [u32],
    weights: &'a mut [f64],
    bias: Option<&'a mut f64>,
}

impl<R: Rows, L: Losses> Task for Steps<'_, R, L> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let Steps { rows, losses, first, targets, size, mut done, order, weights, mut bias } = self;
        let (mut scale, mut values) = (1.0, 0.0);
        for (at, row) in order.iter().enumerate() {
            if let Some(soon) = order.get(at + 3) {
                rows.prefetch(first + *soon as usize);
            }
            let row = *row as usize;
            let constant = bias.as_ref().map_or(0.0, |bias| **bias);
            let prediction = scale * rows.dot::<FMA>(first + row, weights) + constant;
            let slope = losses.of(row).slope(prediction, f64::from(targets[row]));
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

/// Where the optimum must be: (λ/2)‖w*‖² ≤ P(w*) ≤ P(0).
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    radius: f64,
    features: usize,
}

impl Reach {
    /// Asks all workers what P(0) is.
    pub(super) fn find(worker: &mut Worker) -> Result<Reach, Error> {
        let at_zero = objective_at_zero(worker)?;
        let radius = (2.0 * at_zero / worker.local.problem.lambda).sqrt();
        Ok(Reach { radius, features: worker.local.features() })
    }

    /// Keeps the weights there.
    pub(super) fn keep(self, weights: &mut [f64]) {
        let weights = &mut weights[..self.features];
        let norm = dot(weights, weights).sqrt();
        if norm > self.radius {
            weights.iter_mut().for_each(|weight| *weight *= self.radius / norm);
        }
    }
}

/// P(0), the mean loss of predicting nothing.
fn objective_at_zero(worker: &mut Worker) -> Result<f64, Error> {
    let loss = worker.local.problem.loss;
    let of_row =
        |(row, target): (usize, &f32)| worker.local.weight(row) * loss.value(0.0, f64::from(*target));
    let local: f64 = worker.local.targets().iter().enumerate().map(of_row).sum();
    Ok(worker.sum_of(local)? / worker.local.total_rows as f64)
}
