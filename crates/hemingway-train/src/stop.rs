//! When a run ends, and why.

use serde::{Deserialize, Serialize};

use crate::{Point, Seconds};

/// The goals and limits of a run; the first one reached ends it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StopRules {
    /// Stop once the certified relative error is this small.
    pub error: Option<f64>,
    /// Stop once P is this small.
    pub objective: Option<f64>,
    /// Stop when the training clock reaches this.
    pub within: Option<Seconds>,
    /// Stop after this many rounds.
    pub rounds: Option<u64>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The certified error reached its goal.
    Error,
    /// The objective reached its goal.
    Objective,
    /// The time was up.
    Within,
    /// The money was used up.
    Budget,
    /// The rounds were used up.
    Rounds,
    /// The objective asked for is below the proved lower bound: no model has it.
    Unreachable,
    /// Neither P nor its lower bound moved any more.
    NoProgress,
    /// The objective grew without bound or stopped being a number.
    Diverged,
    /// The user interrupted.
    Interrupted,
    /// It was asked to hand over to another configuration.
    HandedOver,
}

impl StopRules {
    /// The goal that a scored point reaches, if any.
    pub fn reached(&self, point: &Point) -> Option<Stop> {
        // Where no positive lower bound is known an error is relative to the start, which nobody asked for.
        let known = point.dual > 0.0 || point.certified_error == 0.0;
        if known && self.error.is_some_and(|goal| point.certified_error <= goal) {
            Some(Stop::Error)
        } else if self.objective.is_some_and(|goal| point.primal <= goal) {
            Some(Stop::Objective)
        } else {
            None
        }
    }

    /// Whether a scored point proves that the objective asked for is out of reach, and no other goal is left.
    pub fn unreachable(&self, point: &Point) -> bool {
        self.error.is_none() && self.objective.is_some_and(|goal| point.dual > goal)
    }

    /// Whether all that is asked for is the best model within a time.
    pub fn only_time(&self) -> bool {
        self.within.is_some() && self.error.is_none() && self.objective.is_none()
    }

    /// The limit that is used up, or that one more round of such a length would exceed.
    pub fn exhausted(&self, round: u64, seconds: Seconds, next: Seconds) -> Option<Stop> {
        if self.within.is_some_and(|limit| seconds >= limit || seconds.0 + next.0 > limit.0) {
            Some(Stop::Within)
        } else if self.rounds.is_some_and(|limit| round >= limit) {
            Some(Stop::Rounds)
        } else {
            None
        }
    }
}

impl Stop {
    /// Whether what the user asked for was reached: a goal, or a limit that was itself the request.
    pub fn is_goal(self, rules: &StopRules) -> bool {
        match self {
            Stop::Error | Stop::Objective => true,
            Stop::Within | Stop::Budget | Stop::Rounds => rules.error.is_none() && rules.objective.is_none(),
            // As good as can be, before the time was up.
            Stop::NoProgress => rules.only_time(),
            Stop::Unreachable | Stop::Diverged | Stop::Interrupted | Stop::HandedOver => false,
        }
    }

    /// Whether another configuration can take over from here: this one was left for it, or makes no progress.
    pub fn hands_over(self) -> bool {
        matches!(self, Stop::HandedOver | Stop::NoProgress | Stop::Diverged)
    }

    /// A sentence for people.
    pub fn reason(self) -> &'static str {
        match self {
            Stop::Error => "the certified error reached the goal",
            Stop::Objective => "the objective reached the goal",
            Stop::Within => "the time was up",
            Stop::Budget => "the budget was used up",
            Stop::Rounds => "the rounds were used up",
            Stop::Unreachable => "no model reaches the objective asked for",
            Stop::NoProgress => "no further progress",
            Stop::Diverged => "the objective diverged",
            Stop::Interrupted => "interrupted",
            Stop::HandedOver => "handed over",
        }
    }
}
