//! What CoCoA and CoCoA+ share: rounds of local SDCA from a model, from zero, or from a checkpoint.

use super::recent::Recent;
use crate::score::weights_of;
use crate::sdca::{Aggregation, Sdca};
use crate::{Error, Estimate, Model, Solver, Worker};

/// Rounds of local coordinate ascent.
pub(super) struct LocalDual {
    sdca: Sdca,
    local_steps: usize,
    /// On losses with corners the weights jump around the optimum from round to round; their average does not.
    recent: Recent,
    proposes_average: bool,
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
        let mut solver = LocalDual {
            recent: Recent::new(&weights),
            proposes_average: worker.local.problem.loss.smoothness().is_none(),
            sdca: Sdca::new(worker, duals, weights, aggregation)?,
            local_steps: local_steps.unwrap_or(rows),
        };
        if let Some(saved) = saved {
            let rest = solver.recent.restore(saved)?;
            solver.sdca.restore(rest)?;
        }
        Ok(solver)
    }
}

impl Solver for LocalDual {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.sdca.round(worker, self.recent.rounds, self.local_steps)?;
        self.recent.add(self.sdca.weights());
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        self.sdca.weights()
    }

    fn proposal(&self) -> &[f64] {
        if self.proposes_average { &self.recent.average } else { self.sdca.weights() }
    }

    fn duals(&self) -> Option<Vec<f64>> {
        Some(self.sdca.duals())
    }

    fn estimate(&self) -> Option<Estimate> {
        self.sdca.estimate()
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = self.recent.save();
        saved.extend(self.sdca.save());
        saved
    }
}
