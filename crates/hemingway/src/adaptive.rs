//! An adaptive run: what it shows goes to the planner, and where another configuration is better it hands over.

use std::sync::Arc;
use std::time::Instant;

use hemingway_plan::{Configuration, HandOver as To, Next, Planner, Score};
use hemingway_train::{Checkpoint, HandOver, Point, Run, Seconds, Stop};
use serde::{Deserialize, Serialize};

/// Where so little is left to gain, a run that no longer gets on has arrived.
const DONE: f64 = 1e-9;
/// On real machines re-planning may take this share of the training clock.
const MOST_PLANNING: f64 = 0.005;

/// A change of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Switched {
    /// After which round.
    pub at_round: u64,
    /// The training clock then.
    pub at_seconds: f64,
    /// The configuration before.
    pub from: Configuration,
    /// The configuration after.
    pub to: Configuration,
    /// Why.
    pub reason: String,
}

/// Follows a run.
pub(crate) struct Adaptive {
    planner: Planner,
    /// Whether to depart from the plan.
    adapt: bool,
    /// Whether nothing changes any more, whatever the plan said.
    stays: bool,
    /// Whether a run that no longer gets on may have arrived.
    open_end: bool,
    configuration: Configuration,
    /// Whether planning is timed; on a virtual clock it is counted.
    real_clock: bool,
    /// Set when the stage is to end for another one.
    pub hand_over: Arc<HandOver>,
    wanted: Option<To>,
    /// What the run was handed over with.
    pub handed: Option<Checkpoint>,
    last: Option<f64>,
    /// What switching and re-planning took.
    pub switching_seconds: f64,
    pub planning_seconds: f64,
}

impl Adaptive {
    pub(crate) fn new(
        planner: Planner,
        configuration: Configuration,
        adapt: bool,
        open_end: bool,
        real_clock: bool,
    ) -> Adaptive {
        Adaptive {
            planner,
            adapt,
            stays: false,
            open_end,
            configuration,
            real_clock,
            hand_over: Arc::default(),
            wanted: None,
            handed: None,
            last: None,
            switching_seconds: 0.0,
            planning_seconds: 0.0,
        }
    }

    /// A round was scored. Asks for a hand-over if another configuration is better.
    pub(crate) fn observe(&mut self, point: &Point) {
        let begun = Instant::now();
        let seconds = point.seconds.0;
        self.last = Some(seconds);
        let due = !self.real_clock || self.planning_seconds <= MOST_PLANNING * seconds;
        if !due {
            return;
        }
        let score = Score { rounds: point.round, seconds, error: error_of(point) };
        let next = self.planner.observe(score);
        self.planning_seconds +=
            if self.real_clock { begun.elapsed().as_secs_f64() } else { self.planner.take_seconds() };
        if let Next::HandOver(to) = next
            && (self.adapt || to.planned)
            && !self.stays
            && self.wanted.is_none()
        {
            self.hand_over.ask(starts_from_duals(&to.to));
            self.wanted = Some(to);
        }
    }

    /// How a stage ended decides whether there is another; its beginning is what was handed over.
    pub(crate) fn next(&mut self, run: &Run) -> Option<(Switched, Checkpoint)> {
        if self.stays {
            return None;
        }
        let adapt = self.adapt;
        let failed = |planner: &mut Planner, reason: &str| match planner.failed(reason) {
            Next::HandOver(to) => Some(to),
            Next::GoOn => None,
        };
        let To { to, reason, .. } = match run.stop {
            Stop::HandedOver => self.wanted.take(),
            _ if !adapt => None,
            // As good as can be.
            Stop::NoProgress if self.open_end && run.certified_error <= DONE => None,
            Stop::NoProgress => failed(&mut self.planner, "it no longer got on"),
            Stop::Diverged => failed(&mut self.planner, "it diverged"),
            _ => None,
        }?;
        let checkpoint = self.handed.take()?;
        let reached = self.last.unwrap_or(run.seconds.0);
        self.switching_seconds += (checkpoint.seconds.0 - reached).max(0.0);
        self.hand_over = Arc::default();
        self.wanted = None;
        let from = std::mem::replace(&mut self.configuration, to.clone());
        let (at_round, at_seconds) = (checkpoint.round, checkpoint.seconds.0);
        self.planner.switched(&to, at_round, at_seconds);
        Some((Switched { at_round, at_seconds, from, to, reason }, checkpoint))
    }

    /// The next stage begins only now, because its workers had to get ready first.
    pub(crate) fn begun(&mut self, seconds: Seconds) {
        self.planner.waited(seconds.0);
    }

    /// No further changes.
    pub(crate) fn stay(&mut self) {
        self.stays = true;
    }

    /// The next stage has set itself up.
    pub(crate) fn set_up(&mut self, from: &Checkpoint, run: &Run) {
        self.switching_seconds += (run.set_up.0 - from.seconds.0).max(0.0);
    }
}

fn starts_from_duals(configuration: &Configuration) -> bool {
    hemingway_train::algorithm(&configuration.algorithm, &Default::default())
        .is_ok_and(|algorithm| algorithm.starts_from_duals())
}

/// The certified error as the planner knows it: 1 until a positive lower bound is known, and from then on falling.
pub(crate) fn error_of(point: &Point) -> f64 {
    if point.dual > 0.0 { point.certified_error.min(1.0) } else { 1.0 }
}
