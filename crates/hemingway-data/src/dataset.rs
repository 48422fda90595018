//! A dataset: the feature matrix, one target per row, what the targets mean, and how much each row counts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Encoding, Error, Features, Fingerprint, Matrix};

/// Examples ready for training.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Where it came from: a path, or the spec of generated data.
    pub name: String,
    /// The features.
    pub matrix: Matrix,
    /// Which features its columns are.
    pub features: Features,
    /// One per row: -1 or +1 for two classes, the number of the class for several, the number itself for regression.
    pub targets: Vec<f32>,
    /// How often each row counts in the loss, one number per row; nothing where each counts once.
    pub weights: Option<Vec<f32>>,
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
        let fingerprint = Fingerprint::of(&matrix, &features, &targets, None);
        let (name, weights, encoding) = (name.into(), None, None);
        Dataset { name, matrix, features, targets, weights, labels, encoding, fingerprint }
    }

    /// What its features are called, if they have names: all of them, also those without a column in the matrix.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        self.encoding.as_ref().map(|encoding| encoding.feature_names())
    }

    /// The same rows, each counting as often as its weight says: 0 leaves a row out of the loss.
    pub fn with_weights(self, weights: Vec<f32>) -> Result<Dataset, Error> {
        assert_eq!(weights.len(), self.matrix.rows(), "a weight for each row");
        let unusable = weights.iter().position(|weight| !is_weight(*weight));
        if let Some(row) = unusable {
            return Err(Error::RowWeight { file: self.name, row: row + 1, weight: weights[row] });
        }
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err(Error::NoWeight { file: self.name });
        }
        let fingerprint = Fingerprint::of(&self.matrix, &self.features, &self.targets, Some(&weights));
        Ok(Dataset { weights: Some(weights), fingerprint, ..self })
    }

    /// How often this row counts in the loss.
    pub fn weight(&self, row: usize) -> f32 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }
}

/// Whether a row may count so often: a number that is finite and not below 0.
pub(crate) fn is_weight(weight: f32) -> bool {
    weight >= 0.0 && weight.is_finite()
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
    /// More than two classes, in the order of their names; a target is the place of its class in it, from 0.
    Several(Vec<String>),
    /// Numbers, for regression.
    Numbers,
}
