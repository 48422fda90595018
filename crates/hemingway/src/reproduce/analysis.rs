//! All that is computed from the runs, once: models, models fitted without a run, forecasts, and their errors.

use serde::Serialize;

use super::accuracy::{Accuracy, Check};
use super::experiments::Evidence;
use super::forecast::{self, Ahead, Forecast, forecasts};
use super::models::Models;
use super::trace::Trace;
use crate::Error;

/// How far ahead the paper predicts.
pub(crate) const AHEAD: [(Ahead, &str); 4] = [
    (Ahead::Rounds(1), "1 round"),
    (Ahead::Rounds(10), "10 rounds"),
    (Ahead::Seconds(1.0), "1 s"),
    (Ahead::Seconds(5.0), "5 s"),
];

/// Everything that the figures show.
pub(crate) struct Analysis<'a> {
    /// CoCoA+ on rising numbers of workers: the best weights so far.
    pub scaling: &'a [Trace],
    /// The same runs: the weights of each round.
    pub recorded: &'a [Trace],
    /// What the runs came to.
    pub evidence: &'a Evidence,
    /// Fitted to all of `scaling`.
    pub models: Models,
    /// Fitted to `scaling` without one run, in its order.
    pub held_out: Vec<Models>,
    /// For each of [`AHEAD`], for each run of `recorded`.
    pub ahead: Vec<Vec<Vec<Forecast>>>,
}

/// The errors of all predictions. Each is absent if nothing could be predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Errors {
    /// Rounds to a sub-optimality, on numbers of workers held out of the model.
    pub rounds: Option<Accuracy>,
    /// The same without the fewest and the most workers, where the model has to extrapolate.
    pub rounds_between: Option<Accuracy>,
    /// Sub-optimality by round, on numbers of workers held out of the model.
    pub suboptimality: Option<Accuracy>,
    /// Sub-optimality by time, on numbers of workers held out of both models.
    pub suboptimality_in_time: Option<Accuracy>,
    /// Seconds to a sub-optimality, on numbers of workers held out of both models.
    pub seconds: Option<Accuracy>,
    /// Seconds per round, on numbers of workers held out of the model.
    pub seconds_per_round: Option<Accuracy>,
    /// Forecasts within a run.
    pub forward: Vec<Forward>,
}

/// The errors of one distance of forecasts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forward {
    /// How far ahead.
    pub ahead: &'static str,
    /// Of sub-optimality.
    pub forecast: Accuracy,
    /// Of expecting no change.
    pub persistence: Accuracy,
}

impl Analysis<'_> {
    /// Fits and forecasts, for the paper's algorithm.
    pub fn of(evidence: &Evidence) -> Result<Analysis<'_>, Error> {
        Analysis::of_runs(evidence, &evidence.scaling, &evidence.recorded)
    }

    /// The same for the algorithm that averages.
    pub fn of_averaging(evidence: &Evidence) -> Result<Analysis<'_>, Error> {
        Analysis::of_runs(evidence, &evidence.averaging, &evidence.averaging_recorded)
    }

    fn of_runs<'a>(
        evidence: &'a Evidence,
        scaling: &'a [Trace],
        recorded: &'a [Trace],
    ) -> Result<Analysis<'a>, Error> {
        let models = Models::fit(scaling.iter())?;
        let held_out = Models::without_each(scaling)?;
        let each = |ahead: Ahead| recorded.iter().map(|trace| forecasts(trace, &models, ahead)).collect();
        let ahead = AHEAD.into_iter().map(|(ahead, _)| each(ahead)).collect();
        Ok(Analysis { scaling, recorded, evidence, models, held_out, ahead })
    }

    /// How good all predictions were.
    pub fn errors(&self) -> Errors {
        let between = 1..self.scaling.len().saturating_sub(1);
        Errors {
            rounds: self.unseen(0..self.scaling.len(), Models::check_goals),
            rounds_between: self.unseen(between, Models::check_goals),
            suboptimality: self.unseen(0..self.scaling.len(), Models::check_rounds),
            suboptimality_in_time: self.unseen(0..self.scaling.len(), Models::check_times),
            seconds: self.unseen(0..self.scaling.len(), Models::check_goals_in_time),
            seconds_per_round: self.unseen(0..self.scaling.len(), |models, trace| {
                models.check_speed(trace).into_iter().collect()
            }),
            forward: self.forward(),
        }
    }

    /// The errors on some runs of models fitted without them.
    fn unseen(
        &self,
        which: std::ops::Range<usize>,
        check: impl Fn(&Models, &Trace) -> Vec<Check>,
    ) -> Option<Accuracy> {
        let checks: Vec<Check> = which.flat_map(|k| check(&self.held_out[k], &self.scaling[k])).collect();
        Accuracy::of(&checks)
    }

    fn forward(&self) -> Vec<Forward> {
        let each = |(runs, (_, name)): (&Vec<Vec<Forecast>>, (Ahead, &'static str))| {
            let (forecast, persistence) = forecast::accuracy(&runs.concat())?;
            Some(Forward { ahead: name, forecast, persistence })
        };
        self.ahead.iter().zip(AHEAD).filter_map(each).collect()
    }
}
