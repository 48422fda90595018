//! What a problem is like: the characters of its data, the loss and the penalty.

use hemingway_train::{Cluster, DataProfile, Loss, Problem};
use serde::{Deserialize, Serialize};

use crate::prior::seconds;

/// A problem as the planner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What the data is like.
    #[serde(flatten)]
    pub data: DataProfile,
    /// What is minimised.
    pub loss: Loss,
    /// The strength of the penalty, λ.
    pub lambda: f64,
    /// Whether the model has a constant term.
    pub bias: bool,
}

impl Profile {
    /// Of this data for this problem.
    pub fn new(data: DataProfile, problem: &Problem) -> Profile {
        Profile { data, loss: problem.loss, lambda: problem.lambda, bias: problem.bias }
    }

    /// The problem again.
    pub fn problem(&self) -> Problem {
        Problem { loss: self.loss, lambda: self.lambda, bias: self.bias }
    }

    /// Length of a weight vector.
    pub fn dimension(&self) -> usize {
        self.data.features + usize::from(self.bias)
    }

    /// What making the profile takes on the number of workers that is quickest at it.
    pub fn seconds(&self, cluster: &Cluster, workers: &[usize]) -> f64 {
        let on = |&workers: &usize| seconds(&self.data.phases(self.loss, workers), "", workers, cluster);
        workers.iter().map(on).fold(f64::INFINITY, f64::min)
    }

    /// R²: the mean squared norm of a row, with the constant of a bias.
    pub(crate) fn squared_norm(&self) -> f64 {
        self.data.mean_squared_norm + self.constant()
    }

    /// R²/λ: what methods with whole gradients feel. Far beyond all experiments nothing more is known.
    pub(crate) fn condition(&self) -> f64 {
        (self.squared_norm() / self.lambda).min(MOST_CONDITION)
    }

    /// κ = R²/(λn): how much one row curves the dual.
    pub(crate) fn curvature(&self) -> f64 {
        self.condition() / self.data.rows.max(1) as f64
    }

    /// R²/L: over how many directions the data spreads.
    pub(crate) fn spread(&self) -> f64 {
        let largest = self.data.largest_eigenvalue() + self.constant();
        if largest > 0.0 { (self.squared_norm() / largest).max(1.0) } else { 1.0 }
    }

    /// Σ e/(e + λ), at least one direction.
    pub(crate) fn effective_dimension(&self) -> f64 {
        (self.data.effective_dimension(self.lambda) + self.constant()).max(1.0)
    }

    fn constant(&self) -> f64 {
        f64::from(u8::from(self.bias))
    }
}

/// A limit keeps what is predicted a number.
const MOST_CONDITION: f64 = 1e100;
