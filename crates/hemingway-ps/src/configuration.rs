//! The configuration on the standard input, and the schedule that it means on a cluster.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::cluster::{Cluster, Machine};
use crate::error::{Error, Result};

/// The largest batch: sums of as many gradients are still exact enough in f32.
const MOST_INPUTS: u64 = 10_000_000;

/// What is to be tried.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Configuration {
    /// Machines by name; those that are missing take no part.
    pub machines: BTreeMap<String, Role>,
}

/// What a machine does.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Whether it computes gradients.
    #[serde(default)]
    pub worker: bool,
    /// Whether it holds a part of the parameters.
    #[serde(default)]
    pub ps: bool,
    /// Inputs per iteration of each of its devices.
    #[serde(default)]
    pub loads: BTreeMap<String, u64>,
}

impl Configuration {
    /// From JSON.
    pub fn parse(text: &str) -> Result<Configuration> {
        serde_json::from_str(text).map_err(|error| Error::Configuration(error.to_string()))
    }

    fn check_names(&self, cluster: &Cluster) -> Result<()> {
        for (name, role) in &self.machines {
            let Some(machine) = cluster.machines.iter().find(|machine| machine.name == *name) else {
                let known = list(cluster.machines.iter().map(|machine| machine.name.as_str()));
                return Err(Error::UnknownMachine { name: name.clone(), known });
            };
            let devices = machine.devices();
            if let Some(device) = role.loads.keys().find(|device| !devices.contains_key(device.as_str())) {
                let (machine, known) = (name.clone(), list(devices.into_keys()));
                return Err(Error::UnknownDevice { machine, device: device.clone(), known });
            }
        }
        Ok(())
    }
}

/// Who does what, with machines as indices into the cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Machines that compute, in the order of the cluster.
    pub workers: Vec<Worker>,
    /// Machines that hold parameters, in the order of the cluster.
    pub servers: Vec<Server>,
    /// Inputs of all workers together.
    pub batch: u64,
}

/// A machine that computes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    pub machine: usize,
    /// All devices of the machine, those without a load too.
    pub loads: Vec<Load>,
}

/// What a device computes: some inputs of the batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    pub device: String,
    /// Places in the batch.
    pub inputs: Range<u64>,
}

/// A machine that holds parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Server {
    pub machine: usize,
    /// Which of them.
    pub parameters: Range<usize>,
}

impl Schedule {
    /// Checks a configuration and divides the batch and the parameters.
    pub fn new(cluster: &Cluster, configuration: &Configuration, parameters: usize) -> Result<Schedule> {
        configuration.check_names(cluster)?;
        let nothing = Role::default();
        let roles: Vec<(usize, &Machine, &Role)> = cluster
            .machines
            .iter()
            .enumerate()
            .map(|(at, machine)| (at, machine, configuration.machines.get(&machine.name).unwrap_or(&nothing)))
            .collect();
        let mut batch = 0;
        let mut workers = Vec::new();
        for (at, machine, role) in roles.iter().filter(|(_, _, role)| role.worker) {
            workers.push(Worker { machine: *at, loads: divide_batch(machine, role, &mut batch)? });
        }
        // A worker without inputs would only be waited for.
        workers.retain(|worker| worker.loads.iter().any(|load| !load.inputs.is_empty()));
        if workers.is_empty() {
            return Err(Error::NoWorker);
        }
        let servers = roles.iter().filter(|(_, _, role)| role.ps).map(|(at, _, _)| *at).collect();
        Ok(Schedule { workers, servers: divide_parameters(servers, parameters)?, batch })
    }

    /// Machines that take part, in the order of the cluster.
    pub fn machines(&self) -> Vec<usize> {
        let workers = self.workers.iter().map(|worker| worker.machine);
        let mut machines: Vec<usize> =
            workers.chain(self.servers.iter().map(|server| server.machine)).collect();
        machines.sort_unstable();
        machines.dedup();
        machines
    }
}

fn divide_batch(machine: &Machine, role: &Role, batch: &mut u64) -> Result<Vec<Load>> {
    let mut loads = Vec::new();
    for (name, device) in machine.devices() {
        let load = role.loads.get(name).copied().unwrap_or(0);
        match device.memory_limit {
            Some(limit) if load > limit => {
                let (machine, device) = (machine.name.clone(), name.to_owned());
                return Err(Error::OutOfMemory { machine, device, load, limit });
            }
            _ => {}
        }
        let end = batch.saturating_add(load);
        if end > MOST_INPUTS {
            return Err(Error::BatchTooLarge(MOST_INPUTS));
        }
        loads.push(Load { device: name.to_owned(), inputs: *batch..end });
        *batch = end;
    }
    Ok(loads)
}

/// Contiguous parts whose sizes differ by at most one.
fn divide_parameters(machines: Vec<usize>, parameters: usize) -> Result<Vec<Server>> {
    let servers = machines.len();
    if servers == 0 {
        return Err(Error::NoServer);
    }
    if servers > parameters {
        return Err(Error::TooManyServers { servers, parameters });
    }
    let bound = |at: usize| at * parameters / servers;
    let server = |(at, machine): (usize, usize)| Server { machine, parameters: bound(at)..bound(at + 1) };
    Ok(machines.into_iter().enumerate().map(server).collect())
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::small;

    fn schedule(json: &str) -> Result<Schedule> {
        Schedule::new(&small(), &Configuration::parse(json)?, 10)
    }

    #[test]
    fn batch_and_parameters_are_divided_in_the_order_of_the_cluster() {
        let schedule = schedule(
            r#"{"machines": {"b": {"worker": true, "ps": true, "loads": {"cpu": 5}},
                             "a": {"worker": true, "ps": true, "loads": {"slow": 2, "cpu": 3}}}}"#,
        )
        .unwrap();
        let inputs: Vec<_> = schedule
            .workers
            .iter()
            .flat_map(|worker| worker.loads.iter().map(|load| load.inputs.clone()))
            .collect();
        assert_eq!(inputs, [0..3, 3..5, 5..10]);
        let parameters: Vec<_> = schedule.servers.iter().map(|server| server.parameters.clone()).collect();
        assert_eq!(parameters, [0..5, 5..10]);
        assert_eq!((schedule.batch, schedule.machines()), (10, vec![0, 1]));
    }

    #[test]
    fn machines_without_work_take_no_part() {
        let schedule = schedule(
            r#"{"machines": {"a": {"worker": true, "loads": {"cpu": 0}},
                             "b": {"worker": true, "ps": true, "loads": {"cpu": 1}}}}"#,
        )
        .unwrap();
        assert_eq!(schedule.machines(), [1]);
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        let check = |machines: &str, expected: &str, code: u8| {
            let error = schedule(&format!(r#"{{"machines": {machines}}}"#)).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(error.exit_code(), code, "{error}");
        };
        check(
            r#"{"a": {"worker": true, "ps": true, "loads": {"cpu": 501}}}"#,
            "at most 500 inputs, not 501",
            1,
        );
        check(r#"{"a": {"ps": true}}"#, "no machine is a worker", 1);
        check(r#"{"a": {"worker": true, "loads": {"cpu": 5}}}"#, "no machine is a parameter server", 1);
        check(r#"{"b": {"worker": true, "loads": {"cpu": 18446744073709551615}}}"#, "too large", 1);
        check(r#"{"c": {}}"#, "no machine `c` in the cluster file; it has a, b", 2);
        check(r#"{"b": {"loads": {"gpu": 1}}}"#, "machine b has no device `gpu`; it has cpu", 2);
        check(r#"{"b": {"loads": {"cpu": 1.5}}}"#, "cannot be read", 2);
    }
}
