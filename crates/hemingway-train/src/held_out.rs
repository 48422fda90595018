//! How well a model does on rows that took no part in its training.

use std::ops::Range;

use hemingway_data::{Dataset, Labels};

use crate::{Local, Problem};

/// A mean over rows, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// What a model comes to on some rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// The loss of the problem.
    pub loss: Mean,
    /// The share of rows with the right class; nothing for numbers.
    pub accuracy: Option<Mean>,
    /// The root of the mean squared error; nothing for classes.
    pub rmse: Option<Mean>,
}

impl HeldOut {
    /// Of a model's weights on these rows of a dataset.
    pub fn of(data: &Dataset, rows: &Range<usize>, problem: Problem, weights: &[f64]) -> HeldOut {
        let mut predictions = vec![0.0; rows.len()];
        Local::new(data, rows.clone(), problem).predict(weights, &mut predictions);
        let targets = data.targets[rows.clone()].iter().map(|target| f64::from(*target));
        let pairs = || predictions.iter().copied().zip(targets.clone());
        let loss = Mean::of(pairs().map(|(p, y)| problem.loss.value(p, y)));
        match data.labels {
            Labels::Numbers => {
                let squares = Mean::of(pairs().map(|(p, y)| (p - y).powi(2)));
                HeldOut { loss, accuracy: None, rmse: Some(squares.root()) }
            }
            _ => {
                let right = pairs().map(|(p, y)| f64::from(u8::from((p >= 0.0) == (y > 0.0))));
                HeldOut { loss, accuracy: Some(Mean::of(right)), rmse: None }
            }
        }
    }
}

impl Mean {
    /// Of values that were drawn independently.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Mean {
        let count = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / count.max(1.0);
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        let standard_error = if count > 1.0 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        Mean { mean, standard_error }
    }

    /// Its square root, with the error to first order.
    fn root(self) -> Mean {
        let root = self.mean.sqrt();
        let standard_error = if root > 0.0 { self.standard_error / (2.0 * root) } else { 0.0 };
        Mean { mean: root, standard_error }
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{Dense, Matrix};

    use super::*;
    use crate::Loss;

    #[test]
    fn only_the_named_rows_count() {
        let matrix = Matrix::Dense(Dense::new(4, 1, vec![9.0, 1.0, -1.0, 2.0]));
        let classes = Labels::Classes { negative: "no".into(), positive: "yes".into() };
        let data = Dataset::new("four", matrix.clone(), vec![-1.0, 1.0, 1.0, 1.0], classes);
        let problem = Problem::new(Loss::Hinge, 1.0).unwrap();
        let held = HeldOut::of(&data, &(1..3), problem, &[0.5]);
        assert_eq!(held.loss.mean, 1.0, "losses of 0.5 and 1.5");
        assert_eq!(held.loss.standard_error, 0.5);
        assert_eq!(held.accuracy.map(|accuracy| accuracy.mean), Some(0.5));
        assert_eq!(held.rmse, None);

        let numbers = Dataset::new("four", matrix, vec![0.0, 4.0, 3.0, 0.0], Labels::Numbers);
        let problem = Problem::new(Loss::Squared, 1.0).unwrap();
        let held = HeldOut::of(&numbers, &(1..3), problem, &[1.0]);
        assert_eq!(held.rmse.map(|rmse| rmse.mean), Some(((9.0 + 16.0) / 2.0_f64).sqrt()));
        assert_eq!(held.loss.mean, 6.25);
    }
}
