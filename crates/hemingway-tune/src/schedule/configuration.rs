//! What is chosen: a role for every machine.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::cluster::{Cluster, Job};

/// What one machine does.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Role {
    /// Inputs per iteration of each of its devices; all zero if it is no worker.
    pub loads: Vec<u64>,
    /// Whether it holds a part of the parameters.
    pub server: bool,
}

impl Role {
    /// Whether it computes.
    pub fn worker(&self) -> bool {
        self.loads.iter().any(|load| *load > 0)
    }
}

/// What all machines do, in the order of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// One for each machine.
    pub roles: Vec<Role>,
}

/// Why something is no schedule for a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Nobody computes.
    #[error("the schedule has no worker")]
    NoWorker,
    /// Nobody serves.
    #[error("the schedule has no parameter server")]
    NoServer,
    /// Loads that are not the batch.
    #[error("the loads sum to {sum}, the batch is {batch}")]
    Sum {
        /// What they sum to.
        sum: u64,
        /// What is asked.
        batch: u64,
    },
    /// Not the documented form.
    #[error("{0}")]
    Form(String),
}

impl Schedule {
    /// How many machines compute.
    pub fn workers(&self) -> usize {
        self.roles.iter().filter(|role| role.worker()).count()
    }

    /// How many hold parameters.
    pub fn servers(&self) -> usize {
        self.roles.iter().filter(|role| role.server).count()
    }

    /// Inputs per iteration.
    pub fn batch(&self) -> u64 {
        self.roles.iter().flat_map(|role| &role.loads).sum()
    }

    /// Every device the same load but for what it can hold, every machine a server too: what people do who do not tune.
    pub fn uniform(job: &Job) -> Schedule {
        Schedule::by_weight_within(job, &job.most(), |_, _| 1.0)
    }

    /// Every device in proportion to its weight but for limits, every machine that works a server too.
    pub fn by_weight_within(job: &Job, most: &[Vec<f64>], weight: impl Fn(usize, usize) -> f64) -> Schedule {
        let devices: Vec<(usize, usize)> = (0..job.cluster.machines.len())
            .flat_map(|machine| {
                (0..job.cluster.kind_of(machine).devices.len()).map(move |device| (machine, device))
            })
            .collect();
        let weights: Vec<f64> = devices.iter().map(|(machine, device)| weight(*machine, *device)).collect();
        let limits: Vec<f64> = devices
            .iter()
            .map(|(machine, device)| most[job.cluster.machines[*machine].kind][*device])
            .collect();
        let loads = shares(job.batch, &filled(job.batch as f64, &weights, &limits));
        let none = |machine: usize| vec![0; job.cluster.kind_of(machine).devices.len()];
        let mut roles: Vec<Role> = (0..job.cluster.machines.len())
            .map(|machine| Role { loads: none(machine), server: false })
            .collect();
        for ((machine, device), load) in devices.into_iter().zip(loads) {
            roles[machine].loads[device] = load;
            roles[machine].server |= load > 0;
        }
        Schedule { roles }
    }

    /// Whether it is one for this job.
    pub fn check(&self, job: &Job) -> Result<(), ScheduleError> {
        if self.workers() == 0 {
            return Err(ScheduleError::NoWorker);
        }
        if self.servers() == 0 {
            return Err(ScheduleError::NoServer);
        }
        let (sum, batch) = (self.batch(), job.batch);
        if sum == batch { Ok(()) } else { Err(ScheduleError::Sum { sum, batch }) }
    }

    /// As it is given to an evaluation.
    pub fn to_json(&self, cluster: &Cluster) -> Value {
        let machine = |(at, role): (usize, &Role)| {
            let devices = cluster.kind_of(at).devices.iter().map(|device| device.name.clone());
            let loads: BTreeMap<String, u64> = devices.zip(role.loads.iter().copied()).collect();
            let value = json!({ "worker": role.worker(), "ps": role.server, "loads": loads });
            (cluster.machines[at].name.clone(), value)
        };
        let machines: serde_json::Map<String, Value> = self.roles.iter().enumerate().map(machine).collect();
        json!({ "machines": machines })
    }

    /// From what [`Schedule::to_json`] makes. Machines that are not mentioned do nothing.
    pub fn from_json(value: &Value, cluster: &Cluster) -> Result<Schedule, ScheduleError> {
        let form = |text: String| ScheduleError::Form(text);
        let given = value.get("machines").and_then(Value::as_object);
        let given = given.ok_or_else(|| form("a configuration needs an object `machines`".into()))?;
        if let Some(name) =
            given.keys().find(|name| cluster.machines.iter().all(|known| known.name != **name))
        {
            return Err(form(format!("there is no machine `{name}`")));
        }
        let role = |at: usize| {
            let devices = &cluster.kind_of(at).devices;
            let Some(machine) = given.get(&cluster.machines[at].name) else {
                return Ok(Role { loads: vec![0; devices.len()], server: false });
            };
            let works = machine.get("worker").and_then(Value::as_bool).unwrap_or(true);
            let load =
                |device: &super::Device| match machine.get("loads").and_then(|loads| loads.get(&device.name))
                {
                    None => Ok(0),
                    Some(load) => load.as_u64().ok_or_else(|| {
                        form(format!("the load {load} of {} is no whole number", cluster.machines[at].name))
                    }),
                };
            let loads: Vec<u64> = devices.iter().map(load).collect::<Result<_, _>>()?;
            let loads = if works { loads } else { vec![0; devices.len()] };
            Ok(Role { loads, server: machine.get("ps").and_then(Value::as_bool).unwrap_or(false) })
        };
        Ok(Schedule { roles: (0..cluster.machines.len()).map(role).collect::<Result<_, _>>()? })
    }
}

/// Shares of a total in proportion to weights, none above its limit as long as others have room.
fn filled(total: f64, weights: &[f64], limits: &[f64]) -> Vec<f64> {
    let shares_at = |scale: f64| -> Vec<f64> {
        weights.iter().zip(limits).map(|(weight, limit)| (scale * weight).min(*limit)).collect()
    };
    let (mut low, mut high) = (0.0, total / weights.iter().sum::<f64>());
    while shares_at(high).iter().sum::<f64>() < total * (1.0 - 1e-9) && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shares_at(middle).iter().sum::<f64>() < total { low = middle } else { high = middle }
    }
    shares_at(high)
}

/// Whole numbers in proportion to weights that sum to the total (largest remainders).
pub(super) fn shares(total: u64, weights: &[f64]) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let exact: Vec<f64> = weights.iter().map(|weight| total as f64 * weight / sum).collect();
    let mut shares: Vec<u64> = exact.iter().map(|share| share.floor() as u64).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|a, b| (exact[*b].fract()).total_cmp(&exact[*a].fract()));
    let missing = total.saturating_sub(shares.iter().sum()) as usize;
    order.iter().cycle().filter(|at| weights[**at] > 0.0).take(missing).for_each(|at| shares[*at] += 1);
    shares
}
