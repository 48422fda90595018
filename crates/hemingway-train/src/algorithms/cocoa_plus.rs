//! CoCoA+: local dual coordinate ascent, added.
//!
//! Changes of all workers add up (γ = 1), and each worker's local problem expects the others to pull with it: all of them
//! as hard as it does itself in the first round (σ' = m), then twice what the last round needed (`aggregation`). The dual
//! never falls, and rounds are a half to a fifth of those with σ' = m throughout. Progress per round depends little on the
//! number of workers for smooth losses.
//!
//! How much a worker does in a round is the plan's choice, not this algorithm's: were it to follow the clock, a run on threads
//! would differ from its simulation, and from itself when it is resumed.
//!
//! Ma et al., Adding vs. averaging in distributed primal-dual optimization, 2015.

use super::local_dual::{self, LocalDual};
use super::{About, Entry, Family, Floor, TakeOver, suits_all};
use crate::aggregation::Aggregation;
use crate::footprint::{Leaves, Vectors};
use crate::{Algorithm, Error, Model, Solver, Worker};

/// Hyperparameters of CoCoA+.
#[derive(Debug, Clone, PartialEq)]
pub struct CocoaPlus {
    /// Local steps per round (H); a pass over the worker's rows if not given.
    pub local_steps: Option<usize>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "cocoa-plus",
    summary: "local dual coordinate ascent, added; scales better on smooth losses",
    reference: "Ma et al. 2015",
    about: About {
        idea: "Like cocoa, but the changes of all workers are added. Each worker's local problem expects the \
            others to change as much as it does, which keeps the sum safe, so that a round achieves about as \
            much on many workers as on few.",
        suits: "Any loss and any number of features. Better than cocoa from a few workers on where the loss is \
            smooth; on the hinge the two are closer. Slow where lambda is tiny.",
        round: "Local steps on the worker's rows, then a sum of one number for each feature.",
        counts: "rounds",
        defaults: &["a pass over the worker's rows"],
        floor: Floor::None,
    },
    parameters: &["local_steps"],
    vectors: Vectors {
        weights: 4.0,
        rows: 6.0,
        saved_weights: 1.0,
        saved_rows: 2.0,
        leaves: Leaves::Duals,
        ..Vectors::NONE
    },
    family: Family::Dual,
    depends_on_workers: true,
    alone: Some("cocoa"),
    settles_alone: true,
    late: false,
    on_cores: 0.72,
    takes_over: |_| TakeOver::After { rounds: 0.5 },
    unsuited: suits_all,
    set_up: local_dual::set_up,
    round: local_dual::round,
    build: |given| Box::new(CocoaPlus { local_steps: given.local_steps }),
};

impl Algorithm for CocoaPlus {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn starts_from_duals(&self) -> bool {
        true
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
