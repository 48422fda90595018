//! The losses: value, slope, conjugate and the exact coordinate step of the dual.
//!
//! A loss is a function φ(p, y) of the prediction p = x·w and the target y. Its dual variable α is signed: the
//! weights are w = (1/(λn)) Σ α_i x_i, and α = y·a for the a of the papers. All four share one catalogue entry
//! here ([`Loss`]) and one [`Shape`] that kernels are compiled for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// A loss by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// max(0, 1 − yp): the support vector machine.
    Hinge,
    /// The hinge with its corner rounded by a parabola one unit wide.
    SmoothedHinge,
    /// ln(1 + exp(−yp)): logistic regression.
    Logistic,
    /// ½(p − y)²: ridge regression, also usable with ±1 labels.
    Squared,
}

/// Every loss, in the order help texts show them.
pub const LOSSES: [Loss; 4] = [Loss::Hinge, Loss::SmoothedHinge, Loss::Logistic, Loss::Squared];

impl Loss {
    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Hinge => "hinge",
            Loss::SmoothedHinge => "smoothed-hinge",
            Loss::Logistic => "logistic",
            Loss::Squared => "squared",
        }
    }

    /// Whether targets are classes, ±1.
    pub fn classifies(self) -> bool {
        self != Loss::Squared
    }

    /// The largest second derivative of φ in p, where φ has one.
    pub fn smoothness(self) -> Option<f64> {
        match self {
            Loss::Hinge => None,
            Loss::SmoothedHinge => Some(1.0 / SmoothedHinge::WIDTH),
            Loss::Logistic => Some(0.25),
            Loss::Squared => Some(1.0),
        }
    }

    /// φ(p, y).
    pub fn value(self, prediction: f64, target: f64) -> f64 {
        with_loss!(self, loss => loss.value(prediction, target))
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Loss {
    type Err = Error;

    fn from_str(name: &str) -> Result<Loss, Error> {
        LOSSES.into_iter().find(|loss| loss.name() == name).ok_or_else(|| Error::UnknownLoss {
            name: name.to_owned(),
            suggestion: crate::suggest::nearest(name, LOSSES.into_iter().map(Loss::name)),
        })
    }
}

/// What kernels need of a loss, compiled into them.
pub trait Shape: Copy + Send + Sync + 'static {
    /// φ(p, y).
    fn value(self, p: f64, y: f64) -> f64;
    /// A (sub)derivative of φ in p.
    fn slope(self, p: f64, y: f64) -> f64;
    /// φ*(−α).
    fn conjugate(self, alpha: f64, y: f64) -> f64;
    /// The α that maximises the dual along this row, with q = σ'‖x‖²/(λn), and what was seen of the row before.
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit;
    /// The nearest α at which the conjugate is finite.
    fn feasible(self, alpha: f64, y: f64) -> f64;
    /// Adds φ(p, y) to a tally and returns the slope.
    #[inline(always)]
    fn tally(self, p: f64, y: f64, tally: &mut Tally) -> f64 {
        tally.sum += self.value(p, y);
        self.slope(p, y)
    }
}

/// One coordinate step.
#[derive(Clone, Copy)]
pub struct Visit {
    /// The best α.
    pub alpha: f64,
    /// About φ(p) + φ*(−α) + αp before the step: this row's part of the duality gap.
    pub gap: f64,
    /// How far the row was from optimal: |slope of the dual|, as far as α is free to follow it.
    pub violation: f64,
    /// How firmly α is pressed against the end of its range; 0 if it is not.
    pub pressed: f64,
}

impl Visit {
    /// A step of a loss whose dual a = yα lies in [0, 1] and has the slope `push` at its present value.
    #[inline(always)]
    fn boxed(a: f64, push: f64, new: f64, y: f64, gap: f64) -> Visit {
        let pressed = (a <= 0.0 && push < 0.0) || (a >= 1.0 && push > 0.0);
        let strength = push.abs();
        let (violation, pressed) = if pressed { (0.0, strength) } else { (strength, 0.0) };
        Visit { alpha: y * new, gap, violation, pressed }
    }
}

/// A sum of losses. Logarithms are taken of products of many factors at once: one logarithm per hundred rows.
#[derive(Clone, Copy)]
pub struct Tally {
    sum: f64,
    product: f64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { sum: 0.0, product: 1.0 }
    }
}

impl Tally {
    /// Adds ln(factor) for a factor in [1, 2].
    #[inline(always)]
    fn add_ln(&mut self, factor: f64) {
        self.product *= factor;
        if self.product > 1e300 {
            self.sum += self.product.ln();
            self.product = 1.0;
        }
    }

    /// What was added up.
    #[inline(always)]
    pub fn total(self) -> f64 {
        self.sum + self.product.ln()
    }
}

/// Runs an expression with the [`Shape`] of a [`Loss`].
macro_rules! with_loss {
    ($loss:expr, $shape:ident => $body:expr) => {
        match $loss {
            $crate::loss::Loss::Hinge => {
                let $shape = $crate::loss::Hinge;
                $body
            }
            $crate::loss::Loss::SmoothedHinge => {
                let $shape = $crate::loss::SmoothedHinge;
                $body
            }
            $crate::loss::Loss::Logistic => {
                let $shape = $crate::loss::Logistic;
                $body
            }
            $crate::loss::Loss::Squared => {
                let $shape = $crate::loss::Squared;
                $body
            }
        }
    };
}
pub(crate) use with_loss;

/// See [`Loss::Hinge`].
#[derive(Clone, Copy)]
pub struct Hinge;

impl Shape for Hinge {
    #[inline(always)]
    fn value(self, p: f64, y: f64) -> f64 {
        (1.0 - y * p).max(0.0)
    }

    #[inline(always)]
    fn slope(self, p: f64, y: f64) -> f64 {
        if y * p < 1.0 { -y } else { 0.0 }
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
        // q = 0 divides by zero on purpose: an empty row goes straight to the end of its range.
        Visit::boxed(a, short, (a + short / q).clamp(0.0, 1.0), y, value - a * short)
    }

    #[inline(always)]
    fn feasible(self, alpha: f64, y: f64) -> f64 {
        y * (alpha * y).clamp(0.0, 1.0)
    }

}

/// See [`Loss::SmoothedHinge`].
#[derive(Clone, Copy)]
pub struct SmoothedHinge;

impl SmoothedHinge {
    /// How wide the rounded part is (γ).
    const WIDTH: f64 = 1.0;
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

/// See [`Loss::Logistic`].
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
    if t >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// eˣ for x ≤ 0 to about 1e-15, without branches so that loops over it are vectorised: x = k·ln 2 + r, a
/// polynomial in |r| ≤ ln(2)/2, and k added to the exponent.
#[inline(always)]
fn exponential(x: f64) -> f64 {
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding and subtracting 1.5·2⁵² rounds to the nearest whole number and leaves it in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let x = x.max(-708.0);
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    // The Taylor sum up to r¹², in pairs and pairs of pairs, so that few operations wait for one another.
    let (r2, term) = (r * r, |low: f64, high: f64| low + high * r);
    let r4 = r2 * r2;
    let r8 = r4 * r4;
    let first = term(1.0, 1.0) + r2 * term(1.0 / 2.0, 1.0 / 6.0);
    let second = term(1.0 / 24.0, 1.0 / 120.0) + r2 * term(1.0 / 720.0, 1.0 / 5_040.0);
    let third = term(1.0 / 40_320.0, 1.0 / 362_880.0) + r2 * term(1.0 / 3_628_800.0, 1.0 / 39_916_800.0);
    let sum = (first + r4 * second) + r8 * (third + r4 * (1.0 / 479_001_600.0));
    let power = f64::from_bits(((shifted.to_bits() & 0x7ff).wrapping_add(1023) & 0x7ff) << 52);
    sum * power
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
    fn conjugate(self, alpha: f64, y: f64) -> f64 {
        let a = alpha * y;
        let entropy = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
        entropy(a) + entropy(1.0 - a)
    }

    /// The new a is the root of a = σ(−t), t = z + q(a − a₀): Newton in t on f(t) = t − z − q(σ(−t) − a₀), whose
    /// slope lies in [1, 1 + q/4]. The first step starts at t = z, where σ is needed anyway; the tangent of σ
    /// replaces the last evaluation. Most visits take one or two exponentials.
    #[inline(always)]
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit {
        let (start, z) = (alpha * y, y * p);
        let e = exponential(-z.abs());
        tally.sum += (-z).max(0.0);
        tally.add_ln(1.0 + e);
        let share = share_of(z, e);
        let curvature = share * (1.0 - share);
        let off = share - start;
        let moved = q * off / (1.0 + q * curvature);
        let new = if moved.abs() <= Logistic::SHORT {
            share - curvature * moved
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
    fn tally(self, p: f64, y: f64, tally: &mut Tally) -> f64 {
        let z = y * p;
        let e = exponential(-z.abs());
        tally.sum += (-z).max(0.0);
        tally.add_ln(1.0 + e);
        -y * share_of(z, e)
    }
}

impl Logistic {
    /// A step in t so short that the tangent of σ stands for σ: at most 5e-5 off, and far less near the optimum,
    /// where steps are short themselves.
    const SHORT: f64 = 0.03;
    /// After a guess, a step this short is the last: at most 5e-3 off, while duals still make such strides.
    const LAST: f64 = 0.3;
    const MOST_STEPS: usize = 60;

    /// a = σ(−t) at the root of f. The first guess takes σ(−t) for the straight line ½ − t/5 in the middle and
    /// begins at its end in the tails, from where Newton runs up to the root without passing it.
    #[inline(always)]
    fn root(start: f64, z: f64, q: f64) -> f64 {
        // f(t) ≤ t − z + q·a₀ and ≥ t − z − q(1 − a₀): the root lies between these zeros.
        let (mut low, mut high) = (z - q * start, z + q * (1.0 - start));
        let middle = (z + q * (0.5 - start)) / (1.0 + 0.2 * q);
        let mut t = middle.clamp(-2.0, 2.0).clamp(low, high);
        let mut share = sigmoid_of_minus(t);
        for _ in 0..Logistic::MOST_STEPS {
            let value = t - z - q * (share - start);
            if value > 0.0 { high = t } else { low = t }
            let curvature = share * (1.0 - share);
            let newton = t - value / (1.0 + q * curvature);
            let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
            let moved = next - t;
            if moved.abs() <= Logistic::LAST {
                return share - curvature * moved;
            }
            t = next;
            share = sigmoid_of_minus(t);
        }
        share
    }
}

/// See [`Loss::Squared`].
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
