//! What a study found, for whoever has to decide: what limits the best schedule, who is slow, what more machines would bring.

use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use super::cluster::Job;
use super::configuration::Schedule;
use super::search::{best, transfers};
use super::sgd::{Placed, Sgd};
use super::thought::{Thought, deviation, interval, mean};
use crate::model::{Mode, Model};
use crate::posterior::Draw;

/// What takes the time of an iteration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bottleneck {
    /// The share of the iteration in which machines compute.
    pub computation: f64,
    /// The machine that computes longest.
    pub slowest_machine: String,
    /// The kind of machine whose transfers take longest.
    pub slowest_network: String,
}

/// A machine that computes slower than others of its kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Straggler {
    /// Its name.
    pub machine: String,
    /// How much slower.
    pub factor: f64,
}

/// What one more machine of a kind would bring.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneMore {
    /// The kind.
    pub kind: String,
    /// Seconds per iteration of the best schedule then, relative to now: a lower bound, the mean and an upper bound.
    pub seconds: [f64; 3],
}

/// How many inputs per second a type of device computes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rates {
    /// Kind of machine and device.
    pub device: String,
    /// Load and rate, as measured.
    pub observed: Vec<(f64, f64)>,
    /// Load and rate, as predicted: a lower bound, the mean and an upper bound.
    pub predicted: Vec<(f64, [f64; 3])>,
}

/// What a study found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Which evaluation is the best.
    pub best: usize,
    /// Its seconds per iteration: a lower bound, the mean and an upper bound.
    pub seconds: [f64; 3],
    /// Seconds per iteration of the uniform schedule with the same batch, likewise.
    pub uniform: [f64; 3],
    /// How much better the best is than the uniform one: a lower bound, the mean and an upper bound.
    pub speedup: [f64; 3],
    /// What takes the time.
    pub bottleneck: Bottleneck,
    /// Who is slow.
    pub stragglers: Vec<Straggler>,
    /// What more machines would bring.
    pub one_more: Vec<OneMore>,
    /// What is believed of devices.
    pub rates: Vec<Rates>,
    /// Bytes per second of each kind's network: a lower bound, the mean and an upper bound.
    pub network: Vec<(String, [f64; 3])>,
    /// The gradient noise scale, if it is known.
    pub noise_scale: Option<f64>,
}

/// A machine is slow if it is so by this share, and surely.
const SLOW: f64 = 0.12;
/// Draws that say what one more machine would bring.
const DRAWS: usize = 12;

impl Thought<'_> {
    /// What was found so far; nothing before anything was measured.
    pub fn finding(&self) -> Option<Finding> {
        let judges = self.judges();
        let best = self.best()?;
        let schedule = &self.tuner.evaluated[best].schedule;
        let uniform = Schedule::uniform(&self.tuner.job.with_batch(schedule.batch()));
        let (seconds, plain) = (self.seconds(&judges, schedule), self.seconds(&judges, &uniform));
        let speedups: Vec<f64> = plain.iter().zip(&seconds).map(|(plain, best)| plain / best).collect();
        Some(Finding {
            best,
            seconds: interval(&seconds),
            uniform: interval(&plain),
            speedup: interval(&speedups),
            bottleneck: self.bottleneck(schedule),
            stragglers: self.stragglers(&judges),
            one_more: self.one_more(schedule.batch()),
            rates: self.rates(&judges),
            network: self.network(&judges),
            noise_scale: self.efficiency.noise_scale(),
        })
    }

    fn bottleneck(&self, schedule: &Schedule) -> Bottleneck {
        let (placed, job, layout) = (self.tuner.placed(schedule), &self.tuner.job, &self.tuner.layout);
        let mut parts = Listen { draw: self.posterior.mean(&self.model), heard: Vec::new() };
        let whole = self.model.run(&placed, None, &mut parts);
        let communication = self.model.communication();
        let spent = parts
            .heard
            .iter()
            .find(|(part, _, _)| *part == communication)
            .map_or(0.0, |(_, _, value)| *value);
        let iteration = &parts.heard[parts.heard.len() - 1].1;
        let working: Vec<usize> =
            (0..schedule.roles.len()).filter(|at| schedule.roles[*at].worker()).collect();
        let slowest =
            working.iter().zip(&iteration[1..]).max_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| *at);
        let speeds = parts.draw.parameters(communication);
        let transfers = transfers(job, schedule);
        let kinds = (0..transfers.len()).max_by(|a, b| {
            let time = |machine: usize| transfers[machine] / Sgd::speed(layout.kinds[machine], speeds);
            time(*a).total_cmp(&time(*b))
        });
        Bottleneck {
            computation: (1.0 - spent / whole).clamp(0.0, 1.0),
            slowest_machine: slowest.map_or(String::new(), |at| job.cluster.machines[at].name.clone()),
            slowest_network: kinds.map_or(String::new(), |at| job.cluster.kind_of(at).name.clone()),
        }
    }

    fn stragglers(&self, judges: &[Draw]) -> Vec<Straggler> {
        let (job, layout) = (&self.tuner.job, &self.tuner.layout);
        let mut slow = Vec::new();
        for machine in 0..job.cluster.machines.len() {
            for device in 0..job.cluster.kind_of(machine).devices.len() {
                let part = layout.devices[machine][device];
                let others: Vec<usize> = job
                    .cluster
                    .of_kind(job.cluster.machines[machine].kind)
                    .filter(|other| *other != machine)
                    .collect();
                if others.is_empty() {
                    continue;
                }
                let log = |draw: &Draw, at: usize| draw.particular(part, layout.machines[at]).ln();
                let logs: Vec<f64> = judges
                    .iter()
                    .map(|draw| {
                        let mut usual: Vec<f64> = others.iter().map(|other| log(draw, *other)).collect();
                        usual.sort_by(f64::total_cmp);
                        log(draw, machine) - usual[usual.len() / 2]
                    })
                    .collect();
                if mean(&logs) - 2.0 * deviation(&logs) > (1.0 + SLOW).ln() {
                    let name = job.cluster.machines[machine].name.clone();
                    slow.push(Straggler { machine: name, factor: mean(&logs).exp() });
                    break;
                }
            }
        }
        slow
    }

    fn one_more(&self, batch: u64) -> Vec<OneMore> {
        let job = self.tuner.job.with_batch(batch);
        let kinds: Vec<usize> = (0..job.cluster.kinds.len()).collect();
        kinds
            .into_iter()
            .map(|kind| {
                let larger = Job { cluster: job.cluster.with_one_more(kind), ..job.clone() };
                let ratio = |number: usize| {
                    let draw = self.posterior.draw(&self.model, number);
                    let least = |job: &Job| {
                        let layout = self.tuner.registry.layout(&job.cluster);
                        let found = best(job, &self.model.costs(job, &layout, &draw), 4).into_iter().map(
                            |schedule| {
                                let placed =
                                    Placed { job: Arc::new(job.clone()), layout: layout.clone(), schedule };
                                self.model.seconds(&placed, &draw)
                            },
                        );
                        found.fold(f64::INFINITY, f64::min)
                    };
                    least(&larger) / least(&job)
                };
                let ratios: Vec<f64> = (0..DRAWS).into_par_iter().map(ratio).collect();
                OneMore { kind: job.cluster.kinds[kind].name.clone(), seconds: interval(&ratios) }
            })
            .collect()
    }

    fn rates(&self, judges: &[Draw]) -> Vec<Rates> {
        let job = &self.tuner.job;
        let mut all = Vec::new();
        for (kind, what) in job.cluster.kinds.iter().enumerate() {
            let Some(machine) = job.cluster.of_kind(kind).next() else { continue };
            for (device, named) in what.devices.iter().enumerate() {
                let part = self.tuner.layout.devices[machine][device];
                let seen = self.posterior.observations(part);
                let mut observed: Vec<(f64, f64)> =
                    seen.iter().map(|seen| (seen.input[0], seen.input[0] / seen.log.exp())).collect();
                observed.sort_by(|a, b| a.0.total_cmp(&b.0));
                let most =
                    observed.last().map_or(job.batch as f64, |last| (1.5 * last.0).min(job.batch as f64));
                let loads = (0..=24).map(|at| most.powf(f64::from(at) / 24.0));
                let rate = |load: f64| {
                    let rates: Vec<f64> =
                        judges.iter().map(|draw| load / draw.common(part, &[load, 0.0])).collect();
                    (load, interval(&rates))
                };
                let predicted = loads.map(rate).collect();
                all.push(Rates { device: format!("{} {}", what.name, named.name), observed, predicted });
            }
        }
        all
    }

    fn network(&self, judges: &[Draw]) -> Vec<(String, [f64; 3])> {
        let job = &self.tuner.job;
        let of_kind = |kind: usize| job.cluster.of_kind(kind).next().map(|machine| (kind, machine));
        let speed = |(kind, machine): (usize, usize)| {
            let speeds: Vec<f64> = judges
                .iter()
                .map(|draw| {
                    let parameters = draw.parameters(self.model.communication());
                    Sgd::speed(self.tuner.layout.kinds[machine], parameters)
                })
                .collect();
            (job.cluster.kinds[kind].name.clone(), interval(&speeds))
        };
        (0..job.cluster.kinds.len()).filter_map(of_kind).map(speed).collect()
    }
}

/// Runs the model and writes down what it says on the way.
struct Listen<'a> {
    draw: Draw<'a>,
    heard: Vec<(usize, Vec<f64>, f64)>,
}

impl Mode for Listen<'_> {
    fn quantity(&mut self, part: usize, input: &[f64], _: Option<f64>) -> f64 {
        let value = self.draw.value(part, input);
        self.heard.push((part, input.to_vec(), value));
        value
    }
}
