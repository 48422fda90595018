//! The curve that schedulers of training jobs fit to losses: 1/(b₀k + b₁) + b₂, all coefficients not negative.
//!
//! Given b₂ the inverse of what is above it is a line in k, which non-negative least squares finds; points are weighted
//! so that errors count in the loss and not in its inverse. Of several b₂ the best is taken.

use crate::models::nnls::nnls;

/// How many limits b₂ are tried, from 0 to just below the smallest value.
const LIMITS: usize = 20;

/// The value at k; values that are not positive are continued as they are.
pub(super) fn forecast(points: &[(f64, f64)], at: f64) -> f64 {
    let smallest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let last = points.last().map_or(f64::NAN, |p| p.1);
    if smallest <= 0.0 {
        return last;
    }
    let limits = (0..LIMITS).map(|k| smallest * k as f64 / LIMITS as f64);
    let curves = limits.map(|limit| Curve::fit(points, limit));
    let best = curves.min_by(|a, b| a.error(points).total_cmp(&b.error(points)));
    best.map(|curve| curve.at(at)).filter(|value| value.is_finite()).unwrap_or(last)
}

struct Curve {
    slope: f64,  // b₀
    offset: f64, // b₁
    limit: f64,  // b₂
}

impl Curve {
    fn fit(points: &[(f64, f64)], limit: f64) -> Self {
        let above: Vec<f64> = points.iter().map(|p| p.1 - limit).collect();
        let columns = [points.iter().map(|p| p.0).collect(), vec![1.0; points.len()]];
        let inverse: Vec<f64> = above.iter().map(|gap| 1.0 / gap).collect();
        let weights: Vec<f64> = above.iter().map(|gap| gap.powi(4)).collect();
        let found = nnls(&columns, &inverse, &weights);
        Self { slope: found[0], offset: found[1], limit }
    }

    fn at(&self, k: f64) -> f64 {
        1.0 / (self.slope * k + self.offset) + self.limit
    }

    fn error(&self, points: &[(f64, f64)]) -> f64 {
        points.iter().map(|p| (self.at(p.0) - p.1).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_own_kind_is_continued() {
        let truth = |k: f64| 1.0 / (0.3 * k + 2.0) + 0.05;
        let points: Vec<(f64, f64)> = (1..=50).map(|k| (f64::from(k), truth(f64::from(k)))).collect();
        assert!((forecast(&points, 60.0) / truth(60.0) - 1.0).abs() < 0.02);
    }

    #[test]
    fn what_it_cannot_fit_stays_as_it_is() {
        assert_eq!(forecast(&[(1.0, 0.5), (2.0, -0.5)], 3.0), -0.5);
        assert!(forecast(&[], 3.0).is_nan());
        assert!((forecast(&[(1.0, 0.5), (2.0, 0.5)], 9.0) - 0.5).abs() < 1e-6);
    }
}
