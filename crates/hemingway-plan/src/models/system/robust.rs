//! Middles and spreads that a few strange values do not move.

/// The median; the mean of the middle two where there is no middle one. Zero for nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which a share of the others lies, interpolated between neighbours. Zero for nothing.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// The standard deviation that a normal sample with this median absolute deviation would have.
pub(crate) fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_and_spreads() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0]), 2.0);
        assert_eq!(median(&[3.0, 1.0, 1e9]), 3.0);
        assert_eq!(quantile(&[0.0, 10.0], 0.9), 9.0);
        assert!((spread(&[1.0, 2.0, 3.0, 4.0, 1e9]) - 1.4826).abs() < 1e-12);
    }
}
