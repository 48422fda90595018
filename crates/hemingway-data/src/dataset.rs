//! A dataset: the feature matrix, one target per row, and what the targets mean.

use serde::{Deserialize, Serialize};

use crate::{Features, Matrix};

/// Examples ready for training.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Where it came from: a path, or the spec of generated data.
    pub name: String,
    /// The features.
    pub matrix: Matrix,
    /// Which features its columns are.
    pub features: Features,
    /// One per row: -1 or +1 for two classes, the number itself for regression.
    pub targets: Vec<f32>,
    /// What the targets stand for.
    pub labels: Labels,
}

/// What targets stand for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// Two classes by the names the file gives them. One against the rest names the rest "rest".
    Classes {
        /// The label that became -1.
        negative: String,
        /// The label that became +1.
        positive: String,
    },
    /// Numbers, for regression.
    Numbers,
}
