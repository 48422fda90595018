//! What was measured at each configuration: the median of its repeats, and how far repeats are apart.

use serde::{Deserialize, Serialize};

use super::figures::Figure;
use super::robust::{median, spread};
use super::terms::Configuration;

/// One configuration with all its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub at: Configuration,
    /// The median of `runs`.
    pub seconds: f64,
    /// Seconds per iteration of each run.
    pub runs: Vec<f64>,
}

/// One point for each configuration, by workers, then by fraction.
pub(crate) fn points(figures: &[Figure]) -> Vec<Point> {
    let mut sorted: Vec<&Figure> = figures.iter().collect();
    sorted.sort_by(|a, b| {
        (a.at.workers.total_cmp(&b.at.workers)).then(a.at.fraction.total_cmp(&b.at.fraction))
    });
    sorted
        .chunk_by(|a, b| a.at == b.at)
        .map(|same| {
            let runs: Vec<f64> = same.iter().map(|figure| figure.seconds).collect();
            Point { at: same[0].at, seconds: median(&runs), runs }
        })
        .collect()
}

/// The relative spread of repeats, pooled over configurations; nothing when no configuration was repeated.
pub(crate) fn repeat_spread(points: &[Point]) -> Option<f64> {
    let distances: Vec<f64> = points
        .iter()
        .filter(|point| point.runs.len() > 1)
        .flat_map(|point| {
            // Distances from a median of n are shorter than from the truth.
            let short = (point.runs.len() as f64 / (point.runs.len() as f64 - 1.0)).sqrt();
            point.runs.iter().map(move |run| short * (run / point.seconds).ln())
        })
        .collect();
    (!distances.is_empty()).then(|| spread(&distances).max(1e-4))
}
