//! How far the priors of rounds are off on this data: what is believed of it, and what a run teaches.
//!
//! The rounds of a way are the prior's times exp δ. Before a run the δ of all ways are jointly normal: a hard problem
//! is hard for all, methods of one family err alike, and nearby numbers of workers nearly the same. What one way shows
//! is then a Kalman step for all. Since a prior's curve is also bent wrongly, a short stretch of a run says little of
//! the rest: its noise falls with its length in ln e.

use super::Way;

/// The share of a prior's error (in variance) that is the problem's, whatever the method.
const SHARED: f64 = 0.25;
/// The share of the rest that a family of methods has in common.
const FAMILY: f64 = 0.6;
/// Ways apart by this factor of workers (in ln) err alike in what is left by 1/e.
const REACH: f64 = 2.0;
/// The standard deviation of ln rounds over a stretch of one e-fold around what is right for the whole run.
const SHAPE: f64 = 0.5;
/// How much that is right changes (variance) along one e-fold.
const DRIFT: f64 = 0.03;

/// Jointly normal δ, one for each way.
#[derive(Debug, Clone)]
pub(super) struct Belief {
    pub mean: Vec<f64>,
    /// Row by row.
    covariance: Vec<f64>,
    /// Ways whose rounds are the same have the same number.
    group: Vec<usize>,
}

impl Belief {
    pub fn before<'a>(ways: impl Iterator<Item = (&'a Way, f64)>) -> Belief {
        let ways: Vec<(&Way, f64)> = ways.collect();
        let pairs = ways.iter().flat_map(|a| ways.iter().map(move |b| a.1 * b.1 * likeness(a.0, b.0)));
        let same = |a: &Way, b: &Way| family(a) == family(b) && place(a) == place(b);
        let first = |a: &Way| ways.iter().position(|b| same(a, b.0)).unwrap_or(0);
        Belief {
            covariance: pairs.collect(),
            mean: vec![0.0; ways.len()],
            group: ways.iter().map(|way| first(way.0)).collect(),
        }
    }

    /// What is believed of some of the ways.
    pub fn of(&self, ways: &[usize]) -> Belief {
        let pairs = ways.iter().flat_map(|a| ways.iter().map(move |b| self.between(*a, *b)));
        Belief {
            mean: ways.iter().map(|way| self.mean[*way]).collect(),
            covariance: pairs.collect(),
            group: ways.iter().map(|way| self.group[*way]).collect(),
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

    /// The standard deviation of the difference of two δ.
    pub fn difference(&self, a: usize, b: usize) -> f64 {
        (self.between(a, a) + self.between(b, b) - 2.0 * self.between(a, b)).max(0.0).sqrt()
    }

    /// A stretch of `length` e-folds of a way took exp `seen` times the rounds of the prior, rounding aside.
    pub fn observe(&mut self, way: usize, seen: f64, length: f64, rounds: f64) {
        let noise = SHAPE * SHAPE / length.max(1e-3) + 0.1 / (rounds * rounds).max(1.0);
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
    }

    /// What is right changes along a stretch of a run.
    pub fn drift(&mut self, way: usize, length: f64) {
        let ways = self.mean.len();
        let kin: Vec<usize> = (0..ways).filter(|other| self.group[*other] == self.group[way]).collect();
        for a in &kin {
            for b in &kin {
                self.covariance[a * ways + b] += DRIFT * length;
            }
        }
    }
}

/// The correlation of the errors of two ways.
fn likeness(a: &Way, b: &Way) -> f64 {
    if family(a) != family(b) {
        return SHARED;
    }
    let apart = place(a).into_iter().zip(place(b)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    SHARED + (1.0 - SHARED) * (FAMILY + (1.0 - FAMILY) * (-apart / REACH).exp())
}

fn family(way: &Way) -> &str {
    match way.algorithm.as_str() {
        "cocoa-plus" => "cocoa",
        "minibatch-sgd" => "local-sgd",
        other => other,
    }
}

/// Where a way stands in its family. Rounds of some methods do not depend on workers; cocoa and cocoa-plus are the same
/// on one worker and part with more.
fn place(way: &Way) -> [f64; 3] {
    let workers = (way.workers.max(1) as f64).ln();
    match way.algorithm.as_str() {
        "gradient-descent" | "l-bfgs" | "newton" => [0.0; 3],
        "minibatch-sgd" => [0.0, 0.0, 4.0],
        "cocoa-plus" => [workers, way.passes.ln(), workers / 2.0],
        _ => [workers, way.passes.ln(), 0.0],
    }
}
