//! Figures that count rows: accuracy, the confusion table and F1; and the log-loss of probabilities.

/// Which classes were taken for which: a list for each actual class of how many rows were predicted to be of each class.
pub fn confusion(actual: &[usize], predicted: &[usize], classes: usize) -> Vec<Vec<usize>> {
    let mut counts = vec![vec![0; classes]; classes];
    for (actual, predicted) in actual.iter().zip(predicted) {
        counts[*actual][*predicted] += 1;
    }
    counts
}

/// The share of rows with the right class; 0 of no rows.
pub fn accuracy(actual: &[usize], predicted: &[usize]) -> f64 {
    let right = actual.iter().zip(predicted).filter(|(actual, predicted)| actual == predicted).count();
    right as f64 / actual.len().max(1) as f64
}

/// The harmonic mean of precision and recall of one class, from a [`confusion`] table; nothing where no row is of this
/// class or was predicted to be.
pub fn f1(confusion: &[Vec<usize>], class: usize) -> Option<f64> {
    let actual: usize = confusion[class].iter().sum();
    let predicted: usize = confusion.iter().map(|counts| counts[class]).sum();
    let right = confusion[class][class];
    (actual + predicted > 0).then(|| 2.0 * right as f64 / (actual + predicted) as f64)
}

/// The mean of [`f1`] over the classes that have one.
pub fn macro_f1(confusion: &[Vec<usize>]) -> Option<f64> {
    let each: Vec<f64> = (0..confusion.len()).filter_map(|class| f1(confusion, class)).collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}

/// The mean of −ln p over the probabilities that were given to the right classes; 0 of no rows. A probability of 0 counts
/// as the smallest number that is none, so that one row does not make all others meaningless.
pub fn log_loss(probabilities: impl ExactSizeIterator<Item = f64>) -> f64 {
    let rows = probabilities.len().max(1) as f64;
    probabilities.map(|probability| -probability.max(f64::MIN_POSITIVE).ln()).sum::<f64>() / rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACTUAL: [usize; 6] = [0, 0, 1, 1, 1, 2];
    const PREDICTED: [usize; 6] = [0, 1, 1, 1, 0, 0];

    #[test]
    fn rows_are_counted() {
        assert_eq!(confusion(&ACTUAL, &PREDICTED, 3), [[1, 1, 0], [1, 2, 0], [1, 0, 0]]);
        assert_eq!(accuracy(&ACTUAL, &PREDICTED), 0.5);
        assert_eq!(accuracy(&[], &[]), 0.0);
    }

    #[test]
    fn f1_is_the_harmonic_mean_of_precision_and_recall() {
        let counts = confusion(&ACTUAL, &PREDICTED, 4);
        let (precision, recall) = (1.0 / 3.0, 1.0 / 2.0);
        let harmonic: f64 = 2.0 * precision * recall / (precision + recall);
        assert!((f1(&counts, 0).unwrap() - harmonic).abs() < 1e-15);
        assert_eq!([f1(&counts, 1), f1(&counts, 2), f1(&counts, 3)], [Some(2.0 / 3.0), Some(0.0), None]);
        let mean = (harmonic + 2.0 / 3.0) / 3.0;
        assert!(
            (macro_f1(&counts).unwrap() - mean).abs() < 1e-15,
            "the class that does not occur has no part in it"
        );
        assert_eq!(macro_f1(&[vec![0]]), None);
    }

    #[test]
    fn log_loss_of_a_certain_error_is_large_but_finite() {
        assert_eq!(log_loss([1.0, 1.0].into_iter()), 0.0);
        assert!((log_loss([0.5, 0.25].into_iter()) - 1.5 * 2f64.ln()).abs() < 1e-15);
        let worst = log_loss([0.0].into_iter());
        assert!(worst.is_finite() && worst > 700.0, "{worst}");
    }
}
