//! How well each form predicts what it was not fitted to: whole m held out, inside the range and beyond it.

use super::curves::Curve;
use super::form::{CATALOGUE, Form, reach};

/// Errors in logarithms are cut here: beyond a factor of 20 a prediction is simply wrong.
const WRONG: f64 = 3.0;
/// Places at which a curve is compared.
const STEPS: usize = 10;

/// Forms with less weight are left out.
const NEGLIGIBLE: f64 = 1e-3;

/// The form that interpolates, in the catalogue.
const INTERPOLATED: usize = CATALOGUE.len() - 1;
/// Between measured m it is favoured: a held-out m leaves a wider gap than a question usually falls into.
const FAVOUR: f64 = 0.7;

/// A fit of every form, in the order of the catalogue.
pub(crate) type Fitted = Vec<Option<Box<dyn Form>>>;

/// Where a prediction is made, relative to what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At a measured m.
    Measured,
    /// Between measured m.
    Inside,
    /// Below the smallest or above the largest measured m.
    Beyond,
}

impl Place {
    /// An error below which forms are equally good, and the power by which weights fall with errors above. Between
    /// measured m much of an error is chance, which forms that differ average out; elsewhere it is that of the form.
    fn judgement(self) -> (f64, i32) {
        match self {
            Self::Inside => (0.03, 4),
            Self::Measured | Self::Beyond => (0.005, 12),
        }
    }
}

/// Forms fitted to some runs, with the runs they are asked to predict.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) place: Place,
    /// From the runs asked about to the nearest fitted ones, in log m.
    pub(crate) distance: f64,
    asked: Vec<Curve>,
    fitted: Fitted,
    scores: Vec<f64>,
}

/// How far off a prediction was, in log iterations and in levels, at several places of a curve.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors {
    pub(crate) iterations: Vec<f64>,
    pub(crate) levels: Vec<f64>,
}

/// Fits every form.
pub(crate) fn fit_all(curves: &[Curve]) -> Fitted {
    CATALOGUE.iter().map(|(_, fit)| fit(curves)).collect()
}

/// The distinct numbers of workers, rising.
pub(crate) fn workers(curves: &[Curve]) -> Vec<f64> {
    let mut all: Vec<f64> = curves.iter().map(|c| c.workers).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Each inner m held out; and each larger m predicted from the smaller ones alone, as it would be before it was tried.
pub(crate) fn splits(curves: &[Curve]) -> Vec<Split> {
    let all = workers(curves);
    let mut splits = Vec::new();
    for k in 1..all.len().saturating_sub(1) {
        let distance = (all[k] / all[k - 1]).ln().min((all[k + 1] / all[k]).ln());
        splits.push(Split::new(curves, Place::Inside, distance, all[k], &|m| m != all[k]));
    }
    let fewest = all.len().saturating_sub(1).clamp(1, 3);
    for k in fewest..all.len() {
        let distance = (all[k] / all[k - 1]).ln();
        splits.push(Split::new(curves, Place::Beyond, distance, all[k], &|m| m < all[k]));
    }
    splits
}

impl Split {
    fn new(curves: &[Curve], place: Place, distance: f64, asked: f64, kept: &dyn Fn(f64) -> bool) -> Self {
        let known: Vec<Curve> = curves.iter().filter(|c| kept(c.workers)).cloned().collect();
        let asked = curves.iter().filter(|c| c.workers == asked).cloned().collect();
        Self::of(place, distance, asked, fit_all(&known))
    }

    /// A split whose forms are fitted already.
    pub(crate) fn of(place: Place, distance: f64, asked: Vec<Curve>, fitted: Fitted) -> Self {
        let score = |form: &Option<Box<dyn Form>>| match form {
            Some(form) => {
                let of: Vec<f64> = asked
                    .iter()
                    .map(|curve| compare(curve, &|i| form.level(curve.workers, i)))
                    .map(|errors| size(&errors.iterations) + 0.3 * size(&errors.levels))
                    .collect();
                of.iter().sum::<f64>() / of.len() as f64
            }
            None => 2.0 * WRONG,
        };
        let mut scores: Vec<f64> = fitted.iter().map(score).collect();
        if place == Place::Inside {
            scores[INTERPOLATED] *= FAVOUR;
        }
        Self { place, distance, asked, fitted, scores }
    }

    /// How far off the weighted forms were.
    pub(crate) fn errors(&self, weights: &[f64]) -> Vec<Errors> {
        let of = |curve: &Curve| compare(curve, &|i| blend(&self.fitted, weights, curve.workers, i));
        self.asked.iter().map(of).collect()
    }

    /// Gives the fitted forms back.
    pub(crate) fn into_fitted(self) -> Fitted {
        self.fitted
    }
}

/// Weights by how well each form did on these splits: the best count, those nearly as good share.
pub(crate) fn weigh<'a>(splits: impl Iterator<Item = &'a Split>) -> Option<Vec<f64>> {
    let mut sums = vec![0.0; CATALOGUE.len()];
    let (mut count, mut judgement) = (0.0, Place::Measured.judgement());
    for split in splits {
        count += 1.0;
        judgement = split.place.judgement();
        sums.iter_mut().zip(&split.scores).for_each(|(sum, score)| *sum += score);
    }
    let (equal, sharpness) = judgement;
    let weights: Vec<f64> = sums.iter().map(|sum| (equal + sum / count).powi(-sharpness)).collect();
    let total: f64 = weights.iter().sum();
    (count > 0.0).then(|| weights.iter().map(|w| w / total).collect())
}

/// The mean of the middle half of all forms' levels by weight: one that runs away is not followed, and one that has
/// most of the weight speaks alone.
pub(crate) fn blend(fitted: &Fitted, weights: &[f64], workers: f64, iteration: f64) -> f64 {
    let mut levels: Vec<(f64, f64)> = fitted
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > NEGLIGIBLE)
        .filter_map(|(form, &weight)| Some((form.as_ref()?.level(workers, iteration), weight)))
        .collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = levels.iter().map(|level| level.1).sum();
    let (mut below, mut sum) = (0.0, 0.0);
    for (level, weight) in levels {
        let upto = below + weight / total;
        sum += (upto.min(0.75) - f64::max(below, 0.25)).max(0.0) * level;
        below = upto;
    }
    sum / 0.5
}

fn compare(curve: &Curve, level: &dyn Fn(f64) -> f64) -> Errors {
    let (first, last) = (curve.first(), curve.last());
    let mut errors = Errors::default();
    for step in 1..=STEPS {
        let share = step as f64 / STEPS as f64;
        let goal = first.1 + 0.999 * share * (last.1 - first.1);
        if let Some(truth) = curve.crossing(goal) {
            let found = reach(level, goal, truth * 100.0).map_or(WRONG, |i| (i / truth).ln());
            errors.iterations.push(found.clamp(-WRONG, WRONG));
        }
        let iteration = first.0 * (last.0 / first.0).powf(share);
        errors.levels.push((level(iteration) - curve.level(iteration)).clamp(-WRONG, WRONG));
    }
    errors
}

fn size(errors: &[f64]) -> f64 {
    errors.iter().map(|e| e.abs()).sum::<f64>() / errors.len().max(1) as f64
}
