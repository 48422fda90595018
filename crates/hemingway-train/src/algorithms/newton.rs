//! Newton's method: the whole Hessian, for data with few features.
//!
//! A round sums gradient and Hessian over all rows and workers, solves for the step and searches along it. It needs a
//! handful of rounds whatever the conditioning, but d² numbers of memory and communication and d³ operations, so it is
//! refused beyond [`MOST_FEATURES`]. The hinge has no curvature; there it is an interior point method.

use super::curvature::{self, factor};
use super::drift::Drift;
use super::interior_point::{self, InteriorPoint};
use super::line_search::{self, LineSearch, ROUNDING};
use super::vain::Vain;
use super::{About, Entry, Family, Floor, Passes, TakeOver};
use crate::footprint::{Leaves, Vectors};
use crate::{Algorithm, Error, Estimate, Loss, Model, Phase, Share, Solver, Worker};

/// Newton's method has no hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Newton;

/// Beyond this the Hessian takes more than 32 MB and its solution more than a second.
pub const MOST_FEATURES: usize = 2000;

pub(super) static ENTRY: Entry = Entry {
    name: "newton",
    summary: "whole Hessian, for few features: few rounds whatever the data; on the hinge an interior point method",
    reference: "Newton 1669",
    about: About {
        idea: "A round sums gradient and Hessian over all rows, solves for the step, and searches along it. On \
            the hinge, which has no curvature, it is an interior point method.",
        suits: "Any loss with few features, at most 2,000, and problems that are so badly conditioned that \
            others take thousands of rounds. Its error hardly falls before the goal is near, so it does not \
            suit short deadlines.",
        round: "The squares of all features of the worker's rows, a sum of as many numbers as the square of the \
            features, and a linear system of that size on every worker. A few rounds to some dozens are \
            enough.",
        counts: "rounds",
        defaults: &[],
        floor: Floor::None,
    },
    parameters: &[],
    vectors: Vectors {
        weights: 9.0,
        rows: 4.0,
        squares: 3.0,
        saved_rows: 1.0,
        hinge_rows: 12.0,
        leaves: Leaves::Gradient,
        ..Vectors::NONE
    },
    family: Family::SecondOrder,
    depends_on_workers: false,
    alone: None,
    settles_alone: false,
    late: true,
    on_cores: 0.77,
    takes_over,
    unsuited,
    set_up,
    round,
    build: |_| Box::new(Newton),
};

impl Algorithm for Newton {
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
        let dimension = worker.local.dimension();
        if dimension > MOST_FEATURES {
            return Err(Error::TooManyFeatures {
                algorithm: "newton",
                features: dimension,
                most: MOST_FEATURES,
            });
        }
        if worker.local.problem.loss == Loss::Hinge {
            return Ok(Box::new(InteriorPoint::start(worker, saved)?));
        }
        let mut passes = Passes::at(worker, from.weights.clone())?;
        let mut vain = Vain::default();
        if let Some(saved) = saved {
            let (rounds, predictions) = saved.split_first().ok_or_else(Error::damaged_worker)?;
            if predictions.len() != worker.local.rows() {
                return Err(Error::damaged_worker());
            }
            vain = Vain::restore(*rounds);
            passes.restore(worker, predictions)?;
        }
        Ok(Box::new(Steps { passes, search: LineSearch::new(worker), drift: Drift::of(worker)?, vain }))
    }
}

/// The interior point method has a path of its own, from the middle outwards.
fn takes_over(loss: Loss) -> TakeOver {
    if loss == Loss::Hinge { TakeOver::Anew } else { TakeOver::After { rounds: 1.0 } }
}

fn unsuited(dimension: usize, _: Loss) -> Option<String> {
    let entries = (dimension as f64).powi(2) / 1e6;
    (dimension > MOST_FEATURES).then(|| {
        format!("a Hessian of {dimension} weights has {entries:.0} million entries; at most {MOST_FEATURES} weights are allowed")
    })
}

/// The squares of all values, and a pass at the first weights.
fn set_up(share: &Share) -> Vec<Phase> {
    let squares = Phase::once(share.squares(), 1);
    match share.loss {
        Loss::Hinge => vec![squares, Phase::once(share.half_pass(), share.dimension)],
        _ => vec![Phase::once(share.steps(share.rows, 2.0), share.dimension + 1), squares],
    }
}

fn round(share: &Share) -> Vec<Phase> {
    match share.loss {
        Loss::Hinge => interior_point::round(share),
        _ => [vec![curvature::factor_cost(share, 0)], line_search::round(share).into()].concat(),
    }
}

struct Steps {
    passes: Passes,
    search: LineSearch,
    drift: Drift,
    vain: Vain,
}

impl Steps {
    /// −(∇²P)⁻¹∇P.
    fn direction(&self, worker: &mut Worker) -> Result<Vec<f64>, Error> {
        let curvatures = worker.local.curvatures(&self.passes.predictions);
        let system = factor(worker, &curvatures, &mut [])?;
        let mut direction: Vec<f64> = self.passes.gradient.iter().map(|slope| -slope).collect();
        system.solve(&mut direction);
        Ok(direction)
    }

    fn accurate(&self) -> bool {
        self.drift.is_small(&self.passes.weights, self.passes.objective)
    }
}

impl Solver for Steps {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let direction = self.direction(worker)?;
        // Twice what a step may gain.
        let slope = crate::local::dot(&direction, &self.passes.gradient);
        let in_vain = slope.abs() <= ROUNDING * self.passes.objective.abs();
        let moved = slope < 0.0 && self.search.advance(worker, &mut self.passes, direction, 1.0)?.is_some();
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
        std::iter::once(self.vain.save()).chain(self.passes.predictions.iter().copied()).collect()
    }
}
