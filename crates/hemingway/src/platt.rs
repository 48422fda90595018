//! Probabilities from margins.
//!
//! The logistic loss gives them by itself: 1/(1 + exp(−margin)) is the probability of the positive class. Margins of
//! other losses only order rows; Platt scaling puts a logistic curve over them, whose slope and intercept are fitted to
//! rows that took no part in training. On the training rows themselves margins are larger than on others (the hinge loss
//! pushes them to 1 or beyond), so a curve fitted there would be too sure.
//!
//! Reference: Platt 1999, "Probabilistic outputs for support vector machines", for the curve and its targets; Lin, Lin and
//! Weng 2007, "A note on Platt's probabilistic outputs", for Newton's method with backtracking in place of what Platt did.

use serde::{Deserialize, Serialize};

/// A logistic curve: the probability of the positive class is 1/(1 + exp(−(slope · margin + intercept))).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlattScaling {
    /// By what margins are multiplied.
    pub slope: f64,
    /// What is added.
    pub intercept: f64,
}

/// Newton steps at most; a handful is usual for two parameters.
const MOST_STEPS: usize = 100;
/// The slope of the objective per row, on standardised margins, at which the fit ends.
const SMALL_SLOPE: f64 = 1e-10;
/// Added to the diagonal of the Hessian per row, so that margins that are all alike can be fitted too.
const RIDGE: f64 = 1e-12;
/// The share of the decrease that the slope promises which a step has to keep.
const SUFFICIENT: f64 = 1e-4;
/// A step shorter than this changes nothing any more.
const SHORTEST: f64 = 1e-10;

impl PlattScaling {
    /// The curve of the logistic loss.
    pub const LOGISTIC: PlattScaling = PlattScaling { slope: 1.0, intercept: 0.0 };

    /// Fits the curve to margins and classes; nothing unless there are rows of both.
    pub fn fit(margins: &[f64], is_positive: &[bool]) -> Option<PlattScaling> {
        let positive = is_positive.iter().filter(|positive| **positive).count() as f64;
        let negative = is_positive.len() as f64 - positive;
        if positive == 0.0 || negative == 0.0 {
            return None;
        }
        // Platt's targets: as if each class had a row more, spread over both, so that rows that a margin tells apart
        // perfectly do not ask for an infinite slope.
        let (yes, no) = ((positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0));
        let targets: Vec<f64> = is_positive.iter().map(|positive| if *positive { yes } else { no }).collect();
        let (mean, deviation) = moments(margins);
        let standardised: Vec<f64> = margins.iter().map(|margin| (margin - mean) / deviation).collect();
        let begin = Curve { slope: 0.0, intercept: ((positive + 1.0) / (negative + 1.0)).ln() };
        let Curve { slope, intercept } = begin.improved(&standardised, &targets);
        Some(PlattScaling { slope: slope / deviation, intercept: intercept - slope * mean / deviation })
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.slope.is_finite() && self.intercept.is_finite()
    }

    /// The probability of the positive class.
    pub fn positive(&self, margin: f64) -> f64 {
        logistic(self.slope * margin + self.intercept)
    }

    /// The logarithm of the probability of the positive class.
    pub(crate) fn log_positive(&self, margin: f64) -> f64 {
        let z = self.slope * margin + self.intercept;
        z.min(0.0) - (-z.abs()).exp().ln_1p()
    }

    /// The probability of the negative class, exact where it is tiny.
    pub fn negative(&self, margin: f64) -> f64 {
        logistic(-(self.slope * margin + self.intercept))
    }
}

/// A curve over standardised margins, while it is fitted.
#[derive(Clone, Copy)]
struct Curve {
    slope: f64,
    intercept: f64,
}

impl Curve {
    /// Newton's method with backtracking.
    fn improved(mut self, margins: &[f64], targets: &[f64]) -> Curve {
        let mut value = self.value(margins, targets);
        for _ in 0..MOST_STEPS {
            let (gradient, step) = self.newton(margins, targets);
            if gradient.iter().all(|slope| slope.abs() < SMALL_SLOPE) {
                break;
            }
            let promised = gradient[0] * step[0] + gradient[1] * step[1];
            let lengths = std::iter::successors(Some(1.0), |length| Some(length / 2.0));
            let tried = lengths.take_while(|length| *length > SHORTEST).map(|length| {
                let Curve { slope, intercept } = self;
                let next = Curve { slope: slope + length * step[0], intercept: intercept + length * step[1] };
                (length, next, next.value(margins, targets))
            });
            let mut good = tried.filter(|(length, _, at)| *at <= value + SUFFICIENT * length * promised);
            let Some((_, next, at)) = good.next() else { break };
            (self, value) = (next, at);
        }
        self
    }

    /// The mean cross-entropy.
    fn value(self, margins: &[f64], targets: &[f64]) -> f64 {
        let loss = |(margin, target): (&f64, &f64)| {
            let z = self.slope * margin + self.intercept;
            // ln(1 + exp z) − target · z, without overflow.
            z.max(0.0) + (-z.abs()).exp().ln_1p() - target * z
        };
        margins.iter().zip(targets).map(loss).sum::<f64>() / margins.len() as f64
    }

    /// Its gradient, and Newton's step.
    fn newton(self, margins: &[f64], targets: &[f64]) -> ([f64; 2], [f64; 2]) {
        let rows = margins.len() as f64;
        let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 3]);
        for (margin, target) in margins.iter().zip(targets) {
            let probability = logistic(self.slope * margin + self.intercept);
            let (error, curvature) = (probability - target, probability * (1.0 - probability));
            gradient = [gradient[0] + error * margin, gradient[1] + error];
            let more = [curvature * margin * margin, curvature * margin, curvature];
            hessian = [hessian[0] + more[0], hessian[1] + more[1], hessian[2] + more[2]];
        }
        let [g, h] = gradient.map(|sum| sum / rows);
        let [aa, ab, bb] = hessian.map(|sum| sum / rows);
        let (aa, bb) = (aa + RIDGE, bb + RIDGE);
        let determinant = aa * bb - ab * ab;
        ([g, h], [-(bb * g - ab * h) / determinant, -(aa * h - ab * g) / determinant])
    }
}

/// Mean and standard deviation; a deviation of 1 where margins are all alike.
fn moments(margins: &[f64]) -> (f64, f64) {
    let rows = margins.len() as f64;
    let mean = margins.iter().sum::<f64>() / rows;
    let deviation = (margins.iter().map(|margin| (margin - mean).powi(2)).sum::<f64>() / rows).sqrt();
    (mean, if deviation > 0.0 { deviation } else { 1.0 })
}

fn logistic(z: f64) -> f64 {
    // Each branch divides by what cannot overflow.
    if z >= 0.0 { 1.0 / (1.0 + (-z).exp()) } else { z.exp() / (1.0 + z.exp()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// At a margin of ±1 three of four rows are of the class that its sign says, many times over.
    fn three_in_four(times: usize) -> (Vec<f64>, Vec<bool>) {
        let rows = [(1.0, true), (1.0, true), (1.0, true), (1.0, false)];
        let rows = rows.into_iter().flat_map(|(margin, positive)| [(margin, positive), (-margin, !positive)]);
        rows.collect::<Vec<_>>().repeat(times).into_iter().unzip()
    }

    #[test]
    fn the_curve_goes_through_the_shares_that_are_there() {
        let times = 1000;
        let (margins, positive) = three_in_four(times);
        let fitted = PlattScaling::fit(&margins, &positive).unwrap();
        // Three in four, but for the row that each class has more.
        let expected = 0.75 - 0.5 / (4.0 * times as f64 + 2.0);
        assert!((fitted.positive(1.0) - expected).abs() < 1e-9, "{fitted:?}");
        assert!(
            (fitted.negative(-1.0) - expected).abs() < 1e-9 && fitted.intercept.abs() < 1e-9,
            "{fitted:?}"
        );
    }

    #[test]
    fn few_rows_are_drawn_towards_both_classes() {
        // With targets 3/4 and 1/4 at margins of 1 and −1 the best curve has σ(slope) = 3/4.
        let fitted = PlattScaling::fit(&[1.0, 1.0, -1.0, -1.0], &[true, true, false, false]).unwrap();
        assert!((fitted.slope - 3f64.ln()).abs() < 1e-6 && fitted.intercept.abs() < 1e-6, "{fitted:?}");
    }

    #[test]
    fn margins_without_information_give_the_share_of_the_class() {
        let fitted = PlattScaling::fit(&[5.0; 4], &[true, false, false, false]).unwrap();
        let expected = (2.0 / 3.0 + 3.0 / 5.0) / 4.0;
        assert!((fitted.positive(5.0) - expected).abs() < 1e-6, "{}", fitted.positive(5.0));
        assert_eq!(PlattScaling::fit(&[1.0, 2.0], &[true, true]), None);
        assert_eq!(PlattScaling::fit(&[], &[]), None);
    }

    #[test]
    fn probabilities_of_both_classes_are_exact_however_small() {
        let [tiny, huge] = [PlattScaling::LOGISTIC.positive(-700.0), PlattScaling::LOGISTIC.positive(1e300)];
        assert!(tiny > 0.0 && tiny < 1e-300 && huge == 1.0);
        assert_eq!(PlattScaling::LOGISTIC.negative(700.0), tiny);
        assert_eq!(PlattScaling::LOGISTIC.positive(0.0), 0.5);
        let logarithm = |margin: f64| PlattScaling::LOGISTIC.log_positive(margin);
        assert!((logarithm(-3.0) - PlattScaling::LOGISTIC.positive(-3.0).ln()).abs() < 1e-12);
        assert_eq!((logarithm(-1e5), logarithm(1e5)), (-1e5, 0.0));
    }

    proptest! {
        /// Nothing of the fit depends on the unit of margins, and no curve nearby is better.
        #[test]
        fn fits_are_optimal_in_any_unit(
            rows in prop::collection::vec((-10i32..10, any::<bool>()), 4..60),
            unit in prop::sample::select(vec![1e-6, 1.0, 1e9]),
        ) {
            let positive: Vec<bool> = rows.iter().map(|(_, positive)| *positive).collect();
            let margins: Vec<f64> = rows.iter().map(|(margin, _)| f64::from(*margin)).collect();
            let scaled: Vec<f64> = margins.iter().map(|margin| margin * unit).collect();
            let Some(fitted) = PlattScaling::fit(&margins, &positive) else { return Ok(()) };
            let same = PlattScaling::fit(&scaled, &positive).unwrap();
            let near = |one: f64, other: f64| (one - other).abs() <= 1e-5 * (1.0 + one.abs());
            prop_assert!(near(fitted.slope, same.slope * unit), "{fitted:?} {same:?}");
            let ones = positive.iter().filter(|positive| **positive).count() as f64;
            let (yes, no) = ((ones + 1.0) / (ones + 2.0), 1.0 / (positive.len() as f64 - ones + 2.0));
            let targets: Vec<f64> = positive.iter().map(|is| if *is { yes } else { no }).collect();
            let value = |slope: f64, intercept: f64| Curve { slope, intercept }.value(&margins, &targets);
            let best = value(fitted.slope, fitted.intercept);
            for (slope, intercept) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
                prop_assert!(best <= value(fitted.slope + slope, fitted.intercept + intercept) + 1e-12);
            }
        }
    }
}
