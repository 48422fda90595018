//! Small robust non-linear least squares: Levenberg–Marquardt with a differenced Jacobian, from several starts.
//!
//! The loss is pseudo-Huber: residuals far beyond `OUTLIER` count by their size and not by its square, so that one
//! odd run does not bend the others.

/// Residuals here are logarithms: beyond a quarter they are treated as outliers.
const OUTLIER: f64 = 0.25;
const ITERATIONS: usize = 60;

/// The best parameters over all starts, with their loss. The residuals are appended to the vector given.
pub(crate) fn minimise(
    residuals: &dyn Fn(&[f64], &mut Vec<f64>),
    starts: &[Vec<f64>],
) -> Option<(Vec<f64>, f64)> {
    starts
        .iter()
        .map(|start| descend(residuals, start.clone()))
        .filter(|(parameters, loss)| loss.is_finite() && parameters.iter().all(|p| p.is_finite()))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

fn descend(residuals: &dyn Fn(&[f64], &mut Vec<f64>), mut parameters: Vec<f64>) -> (Vec<f64>, f64) {
    let width = parameters.len();
    let (mut at, mut moved) = (Vec::new(), Vec::new());
    residuals(&parameters, &mut at);
    let mut loss = pseudo_huber(&at);
    let mut damping = 1e-2;
    let mut columns = vec![vec![0.0; at.len()]; width];
    for _ in 0..ITERATIONS {
        for (j, column) in columns.iter_mut().enumerate() {
            let kept = parameters[j];
            let step = 1e-6 * (1.0 + kept.abs());
            parameters[j] = kept + step;
            moved.clear();
            residuals(&parameters, &mut moved);
            parameters[j] = kept;
            column.iter_mut().zip(moved.iter().zip(&at)).for_each(|(c, (b, a))| *c = (b - a) / step);
        }
        let weights: Vec<f64> = at.iter().map(|r| 1.0 / (1.0 + (r / OUTLIER).powi(2)).sqrt()).collect();
        let mut normal = vec![vec![0.0; width]; width];
        let mut gradient = vec![0.0; width];
        for j in 0..width {
            gradient[j] = -weighted(&columns[j], &at, &weights);
            for k in 0..=j {
                normal[j][k] = weighted(&columns[j], &columns[k], &weights);
                normal[k][j] = normal[j][k];
            }
        }
        let before = loss;
        let mut accepted = false;
        for _ in 0..8 {
            let mut damped = normal.clone();
            for (j, row) in damped.iter_mut().enumerate() {
                row[j] += damping * (row[j] + 1e-9);
            }
            let Some(step) = solve(damped, gradient.clone()) else {
                damping *= 10.0;
                continue;
            };
            let candidate: Vec<f64> = parameters.iter().zip(&step).map(|(p, s)| p + s).collect();
            moved.clear();
            residuals(&candidate, &mut moved);
            let new = pseudo_huber(&moved);
            if new < loss {
                (parameters, loss) = (candidate, new);
                std::mem::swap(&mut at, &mut moved);
                damping = (damping * 0.2).max(1e-12);
                accepted = true;
                break;
            }
            damping *= 5.0;
        }
        if !accepted || before - loss <= 1e-7 * before {
            break;
        }
    }
    (parameters, loss)
}

fn pseudo_huber(residuals: &[f64]) -> f64 {
    let loss = |r: f64| OUTLIER * OUTLIER * ((1.0 + (r / OUTLIER).powi(2)).sqrt() - 1.0);
    let sum: f64 = residuals.iter().map(|&r| loss(r)).sum();
    if sum.is_nan() { f64::INFINITY } else { sum }
}

fn weighted(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    a.iter().zip(b).zip(weights).map(|((a, b), w)| a * b * w).sum()
}

/// Gaussian elimination with pivots, for a handful of unknowns.
pub(crate) fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let width = right.len();
    for j in 0..width {
        let pivot = (j..width).max_by(|&a, &b| matrix[a][j].abs().total_cmp(&matrix[b][j].abs()))?;
        if matrix[pivot][j].is_nan() || matrix[pivot][j].abs() < 1e-300 {
            return None;
        }
        matrix.swap(j, pivot);
        right.swap(j, pivot);
        let (upper, lower) = matrix.split_at_mut(j + 1);
        for (offset, row) in lower.iter_mut().enumerate() {
            let factor = row[j] / upper[j][j];
            row.iter_mut().zip(&upper[j]).skip(j).for_each(|(x, p)| *x -= factor * p);
            right[j + 1 + offset] -= factor * right[j];
        }
    }
    for j in (0..width).rev() {
        let known: f64 = (j + 1..width).map(|k| matrix[j][k] * right[k]).sum();
        right[j] = (right[j] - known) / matrix[j][j];
    }
    right.iter().all(|x| x.is_finite()).then_some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponential_is_found_through_an_outlier() {
        let residuals = |p: &[f64], out: &mut Vec<f64>| {
            for k in 0..30 {
                let x = f64::from(k) * 0.1;
                let noise = if k == 7 { 5.0 } else { 0.0 };
                out.push(p[0] + (p[1] * x).exp() - (1.5 + (-0.8 * x).exp() + noise));
            }
        };
        let (found, _) = minimise(&residuals, &[vec![0.0, 0.0], vec![0.0, -2.0]]).unwrap();
        assert!((found[0] - 1.5).abs() < 0.05 && (found[1] + 0.8).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn a_small_system_is_solved() {
        let found = solve(vec![vec![0.0, 2.0], vec![4.0, 1.0]], vec![2.0, 9.0]).unwrap();
        assert!((found[0] - 2.0).abs() < 1e-12 && (found[1] - 1.0).abs() < 1e-12);
        assert!(solve(vec![vec![0.0]], vec![1.0]).is_none());
    }
}
