//! What there is: machines of some kinds, each with devices, and a job that they share.

use serde::{Deserialize, Serialize};

/// A device of a kind of machine: its processors, or an accelerator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Its name within the machine.
    pub name: String,
    /// A guess of its speed relative to other devices; 1 if there is none.
    pub speed: f64,
    /// The most inputs that fit into its memory, if that is known.
    pub most: Option<u64>,
}

/// Machines that are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// What each of them has.
    pub devices: Vec<Device>,
    /// A guess of the bytes per second of its network.
    pub bandwidth: Option<f64>,
}

/// One machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Which of the kinds it is.
    pub kind: usize,
}

/// All machines.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cluster {
    /// Kinds of machines.
    pub kinds: Vec<Kind>,
    /// The machines.
    pub machines: Vec<Machine>,
}

/// What is to be done in each iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// On these machines.
    pub cluster: Cluster,
    /// Inputs per iteration, over all devices.
    pub batch: u64,
    /// Bytes of the parameters of the network, which workers fetch and whose gradients they send.
    pub parameter_bytes: f64,
}

impl Cluster {
    /// The kind of a machine.
    pub fn kind_of(&self, machine: usize) -> &Kind {
        &self.kinds[self.machines[machine].kind]
    }

    /// How many devices all machines have.
    pub fn devices(&self) -> usize {
        (0..self.machines.len()).map(|machine| self.kind_of(machine).devices.len()).sum()
    }

    /// The machines of a kind.
    pub fn of_kind(&self, kind: usize) -> impl Iterator<Item = usize> {
        self.machines.iter().enumerate().filter(move |(_, machine)| machine.kind == kind).map(|(at, _)| at)
    }

    /// This and one more machine of a kind.
    pub fn with_one_more(&self, kind: usize) -> Cluster {
        let mut larger = self.clone();
        larger.machines.push(Machine { name: format!("one more {}", self.kinds[kind].name), kind });
        larger
    }
}

impl Job {
    /// The most inputs of each device of each kind, as far as that is known.
    pub fn most(&self) -> Vec<Vec<f64>> {
        let limit = |device: &Device| device.most.map_or(f64::INFINITY, |most| most as f64);
        self.cluster.kinds.iter().map(|kind| kind.devices.iter().map(limit).collect()).collect()
    }

    /// The same on a larger batch.
    pub fn with_batch(&self, batch: u64) -> Job {
        Job { batch, ..self.clone() }
    }
}
