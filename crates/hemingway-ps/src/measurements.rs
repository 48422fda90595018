//! What the machines measured, put together by iteration.
//!
//! An iteration ends when the last server has updated its weights, and the next one begins. All machines read the same
//! clock. Its communication time is what it took beyond the slowest worker's computing.

use std::collections::BTreeMap;

use crate::answer::{DeviceTime, MachineTime};
use crate::cluster::Cluster;
use crate::configuration::Schedule;
use crate::noise::Sample;
use crate::protocol::{Report, ServerIteration, WorkerIteration};

/// Iterations so far.
pub struct Measurements {
    iterations: Vec<Iteration>,
}

/// One iteration.
struct Iteration {
    seconds: f64,
    /// Each worker, in the order of the schedule.
    workers: Vec<WorkerIteration>,
    sample: Sample,
}

impl Measurements {
    /// None yet.
    pub fn new() -> Measurements {
        Measurements { iterations: Vec::new() }
    }

    /// Adds a run of iterations, from the reports of all machines in their order; returns what it says of the noise.
    pub fn add(&mut self, schedule: &Schedule, reports: Vec<Report>) -> Vec<Sample> {
        let mut workers = Vec::new();
        let mut servers = Vec::new();
        let mut before = f64::INFINITY;
        for report in reports {
            if let Some(worker) = report.worker {
                before = before.min(worker.began);
                workers.push(worker.iterations.into_iter());
            }
            servers.extend(report.server.map(|server| server.iterations.into_iter()));
        }
        let first = self.iterations.len();
        loop {
            let round: Vec<WorkerIteration> = workers.iter_mut().filter_map(Iterator::next).collect();
            let updates: Vec<ServerIteration> = servers.iter_mut().filter_map(Iterator::next).collect();
            if round.is_empty() {
                break;
            }
            let ended = updates.iter().map(|update| update.updated).fold(f64::MIN, f64::max);
            let sample = sample(schedule, &round, &updates);
            self.iterations.push(Iteration { seconds: ended - before, workers: round, sample });
            before = ended;
        }
        self.iterations[first..].iter().map(|iteration| iteration.sample).collect()
    }

    /// How many iterations there are.
    pub fn count(&self) -> u64 {
        self.iterations.len() as u64
    }

    /// Seconds of all of them.
    pub fn seconds(&self) -> f64 {
        self.iterations.iter().map(|iteration| iteration.seconds).sum()
    }

    /// Mean seconds of an iteration after the warm-up, and how many of them were communication.
    pub fn times(&self, warm_up: u64) -> (f64, f64) {
        let communication = |iteration: &Iteration| {
            iteration.seconds - iteration.workers.iter().map(|worker| worker.seconds).fold(0.0, f64::max)
        };
        (self.mean(warm_up, |iteration| iteration.seconds), self.mean(warm_up, communication))
    }

    /// Mean seconds of the workers and their devices after the warm-up, by name.
    pub fn machines(
        &self,
        warm_up: u64,
        cluster: &Cluster,
        schedule: &Schedule,
    ) -> BTreeMap<String, MachineTime> {
        let machine = |(at, worker): (usize, &crate::configuration::Worker)| {
            let device = |(device, load): (usize, &crate::configuration::Load)| {
                let time = self.mean(warm_up, |iteration| iteration.workers[at].devices[device]);
                (load.device.clone(), DeviceTime { load: load.inputs.end - load.inputs.start, time })
            };
            let time = self.mean(warm_up, |iteration| iteration.workers[at].seconds);
            let devices = worker.loads.iter().enumerate().map(device).collect();
            (cluster.machines[worker.machine].name.clone(), MachineTime { time, devices })
        };
        schedule.workers.iter().enumerate().map(machine).collect()
    }

    /// The mean over iterations after the warm-up, or over the last one if there are none.
    fn mean(&self, warm_up: u64, of: impl Fn(&Iteration) -> f64) -> f64 {
        let skipped = (warm_up as usize).min(self.iterations.len().saturating_sub(1));
        let measured = &self.iterations[skipped..];
        measured.iter().map(of).sum::<f64>() / measured.len() as f64
    }
}

fn sample(schedule: &Schedule, workers: &[WorkerIteration], servers: &[ServerIteration]) -> Sample {
    Sample {
        batch: schedule.batch as f64,
        weighted_norms: workers.iter().map(|worker| worker.weighted_norms).sum(),
        groups: workers.iter().map(|worker| worker.groups).sum(),
        squared_norm: servers.iter().map(|server| server.squared_norm).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::small;
    use crate::configuration::Configuration;
    use crate::protocol::{ServerReport, WorkerReport};

    fn worker(seconds: [f64; 2]) -> Option<WorkerReport> {
        let iteration =
            |seconds| WorkerIteration { seconds, devices: vec![seconds; 2], ..Default::default() };
        Some(WorkerReport { began: 10.0, iterations: seconds.map(iteration).into() })
    }

    fn server(updated: [f64; 2]) -> Option<ServerReport> {
        let iteration = |updated| ServerIteration { updated, squared_norm: 1.0 };
        Some(ServerReport { iterations: updated.map(iteration).into() })
    }

    #[test]
    fn iterations_end_with_the_last_server_and_wait_for_the_slowest_worker() {
        let json = r#"{"machines": {"a": {"worker": true, "ps": true, "loads": {"cpu": 3, "slow": 1}},
                                    "b": {"worker": true, "ps": true, "loads": {"cpu": 4}}}}"#;
        let cluster = small();
        let schedule = Schedule::new(&cluster, &Configuration::parse(json).unwrap(), 10).unwrap();
        let mut measurements = Measurements::new();
        let reports = vec![
            Report { worker: worker([0.5, 0.7]), server: server([11.0, 12.0]) },
            Report { worker: worker([0.6, 0.3]), server: server([10.9, 12.5]) },
        ];
        let samples = measurements.add(&schedule, reports);
        assert_eq!((samples.len(), samples[0].squared_norm), (2, 2.0));
        assert_eq!(measurements.seconds(), 2.5);
        let (time, communication) = measurements.times(1);
        assert!((time - 1.5).abs() < 1e-12 && (communication - 0.8).abs() < 1e-12);
        let (_, communication) = measurements.times(0);
        assert!((communication - (0.4 + 0.8) / 2.0).abs() < 1e-12);
        let machines = measurements.machines(0, &cluster, &schedule);
        assert!((machines["a"].time - 0.6).abs() < 1e-12);
        assert_eq!(machines["a"].devices["slow"].load, 1);
    }
}
