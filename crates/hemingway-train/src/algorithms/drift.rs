//! How far predictions that are updated step by step may be from those of the weights.
//!
//! Both are sums of products of values and weights, rounded differently. Where values are huge and their products
//! cancel out, rounding is larger than the predictions, and an objective computed from the ones says nothing of the other.

use crate::local::dot;
use crate::{Error, Worker};

/// What rounding depends on besides the weights.
pub(super) struct Drift {
    /// √Σ c_i‖x_i‖² over the rows of all workers.
    size: f64,
}

impl Drift {
    /// Adds up the squares of all values.
    pub(super) fn of(worker: &mut Worker) -> Result<Drift, Error> {
        let squares = worker.local.squared_norms(worker.local.rows());
        worker.local.meter(worker.local.stored() as f64);
        Ok(Drift::of_squares(worker.sum_of(squares)?))
    }

    /// The same where their sum is known.
    pub(super) fn of_squares(squares: f64) -> Drift {
        Drift { size: squares.sqrt() }
    }

    /// Whether an objective of about this size at these weights can be computed from such predictions.
    pub(super) fn is_small(&self, weights: &[f64], objective: f64) -> bool {
        let off = 4.0 * f64::EPSILON * self.size * dot(weights, weights).sqrt();
        // A residual of the squared loss is about this large; the slopes of the others are at most 1.
        off <= HARMLESS * (2.0 * objective).sqrt()
    }
}

/// Predictions may be off by this share of what they are to predict, by a bound that takes all rows for one and all errors
/// for the largest there can be. Less has ordinary data predicted anew for every score; more lets an objective be reported
/// that its weights do not have (`cargo test -p hemingway-train --test extremes`).
const HARMLESS: f64 = 1e-5;
