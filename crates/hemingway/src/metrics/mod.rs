//! How good predictions are, in the figures that people compare models by.
//!
//! The figures are plain functions over slices, for any number of classes: `classes` counts rows, `ranking` orders them,
//! `numbers` measures distances. [`Metrics`] is what all of them say of one set of predictions. A figure that cannot be
//! computed is absent, and [`Absent`] says why; none is ever NaN.

mod classes;
mod numbers;
mod ranking;

use serde::{Deserialize, Serialize};

pub use classes::{accuracy, confusion, f1, log_loss, macro_f1};
pub use numbers::{mae, r_squared, rmse};
pub use ranking::{auc, macro_auc};

/// All figures of one set of predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Metrics {
    /// Of classes.
    Classes(ClassMetrics),
    /// Of numbers.
    Numbers(NumberMetrics),
}

/// How well classes are told apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassMetrics {
    /// Rows that were predicted.
    pub rows: usize,
    /// The share of rows with the right class.
    pub accuracy: f64,
    /// The mean of −ln p, where p is the probability given to the right class.
    pub log_loss: Option<f64>,
    /// The area under the ROC curve; the mean of each class against the rest where there are more than two.
    pub auc: Option<f64>,
    /// The harmonic mean of precision and recall of the positive class; the mean over classes where there are more than two.
    pub f1: Option<f64>,
    /// Which classes were taken for which.
    pub confusion: Confusion,
    /// What could not be computed.
    pub absent: Vec<Absent>,
}

/// How far predicted numbers are off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberMetrics {
    /// Rows that were predicted.
    pub rows: usize,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The share of the variance that is explained; below 0 where the mean of all labels would be a better prediction.
    pub r_squared: Option<f64>,
    /// What could not be computed.
    pub absent: Vec<Absent>,
}

/// How many rows of which class were taken for which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confusion {
    /// The classes; the negative one first where there are two.
    pub classes: Vec<String>,
    /// A list for each actual class: how many of its rows were predicted to be of each class.
    pub counts: Vec<Vec<usize>>,
}

/// A figure that could not be computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Absent {
    /// Its name, as a field of the metrics.
    pub metric: String,
    /// Why not.
    pub reason: String,
}

/// Classes as they were predicted, and what the prediction was made from. Classes are counted from 0.
#[derive(Debug, Clone, Copy)]
pub struct ClassPredictions<'a> {
    /// Their names; the negative one first where there are two.
    pub names: &'a [String],
    /// The right class of each row.
    pub actual: &'a [usize],
    /// The predicted class of each row.
    pub predicted: &'a [usize],
    /// For each class, a score for each row: the larger, the more likely it is of this class.
    pub scores: &'a [Vec<f64>],
    /// For each class, its probability for each row, where the model says any.
    pub probabilities: Option<&'a [Vec<f64>]>,
}

impl ClassPredictions<'_> {
    /// All figures.
    pub fn metrics(&self) -> ClassMetrics {
        let counts = confusion(self.actual, self.predicted, self.names.len());
        let (log_loss, auc, f1) = (self.log_loss(), self.auc(), self.f1(&counts));
        let reasons = [
            ("log_loss", log_loss.is_none(), "the model gives no probabilities".to_owned()),
            ("auc", auc.is_none(), self.why_no_auc(&counts)),
            ("f1", f1.is_none(), "no row is of the positive class or was predicted to be".to_owned()),
        ];
        ClassMetrics {
            rows: self.actual.len(),
            accuracy: accuracy(self.actual, self.predicted),
            log_loss,
            auc,
            f1,
            confusion: Confusion { classes: self.names.to_vec(), counts },
            absent: absent(reasons),
        }
    }

    fn log_loss(&self) -> Option<f64> {
        let probabilities = self.probabilities?;
        let of_right = self.actual.iter().enumerate().map(|(row, class)| probabilities[*class][row]);
        Some(log_loss(of_right))
    }

    fn auc(&self) -> Option<f64> {
        match self.scores {
            [_, positive] => auc(positive, &is_class(self.actual, 1)),
            scores => macro_auc(scores, self.actual),
        }
    }

    fn f1(&self, counts: &[Vec<usize>]) -> Option<f64> {
        if self.names.len() == 2 { f1(counts, 1) } else { macro_f1(counts) }
    }

    fn why_no_auc(&self, counts: &[Vec<usize>]) -> String {
        let rows = |class: &usize| counts[*class].iter().sum::<usize>();
        match (0..counts.len()).find(|class| rows(class) == 0) {
            Some(class) => format!("no row is of the class {}", self.names[class]),
            None => "all rows are of one class".to_owned(),
        }
    }
}

impl NumberMetrics {
    /// Compares predictions with what was right.
    pub fn of(actual: &[f64], predicted: &[f64]) -> NumberMetrics {
        let r_squared = r_squared(actual, predicted);
        let reason = "all labels are the same number".to_owned();
        NumberMetrics {
            rows: actual.len(),
            rmse: rmse(actual, predicted),
            mae: mae(actual, predicted),
            r_squared,
            absent: absent([("r_squared", r_squared.is_none(), reason)]),
        }
    }
}

impl Metrics {
    /// What could not be computed.
    pub fn absent(&self) -> &[Absent] {
        match self {
            Metrics::Classes(classes) => &classes.absent,
            Metrics::Numbers(numbers) => &numbers.absent,
        }
    }
}

/// Which rows are of a class.
fn is_class(actual: &[usize], class: usize) -> Vec<bool> {
    actual.iter().map(|one| *one == class).collect()
}

fn absent<const N: usize>(reasons: [(&str, bool, String); N]) -> Vec<Absent> {
    let missing = reasons.into_iter().filter(|(_, is_absent, _)| *is_absent);
    missing.map(|(metric, _, reason)| Absent { metric: metric.to_owned(), reason }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(actual: &[usize], margins: &[f64], probabilities: Option<&[Vec<f64>]>) -> ClassMetrics {
        let names = ["no".to_owned(), "yes".to_owned()];
        let predicted: Vec<usize> = margins.iter().map(|margin| usize::from(*margin >= 0.0)).collect();
        let scores = [margins.iter().map(|margin| -margin).collect(), margins.to_vec()];
        ClassPredictions { names: &names, actual, predicted: &predicted, scores: &scores, probabilities }
            .metrics()
    }

    #[test]
    fn two_classes_have_every_figure() {
        let probabilities = [vec![0.5, 0.25, 0.9], vec![0.5, 0.75, 0.1]];
        let metrics = of(&[1, 1, 0], &[0.0, 1.0, -2.0], Some(&probabilities));
        assert_eq!((metrics.rows, metrics.accuracy, metrics.auc, metrics.f1), (3, 1.0, Some(1.0), Some(1.0)));
        let expected = -(0.5f64.ln() + 0.75f64.ln() + 0.9f64.ln()) / 3.0;
        assert!((metrics.log_loss.unwrap() - expected).abs() < 1e-15);
        assert_eq!(metrics.confusion.counts, [[1, 0], [0, 2]]);
        assert_eq!(metrics.absent, []);
    }

    #[test]
    fn rows_of_one_class_say_what_cannot_be_computed() {
        let metrics = of(&[0, 0], &[-1.0, -2.0], None);
        assert_eq!(metrics.accuracy, 1.0);
        let reasons: Vec<(&str, &str)> =
            metrics.absent.iter().map(|absent| (absent.metric.as_str(), absent.reason.as_str())).collect();
        assert_eq!(
            reasons,
            [
                ("log_loss", "the model gives no probabilities"),
                ("auc", "no row is of the class yes"),
                ("f1", "no row is of the positive class or was predicted to be"),
            ]
        );
        let text = serde_json::to_string(&Metrics::Classes(metrics.clone())).unwrap();
        assert!(text.contains(r#""auc":null"#), "{text}");
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), Metrics::Classes(metrics));
    }

    #[test]
    fn numbers_that_are_all_the_same_have_no_variance_to_explain() {
        let metrics = NumberMetrics::of(&[2.0, 2.0], &[1.0, 2.0]);
        assert_eq!((metrics.rmse, metrics.mae, metrics.r_squared), (0.5f64.sqrt(), 0.5, None));
        assert_eq!(metrics.absent[0].metric, "r_squared");
        let text = serde_json::to_string(&Metrics::Numbers(metrics.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), Metrics::Numbers(metrics));
    }
}
