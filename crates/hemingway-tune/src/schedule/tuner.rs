//! Ask for a schedule, tell how it went.
//!
//! Everything follows from the seed and from what was told, so a study that was interrupted goes on by telling it all again.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::answer::Answer;
use super::cluster::Job;
use super::configuration::Schedule;
use super::limits::Limits;
use super::search::best;
use super::sgd::{Placed, Sgd};
use crate::posterior::{Draw, Posterior};
use crate::random::stream;

/// How hard to think.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Where all randomness comes from.
    pub seed: u64,
    /// Draws of the model whose best schedules are candidates.
    pub candidates: usize,
    /// Draws of the model that judge them.
    pub judges: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: 0, candidates: 24, judges: 48 }
    }
}

/// How an evaluation ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was measured.
    Measured(Answer),
    /// It failed, for a reason.
    Failed(String),
}

/// A schedule that was evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// Which.
    pub schedule: Schedule,
    /// How it ended.
    pub outcome: Outcome,
}

/// What to evaluate next.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The schedule.
    pub schedule: Schedule,
    /// Seconds per iteration: a lower bound, the mean and an upper bound; nothing before anything was measured.
    pub predicted: Option<[f64; 3]>,
    /// By how much it is expected to be better than the best so far, as a share of it.
    pub expected_improvement: f64,
}

/// A study of one job.
#[derive(Debug, Clone)]
pub struct Tuner {
    job: Arc<Job>,
    options: Options,
    earlier: Vec<(Placed, Answer)>,
    evaluated: Vec<Evaluated>,
    pending: Vec<Schedule>,
}

impl Tuner {
    /// Of a job.
    pub fn new(job: Job, options: Options) -> Tuner {
        let job = Arc::new(job);
        Tuner { job, options, earlier: Vec::new(), evaluated: Vec::new(), pending: Vec::new() }
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// What was evaluated so far.
    pub fn evaluated(&self) -> &[Evaluated] {
        &self.evaluated
    }

    /// What was evaluated of a similar job: with another batch, with machines more or less.
    pub fn warm_start(&mut self, job: Job, evaluated: impl IntoIterator<Item = Evaluated>) {
        let job = Arc::new(job);
        for Evaluated { schedule, outcome } in evaluated {
            if let Outcome::Measured(answer) = outcome {
                self.earlier.push((Placed { job: job.clone(), schedule }, answer));
            }
        }
    }

    /// The next schedule to evaluate; it is pending until it is told.
    pub fn ask(&mut self) -> Proposal {
        let proposal = self.think().propose();
        self.pending.push(proposal.schedule.clone());
        proposal
    }

    /// How an evaluation ended.
    pub fn tell(&mut self, schedule: Schedule, outcome: Outcome) {
        self.pending.retain(|pending| *pending != schedule);
        self.evaluated.push(Evaluated { schedule, outcome });
    }

    /// What follows from all that was told.
    pub fn think(&self) -> Thought<'_> {
        let cases: Vec<(Placed, Answer)> = self.earlier.iter().cloned().chain(self.measured()).collect();
        let mut jobs: Vec<&Job> = vec![&self.job];
        for (placed, _) in &self.earlier {
            if !jobs.iter().any(|job| std::ptr::eq(*job, placed.job.as_ref())) {
                jobs.push(&placed.job);
            }
        }
        let model = Sgd::new(&jobs, &cases);
        let pending: Vec<Placed> = self.pending.iter().map(|schedule| self.placed(schedule)).collect();
        let posterior = Posterior::new(&model, &cases, &pending, self.options.seed);
        Thought { tuner: self, blind: cases.is_empty(), model, posterior }
    }

    fn placed(&self, schedule: &Schedule) -> Placed {
        Placed { job: self.job.clone(), schedule: schedule.clone() }
    }

    fn measured(&self) -> impl Iterator<Item = (Placed, Answer)> {
        self.evaluated.iter().filter_map(|Evaluated { schedule, outcome }| match outcome {
            Outcome::Measured(answer) => Some((self.placed(schedule), answer.clone())),
            Outcome::Failed(_) => None,
        })
    }

    fn failed(&self) -> Vec<&Schedule> {
        let failed = self.evaluated.iter().filter(|seen| matches!(seen.outcome, Outcome::Failed(_)));
        failed.map(|seen| &seen.schedule).collect()
    }

    /// Limits of memory, if anything failed.
    fn limits(&self) -> Option<Limits> {
        let failed = self.failed();
        if failed.is_empty() {
            return None;
        }
        let went_well = self.evaluated.iter().filter(|seen| matches!(seen.outcome, Outcome::Measured(_)));
        let succeeded: Vec<&Schedule> = went_well.map(|seen| &seen.schedule).collect();
        let mut rng = stream(self.options.seed, "limits", self.evaluated.len() as u64);
        Some(Limits::new(&self.job, &succeeded, &failed, &mut rng))
    }
}

/// The chances of failing that candidates are made for, once something failed, and the largest that is taken.
const RISKS: [f64; 3] = [0.02, 0.05, 0.1];
const MOST_RISK: f64 = 0.12;
/// How many schedules of one draw are balanced exactly.
const KEPT: usize = 6;

/// What is known after some evaluations.
pub struct Thought<'a> {
    tuner: &'a Tuner,
    /// Nothing was measured.
    blind: bool,
    pub(super) model: Sgd,
    pub(super) posterior: Posterior,
}

impl Thought<'_> {
    /// The evaluation that is best, as far as can be told: measured times less their noise.
    pub fn best(&self) -> Option<usize> {
        let judges = self.judges();
        self.standing(&judges).map(|(at, _)| at)
    }

    /// Of a schedule: a lower bound, the mean and an upper bound of seconds per iteration.
    pub fn predict(&self, schedule: &Schedule) -> [f64; 3] {
        interval(&self.times(&self.judges(), schedule))
    }

    /// What to evaluate next.
    pub fn propose(&self) -> Proposal {
        let limits = self.tuner.limits();
        if self.blind {
            return self.begin(limits.as_ref());
        }
        let judges = self.judges();
        let known: HashSet<&Schedule> =
            self.tuner.evaluated.iter().map(|seen| &seen.schedule).chain(&self.tuner.pending).collect();
        let mut candidates = self.candidates(limits.as_ref());
        candidates.retain(|schedule| !known.contains(schedule));
        let standing = self.standing(&judges);
        let scored: Vec<(f64, f64, [f64; 3])> = candidates
            .par_iter()
            .map(|schedule| {
                let times = self.times(&judges, schedule);
                let chance = limits.as_ref().map_or(1.0, |limits| limits.chance(&self.tuner.job, schedule));
                let gain = match &standing {
                    Some((_, reference)) => improvement(&times, reference),
                    None => 1.0 / mean(&times),
                };
                // What is too risky comes after everything that is not.
                let value = if chance >= 1.0 - MOST_RISK { gain * chance } else { (chance - 1.0).min(0.0) };
                (value, gain * chance, interval(&times))
            })
            .collect();
        let choice = (0..scored.len()).max_by(|a, b| scored[*a].0.total_cmp(&scored[*b].0));
        match choice {
            Some(at) => Proposal {
                schedule: candidates.swap_remove(at),
                predicted: Some(scored[at].2),
                expected_improvement: if standing.is_some() { scored[at].1 } else { 1.0 },
            },
            None => self.again(),
        }
    }

    /// Before anything was measured: everybody computes and serves, by the guesses of the job file.
    fn begin(&self, limits: Option<&Limits>) -> Proposal {
        let job = &self.tuner.job;
        let mut most = super::sgd::most(job);
        if let Some(limits) = limits {
            lower(&mut most, &limits.at(0.3));
        }
        let schedule = even(job, &most);
        Proposal { schedule, predicted: None, expected_improvement: 1.0 }
    }

    /// Nothing new is worth a try: the best once more.
    fn again(&self) -> Proposal {
        let best = self.best().map(|at| self.tuner.evaluated[at].schedule.clone());
        let schedule = best.unwrap_or_else(|| Schedule::uniform(&self.tuner.job));
        Proposal { predicted: Some(self.predict(&schedule)), schedule, expected_improvement: 0.0 }
    }

    fn judges(&self) -> Vec<Draw<'_>> {
        let numbers = 0..self.tuner.options.judges;
        numbers.into_par_iter().map(|number| self.posterior.draw(&self.model, number)).collect()
    }

    fn times(&self, judges: &[Draw], schedule: &Schedule) -> Vec<f64> {
        let placed = self.tuner.placed(schedule);
        judges.iter().map(|draw| self.model.seconds(&placed, draw)).collect()
    }

    /// The best evaluation, and how long it takes in the eyes of each judge.
    fn standing(&self, judges: &[Draw]) -> Option<(usize, Vec<f64>)> {
        let noise = self.posterior.kernel(self.model.iteration()).noise.max(1e-4);
        let judged = self.tuner.evaluated.par_iter().enumerate().filter_map(|(at, seen)| match &seen.outcome {
            Outcome::Measured(answer) => {
                let times = self.times(judges, &seen.schedule);
                let logs: Vec<f64> = times.iter().map(|time| time.ln()).collect();
                let (model, spread) = (mean(&logs), deviation(&logs).max(1e-6));
                // Two opinions, each as good as it is precise.
                let (ours, theirs) = (spread.powi(-2), noise.powi(-2));
                let believed = (ours * model + theirs * answer.time.ln()) / (ours + theirs);
                Some((believed, at, times))
            }
            Outcome::Failed(_) => None,
        });
        let best = judged.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best.map(|(_, at, times)| (at, times))
    }

    /// Schedules that are best if some draw is true.
    fn candidates(&self, limits: Option<&Limits>) -> Vec<Schedule> {
        let job = &self.tuner.job;
        let first = self.tuner.options.judges;
        let best_of = |number: usize| {
            let draw = match number {
                0 => self.posterior.mean(&self.model),
                _ => self.posterior.draw(&self.model, first + number),
            };
            let mut costs = self.model.costs(job, &draw);
            if let Some(limits) = limits {
                lower(&mut costs.most, &limits.at(RISKS[number % RISKS.len()]));
            }
            let judged = best(job, &costs, KEPT).into_iter().map(|schedule| {
                let seconds = self.model.seconds(&self.tuner.placed(&schedule), &draw);
                (seconds, schedule)
            });
            judged.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, schedule)| schedule)
        };
        let found: Vec<Schedule> =
            (0..=self.tuner.options.candidates).into_par_iter().filter_map(best_of).collect();
        let mut seen = HashSet::new();
        found.into_iter().filter(|schedule| seen.insert(schedule.clone())).collect()
    }
}

fn lower(most: &mut [Vec<f64>], limits: &[Vec<f64>]) {
    most.iter_mut().flatten().zip(limits.iter().flatten()).for_each(|(most, limit)| *most = most.min(*limit));
}

/// Loads by the guessed speeds, none above its limit.
fn even(job: &Job, most: &[Vec<f64>]) -> Schedule {
    let mut scale = 1.0f64;
    let speed = |machine: usize, device: usize| job.cluster.kind_of(machine).devices[device].speed;
    let total: f64 = (0..job.cluster.machines.len())
        .flat_map(|machine| (0..job.cluster.kind_of(machine).devices.len()).map(move |device| (machine, device)))
        .map(|(machine, device)| speed(machine, device))
        .sum();
    // Whoever is full leaves more to the others.
    let load = |machine: usize, device: usize, scale: f64| {
        let share = scale * job.batch as f64 * speed(machine, device) / total;
        share.min(most[job.cluster.machines[machine].kind][device])
    };
    for _ in 0..60 {
        let sum: f64 = (0..job.cluster.machines.len())
            .flat_map(|machine| (0..job.cluster.kind_of(machine).devices.len()).map(move |device| (machine, device)))
            .map(|(machine, device)| load(machine, device, scale))
            .sum();
        if sum >= 0.999 * job.batch as f64 {
            break;
        }
        scale *= (job.batch as f64 / sum).max(1.01);
    }
    Schedule::by_weight(job, |machine, device| load(machine, device, scale))
}

/// The mean gain over the reference, where there is one, in the eyes of the same judges.
fn improvement(times: &[f64], reference: &[f64]) -> f64 {
    let gains = times.iter().zip(reference).map(|(time, reference)| (1.0 - time / reference).max(0.0));
    gains.sum::<f64>() / times.len() as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    (values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// The 5th, the mean and the 95th of a hundred.
fn interval(times: &[f64]) -> [f64; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    [at(0.05), mean(times), at(0.95)]
}
