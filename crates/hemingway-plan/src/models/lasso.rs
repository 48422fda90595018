//! The Lasso along a path of penalties, with cross-validation over groups of rows.
//!
//! Minimises (1/2n)‖y − b₀ − Xb‖² + λ‖b‖₁ on columns scaled to standard deviation 1, by coordinate descent on the
//! Gram matrix, from the largest penalty (at which all coefficients are 0) downwards with warm starts. Folds are given
//! by the caller: points of one trace are no independent draws, and folds that cut through a trace leak.

/// How the path is laid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lasso {
    /// How many penalties the path has.
    pub penalties: usize,
    /// The smallest penalty as a share of the largest.
    pub smallest: f64,
    /// A step of a standardised coefficient, as a share of the largest penalty, below which descent has arrived.
    pub precision: f64,
}

/// A linear model in the units of the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct LassoFit {
    /// λ, on standardised columns.
    pub penalty: f64,
    /// The constant term.
    pub intercept: f64,
    /// One coefficient for each column.
    pub coefficients: Vec<f64>,
}

impl Default for Lasso {
    fn default() -> Self {
        Self { penalties: 100, smallest: 1e-4, precision: 1e-7 }
    }
}

impl LassoFit {
    /// The response to one row.
    pub fn predict(&self, row: &[f64]) -> f64 {
        self.intercept + self.coefficients.iter().zip(row).map(|(c, x)| c * x).sum::<f64>()
    }
}

impl Lasso {
    /// The model whose penalty predicts held-out groups best. With fewer than two groups there is nothing to hold out,
    /// and the middle of the path is taken.
    pub fn cross_validated(&self, rows: &[Vec<f64>], response: &[f64], groups: &[usize]) -> LassoFit {
        let design = Standardised::new(rows, response);
        let penalties = self.penalties_from(design.largest_penalty());
        let mut distinct = groups.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let chosen = if distinct.len() < 2 {
            penalties.len() / 2
        } else {
            let errors: Vec<Vec<f64>> = distinct
                .iter()
                .map(|&group| self.held_out_errors(rows, response, groups, group, &penalties))
                .collect();
            smallest_error(&errors)
        };
        design.path(&penalties[..=chosen], self.precision).pop().expect("a path has at least one penalty")
    }

    /// The mean squared error on one group along a path fitted without it.
    fn held_out_errors(
        &self,
        rows: &[Vec<f64>],
        response: &[f64],
        groups: &[usize],
        group: usize,
        penalties: &[f64],
    ) -> Vec<f64> {
        let (mut kept, mut kept_response) = (Vec::new(), Vec::new());
        for ((row, &y), &g) in rows.iter().zip(response).zip(groups) {
            if g != group {
                kept.push(row.clone());
                kept_response.push(y);
            }
        }
        let held_out: Vec<usize> = (0..rows.len()).filter(|&k| groups[k] == group).collect();
        let error = |fit: &LassoFit| {
            held_out.iter().map(|&k| (response[k] - fit.predict(&rows[k])).powi(2)).sum::<f64>()
                / held_out.len() as f64
        };
        Standardised::new(&kept, &kept_response).path(penalties, self.precision).iter().map(error).collect()
    }

    fn penalties_from(&self, largest: f64) -> Vec<f64> {
        let steps = self.penalties.max(2) - 1;
        (0..=steps).map(|k| largest * self.smallest.powf(k as f64 / steps as f64)).collect()
    }
}

/// The index of the penalty with the smallest held-out error, from the mean squared errors of each fold along the path.
fn smallest_error(folds: &[Vec<f64>]) -> usize {
    let sum = |k: usize| folds.iter().map(|fold| fold[k]).sum::<f64>();
    let mean: Vec<f64> = (0..folds[0].len()).map(|k| sum(k) / folds.len() as f64).collect();
    (0..mean.len()).min_by(|&a, &b| mean[a].total_cmp(&mean[b])).unwrap_or(0)
}

/// Columns of mean 0 and standard deviation 1, seen only through their Gram matrix.
struct Standardised {
    means: Vec<f64>,
    scales: Vec<f64>,
    response_mean: f64,
    gram: Vec<Vec<f64>>,    // XᵀX/n
    correlations: Vec<f64>, // Xᵀy/n
}

impl Standardised {
    fn new(rows: &[Vec<f64>], response: &[f64]) -> Self {
        assert_eq!(rows.len(), response.len(), "one response for each row");
        let count = rows.len().max(1) as f64;
        let width = rows.first().map_or(0, Vec::len);
        let means: Vec<f64> =
            (0..width).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / count).collect();
        let scales: Vec<f64> = (0..width)
            .map(|j| (rows.iter().map(|row| (row[j] - means[j]).powi(2)).sum::<f64>() / count).sqrt())
            .zip(&means)
            .map(|(scale, mean)| if scale > 1e-12 * mean.abs() { scale } else { 0.0 })
            .collect();
        let response_mean = response.iter().sum::<f64>() / count;
        let mut gram = vec![vec![0.0; width]; width];
        let mut correlations = vec![0.0; width];
        let mut scaled = vec![0.0; width];
        for (row, y) in rows.iter().zip(response) {
            for j in 0..width {
                scaled[j] = if scales[j] > 0.0 { (row[j] - means[j]) / scales[j] } else { 0.0 };
            }
            for j in 0..width {
                correlations[j] += scaled[j] * (y - response_mean) / count;
                for k in 0..=j {
                    gram[j][k] += scaled[j] * scaled[k] / count;
                }
            }
        }
        for j in 0..width {
            let (above, below) = gram.split_at_mut(j);
            for (k, row) in above.iter_mut().enumerate() {
                row[j] = below[0][k];
            }
        }
        Self { means, scales, response_mean, gram, correlations }
    }

    fn largest_penalty(&self) -> f64 {
        self.correlations.iter().fold(0.0, |largest: f64, c| largest.max(c.abs())).max(f64::MIN_POSITIVE)
    }

    fn path(&self, penalties: &[f64], precision: f64) -> Vec<LassoFit> {
        let mut scaled = vec![0.0; self.means.len()];
        let enough = precision * self.largest_penalty();
        penalties
            .iter()
            .map(|&penalty| {
                self.descend(&mut scaled, penalty, enough);
                self.unscale(&scaled, penalty)
            })
            .collect()
    }

    /// Coordinate descent at one penalty, from the coefficients as they are: over all of them, then over those in use
    /// until they settle, until a pass over all changes nothing.
    fn descend(&self, scaled: &mut [f64], penalty: f64, enough: f64) {
        let width = scaled.len();
        let all: Vec<usize> = (0..width).filter(|&j| self.scales[j] > 0.0).collect();
        let mut gradient: Vec<f64> = (0..width)
            .map(|j| self.correlations[j] - (0..width).map(|k| self.gram[j][k] * scaled[k]).sum::<f64>())
            .collect();
        for _ in 0..100 {
            if self.pass(&all, scaled, &mut gradient, penalty) <= enough {
                break;
            }
            let used: Vec<usize> = all.iter().copied().filter(|&j| scaled[j] != 0.0).collect();
            for _ in 0..200 {
                if self.pass(&used, scaled, &mut gradient, penalty) <= enough {
                    break;
                }
            }
        }
    }

    /// One exact step for each of these coefficients; the longest step.
    fn pass(&self, columns: &[usize], scaled: &mut [f64], gradient: &mut [f64], penalty: f64) -> f64 {
        let mut longest = 0.0f64;
        for &j in columns {
            let raised = gradient[j] + scaled[j];
            let step = raised.signum() * (raised.abs() - penalty).max(0.0) - scaled[j];
            if step != 0.0 {
                scaled[j] += step;
                gradient.iter_mut().zip(&self.gram[j]).for_each(|(g, x)| *g -= x * step);
                longest = longest.max(step.abs());
            }
        }
        longest
    }

    fn unscale(&self, scaled: &[f64], penalty: f64) -> LassoFit {
        let coefficients: Vec<f64> =
            scaled.iter().zip(&self.scales).map(|(b, s)| if *s > 0.0 { b / s } else { 0.0 }).collect();
        let shift: f64 = coefficients.iter().zip(&self.means).map(|(c, mean)| c * mean).sum();
        LassoFit { penalty, intercept: self.response_mean - shift, coefficients }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The models along the path, from the largest penalty to the smallest.
    fn path(rows: &[Vec<f64>], response: &[f64]) -> Vec<LassoFit> {
        let (lasso, design) = (Lasso::default(), Standardised::new(rows, response));
        design.path(&lasso.penalties_from(design.largest_penalty()), lasso.precision)
    }

    /// Four orthogonal columns of ±1 with mean 0.
    fn orthogonal() -> Vec<Vec<f64>> {
        (0..16u32).map(|k| (0..4).map(|bit| if k >> bit & 1 == 1 { 1.0 } else { -1.0 }).collect()).collect()
    }

    #[test]
    fn orthogonal_columns_are_soft_thresholded() {
        let rows = orthogonal();
        let truth = [3.0, -2.0, 0.5, 0.0];
        let response: Vec<f64> =
            rows.iter().map(|row| 7.0 + row.iter().zip(truth).map(|(x, b)| x * b).sum::<f64>()).collect();
        for fit in path(&rows, &response) {
            assert!((fit.intercept - 7.0).abs() < 1e-9);
            for (b, found) in truth.iter().zip(&fit.coefficients) {
                let expected = b.signum() * (b.abs() - fit.penalty).max(0.0);
                assert!((found - expected).abs() < 1e-6, "{found} is not {expected} at {}", fit.penalty);
            }
        }
    }

    /// Columns that are correlated, and a response that no few of them explain.
    fn correlated() -> (Vec<Vec<f64>>, Vec<f64>) {
        let rows: Vec<Vec<f64>> = (1..=60)
            .map(|k| {
                let x = f64::from(k);
                vec![x, x.sqrt(), x.ln(), (x * 0.7).sin(), 5.0]
            })
            .collect();
        let response = (1..=60).map(|k| (f64::from(k) * 1.3).cos() + f64::from(k).ln() * 2.0).collect();
        (rows, response)
    }

    #[test]
    fn each_point_of_the_path_satisfies_the_optimality_conditions() {
        let (rows, response) = correlated();
        let design = Standardised::new(&rows, &response);
        for fit in path(&rows, &response) {
            for j in 0..5 {
                let gradient: f64 = rows
                    .iter()
                    .zip(&response)
                    .filter(|_| design.scales[j] > 0.0)
                    .map(|(row, y)| (row[j] - design.means[j]) / design.scales[j] * (y - fit.predict(row)))
                    .sum::<f64>()
                    / 60.0;
                let b = fit.coefficients[j];
                if b == 0.0 {
                    assert!(gradient.abs() <= fit.penalty * (1.0 + 1e-6) + 1e-6);
                } else {
                    assert!(
                        (gradient - b.signum() * fit.penalty).abs() < 1e-5,
                        "{gradient} at {}",
                        fit.penalty
                    );
                }
            }
            assert_eq!(fit.coefficients[4], 0.0, "a constant column is never used");
        }
    }

    #[test]
    fn a_constant_response_needs_no_column() {
        let (rows, _) = correlated();
        let fit = Lasso::default().cross_validated(&rows, &[2.5; 60], &[0; 60]);
        assert!((fit.predict(&rows[3]) - 2.5).abs() < 1e-9);
    }
}
