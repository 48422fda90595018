//! The proof of an error: a bracket around P*.

use serde::{Deserialize, Serialize};

use crate::Error;

/// P* lies between a lower bound proved by a dual point and the lowest objective seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The lowest P seen: an upper bound on P*.
    pub primal: f64,
    /// The highest D seen: a lower bound on P*.
    pub dual: f64,
    /// P(0), the scale where no positive lower bound is known.
    pub at_zero: f64,
}

impl Certificate {
    /// Nothing is proved yet but that losses are not negative.
    pub fn none(at_zero: f64) -> Certificate {
        Certificate { primal: f64::INFINITY, dual: 0.0, at_zero }
    }

    /// A bound on (P − P*)/P*: (P − L)/L with L the lower bound, or over P(0) where L is not positive.
    pub fn error(&self) -> f64 {
        let gap = (self.primal - self.dual).max(0.0) + ROUNDING * self.primal.abs();
        if gap == 0.0 { 0.0 } else { gap / self.scale() }
    }

    /// Takes over a lower bound that was computed as a sum over so many rows. What rounding may have added is taken
    /// off first: terms are of the size of P(0), however small their sum.
    pub fn raise(&mut self, bound: f64, rows: usize) {
        let blur = f64::EPSILON * (4.0 + (rows as f64).sqrt()) * self.at_zero;
        if bound - blur > self.dual {
            self.dual = bound - blur;
        }
    }

    /// Refuses a bracket that is turned around: a lower bound above an objective that was reached is no proof but a bug,
    /// or a proof of other data.
    pub fn check(&self) -> Result<(), Error> {
        let Certificate { primal, dual, at_zero } = *self;
        let rounding = CROSSED * primal.abs() + ROUNDING * at_zero;
        if dual - primal > rounding { Err(Error::Crossed { primal, dual }) } else { Ok(()) }
    }

    /// What the error is relative to.
    pub fn scale(&self) -> f64 {
        if self.relative_to_start() { self.at_zero } else { self.dual }
    }

    /// Whether no positive lower bound is known, so that the error is relative to P(0).
    pub fn relative_to_start(&self) -> bool {
        self.dual <= 0.0
    }
}

/// Sums of many doubles are not exact; an error below this share of the objective is not claimed.
const ROUNDING: f64 = 1e-13;
/// Bounds that cross by less than this share of the objective do so by rounding.
const CROSSED: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::Certificate;

    #[test]
    fn error_is_relative_to_the_lower_bound() {
        let error = Certificate { primal: 1.1, dual: 1.0, at_zero: 9.0 }.error();
        assert!((error - 0.1).abs() < 1e-12, "{error}");
        assert!(
            Certificate { primal: 1.0, dual: 1.0, at_zero: 9.0 }.error() > 0.0,
            "rounding is not claimed away"
        );
    }

    #[test]
    fn a_bracket_turned_around_is_an_error_beyond_rounding() {
        let check = |primal, dual| Certificate { primal, dual, at_zero: 0.7 }.check();
        assert!(check(0.5, 0.4).is_ok());
        assert!(check(0.5, 0.5 + 1e-14).is_ok(), "rounding");
        assert!(check(f64::INFINITY, 0.4).is_ok(), "nothing reached yet");
        let message = check(0.01267, 0.6034).unwrap_err().to_string();
        assert!(message.contains("0.01267") && message.contains("0.6034"), "{message}");
        assert!(check(0.5, 0.500001).is_err());
    }

    #[test]
    fn without_a_positive_bound_it_is_relative_to_zero_weights() {
        let certificate = Certificate { primal: 0.5, dual: 0.0, at_zero: 2.0 };
        assert!(certificate.relative_to_start());
        assert!((certificate.error() - 0.25).abs() < 1e-12);
        assert_eq!(Certificate::none(1.0).error(), f64::INFINITY);
    }
}
