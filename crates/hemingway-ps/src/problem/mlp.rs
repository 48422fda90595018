//! One hidden layer: the prediction is v·tanh(Wx + b) + c. Weights are W by rows, b, v, c.

use super::Data;
use super::kernels::{axpy4, dot4};
use crate::random::Random;

/// Number of weights.
pub fn parameters(features: usize, hidden: usize) -> usize {
    hidden * features + 2 * hidden + 1
}

/// Random weights under which hidden units and the prediction have a variance of about 1; biases are zero.
pub fn initial_weights(features: usize, hidden: usize, random: &mut Random) -> Vec<f32> {
    let mut normal = |fan_in: usize| (random.normal() / (fan_in as f64).sqrt()) as f32;
    let mut weights = vec![0.0; parameters(features, hidden)];
    let (first, rest) = weights.split_at_mut(hidden * features);
    first.iter_mut().for_each(|weight| *weight = normal(features));
    rest[hidden..2 * hidden].iter_mut().for_each(|weight| *weight = normal(hidden));
    weights
}

/// The predictions for four inputs.
pub fn predict(hidden: usize, weights: &[f32], inputs: [&[f32]; 4]) -> [f32; 4] {
    forward(hidden, weights, inputs, &mut vec![[0.0; 4]; hidden])
}

/// Adds the gradient of the loss, four examples at a time: forward, then backward.
pub fn add_gradient(hidden: usize, weights: &[f32], data: &Data, rows: &[usize], gradient: &mut [f32]) {
    let mut activations = vec![[0.0; 4]; hidden];
    for four in rows.chunks(4) {
        // Examples that are missing from the last four count with a factor of zero.
        let row = |at: usize| four.get(at).copied();
        let inputs = std::array::from_fn(|at| data.input(row(at).unwrap_or(four[0])));
        let predictions = forward(hidden, weights, inputs, &mut activations);
        let errors = std::array::from_fn(|at| row(at).map_or(0.0, |row| predictions[at] - data.target(row)));
        backward(weights, inputs, &activations, errors, gradient);
    }
}

fn forward(hidden: usize, weights: &[f32], inputs: [&[f32]; 4], activations: &mut [[f32; 4]]) -> [f32; 4] {
    let features = inputs[0].len();
    let (first, rest) = weights.split_at(hidden * features);
    let mut predictions = [rest[2 * hidden]; 4];
    for (unit, row) in first.chunks_exact(features).enumerate() {
        let (bias, out) = (rest[unit], rest[hidden + unit]);
        activations[unit] = dot4(row, inputs).map(|sum| (sum + bias).tanh());
        (0..4).for_each(|at| predictions[at] += out * activations[unit][at]);
    }
    predictions
}

fn backward(
    weights: &[f32],
    inputs: [&[f32]; 4],
    activations: &[[f32; 4]],
    errors: [f32; 4],
    gradient: &mut [f32],
) {
    let (features, hidden) = (inputs[0].len(), activations.len());
    let out = &weights[hidden * features + hidden..];
    let (first, rest) = gradient.split_at_mut(hidden * features);
    for (unit, row) in first.chunks_exact_mut(features).enumerate() {
        let activation = activations[unit];
        let delta: [f32; 4] =
            std::array::from_fn(|at| errors[at] * out[unit] * (1.0 - activation[at] * activation[at]));
        axpy4(delta, inputs, row);
        rest[unit] += delta.iter().sum::<f32>();
        rest[hidden + unit] += (0..4).map(|at| errors[at] * activation[at]).sum::<f32>();
    }
    rest[2 * hidden] += errors.iter().sum::<f32>();
}
