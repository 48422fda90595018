//! What an experiment takes, from whatever is known.
//!
//! With several configurations measured, their system model; else one from elsewhere; else from the nearest measured
//! run, half of whose time is taken to be shared by workers and to grow with the data. With nothing measured costs are
//! relative: in iterations of one worker on all of the data.

use std::collections::BTreeSet;

use super::Question;
use crate::{Observation, SystemModel};

/// Fewer configurations do not make a model of costs.
const FEWEST: usize = 3;
/// Of an iteration: what is not divided among workers, as long as nothing is known.
const FIXED: f64 = 0.5;

/// Seconds of runs.
#[derive(Debug)]
pub(crate) enum Costs {
    Model(Box<SystemModel>),
    /// A measured configuration with its seconds per iteration.
    Scaled {
        workers: f64,
        fraction: f64,
        seconds: f64,
    },
    Relative,
}

impl Costs {
    pub fn new(known: &[Observation], question: &Question) -> Costs {
        let timed = known.iter().filter(|o| o.seconds.is_some());
        let configurations: BTreeSet<(usize, u64)> =
            timed.map(|o| (o.workers, o.fraction.to_bits())).collect();
        let measured = SystemModel::fit(known).ok();
        match (measured, &question.costs) {
            (Some(model), _) if configurations.len() >= FEWEST => Costs::Model(Box::new(model)),
            (_, Some(elsewhere)) => Costs::Model(Box::new(elsewhere.clone())),
            (Some(model), None) => Costs::scaled(&model, &configurations),
            (None, None) => Costs::Relative,
        }
    }

    /// From the configuration with the most workers.
    fn scaled(model: &SystemModel, configurations: &BTreeSet<(usize, u64)>) -> Costs {
        let Some(&(workers, fraction)) = configurations.last() else { return Costs::Relative };
        let fraction = f64::from_bits(fraction);
        let seconds = model.seconds_per_iteration(workers, fraction).mean;
        Costs::Scaled { workers: workers as f64, fraction, seconds }
    }

    /// Whether seconds are not known at all.
    pub fn is_relative(&self) -> bool {
        matches!(self, Costs::Relative)
    }

    /// Of a whole run.
    pub fn seconds(&self, workers: f64, fraction: f64, rounds: u64) -> f64 {
        match self {
            Costs::Model(model) => model.seconds(workers as usize, fraction, rounds).mean,
            _ => rounds as f64 * self.per_iteration(workers, fraction),
        }
    }

    /// Of one iteration.
    pub fn per_iteration(&self, workers: f64, fraction: f64) -> f64 {
        let share = |work: f64| FIXED + (1.0 - FIXED) * work;
        match self {
            Costs::Model(model) => model.seconds_per_iteration(workers as usize, fraction).mean,
            Costs::Scaled { workers: m, fraction: s, seconds } => {
                seconds * share((fraction / workers) / (s / m))
            }
            Costs::Relative => share(fraction / workers),
        }
    }
}
