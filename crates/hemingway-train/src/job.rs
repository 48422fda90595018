//! What an engine is asked to do.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use hemingway_data::{Dataset, Fingerprint};
use serde::{Deserialize, Serialize};

use crate::{Algorithm, Checkpoint, Error, Model, Needs, Point, Problem, Run, Seconds, StopRules};

/// One training run, without its data.
pub struct Job<'a> {
    /// What to minimise.
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
    /// Where to begin.
    pub start: Start<'a>,
    /// Checkpoints are at least this far apart in wall time; none without it.
    pub checkpoint_every: Option<Seconds>,
    /// Set from outside to end the run cleanly.
    pub interrupt: Option<&'a AtomicBool>,
    /// Set from outside, most likely by whoever observes, to go on with another configuration; read after every score.
    pub hand_over: Option<&'a HandOver>,
}

impl Job<'_> {
    /// Whether the user has asked to stop.
    pub fn interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// A request to end a run with a checkpoint that another algorithm, or another number of workers, begins from.
#[derive(Debug, Default)]
pub struct HandOver(AtomicU8);

impl HandOver {
    /// Asks for it; with a dual point if whoever takes over can use one.
    pub fn ask(&self, duals: bool) {
        self.0.store(if duals { 2 } else { 1 }, Ordering::Relaxed);
    }

    /// Whether it was asked for, and if so whether with a dual point.
    pub fn asked(&self) -> Option<bool> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            request => Some(request == 2),
        }
    }
}

/// Where a run begins.
#[derive(Clone, Copy, Default)]
pub enum Start<'a> {
    /// At zero weights.
    #[default]
    Zero,
    /// At what another run ended with, perhaps with other workers or another algorithm.
    Model(&'a Model),
    /// Where this run was interrupted. On as many workers it goes on as if nothing had happened; on fewer or more, or
    /// where it was handed over, it keeps its best weights, its duals and its proof, and its solver begins anew.
    Checkpoint(&'a Checkpoint),
}

impl Start<'_> {
    /// Training time that was spent before.
    pub fn seconds(&self) -> Seconds {
        match self {
            Start::Checkpoint(checkpoint) => checkpoint.seconds,
            Start::Zero | Start::Model(_) => Seconds(0.0),
        }
    }

    /// Whether this fits data of this size and content. A model may come from other data, a proof may not.
    pub fn check(&self, rows: usize, dimension: usize, data: Fingerprint) -> Result<(), Error> {
        let model = match self {
            Start::Zero => return Ok(()),
            Start::Model(model) => model,
            Start::Checkpoint(checkpoint) => &checkpoint.model,
        };
        let wrong = |what: &str, here: usize, there: usize| {
            Err(Error::Checkpoint(format!("it has {here} {what}, the job has {there}")))
        };
        match &model.duals {
            _ if model.weights.len() != dimension => return wrong("weights", model.weights.len(), dimension),
            Some(duals) if duals.len() != rows => return wrong("rows", duals.len(), rows),
            _ => {}
        }
        let Start::Checkpoint(checkpoint) = self else { return Ok(()) };
        checkpoint.data.difference(&data).map_or(Ok(()), |difference| Err(Error::OtherData(difference)))
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
    fn run(
        &self,
        data: &Dataset,
        job: &Job,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Run, Error>;
}
