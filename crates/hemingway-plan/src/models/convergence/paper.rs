//! The paper's model: a Lasso over fractional, polynomial and logarithmic terms of iterations i and workers m, on the
//! logarithm of the sub-optimality. Folds are whole m.

use super::curves::Curve;
use super::form::Form;
use crate::models::lasso::{Lasso, LassoFit};

/// A term of iterations and workers.
type Term = fn(f64, f64) -> f64;

/// The terms, by name.
const TERMS: [(&str, Term); 16] = [
    ("i", |i, _| i),
    ("i/m", |i, m| i / m),
    ("i/m²", |i, m| i / (m * m)),
    ("i/√m", |i, m| i / m.sqrt()),
    ("√i", |i, _| i.sqrt()),
    ("√(i/m)", |i, m| (i / m).sqrt()),
    ("log i", |i, _| i.ln()),
    ("log² i", |i, _| i.ln().powi(2)),
    ("log m", |_, m| m.ln()),
    ("log² m", |_, m| m.ln().powi(2)),
    ("log i·log m", |i, m| i.ln() * m.ln()),
    ("i·log m", |i, m| i * m.ln()),
    ("log i/m", |i, m| i.ln() / m),
    ("m", |_, m| m),
    ("1/m", |_, m| 1.0 / m),
    ("1/i", |i, _| 1.0 / i),
];
/// The steps in log iterations at which a prediction is evaluated.
const STEP: f64 = 0.2;

#[derive(Debug)]
struct Paper(LassoFit);

/// Fits the Lasso to all runs.
pub(crate) fn fit(curves: &[Curve]) -> Option<Box<dyn Form>> {
    let (mut rows, mut levels, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for curve in curves {
        for knot in &curve.thinned {
            rows.push(terms(knot.iteration, curve.workers));
            levels.push(knot.level);
            groups.push(curve.workers as usize);
        }
    }
    let lasso = Lasso { precision: 1e-4, ..Lasso::default() };
    Some(Box::new(Paper(lasso.cross_validated(&rows, &levels, &groups))))
}

fn terms(iteration: f64, workers: f64) -> Vec<f64> {
    TERMS.iter().map(|(_, term)| term(iteration, workers)).collect()
}

impl Form for Paper {
    /// The smallest prediction so far: a sum of terms may rise again, the best so far may not.
    fn level(&self, workers: f64, iteration: f64) -> f64 {
        let place = iteration.max(1.0).ln() / STEP;
        let at = |k: usize| self.0.predict(&terms((STEP * k as f64).exp(), workers));
        let before = (0..=place as usize).map(at).fold(f64::INFINITY, f64::min);
        before + (place - place.floor()) * (at(place as usize + 1).min(before) - before)
    }

    fn describe(&self) -> String {
        let used = TERMS.iter().zip(&self.0.coefficients).filter(|(_, c)| **c != 0.0);
        let used: Vec<String> = used.map(|((name, _), c)| format!("{c:+.3e}·{name}")).collect();
        format!("log gap = {:.3} {}", self.0.intercept, used.join(" "))
    }
}
