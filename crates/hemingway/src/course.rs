//! The course of a run: what it shows is held against the plan, and where another way is better it goes on that way.

use std::sync::Arc;
use std::time::Instant;

use hemingway_plan::{Navigator, Requirement, Seen, Switch, Way, decide};
use hemingway_train::{Checkpoint, HandOver, Point, Run, Seconds, Stop};
use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::planning::Planning;

/// No run changes its way more often.
const MOST_SWITCHES: usize = 12;

/// No other way is looked for where there is so little left to gain.
const DONE: f64 = 1e-9;
/// On real machines nothing is changed before this many seconds.
const EARLIEST: f64 = 0.05;
/// Re-planning may take this share of the training clock.
const MOST_PLANNING: f64 = 0.005;

/// A change of the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Switched {
    /// After which round.
    pub at_round: u64,
    /// The training clock then.
    pub at_seconds: f64,
    /// The way before.
    pub from: Way,
    /// The way after.
    pub to: Way,
    /// Why.
    pub reason: String,
}

/// Follows a run.
pub(crate) struct Course {
    navigator: Navigator,
    /// The navigator without what was remembered, for the case that it is wrong.
    unbiased: Option<(Navigator, Memory)>,
    asked: Requirement,
    adapt: bool,
    way: Way,
    /// Set when the way is to be changed.
    pub hand_over: Arc<HandOver>,
    wanted: Option<Switch>,
    switches: usize,
    /// No switch before this much training time.
    earliest: f64,
    /// What the run was handed over with.
    pub handed: Option<Checkpoint>,
    last: Option<Seen>,
    /// What switching and re-planning took.
    pub switching_seconds: f64,
    pub planning_seconds: f64,
    /// What was noticed on the way.
    pub notes: Vec<String>,
}

impl Course {
    /// Follows a run that was just planned.
    pub(crate) fn new(planning: Planning, unlearnt: Option<Navigator>, adapt: bool) -> Option<Course> {
        let way = planning.way?;
        let asked = planning.explanation.asked;
        let memory = planning.memory;
        let unbiased = unlearnt.filter(|_| !memory.lessons.is_empty()).map(|navigator| (navigator, memory));
        Some(Course::of(planning.navigator, asked, way, adapt, unbiased))
    }

    /// Follows a run that goes on.
    pub(crate) fn of(
        navigator: Navigator,
        asked: Requirement,
        way: Way,
        adapt: bool,
        unbiased: Option<(Navigator, Memory)>,
    ) -> Course {
        Course {
            navigator,
            unbiased,
            asked,
            adapt,
            way,
            hand_over: Arc::default(),
            wanted: None,
            switches: 0,
            earliest: 0.0,
            handed: None,
            last: None,
            switching_seconds: 0.0,
            planning_seconds: 0.0,
            notes: Vec::new(),
        }
    }

    /// The same where a switch takes real time, which does not pay in runs of a few milliseconds.
    pub(crate) fn on_real_machines(self) -> Course {
        Course { earliest: EARLIEST, ..self }
    }

    /// The present way.
    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    /// A round was scored. Asks for a hand-over if another way is better.
    pub(crate) fn see(&mut self, point: &Point) {
        let begun = Instant::now();
        let seen = Seen { rounds: point.round, seconds: point.seconds.0, error: error_of(point) };
        self.last = Some(seen);
        self.doubt(&seen);
        self.navigator.see(&seen);
        let due = self.planning_seconds <= MOST_PLANNING * seen.seconds && seen.seconds >= self.earliest;
        if self.adapt && due && self.wanted.is_none() && self.switches < MOST_SWITCHES {
            self.wanted = self.navigator.advise();
            if let Some(switch) = &self.wanted {
                self.hand_over.ask(starts_from_duals(&switch.to));
            }
        }
        self.planning_seconds += begun.elapsed().as_secs_f64();
    }

    /// Drops what was remembered if the run contradicts it.
    fn doubt(&mut self, seen: &Seen) {
        let Some((navigator, memory)) = &mut self.unbiased else { return };
        navigator.see(seen);
        let Some(contradiction) = memory.contradicted(&self.way, seen) else { return };
        self.notes.push(format!("what earlier runs showed no longer holds and is dropped: {contradiction}"));
        if let Some((unbiased, _)) = self.unbiased.take() {
            self.navigator = unbiased;
        }
    }

    /// How a stage ended decides whether there is another; its beginning is what was handed over.
    pub(crate) fn next(&mut self, run: &Run) -> Option<(Switched, Checkpoint)> {
        if !self.adapt {
            return None;
        }
        let switch = match run.stop {
            Stop::HandedOver => self.wanted.take(),
            // As good as can be.
            Stop::NoProgress if self.asked.error.is_none() && run.certified_error <= DONE => None,
            Stop::NoProgress | Stop::Diverged => self.way_out(run.stop),
            _ => None,
        }?;
        let checkpoint = self.handed.take()?;
        let reached = self.last.map_or(run.seconds.0, |seen| seen.seconds);
        self.switching_seconds += (checkpoint.seconds.0 - reached).max(0.0);
        self.hand_over = Arc::default();
        self.switches += 1;
        // What is remembered of the first way says nothing about what comes after another.
        self.unbiased = None;
        let from = std::mem::replace(&mut self.way, switch.to.clone());
        let switched = Switched {
            at_round: checkpoint.round,
            at_seconds: checkpoint.seconds.0,
            from,
            to: switch.to,
            reason: switch.reason,
        };
        self.navigator.switched(&switched.to, checkpoint.seconds.0);
        Some((switched, checkpoint))
    }

    /// The next stage begins only now, because its workers had to get ready first.
    pub(crate) fn begun(&mut self, seconds: Seconds) {
        self.navigator.waited(seconds.0);
    }

    /// No further changes.
    pub(crate) fn stay(&mut self) {
        self.adapt = false;
    }

    /// The next stage has set itself up.
    pub(crate) fn set_up(&mut self, from: &Checkpoint, run: &Run) {
        self.switching_seconds += (run.set_up.0 - from.seconds.0).max(0.0);
    }

    /// The best way that has not led nowhere.
    fn way_out(&mut self, stop: Stop) -> Option<Switch> {
        self.navigator.failed(&self.way);
        let asked = Requirement { within: None, budget: None, cheapest: false, ..self.asked };
        let best = decide(self.navigator.candidates(), &asked).plan?;
        let to = Way { algorithm: best.algorithm, workers: best.workers, passes: 1.0 };
        let reason = match stop {
            Stop::Diverged => "it diverged",
            _ => "it no longer got anywhere",
        };
        Some(Switch { to, gain_seconds: f64::INFINITY, reason: reason.to_owned() })
    }
}

fn starts_from_duals(way: &Way) -> bool {
    hemingway_train::algorithm(&way.algorithm, &Default::default())
        .is_ok_and(|algorithm| algorithm.starts_from_duals())
}

/// The certified error as the navigator knows it: 1 until a positive lower bound is known, and from then on falling.
pub(crate) fn error_of(point: &Point) -> f64 {
    if point.dual > 0.0 { point.certified_error.min(1.0) } else { 1.0 }
}
