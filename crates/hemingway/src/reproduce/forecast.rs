//! What comes next in a run, predicted after every round of it: the paper's forward prediction.
//!
//! From the last 50 rounds the logarithm of the sub-optimality is carried forward, some rounds or some seconds. Seconds
//! become rounds by the system model. Beside it stands persistence: nothing changes.

use hemingway_plan::{Estimate, forward};

use super::accuracy::{Accuracy, Check};
use super::models::Models;
use super::trace::{Round, Trace};

/// The paper's window.
pub(crate) const WINDOW: usize = 50;
/// Rounds that are observed before the first forecast.
const FEWEST: usize = 4;

/// How far ahead to predict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ahead {
    Rounds(u64),
    Seconds(f64),
}

/// One prediction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forecast {
    /// The round and the moment it is about.
    pub round: f64,
    pub seconds: f64,
    pub check: Check,
    /// The gap when it was made.
    pub last: f64,
}

/// All forecasts of one run.
pub(crate) fn forecasts(trace: &Trace, models: &Models, ahead: Ahead) -> Vec<Forecast> {
    let speed = models.seconds_per_round(trace.workers).mean;
    (FEWEST..=trace.points.len()).filter_map(|observed| predict(trace, observed, ahead, speed)).collect()
}

/// What is to be expected after some rounds of a run, if the run went on far enough.
fn predict(trace: &Trace, observed: usize, ahead: Ahead, seconds_per_round: f64) -> Option<Forecast> {
    let window = &trace.points[observed.saturating_sub(WINDOW)..observed];
    let last = *window.last()?;
    let (truth, rounds) = match ahead {
        Ahead::Rounds(rounds) => (after(trace, last.number + rounds)?.gap, rounds as f64),
        Ahead::Seconds(seconds) => (trace.gap_at(last.seconds + seconds)?, seconds / seconds_per_round),
    };
    let logarithms: Vec<(f64, f64)> =
        window.iter().map(|round| (round.number as f64, round.gap.ln())).collect();
    let Estimate { low, mean, high } = forward(&logarithms, rounds);
    let predicted = Estimate { low: low.exp(), mean: mean.exp(), high: high.exp() };
    Some(Forecast {
        round: last.number as f64 + rounds,
        seconds: last.seconds + rounds * seconds_per_round,
        check: Check { predicted, truth },
        last: last.gap,
    })
}

fn after(trace: &Trace, round: u64) -> Option<Round> {
    let place = trace.points.binary_search_by_key(&round, |point| point.number).ok()?;
    Some(trace.points[place])
}

/// How good forecasts were, and how good it would have been to expect no change.
pub(crate) fn accuracy(forecasts: &[Forecast]) -> Option<(Accuracy, Accuracy)> {
    let checks: Vec<Check> = forecasts.iter().map(|forecast| forecast.check.clone()).collect();
    let unchanged = |forecast: &Forecast| Check {
        predicted: Estimate { low: forecast.last, mean: forecast.last, high: forecast.last },
        truth: forecast.check.truth,
    };
    let persistence: Vec<Check> = forecasts.iter().map(unchanged).collect();
    Some((Accuracy::of(&checks)?, Accuracy::of(&persistence)?))
}
