//! P* by solvers that share nothing with the crate: an interior-point method for the losses that make a quadratic
//! program, Newton's method for the logistic one.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT};
use hemingway_data::Dataset;
use hemingway_train::{Loss, Problem};

use crate::trial::{objective, rows_of};

/// P* lies between these.
#[derive(Debug, Clone, Copy)]
pub struct Optimum {
    /// What the solver's own dual says; good to its tolerance.
    pub lower: f64,
    /// P at the solver's weights, computed from them: never below P*.
    pub upper: f64,
}

/// Solves a problem to about 1e-9.
pub fn optimum(data: &Dataset, problem: Problem) -> Optimum {
    match problem.loss {
        Loss::Logistic => newton(data, problem),
        // The solver's tolerances are absolute where the objective is below 1: a multiple of it may be solved more sharply,
        // or less. The narrower bracket counts.
        _ => {
            let [a, b] = [1.0, 1.0 / problem.lambda].map(|scale| quadratic_program(data, problem, scale));
            let width = |optimum: &Optimum| (optimum.upper - optimum.lower).abs();
            if width(&b) < width(&a) { b } else { a }
        }
    }
}

/// Σ over rows of (square/2)·s² + linear·s, where the s of a row are bound to its prediction.
///
/// - hinge: one s, s ≥ 1 − yp, s ≥ 0
/// - smoothed hinge: s (squared) and t (linear), s + t ≥ 1 − yp, both ≥ 0
/// - squared: one s, s = p − y
///
/// A row that counts c times has c times as much of both; one that counts 0 times is left out. All of it is multiplied by
/// `scale`.
fn quadratic_program(data: &Dataset, problem: Problem, scale: f64) -> Optimum {
    let counted = |row: &usize| data.weight(*row) > 0.0;
    let counted: Vec<usize> = (0..data.matrix.rows()).filter(counted).collect();
    let (all, rows) = (data.matrix.rows() as f64, rows_of(&data.rows_at(&counted)));
    let (n, features) = (rows.len(), data.matrix.columns());
    let dimension = features + usize::from(problem.bias);
    let slacks = if problem.loss == Loss::SmoothedHinge { 2 * n } else { n };
    let variables = dimension + slacks;

    let shares: Vec<f64> = counted.iter().map(|row| scale / all * f64::from(data.weight(*row))).collect();
    let mut diagonal = vec![0.0; variables];
    let mut linear = vec![0.0; variables];
    diagonal[..features].fill(scale * problem.lambda);
    match problem.loss {
        Loss::Hinge => linear[dimension..].copy_from_slice(&shares),
        Loss::SmoothedHinge => {
            diagonal[dimension..dimension + n].copy_from_slice(&shares);
            linear[dimension + n..].copy_from_slice(&shares);
        }
        _ => diagonal[dimension..].copy_from_slice(&shares),
    }

    let mut constraints = Triplets::default();
    let mut limits = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let y = f64::from(data.targets[counted[at]]);
        let sign = if problem.loss == Loss::Squared { 1.0 } else { -y };
        let values = row.iter().copied().chain(problem.bias.then_some(1.0));
        values.enumerate().for_each(|(column, value)| constraints.add(at, column, sign * value));
        (0..slacks / n).for_each(|part| constraints.add(at, dimension + part * n + at, -1.0));
        limits.push(if problem.loss == Loss::Squared { y } else { -1.0 });
    }
    let cones = if problem.loss == Loss::Squared {
        vec![ZeroConeT(n)]
    } else {
        (0..slacks).for_each(|slack| constraints.add(n + slack, dimension + slack, -1.0));
        limits.resize(n + slacks, 0.0);
        vec![NonnegativeConeT(n + slacks)]
    };

    let mut square = Triplets::default();
    diagonal.iter().enumerate().for_each(|(at, value)| square.add(at, at, *value));
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .max_iter(300)
        .tol_gap_abs(1e-12)
        .tol_gap_rel(1e-12)
        .tol_feas(1e-12)
        .build()
        .expect("settings are complete");
    let (square, constraints) =
        (square.matrix(variables, variables), constraints.matrix(limits.len(), variables));
    let mut solver = DefaultSolver::new(&square, &linear, &constraints, &limits, &cones, settings)
        .expect("the program is well formed");
    solver.solve();
    let weights = &solver.solution.x[..dimension];
    Optimum { lower: solver.solution.obj_val_dual / scale, upper: objective(data, problem, weights) }
}

#[derive(Default)]
struct Triplets {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Triplets {
    fn add(&mut self, row: usize, column: usize, value: f64) {
        if value != 0.0 {
            self.rows.push(row);
            self.columns.push(column);
            self.values.push(value);
        }
    }

    fn matrix(self, rows: usize, columns: usize) -> CscMatrix<f64> {
        CscMatrix::new_from_triplets(rows, columns, self.rows, self.columns, self.values)
    }
}

/// Newton's method with steps halved until they descend. Half the squared decrement is about P − P*.
fn newton(data: &Dataset, problem: Problem) -> Optimum {
    let features = data.matrix.columns();
    let mut rows = rows_of(data);
    if problem.bias {
        rows.iter_mut().for_each(|row| row.push(1.0));
    }
    let mut weights = vec![0.0; features + usize::from(problem.bias)];
    let mut value = objective(data, problem, &weights);
    for _ in 0..500 {
        let (gradient, curvature) = derivatives(data, &rows, problem.lambda, &weights);
        let step = cholesky_solve(curvature, &gradient);
        let decrement: f64 = step.iter().zip(&gradient).map(|(step, slope)| step * slope).sum();
        let mut length = 1.0;
        let (next, lower) = loop {
            let next: Vec<f64> =
                weights.iter().zip(&step).map(|(weight, step)| weight - length * step).collect();
            let lower = objective(data, problem, &next);
            if lower < value || length < 1e-10 {
                break (next, lower);
            }
            length /= 2.0;
        };
        if lower >= value {
            return Optimum { lower: value - decrement, upper: value };
        }
        (weights, value) = (next, lower);
    }
    panic!("Newton's method takes more than 500 steps");
}

/// ∇P and ∇²P of the logistic loss.
fn derivatives(data: &Dataset, rows: &[Vec<f64>], lambda: f64, weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let features = data.matrix.columns();
    let (n, dimension) = (rows.len() as f64, weights.len());
    let mut gradient = vec![0.0; dimension];
    let mut curvature = vec![vec![0.0; dimension]; dimension];
    for at in 0..features {
        gradient[at] = lambda * weights[at];
        curvature[at][at] = lambda;
    }
    for (at, (row, y)) in rows.iter().zip(&data.targets).enumerate() {
        let (y, count) = (f64::from(*y), f64::from(data.weight(at)));
        let margin = y * row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
        let share = 1.0 / (1.0 + margin.exp());
        for (i, x) in row.iter().enumerate() {
            gradient[i] -= count * share * y * x / n;
            for (j, other) in row.iter().enumerate() {
                curvature[i][j] += count * share * (1.0 - share) * x * other / n;
            }
        }
    }
    (gradient, curvature)
}

/// The solution of a symmetric positive definite system.
pub fn cholesky_solve(mut matrix: Vec<Vec<f64>>, right: &[f64]) -> Vec<f64> {
    let size = right.len();
    for i in 0..size {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let rest = matrix[i][j] - sum;
            matrix[i][j] = if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / matrix[j][j] };
        }
    }
    let mut solution = right.to_vec();
    for i in 0..size {
        let sum: f64 = (0..i).map(|k| matrix[i][k] * solution[k]).sum();
        solution[i] = (solution[i] - sum) / matrix[i][i];
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|k| matrix[k][i] * solution[k]).sum();
        solution[i] = (solution[i] - sum) / matrix[i][i];
    }
    solution
}
