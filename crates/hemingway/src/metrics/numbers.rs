//! Figures for regression: distances in the unit of the labels, and the share of their variance that is explained.

/// The root of the mean squared error; 0 of no rows.
pub fn rmse(actual: &[f64], predicted: &[f64]) -> f64 {
    (squares(actual, predicted) / actual.len().max(1) as f64).sqrt()
}

/// The mean absolute error; 0 of no rows.
pub fn mae(actual: &[f64], predicted: &[f64]) -> f64 {
    let sum: f64 = actual.iter().zip(predicted).map(|(actual, predicted)| (actual - predicted).abs()).sum();
    sum / actual.len().max(1) as f64
}

/// The share of the variance of the labels that predictions explain: 1 − Σ(y − p)² / Σ(y − ȳ)²; nothing where labels do not
/// vary.
pub fn r_squared(actual: &[f64], predicted: &[f64]) -> Option<f64> {
    let first = actual.first()?;
    if actual.iter().all(|value| value == first) {
        return None;
    }
    let mean = actual.iter().sum::<f64>() / actual.len() as f64;
    let total: f64 = actual.iter().map(|value| (value - mean).powi(2)).sum();
    Some(1.0 - squares(actual, predicted) / total).filter(|share| share.is_finite())
}

fn squares(actual: &[f64], predicted: &[f64]) -> f64 {
    actual.iter().zip(predicted).map(|(actual, predicted)| (actual - predicted).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_measured() {
        let (actual, predicted) = ([1.0, 2.0, 3.0, 6.0], [1.0, 3.0, 1.0, 6.0]);
        assert_eq!(rmse(&actual, &predicted), 1.25f64.sqrt());
        assert_eq!(mae(&actual, &predicted), 0.75);
        assert_eq!(r_squared(&actual, &predicted), Some(1.0 - 5.0 / 14.0));
    }

    #[test]
    fn the_mean_explains_nothing_and_worse_is_negative() {
        let actual = [1.0, 2.0, 3.0];
        assert_eq!(r_squared(&actual, &[2.0; 3]), Some(0.0));
        assert_eq!(r_squared(&actual, &[3.0, 2.0, 1.0]), Some(-3.0));
        assert_eq!([r_squared(&[5.0; 3], &actual), r_squared(&[], &[])], [None, None]);
        assert_eq!([rmse(&[], &[]), mae(&[], &[])], [0.0, 0.0]);
    }
}
