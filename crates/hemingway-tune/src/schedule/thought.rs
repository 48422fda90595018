//! What follows from the evaluations so far: which schedule is best, and which one to try next.

use std::collections::HashSet;

use rayon::prelude::*;

use super::acquisition::Acquisition;
use super::configuration::Schedule;
use super::efficiency::Efficiency;
use super::limits::Limits;
use super::search::best;
use super::sgd::Sgd;
use super::tuner::{Proposal, Tuner};
use crate::posterior::{Draw, Posterior};

/// Once something failed: the chances of failing that candidates are made for.
const RISKS: [f64; 3] = [0.0, 0.08, 0.2];
/// What a device gets of its share after the first evaluation failed, and when that is likely enough to work.
const LESS: [f64; 3] = [0.5, 0.25, 0.1];
const LIKELY: f64 = 0.7;
/// How many schedules of one draw are balanced exactly.
const KEPT: usize = 6;

/// What is known after some evaluations.
pub struct Thought<'a> {
    pub(super) tuner: &'a Tuner,
    /// Nothing was measured.
    pub(super) blind: bool,
    pub(super) model: Sgd,
    pub(super) posterior: Posterior,
    pub(super) efficiency: Efficiency,
}

impl Thought<'_> {
    /// The evaluation that is best, as far as can be told: measured times less their noise.
    pub fn best(&self) -> Option<usize> {
        self.standing(&self.judges()).map(|(at, _)| at)
    }

    /// Of a schedule: a lower bound, the mean and an upper bound of seconds per iteration.
    pub fn predict(&self, schedule: &Schedule) -> [f64; 3] {
        interval(&self.seconds(&self.judges(), schedule))
    }

    /// What is known of the gradient noise scale.
    pub fn efficiency(&self) -> Efficiency {
        self.efficiency
    }

    /// What to evaluate next.
    pub fn propose(&self) -> Proposal {
        let limits = self.tuner.limits();
        if self.blind {
            return self.begin(limits.as_ref());
        }
        let judges = self.judges();
        let known = self.known();
        let mut candidates = self.candidates(limits.as_ref());
        candidates.retain(|schedule| !known.contains(schedule));
        let seen: Vec<Vec<f64>> =
            candidates.par_iter().map(|schedule| self.seconds(&judges, schedule)).collect();
        let chance = |schedule: &Schedule| {
            limits.as_ref().map_or(1.0, |limits| limits.chance(&self.tuner.job, schedule))
        };
        let cost = |(seconds, schedule): (&Vec<f64>, &Schedule)| self.costs(seconds, schedule.batch());
        let acquisition = Acquisition::new(
            &seen,
            seen.iter().zip(&candidates).map(cost).collect(),
            candidates.iter().map(chance).collect(),
            self.standing(&judges).map(|(_, costs)| costs),
            self.posterior.kernel(self.model.iteration()).noise,
        );
        let values: Vec<f64> =
            (0..candidates.len()).into_par_iter().map(|at| acquisition.value(at)).collect();
        match (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])) {
            Some(at) => Proposal {
                schedule: candidates.swap_remove(at),
                predicted: Some(interval(&seen[at])),
                expected_improvement: acquisition.expected_improvement(),
            },
            None => self.again(),
        }
    }

    /// Before anything was measured: everybody computes and serves, by the guesses of the job file; once that failed or is being
    /// tried, what is likely to work of what is close to it.
    fn begin(&self, limits: Option<&Limits>) -> Proposal {
        let job = &self.tuner.job;
        let most = job.most();
        let speed = |machine: usize, device: usize| job.cluster.kind_of(machine).devices[device].speed;
        let mut offers = vec![Schedule::by_weight_within(job, &most, speed)];
        for less in LESS {
            for (kind, what) in job.cluster.kinds.iter().enumerate() {
                for device in 0..what.devices.len() {
                    offers.push(Schedule::by_weight_within(job, &most, |machine, other| {
                        let same = job.cluster.machines[machine].kind == kind && other == device;
                        if same { less * speed(machine, other) } else { speed(machine, other) }
                    }));
                }
            }
        }
        offers.push(Schedule::uniform(job));
        let known = self.known();
        let chance = |schedule: &Schedule| {
            // Above what is likely enough, the first is the best.
            limits.map_or(1.0, |limits| limits.chance(job, schedule)).min(LIKELY)
        };
        let new = offers.into_iter().filter(|schedule| !known.contains(schedule)).rev();
        let best = new.max_by(|a, b| chance(a).total_cmp(&chance(b)));
        let schedule = best.unwrap_or_else(|| Schedule::uniform(job));
        Proposal { schedule, predicted: None, expected_improvement: 1.0 }
    }

    /// What was evaluated or is being evaluated.
    fn known(&self) -> HashSet<&Schedule> {
        self.tuner.evaluated.iter().map(|seen| &seen.schedule).chain(&self.tuner.pending).collect()
    }

    /// Nothing new is worth a try: the best once more.
    fn again(&self) -> Proposal {
        let best = self.best().map(|at| self.tuner.evaluated[at].schedule.clone());
        let schedule = best.unwrap_or_else(|| Schedule::uniform(&self.tuner.job));
        Proposal { predicted: Some(self.predict(&schedule)), schedule, expected_improvement: 0.0 }
    }

    pub(super) fn judges(&self) -> Vec<Draw<'_>> {
        let numbers = 0..self.tuner.options.judges;
        numbers.into_par_iter().map(|number| self.posterior.draw(&self.model, number)).collect()
    }

    /// Seconds per iteration of a schedule in the eyes of each judge.
    pub(super) fn seconds(&self, judges: &[Draw], schedule: &Schedule) -> Vec<f64> {
        let placed = self.tuner.placed(schedule);
        judges.iter().map(|draw| self.model.seconds(&placed, draw)).collect()
    }

    /// What is minimised: seconds times the iterations that such a batch needs.
    fn costs(&self, seconds: &[f64], batch: u64) -> Vec<f64> {
        let cost = |(number, seconds): (usize, &f64)| seconds * self.efficiency.draw(batch, number);
        seconds.iter().enumerate().map(cost).collect()
    }

    /// The best evaluation, and what it costs in the eyes of each judge.
    fn standing(&self, judges: &[Draw]) -> Option<(usize, Vec<f64>)> {
        let noise = self.posterior.kernel(self.model.iteration()).noise.max(1e-4);
        let judged = self.tuner.evaluated.par_iter().enumerate().filter_map(|(at, seen)| {
            let measured = seen.answer()?.time.ln();
            let seconds = self.seconds(judges, &seen.schedule);
            let logs: Vec<f64> = seconds.iter().map(|time| time.ln()).collect();
            let (model, spread) = (mean(&logs), deviation(&logs).max(1e-6));
            // Two opinions, each as good as it is precise.
            let (ours, theirs) = (spread.powi(-2), noise.powi(-2));
            let believed = (ours * model + theirs * measured) / (ours + theirs);
            let batch = seen.schedule.batch();
            let cost = believed + self.efficiency.iterations(batch).ln();
            Some((cost, at, self.costs(&seconds, batch)))
        });
        let best = judged.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best.map(|(_, at, costs)| (at, costs))
    }

    /// Schedules that are best if some draw is true.
    fn candidates(&self, limits: Option<&Limits>) -> Vec<Schedule> {
        let first = self.tuner.options.judges;
        let best_of = |number: usize| {
            let draw = match number {
                0 => self.posterior.mean(&self.model),
                _ => self.posterior.draw(&self.model, first + number),
            };
            let risk = limits.map(|limits| limits.at(RISKS[number % RISKS.len()]));
            self.best_if(&draw, number, risk.as_deref())
        };
        let numbers = 0..=self.tuner.options.candidates;
        let found: Vec<Schedule> = numbers.into_par_iter().filter_map(best_of).collect();
        let mut seen = HashSet::new();
        found.into_iter().filter(|schedule| seen.insert(schedule.clone())).collect()
    }

    /// The best schedule if a draw is true, with no load above its limit.
    fn best_if(&self, draw: &Draw, number: usize, limits: Option<&[Vec<f64>]>) -> Option<Schedule> {
        let judged = self.tuner.batches.iter().flat_map(|batch| {
            let job = self.tuner.job.with_batch(*batch);
            let mut costs = self.model.costs(&job, &self.tuner.layout, draw);
            if let Some(limits) = limits {
                let most = costs.most.iter_mut().flatten();
                most.zip(limits.iter().flatten()).for_each(|(most, limit)| *most = most.min(*limit));
            }
            let iterations = self.efficiency.draw(*batch, self.tuner.options.judges + number);
            best(&job, &costs, KEPT).into_iter().map(move |schedule| {
                let seconds = self.model.seconds(&self.tuner.placed(&schedule), draw);
                (seconds * iterations, schedule)
            })
        });
        judged.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, schedule)| schedule)
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(super) fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    (values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// The 5th, the mean and the 95th of a hundred.
pub(super) fn interval(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    [at(0.05), mean(values), at(0.95)]
}
