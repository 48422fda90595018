//! What is not known of a function, as a normal distribution over its values at some places.
//!
//! Only covariances are kept: how much an observation narrows the belief does not depend on what is observed, which is
//! what makes experiments plannable.

use crate::posterior::Posterior;

/// One thing that a run shows: a place of one belief, and how blurred it is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Look {
    /// Which belief.
    pub belief: usize,
    /// Which place of it.
    pub place: usize,
    /// A variance.
    pub noise: f64,
}

/// What is not known of a function at some places; the first ones are those of interest.
#[derive(Debug, Clone)]
pub(crate) struct Belief {
    targets: usize,
    posterior: Posterior,
}

impl Belief {
    /// From places, of which so many at the beginning are of interest.
    pub fn new<P>(places: &[P], targets: usize, covariance: impl Fn(&P, &P) -> f64) -> Belief {
        Belief { targets, posterior: Posterior::new(places, covariance) }
    }

    /// Narrowed by one observation, whatever it shows.
    pub fn observe(&mut self, place: usize, noise: f64) {
        self.posterior.condition(place, 0.0, noise);
    }

    /// The average variance at the places of interest.
    pub fn variance(&self) -> f64 {
        (0..self.targets).map(|place| self.posterior.variance(place)).sum::<f64>() / self.targets as f64
    }

    /// By how much an observation would lower [`Belief::variance`].
    pub fn narrowing(&self, place: usize, noise: f64) -> f64 {
        self.posterior.narrowing(place, noise, self.targets)
    }

    /// What an observation would tell, in nats.
    pub fn information(&self, place: usize, noise: f64) -> f64 {
        self.posterior.information(place, noise)
    }
}

/// Nearness as the covariance of a smooth function with variance one: 1 at the same place, nothing far away.
pub(crate) fn near(distances: &[f64]) -> f64 {
    (-0.5 * distances.iter().map(|d| d * d).sum::<f64>()).exp()
}
