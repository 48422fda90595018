//! What a run takes before its first iteration.

use serde::{Deserialize, Serialize};

use super::figures::Figure;
use super::robust::quantile;
use super::terms::{Configuration, TERMS};
use super::trend::Trend;
use crate::models::nnls::nnls;

/// 1, s/m, m and s: a driver, data read by each worker, workers that are started, data read by one.
const START_TERMS: [usize; 4] = [0, 1, 3, 4];

/// Seconds before the first iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Start {
    pub trend: Trend,
    /// Nine in ten runs are closer.
    pub width: f64,
}

impl Start {
    /// From runs with several iterations; nothing when there are none. Errors count in proportion to the whole run.
    pub fn fit(figures: &[Figure]) -> Option<Start> {
        let known: Vec<(&Figure, f64)> =
            figures.iter().filter_map(|figure| figure.start.map(|start| (figure, start))).collect();
        if known.is_empty() {
            return None;
        }
        let columns: Vec<Vec<f64>> = START_TERMS
            .iter()
            .map(|&term| {
                known.iter().map(|(f, _)| (TERMS[term].value)(f.at.workers, f.at.fraction)).collect()
            })
            .collect();
        let target: Vec<f64> = known.iter().map(|known| known.1).collect();
        let weights: Vec<f64> = known.iter().map(|(figure, _)| figure.total.max(1e-9).powi(-2)).collect();
        let mut coefficients = [0.0; TERMS.len()];
        for (term, value) in START_TERMS.into_iter().zip(nnls(&columns, &target, &weights)) {
            coefficients[term] = value;
        }
        let trend = Trend(coefficients);
        let errors: Vec<f64> = known.iter().map(|(f, start)| (start - trend.seconds(f.at)).abs()).collect();
        Some(Start { width: quantile(&errors, 0.9), trend })
    }

    pub fn seconds(&self, at: Configuration) -> f64 {
        self.trend.seconds(at)
    }
}
