//! CoCoA: local dual coordinate ascent, averaged.
//!
//! Each worker improves the duals of its rows as if it were alone, and the changes are averaged (γ = 1/m,
//! σ' = 1). Safe for any number of workers; progress per round shrinks with 1/m. On one worker it is plain SDCA.
//!
//! Jaggi et al., Communication-efficient distributed dual coordinate ascent, 2014.

use super::local_dual::{self, LocalDual};
use super::{About, Entry, Family, Floor, TakeOver, suits_all};
use crate::aggregation::Aggregation;
use crate::footprint::{Leaves, Vectors};
use crate::{Algorithm, Error, Model, Solver, Worker};

/// Hyperparameters of CoCoA.
#[derive(Debug, Clone, PartialEq)]
pub struct Cocoa {
    /// Local steps per round (H); a pass over the worker's rows if not given.
    pub local_steps: Option<usize>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "cocoa",
    summary: "local dual coordinate ascent, averaged; on one worker plain SDCA",
    reference: "Jaggi et al. 2014",
    about: About {
        idea: "Each worker improves the duals of its own rows as if it were alone, and the changes are \
            averaged. Each dual is set to its best value exactly, so there is no step size. Primal and dual \
            objective bracket the optimum, so the proof costs little. On one worker this is SDCA.",
        suits: "Any loss, the hinge included, and any number of features; sparse rows above all. Strong on one \
            worker and on few. On many workers averaging slows it down; cocoa-plus adds instead. Slow where \
            lambda is tiny.",
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
    alone: None,
    settles_alone: true,
    late: false,
    on_cores: 0.68,
    takes_over: |_| TakeOver::After { rounds: 0.5 },
    unsuited: suits_all,
    set_up: local_dual::set_up,
    round: local_dual::round,
    build: |given| Box::new(Cocoa { local_steps: given.local_steps }),
};

impl Algorithm for Cocoa {
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
        Ok(Box::new(LocalDual::start(worker, from, saved, Aggregation::Averaging, self.local_steps)?))
    }
}
