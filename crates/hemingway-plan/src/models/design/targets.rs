//! The posterior of one quantity at the places where it is to be predicted and at those where it can be measured.
//!
//! How much a measurement narrows a posterior does not depend on its outcome, which is what makes experiments
//! plannable.

use crate::posterior::Posterior;

/// One thing that a run shows: one quantity at one place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measurement {
    /// Which quantity: seconds or rounds.
    pub quantity: usize,
    /// Which place of it.
    pub place: usize,
    /// The variance of the noise.
    pub noise: f64,
}

/// The posterior of a quantity at some places; the first ones are those to be predicted.
#[derive(Debug, Clone)]
pub(crate) struct TargetPosterior {
    targets: usize,
    posterior: Posterior,
}

impl TargetPosterior {
    /// The prior at these places, of which so many at the beginning are to be predicted.
    pub fn new<P>(places: &[P], targets: usize, covariance: impl Fn(&P, &P) -> f64) -> TargetPosterior {
        TargetPosterior { targets, posterior: Posterior::new(places, covariance) }
    }

    /// Conditions on one measurement, whatever it shows.
    pub fn observe(&mut self, place: usize, noise: f64) {
        self.posterior.condition(place, 0.0, noise);
    }

    /// The average variance at the places to be predicted.
    pub fn variance(&self) -> f64 {
        (0..self.targets).map(|place| self.posterior.variance(place)).sum::<f64>() / self.targets as f64
    }

    /// By how much a measurement would lower [`TargetPosterior::variance`].
    pub fn narrowing(&self, place: usize, noise: f64) -> f64 {
        self.posterior.narrowing(place, noise, self.targets)
    }

    /// The information in a measurement, in nats.
    pub fn information(&self, place: usize, noise: f64) -> f64 {
        self.posterior.information(place, noise)
    }
}

/// Nearness as the covariance of a smooth function with variance one: 1 at the same place, nothing far away.
pub(crate) fn near(distances: &[f64]) -> f64 {
    (-0.5 * distances.iter().map(|d| d * d).sum::<f64>()).exp()
}
