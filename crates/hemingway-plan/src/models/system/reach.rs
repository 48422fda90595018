//! How far a question is from what was measured.

use super::points::Point;
use super::terms::Configuration;

/// In logarithms, so that doubling counts the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Distance {
    /// To the nearest measured configuration.
    pub nearest: f64,
    /// Beyond the measured ranges of workers, and of fractions.
    pub outside: [f64; 2],
    /// The parts of `outside` along something that was never varied, taken together.
    pub unvaried: f64,
}

/// The distance of a configuration from measured ones.
pub(crate) fn distance(at: Configuration, measured: &[&Point]) -> Distance {
    let place = at.logs();
    let nearest = measured
        .iter()
        .map(|point| (0..2).map(|k| (point.at.logs()[k] - place[k]).powi(2)).sum::<f64>().sqrt())
        .fold(f64::INFINITY, f64::min);
    let (mut outside, mut unvaried) = ([0.0; 2], 0.0);
    for (k, &here) in place.iter().enumerate() {
        let low = measured.iter().map(|point| point.at.logs()[k]).fold(f64::INFINITY, f64::min);
        let high = measured.iter().map(|point| point.at.logs()[k]).fold(f64::NEG_INFINITY, f64::max);
        let beyond = (low - here).max(here - high).max(0.0);
        outside[k] = beyond;
        if high - low < 1e-9 {
            unvaried += beyond * beyond;
        }
    }
    Distance { nearest, outside, unvaried: f64::sqrt(unvaried) }
}

/// The configuration itself when it is within the measured ranges, else the nearest one that is.
pub(crate) fn nearest_inside(at: Configuration, measured: &[Point]) -> Configuration {
    let (workers, fractions) = ranges(measured);
    Configuration {
        workers: at.workers.clamp(workers.0, workers.1),
        fraction: at.fraction.clamp(fractions.0, fractions.1),
    }
}

/// Says how far beyond the measured range a configuration is; nothing when it is inside.
pub(crate) fn describe(at: Configuration, measured: &[Point]) -> Option<String> {
    let (workers, fractions) = ranges(measured);
    let mut parts = Vec::new();
    for (name, here, (low, high)) in [("workers", at.workers, workers), ("fraction", at.fraction, fractions)]
    {
        if here > high {
            parts.push(format!("{name} {here} is {:.2} times the largest measured, {high}", here / high));
        } else if here < low {
            parts.push(format!("{name} {here} is {:.2} times the smallest measured, {low}", here / low));
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The smallest and largest measured workers and fractions.
fn ranges(measured: &[Point]) -> ((f64, f64), (f64, f64)) {
    let range = |value: fn(&Point) -> f64| {
        let values = measured.iter().map(value);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    (range(|point| point.at.workers), range(|point| point.at.fraction))
}
