//! Rows that count more or less than once: c·φ in place of φ.
//!
//! The conjugate of c·φ is c·φ*(α/c), so a weighted row behaves like a plain one whose dual is α/c and whose curvature is
//! c·q: all that a [`Shape`] says follows from the plain loss. Duals stay those of w = (1/(λn)) Σ α_i x_i. A row that counts
//! 0 times is not there: its dual is 0.

use super::{BLOCK, Losses, Shape, Tally, Visit};

/// A loss of rows that have weights.
#[derive(Clone, Copy)]
pub struct Weighted<'a, S> {
    /// φ.
    pub loss: S,
    /// c, one for each row.
    pub weights: &'a [f32],
}

impl<S: Shape> Losses for Weighted<'_, S> {
    type Row = Scaled<S>;

    #[inline(always)]
    fn of(self, row: usize) -> Scaled<S> {
        Scaled { loss: self.loss, weight: f64::from(self.weights[row]) }
    }

    #[inline(always)]
    fn several<const N: usize>(self, first: usize) -> [Scaled<S>; N] {
        let weights: &[f32; N] = self.weights[first..].first_chunk().expect("as many rows as that");
        weights.map(|weight| Scaled { loss: self.loss, weight: f64::from(weight) })
    }

    #[inline(always)]
    fn block_from(self, first: usize, predictions: &mut [f64; BLOCK], targets: &[f32; BLOCK]) -> f64 {
        let end = (first + BLOCK).min(self.weights.len());
        let mut weights = [self.weights[first]; BLOCK];
        weights[..end - first].copy_from_slice(&self.weights[first..end]);
        self.loss.weighted_block(predictions, targets, &weights)
    }
}

/// c·φ.
#[derive(Clone, Copy)]
pub struct Scaled<S> {
    loss: S,
    weight: f64,
}

/// A curvature beyond this would not be a finite number for long.
const MOST_CURVATURE: f64 = 1e300;

impl<S: Shape> Shape for Scaled<S> {
    const CORNERED: bool = S::CORNERED;

    #[inline(always)]
    fn value(self, p: f64, y: f64) -> f64 {
        self.weight * self.loss.value(p, y)
    }

    #[inline(always)]
    fn slope(self, p: f64, y: f64) -> f64 {
        self.weight * self.loss.slope(p, y)
    }

    #[inline(always)]
    fn curvature(self, p: f64, y: f64) -> f64 {
        self.weight * self.loss.curvature(p, y)
    }

    #[inline(always)]
    fn conjugate(self, alpha: f64, y: f64) -> f64 {
        if self.weight == 0.0 {
            return if alpha == 0.0 { 0.0 } else { f64::INFINITY };
        }
        self.weight * self.loss.conjugate(alpha / self.weight, y)
    }

    #[inline(always)]
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit {
        let Scaled { loss, weight } = self;
        if weight == 0.0 {
            return Visit { alpha: 0.0, gap: 0.0, violation: 0.0, pressed: f64::INFINITY };
        }
        let mut plain = Tally::default();
        let visit = loss.visit(alpha / weight, p, y, (weight * q).min(MOST_CURVATURE), &mut plain);
        tally.add(weight * plain.total());
        Visit { alpha: weight * visit.alpha, gap: weight * visit.gap, ..visit }
    }

    #[inline(always)]
    fn feasible(self, alpha: f64, y: f64) -> f64 {
        if self.weight == 0.0 { 0.0 } else { self.weight * self.loss.feasible(alpha / self.weight, y) }
    }

    #[inline(always)]
    fn guess(self, p: f64, y: f64) -> f64 {
        self.weight * self.loss.guess(p, y)
    }

    #[inline(always)]
    fn tally(self, p: f64, y: f64, tally: &mut Tally) -> f64 {
        let mut plain = Tally::default();
        let slope = self.loss.tally(p, y, &mut plain);
        tally.add(self.weight * plain.total());
        self.weight * slope
    }
}
