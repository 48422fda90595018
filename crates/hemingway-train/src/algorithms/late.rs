//! The search for a step size of asynchronous methods, whose gradients are taken at weights that are some steps old.
//!
//! While a worker computes a step, each of the others makes one: of m workers the steps are m - 1 late. A step that is
//! right without that is far too long with it where rows have their features in common: along a direction of curvature L
//! steps of size η that are τ late swing higher and higher once ηLτ is above π/2. So steps are late in the trials, too.
//! Each worker by itself stands for all of them: the slopes of its rows wait until the rows of so many steps after them
//! have been predicted.
//!
//! That is seen only in trials that are several times as long as steps are late. Where the sample has too few rows for that,
//! trials make steps on fewer rows each, which are noisier, and where one row is still too many, fewer are late and each is
//! longer in proportion.

use std::collections::VecDeque;

use super::step_size::{self, StepSize, TURNS, trials_cost, usual};
use crate::kernels::{Rows, with_rows};
use crate::loss::{Losses, Shape, with_losses};
use crate::{Error, Phase, Share, Worker};

/// The given step size, or the best of a few, where each worker steps along the mean gradient of so many rows. `shares`
/// are how often the penalty applies to a feature when a row has it.
pub(super) fn choose(
    worker: &mut Worker,
    given: Option<f64>,
    rows: usize,
    shares: &[f64],
) -> Result<StepSize, Error> {
    let (lambda, workers) = (worker.local.problem.lambda, worker.size());
    let size = |relative: f64, norm: f64| usual(relative, norm, lambda);
    StepSize::search(worker, given, size, |worker, size, sample| {
        Ok(trial(worker, size, shares, &Pace::of(sample, rows, workers), sample))
    })
}

/// What the search costs.
pub(super) fn search_cost(share: &Share) -> [Phase; 3] {
    trials_cost(share, share.steps(step_size::sample_of(share), 2.0))
}

/// How many times later steps are in trials than in training: swings that have hardly begun to grow by the end of a trial
/// would do so in training. With steps only as late as in training, 2 of 64 runs on four datasets diverged (squared or logistic
/// loss, 1 to 64 workers), with twice as late none; so do they with trials half or twice as long.
const LATER: usize = 2;

/// The steps of a trial.
#[derive(Debug, PartialEq)]
struct Pace {
    /// Rows of each.
    rows: usize,
    /// How many are made between the gradient of one and the step itself.
    late: usize,
    /// How many steps of the method each stands for.
    worth: f64,
}

impl Pace {
    /// On a sample of so many rows, where each of so many workers steps along the gradient of so many.
    fn of(sample: usize, rows: usize, workers: usize) -> Pace {
        let under_way = 1 + LATER * (workers - 1);
        let rows = (sample / TURNS / under_way).clamp(1, rows);
        let here = (sample / rows / TURNS).clamp(1, under_way);
        Pace { rows, late: here - 1, worth: under_way as f64 / here as f64 }
    }
}

/// Steps over the sample, from zero.
fn trial(worker: &mut Worker, size: StepSize, shares: &[f64], pace: &Pace, sample: usize) -> Vec<f64> {
    let (matrix, range) = worker.local.matrix();
    let targets = worker.local.targets();
    let mut all = vec![0.0; worker.local.dimension()];
    let (weights, bias) = all.split_at_mut(shares.len());
    let (mut late, mut made, mut values) = (VecDeque::new(), 0.0, 0);
    let (loss, row_weights) = (worker.local.problem.loss, worker.local.weights());
    with_rows!(matrix, matrix => with_losses!(loss, row_weights, losses => {
        let mut make = |weights: &mut [f64], bias: &mut [f64], (first, slopes): (usize, Vec<f64>)| {
            let step = pace.worth * size.at(pace.worth * made) / slopes.len() as f64;
            for (row, slope) in slopes.into_iter().enumerate() {
                for (feature, value) in matrix.entries(range.start + first + row) {
                    let shrink = (1.0 - step * size.lambda * shares[feature]).max(0.0);
                    weights[feature] = weights[feature] * shrink - step * slope * f64::from(value);
                }
                bias.iter_mut().for_each(|bias| *bias -= step * slope);
            }
            made += 1.0;
        };
        for first in (0..sample).step_by(pace.rows) {
            let slope = |row: usize| {
                let constant = bias.first().copied().unwrap_or(0.0);
                let prediction = matrix.dot::<false>(range.start + row, weights) + constant;
                values += matrix.length(range.start + row);
                losses.of(row).slope(prediction, f64::from(targets[row]))
            };
            late.push_back((first, (first..sample.min(first + pace.rows)).map(slope).collect()));
            if late.len() > pace.late {
                late.pop_front().into_iter().for_each(|step| make(weights, bias, step));
            }
        }
        late.into_iter().for_each(|step| make(weights, bias, step));
    }));
    worker.local.meter(2.0 * values as f64);
    worker.local.meter_visits(sample as f64);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_several_times_as_long_as_steps_are_late() {
        // Alone nothing is late.
        assert_eq!(Pace::of(1000, 32, 1), Pace { rows: 32, late: 0, worth: 1.0 });
        assert_eq!(Pace::of(1000, 1, 16), Pace { rows: 1, late: 30, worth: 1.0 });
        for (sample, rows, workers) in
            [(1000, 32, 4), (1000, 32, 16), (156, 32, 64), (40, 32, 256), (1, 1, 1), (3, 32, 1000)]
        {
            let pace = Pace::of(sample, rows, workers);
            let steps = sample.div_ceil(pace.rows);
            assert!(steps >= TURNS * (pace.late + 1) || pace.late == 0, "{pace:?}");
            // All that is under way at one time is there.
            let under_way = (1 + LATER * (workers - 1)) as f64;
            assert!(((pace.late + 1) as f64 * pace.worth / under_way - 1.0).abs() < 1e-12, "{pace:?}");
        }
    }
}
