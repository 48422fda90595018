//! Rounds to a certified error, before the first round was made.

use hemingway_train::Loss;

use super::Glance;
use super::coefficients::{LEARNT, Learnt, SEEN, SEEN_GOALS};
use super::terms::{Asked, BY_CONDITION, BY_WORKERS, GOAL, reach, terms};
use crate::Estimate;

/// Methods whose rounds are the same on any number of workers.
pub(crate) const SAME_ANYWHERE: [&str; 4] = ["gradient-descent", "l-bfgs", "minibatch-sgd", "newton"];
/// A smaller error takes more rounds: log rounds rise at least so much with ln 1/ε.
const LEAST_SLOPE: f64 = 0.03;
/// How much half an interval of log rounds grows where a question is outside of the experiments by a factor of e.
const UNSEEN: f64 = 0.25;
/// Nobody waits for more rounds than this.
const MOST_ROUNDS: f64 = 1e7;

/// The rounds that a method takes to any certified relative error. Their logarithm is linear in ln 1/ε.
#[derive(Debug, Clone, Copy)]
pub struct Rounds {
    start: f64,
    slope: f64,
    /// Half the interval of log rounds, within the errors of the experiments.
    half: f64,
}

impl Rounds {
    /// `passes` is the local work of a round in passes over the worker's own rows, 1 being the default; methods without
    /// local steps have no use for it. Nothing is said of algorithms that were not measured, and of what is impossible.
    pub fn of(glance: &Glance, algorithm: &str, workers: usize, passes: f64) -> Option<Rounds> {
        let sensible = |value: f64| value > 0.0 && value.is_finite();
        let possible = (1..=glance.rows).contains(&workers)
            && [passes, glance.lambda].into_iter().all(sensible)
            && glance.mean_squared_norm.is_finite();
        let learnt = learnt(algorithm, workers, glance.loss).filter(|_| possible)?;
        let (workers, passes) = match SAME_ANYWHERE.contains(&algorithm) {
            true => (1.0, 1.0),
            false => (workers as f64, passes),
        };
        // With a goal of 1 the terms along the goal are those of its slope.
        let asked = Asked { workers, passes, goal: 1.0 };
        let at = terms(glance, asked);
        let term = |k: usize| learnt.coefficients[k] * at[k];
        let along_goal = [GOAL, BY_WORKERS, BY_CONDITION];
        let start = (0..at.len()).filter(|k| !along_goal.contains(k)).map(term).sum();
        let slope: f64 = along_goal.into_iter().map(term).sum();
        let outside = reach(glance, asked).into_iter().zip(SEEN).map(|(value, seen)| outside(value, seen));
        Some(Rounds {
            start,
            slope: slope.max(LEAST_SLOPE),
            half: learnt.half + UNSEEN * outside.sum::<f64>(),
        })
    }

    /// Rounds until the error is `error`, with a log-normal 90 % interval. Nothing is said of goals that cannot be met, and
    /// where even the middle is beyond what anybody would wait for.
    pub fn to(&self, error: f64) -> Option<Estimate> {
        if !(error > 0.0 && error.is_finite()) {
            return None;
        }
        let goal = -error.min(1.0).ln();
        let middle = (self.start + self.slope * goal).max(0.0);
        let half = self.half + UNSEEN * outside(goal, SEEN_GOALS);
        let rounds = |log: f64| log.exp().max(1.0);
        let estimate =
            Estimate { low: rounds(middle - half), mean: rounds(middle), high: rounds(middle + half) };
        (estimate.mean <= MOST_ROUNDS).then_some(estimate)
    }
}

/// Losses without a corner go by the logistic one. On one worker CoCoA is plain SDCA, which has its own line.
fn learnt(algorithm: &str, workers: usize, loss: Loss) -> Option<&'static Learnt> {
    let cornered = loss == Loss::Hinge;
    let algorithm = match (algorithm, workers) {
        ("cocoa" | "cocoa-plus", 1) => "sdca",
        _ => algorithm,
    };
    LEARNT.iter().find(|learnt| learnt.algorithm == algorithm && learnt.cornered == cornered)
}

/// How far outside of the experiments a value is, in factors of e.
fn outside(value: f64, (low, high): (f64, f64)) -> f64 {
    (low - value).max(value - high).max(0.0)
}
