//! A number with how far it may be off.

use serde::{Deserialize, Serialize};

/// A 95 % interval has so many standard deviations on either side.
const DEVIATIONS: f64 = 1.96;

/// A number that was estimated from a sample, with its 95 % interval; one that is exact has an interval of no width.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// It is hardly below this,
    pub low: f64,
    /// most likely about this,
    pub mean: f64,
    /// and hardly above this.
    pub high: f64,
}

impl Interval {
    /// A number that is known.
    pub fn exact(value: f64) -> Interval {
        Interval { low: value, mean: value, high: value }
    }

    /// Whether it is known.
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }

    /// A share of which so many out of so many tries are known (Wilson's interval).
    pub(crate) fn share(hits: usize, tries: usize) -> Interval {
        if tries == 0 {
            return Interval { low: 0.0, mean: 0.0, high: 1.0 };
        }
        let (n, share, z) = (tries as f64, hits as f64 / tries as f64, DEVIATIONS * DEVIATIONS);
        let middle = (share + z / (2.0 * n)) / (1.0 + z / n);
        let half = (share * (1.0 - share) / n + z / (4.0 * n * n)).sqrt() * DEVIATIONS / (1.0 + z / n);
        Interval {
            low: (middle - half).clamp(0.0, share),
            mean: share,
            high: (middle + half).clamp(share, 1.0),
        }
    }

    /// The mean of many numbers of which some are known.
    pub(crate) fn mean(numbers: &[f64]) -> Interval {
        let n = numbers.len().max(1) as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        Interval::around(mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
    }

    /// A number that is not negative, with its standard deviation.
    pub(crate) fn around(mean: f64, deviation: f64) -> Interval {
        let half = DEVIATIONS * deviation;
        Interval { low: (mean - half).max(0.0_f64.min(mean)), mean, high: mean + half }
    }

    /// The same times a factor that is not negative.
    pub(crate) fn times(self, factor: f64) -> Interval {
        Interval { low: factor * self.low, mean: factor * self.mean, high: factor * self.high }
    }
}
