//! How wide: intervals are scaled so that held-out runs would have been inside.
//!
//! The expected error of a prediction grows with the spread of repeats, with the distance from measured configurations
//! and with the disagreement among sets of terms. Held-out runs say by what factor that expectation must be multiplied
//! to contain nine in ten (conformal prediction), a larger one when few configurations were measured.

use serde::{Deserialize, Serialize};

use super::average::{Average, Mixture};
use super::points::{Point, repeat_spread};
use super::reach::distance;
use super::robust::median;
use super::terms::Configuration;

/// The interval covers this share.
const SHARE: f64 = 0.9;
/// Expected relative error for each unit of distance to the nearest measured configuration.
const PER_NEAREST: f64 = 0.06;
/// The same for distance outside the measured range of workers.
const PER_WORKERS: f64 = 0.2;
/// The same for fractions: time is nearly a line in the amount of data, which cannot be said of workers.
const PER_DATA: f64 = 0.12;
/// The same along something never varied: time may fall with m, or not at all.
const PER_UNVARIED: f64 = 0.5;
/// No interval is narrower.
const FLOOR: f64 = 0.005;
/// Spread of repeats when nothing was repeated, at least.
const UNKNOWN_SPREAD: f64 = 0.02;
/// The held-out errors that choose among models also scale the interval, which makes it too narrow; repeats make up for
/// that, single runs do not.
const UNREPEATED: f64 = 1.15;
/// The factor when nothing could be held out.
const UNKNOWN_FACTOR: f64 = 4.0;

/// Held-out runs that all happen to be predicted well do not make the factor smaller than this.
const LEAST_FACTOR: f64 = 1.0;

/// Gives the half width of an interval, in logarithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Width {
    spread: f64,
    factor: f64,
}

impl Width {
    /// Fits the factor to held-out errors of points.
    pub fn fit(points: &[Point], average: &Average, held_out: &[(usize, f64)]) -> Width {
        let repeated = repeat_spread(points);
        let spread = repeated.unwrap_or_else(|| spread_from(held_out));
        let mut scores: Vec<(f64, f64)> = Vec::new();
        for &(out, error) in held_out {
            let Some(fold) = average.folds.iter().find(|fold| fold.out.contains(&out)) else { continue };
            let kept: Vec<&Point> = fold.kept.iter().map(|&k| &points[k]).collect();
            let expected = expected(points[out].at, &kept, &fold.mixture, spread);
            let runs = &points[out].runs;
            for run in runs {
                let error = error + (run / points[out].seconds).ln();
                scores.push((error.abs() / expected, 1.0 / runs.len() as f64));
            }
        }
        let unrepeated = if repeated.is_some() { 1.0 } else { UNREPEATED };
        let factor = if scores.is_empty() { UNKNOWN_FACTOR } else { factor(&mut scores, points.len()) };
        let factor = unrepeated * factor;
        Width { spread, factor }
    }

    /// Around a prediction at a configuration.
    pub fn at(&self, at: Configuration, points: &[Point], mixture: &Mixture) -> f64 {
        let measured: Vec<&Point> = points.iter().collect();
        (self.factor * expected(at, &measured, mixture, self.spread)).max(FLOOR)
    }
}

/// Without repeats, held-out errors are put down to noise: their median in size, as a standard deviation.
fn spread_from(held_out: &[(usize, f64)]) -> f64 {
    let sizes: Vec<f64> = held_out.iter().map(|(_, error)| error.abs()).collect();
    (1.4826 * median(&sizes)).max(UNKNOWN_SPREAD)
}

fn expected(at: Configuration, measured: &[&Point], mixture: &Mixture, spread: f64) -> f64 {
    let distance = distance(at, measured);
    let parts = [
        spread,
        FLOOR,
        PER_NEAREST * distance.nearest,
        PER_WORKERS * distance.outside[0],
        PER_DATA * distance.outside[1],
        PER_UNVARIED * distance.unvaried,
        mixture.disagreement(at),
    ];
    parts.iter().map(|part| part * part).sum::<f64>().sqrt()
}

/// The weighted quantile of scores, at a level that allows for how few configurations there are.
fn factor(scores: &mut [(f64, f64)], configurations: usize) -> f64 {
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = scores.iter().map(|score| score.1).sum();
    let count = configurations as f64;
    let level = SHARE * (1.0 + 0.75 / count);
    // Below nine configurations the level is above any score seen; the true quantile lies beyond the largest.
    let few = 1.0 + 0.3 * (9.0 - count).max(0.0) / count;
    let mut below = 0.0;
    let mut found = scores[scores.len() - 1].0;
    for &(score, weight) in scores.iter() {
        below += weight;
        if below >= level * total {
            found = score;
            break;
        }
    }
    few * found.max(LEAST_FACTOR)
}
