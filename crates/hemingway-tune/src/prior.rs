//! What is believed of a number before anything was measured.

use crate::random::{Rng, normal, uniform};

/// A distribution of one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// Around a mean.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// Between 0 and 1, and the less likely the larger: a thing that is mostly absent.
    Rare {
        /// How fast the density falls: e^(−rate·x).
        rate: f64,
    },
}

impl Prior {
    /// Around a mean.
    pub fn normal(mean: f64, deviation: f64) -> Prior {
        Prior::Normal { mean, deviation }
    }

    /// The logarithm of a positive number around its median, give or take a factor.
    pub fn log_normal(median: f64, factor: f64) -> Prior {
        Prior::Normal { mean: median.ln(), deviation: factor.ln() }
    }

    /// A number drawn from it.
    pub fn draw(&self, rng: &mut Rng) -> f64 {
        match *self {
            Prior::Normal { mean, deviation } => mean + deviation * normal(rng),
            Prior::Rare { rate } => -(1.0 - uniform(rng) * (1.0 - (-rate).exp())).ln() / rate,
        }
    }

    /// The logarithm of the density, but for a constant.
    pub fn log_density(&self, value: f64) -> f64 {
        match *self {
            Prior::Normal { mean, deviation } => -0.5 * ((value - mean) / deviation).powi(2),
            Prior::Rare { rate } if (0.0..=1.0).contains(&value) => -rate * value,
            Prior::Rare { .. } => f64::NEG_INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn draws_are_as_the_density_says() {
        let mut rng = stream(1, "prior", 0);
        let rare = Prior::Rare { rate: 4.0 };
        let draws: Vec<f64> = (0..20_000).map(|_| rare.draw(&mut rng)).collect();
        assert!(draws.iter().all(|draw| rare.log_density(*draw).is_finite()));
        // ∫ x e^(−4x) / ∫ e^(−4x) over 0 to 1
        let mean = 0.25 - (-4f64).exp() / (1.0 - (-4f64).exp());
        assert!((draws.iter().sum::<f64>() / 20_000.0 - mean).abs() < 0.005);
        assert_eq!(rare.log_density(1.1), f64::NEG_INFINITY);
    }
}
