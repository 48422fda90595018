//! Which experiments to run next: the paper's challenge of training time, "techniques to minimise data acquisition".
//!
//! Before a run its result is not known, but how much it would narrow predictions is: seconds per iteration, and rounds
//! to the goal, have a Gaussian posterior over functions of workers, data and rounds (`targets`), and a measurement at
//! one place narrows all others by an amount that does not depend on its outcome. `times` and `progress` are the priors,
//! in Ernest's terms and in those of one stretched curve; `costs` says what a run takes; `choose` takes runs that narrow
//! most for each second, until the budget is used.
//!
//! One run informs both posteriors, which is why they are chosen for together. Predictions are for all of the data on
//! the workers of interest, in logarithms, so the variances of the two parts add to that of the time to the goal.

mod choose;
mod costs;
mod progress;
mod targets;
mod times;

use choose::{Candidate, Posteriors};
use costs::Costs;
use progress::Needed;
use targets::{Measurement, TargetPosterior};

use crate::{Observation, SystemModel};

/// No more numbers of workers, or fractions, are distinguished than this; of more a part that is evenly spread is taken.
const MOST_KINDS: usize = 12;
/// How often the longest run is halved to get shorter ones.
const HALVINGS: u32 = 5;
/// A run this much longer than the goal is thought to need shows that it was reached.
const MARGIN: f64 = 1.2;
/// Shorter runs are all start.
const FEWEST_ROUNDS: u64 = 5;

/// What is to be predicted, and what may be run for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Of interest, and available for experiments.
    pub workers: Vec<usize>,
    /// The parts of the data that experiments may use; what is predicted is the whole.
    pub fractions: Vec<f64>,
    /// No experiment is longer.
    pub rounds: u64,
    /// The value whose number of rounds is asked for, a sub-optimality; without one, that of the longest experiment.
    pub goal: Option<f64>,
    /// What counts as good.
    pub criterion: Criterion,
    /// Which predictions count.
    pub about: About,
    /// Times known from elsewhere, for costs until enough is measured.
    pub costs: Option<SystemModel>,
}

/// What a good set of experiments makes small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Criterion {
    /// The average variance of predictions for the workers of interest (A- or I-optimal).
    #[default]
    Average,
    /// The volume of what is not known, wherever it is (D-optimal).
    Determinant,
}

/// Which predictions count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum About {
    /// Seconds per iteration, f(m) in the paper.
    Times,
    /// Rounds to the goal, g(i, m).
    Progress,
    /// Seconds to the goal, h(t, m).
    #[default]
    Both,
}

/// A run worth its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// On how many workers.
    pub workers: usize,
    /// On which part of the data.
    pub fraction: f64,
    /// For how long.
    pub rounds: u64,
    /// What it is predicted to take. When no run was timed yet, what it may take: its share of the budget.
    pub seconds: f64,
    /// What it is good for.
    pub reason: String,
}

impl Question {
    /// Seconds to the end of runs of so many rounds, from experiments on a sixteenth of the data or more.
    pub fn new(workers: Vec<usize>, rounds: u64) -> Question {
        Question {
            workers,
            fractions: vec![0.0625, 0.125, 0.25, 0.5, 1.0],
            rounds,
            goal: None,
            criterion: Criterion::default(),
            about: About::default(),
            costs: None,
        }
    }
}

/// What to run next, the most useful first, within a budget in seconds; known are all observations of one algorithm so
/// far. Empty when nothing is worth its cost, or nothing fits into the budget.
pub fn next_experiments(known: &[Observation], question: &Question, budget: f64) -> Vec<Experiment> {
    let workers = thinned(question.workers.iter().filter(|&&m| m > 0).map(|&m| m as f64).collect());
    let usable = |s: &&f64| **s > 0.0 && **s <= 1.0;
    let fractions = thinned(question.fractions.iter().filter(usable).copied().collect());
    if workers.is_empty() || fractions.is_empty() || question.rounds == 0 || budget.is_nan() || budget <= 0.0
    {
        return Vec::new();
    }
    let costs = Costs::new(known, question);
    let (posteriors, candidates) = prepare(known, question, &workers, &fractions, &costs);
    if costs.is_relative() {
        choose::pilots(&posteriors, &candidates, question.criterion, budget)
    } else {
        choose::within(&posteriors, &candidates, question.criterion, budget)
    }
}

/// The posteriors given the known runs, and every run that could be made.
fn prepare(
    known: &[Observation],
    question: &Question,
    workers: &[f64],
    fractions: &[f64],
    costs: &Costs,
) -> (Posteriors, Vec<Candidate>) {
    let needed = Needed::new(known, question);
    let mut runs: Vec<(f64, f64, u64)> = Vec::new();
    for &m in workers {
        for &s in fractions {
            runs.extend(lengths(question.rounds, needed.rounds(m)).into_iter().map(|rounds| (m, s, rounds)));
        }
    }
    let past = progress::past_runs(known);
    let places: Vec<(f64, f64, u64)> =
        runs.iter().copied().chain(past.iter().map(|run| (run.workers, run.fraction, run.rounds))).collect();
    let mut posteriors = Vec::new();
    let mut measurements: Vec<Vec<Measurement>> = vec![Vec::new(); places.len()];
    let mut add = |name, (posterior, places): (TargetPosterior, Vec<(usize, f64)>)| {
        for (measurements, (place, noise)) in measurements.iter_mut().zip(places) {
            measurements.push(Measurement { quantity: posteriors.len(), place, noise });
        }
        posteriors.push((name, posterior));
    };
    if question.about != About::Progress {
        add("times", times::prior(workers, &places, costs));
    }
    if question.about != About::Times {
        add("rounds", progress::prior(workers, &places, &needed));
    }
    let mut posteriors = Posteriors(posteriors);
    for (measurements, run) in measurements[runs.len()..].iter().zip(&past) {
        let shown = |shown: &&Measurement| {
            if posteriors.0[shown.quantity].0 == "times" { run.timed } else { run.valued }
        };
        let shown: Vec<Measurement> = measurements.iter().filter(shown).copied().collect();
        posteriors.observe(&shown);
    }
    let candidate = |(&(m, s, rounds), measurements): (&(f64, f64, u64), Vec<Measurement>)| Candidate {
        workers: m as usize,
        fraction: s,
        rounds,
        seconds: costs.seconds(m, s, rounds),
        measurements,
    };
    let candidates = runs.iter().zip(measurements).map(candidate).collect();
    (posteriors, candidates)
}

/// Rounds that experiments may have: to the goal if that is allowed, and shorter.
fn lengths(most: u64, needed: f64) -> Vec<u64> {
    let longest = ((MARGIN * needed).ceil().min(most as f64) as u64).max(1);
    let mut lengths: Vec<u64> =
        (0..=HALVINGS).map(|k| (longest >> k).max(FEWEST_ROUNDS.min(longest))).collect();
    lengths.dedup();
    lengths
}

/// In rising order without repeats; of too many, those nearest to even steps in logarithms.
fn thinned(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() <= MOST_KINDS {
        return values;
    }
    let (first, last) = (values[0].ln(), values[values.len() - 1].ln());
    let mut kept: Vec<f64> = (0..MOST_KINDS)
        .map(|k| first + (last - first) * k as f64 / (MOST_KINDS - 1) as f64)
        .map(|log| {
            let distance = |value: &f64| (value.ln() - log).abs();
            values.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(1.0)
        })
        .collect();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests;
