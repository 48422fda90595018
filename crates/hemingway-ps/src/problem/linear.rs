//! The linear model: the prediction is w·x.

use super::Data;
use super::kernels::{axpy4, dot4};

/// The predictions for four inputs.
pub fn predict(weights: &[f32], inputs: [&[f32]; 4]) -> [f32; 4] {
    dot4(weights, inputs)
}

/// Adds Σ (w·x − y) x, four examples at a time.
pub fn add_gradient(weights: &[f32], data: &Data, rows: &[usize], gradient: &mut [f32]) {
    for four in rows.chunks(4) {
        // Examples that are missing from the last four count with a factor of zero.
        let row = |at: usize| four.get(at).copied();
        let inputs = std::array::from_fn(|at| data.input(row(at).unwrap_or(four[0])));
        let predictions = predict(weights, inputs);
        let errors = std::array::from_fn(|at| row(at).map_or(0.0, |row| predictions[at] - data.target(row)));
        axpy4(errors, inputs, gradient);
    }
}
