//! Newton's method with conjugate gradients, for many features: products with the Hessian instead of the Hessian.
//!
//! (∇²P) s = −∇P is solved only as far as it pays, by conjugate gradients that are preconditioned by the diagonal; then a
//! search along s. A round is one step of the conjugate gradients or one search. Either is one pass over the rows and a sum
//! of as many numbers as there are features; everything else is the same on every worker and is not sent. How many steps
//! a system takes is up to the problem, so that whole Newton steps would be rounds of very different lengths, which no
//! f(m) describes. What each worker does depends on all rows alike, so rounds do not depend on how many workers there are.
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
use super::{About, Entry, Family, Floor, Passes, TakeOver, unsuited_for_corners};
use crate::footprint::{Leaves, Vectors};
use crate::local::dot;
use crate::{Algorithm, Error, Estimate, Loss, Model, Phase, Share, Solver, Worker};

/// Newton's method with conjugate gradients has no hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct NewtonCg;

pub(super) static ENTRY: Entry = Entry {
    name: "newton-cg",
    summary: "Newton steps by conjugate gradients, for many features: a round is a product with the Hessian",
    reference: "Dembo et al. 1982",
    about: About {
        idea: "A Newton step is found by conjugate gradients from products with the Hessian, which \
            is never formed, and only as exactly as pays. A line search follows.",
        suits: "Smooth losses with many features, where newton cannot hold its matrix, and small \
            lambda. The hinge has no Hessian: it is refused to plans there.",
        round: "A step of the conjugate gradients, or a line search once the system is solved well enough: \
            a pass over the rows and a sum of one number for each feature.",
        counts: "rounds",
        defaults: &[],
        floor: Floor::None,
    },
    parameters: &[],
    vectors: Vectors {
        weights: 12.0,
        rows: 5.0,
        saved_weights: 3.0,
        saved_rows: 1.0,
        leaves: Leaves::Gradient,
        ..Vectors::NONE
    },
    family: Family::SecondOrder,
    depends_on_workers: false,
    alone: None,
    settles_alone: false,
    late: true,
    on_cores: 0.46,
    takes_over: |_| TakeOver::After { rounds: STEPS + 1.0 },
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
/// Steps of a system on average over the runs of the decision.
const STEPS: f64 = 5.0;
/// Steps of a system where rows hardly curve the objective beside the penalty,
const FEWEST_STEPS: f64 = 2.0;
/// and further ones for each factor of e that they curve it more. Both are those of generated data (`tests/phases.rs` of the
/// planner's crate), and only decide how the cost of a round is shared out between steps and searches.
const STEPS_PER_FACTOR: f64 = 0.25;
/// The share of rows that are near the corner of the hinge, which alone have curvature there: about what those runs took. It is
/// different in every run.
const NEAR_THE_CORNER: f64 = 0.3;
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
        let first = norm(&passes.gradient);
        let rows = worker.local.rows();
        let Some(saved) = saved else {
            let search = LineSearch::new(worker);
            return Ok(Box::new(Steps {
                passes,
                search,
                scale,
                drift,
                first,
                vain: Vain::default(),
                system: None,
            }));
        };
        let [rounds, first, rest @ ..] = saved else { return Err(Error::damaged_worker()) };
        let (predictions, system) = rest.split_at_checked(rows).ok_or_else(Error::damaged_worker)?;
        passes.restore(worker, predictions)?;
        let system = match system {
            [] => None,
            saved => Some(System::restore(worker, &passes, saved)?),
        };
        let (search, vain) = (LineSearch::new(worker), Vain::restore(*rounds));
        Ok(Box::new(Steps { passes, search, scale, drift, first: *first, vain, system }))
    }
}

/// Steps of a system: few where the penalty decides, and more the further the curvature of the rows is above it.
fn steps(share: &Share) -> f64 {
    let curvature = share.loss.smoothness().unwrap_or(1.0);
    (FEWEST_STEPS + STEPS_PER_FACTOR * (curvature * share.condition).ln_1p()).min(MOST_STEPS as f64)
}

/// Of so many rounds all but one are steps of a system, the first of which needs the curvatures; one is the search.
fn round(share: &Share) -> Vec<Phase> {
    let steps = steps(share);
    let often = 1.0 / (steps + 1.0);
    let curved = if share.loss.smoothness().is_some() { 1.0 } else { NEAR_THE_CORNER };
    let step = Phase::once(curved * share.products() + (1.0 / steps) * share.losses(), share.dimension);
    let step = Phase { times: steps * often, ..step };
    let search = line_search::round(share).map(|phase| Phase { times: phase.times * often, ..phase });
    [step].into_iter().chain(search).collect()
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
    /// The one that is being solved.
    system: Option<System>,
}

/// (∇²P) s = −∇P, on its way to a solution.
struct System {
    /// φ'' of this worker's rows.
    curvatures: Vec<f64>,
    /// The norm of a residual that is small enough.
    goal: f64,
    steps: usize,
    /// Whether that was reached, or is not to be reached.
    ended: bool,
    solution: Vec<f64>,
    residual: Vec<f64>,
    /// Where the next step goes.
    towards: Vec<f64>,
    /// The residual times itself, preconditioned.
    product: f64,
}

impl System {
    /// As [`System::save`] left it.
    fn restore(worker: &mut Worker, passes: &Passes, saved: &[f64]) -> Result<System, Error> {
        let [goal, steps, ended, product, vectors @ ..] = saved else { return Err(Error::damaged_worker()) };
        let dimension = passes.weights.len();
        if vectors.len() != 3 * dimension {
            return Err(Error::damaged_worker());
        }
        let vector = |at: usize| vectors[at * dimension..(at + 1) * dimension].to_vec();
        Ok(System {
            curvatures: worker.local.curvatures(&passes.predictions),
            goal: *goal,
            steps: *steps as usize,
            ended: *ended != 0.0,
            solution: vector(0),
            residual: vector(1),
            towards: vector(2),
            product: *product,
        })
    }

    fn save(&self) -> Vec<f64> {
        let numbers = [self.goal, self.steps as f64, f64::from(u8::from(self.ended)), self.product];
        let vectors = [&self.solution, &self.residual, &self.towards].into_iter().flatten();
        numbers.into_iter().chain(vectors.copied()).collect()
    }
}

impl Steps {
    /// The system at the present weights.
    fn pose(&self, worker: &mut Worker) -> System {
        let residual: Vec<f64> = self.passes.gradient.iter().map(|slope| -slope).collect();
        let length = norm(&residual);
        let towards = self.precondition(&residual);
        System {
            curvatures: worker.local.curvatures(&self.passes.predictions),
            goal: length * FORCING.min((length / self.first).sqrt()),
            steps: 0,
            ended: false,
            solution: vec![0.0; residual.len()],
            product: dot(&residual, &towards),
            residual,
            towards,
        }
    }

    /// One step of the conjugate gradients.
    fn step(&self, worker: &mut Worker, system: &mut System) -> Result<(), Error> {
        let curved = hessian_product(worker, &system.curvatures, &system.towards)?;
        let step = system.product / dot(&system.towards, &curved);
        if !(step > 0.0 && step.is_finite()) {
            system.ended = true;
            return Ok(());
        }
        add(&mut system.solution, step, &system.towards);
        add(&mut system.residual, -step, &curved);
        system.steps += 1;
        system.ended = norm(&system.residual) <= system.goal || system.steps == MOST_STEPS;
        let next = self.precondition(&system.residual);
        let before = std::mem::replace(&mut system.product, dot(&system.residual, &next));
        let share = system.product / before;
        system.towards.iter_mut().zip(&next).for_each(|(old, new)| *old = new + share * *old);
        Ok(())
    }

    /// Moves along the solution of a system.
    fn advance(&mut self, worker: &mut Worker, direction: Vec<f64>) -> Result<(), Error> {
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
        match self.system.take() {
            Some(system) if system.ended => self.advance(worker, system.solution),
            system => {
                let mut system = system.unwrap_or_else(|| self.pose(worker));
                self.step(worker, &mut system)?;
                self.system = Some(system);
                Ok(())
            }
        }
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
        let system = self.system.as_ref().map(System::save).unwrap_or_default();
        let numbers = [self.vain.save(), self.first].into_iter();
        numbers.chain(self.passes.predictions.iter().copied()).chain(system).collect()
    }
}
