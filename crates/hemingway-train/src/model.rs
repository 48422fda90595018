//! Where every run starts and ends.

use serde::{Deserialize, Serialize};

/// Weights, and the dual variables that explain them where the algorithm has them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Model {
    /// One per feature; with a bias, one more at the end.
    pub weights: Vec<f64>,
    /// One per training row, by global row number: α_i with w = (1/(λn)) Σ α_i x_i.
    pub duals: Option<Vec<f64>>,
}

impl Model {
    /// The model that predicts nothing: zero weights, zero duals.
    pub fn zero(dimension: usize) -> Model {
        Model { weights: vec![0.0; dimension], duals: None }
    }
}
