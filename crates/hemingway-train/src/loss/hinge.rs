//! max(0, 1 − yp).

use super::{Shape, Tally, Visit};

/// See [`Loss::Hinge`](super::Loss::Hinge).
#[derive(Clone, Copy)]
pub struct Hinge;

/// Half-width of the band around margin 1 in which a guessed dual is between its ends.
const BAND: f64 = 0.1;

impl Shape for Hinge {
    const CORNERED: bool = true;

    #[inline(always)]
    fn value(self, p: f64, y: f64) -> f64 {
        (1.0 - y * p).max(0.0)
    }

    #[inline(always)]
    fn slope(self, p: f64, y: f64) -> f64 {
        if y * p < 1.0 { -y } else { 0.0 }
    }

    #[inline(always)]
    fn curvature(self, p: f64, y: f64) -> f64 {
        if (1.0 - y * p).abs() < 0.5 { 1.0 } else { 0.0 }
    }

    #[inline(always)]
    fn conjugate(self, alpha: f64, y: f64) -> f64 {
        -alpha * y
    }

    #[inline(always)]
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit {
        let (a, short) = (alpha * y, 1.0 - y * p);
        let value = short.max(0.0);
        tally.sum += value;
        // An empty row (q = 0) goes straight to the end of its range, and stays where it is at the corner.
        let new = (a + short / q.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        Visit::boxed(a, short, new, y, value - a * short)
    }

    #[inline(always)]
    fn feasible(self, alpha: f64, y: f64) -> f64 {
        y * (alpha * y).clamp(0.0, 1.0)
    }

    /// At the corner a dual lies between the ends of its range.
    #[inline(always)]
    fn guess(self, p: f64, y: f64) -> f64 {
        self.feasible(y * (0.5 + (1.0 - y * p) / (2.0 * BAND)), y)
    }
}
