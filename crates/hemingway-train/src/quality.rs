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
            Labels::Several(_) => panic!("several classes are ranked, see `Ranking`"),
            Labels::Numbers => pairs.map(|(guess, target)| (guess - target).powi(2)).sum(),
        }
    }

    /// From the [`sum`](Quality::sum) over all rows.
    pub fn from_sum(labels: &Labels, sum: f64, rows: usize) -> Quality {
        let mean = sum / rows.max(1) as f64;
        match labels {
            Labels::Classes { .. } | Labels::Several(_) => Quality::Accuracy(mean),
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

/// The class of each row: the one with the largest margin, the first of those that are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The largest margin of each row so far, and whose it is.
    best: Vec<(f64, u32)>,
    classes: u32,
}

impl Ranking {
    /// Of so many rows.
    pub fn of(rows: usize) -> Ranking {
        Ranking { best: vec![(f64::NEG_INFINITY, 0); rows], classes: 0 }
    }

    /// Takes the margins of the next class, one for each row.
    pub fn add(&mut self, margins: &[f64]) {
        for (best, margin) in self.best.iter_mut().zip(margins) {
            if *margin > best.0 {
                *best = (*margin, self.classes);
            }
        }
        self.classes += 1;
    }

    /// The class of a row, by its number.
    pub fn class(&self, row: usize) -> usize {
        self.best[row].1 as usize
    }

    /// The share of rows whose class is the right one, which `classes` has by its number.
    pub fn quality(&self, classes: &[f32]) -> Quality {
        let right = self.best.iter().zip(classes).filter(|(best, class)| best.1 as f32 == **class).count();
        Quality::Accuracy(right as f64 / self.best.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_margin_wins_and_the_first_of_equal_ones() {
        let mut ranking = Ranking::of(4);
        for margins in [[-2.0, 1.0, 0.5, -1.0], [-3.0, 1.0, 0.6, -0.5], [-2.5, 0.9, 0.1, -0.5]] {
            ranking.add(&margins);
        }
        assert_eq!([0, 1, 2, 3].map(|row| ranking.class(row)), [0, 0, 1, 1]);
        assert_eq!(ranking.quality(&[0.0, 1.0, 1.0, 1.0]), Quality::Accuracy(0.75));
    }
}
