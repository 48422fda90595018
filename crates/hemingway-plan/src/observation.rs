//! What was observed of a run, and what is predicted of one that has not happened.

use serde::{Deserialize, Serialize};

/// One line of a trace: how far a run was after an iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Which run; repeats of one configuration have different names.
    pub run: String,
    /// What was run.
    pub algorithm: String,
    /// On how many workers.
    pub workers: usize,
    /// On which part of the data, above 0 and at most 1.
    pub fraction: f64,
    /// After which iteration.
    pub iteration: u64,
    /// Cumulative since the run began.
    pub seconds: Option<f64>,
    /// Loss, sub-optimality, accuracy or whatever the trace is about.
    pub value: Option<f64>,
}

/// A figure with its 90 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// One outcome in twenty is below.
    pub low: f64,
    /// The median.
    pub mean: f64,
    /// One outcome in twenty is above.
    pub high: f64,
}
