//! Ask for a schedule, tell how it went.
//!
//! Everything follows from the seed and from what was told, so a study that was interrupted goes on by telling it all again.

use std::sync::Arc;

use super::answer::Answer;
use super::cluster::Job;
use super::configuration::Schedule;
use super::efficiency::Efficiency;
use super::limits::Limits;
use super::registry::{Layout, Registry};
use super::sgd::{Placed, Sgd};
use super::thought::Thought;
use crate::posterior::Posterior;
use crate::random::stream;
use crate::smc::Effort;

/// How hard to think.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The random seed.
    pub seed: u64,
    /// Draws of the model whose best schedules are candidates.
    pub candidates: usize,
    /// Draws of the model that judge them.
    pub judges: usize,
    /// Particles and moves for each parameter of a part.
    pub effort: Effort,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: 0, candidates: 40, judges: 96, effort: Effort { particles: 64, moves: 2 } }
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

impl Evaluated {
    /// What was measured, if anything was.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.outcome {
            Outcome::Measured(answer) => Some(answer),
            Outcome::Failed(_) => None,
        }
    }
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
    pub(super) job: Arc<Job>,
    pub(super) registry: Registry,
    pub(super) layout: Arc<Layout>,
    /// Batches to choose from; only the job's own if it is given.
    pub(super) batches: Vec<u64>,
    noise_scale: Option<f64>,
    pub(super) options: Options,
    earlier: Vec<(Placed, Answer)>,
    pub(super) evaluated: Vec<Evaluated>,
    pub(super) pending: Vec<Schedule>,
}

impl Tuner {
    /// Of a job.
    pub fn new(job: Job, options: Options) -> Tuner {
        let (batches, job) = (vec![job.batch], Arc::new(job));
        let mut registry = Registry::default();
        let layout = registry.add(&job.cluster);
        let (earlier, evaluated, pending) = (Vec::new(), Vec::new(), Vec::new());
        Tuner { job, registry, layout, batches, noise_scale: None, options, earlier, evaluated, pending }
    }

    /// Leaves the batch open: from one number to another, for the least time to a loss. The gradient noise scale is measured
    /// unless it is given.
    pub fn with_open_batch(mut self, from: u64, to: u64, noise_scale: Option<f64>) -> Tuner {
        let mut batches = vec![from];
        // Half an octave apart: between two of them the best time to a loss changes little.
        while batches[batches.len() - 1] < to {
            let next = (batches[batches.len() - 1] as f64 * std::f64::consts::SQRT_2).round() as u64;
            batches.push(next.max(batches[batches.len() - 1] + 1).min(to));
        }
        self.job = Arc::new(self.job.with_batch(batches[batches.len() / 2]));
        Tuner { batches, noise_scale, ..self }
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
        let (job, layout) = (Arc::new(job.clone()), self.registry.add(&job.cluster));
        for Evaluated { schedule, outcome } in evaluated {
            if let Outcome::Measured(answer) = outcome {
                self.earlier.push((Placed { job: job.clone(), layout: layout.clone(), schedule }, answer));
            }
        }
    }

    /// The next schedule to evaluate; it is pending until it is told.
    pub fn ask(&mut self) -> Proposal {
        let proposal = self.think().propose();
        self.begin(proposal.schedule.clone());
        proposal
    }

    /// The evaluation of a schedule begins.
    pub fn begin(&mut self, schedule: Schedule) {
        self.pending.push(schedule);
    }

    /// How an evaluation ended.
    pub fn tell(&mut self, schedule: Schedule, outcome: Outcome) {
        if let Some(at) = self.pending.iter().position(|pending| *pending == schedule) {
            self.pending.remove(at);
        }
        self.evaluated.push(Evaluated { schedule, outcome });
    }

    /// What follows from all that was told.
    pub fn think(&self) -> Thought<'_> {
        let cases: Vec<(Placed, Answer)> = self.earlier.iter().cloned().chain(self.measured()).collect();
        let model = Sgd::new(&self.registry, &self.job, &cases);
        let pending: Vec<Placed> = self.pending.iter().map(|schedule| self.placed(schedule)).collect();
        let posterior = Posterior::new(&model, &cases, &pending, self.options.effort, self.options.seed);
        let answers = cases.iter().map(|(_, answer)| answer);
        let efficiency = Efficiency::new(self.noise_scale, answers, self.options.seed);
        Thought { tuner: self, blind: cases.is_empty(), model, posterior, efficiency }
    }

    /// A schedule of this job with its own batch.
    pub(super) fn placed(&self, schedule: &Schedule) -> Placed {
        let batch = schedule.batch();
        let job =
            if batch == self.job.batch { self.job.clone() } else { Arc::new(self.job.with_batch(batch)) };
        Placed { job, layout: self.layout.clone(), schedule: schedule.clone() }
    }

    fn measured(&self) -> impl Iterator<Item = (Placed, Answer)> {
        self.evaluated.iter().filter_map(|seen| Some((self.placed(&seen.schedule), seen.answer()?.clone())))
    }

    /// Limits of memory, if anything failed.
    pub(super) fn limits(&self) -> Option<Limits> {
        let with = |measured: bool| {
            let seen = self.evaluated.iter().filter(move |seen| seen.answer().is_some() == measured);
            seen.map(|seen| &seen.schedule).collect::<Vec<&Schedule>>()
        };
        let (succeeded, failed) = (with(true), with(false));
        if failed.is_empty() {
            return None;
        }
        let mut rng = stream(self.options.seed, "limits", self.evaluated.len() as u64);
        Some(Limits::new(&self.job, &succeeded, &failed, &mut rng))
    }
}
