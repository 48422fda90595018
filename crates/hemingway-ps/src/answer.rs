//! What is printed: one JSON object.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::Error;

/// The outcome of a run.
#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Answer {
    Ok(Measured),
    Failed { reason: String },
}

/// What was measured; times in seconds, averaged over iterations.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// Of an iteration.
    pub time: f64,
    /// Of an iteration, beyond the slowest worker's computing.
    pub communication_time: f64,
    /// The workers.
    pub machines: BTreeMap<String, MachineTime>,
    /// In inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient_noise_scale: Option<f64>,
    #[serde(flatten)]
    pub goal: Option<Goal>,
}

/// A worker's computing.
#[derive(Debug, Serialize)]
pub struct MachineTime {
    pub time: f64,
    pub devices: BTreeMap<String, DeviceTime>,
}

/// A device's computing.
#[derive(Debug, Serialize)]
pub struct DeviceTime {
    pub load: u64,
    pub time: f64,
}

/// How the loss was reached.
#[derive(Debug, Serialize)]
pub struct Goal {
    pub seconds_to_loss: f64,
    pub iterations_to_loss: u64,
    pub loss: f64,
}

impl From<&Error> for Answer {
    fn from(error: &Error) -> Answer {
        Answer::Failed { reason: error.to_string() }
    }
}
