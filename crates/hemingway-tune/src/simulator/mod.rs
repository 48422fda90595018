//! Distributed SGD with parameter servers on a described cluster, without the cluster.
//!
//! Devices have measured curves, networks bandwidths, iterations noise; the first iterations are slow and are not counted, memory
//! can be too small, machines can be slower than others of their kind. Everything is known here, so the best schedule is too.

mod experiments;
mod random_worlds;

use rand::RngExt;
use serde::{Deserialize, Serialize};

pub use experiments::{Experiment, Network, Setting, experiment, experiments};
pub use random_worlds::{Trouble, random_world, troubled};

use crate::random::{Rng, normal};
use crate::schedule::{
    Answer, Costs, Curve, DeviceAnswer, Job, MachineAnswer, Outcome, Schedule, best, transfers,
};

/// A cluster and a job on it, with everything that is true of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// The job, as its user describes it.
    pub job: Job,
    /// Seconds against load, of each device of each kind.
    pub curves: Vec<Vec<Vec<(f64, f64)>>>,
    /// Seconds to add up the gradients of several devices, of each kind.
    pub aggregation: Vec<f64>,
    /// Bytes per second that a machine of each kind sends while it receives as many.
    pub bandwidth: Vec<f64>,
    /// Seconds of any communication.
    pub latency: f64,
    /// Seconds more of communication for each worker.
    pub per_worker: f64,
    /// How much slower each machine computes than its kind.
    pub slow: Vec<f64>,
    /// Relative standard deviation of single times.
    pub noise: f64,
    /// How much of the shorter of computation and communication happens during the other.
    pub hidden: f64,
    /// The most inputs that fit, of each device of each kind.
    pub memory: Vec<Vec<Option<u64>>>,
}

/// A machine, its seconds, and load and seconds of each of its devices that compute.
type MachineTime = (usize, f64, Vec<(usize, u64, f64)>);

/// Iterations of an evaluation, and how many of them, the last, are measured.
const ITERATIONS: usize = 20;
const MEASURED: usize = 10;

impl World {
    /// What schedules cost.
    pub fn costs(&self) -> Costs {
        let devices = |machine: usize| self.job.cluster.kind_of(machine).devices.len();
        let limit = |most: &Option<u64>| most.map_or(f64::INFINITY, |most| most as f64);
        Costs {
            curves: self
                .curves
                .iter()
                .map(|kind| kind.iter().map(|table| Curve::new(table.clone())).collect())
                .collect(),
            factors: self
                .slow
                .iter()
                .enumerate()
                .map(|(machine, slow)| vec![*slow; devices(machine)])
                .collect(),
            aggregation: self.aggregation.clone(),
            // Gradients go out, then parameters come in: twice the way.
            speeds: self.bandwidth.iter().map(|bandwidth| bandwidth / 2.0).collect(),
            latency: self.latency,
            per_worker: self.per_worker,
            hidden: self.hidden,
            most: self.memory.iter().map(|kind| kind.iter().map(limit).collect()).collect(),
        }
    }

    /// Seconds per iteration without noise; nothing if the schedule does not fit.
    pub fn exact(&self, schedule: &Schedule) -> Option<f64> {
        self.fits(schedule).then(|| {
            let costs = self.costs();
            let machines = self.machines(&costs, schedule, &mut |_| 1.0);
            let slowest = machines.iter().map(|(_, time, _)| *time).fold(0.0, f64::max);
            costs.together(slowest, self.communication(schedule))
        })
    }

    /// The best schedule and its seconds per iteration.
    pub fn optimum(&self) -> (Schedule, f64) {
        let found = best(&self.job, &self.costs(), 64).into_iter();
        let judged = found.filter_map(|schedule| Some((self.exact(&schedule)?, schedule)));
        let best = judged.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or((Schedule::uniform(&self.job), f64::INFINITY), |(seconds, schedule)| (schedule, seconds))
    }

    /// Runs some iterations and measures.
    pub fn evaluate(&self, schedule: &Schedule, rng: &mut Rng) -> Outcome {
        if let Err(error) = schedule.check(&self.job) {
            return Outcome::Failed(error.to_string());
        }
        if !self.fits(schedule) {
            return Outcome::Failed("out of memory".into());
        }
        let costs = self.costs();
        let mut answer = Answer { communication_time: Some(0.0), ..Answer::default() };
        let share = 1.0 / MEASURED as f64;
        for iteration in 0..ITERATIONS {
            // The first iterations are slow by chance: caches are cold, connections are made.
            let cold = 1.0 + 2.0 * rng.random::<f64>() * (-(iteration as f64)).exp();
            let mut shaken = |_| cold * (1.0 + self.noise * normal(rng).clamp(-3.0, 3.0)).max(0.1);
            let machines = self.machines(&costs, schedule, &mut shaken);
            let communication = self.communication(schedule) * shaken(0);
            if iteration < ITERATIONS - MEASURED {
                continue;
            }
            let slowest = machines.iter().map(|(_, time, _)| *time).fold(0.0, f64::max);
            let time = costs.together(slowest, communication);
            answer.time += share * time;
            answer.communication_time = answer.communication_time.map(|sum| sum + share * (time - slowest));
            for (machine, time, devices) in machines {
                self.note(&mut answer, machine, share * time, &devices, share);
            }
        }
        Outcome::Measured(answer)
    }

    fn note(
        &self,
        answer: &mut Answer,
        machine: usize,
        time: f64,
        devices: &[(usize, u64, f64)],
        share: f64,
    ) {
        let cluster = &self.job.cluster;
        let machine_answer = answer
            .machines
            .entry(cluster.machines[machine].name.clone())
            .or_insert(MachineAnswer { time: Some(0.0), ..MachineAnswer::default() });
        machine_answer.time = machine_answer.time.map(|sum| sum + time);
        for (device, load, time) in devices {
            let name = cluster.kind_of(machine).devices[*device].name.clone();
            let empty = DeviceAnswer { load: Some(*load as f64), time: Some(0.0) };
            let device_answer = machine_answer.devices.entry(name).or_insert(empty);
            device_answer.time = device_answer.time.map(|sum| sum + share * time);
        }
    }

    /// Each machine that works.
    fn machines(
        &self,
        costs: &Costs,
        schedule: &Schedule,
        shaken: &mut dyn FnMut(usize) -> f64,
    ) -> Vec<MachineTime> {
        let working = schedule.roles.iter().enumerate().filter(|(_, role)| role.worker());
        working
            .map(|(machine, role)| {
                let kind = self.job.cluster.machines[machine].kind;
                let busy = role.loads.iter().enumerate().filter(|(_, load)| **load > 0);
                let devices: Vec<(usize, u64, f64)> = busy
                    .map(|(device, load)| {
                        let time = costs.curves[kind][device].seconds(*load as f64) * self.slow[machine];
                        (device, *load, time * shaken(machine))
                    })
                    .collect();
                let slowest = devices.iter().map(|(_, _, time)| *time).fold(0.0, f64::max);
                let aggregation = if devices.len() > 1 { self.aggregation[kind] } else { 0.0 };
                (machine, slowest + aggregation, devices)
            })
            .collect()
    }

    fn communication(&self, schedule: &Schedule) -> f64 {
        let seconds = transfers(&self.job, schedule)
            .into_iter()
            .enumerate()
            .map(|(machine, bytes)| 2.0 * bytes / self.bandwidth[self.job.cluster.machines[machine].kind]);
        self.latency + self.per_worker * schedule.workers() as f64 + seconds.fold(0.0, f64::max)
    }

    fn fits(&self, schedule: &Schedule) -> bool {
        schedule.roles.iter().enumerate().all(|(machine, role)| {
            let limits = &self.memory[self.job.cluster.machines[machine].kind];
            role.loads.iter().zip(limits).all(|(load, limit)| limit.is_none_or(|limit| *load <= limit))
        })
    }
}
