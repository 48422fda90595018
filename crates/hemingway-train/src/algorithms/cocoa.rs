//! CoCoA: local dual coordinate ascent, averaged.
//!
//! Each worker improves the duals of its rows as if it were alone, and the changes are averaged (γ = 1/m,
//! σ' = 1). Safe for any number of workers; progress per round shrinks with 1/m. On one worker it is plain SDCA.
//!
//! Jaggi et al., Communication-efficient distributed dual coordinate ascent, 2014.

use super::local_dual::LocalDual;
use crate::sdca::Aggregation;
use crate::{Algorithm, Error, Model, Parameters, Solver, Worker};

/// Hyperparameters of CoCoA.
#[derive(Debug, Clone, PartialEq)]
pub struct Cocoa {
    /// Local steps per round (H); a pass over the worker's rows if not given.
    pub local_steps: Option<usize>,
}

impl Algorithm for Cocoa {
    fn name(&self) -> &'static str {
        "cocoa"
    }

    fn starts_from_duals(&self) -> bool {
        true
    }

    fn parameters(&self) -> Parameters {
        Parameters { local_steps: self.local_steps, ..Parameters::default() }
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        Ok(Box::new(LocalDual::start(worker, from, saved, Aggregation::Averaging, self.local_steps)?))
    }
}
