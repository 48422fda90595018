//! What an estimate says of single outcomes: what a share of runs stays below.
//!
//! An estimate has three figures. A log-normal through the median, with a width of its own on either side, is the
//! simplest distribution that has all three where they belong, and times and rounds vary by factors. An estimate that is
//! not positive (the accuracy of a bad model, say) is taken as a normal in two pieces instead.

use crate::Estimate;

/// Standard deviations from the median to one outcome in twenty.
pub(crate) const TWENTIETH: f64 = 1.644_853_6;

impl Estimate {
    /// What a share of outcomes, from 0 to 1, stays below.
    pub fn quantile(&self, share: f64) -> f64 {
        let deviations = deviations(share) / TWENTIETH;
        let side = if deviations < 0.0 { self.low } else { self.high };
        if deviations == 0.0 || side == self.mean {
            self.mean
        } else if self.low > 0.0 {
            self.mean * (side / self.mean).powf(deviations.abs())
        } else {
            self.mean + (side - self.mean) * deviations.abs()
        }
    }

    /// With a second, independent reason for being wrong, which alone would have the same median: on either side the
    /// widths add as independent ones do, in logarithms where all is positive.
    pub(crate) fn widened(&self, low: f64, high: f64) -> Estimate {
        if self.low > 0.0 && low > 0.0 {
            let side = |a: f64, b: f64| (a / self.mean).ln().hypot((b / self.mean).ln());
            let (below, above) = (side(self.low, low), side(self.high, high));
            Estimate { low: self.mean * (-below).exp(), mean: self.mean, high: self.mean * above.exp() }
        } else {
            let side = |a: f64, b: f64| (a - self.mean).hypot(b - self.mean);
            let (below, above) = (side(self.low, low), side(self.high, high));
            Estimate { low: self.mean - below, mean: self.mean, high: self.mean + above }
        }
    }
}

/// Standard deviations from the mean of a normal distribution below which a share lies, to about 0.0005 (Hastings'
/// rational approximation). Shares outside (0, 1) are as far out as can be computed.
pub(crate) fn deviations(share: f64) -> f64 {
    let tail = share.min(1.0 - share).clamp(1e-12, 0.5);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let size = (t - above / below).max(0.0);
    if share < 0.5 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 2e-3 * expected.abs().max(0.1), "{found}, not {expected}");
    }

    #[test]
    fn the_three_figures_are_where_they_belong() {
        for (low, mean, high) in [(1.0, 2.0, 8.0), (3.0, 3.0, 3.5), (-1.0, 0.5, 0.7), (5.0, 5.0, 5.0)] {
            let estimate = Estimate { low, mean, high };
            close(estimate.quantile(0.05), low);
            close(estimate.quantile(0.5), mean);
            close(estimate.quantile(0.95), high);
        }
    }

    #[test]
    fn quantiles_rise() {
        let estimate = Estimate { low: 1.0, mean: 2.0, high: 8.0 };
        let shares = [0.0, 0.01, 0.2, 0.49, 0.5, 0.51, 0.8, 0.99, 1.0];
        let values: Vec<f64> = shares.iter().map(|&share| estimate.quantile(share)).collect();
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1] && pair[1].is_finite()), "{values:?}");
    }

    #[test]
    fn widths_add_as_independent_ones_do() {
        let estimate = Estimate { low: 10.0 / 8f64.exp(), mean: 10.0, high: 10.0 * 3f64.exp() };
        let both = estimate.widened(10.0 / 6f64.exp(), 10.0 * 4f64.exp());
        close(both.low, 10.0 / 10f64.exp());
        close(both.high, 10.0 * 5f64.exp());
        assert_eq!(both.widened(10.0, 10.0).mean, 10.0);
    }
}
