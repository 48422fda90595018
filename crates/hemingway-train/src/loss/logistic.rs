//! ln(1 + exp(−yp)), a block of rows at a time where that is quicker.

use super::{BLOCK, LANES, Shape, Tally, Visit};
use crate::elementary::{exponential, logarithm};

/// See [`Loss::Logistic`](super::Loss::Logistic).
#[derive(Clone, Copy)]
pub struct Logistic;

/// 1/(1 + eᵗ), without overflow.
#[inline(always)]
fn sigmoid_of_minus(t: f64) -> f64 {
    share_of(t, exponential(-t.abs()))
}

/// 1/(1 + eᵗ) from e = exp(−|t|).
#[inline(always)]
fn share_of(t: f64, e: f64) -> f64 {
    (if t >= 0.0 { e } else { 1.0 }) / (1.0 + e)
}

impl Shape for Logistic {
    #[inline(always)]
    fn value(self, p: f64, y: f64) -> f64 {
        let z = y * p;
        (-z.abs()).exp().ln_1p() + (-z).max(0.0)
    }

    #[inline(always)]
    fn slope(self, p: f64, y: f64) -> f64 {
        -y * sigmoid_of_minus(y * p)
    }

    #[inline(always)]
    fn curvature(self, p: f64, y: f64) -> f64 {
        let share = sigmoid_of_minus(y * p);
        share * (1.0 - share)
    }

    #[inline(always)]
    fn conjugate(self, alpha: f64, y: f64) -> f64 {
        let a = alpha * y;
        // 0·ln 0 = 0: the smallest double stands for 0 within the logarithm.
        let entropy = |x: f64| x * logarithm(x.max(f64::MIN_POSITIVE));
        entropy(a) + entropy(1.0 - a)
    }

    /// The best a satisfies a = σ(−t) at t = z + q(a − a₀). With σ(−z) = s and a curvature κ of φ between z and t,
    /// that is a = a₀ + (s − a₀)/(1 + qκ). Near the optimum t is close to z and κ = s(1 − s) makes it a Newton step.
    /// Further away κ = (½ − s)/z, the curvature of the parabola above φ that touches it at ±z, keeps the step safe.
    /// One exponential per visit: visits wait for one another, so a shorter way beats an exact one. Only where q is
    /// large, far more than the curvature that is safe would be needed, is the equation solved.
    #[inline(always)]
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit {
        let (start, z) = (alpha * y, y * p);
        let e = exponential(-z.abs());
        tally.sum += (-z).max(0.0);
        tally.add_ln(1.0 + e);
        let share = share_of(z, e);
        let curvature = share * (1.0 - share);
        let off = share - start;
        let near = q * off.abs() <= Logistic::SHORT * (1.0 + q * curvature);
        let safe = if z.abs() > Logistic::FLAT { (0.5 - share) / z } else { 0.25 };
        let new = if near || q <= Logistic::STEEP {
            start + off / (1.0 + q * if near { curvature } else { safe })
        } else {
            Logistic::root(start, z, q)
        };
        let gap = off * off / (2.0 * curvature + off.abs() + f64::MIN_POSITIVE);
        Visit { alpha: y * new.clamp(0.0, 1.0), gap, violation: off.abs(), pressed: 0.0 }
    }

    #[inline(always)]
    fn feasible(self, alpha: f64, y: f64) -> f64 {
        y * (alpha * y).clamp(0.0, 1.0)
    }

    #[inline(always)]
    fn block(self, predictions: &mut [f64; BLOCK], targets: &[f32; BLOCK]) -> f64 {
        let (mut sums, mut products) = ([0.0; LANES], [1.0; LANES]);
        for (p, y) in predictions.as_chunks_mut::<LANES>().0.iter_mut().zip(targets.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let y = f64::from(y[lane]);
                let z = y * p[lane];
                let e = exponential(-z.abs());
                sums[lane] += (-z).max(0.0);
                products[lane] *= 1.0 + e;
                p[lane] = -y * share_of(z, e);
            }
        }
        // At most 2⁶⁴, so one logarithm does for all.
        sums.iter().sum::<f64>() + products.iter().product::<f64>().ln()
    }

    /// Powers of different exponents have no product to take one logarithm of.
    #[inline(always)]
    fn weighted_block(
        self,
        predictions: &mut [f64; BLOCK],
        targets: &[f32; BLOCK],
        weights: &[f32; BLOCK],
    ) -> f64 {
        let mut sums = [0.0; LANES];
        let rows = predictions.as_chunks_mut::<LANES>().0.iter_mut().zip(targets.as_chunks::<LANES>().0);
        for ((p, y), weights) in rows.zip(weights.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let (y, weight) = (f64::from(y[lane]), f64::from(weights[lane]));
                let z = y * p[lane];
                let e = exponential(-z.abs());
                sums[lane] += weight * ((-z).max(0.0) + logarithm(1.0 + e));
                p[lane] = -y * weight * share_of(z, e);
            }
        }
        sums.iter().sum()
    }

    #[inline(always)]
    fn tally(self, p: f64, y: f64, tally: &mut Tally) -> f64 {
        let z = y * p;
        let e = exponential(-z.abs());
        tally.sum += (-z).max(0.0);
        tally.add_ln(1.0 + e);
        -y * share_of(z, e)
    }
}

impl Logistic {
    /// A step in t this short may trust the curvature at its beginning.
    const SHORT: f64 = 0.5;
    /// This close to 0, (½ − s)/z is ¼ but for rounding.
    const FLAT: f64 = 1e-3;
    /// Beyond this q the safe curvature makes too little progress.
    const STEEP: f64 = 20.0;
    /// A Newton step this short is the last one, if it is short for f too.
    const LAST: f64 = 0.3;
    /// and shorter ones are rounding.
    const EXACT: f64 = 1e-9;
    /// Beyond this q Newton's steps through a tail, each of about 1, are too many.
    const HUGE: f64 = 1e6;
    const MOST_STEPS: usize = 60;

    /// A first guess for a huge q. Beyond the middle σ(−t) is about e⁻ᵗ, and t = ln q − ln(t − low) is nearly solved by
    /// putting ln q for the t on the right; below it is the same with all signs turned.
    #[cold]
    #[inline(never)]
    fn in_the_tail(middle: f64, low: f64, high: f64, q: f64) -> f64 {
        let far = |distance: f64| (q / (q.ln() + distance).max(1.0)).ln().max(0.0);
        match middle {
            middle if middle > 2.0 => far(-low),
            middle if middle < -2.0 => -far(high),
            middle => middle,
        }
    }

    /// a = σ(−t) at the root of f(t) = t − z − q(σ(−t) − a₀). The first guess takes σ(−t) for the line ½ − t/5 in
    /// the middle and begins at its end in the tails; Newton steps that leave the bracket bisect it.
    #[inline(always)]
    fn root(start: f64, z: f64, q: f64) -> f64 {
        // f(t) ≤ t − z + q·a₀ and ≥ t − z − q(1 − a₀): the root lies between these zeros.
        let (mut low, mut high) = (z - q * start, z + q * (1.0 - start));
        let middle = (z + q * (0.5 - start)) / (1.0 + 0.2 * q);
        let guess = if q > Logistic::HUGE {
            Logistic::in_the_tail(middle, low, high, q)
        } else {
            middle.clamp(-2.0, 2.0)
        };
        // Unlike `clamp`, this lets an objective that is no longer a number end the run instead of the program.
        let mut t = guess.max(low).min(high);
        let mut share = sigmoid_of_minus(t);
        for _ in 0..Logistic::MOST_STEPS {
            let value = t - z - q * (share - start);
            if value > 0.0 {
                high = t
            } else {
                low = t
            }
            let curvature = share * (1.0 - share);
            let newton = t - value / (1.0 + q * curvature);
            let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
            let moved = next - t;
            let step = moved.abs();
            if step <= Logistic::LAST && (step * q <= 4.0 || step <= Logistic::EXACT) {
                return share - curvature * moved;
            }
            t = next;
            share = sigmoid_of_minus(t);
        }
        share
    }
}
