//! Newton's method: the whole Hessian, for data with few features.
//!
//! A round sums gradient and Hessian over all rows and workers, solves for the step and searches along it. It needs a
//! handful of rounds whatever the conditioning, but d² numbers of memory and communication and d³ operations, so it is
//! refused beyond [`MOST_FEATURES`]. On the hinge, rows near the corner lend their curvature, without guarantee.

use super::Passes;
use super::line_search::LineSearch;
use crate::{Algorithm, Error, Estimate, Model, Parameters, Solver, Worker};

/// Newton's method has no hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Newton;

/// Beyond this the Hessian takes more than 32 MB and its solution more than a second.
pub const MOST_FEATURES: usize = 2000;

impl Algorithm for Newton {
    fn name(&self) -> &'static str {
        "newton"
    }

    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let dimension = worker.local.dimension();
        if dimension > MOST_FEATURES {
            return Err(Error::TooManyFeatures {
                algorithm: "newton",
                features: dimension,
                most: MOST_FEATURES,
            });
        }
        let mut passes = Passes::at(worker, from.weights.clone())?;
        if let Some(predictions) = saved {
            if predictions.len() != worker.local.rows() {
                return Err(Error::damaged_worker());
            }
            passes.restore(worker, predictions)?;
        }
        Ok(Box::new(Steps { passes, search: LineSearch::new(worker), stuck: false }))
    }
}

struct Steps {
    passes: Passes,
    search: LineSearch,
    stuck: bool,
}

impl Steps {
    /// −(∇²P)⁻¹∇P.
    fn direction(&self, worker: &mut Worker) -> Result<Vec<f64>, Error> {
        let dimension = self.passes.weights.len();
        let mut hessian = vec![0.0; dimension * dimension];
        worker.local.add_hessian(&self.passes.predictions, &mut hessian);
        worker.sum(&mut hessian)?;
        let (n, lambda) = (worker.local.total_rows as f64, worker.local.problem.lambda);
        hessian.iter_mut().for_each(|value| *value /= n);
        for feature in 0..dimension {
            // Nothing curves along a bias whose rows are all certain: a little damping keeps the system solvable.
            let damping = if feature < worker.local.features() { lambda } else { BIAS_DAMPING * lambda };
            hessian[feature * dimension + feature] += damping;
        }
        let mut direction: Vec<f64> = self.passes.gradient.iter().map(|slope| -slope).collect();
        solve(&mut hessian, &mut direction);
        worker.local.meter_flops((dimension * dimension * dimension) as f64 / 6.0);
        Ok(direction)
    }
}

/// Curvature added along the bias, in units of λ.
const BIAS_DAMPING: f64 = 1e-6;

/// Solves Ax = b for a symmetric positive definite A given by its lower half, by Cholesky's method in place.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let size = right.len();
    for row in 0..size {
        let (above, current) = matrix.split_at_mut(row * size);
        let current = &mut current[..=row];
        for column in 0..row {
            let other = &above[column * size..=column * size + column];
            let product = crate::local::dot(&current[..column], &other[..column]);
            current[column] = (current[column] - product) / other[column];
        }
        let product = crate::local::dot(&current[..row], &current[..row]);
        current[row] = (current[row] - product).max(f64::MIN_POSITIVE).sqrt();
        let sum = crate::local::dot(&current[..row], &right[..row]);
        right[row] = (right[row] - sum) / current[row];
    }
    for row in (0..size).rev() {
        let sum: f64 = (row + 1..size).map(|below| matrix[below * size + row] * right[below]).sum();
        right[row] = (right[row] - sum) / matrix[row * size + row];
    }
}

impl Solver for Steps {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let direction = self.direction(worker)?;
        let descends = crate::local::dot(&direction, &self.passes.gradient) < 0.0;
        let moved = descends && self.search.advance(worker, &mut self.passes, direction, 1.0)?.is_some();
        self.stuck = !moved;
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        &self.passes.weights
    }

    fn predictions(&self) -> Option<&[f64]> {
        Some(&self.passes.predictions)
    }

    fn gradient(&self) -> Option<&[f64]> {
        Some(&self.passes.gradient)
    }

    fn estimate(&self) -> Option<Estimate> {
        self.passes.estimate()
    }

    fn stuck(&self) -> bool {
        self.stuck
    }

    fn save(&self) -> Vec<f64> {
        self.passes.predictions.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn solves_a_small_system() {
        // The upper half is never read.
        let mut matrix = [4.0, f64::NAN, f64::NAN, 2.0, 5.0, f64::NAN, 1.0, 3.0, 6.0];
        let mut right = [11.0, 21.0, 25.0];
        solve(&mut matrix, &mut right);
        let expected = [1.0, 2.0, 3.0];
        assert!(right.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-12), "{right:?}");
    }
}
