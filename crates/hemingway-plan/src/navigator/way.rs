//! A way to train, and what is said of ways: paths, switches, what was seen.

use serde::{Deserialize, Serialize};

use crate::Estimate;
use crate::prior::SAME_ANYWHERE;

/// One way to train.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// The algorithm.
    pub algorithm: String,
    /// On how many workers, m.
    pub workers: usize,
    /// Local work of a round in passes over a worker's own rows; 1 is usual.
    pub passes: f64,
}

impl Way {
    /// `cocoa-plus on 8 workers`.
    pub fn name(&self) -> String {
        format!("{} on {} worker{}", self.algorithm, self.workers, if self.workers == 1 { "" } else { "s" })
    }

    /// Local steps of a round on data of so many rows, where it is not one pass.
    pub fn local_steps(&self, rows: usize) -> Option<usize> {
        let share = (rows as f64 / self.workers.max(1) as f64).ceil();
        (self.passes != 1.0).then(|| ((self.passes * share).round() as usize).max(1))
    }

    /// Whether each round does about as much as the one before. Methods that learn the curvature dawdle first and hurry
    /// later.
    pub(super) fn is_steady(&self) -> bool {
        !matches!(self.algorithm.as_str(), "l-bfgs" | "newton")
    }

    /// Whether its rounds are few and long, with nothing to show before the end is near.
    pub(super) fn shows_late(&self) -> bool {
        self.algorithm == "newton"
    }

    /// Whether what one shows is true of the other.
    pub(super) fn is_kin_of(&self, other: &Way) -> bool {
        let family = |way: &Way| {
            if way.algorithm == "cocoa-plus" { "cocoa".to_owned() } else { way.algorithm.clone() }
        };
        family(self) == family(other)
    }

    /// Whether what ended in failure here would do so there. Local work does not change that, and the rounds of batch
    /// methods are the same on any number of workers.
    pub(super) fn fails_like(&self, other: &Way) -> bool {
        let alike = SAME_ANYWHERE.contains(&self.algorithm.as_str());
        self.algorithm == other.algorithm && (alike || self.workers == other.workers)
    }

    /// Whether it climbs the dual.
    pub(super) fn is_dual(&self) -> bool {
        matches!(self.algorithm.as_str(), "cocoa" | "cocoa-plus")
    }

    /// Whether it may take over from another way. Stochastic steps begin long and would undo what was reached.
    pub(super) fn can_take_over(&self) -> bool {
        !matches!(self.algorithm.as_str(), "local-sgd" | "minibatch-sgd" | "gradient-descent")
    }

    /// Rounds that go by after a switch before it gets on as it would have by itself: curvature has to be learnt anew,
    /// rows have to settle again.
    pub(super) fn rounds_to_settle_in(&self) -> f64 {
        match self.algorithm.as_str() {
            "l-bfgs" => 3.0,
            _ => 1.0,
        }
    }
}

/// Ways to choose from.
#[derive(Debug, Clone, Default)]
pub struct Ways {
    /// Those that a run may keep to.
    pub whole: Vec<Way>,
    /// Those that it may only begin with.
    pub leads: Vec<Way>,
}

impl From<Vec<Way>> for Ways {
    fn from(whole: Vec<Way>) -> Ways {
        Ways { whole, leads: Vec::new() }
    }
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leg {
    /// How to train.
    pub way: Way,
    /// Until which certified relative error.
    pub until_error: f64,
}

/// What a run is meant to do, from the present error on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The way that comes first.
    pub first: Way,
    /// The ways in sequence.
    pub path: Vec<Leg>,
    /// Seconds for the whole path, where a goal is given.
    pub seconds: Option<Estimate>,
    /// The error at the deadline, where no goal is given.
    pub error: Option<Estimate>,
    /// Rounds of the whole path.
    pub rounds: Option<Estimate>,
    /// Money for the whole path, where prices are known.
    pub price: Option<f64>,
}

/// Where a run is after a scored round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Rounds since training began, over all ways.
    pub rounds: u64,
    /// The training clock.
    pub seconds: f64,
    /// The certified relative error; infinite if nothing is certified yet.
    pub error: f64,
}

/// A stretch of an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    /// How it was trained.
    pub way: Way,
    /// The certified error at its beginning; 1 is the start of training.
    pub from: f64,
    /// The certified error at its end.
    pub to: f64,
    /// Rounds from the one to the other.
    pub rounds: f64,
    /// Seconds from the one to the other, if it ran on the same machines.
    pub seconds: Option<f64>,
}

/// A way that is better from here on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Switch {
    /// The other way.
    pub to: Way,
    /// Seconds it is predicted to save, the switch paid for.
    pub gain_seconds: f64,
    /// Why, in a sentence.
    pub reason: String,
}
