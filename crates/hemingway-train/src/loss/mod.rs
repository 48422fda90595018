//! The losses: value, slope, conjugate and the exact coordinate step of the dual.
//!
//! A loss is a function φ(p, y) of the prediction p = x·w and the target y. Its dual variable α is signed: the
//! weights are w = (1/(λn)) Σ α_i x_i, and α = y·a for the a of the papers. All four share one catalogue entry
//! here ([`Loss`]) and one [`Shape`] that kernels are compiled for. Kernels ask for the shape of each row ([`Losses`]): it is
//! the same for all, at no cost, unless rows have weights ([`Weighted`]).

mod hinge;
mod logistic;
mod smoothed_hinge;
mod squared;
mod weighted;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::suggest::plain;

pub use hinge::Hinge;
pub use logistic::Logistic;
pub use smoothed_hinge::SmoothedHinge;
pub use squared::Squared;
pub use weighted::{Scaled, Weighted};

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

/// Other names that people know losses by. Case, hyphens and underscores do not matter.
static ALIASES: &[(&str, Loss)] = &[
    ("cross-entropy", Loss::Logistic),
    ("least-squares", Loss::Squared),
    ("log", Loss::Logistic),
    ("logistic-regression", Loss::Logistic),
    ("logreg", Loss::Logistic),
    ("mse", Loss::Squared),
    ("ridge", Loss::Squared),
    ("smooth-hinge", Loss::SmoothedHinge),
    ("svm", Loss::Hinge),
];

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
        let names = LOSSES.into_iter().map(|loss| (loss.name(), loss)).chain(ALIASES.iter().copied());
        let found = names.into_iter().find(|(known, _)| plain(known) == plain(name));
        found.map(|(_, loss)| loss).ok_or_else(|| Error::UnknownLoss {
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
    /// The α that maximises the dual along this row, with q = σ'‖x‖²/(λn), and what is known of the row before.
    fn visit(self, alpha: f64, p: f64, y: f64, q: f64, tally: &mut Tally) -> Visit;
    /// The nearest α at which the conjugate is finite.
    fn feasible(self, alpha: f64, y: f64) -> f64;
    /// The α that a prediction suggests, where the conjugate is finite: minus the slope, where the loss has one.
    #[inline(always)]
    fn guess(self, p: f64, y: f64) -> f64 {
        -self.slope(p, y)
    }
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
    /// The same of losses that count so often each.
    #[inline(always)]
    fn weighted_block(
        self,
        predictions: &mut [f64; BLOCK],
        targets: &[f32; BLOCK],
        weights: &[f32; BLOCK],
    ) -> f64 {
        let mut sums = [0.0; LANES];
        let rows = predictions.as_chunks_mut::<LANES>().0.iter_mut().zip(targets.as_chunks::<LANES>().0);
        for ((predictions, targets), weights) in rows.zip(weights.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let (p, y) = (predictions[lane], f64::from(targets[lane]));
                let weight = f64::from(weights[lane]);
                sums[lane] += weight * self.value(p, y);
                predictions[lane] = weight * self.slope(p, y);
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

/// The losses of a worker's rows.
pub trait Losses: Copy {
    /// The loss of one row.
    type Row: Shape;
    /// Of this row.
    fn of(self, row: usize) -> Self::Row;
    /// Of so many rows from this one on.
    fn several<const N: usize>(self, first: usize) -> [Self::Row; N];
    /// [`Shape::block`] for the rows from this one on; rows beyond the last are like the first.
    fn block_from(self, first: usize, predictions: &mut [f64; BLOCK], targets: &[f32; BLOCK]) -> f64;
}

/// Of rows without weights.
impl<S: Shape> Losses for S {
    type Row = S;

    #[inline(always)]
    fn of(self, _: usize) -> S {
        self
    }

    #[inline(always)]
    fn several<const N: usize>(self, _: usize) -> [S; N] {
        [self; N]
    }

    #[inline(always)]
    fn block_from(self, _: usize, predictions: &mut [f64; BLOCK], targets: &[f32; BLOCK]) -> f64 {
        self.block(predictions, targets)
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

    /// Adds a loss.
    #[inline(always)]
    fn add(&mut self, loss: f64) {
        self.sum += loss;
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

/// Runs an expression with the [`Losses`] of rows that have these weights, if they have any.
macro_rules! with_losses {
    ($loss:expr, $weights:expr, $losses:ident => $body:expr) => {
        match $weights {
            None => $crate::loss::with_loss!($loss, $losses => $body),
            Some(weights) => $crate::loss::with_loss!($loss, loss => {
                let $losses = $crate::loss::Weighted { loss, weights };
                $body
            }),
        }
    };
}
pub(crate) use with_losses;

#[cfg(test)]
mod tests;
