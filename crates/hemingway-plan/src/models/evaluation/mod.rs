//! How good the models are on given runs, always beside baselines.
//!
//! Each question hides a part of the runs, fits models and baselines to the rest and compares what they say with what
//! was hidden: rounds to a goal on workers that were left out, seconds of a round in configurations that were left out,
//! and what comes next in a run. A question for which the runs do not suffice has no case.

mod ahead;
mod curve;
mod rounds;
mod seconds;
mod subsets;
mod summary;

use std::fmt;

use serde::Serialize;

use crate::{Observation, Target};

pub use summary::{Summary, summarise};

/// What is asked of the models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Rounds to a goal, on a number of workers between others.
    RoundsInside,
    /// Rounds to a goal, on the most workers from all fewer ones.
    RoundsBeyond,
    /// Rounds to a goal on all of the data, from runs on a quarter of it or less.
    RoundsFromParts,
    /// Seconds of a round, in a configuration of workers and data that was left out.
    SecondsHeldOut,
    /// Seconds of a round on all data, from runs on a tenth of it or less.
    SecondsFromSample,
    /// The value so many rounds later, from at most 50 points before.
    ForwardRounds(u64, View),
    /// The value so many seconds later, from at most 50 points before.
    ForwardSeconds(u64, View),
}

/// Which values of a run count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// They never get worse.
    BestSoFar,
    /// As they came.
    AsRecorded,
}

/// Who answers: `model`, one of its forms alone, or a baseline.
pub type Method = &'static str;

/// The models of this crate.
pub const MODEL: Method = "model";

/// One answer beside what happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    /// What was asked.
    pub question: Question,
    /// Of which configuration and goal.
    pub what: String,
    /// Who answered.
    pub method: Method,
    /// |found/truth − 1| for rounds and seconds, infinite where nothing was found. For values that lie ahead the
    /// difference in the logarithm of the gap to the optimum; for metrics, which have no known optimum, in the metric.
    pub error: f64,
    /// Whether the truth was inside the 90 % interval; the model alone has one.
    pub covered: Option<bool>,
    /// The run ended before the goal: the truth is only known to be larger than its length. The error is what the
    /// prediction fell short of that, at least.
    pub censored: bool,
}

/// Asks every question that the runs of one algorithm on one dataset can answer.
pub fn evaluate(observations: &[Observation], target: Target) -> Vec<Case> {
    let mut cases = rounds::cases(observations, target);
    cases.extend(seconds::held_out(observations));
    cases.extend(seconds::from_sample(observations));
    cases.extend(ahead::cases(observations, target));
    cases
}

/// Asks how runs on parts of the data predict those on all of it; values are relative sub-optimalities, each part with
/// its own optimum.
pub fn from_parts(gaps: &[Observation]) -> Vec<Case> {
    subsets::cases(gaps)
}

/// Asks only what comes next in each run.
pub fn ahead(observations: &[Observation], target: Target) -> Vec<Case> {
    ahead::cases(observations, target)
}

impl Case {
    /// A relative error; what was not found is infinitely wrong.
    fn relative(question: Question, what: &str, method: Method, found: Option<f64>, truth: f64) -> Self {
        let error = found.map_or(f64::INFINITY, |found| (found / truth - 1.0).abs());
        Self { question, what: what.to_owned(), method, error, covered: None, censored: false }
    }

    fn covered(self, covered: bool) -> Self {
        Self { covered: Some(covered), ..self }
    }
}

impl Question {
    /// Which values count, where that makes a difference.
    pub fn view(self) -> Option<View> {
        match self {
            Self::ForwardRounds(_, view) | Self::ForwardSeconds(_, view) => Some(view),
            _ => None,
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RoundsInside => write!(f, "rounds, inner m held out"),
            Self::RoundsBeyond => write!(f, "rounds, largest m from smaller"),
            Self::RoundsFromParts => write!(f, "rounds on all rows, from 1/4"),
            Self::SecondsHeldOut => write!(f, "seconds per round, held out"),
            Self::SecondsFromSample => write!(f, "seconds per round, from 10 %"),
            Self::ForwardRounds(1, view) => write!(f, "1 round ahead, {view}"),
            Self::ForwardRounds(ahead, view) => write!(f, "{ahead} rounds ahead, {view}"),
            Self::ForwardSeconds(ahead, view) => write!(f, "{ahead} s ahead, {view}"),
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BestSoFar => "best so far",
            Self::AsRecorded => "as recorded",
        })
    }
}

#[cfg(test)]
mod tests;
