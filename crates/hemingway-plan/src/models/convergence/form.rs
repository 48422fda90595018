//! The seam between the forms a convergence curve may have and the model that weighs them; the catalogue of forms.

use super::curves::Curve;
use super::{paper, rates, stretched};

/// A fitted form: the level (log of the gap to the optimum) as a function of workers and iterations. It never rises
/// with iterations.
pub(crate) trait Form: std::fmt::Debug + Send + Sync {
    /// The level after an iteration.
    fn level(&self, workers: f64, iteration: f64) -> f64;
    /// What was fitted, in a line.
    fn describe(&self) -> String;
}

/// How a form is fitted; nothing comes back where it does not apply.
type Fit = fn(&[Curve]) -> Option<Box<dyn Form>>;

/// All forms, the paper's first.
pub(crate) const CATALOGUE: [(&str, Fit); 8] = [
    ("lasso", paper::fit),
    ("linear", rates::fit_linear),
    ("inverse", rates::fit_inverse),
    ("root", rates::fit_root),
    ("power", rates::fit_power),
    ("stretched", stretched::fit_stretched),
    ("stretched by stage", stretched::fit_by_stage),
    ("interpolated", stretched::fit_interpolated),
];

/// The iteration, below a limit, at which a level that never rises comes down to `goal`.
pub(crate) fn reach(level: &dyn Fn(f64) -> f64, goal: f64, limit: f64) -> Option<f64> {
    let (mut low, mut high) = (0.0f64, limit.ln());
    if level(low.exp()) <= goal {
        return Some(1.0);
    }
    if level(limit) > goal {
        return None;
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if level(middle.exp()) > goal {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high.exp())
}
