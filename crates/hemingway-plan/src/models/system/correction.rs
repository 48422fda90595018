//! What terms leave over: real jobs have knees and cliffs, and near a measured configuration the measurement is right.
//!
//! The logarithm of measured over predicted time is interpolated by kriging (a Gaussian process with mean zero), over
//! the logarithms of workers and fraction. Away from measurements the correction fades and the terms speak alone. How
//! far it reaches and how much of a residual is noise is decided on held-out configurations, and again averaged.

use serde::{Deserialize, Serialize};

use super::average::{Average, Mixture, score, weights};
use super::points::Point;
use super::terms::Configuration;

/// How far a residual is felt: in logarithms, 0.7 is a doubling.
const REACHES: [f64; 4] = [0.2, 0.4, 0.8, 1.6];
/// Noise in a residual, over what is to be interpolated; both as variances.
const NOISES: [f64; 3] = [0.03, 0.3, 2.0];
/// Corrections must lower the held-out error by about e^(COST/n).
const COST: f64 = 1.0;

/// A weighted sum of bumps around the measured configurations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Correction {
    centres: Vec<[f64; 2]>,
    /// (reach, height of each bump).
    bumps: Vec<(f64, Vec<f64>)>,
}

/// A correction fitted to all points, and the error of each point's logarithm when it was held out.
pub(crate) struct Corrected {
    pub correction: Correction,
    /// (point, log measured − log predicted without it), for each point if there are folds.
    pub held_out: Vec<(usize, f64)>,
    /// The weight of there being no correction.
    pub none: f64,
}

impl Correction {
    /// What to add to the logarithm of the trend.
    pub fn at(&self, at: Configuration) -> f64 {
        let place = at.logs();
        let bump = |reach: f64, heights: &[f64]| -> f64 {
            self.centres.iter().zip(heights).map(|(&c, height)| height * kernel(c, place, reach)).sum()
        };
        self.bumps.iter().map(|(reach, heights)| bump(*reach, heights)).sum()
    }
}

/// Fits corrections of all reaches and noises to what the average leaves, and averages them.
pub(crate) fn correct(points: &[Point], average: &Average) -> Corrected {
    let kinds: Vec<(f64, f64)> =
        REACHES.iter().flat_map(|&reach| NOISES.iter().map(move |&noise| (reach, noise))).collect();
    // For each held-out point: the error without a correction, and the corrections of each kind.
    let mut trials: Vec<(usize, f64, Vec<f64>)> = Vec::new();
    for fold in &average.folds {
        let (centres, left) = residuals(points, &fold.kept, &fold.mixture);
        let heights: Vec<Vec<f64>> = kinds.iter().map(|&kind| heights(&centres, &left, kind)).collect();
        for &out in &fold.out {
            let place = points[out].at.logs();
            let error = points[out].seconds.ln() - fold.mixture.log_seconds(points[out].at);
            let corrections = kinds.iter().zip(&heights).map(|(&(reach, _), heights)| {
                centres.iter().zip(heights).map(|(&c, h)| h * kernel(c, place, reach)).sum()
            });
            trials.push((out, error, corrections.collect()));
        }
    }
    if trials.is_empty() {
        let correction = Correction { centres: Vec::new(), bumps: Vec::new() };
        return Corrected { correction, held_out: Vec::new(), none: 1.0 };
    }
    let mut scores: Vec<f64> = (0..kinds.len())
        .map(|kind| COST + score(trials.iter().map(|trial| trial.1 - trial.2[kind])))
        .collect();
    // None counts as much as all corrections of one reach and noise each.
    scores.push(score(trials.iter().map(|trial| trial.1)) - (kinds.len() as f64).ln());
    let shares = weights(&scores);
    let all: Vec<usize> = (0..points.len()).collect();
    let (centres, left) = residuals(points, &all, &average.mixture);
    let bumps = kinds
        .iter()
        .zip(&shares)
        .map(|(&kind, share)| {
            (kind.0, heights(&centres, &left, kind).into_iter().map(|h| share * h).collect())
        })
        .collect();
    let held_out = trials
        .iter()
        .map(|(out, error, corrections)| {
            (*out, error - corrections.iter().zip(&shares).map(|(c, share)| share * c).sum::<f64>())
        })
        .collect();
    Corrected { correction: Correction { centres, bumps }, held_out, none: shares[kinds.len()] }
}

fn residuals(points: &[Point], kept: &[usize], mixture: &Mixture) -> (Vec<[f64; 2]>, Vec<f64>) {
    kept.iter()
        .map(|&k| (points[k].at.logs(), points[k].seconds.ln() - mixture.log_seconds(points[k].at)))
        .unzip()
}

fn kernel(a: [f64; 2], b: [f64; 2], reach: f64) -> f64 {
    let squared = (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    (-0.5 * squared / (reach * reach)).exp()
}

/// Solves (K + noise) heights = residuals by Cholesky decomposition in place.
fn heights(centres: &[[f64; 2]], residuals: &[f64], (reach, noise): (f64, f64)) -> Vec<f64> {
    let mut factor = covariance(centres, reach, noise);
    cholesky(&mut factor, centres.len());
    solve(&factor, residuals)
}

fn covariance(centres: &[[f64; 2]], reach: f64, noise: f64) -> Vec<f64> {
    let count = centres.len();
    let mut matrix = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..=i {
            matrix[i * count + j] = kernel(centres[i], centres[j], reach) + if i == j { noise } else { 0.0 };
        }
    }
    matrix
}

/// The lower factor, over the lower triangle. Noise on the diagonal keeps it positive.
fn cholesky(matrix: &mut [f64], count: usize) {
    for i in 0..count {
        for j in 0..=i {
            let (row, other) = (&matrix[i * count..i * count + j], &matrix[j * count..j * count + j]);
            let rest = matrix[i * count + j] - row.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            matrix[i * count + j] =
                if i == j { rest.max(1e-12).sqrt() } else { rest / matrix[j * count + j] };
        }
    }
}

fn solve(factor: &[f64], right: &[f64]) -> Vec<f64> {
    let count = right.len();
    let mut solution = right.to_vec();
    for i in 0..count {
        for j in 0..i {
            solution[i] -= factor[i * count + j] * solution[j];
        }
        solution[i] /= factor[i * count + i];
    }
    for i in (0..count).rev() {
        for j in i + 1..count {
            solution[i] -= factor[j * count + i] * solution[j];
        }
        solution[i] /= factor[i * count + i];
    }
    solution
}
