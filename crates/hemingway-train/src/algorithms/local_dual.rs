//! What CoCoA and CoCoA+ share: rounds of local SDCA from a model, from zero, or from a checkpoint.

use crate::score::weights_of;
use crate::sdca::{Aggregation, Sdca};
use crate::{Error, Estimate, Model, Solver, Worker};

/// Rounds of local coordinate ascent.
pub(super) struct LocalDual {
    sdca: Sdca,
    local_steps: usize,
}

impl LocalDual {
    pub(super) fn start(
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
        aggregation: Aggregation,
        local_steps: Option<usize>,
    ) -> Result<LocalDual, Error> {
        let (rows, first) = (worker.local.rows(), worker.local.first_row);
        let duals = match &from.duals {
            Some(duals) => duals[first..first + rows].to_vec(),
            None => vec![0.0; rows],
        };
        let weights = match (&from.duals, saved) {
            (None, _) => vec![0.0; worker.local.dimension()],
            (Some(_), Some(_)) => from.weights.clone(),
            (Some(_), None) => weights_of(worker, &duals)?,
        };
        let mut sdca = Sdca::new(worker, duals, weights, aggregation)?;
        if let Some(saved) = saved.filter(|saved| !saved.is_empty()) {
            sdca.restore(saved)?;
        }
        Ok(LocalDual { sdca, local_steps: local_steps.unwrap_or(rows) })
    }
}

impl Solver for LocalDual {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.sdca.round(worker, self.local_steps)
    }

    fn weights(&self) -> &[f64] {
        self.sdca.weights()
    }

    fn proposal(&self) -> &[f64] {
        self.sdca.proposal()
    }

    fn duals(&self) -> Option<Vec<f64>> {
        Some(self.sdca.duals())
    }

    fn estimate(&self) -> Option<Estimate> {
        self.sdca.estimate()
    }

    fn save(&self) -> Vec<f64> {
        self.sdca.save()
    }
}
