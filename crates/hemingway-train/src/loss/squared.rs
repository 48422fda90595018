//! ½(p − y)².

use super::{Shape, Tally, Visit};

/// See [`Loss::Squared`](super::Loss::Squared).
#[derive(Clone, Copy)]
pub struct Squared;

impl Shape for Squared {
    #[inline(always)]
    fn value(self, p: f64, y: f64) -> f64 {
        0.5 * (p - y) * (p - y)
    }

    #[inline(always)]
    fn slope(self, p: f64, y: f64) -> f64 {
        p - y
    }

    #[inline(always)]
    fn curvature(self, _: f64, _: f64) -> f64 {
        1.0
    }

    #[inline(always)]
    fn conjugate(self, alpha: f64, y: f64) -> f64 {
        0.5 * alpha * alpha - alpha * y
    }

    #[inline(always)]
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit {
        tally.sum += self.value(p, y);
        let push = y - p - alpha;
        Visit { alpha: alpha + push / (1.0 + q), gap: 0.5 * push * push, violation: push.abs(), pressed: 0.0 }
    }

    #[inline(always)]
    fn feasible(self, alpha: f64, _: f64) -> f64 {
        alpha
    }
}
