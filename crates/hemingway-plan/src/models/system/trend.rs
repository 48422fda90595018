//! A sum of terms with coefficients that are not negative, fitted so that relative errors count.

use serde::{Deserialize, Serialize};

use super::points::Point;
use super::robust::spread;
use super::terms::{Configuration, ERNEST, TERMS};
use crate::models::nnls::nnls;
use crate::{Error, Observation};

/// Residuals beyond so many standard deviations lose weight (Huber).
const TOLERANCE: f64 = 1.5;
/// Rounds of reweighting.
const ROUNDS: usize = 3;

/// Seconds for each unit of each term of the catalogue; zero for those not used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trend(pub [f64; TERMS.len()]);

impl Trend {
    pub fn seconds(&self, at: Configuration) -> f64 {
        let terms = self.0.iter().zip(&TERMS);
        terms.filter(|(c, _)| **c > 0.0).map(|(c, term)| c * (term.value)(at.workers, at.fraction)).sum()
    }

    /// Of the seconds; a trend without any gives the smallest number, so that errors stay finite.
    pub fn log_seconds(&self, at: Configuration) -> f64 {
        self.seconds(at).max(1e-300).ln()
    }

    /// Of all terms in use. Nobody pays for terms that all vanish on one worker, since nothing takes no time.
    pub fn penalty(&self) -> f64 {
        let used = || self.0.iter().zip(&TERMS).filter(|(c, _)| **c > 0.0).map(|(_, term)| term);
        let vanishes = used().all(|term| (term.value)(1.0, 1.0) == 0.0);
        if vanishes { f64::INFINITY } else { used().map(|term| term.penalty).sum() }
    }

    /// Minimises the squared relative errors, those of outlying points less.
    pub fn fit(points: &[&Point], terms: &[usize]) -> Trend {
        let columns: Vec<Vec<f64>> = terms
            .iter()
            .map(|&term| {
                points.iter().map(|p| (TERMS[term].value)(p.at.workers, p.at.fraction) / p.seconds).collect()
            })
            .collect();
        let ones = vec![1.0; points.len()];
        let mut weights = ones.clone();
        let mut trend = scatter(terms, nnls(&columns, &ones, &weights));
        if points.len() < terms.len() + 4 {
            return trend;
        }
        for _ in 0..ROUNDS {
            let errors: Vec<f64> = points.iter().map(|p| trend.seconds(p.at) / p.seconds - 1.0).collect();
            let reach = TOLERANCE * spread(&errors).max(1e-3);
            if errors.iter().all(|error| error.abs() <= reach) {
                break;
            }
            weights.iter_mut().zip(&errors).for_each(|(w, error)| *w = (reach / error.abs()).min(1.0));
            trend = scatter(terms, nnls(&columns, &ones, &weights));
        }
        trend
    }
}

fn scatter(terms: &[usize], values: Vec<f64>) -> Trend {
    let mut coefficients = [0.0; TERMS.len()];
    terms.iter().zip(values).for_each(|(&term, value)| coefficients[term] = value);
    Trend(coefficients)
}

/// The model of Ernest as published: four terms, plain squared errors over all observations. The baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Ernest(Trend);

impl Ernest {
    /// Fits the four terms to seconds per iteration.
    pub fn fit(observations: &[Observation]) -> Result<Ernest, Error> {
        let figures = super::figures::figures(observations)?;
        let terms: Vec<usize> = (0..ERNEST).collect();
        let columns: Vec<Vec<f64>> = terms
            .iter()
            .map(|&term| figures.iter().map(|f| (TERMS[term].value)(f.at.workers, f.at.fraction)).collect())
            .collect();
        let target: Vec<f64> = figures.iter().map(|figure| figure.seconds).collect();
        Ok(Ernest(scatter(&terms, nnls(&columns, &target, &vec![1.0; target.len()]))))
    }

    /// What it predicts.
    pub fn seconds_per_iteration(&self, workers: usize, fraction: f64) -> f64 {
        self.0.seconds(Configuration { workers: workers as f64, fraction })
    }
}
