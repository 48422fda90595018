//! What CoCoA and CoCoA+ share: rounds of local SDCA from a model, from zero, or from a checkpoint.

use crate::aggregation::Aggregation;
use crate::score::weights_of;
use crate::sdca::{SUMS, Sdca};
use crate::{Error, Estimate, Loss, Model, Phase, Share, Solver, Worker};

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
        let (duals, weights) = begin(worker, from, saved)?;
        let mut sdca = Sdca::new(worker, duals, weights, aggregation)?;
        if let Some(saved) = saved.filter(|saved| !saved.is_empty()) {
            sdca.restore(saved)?;
        }
        Ok(LocalDual { sdca, local_steps: local_steps.unwrap_or(worker.local.rows()) })
    }
}

/// Duals of this worker's rows and their weights: those of a model or a checkpoint, or zero.
pub(super) fn begin(
    worker: &mut Worker,
    from: &Model,
    saved: Option<&[f64]>,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (rows, first) = (worker.local.rows(), worker.local.first_row);
    let duals = match &from.duals {
        Some(duals) => duals[first..first + rows].to_vec(),
        None => vec![0.0; rows],
    };
    let weights = match (&from.duals, saved) {
        (None, _) => vec![0.0; worker.local.dimension()],
        (Some(_), Some(_)) => from.weights.clone(),
        (Some(_), None) => {
            // Duals say nothing of the bias.
            let mut weights = weights_of(worker, &duals)?;
            let features = worker.local.features();
            weights[features..].copy_from_slice(&from.weights[features..]);
            weights
        }
    };
    Ok((duals, weights))
}

/// Where there is a bias, a penalty for it.
pub(super) fn set_up(share: &Share) -> Vec<Phase> {
    share.bias.then(|| Phase::once(share.squares(), 1)).into_iter().collect()
}

/// Steps on the worker's rows, whose values are read once, and once more where the dual changes.
pub(super) fn round(share: &Share) -> Vec<Phase> {
    let changed = changed(share);
    vec![Phase::once(share.steps(share.passes * share.rows, 1.0 + changed), share.dimension + SUMS)]
}

/// The share of visits that change a dual, whose row is then read once more.
pub(super) fn changed(share: &Share) -> f64 {
    if share.loss == Loss::Hinge && share.workers > 1.0 { CHANGED_ON_HINGE } else { 1.0 }
}

/// The share of visits that change a dual of the hinge: those at an end of their range often stay there. The runs of
/// `bench/prior` have it from nearly none to nearly all.
const CHANGED_ON_HINGE: f64 = 0.6;

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
