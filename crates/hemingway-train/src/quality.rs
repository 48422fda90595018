//! How well a model predicts.

use hemingway_data::{Dataset, Labels};
use serde::{Deserialize, Serialize};

/// How well a model predicts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// The share of rows with the right class.
    Accuracy(f64),
    /// The root of the mean squared error.
    Rmse(f64),
}

impl Quality {
    /// Compares predictions x·w with targets.
    pub fn of(predictions: &[f64], data: &Dataset) -> Quality {
        Quality::from_sum(&data.labels, Quality::sum(predictions, data), predictions.len())
    }

    /// Rows with the right class, or the squared errors: what parts of a dataset can add up. A prediction of exactly
    /// 0 counts as the positive class.
    pub fn sum(predictions: &[f64], data: &Dataset) -> f64 {
        let pairs = predictions.iter().zip(&data.targets).map(|(guess, target)| (*guess, f64::from(*target)));
        match data.labels {
            Labels::Classes { .. } => {
                pairs.filter(|(guess, target)| (*guess >= 0.0) == (*target > 0.0)).count() as f64
            }
            Labels::Numbers => pairs.map(|(guess, target)| (guess - target).powi(2)).sum(),
        }
    }

    /// From the [`sum`](Quality::sum) over all rows.
    pub fn from_sum(labels: &Labels, sum: f64, rows: usize) -> Quality {
        let mean = sum / rows.max(1) as f64;
        match labels {
            Labels::Classes { .. } => Quality::Accuracy(mean),
            Labels::Numbers => Quality::Rmse(mean.sqrt()),
        }
    }

    /// The accuracy, for classes.
    pub fn accuracy(self) -> Option<f64> {
        match self {
            Quality::Accuracy(share) => Some(share),
            Quality::Rmse(_) => None,
        }
    }

    /// The root of the mean squared error, for numbers.
    pub fn rmse(self) -> Option<f64> {
        match self {
            Quality::Accuracy(_) => None,
            Quality::Rmse(error) => Some(error),
        }
    }
}
