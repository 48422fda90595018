//! The cluster file: which machines are pretended, and which problem they train.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::problem::{Model, Problem};

/// The device that every machine has. It also pays for the machine's communication and for serving parameters.
pub const CPU: &str = "cpu";

/// Numbers that the inputs, or the weights, of a problem may have: 1 GiB in every process.
const MOST_NUMBERS: usize = 1 << 28;

/// Addresses of pretended hosts are 10.77.0.1 to 10.77.0.250.
const MOST_MACHINES: usize = 250;

/// What a cluster file says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// How machines are connected.
    #[serde(default)]
    pub network: Network,
    /// What they train.
    pub problem: ProblemSize,
    /// The machines.
    pub machines: Vec<Machine>,
}

/// How machines are connected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Through 127.0.0.1; bandwidth is limited by the machines themselves.
    #[default]
    Loopback,
    /// Each in a network namespace, over links whose bandwidth the kernel limits.
    Namespaces,
}

/// The size of the problem; models use what they need of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemSize {
    /// Features of an input.
    pub features: usize,
    /// Hidden units.
    #[serde(default = "default_hidden")]
    pub hidden: usize,
    /// Examples that batches are drawn from.
    #[serde(default = "default_examples")]
    pub examples: usize,
    /// Standard deviation of the noise in the targets.
    #[serde(default = "default_noise")]
    pub noise: f64,
    /// Step size of the full gradient; without it the default of the model.
    pub learning_rate: Option<f64>,
}

fn default_hidden() -> usize {
    64
}

fn default_examples() -> usize {
    8192
}

fn default_noise() -> f64 {
    0.1
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub name: String,
    /// Share of a core that its device `cpu` has.
    pub share: f64,
    /// Inputs that fit into the memory of `cpu`.
    pub memory_limit: Option<u64>,
    /// Mbit/s of its link in each direction; without it the link is as fast as it happens to be.
    pub bandwidth: Option<f64>,
    /// Devices beside `cpu`.
    #[serde(default)]
    devices: BTreeMap<String, Device>,
}

/// Something that computes gradients.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Share of a core.
    pub share: f64,
    /// Inputs that fit into its memory.
    pub memory_limit: Option<u64>,
}

impl Cluster {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Cluster> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::ClusterUnreadable { path: path.to_owned(), error })?;
        Cluster::parse(&text).map_err(|reason| Error::Cluster { path: path.to_owned(), reason })
    }

    fn parse(text: &str) -> std::result::Result<Cluster, String> {
        let cluster: Cluster =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        cluster.problem.check()?;
        cluster.check_machines()?;
        Ok(cluster)
    }

    fn check_machines(&self) -> std::result::Result<(), String> {
        let mut names: Vec<&str> = self.machines.iter().map(|machine| machine.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("there are two machines called `{}`", twice[0]));
        }
        if names.len() > MOST_MACHINES {
            return Err(format!("there are {} machines; use at most {MOST_MACHINES}", names.len()));
        }
        self.machines.iter().try_for_each(Machine::check)
    }

    /// The problem for a model and a random seed.
    pub fn problem(&self, model: Model, seed: u64) -> Problem {
        let ProblemSize { features, hidden, examples, noise, .. } = self.problem;
        Problem { model, features, hidden, examples, noise, seed }
    }
}

impl ProblemSize {
    fn check(&self) -> std::result::Result<(), String> {
        let sizes = [("features", self.features), ("hidden", self.hidden), ("examples", self.examples)];
        if let Some((what, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(format!("problem.{what} has to be at least 1"));
        }
        let products = [("features × hidden", self.hidden), ("features × examples", self.examples)];
        for (what, factor) in products {
            if self.features.saturating_mul(factor) > MOST_NUMBERS {
                return Err(format!("problem: {what} is more than {MOST_NUMBERS}; use a smaller problem"));
            }
        }
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            return Err(format!("problem.noise = {} is not a standard deviation", self.noise));
        }
        match self.learning_rate {
            Some(rate) if !(rate.is_finite() && rate > 0.0) => {
                Err(format!("problem.learning_rate = {rate} has to be a positive number"))
            }
            _ => Ok(()),
        }
    }
}

impl Machine {
    /// All its devices by name, `cpu` among them.
    pub fn devices(&self) -> BTreeMap<&str, Device> {
        let cpu = Device { share: self.share, memory_limit: self.memory_limit };
        let others = self.devices.iter().map(|(name, device)| (name.as_str(), *device));
        others.chain([(CPU, cpu)]).collect()
    }

    fn check(&self) -> std::result::Result<(), String> {
        let name = &self.name;
        if self.devices.contains_key(CPU) {
            return Err(format!(
                "machine {name}: the share of `{CPU}` is the machine's own, not one of its devices"
            ));
        }
        for (device, Device { share, .. }) in self.devices() {
            if !(share > 0.0 && share <= 1.0) {
                return Err(format!("machine {name}: device {device} has a share of {share}; use 0.01 to 1"));
            }
        }
        match self.bandwidth {
            Some(bandwidth) if !(bandwidth.is_finite() && bandwidth > 0.0) => {
                Err(format!("machine {name}: bandwidth = {bandwidth} has to be a positive number of Mbit/s"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const SMALL: &str = r#"
        [problem]
        features = 10

        [[machines]]
        name = "a"
        share = 0.3
        memory_limit = 500
        devices = { slow = { share = 0.1 } }

        [[machines]]
        name = "b"
        share = 0.2
        bandwidth = 100
    "#;

    pub fn small() -> Cluster {
        Cluster::parse(SMALL).unwrap()
    }

    #[test]
    fn a_file_is_read_with_its_defaults() {
        let cluster = small();
        assert_eq!(cluster.network, Network::Loopback);
        assert_eq!(cluster.problem.hidden, 64);
        let devices: Vec<_> = cluster.machines[0].devices().into_iter().collect();
        assert_eq!(devices[0], ("cpu", Device { share: 0.3, memory_limit: Some(500) }));
        assert_eq!(devices[1], ("slow", Device { share: 0.1, memory_limit: None }));
    }

    #[test]
    fn mistakes_are_named() {
        let check = |from: &str, to: &str, expected: &str| {
            let error = Cluster::parse(&SMALL.replace(from, to)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("\"b\"", "\"a\"", "two machines called `a`");
        check("share = 0.2", "share = 1.5", "device cpu has a share of 1.5");
        check("slow =", "cpu =", "the machine's own");
        check("bandwidth = 100", "bandwidth = 0", "positive number of Mbit/s");
        check("features = 10", "features = 0", "at least 1");
        check("features = 10", "features = 100000000", "smaller problem");
        check("bandwidth", "bandwith", "unknown field `bandwith`");
    }
}
