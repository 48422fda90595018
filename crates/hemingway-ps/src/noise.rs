//! The gradient noise scale tr(Σ)/|G|² of McCandlish et al. (2018): at batches much smaller than it, twice the batch takes half the
//! iterations; at much larger ones it gains nothing.
//!
//! G is the gradient, Σ the covariance of the gradients of single inputs. The batch of B inputs is summed in k groups
//! of bᵢ inputs with mean gradients gᵢ; g is the mean gradient of all. Then E|gᵢ|² = |G|² + tr(Σ)/bᵢ and
//! E|g|² = |G|² + tr(Σ)/B, so that these are unbiased:
//!
//! ```text
//! tr(Σ) ≈ (Σ bᵢ|gᵢ|² − B|g|²) / (k − 1)
//! |G|²  ≈ |g|² − tr(Σ)/B
//! ```
//!
//! The ratio of two unbiased estimates is biased, so each is averaged over iterations before it is divided.

/// What one iteration says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// B.
    pub batch: f64,
    /// Σ bᵢ|gᵢ|².
    pub weighted_norms: f64,
    /// k.
    pub groups: u64,
    /// |g|².
    pub squared_norm: f64,
}

/// An estimate from iterations so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseScale {
    /// What remains of earlier iterations with each new one.
    remains: f64,
    trace: f64,
    squared_gradient: f64,
}

impl NoiseScale {
    /// All iterations count the same.
    pub fn of_all() -> NoiseScale {
        NoiseScale { remains: 1.0, trace: 0.0, squared_gradient: 0.0 }
    }

    /// About the last 20 iterations count: the noise scale grows as training goes on.
    pub fn of_recent() -> NoiseScale {
        NoiseScale { remains: 0.95, ..NoiseScale::of_all() }
    }

    /// Takes an iteration into account.
    pub fn add(&mut self, sample: &Sample) {
        if sample.groups < 2 {
            return;
        }
        let between = sample.weighted_norms - sample.batch * sample.squared_norm;
        let trace = between / (sample.groups - 1) as f64;
        self.trace = self.remains * self.trace + trace;
        let squared_gradient = sample.squared_norm - trace / sample.batch;
        self.squared_gradient = self.remains * self.squared_gradient + squared_gradient;
    }

    /// The noise scale in inputs, unless the gradient is lost in the noise.
    pub fn inputs(&self) -> Option<f64> {
        let scale = self.trace / self.squared_gradient;
        (self.trace > 0.0 && self.squared_gradient > 0.0 && scale.is_finite()).then_some(scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Data, Model, Problem, squared_norm};
    use crate::random::Stream;

    /// At w = 0 the linear model has G = −w*, |w*| = 1, and for independent uniform features of variance 1 and
    /// noise s: tr(Σ) = E|(w*·x + sε)x|² − 1 = (d − 1 + E x⁴) + s²d − 1, where E x⁴ = 9/5.
    #[test]
    fn the_noise_scale_of_linear_regression_is_found() {
        let (d, s) = (40, 0.5);
        let problem =
            Problem { model: Model::Linear, features: d, hidden: 1, examples: 50_000, noise: s, seed: 3 };
        let data = Data::generate(&problem, Stream::Training, problem.examples);
        let weights = problem.initial_weights();
        let mut estimate = NoiseScale::of_all();
        for iteration in 0..200 {
            let loads = [10, 50, 100];
            let batch: u64 = loads.iter().sum();
            let (mut whole, mut weighted_norms, mut first) = (vec![0.0; d], 0.0, 0);
            for load in loads {
                let rows: Vec<usize> =
                    (first..first + load).map(|place| problem.drawn(iteration, place)).collect();
                let mut gradient = vec![0.0; d];
                problem.add_gradient(&weights, &data, &rows, &mut gradient);
                weighted_norms += squared_norm(&gradient) / load as f64;
                whole.iter_mut().zip(&gradient).for_each(|(whole, part)| *whole += part);
                first += load;
            }
            let batch = batch as f64;
            let squared_norm = squared_norm(&whole) / (batch * batch);
            estimate.add(&Sample { batch, weighted_norms, groups: 3, squared_norm });
        }
        let expected = (d as f64 - 1.0 + 1.8) + s * s * d as f64 - 1.0;
        let found = estimate.inputs().unwrap();
        assert!((found / expected - 1.0).abs() < 0.1, "{found} instead of {expected}");
    }

    #[test]
    fn one_group_tells_nothing() {
        let mut estimate = NoiseScale::of_all();
        estimate.add(&Sample { batch: 10.0, weighted_norms: 5.0, groups: 1, squared_norm: 0.5 });
        assert_eq!(estimate.inputs(), None);
    }
}
