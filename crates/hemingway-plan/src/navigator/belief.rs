//! How far the priors of rounds are off on this data: what is believed of it, and what a run teaches.
//!
//! The rounds of a way are the prior's times exp δ. Before a run the δ of all ways are jointly normal: a hard problem
//! is hard for all, methods of one family err alike, and nearby numbers of workers nearly the same. What one way shows
//! is then a Kalman step for all. Since a prior's curve is also bent wrongly, a short stretch of a run says little of
//! the rest: its noise falls with its length in ln e.

use super::Way;
pub(super) fn tune(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The share of a prior's error (in variance) that is the problem's, whatever the method.
#[allow(non_snake_case)]
fn SHARED() -> f64 {
    tune("SHARED", 0.4)
}
/// The share of the rest that a family of methods has in common.
#[allow(non_snake_case)]
fn FAMILY() -> f64 {
    tune("FAMILY", 0.6)
}
/// Ways apart by this factor of workers (in ln) err alike in what is left by 1/e.
#[allow(non_snake_case)]
fn REACH() -> f64 {
    tune("REACH", 2.0)
}
/// The standard deviation of ln rounds over a stretch of one e-fold around what is right for the whole run.
#[allow(non_snake_case)]
fn SHAPE() -> f64 {
    tune("SHAPE", 0.5)
}
/// How much that is right changes (variance) along one e-fold.
#[allow(non_snake_case)]
fn DRIFT() -> f64 {
    tune("DRIFT", 0.03)
}

/// Jointly normal δ, one for each way.
#[derive(Debug, Clone)]
pub(super) struct Belief {
    pub mean: Vec<f64>,
    /// Row by row.
    covariance: Vec<f64>,
    /// What ways have in common beside the problem, row by row: 1 for a way and itself.
    kinship: Vec<f64>,
    /// How far each way's rounds were off where it was seen last, beyond what is believed of the whole of it.
    local: Vec<Local>,
    steady: Vec<bool>,
}

/// A way's rounds were exp `excess` times what is believed of it, around a point of progress.
#[derive(Debug, Clone, Copy, Default)]
struct Local {
    progress: f64,
    excess: f64,
}

impl Belief {
    pub fn before<'a>(ways: impl Iterator<Item = (&'a Way, f64)>) -> Belief {
        let ways: Vec<(&Way, f64)> = ways.collect();
        let pairs = || ways.iter().flat_map(|a| ways.iter().map(move |b| (a, b)));
        let kinship: Vec<f64> = pairs().map(|(a, b)| kinship(a.0, b.0)).collect();
        let alike = kinship.iter().map(|kinship| SHARED() + (1.0 - SHARED()) * kinship);
        let covariance = pairs().zip(alike).map(|((a, b), alike)| a.1 * b.1 * alike).collect();
        Belief {
            covariance,
            kinship,
            mean: vec![0.0; ways.len()],
            local: vec![Local::default(); ways.len()],
            steady: ways.iter().map(|way| way.0.is_steady()).collect(),
        }
    }

    pub fn variance(&self, way: usize) -> f64 {
        self.between(way, way)
    }

    pub fn deviation(&self, way: usize) -> f64 {
        self.variance(way).max(0.0).sqrt()
    }

    pub fn between(&self, a: usize, b: usize) -> f64 {
        self.covariance[a * self.mean.len() + b]
    }

    /// ln of how many times the prior's rounds a way makes around a point of progress.
    pub fn at(&self, way: usize, progress: f64) -> f64 {
        let Local { progress: seen, excess } = self.local[way];
        self.mean[way] + excess * (-(progress - seen).abs() / tune("NEAR", 1.5)).exp()
    }

    /// Near where a way was seen it goes on as it was.
    pub fn see_near(&mut self, way: usize, progress: f64, seen: f64, length: f64) {
        if !self.steady[way] {
            return;
        }
        let new = 1.0 - (-length / tune("FRESH", 1.0)).exp();
        let before = self.at(way, progress);
        let now = before + new * (seen - before);
        let ways = self.mean.len();
        let excess = now - self.mean[way];
        for other in 0..ways {
            if self.kinship[way * ways + other] > 0.999 {
                self.local[other] = Local { progress, excess };
            }
        }
    }

    /// The variance of what a stretch of `length` e-folds shows.
    pub fn noise(&self, way: usize, length: f64, rounds: f64) -> f64 {
        let shape = if self.steady[way] { SHAPE() } else { tune("UNSTEADY", 1.0) };
        shape * shape / length.max(1e-3) + tune("ROUNDING", 0.1) / (rounds * rounds).max(1.0)
    }

    /// A stretch of `length` e-folds of a way took exp `seen` times the rounds of the prior, rounding aside.
    pub fn observe(&mut self, way: usize, seen: f64, length: f64, rounds: f64) {
        let noise = self.noise(way, length, rounds);
        let total = self.variance(way) + noise;
        let ways = self.mean.len();
        let gains: Vec<f64> = (0..ways).map(|other| self.between(other, way) / total).collect();
        let surprise = seen - self.mean[way];
        let row: Vec<f64> = (0..ways).map(|other| self.between(way, other)).collect();
        for (a, gain) in gains.iter().enumerate() {
            self.mean[a] += gain * surprise;
            for (covariance, b) in self.covariance[a * ways..][..ways].iter_mut().zip(&row) {
                *covariance -= gain * b;
            }
        }
        let kin = &self.kinship[way * ways..][..ways];
        for (row, a) in self.covariance.chunks_exact_mut(ways).zip(kin) {
            row.iter_mut().zip(kin).for_each(|(covariance, b)| *covariance += DRIFT() * length * a * b);
        }
    }
}

/// What two ways have in common beside the problem: 1 if all, 0 if they are of different families.
fn kinship(a: &Way, b: &Way) -> f64 {
    if family(a) != family(b) {
        return 0.0;
    }
    let apart = place(a).into_iter().zip(place(b)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    FAMILY() + (1.0 - FAMILY()) * (-apart / REACH()).exp()
}

fn family(way: &Way) -> &str {
    match way.algorithm.as_str() {
        "cocoa-plus" => "cocoa",
        "local-sgd" if tune("LOCAL", 1.0) > 0.0 => "cocoa",
        other => other,
    }
}

/// Where a way stands in its family. Rounds of some methods do not depend on workers; cocoa and cocoa-plus are the same
/// on one worker and part with more.
fn place(way: &Way) -> [f64; 3] {
    let workers = (way.workers.max(1) as f64).ln();
    match way.algorithm.as_str() {
        "gradient-descent" | "l-bfgs" | "newton" => [0.0; 3],
        "local-sgd" => [workers, way.passes.ln(), -2.0],
        "minibatch-sgd" => [0.0; 3],
        "cocoa-plus" => [workers, way.passes.ln(), workers / 2.0],
        _ => [workers, way.passes.ln(), 0.0],
    }
}
