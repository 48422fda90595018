//! What the head and the machines say to one another: JSON lines through the standard input and output of each machine's
//! process.
//!
//! | head | machine |
//! |---|---|
//! | `Prepare` | makes its data, enters its network namespace if it gets one: `Ready` |
//! | `Listen` | opens a port if it is a server: `Listening` |
//! | `Connect` | all connections between workers and servers are there: `Connected` |
//! | `Run`, as often as wanted | some iterations: `Finished` |
//! | `Show`, in between | a server's weights: `Weights` |
//!
//! A machine whose standard input ends, ends too; so none outlives the head, however that dies.

use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::cgroup::Group;
use crate::cluster::Network;
use crate::configuration::Schedule;
use crate::problem::Problem;

/// From the head to a machine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    Prepare(Box<Setup>),
    Listen { address: Ipv4Addr },
    Connect { servers: Vec<SocketAddr> },
    Run { iterations: u64, learning_rate: f32 },
    Show,
}

/// From a machine to the head.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Ready,
    /// The port of a server.
    Listening {
        port: Option<u16>,
    },
    Connected,
    Finished(Report),
    /// A server's part of the weights.
    Weights(Vec<f32>),
    /// It cannot go on; `consequence` if another machine is the likely cause.
    Failed {
        reason: String,
        consequence: bool,
    },
}

/// Everything that a machine has to know.
#[derive(Debug, Serialize, Deserialize)]
pub struct Setup {
    /// Which machine of the cluster it is.
    pub machine: usize,
    /// Names of all machines of the cluster.
    pub names: Vec<String>,
    /// Its devices.
    pub devices: Vec<DeviceLimit>,
    /// Mbit/s of its link, if it is limited.
    pub bandwidth: Option<f64>,
    pub network: Network,
    pub problem: Problem,
    pub schedule: Schedule,
    /// Says who belongs to this run.
    pub secret: u64,
}

/// What a device may use.
#[derive(Debug, Serialize, Deserialize)]
pub struct DeviceLimit {
    pub name: String,
    /// Share of a core.
    pub share: f64,
    /// The control group that limits it, if the device does not pace itself.
    pub group: Option<Group>,
}

/// What a machine measured, by iteration.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub worker: Option<WorkerReport>,
    pub server: Option<ServerReport>,
}

/// What a worker measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WorkerReport {
    /// When it began, on the clock that all machines share.
    pub began: f64,
    pub iterations: Vec<WorkerIteration>,
}

/// One iteration of a worker.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WorkerIteration {
    /// Seconds from having the weights to having the machine's gradient.
    pub seconds: f64,
    /// Seconds of each device.
    pub devices: Vec<f64>,
    /// Σ b|g|² over the groups of inputs that were summed apart, of b inputs with mean gradient g.
    pub weighted_norms: f64,
    /// How many groups.
    pub groups: u64,
}

/// What a server measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ServerReport {
    pub iterations: Vec<ServerIteration>,
}

/// One iteration of a server.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ServerIteration {
    /// When its part of the weights was updated, on the clock that all machines share.
    pub updated: f64,
    /// |g|² of its part of the batch's mean gradient.
    pub squared_norm: f64,
}
