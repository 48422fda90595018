//! The prior of seconds per iteration: Ernest's terms, and that they are not quite all.
//!
//! In logarithms a term adds its share of the iteration's time, θ·term/f. Each may be as much as the whole somewhere;
//! what terms leave over is smooth in the logarithms of workers and data.

use super::costs::Costs;
use super::targets::{TargetPosterior, near};

/// How much of an iteration a term may turn out to be more or less, where it is largest.
const TERM: f64 = 0.5;
/// How far off the terms together are.
const LEFTOVER: f64 = 0.08;
/// How far that is felt, in logarithms of workers and data.
const REACH: f64 = 1.0;
/// How much runs differ, and single iterations.
const RUN: f64 = 0.03;
const ITERATION: f64 = 0.15;

/// The prior of all workers of interest on the whole data and of runs (workers, fraction, rounds); for each run
/// its place and noise.
pub(crate) fn prior(
    workers: &[f64],
    runs: &[(f64, f64, u64)],
    costs: &Costs,
) -> (TargetPosterior, Vec<(usize, f64)>) {
    let mut places: Vec<(f64, f64)> = workers.iter().map(|&m| (m, 1.0)).collect();
    let mut measured = Vec::new();
    for &(m, s, rounds) in runs {
        let place = places.iter().position(|&p| p == (m, s)).unwrap_or(places.len());
        if place == places.len() {
            places.push((m, s));
        }
        measured.push((place, RUN * RUN + ITERATION * ITERATION / rounds.max(1) as f64));
    }
    let mut described: Vec<([f64; 4], (f64, f64))> =
        places.iter().map(|&(m, s)| (shares(m, s, costs.per_iteration(m, s)), (m.ln(), s.ln()))).collect();
    for term in 0..4 {
        let largest = described.iter().map(|place| place.0[term]).fold(1e-300, f64::max);
        described.iter_mut().for_each(|place| place.0[term] *= TERM / largest);
    }
    (TargetPosterior::new(&described, workers.len(), covariance), measured)
}

/// Of each of Ernest's terms in an iteration's time, up to θ.
fn shares(m: f64, s: f64, seconds: f64) -> [f64; 4] {
    [1.0, s / m, m.ln(), m].map(|term| term / seconds)
}

fn covariance(a: &([f64; 4], (f64, f64)), b: &([f64; 4], (f64, f64))) -> f64 {
    let terms: f64 = a.0.iter().zip(b.0).map(|(a, b)| a * b).sum();
    let apart = [(a.1.0 - b.1.0) / REACH, (a.1.1 - b.1.1) / REACH];
    terms + LEFTOVER * LEFTOVER * near(&apart)
}
