//! Newton's method with conjugate gradients, for many features: products with the Hessian instead of the Hessian.
//!
//! A round solves (∇²P) s = −∇P only as far as it pays, by conjugate gradients that are preconditioned by the diagonal, and
//! searches along s. A step of the conjugate gradients is one pass over the rows and one sum of as many numbers as there
//! are features; everything else in it is the same on every worker and is not sent. What each worker does depends on all
//! rows alike, so rounds do not depend on how many workers there are.
//!
//! Other second-order methods solve local systems and average (GIANT, DANE), or precondition by the rows of one worker
//! (DiSCO); why this one is in `docs/decisions/014-second-order-for-many-features.md`. Losses with corners have no Hessian:
//! on the hinge it takes that of a parabola near the corner, without guarantee.
//!
//! Dembo, Eisenstat and Steihaug, Inexact Newton methods, 1982; Lin, Weng and Keerthi, Trust region Newton method for
//! large-scale logistic regression, 2008.

use super::drift::Drift;
use super::lbfgs::{self, scale};
use super::line_search::{self, LineSearch, ROUNDING, add};
use super::vain::Vain;
use super::{About, Entry, Family, Passes, TakeOver, unsuited_for_corners};
use crate::footprint::{Leaves, Vectors};
use crate::local::dot;
use crate::{Algorithm, Error, Estimate, Loss, Model, Phase, Share, Solver, Worker};

/// Newton's method with conjugate gradients has no hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct NewtonCg;

pub(super) static ENTRY: Entry = Entry {
    name: "newton-cg",
    summary: "Newton steps by conjugate gradients, for many features: few rounds of several sums each",
    reference: "Dembo et al. 1982",
    about: About {
        idea: "A Newton step is found by conjugate gradients from products with the Hessian, which \
            is never formed, and only as exactly as pays. A line search follows.",
        suits: "Smooth losses with many features, where newton cannot hold its matrix, and small \
            lambda. The hinge has no Hessian: it is refused to plans there.",
        round: "Each step of the conjugate gradients is a pass over the rows and a sum of one number \
            for each feature; about five of them, then a line search.",
        counts: "rounds",
        defaults: &[],
        floor: false,
    },
    parameters: &[],
    vectors: Vectors { weights: 12.0, rows: 4.0, saved_rows: 1.0, leaves: Leaves::Gradient, ..Vectors::NONE },
    family: Family::SecondOrder,
    depends_on_workers: false,
    alone: None,
    settles_alone: false,
    late: true,
    takes_over: |_| TakeOver::After { rounds: 1.0 },
    unsuited: unsuited_for_corners,
    set_up: lbfgs::set_up,
    round,
    build: |_| Box::new(NewtonCg),
};

/// A system is solved until its residual is this share of the gradient, or the root of the share of the first gradient that
/// is left, if that is less. A tenth takes up to a quarter more sums on dense data; a half takes as many within a tenth.
const FORCING: f64 = 0.3;
/// No system gets more steps than this. It is there for the end of precision; the runs of the decision took at most half.
const MOST_STEPS: usize = 100;
/// Steps of a round on average over the runs of the decision.
const STEPS: f64 = 5.0;
/// Nothing curves along a bias whose rows are all certain: this much, in units of λ, keeps the system solvable.
const BIAS_DAMPING: f64 = 1e-6;

impl Algorithm for NewtonCg {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn goes_on_from_model(&self, loss: Loss) -> bool {
        loss.smoothness().is_some()
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let mut passes = Passes::at(worker, from.weights.clone())?;
        let (scale, drift) = scale(worker)?;
        let mut first = norm(&passes.gradient);
        let mut vain = Vain::default();
        if let Some(saved) = saved {
            let [rounds, gradient, predictions @ ..] = saved else { return Err(Error::damaged_worker()) };
            if predictions.len() != worker.local.rows() {
                return Err(Error::damaged_worker());
            }
            (vain, first) = (Vain::restore(*rounds), *gradient);
            passes.restore(worker, predictions)?;
        }
        Ok(Box::new(Steps { passes, search: LineSearch::new(worker), scale, drift, first, vain }))
    }
}

fn round(share: &Share) -> Vec<Phase> {
    // The curvatures are part of the first product.
    let work = share.products() + (1.0 / STEPS) * share.losses();
    let steps = Phase { times: STEPS, ..Phase::once(work, share.dimension) };
    [vec![steps], line_search::round(share).into()].concat()
}

struct Steps {
    passes: Passes,
    search: LineSearch,
    /// About the inverse of the Hessian's diagonal.
    scale: Vec<f64>,
    drift: Drift,
    /// ‖∇P‖ at the start.
    first: f64,
    vain: Vain,
}

impl Steps {
    /// −(∇²P)⁻¹∇P, nearly.
    fn direction(&self, worker: &mut Worker) -> Result<Vec<f64>, Error> {
        let curvatures = worker.local.curvatures(&self.passes.predictions);
        let mut residual: Vec<f64> = self.passes.gradient.iter().map(|slope| -slope).collect();
        let length = norm(&residual);
        let goal = length * FORCING.min((length / self.first).sqrt());
        let mut solution = vec![0.0; residual.len()];
        let mut towards = self.precondition(&residual);
        let mut product = dot(&residual, &towards);
        for _ in 0..MOST_STEPS {
            let curved = hessian_product(worker, &curvatures, &towards)?;
            let step = product / dot(&towards, &curved);
            if !(step > 0.0 && step.is_finite()) {
                break;
            }
            add(&mut solution, step, &towards);
            add(&mut residual, -step, &curved);
            if norm(&residual) <= goal {
                break;
            }
            let next = self.precondition(&residual);
            let before = std::mem::replace(&mut product, dot(&residual, &next));
            let share = product / before;
            towards.iter_mut().zip(&next).for_each(|(old, new)| *old = new + share * *old);
        }
        Ok(solution)
    }

    fn precondition(&self, residual: &[f64]) -> Vec<f64> {
        residual.iter().zip(&self.scale).map(|(value, scale)| value * scale).collect()
    }

    fn accurate(&self) -> bool {
        self.drift.is_small(&self.passes.weights, self.passes.objective)
    }
}

/// (∇²P) v, a sum over the workers.
fn hessian_product(worker: &mut Worker, curvatures: &[f64], vector: &[f64]) -> Result<Vec<f64>, Error> {
    let mut product = vec![0.0; vector.len()];
    worker.local.add_hessian_product(curvatures, vector, &mut product);
    worker.sum(&mut product)?;
    let (n, features) = (worker.local.total_rows as f64, worker.local.features());
    let lambda = worker.local.problem.lambda;
    for (at, (product, value)) in product.iter_mut().zip(vector).enumerate() {
        let penalty = if at < features { lambda } else { BIAS_DAMPING * lambda };
        *product = *product / n + penalty * value;
    }
    Ok(product)
}

fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

impl Solver for Steps {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let direction = self.direction(worker)?;
        // Twice what a step may gain.
        let slope = dot(&direction, &self.passes.gradient);
        let in_vain = slope.abs() <= ROUNDING * self.passes.objective.abs();
        let before = self.accurate().then(|| self.passes.weights.clone());
        let mut moved =
            slope < 0.0 && self.search.advance(worker, &mut self.passes, direction, 1.0)?.is_some();
        if let Some(before) = before.filter(|_| moved && !self.accurate()) {
            // Weights so large that products with the rows are rounding: nothing can be said of their objective.
            self.passes = Passes::at(worker, before)?;
            moved = false;
        }
        self.vain.count(in_vain, !moved && !in_vain);
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        &self.passes.weights
    }

    fn predictions(&self) -> Option<&[f64]> {
        self.accurate().then_some(&self.passes.predictions)
    }

    fn gradient(&self) -> Option<&[f64]> {
        self.accurate().then_some(&self.passes.gradient)
    }

    fn estimate(&self) -> Option<Estimate> {
        self.passes.estimate()
    }

    fn stuck(&self) -> bool {
        self.vain.enough()
    }

    fn save(&self) -> Vec<f64> {
        [self.vain.save(), self.first].into_iter().chain(self.passes.predictions.iter().copied()).collect()
    }
}
