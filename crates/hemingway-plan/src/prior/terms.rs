//! What the logarithm of rounds is taken to be linear in.
//!
//! Theory suggests the terms: a dual step on one row is damped by the curvature κ = R²/(λn), or mκ where m workers
//! crowd each other; methods with whole gradients feel the condition R²/λ instead. Linear rates give rounds in
//! proportion to ln 1/ε, stochastic ones in proportion to 1/ε. R² is the mean over rows, which fitted better than the
//! largest. Features per row and density tell texts from measurements. They did better on real sources that were held
//! out than the number of features and the share of the rarer class. The number of rows made hardly a difference there,
//! but it did on files larger than those.

use super::Glance;

/// How many terms there are.
pub(super) const TERMS: usize = 13;
/// By how many of them, the goal aside, a question may lie outside of all experiments.
pub(super) const REACH: usize = 5;
/// Far beyond all experiments nothing more is known of a worse condition. A limit keeps what is predicted a number.
const MOST_CONDITION: f64 = 1e100;
/// Data without any values has none.
const LEAST_DENSITY: f64 = 1e-9;
/// Where terms that are named elsewhere stand.
pub(super) const GOAL: usize = 5;
pub(super) const BY_WORKERS: usize = 10;
pub(super) const BY_CONDITION: usize = 11;

/// A run somebody asks about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub workers: f64,
    pub passes: f64,
    /// ln 1/ε.
    pub goal: f64,
}

/// The terms of a run, in the order of the table.
pub(super) fn terms(glance: &Glance, asked: Asked) -> [f64; TERMS] {
    let (workers, goal) = (asked.workers.ln(), asked.goal);
    let condition = condition(glance);
    let curvature = condition / glance.rows.max(1) as f64;
    [
        1.0,
        workers,
        curvature.ln_1p(),
        (curvature * asked.workers).ln_1p(),
        condition.ln_1p(),
        goal,
        width(glance),
        density(glance),
        glance.common,
        asked.passes.ln(),
        workers * goal / 10.0,
        condition.ln_1p() * goal / 10.0,
        (glance.rows.max(1) as f64).ln(),
    ]
}

/// The terms by which a question may lie outside of all experiments, whatever its goal.
pub(super) fn reach(glance: &Glance, asked: Asked) -> [f64; REACH] {
    [asked.workers.ln(), condition(glance).ln_1p(), width(glance), density(glance), asked.passes.ln()]
}

fn condition(glance: &Glance) -> f64 {
    (glance.mean_squared_norm / glance.lambda).min(MOST_CONDITION)
}

/// Features per row, as a logarithm.
fn width(glance: &Glance) -> f64 {
    (glance.features.max(1) as f64 / glance.rows.max(1) as f64).ln()
}

fn density(glance: &Glance) -> f64 {
    glance.density().max(LEAST_DENSITY).ln()
}
