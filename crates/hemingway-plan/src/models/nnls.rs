//! Least squares with coefficients that are not negative, after Lawson and Hanson.
//!
//! The active-set method: columns enter one at a time, the one that promises most first; when a solution on the entered
//! columns would be negative, the step towards it stops at zero and the column there leaves again. Systems are solved by
//! orthogonalising the entered columns, since time models have columns (1, √m, log m) that are nearly parallel.

/// Columns whose remainder after orthogonalisation is below this share of their length add nothing.
const PARALLEL: f64 = 1e-10;

/// The x ≥ 0 that minimises Σ weightᵢ (Σⱼ columnsⱼᵢ xⱼ − targetᵢ)².
///
/// # Panics
///
/// When a column or the weights have another length than the target.
pub fn nnls(columns: &[Vec<f64>], target: &[f64], weights: &[f64]) -> Vec<f64> {
    assert_eq!(weights.len(), target.len(), "a weight for each row");
    let roots: Vec<f64> = weights.iter().map(|weight| weight.max(0.0).sqrt()).collect();
    let target: Vec<f64> = scaled(target, &roots);
    let columns: Vec<Vec<f64>> = columns.iter().map(|column| scaled(column, &roots)).collect();
    let lengths: Vec<f64> = columns.iter().map(|column| dot(column, column).sqrt()).collect();
    let mut solution = vec![0.0; columns.len()];
    let mut entered: Vec<usize> = Vec::new();
    let mut refused: Vec<usize> = Vec::new();
    for _ in 0..3 * columns.len() + 3 {
        let residual = residual(&columns, &target, &solution);
        let Some(next) = most_promising(&columns, &lengths, &residual, &target, &entered, &refused) else {
            break;
        };
        entered.push(next);
        if !settle(&columns, &target, &mut entered, &mut solution) || !entered.contains(&next) {
            refused.push(next);
            entered.retain(|&column| column != next);
            solution[next] = 0.0;
        } else {
            refused.clear();
        }
    }
    solution
}

/// The column outside whose entry lowers the error fastest, if any does.
fn most_promising(
    columns: &[Vec<f64>],
    lengths: &[f64],
    residual: &[f64],
    target: &[f64],
    entered: &[usize],
    refused: &[usize],
) -> Option<usize> {
    let floor = 1e-12 * dot(target, target).sqrt();
    (0..columns.len())
        .filter(|column| !entered.contains(column) && !refused.contains(column) && lengths[*column] > 0.0)
        .map(|column| (column, dot(&columns[column], residual) / lengths[column]))
        .filter(|&(_, gain)| gain > floor)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(column, _)| column)
}

/// Moves the solution to the best one on the entered columns, dropping those that reach zero on the way. False when the
/// newest column is parallel to the others.
fn settle(columns: &[Vec<f64>], target: &[f64], entered: &mut Vec<usize>, solution: &mut [f64]) -> bool {
    while !entered.is_empty() {
        let Some(best) = solve(columns, target, entered) else { return false };
        if best.iter().all(|&value| value > 0.0) {
            for (&column, value) in entered.iter().zip(best) {
                solution[column] = value;
            }
            return true;
        }
        let step = entered
            .iter()
            .zip(&best)
            .filter(|&(_, &value)| value <= 0.0)
            .map(|(&column, value)| solution[column] / (solution[column] - value))
            .fold(1.0, |least: f64, step| least.min(if step.is_nan() { 0.0 } else { step }));
        for (&column, value) in entered.iter().zip(&best) {
            solution[column] += step * (value - solution[column]);
            // The one that stopped the step is zero but for rounding.
            if *value <= 0.0 && solution[column] <= 1e-15 * value.abs().max(f64::MIN_POSITIVE) {
                solution[column] = 0.0;
            }
        }
        let before = entered.len();
        entered.retain(|&column| solution[column] > 0.0);
        if entered.len() == before {
            return false;
        }
    }
    true
}

/// Plain least squares on the entered columns by modified Gram–Schmidt; nothing when they are parallel.
fn solve(columns: &[Vec<f64>], target: &[f64], entered: &[usize]) -> Option<Vec<f64>> {
    let count = entered.len();
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(count);
    let mut upper = vec![0.0; count * count];
    let mut right = vec![0.0; count];
    let mut rest = target.to_vec();
    for (j, &column) in entered.iter().enumerate() {
        let mut direction = columns[column].clone();
        let length = dot(&direction, &direction).sqrt();
        for (i, known) in basis.iter().enumerate() {
            let along = dot(known, &direction);
            upper[i * count + j] = along;
            subtract(&mut direction, along, known);
        }
        let remainder = dot(&direction, &direction).sqrt();
        if remainder.is_nan() || remainder <= PARALLEL * length {
            return None;
        }
        direction.iter_mut().for_each(|value| *value /= remainder);
        upper[j * count + j] = remainder;
        right[j] = dot(&direction, &rest);
        subtract(&mut rest, right[j], &direction);
        basis.push(direction);
    }
    for i in (0..count).rev() {
        for j in i + 1..count {
            right[i] -= upper[i * count + j] * right[j];
        }
        right[i] /= upper[i * count + i];
    }
    Some(right)
}

fn residual(columns: &[Vec<f64>], target: &[f64], solution: &[f64]) -> Vec<f64> {
    let mut residual = target.to_vec();
    for (column, &value) in columns.iter().zip(solution).filter(|&(_, &value)| value != 0.0) {
        subtract(&mut residual, value, column);
    }
    residual
}

fn scaled(values: &[f64], by: &[f64]) -> Vec<f64> {
    assert_eq!(values.len(), by.len(), "as many rows in each column");
    values.iter().zip(by).map(|(value, by)| value * by).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(from: &mut [f64], times: f64, what: &[f64]) {
    from.iter_mut().zip(what).for_each(|(from, what)| *from -= times * what);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(columns: &[Vec<f64>], target: &[f64], weights: &[f64], solution: &[f64]) -> f64 {
        residual(columns, target, solution).iter().zip(weights).map(|(r, w)| w * r * r).sum()
    }

    /// The best over every set of columns whose plain solution is not negative.
    fn brute_force(columns: &[Vec<f64>], target: &[f64], weights: &[f64]) -> f64 {
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let weighted: Vec<Vec<f64>> = columns.iter().map(|c| scaled(c, &roots)).collect();
        let aim = scaled(target, &roots);
        let mut best = error(columns, target, weights, &vec![0.0; columns.len()]);
        for set in 1u32..1 << columns.len() {
            let entered: Vec<usize> = (0..columns.len()).filter(|j| set >> j & 1 == 1).collect();
            let Some(values) = solve(&weighted, &aim, &entered) else { continue };
            if values.iter().all(|&v| v >= 0.0) {
                let mut solution = vec![0.0; columns.len()];
                entered.iter().zip(values).for_each(|(&j, v)| solution[j] = v);
                best = best.min(error(columns, target, weights, &solution));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn as_good_as_every_active_set(
            cells in prop::collection::vec(-1.0..1.0f64, 40),
            target in prop::collection::vec(-1.0..1.0f64, 8),
            weights in prop::collection::vec(0.1..10.0f64, 8),
        ) {
            let columns: Vec<Vec<f64>> = cells.chunks(8).map(<[f64]>::to_vec).collect();
            let solution = nnls(&columns, &target, &weights);
            prop_assert!(solution.iter().all(|&value| value >= 0.0));
            let (found, best) = (error(&columns, &target, &weights, &solution), brute_force(&columns, &target, &weights));
            prop_assert!(found <= best * (1.0 + 1e-9) + 1e-12, "{found} against {best}");
        }

        #[test]
        fn finds_the_coefficients_of_time_models(theta in prop::collection::vec(0.0..100.0f64, 4)) {
            let workers: Vec<f64> = (1..=12).map(|k| f64::from(4 * k)).collect();
            let columns: Vec<Vec<f64>> = [|_: f64| 1.0, |m: f64| 1.0 / m, f64::ln, |m: f64| m]
                .iter().map(|term| workers.iter().map(|&m| term(m)).collect()).collect();
            let target: Vec<f64> =
                (0..12).map(|row| (0..4).map(|j| theta[j] * columns[j][row]).sum()).collect();
            let solution = nnls(&columns, &target, &[1.0; 12]);
            for (found, true_value) in solution.iter().zip(&theta) {
                prop_assert!((found - true_value).abs() < 1e-5 * (1.0 + true_value), "{solution:?} {theta:?}");
            }
        }
    }

    #[test]
    fn parallel_and_empty_columns_do_no_harm() {
        let columns = vec![vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0], vec![0.0; 3]];
        let solution = nnls(&columns, &[1.0, 2.0, 3.0], &[1.0; 3]);
        assert!((solution[0] + 2.0 * solution[1] - 1.0).abs() < 1e-12 && solution[2] == 0.0, "{solution:?}");
        assert_eq!(nnls(&columns, &[-1.0, -2.0, -3.0], &[1.0; 3]), [0.0; 3]);
        assert!(nnls(&[], &[1.0], &[1.0]).is_empty());
    }
}
