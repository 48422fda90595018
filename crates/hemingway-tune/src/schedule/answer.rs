//! What an evaluation tells about a configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cluster::Cluster;

/// What was measured of one schedule. Only the time is needed; the more there is besides, the faster it is learnt.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Seconds per iteration.
    pub time: f64,
    /// Of that, seconds spent on parameters and gradients on their way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub communication_time: Option<f64>,
    /// Machines by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machines: BTreeMap<String, MachineAnswer>,
    /// How many inputs a gradient needs until its noise is as large as itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_noise_scale: Option<f64>,
}

/// What was measured of one machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MachineAnswer {
    /// Seconds until its gradient was ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Devices by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub devices: BTreeMap<String, DeviceAnswer>,
}

/// What was measured of one device.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DeviceAnswer {
    /// Inputs that it computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

/// A measurement that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{what} is {value}, which is no duration; a positive number of seconds is")]
pub struct AnswerError {
    /// Which.
    pub what: String,
    /// What it is said to be.
    pub value: f64,
}

impl Answer {
    /// Whether all figures can be true.
    pub fn check(&self) -> Result<(), AnswerError> {
        let positive = |what: &dyn Fn() -> String, value: f64| {
            if value.is_finite() && value > 0.0 { Ok(()) } else { Err(AnswerError { what: what(), value }) }
        };
        positive(&|| "time".into(), self.time)?;
        if let Some(value) = self.communication_time.filter(|value| !(value.is_finite() && *value >= 0.0)) {
            return Err(AnswerError { what: "communication_time".into(), value });
        }
        for (name, machine) in &self.machines {
            if let Some(time) = machine.time {
                positive(&|| format!("the time of machine {name}"), time)?;
            }
            for (device, answer) in &machine.devices {
                // A device without a load may have taken no time.
                let idle = answer.load == Some(0.0);
                if let Some(time) = answer.time.filter(|time| !(idle && *time == 0.0)) {
                    positive(&|| format!("the time of {device} of machine {name}"), time)?;
                }
            }
        }
        Ok(())
    }

    /// Seconds of a machine, if they were measured.
    pub(super) fn machine(&self, cluster: &Cluster, machine: usize) -> Option<f64> {
        self.machines.get(&cluster.machines[machine].name)?.time
    }

    /// Seconds of a device, if they were measured.
    pub(super) fn device(&self, cluster: &Cluster, machine: usize, device: usize) -> Option<f64> {
        let devices = &self.machines.get(&cluster.machines[machine].name)?.devices;
        devices.get(&cluster.kind_of(machine).devices[device].name)?.time.filter(|time| *time > 0.0)
    }
}
