//! CoCoA+: local dual coordinate ascent, added.
//!
//! Changes of all workers add up (γ = 1), and each worker's local problem expects the others to change as much as
//! it does (σ' = m), which keeps the sum safe. Progress per round hardly depends on the number of workers for
//! smooth losses.
//!
//! Ma et al., Adding vs. averaging in distributed primal-dual optimization, 2015.

use super::local_dual::LocalDual;
use crate::sdca::Aggregation;
use crate::{Algorithm, Error, Model, Parameters, Solver, Worker};

/// Hyperparameters of CoCoA+.
#[derive(Debug, Clone, PartialEq)]
pub struct CocoaPlus {
    /// Local steps per round (H); a pass over the worker's rows if not given.
    pub local_steps: Option<usize>,
}

impl Algorithm for CocoaPlus {
    fn name(&self) -> &'static str {
        "cocoa-plus"
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
        Ok(Box::new(LocalDual::start(worker, from, saved, Aggregation::Adding, self.local_steps)?))
    }
}
