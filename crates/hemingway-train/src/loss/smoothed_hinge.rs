//! The hinge with its corner rounded.

use super::{Shape, Tally, Visit};

/// See [`Loss::SmoothedHinge`](super::Loss::SmoothedHinge).
#[derive(Clone, Copy)]
pub struct SmoothedHinge;

impl SmoothedHinge {
    /// How wide the rounded part is (γ).
    pub(super) const WIDTH: f64 = 1.0;
}

impl Shape for SmoothedHinge {
    #[inline(always)]
    fn value(self, p: f64, y: f64) -> f64 {
        let short = 1.0 - y * p;
        if short <= 0.0 {
            0.0
        } else if short < Self::WIDTH {
            short * short / (2.0 * Self::WIDTH)
        } else {
            short - Self::WIDTH / 2.0
        }
    }

    #[inline(always)]
    fn slope(self, p: f64, y: f64) -> f64 {
        -y * ((1.0 - y * p) / Self::WIDTH).clamp(0.0, 1.0)
    }

    #[inline(always)]
    fn curvature(self, p: f64, y: f64) -> f64 {
        let short = 1.0 - y * p;
        // At zero weights every row is at the upper end of the parabola, which is taken for a part of it: Newton's method
        // would begin without any curvature.
        if 0.0 < short && short <= Self::WIDTH { 1.0 / Self::WIDTH } else { 0.0 }
    }

    #[inline(always)]
    fn conjugate(self, alpha: f64, y: f64) -> f64 {
        -alpha * y + Self::WIDTH / 2.0 * alpha * alpha
    }

    #[inline(always)]
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit {
        let (a, short) = (alpha * y, 1.0 - y * p);
        let value = self.value(p, y);
        tally.sum += value;
        let new = ((short + q * a) / (q + Self::WIDTH)).clamp(0.0, 1.0);
        let gap = value + self.conjugate(alpha, y) + alpha * p;
        Visit::boxed(a, short - Self::WIDTH * a, new, y, gap)
    }

    #[inline(always)]
    fn feasible(self, alpha: f64, y: f64) -> f64 {
        y * (alpha * y).clamp(0.0, 1.0)
    }
}
