//! A dataset: the feature matrix, one target per row, and what the targets mean.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Encoding, Features, Fingerprint, Matrix};

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
    /// What became of the columns of the table that it was read from, if it was one.
    pub encoding: Option<Arc<Encoding>>,
    /// What it contains. A worker's part has that of the whole.
    pub fingerprint: Fingerprint,
}

impl Dataset {
    /// A dataset of what is in memory.
    pub fn new(name: impl Into<String>, matrix: Matrix, targets: Vec<f32>, labels: Labels) -> Dataset {
        let features = Features::all(matrix.columns());
        let fingerprint = Fingerprint::of(&matrix, &features, &targets);
        Dataset { name: name.into(), matrix, features, targets, labels, encoding: None, fingerprint }
    }

    /// What its features are called, if they have names: all of them, also those without a column in the matrix.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        self.encoding.as_ref().map(|encoding| encoding.feature_names())
    }
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
