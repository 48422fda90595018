//! What an engine is asked to do.

use std::sync::atomic::{AtomicBool, Ordering};

use hemingway_data::Dataset;
use serde::{Deserialize, Serialize};

use crate::{Algorithm, Checkpoint, Error, Needs, Point, Problem, Run, Seconds, StopRules};

/// One training run.
pub struct Job<'a> {
    /// The training data.
    pub data: &'a Dataset,
    /// What to minimise on it.
    pub problem: Problem,
    /// How.
    pub algorithm: &'a dyn Algorithm,
    /// On how many workers, at least 1 and at most one per row.
    pub workers: usize,
    /// All randomness comes from here.
    pub seed: u64,
    /// When to end.
    pub stop: StopRules,
    /// How much to spend on scoring.
    pub scoring: Scoring,
    /// Go on from here instead of from zero.
    pub resume: Option<&'a Checkpoint>,
    /// Checkpoints are at least this far apart in wall time; none without it.
    pub checkpoint_every: Option<Seconds>,
    /// Set from outside to end the run cleanly.
    pub interrupt: Option<&'a AtomicBool>,
}

impl Job<'_> {
    /// Whether the user has asked to stop.
    pub fn interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// How often a run is scored. Scoring is off the training clock, but the user waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// At most this fraction of the work goes into scoring; more often near the goal.
    Share(f64),
    /// After every so many rounds.
    Every(u64),
}

impl Default for Scoring {
    fn default() -> Scoring {
        Scoring::Share(0.08)
    }
}

/// What happens while a job runs, in order.
pub enum Event<'a> {
    /// A round was scored.
    Point(&'a Point),
    /// A state to resume from.
    Checkpoint(&'a Checkpoint),
}

/// A place where jobs run. All that planners and reports see of training.
pub trait Engine {
    /// The name users write.
    fn name(&self) -> &'static str;
    /// Whether it can run an algorithm that needs this.
    fn offers(&self, needs: Needs) -> bool;
    /// Runs a job to its end; `observe` sees each point and checkpoint as it happens and may refuse to go on.
    fn run(&self, job: &Job, observe: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<Run, Error>;
}
