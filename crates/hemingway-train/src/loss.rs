//! The losses: value, slope, conjugate and the exact coordinate step of the dual.
//!
//! A loss is a function φ(p, y) of the prediction p = x·w and the target y. Its dual variable α is signed: the
//! weights are w = (1/(λn)) Σ α_i x_i, and α = y·a for the a of the papers. All four share one catalogue entry
//! here ([`Loss`]) and one [`Shape`] that kernels are compiled for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::elementary::{exponential, logarithm};

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

    /// What evaluating it costs in a vectorised loop, in operations as kernels meter them.
    pub(crate) fn flops(self) -> f64 {
        match self {
            Loss::Hinge | Loss::SmoothedHinge | Loss::Squared => 3.0,
            Loss::Logistic => 20.0,
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
    /// Whether φ has a corner, around which the weights of dual methods jump.
    const CORNERED: bool = false;
    /// φ(p, y).
    fn value(self, p: f64, y: f64) -> f64;
    /// A (sub)derivative of φ in p.
    fn slope(self, p: f64, y: f64) -> f64;
    /// Second derivative of φ in p; near a corner, that of a parabola in its place.
    fn curvature(self, p: f64, y: f64) -> f64;
    /// φ*(−α).
    fn conjugate(self, alpha: f64, y: f64) -> f64;
    /// The α that maximises the dual along this row, with q = σ'‖x‖²/(λn), and what was seen of the row before.
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit;
    /// The nearest α at which the conjugate is finite.
    fn feasible(self, alpha: f64, y: f64) -> f64;
    /// Turns predictions into slopes and returns Σ φ(p, y), for [`BLOCK`] rows at once.
    #[inline(always)]
    fn block(self, predictions: &mut [f64; BLOCK], targets: &[f32; BLOCK]) -> f64 {
        let mut sums = [0.0; LANES];
        for (predictions, targets) in
            predictions.as_chunks_mut::<LANES>().0.iter_mut().zip(targets.as_chunks::<LANES>().0)
        {
            for lane in 0..LANES {
                let (p, y) = (predictions[lane], f64::from(targets[lane]));
                sums[lane] += self.value(p, y);
                predictions[lane] = self.slope(p, y);
            }
        }
        sums.iter().sum()
    }
    /// Adds φ(p, y) to a tally and returns the slope.
    #[inline(always)]
    fn tally(self, p: f64, y: f64, tally: &mut Tally) -> f64 {
        tally.sum += self.value(p, y);
        self.slope(p, y)
    }
}

/// Rows that [`Shape::block`] takes at once: a few vector registers full.
pub const BLOCK: usize = 64;
/// Of these, so many at a time, each with sums of its own: additions in a row would keep a loop from being vectorised.
const LANES: usize = 8;

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
    fn curvature(self, p: f64, y: f64) -> f64 {
        let short = 1.0 - y * p;
        if 0.0 < short && short < Self::WIDTH { 1.0 / Self::WIDTH } else { 0.0 }
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
    const MOST_STEPS: usize = 60;

    /// a = σ(−t) at the root of f(t) = t − z − q(σ(−t) − a₀). The first guess takes σ(−t) for the line ½ − t/5 in
    /// the middle and begins at its end in the tails; Newton steps that leave the bracket bisect it.
    #[inline(always)]
    fn root(start: f64, z: f64, q: f64) -> f64 {
        // f(t) ≤ t − z + q·a₀ and ≥ t − z − q(1 − a₀): the root lies between these zeros.
        let (mut low, mut high) = (z - q * start, z + q * (1.0 - start));
        let middle = (z + q * (0.5 - start)) / (1.0 + 0.2 * q);
        let mut t = middle.clamp(-2.0, 2.0).clamp(low, high);
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
            if moved.abs() <= Logistic::LAST && moved.abs() * q <= 4.0 {
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

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// What is seen of a row: its dual, prediction, target and curvature.
    #[derive(Debug, Clone, Copy)]
    struct Row {
        alpha: f64,
        p: f64,
        y: f64,
        q: f64,
    }

    impl Row {
        /// The dual along this row, in α.
        fn dual<S: Shape>(&self, loss: S, alpha: f64) -> f64 {
            let change = alpha - self.alpha;
            -loss.conjugate(alpha, self.y) - change * self.p - self.q / 2.0 * change * change
        }

        /// How much rounding can blur that dual.
        fn blur<S: Shape>(&self, loss: S, alpha: f64) -> f64 {
            let change = (alpha - self.alpha).abs();
            let conjugate = loss.conjugate(alpha, self.y).abs();
            1e-14 * (1.0 + conjugate + change * self.p.abs() + self.q * change * change)
        }
    }

    const CURVATURES: [f64; 9] = [0.0, 1e-12, 1e-4, 0.1, 1.0, 10.0, 1e3, 1e5, 1e9];
    const PREDICTIONS: [f64; 13] =
        [-1e3, -40.0, -3.0, -1.0, -0.5, -1e-9, 0.0, 0.3, 0.999, 1.5, 5.0, 40.0, 1e3];

    /// Every combination of curvature, prediction, sign and dual.
    fn rows() -> impl Iterator<Item = Row> {
        let shares = [0.0, 1e-12, 0.01, 0.3, 0.5, 0.99, 1.0];
        CURVATURES.into_iter().flat_map(move |q| {
            PREDICTIONS.into_iter().flat_map(move |p| {
                shares.into_iter().flat_map(move |a| [-1.0, 1.0].map(|y| Row { alpha: y * a, p, y, q }))
            })
        })
    }

    /// The highest value of a concave function between two ends, by golden sections.
    fn highest(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let mut best = value(low).max(value(high));
        for _ in 0..200 {
            let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            best = best.max(value(left)).max(value(right));
            if value(left) < value(right) { low = left } else { high = right }
        }
        best
    }

    fn check_visits<S: Shape>(loss: S, ends: impl Fn(&Row) -> (f64, f64)) {
        for row in rows() {
            let visit = loss.visit(row.alpha, row.p, row.y, row.q, &mut Tally::default());
            let (low, high) = ends(&row);
            assert!(visit.alpha >= low && visit.alpha <= high, "{row:?}: α = {}", visit.alpha);
            let (reached, best) =
                (row.dual(loss, visit.alpha), highest(low, high, |alpha| row.dual(loss, alpha)));
            let blur = row.blur(loss, visit.alpha);
            assert!(reached >= best - blur, "{row:?}: the dual reaches {reached:e}, not {best:e}");
            let gap = loss.value(row.p, row.y) + loss.conjugate(row.alpha, row.y) + row.alpha * row.p;
            let size = 1e-13 * (1.0 + row.p * row.p);
            assert!((visit.gap - gap).abs() <= size, "{row:?}: a gap of {}, not {gap}", visit.gap);
        }
    }

    fn unit(row: &Row) -> (f64, f64) {
        (row.y.min(0.0), row.y.max(0.0))
    }

    #[test]
    fn hinge_visits_maximise_the_dual() {
        check_visits(Hinge, unit);
    }

    #[test]
    fn smoothed_hinge_visits_maximise_the_dual() {
        check_visits(SmoothedHinge, unit);
    }

    #[test]
    fn squared_visits_maximise_the_dual() {
        check_visits(Squared, |row| {
            let reach = 1.0 + (row.y - row.p - row.alpha).abs();
            (row.alpha - reach, row.alpha + reach)
        });
    }

    /// The best a of the logistic loss, by bisection of t = z + q(a − a₀), a = σ(−t).
    fn logistic_root(row: &Row) -> f64 {
        let (start, z) = (row.alpha * row.y, row.p * row.y);
        let share = |t: f64| if t > 0.0 { (-t).exp() / (1.0 + (-t).exp()) } else { 1.0 / (1.0 + t.exp()) };
        let (mut low, mut high) = (z - row.q * start, z + row.q * (1.0 - start));
        for _ in 0..200 {
            let t = 0.5 * (low + high);
            if t - z - row.q * (share(t) - start) > 0.0 { high = t } else { low = t }
        }
        share(0.5 * (low + high))
    }

    #[test]
    fn logistic_visits_go_most_of_the_way_to_the_highest_dual() {
        for row in rows() {
            let visit = Logistic.visit(row.alpha, row.p, row.y, row.q, &mut Tally::default());
            let (start, new, best) = (row.alpha * row.y, visit.alpha * row.y, logistic_root(&row));
            if (best - start).abs() > 1e-9 {
                let way = (new - start) / (best - start);
                assert!((0.5..1.5).contains(&way), "{row:?}: from {start} to {new}, not {best}");
            }
        }
    }

    #[test]
    fn logistic_visits_never_lower_the_dual() {
        for row in rows() {
            let visit = Logistic.visit(row.alpha, row.p, row.y, row.q, &mut Tally::default());
            let (before, after) = (row.dual(Logistic, row.alpha), row.dual(Logistic, visit.alpha));
            let blur = row.blur(Logistic, visit.alpha);
            assert!(after >= before - blur, "{row:?}: the dual falls from {before:e} to {after:e}");
        }
    }

    #[test]
    fn repeated_logistic_visits_end_at_the_highest_dual() {
        for row in rows() {
            let best = logistic_root(&row);
            let mut now = row;
            for _ in 0..40 {
                let alpha = Logistic.visit(now.alpha, now.p, now.y, now.q, &mut Tally::default()).alpha;
                now = Row { alpha, p: row.p + row.q * (alpha - row.alpha), ..now };
            }
            let new = now.alpha * now.y;
            assert!((new - best).abs() <= 1e-9, "{row:?}: a = {new} after forty visits, not {best}");
        }
    }

    #[test]
    fn an_empty_row_at_the_corner_of_the_hinge_stays_a_number() {
        let visit = Hinge.visit(0.5, 1.0, 1.0, 0.0, &mut Tally::default());
        assert!((0.0..=1.0).contains(&visit.alpha), "α = {}", visit.alpha);
    }

    #[test]
    fn conjugates_are_suprema() {
        for loss in LOSSES {
            for a in [1e-6, 0.01, 0.3, 0.5, 0.9, 1.0 - 1e-6] {
                for y in [-1.0, 1.0] {
                    let alpha = y * a;
                    let sup = highest(-50.0, 50.0, |p| -alpha * p - loss.value(p, y));
                    let conjugate = with_loss!(loss, shape => shape.conjugate(alpha, y));
                    assert!((conjugate - sup).abs() <= 1e-9, "{loss} at α = {alpha}: {conjugate}, not {sup}");
                }
            }
        }
    }

    #[test]
    fn slopes_are_derivatives() {
        for loss in LOSSES {
            for p in [-30.0, -2.5, -0.7, 0.2, 0.6, 0.95, 1.2, 3.0, 25.0] {
                for y in [-1.0, 1.0] {
                    let step = 1e-6;
                    let difference = (loss.value(p + step, y) - loss.value(p - step, y)) / (2.0 * step);
                    let slope = with_loss!(loss, shape => shape.slope(p, y));
                    assert!((slope - difference).abs() <= 1e-7, "{loss} at {p}: {slope}, not {difference}");
                    let tallied = with_loss!(loss, shape => shape.tally(p, y, &mut Tally::default()));
                    assert!((slope - tallied).abs() <= 1e-15, "{loss} at {p}: {slope} and {tallied}");
                }
            }
        }
    }

    fn check_tally(loss: Loss, margins: std::ops::Range<f64>, tolerance: impl Fn(f64) -> f64) {
        let mut rng = crate::Rng::seed_from_u64(3);
        let (mut tally, mut visits, mut plain) = (Tally::default(), Tally::default(), 0.0);
        for _ in 0..20_000 {
            let y = if rng.random::<bool>() { 1.0 } else { -1.0 };
            let p = y * rng.random_range(margins.clone());
            plain += loss.value(p, y);
            with_loss!(loss, shape => {
                shape.tally(p, y, &mut tally);
                shape.visit(0.5 * y, p, y, 1.0, &mut visits);
            });
        }
        for total in [tally.total(), visits.total()] {
            let off = (total - plain).abs();
            assert!(off <= tolerance(plain), "{loss} in {margins:?}: {total}, not {plain}: {off:e}");
        }
    }

    #[test]
    fn tallies_are_sums() {
        for loss in LOSSES {
            for margins in [-5.0..5.0, -0.1..0.1, -700.0..700.0, -1e4..1e4] {
                check_tally(loss, margins, |plain| 1e-12 * plain);
            }
        }
    }

    #[test]
    fn tallies_of_tiny_losses_are_exact_to_a_rounding_of_one_per_row() {
        check_tally(Loss::Logistic, 10.0..40.0, |_| 20_000.0 * f64::EPSILON);
    }

    #[test]
    fn infeasible_duals_are_brought_back() {
        for loss in [Loss::Hinge, Loss::SmoothedHinge, Loss::Logistic] {
            let feasible = |alpha, y| with_loss!(loss, shape => shape.feasible(alpha, y));
            assert_eq!(
                [feasible(1.5, 1.0), feasible(-0.5, 1.0), feasible(0.4, 1.0)],
                [1.0, 0.0, 0.4],
                "{loss}"
            );
            assert_eq!([feasible(-1.5, -1.0), feasible(0.5, -1.0)], [-1.0, 0.0], "{loss}");
        }
        assert_eq!(Squared.feasible(-17.0, 1.0), -17.0);
    }

    #[test]
    fn names_are_read_back_and_mistakes_explained() {
        for loss in LOSSES {
            assert_eq!(loss.name().parse::<Loss>().unwrap(), loss);
        }
        let message = "hing".parse::<Loss>().unwrap_err().to_string();
        assert!(message.contains("did you mean `hinge`?"), "{message}");
    }
}
