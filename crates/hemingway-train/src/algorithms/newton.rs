//! Newton's method: the whole Hessian, for data with few features.
//!
//! A round sums gradient and Hessian over all rows and workers, solves for the step and searches along it. It needs a
//! handful of rounds whatever the conditioning, but d² numbers of memory and communication and d³ operations, so it is
//! refused beyond [`MOST_FEATURES`]. The hinge has no curvature; there it is an interior point method.

use super::Passes;
use super::curvature::factor;
use super::drift::Drift;
use super::interior_point::InteriorPoint;
use super::line_search::{LineSearch, ROUNDING};
use super::vain::Vain;
use crate::{Algorithm, Error, Estimate, Loss, Model, Parameters, Solver, Worker};

/// Newton's method has no hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Newton;

/// Beyond this the Hessian takes more than 32 MB and its solution more than a second.
pub const MOST_FEATURES: usize = 2000;

impl Algorithm for Newton {
    fn name(&self) -> &'static str {
        "newton"
    }

    fn goes_on_from_model(&self, loss: Loss) -> bool {
        loss.smoothness().is_some()
    }

    fn parameters(&self) -> Parameters {
        Parameters::default()
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
