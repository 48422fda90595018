//! How good predictions were, in two figures: the median relative error, and how often the interval held.

use hemingway_plan::Estimate;
use serde::Serialize;

/// A prediction beside what came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Check {
    pub predicted: Estimate,
    pub truth: f64,
}

/// How good predictions were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Accuracy {
    /// How many predictions.
    pub count: usize,
    /// Half of them were nearer, as a share of the truth.
    pub median_error: f64,
    /// The share of intervals that held the truth; 90 % were to.
    pub coverage: f64,
}

impl Accuracy {
    /// Of no prediction nothing is said.
    pub(crate) fn of(checks: &[Check]) -> Option<Accuracy> {
        let errors = checks.iter().map(|check| (check.predicted.mean / check.truth - 1.0).abs());
        let held = checks.iter().filter(|check| check.holds()).count();
        Some(Accuracy {
            count: checks.len(),
            median_error: median(errors.collect())?,
            coverage: held as f64 / checks.len() as f64,
        })
    }
}

impl Check {
    fn holds(&self) -> bool {
        let Estimate { low, high, .. } = self.predicted;
        (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&self.truth)
    }
}

/// The median; what is not a number counts as very large.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = f64::INFINITY);
    values.sort_by(f64::total_cmp);
    let (lower, upper) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shares_of_the_truth() {
        let check = |mean: f64, truth: f64| Check {
            predicted: Estimate { low: mean - 1.0, mean, high: mean + 1.0 },
            truth,
        };
        let accuracy = Accuracy::of(&[check(11.0, 10.0), check(15.0, 10.0), check(f64::NAN, 10.0)]).unwrap();
        assert_eq!(accuracy, Accuracy { count: 3, median_error: 0.5, coverage: 1.0 / 3.0 });
        assert_eq!(Accuracy::of(&[]), None);
    }
}
