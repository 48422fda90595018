//! A device: a thread with a quota that computes gradients of its inputs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use crate::error::Result;
use crate::problem::{Data, Problem, add, squared_norm};
use crate::throttle::{Meter, Quota};

/// A device with a load.
pub struct Device {
    pub quota: Arc<Quota>,
    /// Places in the batch.
    pub inputs: Range<u64>,
}

/// What a device computed in an iteration.
pub struct Outcome {
    /// Summed over its inputs.
    pub gradient: Vec<f32>,
    pub seconds: f64,
    /// Σ b|g|² over its groups of inputs, for the noise scale.
    pub weighted_norms: f64,
    pub groups: u64,
}

impl Device {
    /// The thread's meter; the thread that computes has to make it.
    pub fn meter(&self) -> Result<Meter> {
        Meter::start(&self.quota)
    }

    /// The gradient of its inputs in an iteration.
    ///
    /// They are summed in two halves, because the noise scale needs gradients of parts of the batch; this costs one addition
    /// of two gradients and makes an estimate possible even with a single device.
    pub fn compute(
        &self,
        problem: &Problem,
        data: &Data,
        weights: &[f32],
        iteration: u64,
        meter: &mut Meter,
    ) -> Outcome {
        meter.begin();
        let start = Instant::now();
        let middle = self.inputs.start + self.inputs.clone().count() as u64 / 2;
        let mut outcome = Outcome { gradient: Vec::new(), seconds: 0.0, weighted_norms: 0.0, groups: 0 };
        for half in [self.inputs.start..middle, middle..self.inputs.end] {
            if half.is_empty() {
                continue;
            }
            let gradient = sum(problem, data, weights, iteration, half.clone(), meter);
            // b|g|² of the mean is |sum|²/b.
            outcome.weighted_norms += squared_norm(&gradient) / (half.end - half.start) as f64;
            outcome.groups += 1;
            match outcome.gradient.as_mut_slice() {
                [] => outcome.gradient = gradient,
                whole => add(&gradient, whole),
            }
        }
        meter.settle();
        outcome.seconds = start.elapsed().as_secs_f64();
        outcome
    }
}

/// The sum of gradients over some places of a batch, a tile at a time.
pub fn sum(
    problem: &Problem,
    data: &Data,
    weights: &[f32],
    iteration: u64,
    inputs: Range<u64>,
    meter: &mut Meter,
) -> Vec<f32> {
    let mut gradient = vec![0.0; problem.parameters()];
    let mut rows = Vec::with_capacity(problem.tile());
    for first in inputs.clone().step_by(problem.tile()) {
        let tile = first..inputs.end.min(first + problem.tile() as u64);
        rows.clear();
        rows.extend(tile.map(|place| problem.drawn(iteration, place)));
        problem.add_gradient(weights, data, &rows, &mut gradient);
        meter.pay();
    }
    gradient
}
