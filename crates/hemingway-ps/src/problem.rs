//! What is trained: a regression problem with generated data, and the gradient of its loss.
//!
//! Inputs are uniform with mean 0 and variance 1 in every feature. Targets come from a teacher and some noise. The loss of
//! one example is ½(prediction − target)². Gradients are sums over examples, so that parts of a batch add up.

mod data;
mod kernels;
mod linear;
mod mlp;

use serde::{Deserialize, Serialize};

pub use data::Data;
pub use kernels::{add, squared_norm};

use crate::random::{Random, Stream};

/// Models that can be trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// A weighted sum of the features
    Linear,
    /// One hidden layer of tanh units
    Mlp,
}

/// A problem, from which every machine makes the same data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    pub model: Model,
    /// Features of an input.
    pub features: usize,
    /// Hidden units; a linear model has none.
    pub hidden: usize,
    /// Examples that batches are drawn from.
    pub examples: usize,
    /// Standard deviation of the noise in the targets.
    pub noise: f64,
    /// Random seed.
    pub seed: u64,
}

impl Problem {
    /// Number of weights.
    pub fn parameters(&self) -> usize {
        match self.model {
            Model::Linear => self.features,
            Model::Mlp => mlp::parameters(self.features, self.hidden),
        }
    }

    /// The weights at which training begins: zero for the linear model, random for the other.
    pub fn initial_weights(&self) -> Vec<f32> {
        match self.model {
            Model::Linear => vec![0.0; self.features],
            Model::Mlp => {
                let mut random = Random::new(self.seed, Stream::Initial, 0);
                mlp::initial_weights(self.features, self.hidden, &mut random)
            }
        }
    }

    /// The step size of the full gradient, unless the cluster file names one. For the linear model the Hessian of the
    /// loss is the identity, so that a step of 1 leads to the optimum. The other model takes steps of up to 0.8 with
    /// gain, and oscillates at 1.6, on the cluster of the example; with 0.1 a loss takes enough iterations to be compared
    /// by their number.
    pub fn default_learning_rate(&self) -> f64 {
        match self.model {
            Model::Linear => 1.0,
            Model::Mlp => 0.1,
        }
    }

    /// How many inputs are worked on between two looks at the clock: about 0.2 ms of work.
    pub fn tile(&self) -> usize {
        (500_000 / self.parameters().max(1)).clamp(4, 512) / 4 * 4
    }

    /// The example in a place of an iteration's batch, drawn with replacement. It does not depend on how the batch is
    /// divided.
    pub fn drawn(&self, iteration: u64, place: u64) -> usize {
        let key = iteration.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ place;
        let bits = Random::new(self.seed, Stream::Batch, key).bits();
        ((u128::from(bits) * self.examples as u128) >> 64) as usize
    }

    /// Adds the sum of the gradients of these examples.
    pub fn add_gradient(&self, weights: &[f32], data: &Data, rows: &[usize], gradient: &mut [f32]) {
        match self.model {
            Model::Linear => linear::add_gradient(weights, data, rows, gradient),
            Model::Mlp => mlp::add_gradient(self.hidden, weights, data, rows, gradient),
        }
    }

    /// The mean loss over all of the data.
    pub fn loss(&self, weights: &[f32], data: &Data) -> f64 {
        let predict = |inputs| match self.model {
            Model::Linear => linear::predict(weights, inputs),
            Model::Mlp => mlp::predict(self.hidden, weights, inputs),
        };
        let four = |four: &[usize]| {
            let predictions =
                predict(std::array::from_fn(|at| data.input(*four.get(at).unwrap_or(&four[0]))));
            let loss =
                |(row, prediction): (&usize, f32)| 0.5 * f64::from(prediction - data.target(*row)).powi(2);
            four.iter().zip(predictions).map(loss).sum::<f64>()
        };
        let rows: Vec<usize> = (0..data.len()).collect();
        rows.chunks(4).map(four).sum::<f64>() / data.len() as f64
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn small(model: Model) -> Problem {
        Problem { model, features: 10, hidden: 7, examples: 64, noise: 0.1, seed: 5 }
    }

    fn some_weights(problem: &Problem) -> Vec<f32> {
        let mut random = Random::new(1, Stream::Initial, 9);
        (0..problem.parameters()).map(|_| 0.5 * random.normal() as f32).collect()
    }

    /// The loss in f64, so that its differences mean something.
    fn exact_loss(problem: &Problem, weights: &[f64], data: &Data) -> f64 {
        let (features, hidden) = (problem.features, problem.hidden);
        let dot = |w: &[f64], x: &[f32]| w.iter().zip(x).map(|(w, x)| w * f64::from(*x)).sum::<f64>();
        let predict = |x: &[f32]| match problem.model {
            Model::Linear => dot(weights, x),
            Model::Mlp => {
                let (first, rest) = weights.split_at(hidden * features);
                let unit = |j: usize| (dot(&first[j * features..][..features], x) + rest[j]).tanh();
                (0..hidden).map(|j| rest[hidden + j] * unit(j)).sum::<f64>() + rest[2 * hidden]
            }
        };
        let loss = |row| 0.5 * (predict(data.input(row)) - f64::from(data.target(row))).powi(2);
        (0..data.len()).map(loss).sum()
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        for model in [Model::Linear, Model::Mlp] {
            let problem = small(model);
            // 7 examples, which is no multiple of what the kernels take at once.
            let data = Data::generate(&problem, Stream::Training, 7);
            let weights = some_weights(&problem);
            let mut gradient = vec![0.0; weights.len()];
            problem.add_gradient(&weights, &data, &[0, 1, 2, 3, 4, 5, 6], &mut gradient);
            let exact: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
            for at in 0..weights.len() {
                let shifted = |by: f64| {
                    let mut weights = exact.clone();
                    weights[at] += by;
                    exact_loss(&problem, &weights, &data)
                };
                let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                let error = (f64::from(gradient[at]) - difference).abs();
                assert!(
                    error < 1e-4 * difference.abs().max(1.0),
                    "{model:?} {at}: {} {difference}",
                    gradient[at]
                );
            }
            let mean = exact_loss(&problem, &exact, &data) / 7.0;
            assert!((problem.loss(&weights, &data) - mean).abs() < 1e-5 * mean);
        }
    }

    #[test]
    fn gradients_of_parts_add_up() {
        for model in [Model::Linear, Model::Mlp] {
            let problem = small(model);
            let data = Data::generate(&problem, Stream::Training, problem.examples);
            let weights = some_weights(&problem);
            let rows: Vec<usize> = (0..50).map(|place| problem.drawn(3, place)).collect();
            let mut whole = vec![0.0; weights.len()];
            problem.add_gradient(&weights, &data, &rows, &mut whole);
            let mut parts = vec![0.0; weights.len()];
            for part in [&rows[..9], &rows[9..10], &rows[10..]] {
                problem.add_gradient(&weights, &data, part, &mut parts);
            }
            for (whole, parts) in whole.iter().zip(&parts) {
                assert!((whole - parts).abs() < 1e-3, "{whole} {parts}");
            }
        }
    }

    #[test]
    fn draws_cover_the_examples_and_differ_between_iterations() {
        let problem = small(Model::Linear);
        let drawn = |iteration| (0..2000).map(|place| problem.drawn(iteration, place)).collect::<Vec<_>>();
        let mut seen = drawn(0);
        assert_ne!(seen, drawn(1));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), problem.examples);
    }
}
