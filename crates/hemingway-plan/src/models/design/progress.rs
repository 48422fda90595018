//! The prior of rounds to the goal: one curve, that workers and data stretch.
//!
//! ln rounds(m, s, stage) = constant + slope in ln m, bent a little, another on one worker alone; a slope in ln s; and a
//! slope in the stage, since a run that ends before the goal leaves the rest of the curve to be guessed. The stage is how
//! many of the rounds needed a run has, in logarithms: 0 at the goal, below before it. What is left over is smooth.

use std::collections::BTreeMap;

use super::Question;
use super::targets::{TargetPosterior, near};
use crate::{ConvergenceModel, Observation, Target};

/// Prior standard deviations of the coefficients of [`describe`].
const COEFFICIENTS: [f64; 8] = [1.0, 0.5, 0.05, 0.3, 0.3, 0.1, 0.3, 0.1];
/// How far off all that is, and how far it is felt: in ln m, ln s and stage.
const LEFTOVER: f64 = 0.1;
const REACH: [f64; 3] = [0.7, 1.0, 1.0];
/// How much runs differ.
const RUN: f64 = 0.05;
/// How much the rest of a curve differs from that of others, for each factor of e that a run is too short.
const REST: f64 = 0.25;

/// A run that was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PastRun {
    pub workers: f64,
    pub fraction: f64,
    /// Its last iteration.
    pub rounds: u64,
    /// Whether it shows times.
    pub timed: bool,
    /// Whether it shows values.
    pub valued: bool,
}

/// All runs in a trace that can be placed.
pub(crate) fn past_runs(known: &[Observation]) -> Vec<PastRun> {
    let mut runs: BTreeMap<(&str, usize, u64), PastRun> = BTreeMap::new();
    let placed = |o: &&Observation| o.workers > 0 && o.fraction > 0.0 && o.fraction <= 1.0 && o.iteration > 0;
    for o in known.iter().filter(placed) {
        let run = runs.entry((&o.run, o.workers, o.fraction.to_bits())).or_insert(PastRun {
            workers: o.workers as f64,
            fraction: o.fraction,
            rounds: 0,
            timed: false,
            valued: false,
        });
        run.rounds = run.rounds.max(o.iteration);
        run.timed |= o.seconds.is_some();
        run.valued |= o.value.is_some_and(f64::is_finite);
    }
    runs.into_values().collect()
}

/// How many rounds the goal is predicted to need.
#[derive(Debug)]
pub(crate) struct Needed {
    model: Option<(ConvergenceModel, f64)>,
    most: f64,
}

impl Needed {
    /// From what is known if that makes a model, else as many as are allowed.
    pub fn new(known: &[Observation], question: &Question) -> Needed {
        let model = question.goal.and_then(|goal| {
            ConvergenceModel::fit(known, Target::SubOptimality).ok().map(|model| (model, goal))
        });
        Needed { model, most: question.rounds as f64 }
    }

    pub fn rounds(&self, workers: f64) -> f64 {
        let found =
            self.model.as_ref().and_then(|(model, goal)| model.iterations_to(workers as usize, *goal));
        found.map_or(self.most, |estimate| estimate.mean.max(1.0))
    }
}

/// The prior of all workers of interest at the goal and of runs (workers, fraction, rounds); for each run its
/// place and noise.
pub(crate) fn prior(
    workers: &[f64],
    runs: &[(f64, f64, u64)],
    needed: &Needed,
) -> (TargetPosterior, Vec<(usize, f64)>) {
    let mut rounds_needed: BTreeMap<u64, f64> = BTreeMap::new();
    let mut places: Vec<[f64; 3]> = workers.iter().map(|m| [m.ln(), 0.0, 0.0]).collect();
    let mut measured = Vec::new();
    for &(m, s, rounds) in runs {
        let needed = rounds_needed.entry(m.to_bits()).or_insert_with(|| needed.rounds(m));
        let stage = (rounds as f64 / *needed).ln().min(0.0);
        measured.push((places.len(), RUN * RUN + (REST * stage).powi(2)));
        places.push([m.ln(), s.ln(), stage]);
    }
    let described: Vec<([f64; 8], [f64; 3])> = places.into_iter().map(|at| (describe(at), at)).collect();
    (TargetPosterior::new(&described, workers.len(), covariance), measured)
}

fn describe([m, s, stage]: [f64; 3]) -> [f64; 8] {
    let alone = if m == 0.0 { 1.0 } else { 0.0 };
    [1.0, m, m * m, alone, s, s * m, stage, stage * m]
}

fn covariance(a: &([f64; 8], [f64; 3]), b: &([f64; 8], [f64; 3])) -> f64 {
    let terms: f64 = (0..8).map(|k| COEFFICIENTS[k] * COEFFICIENTS[k] * a.0[k] * b.0[k]).sum();
    let apart: Vec<f64> = (0..3).map(|k| (a.1[k] - b.1[k]) / REACH[k]).collect();
    terms + LEFTOVER * LEFTOVER * near(&apart)
}
