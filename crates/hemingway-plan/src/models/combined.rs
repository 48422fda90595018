//! The combined model, h(t, m) = g(t / f(m), m) in the paper: how good the result is after a time on m workers, and how
//! long a goal takes.
//!
//! Both parts may be wrong, each for its own reasons: what the number of rounds does to the time, and what the time of
//! a round does to it, are found apart by moving one within its interval and keeping the other at its median. Widths on
//! the same side then add as those of independent errors do, so that a part with a longer upper side keeps it. What a
//! run takes to start is in every time and is not stretched with the rounds.

use crate::{ConvergenceModel, Estimate, SubsetModel, SystemModel};

/// No run is followed for more iterations than this.
const MOST_ITERATIONS: u64 = 1 << 40;

/// Predicts one algorithm's progress in time.
#[derive(Clone, Copy)]
pub struct Combined<'a> {
    /// Seconds per iteration, f(m).
    pub system: &'a SystemModel,
    /// Progress per iteration, g(i, m).
    pub convergence: &'a dyn Progress,
    /// The part of the data that is trained on; 1 is all of it.
    pub fraction: f64,
}

/// Progress per iteration, g(i, m) in the paper, on a part of the data.
pub trait Progress {
    /// The best value so far after an iteration.
    fn value(&self, workers: usize, fraction: f64, iteration: u64) -> Estimate;
    /// After how many iterations the value is as good as `goal`; nothing if that is not predicted to happen.
    fn iterations_to(&self, workers: usize, fraction: f64, goal: f64) -> Option<Estimate>;
    /// How far a question is from what was measured, if it is outside.
    fn extrapolation(&self, workers: usize, fraction: f64, iteration: u64) -> Option<String>;
}

/// On the largest fraction that was measured, whichever is asked for.
impl Progress for ConvergenceModel {
    fn value(&self, workers: usize, _: f64, iteration: u64) -> Estimate {
        self.value(workers, iteration)
    }

    fn iterations_to(&self, workers: usize, _: f64, goal: f64) -> Option<Estimate> {
        self.iterations_to(workers, goal)
    }

    fn extrapolation(&self, workers: usize, _: f64, iteration: u64) -> Option<String> {
        self.extrapolation(workers, iteration)
    }
}

impl Progress for SubsetModel {
    fn value(&self, workers: usize, fraction: f64, iteration: u64) -> Estimate {
        self.value(workers, fraction, iteration)
    }

    fn iterations_to(&self, workers: usize, fraction: f64, goal: f64) -> Option<Estimate> {
        self.iterations_to(workers, fraction, goal)
    }

    fn extrapolation(&self, workers: usize, fraction: f64, iteration: u64) -> Option<String> {
        self.extrapolation(workers, fraction, iteration)
    }
}

impl<'a> Combined<'a> {
    /// For training on all of the data.
    pub fn new(system: &'a SystemModel, convergence: &'a dyn Progress) -> Combined<'a> {
        Combined { system, convergence, fraction: 1.0 }
    }

    /// The time from the start of a run until the value is as good as `goal`; nothing if that is not predicted to happen.
    pub fn seconds_to(&self, workers: usize, goal: f64) -> Option<Estimate> {
        let iterations = self.convergence.iterations_to(workers, self.fraction, goal)?;
        let after = |iterations: f64| self.system.seconds(workers, self.fraction, iterations as u64);
        let (fewest, most) = (after(iterations.low), after(iterations.high));
        Some(after(iterations.mean).widened(fewest.mean, most.mean))
    }

    /// The best value after a time; nothing if no iteration is expected to be over by then.
    pub fn value_at(&self, workers: usize, seconds: f64) -> Option<Estimate> {
        let iterations = self.iterations_in(workers, seconds)?;
        let value = |iteration: f64| self.convergence.value(workers, self.fraction, iteration as u64);
        let (early, late) = (value(iterations.low), value(iterations.high));
        let (worst, best) = (early.mean.min(late.mean), early.mean.max(late.mean));
        let both = value(iterations.mean).widened(worst, best);
        // Not outside of what both together at their worst, or at their best, would give.
        let (lowest, highest) = (early.low.min(late.low), early.high.max(late.high));
        Some(Estimate {
            low: both.low.max(lowest).min(both.mean),
            high: both.high.min(highest).max(both.mean),
            ..both
        })
    }

    /// How many whole iterations fit into a time; nothing if the first is not expected to. Slow ones are at the low end,
    /// where at least one is assumed.
    pub fn iterations_in(&self, workers: usize, seconds: f64) -> Option<Estimate> {
        let over = |side: fn(&Estimate) -> f64| {
            last_before(seconds, |i| side(&self.system.seconds(workers, self.fraction, i)))
        };
        let [low, mean, high] = [over(|e| e.high), over(|e| e.mean), over(|e| e.low)];
        (mean > 0).then(|| Estimate {
            low: low.clamp(1, mean) as f64,
            mean: mean as f64,
            high: high.max(mean) as f64,
        })
    }

    /// How far a question is outside of what was measured, for times and for convergence; nothing when it is inside.
    pub fn extrapolation(&self, workers: usize, iterations: u64) -> Option<String> {
        let parts = [
            ("times", self.system.extrapolation(workers, self.fraction)),
            ("convergence", self.convergence.extrapolation(workers, self.fraction, iterations)),
        ];
        let said: Vec<String> =
            parts.into_iter().filter_map(|(what, said)| Some(format!("{what}: {}", said?))).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// The last iteration that is over by a time; 0 when none is.
fn last_before(seconds: f64, end: impl Fn(u64) -> f64) -> u64 {
    let mut after = 1;
    while after < MOST_ITERATIONS && end(after) <= seconds {
        after *= 2;
    }
    let mut over = after / 2;
    while over + 1 < after {
        let middle = over + (after - over) / 2;
        if end(middle) <= seconds {
            over = middle;
        } else {
            after = middle;
        }
    }
    over
}

#[cfg(test)]
mod tests;
