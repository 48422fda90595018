//! What is not known of some figures, as one normal distribution over all of them.
//!
//! Conditioning on an observation moves and narrows everything that hangs together with it. By how much it narrows does
//! not depend on what is observed, which is what makes experiments plannable.

/// A normal distribution over several figures.
#[derive(Debug, Clone)]
pub(crate) struct Posterior {
    mean: Vec<f64>,
    covariance: Vec<f64>,
}

impl Posterior {
    /// Before anything was observed: all figures are 0 on average, and vary together as given.
    pub fn new<P>(places: &[P], covariance: impl Fn(&P, &P) -> f64) -> Posterior {
        let pairs = places.iter().flat_map(|a| places.iter().map(|b| covariance(a, b)));
        let covariance = pairs.collect();
        Posterior { mean: vec![0.0; places.len()], covariance }
    }

    pub fn mean(&self, place: usize) -> f64 {
        self.mean[place]
    }

    pub fn variance(&self, place: usize) -> f64 {
        self.row(place)[place].max(0.0)
    }

    /// Conditions on a figure that was observed with this variance of the noise.
    pub fn condition(&mut self, place: usize, value: f64, noise: f64) {
        let column: Vec<f64> = self.row(place).to_vec();
        let total = column[place] + noise;
        if total <= 0.0 {
            return;
        }
        let surprise = (value - self.mean[place]) / total;
        self.mean.iter_mut().zip(&column).for_each(|(mean, covariance)| *mean += covariance * surprise);
        let size = self.mean.len();
        for (row, factor) in self.covariance.chunks_mut(size).zip(&column) {
            let factor = factor / total;
            row.iter_mut().zip(&column).for_each(|(value, other)| *value -= factor * other);
        }
    }

    /// Mean and variance of one figure if another were observed, without keeping it.
    pub fn given(&self, place: usize, (at, value, noise): (usize, f64, f64)) -> (f64, f64) {
        let (shared, total) = (self.row(at)[place], self.row(at)[at] + noise);
        if total <= 0.0 {
            return (self.mean(place), self.variance(place));
        }
        let mean = self.mean[place] + shared / total * (value - self.mean[at]);
        (mean, (self.variance(place) - shared * shared / total).max(0.0))
    }

    /// By how much an observation would lower the average variance of the first figures.
    pub fn narrowing(&self, place: usize, noise: f64, first: usize) -> f64 {
        let row = self.row(place);
        let sum: f64 = row[..first].iter().map(|c| c * c).sum();
        sum / (row[place] + noise) / first as f64
    }

    /// What an observation would tell, in nats: half the change of the logarithm of the determinant.
    pub fn information(&self, place: usize, noise: f64) -> f64 {
        0.5 * (self.row(place)[place] / noise).max(0.0).ln_1p()
    }

    fn row(&self, place: usize) -> &[f64] {
        &self.covariance[place * self.mean.len()..(place + 1) * self.mean.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straight line, of which two points are all there is to know.
    fn line() -> Posterior {
        Posterior::new(&[0.0, 0.5, 1.0, 2.0], |a: &f64, b: &f64| 1.0 + a * b)
    }

    #[test]
    fn two_exact_points_tell_a_line() {
        let mut line = line();
        line.condition(2, 3.0, 1e-9);
        assert!(line.variance(0) > 0.1);
        line.condition(3, 5.0, 1e-9);
        assert!(line.variance(0) < 1e-6 && line.variance(1) < 1e-6);
        assert!((line.mean(0) - 1.0).abs() < 1e-6 && (line.mean(1) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn what_would_be_is_what_is_then() {
        let mut line = line();
        for (place, value, noise) in [(3, 2.0, 0.1), (0, -1.0, 0.3), (2, 0.5, 0.01)] {
            let average = |line: &Posterior| 0.5 * (line.variance(0) + line.variance(1));
            let (before, narrowing) = (average(&line), line.narrowing(place, noise, 2));
            let given: Vec<(f64, f64)> = (0..4).map(|k| line.given(k, (place, value, noise))).collect();
            line.condition(place, value, noise);
            assert!((before - average(&line) - narrowing).abs() < 1e-12);
            for (k, (mean, variance)) in given.into_iter().enumerate() {
                assert!((mean - line.mean(k)).abs() < 1e-12 && (variance - line.variance(k)).abs() < 1e-12);
            }
        }
    }
}
