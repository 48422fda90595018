//! Bayesian optimisation without structure: settings with ranges, a Gaussian process over them, expected improvement.
//!
//! For users who know nothing of what they tune but which settings it has. Some evaluations are spread evenly, then each is
//! where the process expects most; a setting that does not matter gets a long length in the kernel and stops to count.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::gp::{Gp, Kernel, KernelPrior, Point};
use crate::prior::Prior;
use crate::random::{Rng, normal, stream, uniform};

/// A number to be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
    /// Whether only whole numbers make sense.
    #[serde(default)]
    pub whole: bool,
    /// Whether factors count rather than differences.
    #[serde(default)]
    pub logarithmic: bool,
}

impl Setting {
    /// The value at a share of the way from low to high.
    fn value(&self, share: f64) -> f64 {
        let value = match self.logarithmic {
            true => self.low * (self.high / self.low).powf(share),
            false => self.low + share * (self.high - self.low),
        };
        if self.whole { value.round().clamp(self.low, self.high) } else { value }
    }

    /// The share at a value.
    fn share(&self, value: f64) -> f64 {
        match self.logarithmic {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }
}

/// A study of a function of some settings.
#[derive(Debug, Clone)]
pub struct PlainTuner {
    settings: Vec<Setting>,
    seed: u64,
    /// Values, and what came of them; nothing if it failed.
    evaluated: Vec<(Vec<f64>, Option<f64>)>,
    pending: Vec<Vec<f64>>,
}

/// Candidates of each proposal: spread over all, and around the best.
const SPREAD: usize = 1000;
const AROUND: usize = 500;

impl PlainTuner {
    /// Of these settings.
    pub fn new(settings: Vec<Setting>, seed: u64) -> PlainTuner {
        PlainTuner { settings, seed, evaluated: Vec::new(), pending: Vec::new() }
    }

    /// The next values to try, in the order of the settings.
    pub fn ask(&mut self) -> Vec<f64> {
        let values = self.propose();
        self.pending.push(values.clone());
        values
    }

    /// What came of values: the smaller the better, nothing if they do not work.
    pub fn tell(&mut self, values: Vec<f64>, outcome: Option<f64>) {
        self.pending.retain(|pending| *pending != values);
        self.evaluated.push((values, outcome.filter(|outcome| outcome.is_finite())));
    }

    /// The best values so far.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        let known =
            self.evaluated.iter().filter_map(|(values, outcome)| Some((values.as_slice(), (*outcome)?)));
        known.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn propose(&self) -> Vec<f64> {
        let number = self.evaluated.len() + self.pending.len();
        let mut rng = stream(self.seed, "plain", number as u64);
        // As many as there are settings, and one: less says nothing about how they act together.
        if self.best().is_none() || number <= self.settings.len() {
            return self.values(&spread(number, self.settings.len(), self.seed));
        }
        let model = Model::new(self);
        let tried: Vec<&Vec<f64>> =
            self.evaluated.iter().map(|(values, _)| values).chain(&self.pending).collect();
        let candidates = self.candidates(&mut rng).map(|shares| self.values(&shares));
        let new = candidates.filter(|values| !tried.contains(&values));
        let scored = new.map(|values| (model.improvement(&self.shares(&values)), values));
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or_else(
            || self.values(&spread(number, self.settings.len(), self.seed)),
            |(_, values)| values,
        )
    }

    fn candidates(&self, rng: &mut Rng) -> impl Iterator<Item = Vec<f64>> {
        let best = self.best().map(|(values, _)| self.shares(values)).unwrap_or_default();
        let mut all: Vec<Vec<f64>> =
            (0..SPREAD).map(|_| self.settings.iter().map(|_| uniform(rng)).collect()).collect();
        for at in 0..AROUND {
            let step = 0.3 * 0.5f64.powi((at % 5) as i32);
            // Some move along one setting, some along all.
            let only = (at % 2 == 0).then(|| (uniform(rng) * best.len() as f64) as usize);
            let moved = |(k, share): (usize, &f64)| match only {
                Some(only) if only != k => *share,
                _ => (share + step * normal(rng)).clamp(0.0, 1.0),
            };
            all.push(best.iter().enumerate().map(moved).collect());
        }
        all.into_iter()
    }

    fn values(&self, shares: &[f64]) -> Vec<f64> {
        self.settings.iter().zip(shares).map(|(setting, share)| setting.value(*share)).collect()
    }

    fn shares(&self, values: &[f64]) -> Vec<f64> {
        self.settings.iter().zip(values).map(|(setting, value)| setting.share(*value)).collect()
    }
}

/// Points that fill the space evenly: additive recurrence by the roots of x^(d+1) = x + 1.
fn spread(number: usize, dimensions: usize, seed: u64) -> Vec<f64> {
    let mut ratio = 2.0f64;
    for _ in 0..60 {
        ratio = (1.0 + ratio).powf(1.0 / (dimensions as f64 + 1.0));
    }
    let mut rng = stream(seed, "spread", 0);
    let along = |k: usize| (uniform(&mut rng) + (number as f64 + 1.0) * ratio.powi(-(k as i32 + 1))).fract();
    (0..dimensions).map(along).collect()
}

/// The process behind the proposals.
struct Model {
    gp: Arc<Gp>,
    values: Vec<f64>,
    best: f64,
}

impl Model {
    /// Values are taken by their rank between the best and the median, so that a few terrible ones do not bend the rest; what
    /// failed counts as the worst.
    fn new(tuner: &PlainTuner) -> Model {
        let mut known: Vec<f64> = tuner.evaluated.iter().filter_map(|(_, outcome)| *outcome).collect();
        known.sort_by(f64::total_cmp);
        let (best, worst) = (known[0], known[known.len() - 1]);
        let middle = known[known.len() / 2];
        let scale = (middle - best).max(1e-12 * best.abs()).max(1e-300);
        let squashed = |value: f64| ((value - best) / scale).max(0.0).ln_1p();
        let seen =
            tuner.evaluated.iter().map(|(values, outcome)| (values, squashed(outcome.unwrap_or(worst))));
        // Values that are being tried are believed to be middling: nobody tries them again meanwhile.
        let believed = tuner.pending.iter().map(|values| (values, squashed(middle)));
        let (points, values): (Vec<Point>, Vec<f64>) = seen
            .chain(believed)
            .map(|(values, value)| (Point { at: tuner.shares(values), individual: 0 }, value))
            .unzip();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let values: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let prior = KernelPrior {
            amplitude: Prior::log_normal(1.0, 2.0),
            lengths: vec![Prior::log_normal(0.5, 3.0); tuner.settings.len()],
            individual: None,
            noise: Prior::log_normal(0.02, 5.0),
        };
        let start: Kernel = prior.typical();
        let gp = Arc::new(Gp::fit(&prior, &start, &points, &values));
        let best = values.iter().copied().fold(f64::INFINITY, f64::min);
        Model { gp, values, best }
    }

    /// The expected improvement over the best.
    fn improvement(&self, shares: &[f64]) -> f64 {
        let point = Point { at: shares.to_vec(), individual: 0 };
        let (mean, variance) = self.gp.predict(&self.values, &point);
        let deviation = variance.sqrt().max(1e-12);
        let apart = (self.best - mean) / deviation;
        let density = (-0.5 * apart * apart).exp() / std::f64::consts::TAU.sqrt();
        deviation * (apart * crate::normal_cdf(apart) + density)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(low: f64, high: f64) -> Setting {
        Setting { name: "x".into(), low, high, whole: false, logarithmic: false }
    }

    /// Two valleys; the deeper one is at (π, 2.275), with 0.397887 (Branin).
    fn branin(x: &[f64]) -> f64 {
        let pi = std::f64::consts::PI;
        let curve = x[1] - 5.1 / (4.0 * pi * pi) * x[0] * x[0] + 5.0 / pi * x[0] - 6.0;
        curve * curve + 10.0 * (1.0 - 1.0 / (8.0 * pi)) * x[0].cos() + 10.0
    }

    #[test]
    fn a_function_of_two_numbers_is_minimised() {
        for seed in 0..3 {
            let mut tuner = PlainTuner::new(vec![setting(-5.0, 10.0), setting(0.0, 15.0)], seed);
            for _ in 0..35 {
                let values = tuner.ask();
                let outcome = branin(&values);
                tuner.tell(values, Some(outcome));
            }
            let best = tuner.best().unwrap();
            assert!(best.1 < 0.397_887 + 0.1, "{best:?}");
        }
    }

    #[test]
    fn whole_numbers_stay_whole_and_failures_are_left() {
        let threads = Setting { whole: true, logarithmic: true, ..setting(1.0, 64.0) };
        let mut tuner = PlainTuner::new(vec![threads, setting(0.0, 1.0)], 1);
        for _ in 0..25 {
            let values = tuner.ask();
            assert_eq!(values[0], values[0].round());
            // More than 40 do not fit; the best is 24 with 0.3.
            let outcome =
                (values[0] <= 40.0).then(|| (values[0] / 24.0).ln().powi(2) + (values[1] - 0.3).powi(2));
            tuner.tell(values, outcome);
        }
        let (values, outcome) = tuner.best().unwrap();
        assert!(outcome < 0.02, "{values:?} {outcome}");
        let failed = tuner.evaluated[10..].iter().filter(|(_, outcome)| outcome.is_none()).count();
        assert!(failed <= 3, "{failed}");
    }

    #[test]
    fn what_is_pending_is_not_asked_again() {
        let mut tuner = PlainTuner::new(vec![setting(0.0, 1.0)], 2);
        let first: Vec<Vec<f64>> = (0..6).map(|_| tuner.ask()).collect();
        for (at, values) in first.iter().enumerate() {
            assert!(!first[..at].contains(values));
        }
    }
}
