//! What does not fit into memory, learnt from evaluations that failed.
//!
//! Every type of device may have a largest load. Loads that went well are below it; an evaluation that failed had a load above
//! one of them, or failed for another reason. Limits that explain what was seen are kept, by how well they explain it.

use super::cluster::Job;
use super::configuration::Schedule;
use crate::random::{Rng, uniform};

/// How many limits are drawn.
const DRAWS: usize = 1024;
/// The share of devices that are believed to have no limit within reach: accelerators, whose memory is small and of their own,
/// and processors, which use the machine's.
const ACCELERATORS_WITHOUT: f64 = 0.4;
const PROCESSORS_WITHOUT: f64 = 0.99;
/// The least that a device is believed to hold, as a share of an equal load.
const LEAST: f64 = 0.25;
/// How often an evaluation fails for a reason that has nothing to do with loads.
const MISHAP: f64 = 0.002;

/// Limits that are possible.
#[derive(Debug, Clone)]
pub struct Limits {
    /// For each kind and device a limit; and how well they explain what was seen.
    draws: Vec<(Vec<Vec<f64>>, f64)>,
}

impl Limits {
    /// From the largest loads of each device of each kind in evaluations that went well and in those that failed.
    pub fn new(job: &Job, succeeded: &[&Schedule], failed: &[&Schedule], rng: &mut Rng) -> Limits {
        let largest = |schedules: &[&Schedule]| {
            let mut most = zeros(job);
            schedules.iter().for_each(|schedule| raise(job, schedule, &mut most));
            most
        };
        let proved = largest(succeeded);
        let failures: Vec<Vec<Vec<f64>>> = failed.iter().map(|schedule| largest(&[schedule])).collect();
        // A limit that matters is not far above what is tried.
        let tried =
            succeeded.iter().chain(failed).flat_map(|schedule| &schedule.roles).flat_map(|role| &role.loads);
        let beyond = 2.0 * tried.max().copied().unwrap_or(job.batch) as f64;
        let fair = job.batch as f64 / job.cluster.devices().max(1) as f64;
        let limit = |proved: f64, name: &str, rng: &mut Rng| {
            let without = if name == "cpu" { PROCESSORS_WITHOUT } else { ACCELERATORS_WITHOUT };
            if uniform(rng) < without {
                return f64::INFINITY;
            }
            // Nobody schedules devices that hold next to nothing.
            let low = proved.max(LEAST * fair).max(1.0);
            low * (beyond / low).max(1.0).powf(uniform(rng))
        };
        let mut draw = || {
            let kinds = job.cluster.kinds.iter().zip(&proved);
            let limits: Vec<Vec<f64>> = kinds
                .map(|(kind, proved)| {
                    let devices = kind.devices.iter().zip(proved);
                    devices.map(|(device, proved)| limit(*proved, &device.name, rng)).collect()
                })
                .collect();
            let explains = |failure: &Vec<Vec<f64>>| if exceeds(failure, &limits) { 1.0 } else { MISHAP };
            let weight: f64 = failures.iter().map(explains).product();
            (limits, weight)
        };
        let mut draws: Vec<_> = (0..DRAWS).map(|_| draw()).collect();
        let sum: f64 = draws.iter().map(|(_, weight)| weight).sum();
        draws.iter_mut().for_each(|(_, weight)| *weight /= sum);
        Limits { draws }
    }

    /// The chance that a schedule fits.
    pub fn chance(&self, job: &Job, schedule: &Schedule) -> f64 {
        let mut loads = zeros(job);
        raise(job, schedule, &mut loads);
        self.draws.iter().filter(|(limits, _)| !exceeds(&loads, limits)).map(|(_, weight)| weight).sum()
    }

    /// Loads of each device of each kind that are too large with this chance.
    pub fn at(&self, chance: f64) -> Vec<Vec<f64>> {
        let devices = &self.draws[0].0;
        let quantile = |kind: usize, device: usize| {
            let mut limits: Vec<(f64, f64)> =
                self.draws.iter().map(|(limits, weight)| (limits[kind][device], *weight)).collect();
            limits.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut passed = 0.0;
            let reached = limits.iter().find(|(_, weight)| {
                passed += weight;
                passed >= chance
            });
            reached.map_or(f64::INFINITY, |(limit, _)| (limit - 1e-6).floor().max(1.0))
        };
        let each = |kind: usize| (0..devices[kind].len()).map(|device| quantile(kind, device)).collect();
        (0..devices.len()).map(each).collect()
    }
}

fn zeros(job: &Job) -> Vec<Vec<f64>> {
    job.cluster.kinds.iter().map(|kind| vec![0.0; kind.devices.len()]).collect()
}

fn raise(job: &Job, schedule: &Schedule, most: &mut [Vec<f64>]) {
    for (machine, role) in schedule.roles.iter().enumerate() {
        let kind = &mut most[job.cluster.machines[machine].kind];
        kind.iter_mut().zip(&role.loads).for_each(|(most, load)| *most = most.max(*load as f64));
    }
}

/// Whether some load is at its limit or above.
fn exceeds(loads: &[Vec<f64>], limits: &[Vec<f64>]) -> bool {
    loads.iter().flatten().zip(limits.iter().flatten()).any(|(load, limit)| load >= limit)
}
