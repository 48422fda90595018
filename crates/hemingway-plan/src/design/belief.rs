//! What is not known of a function, as a normal distribution over its values at some places.
//!
//! Only covariances are kept: how much an observation narrows the belief does not depend on what is observed, which is
//! what makes experiments plannable.

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

/// The covariances of all places; the first ones are those of interest.
#[derive(Debug, Clone)]
pub(crate) struct Belief {
    size: usize,
    targets: usize,
    covariance: Vec<f64>,
}

impl Belief {
    /// From places, of which so many at the beginning are of interest.
    pub fn new<P>(places: &[P], targets: usize, covariance: impl Fn(&P, &P) -> f64) -> Belief {
        let pairs = places.iter().flat_map(|a| places.iter().map(|b| covariance(a, b)));
        Belief { size: places.len(), targets, covariance: pairs.collect() }
    }

    /// Narrowed by one observation.
    pub fn observe(&mut self, place: usize, noise: f64) {
        let column: Vec<f64> = self.row(place).to_vec();
        let total = column[place] + noise;
        for (row, factor) in self.covariance.chunks_mut(self.size).zip(&column) {
            let factor = factor / total;
            row.iter_mut().zip(&column).for_each(|(value, other)| *value -= factor * other);
        }
    }

    /// The average variance at the places of interest.
    pub fn variance(&self) -> f64 {
        (0..self.targets).map(|k| self.row(k)[k]).sum::<f64>() / self.targets as f64
    }

    /// By how much an observation would lower [`Belief::variance`].
    pub fn narrowing(&self, place: usize, noise: f64) -> f64 {
        let row = self.row(place);
        let sum: f64 = row[..self.targets].iter().map(|c| c * c).sum();
        sum / (row[place] + noise) / self.targets as f64
    }

    /// What an observation would tell, in nats: half the change of the logarithm of the determinant.
    pub fn information(&self, place: usize, noise: f64) -> f64 {
        0.5 * (self.row(place)[place] / noise).max(0.0).ln_1p()
    }

    fn row(&self, place: usize) -> &[f64] {
        &self.covariance[place * self.size..(place + 1) * self.size]
    }
}

/// Nearness as the covariance of a smooth function with variance one: 1 at the same place, nothing far away.
pub(crate) fn near(distances: &[f64]) -> f64 {
    (-0.5 * distances.iter().map(|d| d * d).sum::<f64>()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straight line, of which two points are all there is to know.
    fn line() -> Belief {
        Belief::new(&[0.0, 0.5, 1.0, 2.0], 2, |a: &f64, b: &f64| 1.0 + a * b)
    }

    #[test]
    fn two_exact_points_tell_a_line() {
        let mut belief = line();
        assert_eq!(belief.variance(), 0.5 * (1.0 + 1.25));
        belief.observe(2, 1e-9);
        assert!(belief.variance() > 0.1);
        belief.observe(3, 1e-9);
        assert!(belief.variance() < 1e-6);
    }

    #[test]
    fn what_is_foreseen_happens() {
        let mut belief = line();
        for (place, noise) in [(3, 0.1), (0, 0.3), (2, 0.01)] {
            let (before, foreseen) = (belief.variance(), belief.narrowing(place, noise));
            belief.observe(place, noise);
            assert!((before - belief.variance() - foreseen).abs() < 1e-12);
        }
    }
}
