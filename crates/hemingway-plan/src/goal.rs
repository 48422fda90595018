//! What is asked for: an error, a deadline, a budget, and what counts of an uncertain outcome.

use serde::{Deserialize, Serialize};

use crate::distribution::deviations;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Goal {
    /// The relative error to reach; without one, as small as can be.
    pub error: Option<f64>,
    /// Seconds that may pass.
    pub within: Option<f64>,
    /// Money that may be spent.
    pub budget: Option<f64>,
    /// Whether less money is better than less time.
    pub cheapest: bool,
    /// What counts of a distribution.
    pub risk: Risk,
}

/// What counts of a distribution of times, costs or errors.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// The average.
    #[default]
    Expected,
    /// What a share of cases, from 0 to 1, stays below.
    Quantile(f64),
}

impl Goal {
    /// ln 1/ε of the error to reach, if there is one above 0.
    pub(crate) fn progress(&self) -> Option<f64> {
        self.error.filter(|error| *error > 0.0).map(|error| -error.min(LARGEST_ERROR).ln())
    }

    /// The same without the error: as far as one gets in the time.
    pub fn best_effort(self) -> Goal {
        Goal { error: None, cheapest: false, ..self }
    }
}

impl Risk {
    /// The standard deviations by which an outcome is judged; none for the average.
    pub(crate) fn deviations(self) -> Option<f64> {
        match self {
            Risk::Expected => None,
            Risk::Quantile(share) => Some(deviations(share)),
        }
    }
}

/// An error of 1 is reached before training begins.
const LARGEST_ERROR: f64 = 0.999;
