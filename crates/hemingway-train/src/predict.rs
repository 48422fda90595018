//! Predictions of a finished model.

use hemingway_data::Dataset;

use crate::{Local, Loss, Problem};

/// x·w for every row; weights with one number more than the data has features end in a bias.
pub fn predict(data: &Dataset, weights: &[f64]) -> Vec<f64> {
    let rows = data.matrix.rows();
    let bias = weights.len() > data.matrix.columns();
    // The loss plays no part in predictions.
    let problem = Problem { loss: Loss::Squared, lambda: 1.0, bias };
    let targets = vec![0.0; rows];
    let mut predictions = vec![0.0; rows];
    Local::of(&data.matrix, &targets, 0..rows, problem).predict(weights, &mut predictions);
    predictions
}
