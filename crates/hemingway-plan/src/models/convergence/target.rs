//! What the values of a trace mean.

use serde::{Deserialize, Serialize};

/// What the values of a trace mean, and so which transformation makes them straight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The distance to the optimum, above 0.
    SubOptimality,
    /// An objective whose optimum P* is only known to lie in a bracket.
    Loss {
        /// A proved lower bound of the optimum.
        lower: f64,
        /// The smallest value known to be possible.
        upper: f64,
    },
    /// Any figure that gets better with training, towards a limit that nobody knows.
    Metric(Better),
}

/// Which way a metric improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// As accuracy does.
    Higher,
    /// As an error rate does.
    Lower,
}

impl Target {
    /// The factor that makes small values good ones.
    pub(crate) fn sign(self) -> f64 {
        if self == Self::Metric(Better::Higher) { -1.0 } else { 1.0 }
    }
}

/// The map between values as they are given and levels, the natural logarithm of the gap to the optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) sign: f64,
    pub(crate) optimum: f64, // P*, after the sign
}

impl Scale {
    pub(crate) fn level(self, value: f64) -> f64 {
        (self.sign * value - self.optimum).ln()
    }

    pub(crate) fn value(self, level: f64) -> f64 {
        self.sign * (self.optimum + level.exp())
    }
}
