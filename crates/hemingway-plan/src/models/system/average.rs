//! Which terms: sets of them are judged by how well they predict configurations they were not fitted to.
//!
//! Choosing the one best set is a gamble when few configurations were measured, so sets are averaged with weights that
//! fall with the held-out error to the power of the number of configurations (as a likelihood would) and with the number
//! of terms. With many configurations one set takes nearly all the weight; with few the average is cautious. A weighted
//! average of sums of terms is again a sum of terms.

use serde::{Deserialize, Serialize};

use super::points::Point;
use super::terms::{Configuration, ERNEST, distinguishable};
use super::trend::Trend;

/// Sets larger than this are not tried, but for Ernest's.
const LARGEST: usize = 3;
/// Only so many sets, the best when fitted to everything, are judged on held-out configurations.
const JUDGED: usize = 40;
/// More configurations than this are held out several at a time; many more, in half as many folds, to save time.
const FOLDS: usize = 20;
/// Before anything is measured, errors are taken to be as large as this, with the force of one configuration: an error
/// of nothing on three configurations is luck.
const PRIOR_ERROR: f64 = 0.05;
/// Ernest's four terms as a whole cost this much less than one by one.
const ERNEST_DISCOUNT: f64 = 3.0;
/// Sets with less than this share of the best one's weight are left out.
const NEGLIGIBLE: f64 = 0.01;

/// Sets of terms with their weights, fitted to everything and to everything but each fold.
pub(crate) struct Average {
    pub mixture: Mixture,
    pub folds: Vec<Fold>,
}

/// Points held out, and what the others say.
pub(crate) struct Fold {
    pub out: Vec<usize>,
    pub kept: Vec<usize>,
    pub mixture: Mixture,
}

/// Trends with weights of sum one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mixture {
    pub members: Vec<(f64, Trend)>,
}

impl Average {
    pub fn fit(points: &[Point]) -> Average {
        let all: Vec<&Point> = points.iter().collect();
        let folds = folds(points.len());
        let mut candidates: Vec<(f64, Vec<usize>, Trend)> = sets(points)
            .into_iter()
            .map(|set| {
                let trend = Trend::fit(&all, &set);
                let errors: Vec<f64> = points.iter().map(|p| error(&trend, p)).collect();
                (penalty(&set, &trend) + score(errors.into_iter()), set, trend)
            })
            .collect();
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        candidates.truncate(JUDGED);
        let fitted: Vec<Vec<Trend>> = folds
            .iter()
            .map(|(_, kept)| {
                let kept: Vec<&Point> = kept.iter().map(|&k| &points[k]).collect();
                candidates.iter().map(|(_, set, _)| Trend::fit(&kept, set)).collect()
            })
            .collect();
        let scores: Vec<f64> = candidates
            .iter()
            .enumerate()
            .map(|(k, (in_sample, set, trend))| {
                let errors: Vec<f64> = folds
                    .iter()
                    .zip(&fitted)
                    .flat_map(|((out, _), fitted)| out.iter().map(|&p| error(&fitted[k], &points[p])))
                    .collect();
                if errors.is_empty() { *in_sample } else { penalty(set, trend) + score(errors.into_iter()) }
            })
            .collect();
        let weights = weights(&scores);
        let folds = folds
            .into_iter()
            .zip(fitted)
            .map(|((out, kept), fitted)| Fold { out, kept, mixture: Mixture::new(&weights, fitted) })
            .collect();
        Average { mixture: Mixture::new(&weights, candidates.into_iter().map(|c| c.2).collect()), folds }
    }
}

impl Mixture {
    fn new(weights: &[f64], trends: Vec<Trend>) -> Mixture {
        let best = weights.iter().copied().fold(0.0, f64::max);
        let kept: f64 = weights.iter().filter(|&&weight| weight >= NEGLIGIBLE * best).sum();
        let members = weights.iter().zip(trends).filter(|&(&weight, _)| weight >= NEGLIGIBLE * best);
        Mixture { members: members.map(|(&weight, trend)| (weight / kept, trend)).collect() }
    }

    /// The heaviest member with its weight.
    pub fn leading(&self) -> &(f64, Trend) {
        let heaviest = self.members.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        heaviest.expect("there is always Ernest's set")
    }

    /// The mean of the middle half of the members' logarithms, so that one that runs away is not followed.
    pub fn log_seconds(&self, at: Configuration) -> f64 {
        let mut values: Vec<(f64, f64)> = self.members.iter().map(|(w, t)| (t.log_seconds(at), *w)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut below, mut sum) = (0.0, 0.0);
        for (value, weight) in values {
            let share = (below + weight).min(0.75) - f64::max(below, 0.25);
            sum += share.max(0.0) * value;
            below += weight;
        }
        sum / 0.5
    }

    /// How much the members disagree, as a standard deviation of logarithms.
    pub fn disagreement(&self, at: Configuration) -> f64 {
        let middle = self.log_seconds(at);
        self.members
            .iter()
            .map(|(w, trend)| w * (trend.log_seconds(at) - middle).clamp(-2.0, 2.0).powi(2))
            .sum::<f64>()
            .sqrt()
    }
}

/// Held-out configurations: each once, alone when there are few.
fn folds(points: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    if points < 3 {
        return Vec::new();
    }
    let count = if points > 2 * FOLDS { FOLDS / 2 } else { points.min(FOLDS) };
    (0..count).map(|fold| (0..points).partition(|point| point % count == fold)).collect()
}

/// All sets of distinguishable terms that leave at least one configuration to contradict them, and Ernest's.
fn sets(points: &[Point]) -> Vec<Vec<usize>> {
    let configurations: Vec<_> = points.iter().map(|point| point.at).collect();
    let terms = distinguishable(&configurations);
    let largest = LARGEST.min(points.len().saturating_sub(1)).max(1);
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for &term in &terms {
        for k in 0..sets.len() {
            if sets[k].len() < largest {
                let mut set = sets[k].clone();
                set.push(term);
                sets.push(set);
            }
        }
    }
    sets.retain(|set| !set.is_empty());
    sets.push(terms.into_iter().filter(|&term| term < ERNEST).collect());
    sets
}

fn error(trend: &Trend, point: &Point) -> f64 {
    trend.log_seconds(point.at) - point.seconds.ln()
}

/// Of a set's terms; less for Ernest's as a whole, which has proved itself on many jobs.
fn penalty(set: &[usize], trend: &Trend) -> f64 {
    let ernest = set.len() > LARGEST && set.iter().all(|&term| term < ERNEST);
    trend.penalty() - if ernest { ERNEST_DISCOUNT } else { 0.0 }
}

/// Minus a log-likelihood with errors of an unknown scale.
pub(crate) fn score(errors: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = errors.len() as f64;
    let mean = (errors.map(|error| error.abs().min(1.0)).sum::<f64>() + PRIOR_ERROR) / (count + 1.0);
    count * mean.ln()
}

/// Positive, of sum one, falling with the score.
pub(crate) fn weights(scores: &[f64]) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let raw: Vec<f64> = scores.iter().map(|score| (best - score).exp()).collect();
    let sum: f64 = raw.iter().sum();
    raw.into_iter().map(|weight| weight / sum).collect()
}
