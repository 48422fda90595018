//! Rounds to a certified error, before the first round was made.

use hemingway_train::Loss;

use super::Glance;
use super::coefficients::{LEARNT, Learnt, SEEN};
use super::terms::{Asked, BY_CONDITION, BY_WORKERS, GOAL, reach, terms};
use crate::Estimate;

/// Methods whose rounds are the same on any number of workers.
const SAME_ANYWHERE: [&str; 4] = ["gradient-descent", "l-bfgs", "minibatch-sgd", "newton"];
/// A smaller error takes more rounds: log rounds rise at least so much with ln 1/ε.
const LEAST_SLOPE: f64 = 0.03;
/// How much half an interval of log rounds grows where a question is outside of the experiments by a factor of e.
const UNSEEN: f64 = 0.25;
/// Nobody waits for more rounds than this.
const MOST_ROUNDS: f64 = 1e7;

/// Rounds until the certified relative error is `error`, with a log-normal 90 % interval.
///
/// `passes` is the local work of a round in passes over the worker's own rows, 1 being the default; methods without
/// local steps have no use for it. Nothing is said of algorithms that were not measured, of goals that cannot be met,
/// and where even the middle is beyond what anybody would wait for.
pub fn rounds_to(
    glance: &Glance,
    algorithm: &str,
    workers: usize,
    passes: f64,
    error: f64,
) -> Option<Estimate> {
    let sensible = |value: f64| value > 0.0 && value.is_finite();
    let possible = (1..=glance.rows).contains(&workers)
        && [passes, error, glance.lambda].into_iter().all(sensible)
        && glance.mean_squared_norm.is_finite();
    let learnt = learnt(algorithm, workers, glance.loss).filter(|_| possible)?;
    let asked = match SAME_ANYWHERE.contains(&algorithm) {
        true => Asked { workers: 1.0, passes: 1.0, error: error.min(1.0) },
        false => Asked { workers: workers as f64, passes, error: error.min(1.0) },
    };
    let middle = learnt.log_rounds(glance, asked).max(0.0);
    let half = learnt.half + UNSEEN * distance(glance, asked);
    let rounds = |log: f64| log.exp().max(1.0);
    let estimate = Estimate { low: rounds(middle - half), mean: rounds(middle), high: rounds(middle + half) };
    (estimate.mean <= MOST_ROUNDS).then_some(estimate)
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

impl Learnt {
    fn log_rounds(&self, glance: &Glance, asked: Asked) -> f64 {
        let at = terms(glance, asked);
        let along_goal = [GOAL, BY_WORKERS, BY_CONDITION];
        let rest = (0..at.len()).filter(|k| !along_goal.contains(k));
        let start: f64 = rest.map(|k| self.coefficients[k] * at[k]).sum();
        let goal = asked.goal();
        let change: f64 = along_goal.iter().map(|&k| self.coefficients[k] * at[k]).sum();
        start + change.max(LEAST_SLOPE * goal)
    }
}

/// How far outside of the experiments a question is, in factors of e.
fn distance(glance: &Glance, asked: Asked) -> f64 {
    let outside = |(value, (low, high)): (f64, (f64, f64))| (low - value).max(value - high).max(0.0);
    reach(glance, asked).into_iter().zip(SEEN).map(outside).sum()
}
