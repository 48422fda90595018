//! Symmetric positive definite systems, by Cholesky's method.

use crate::kernels::{Task, fastest};
use crate::local::dot;

/// A difference below this share of what it was taken from is not a number to go by.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A factor L of A = L Lᵀ, row-major, in the lower half of a square.
pub(super) struct Cholesky {
    factor: Vec<f64>,
    size: usize,
}

impl Cholesky {
    /// Factors A, of which only the lower half is read.
    pub(super) fn of(mut matrix: Vec<f64>, size: usize) -> Cholesky {
        fastest(Factoring { matrix: &mut matrix, size });
        Cholesky { factor: matrix, size }
    }

    /// Solves Ax = b in place.
    pub(super) fn solve(&self, right: &mut [f64]) {
        let size = self.size;
        for row in 0..size {
            let line = &self.factor[row * size..=row * size + row];
            let sum = dot(&line[..row], &right[..row]);
            right[row] = (right[row] - sum) / line[row];
        }
        for row in (0..size).rev() {
            let line = &self.factor[row * size..=row * size + row];
            right[row] /= line[row];
            let value = right[row];
            right[..row].iter_mut().zip(line).for_each(|(right, entry)| *right -= value * entry);
        }
    }
}

/// A becomes L, row by row.
struct Factoring<'a> {
    matrix: &'a mut [f64],
    size: usize,
}

impl Task for Factoring<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Factoring { matrix, size } = self;
        for row in 0..size {
            let (above, current) = matrix.split_at_mut(row * size);
            let current = &mut current[..=row];
            for column in 0..row {
                let other = &above[column * size..=column * size + column];
                let product = dot(&current[..column], &other[..column]);
                current[column] = (current[column] - product) / other[column];
            }
            let product = dot(&current[..row], &current[..row]);
            // What is left of a sum of this size is rounding if it is less: A is taken to curve so much at least.
            let least = (ROUNDING * current[row]).max(f64::MIN_POSITIVE);
            current[row] = (current[row] - product).max(least).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cholesky;

    #[test]
    fn a_system_that_is_singular_but_for_rounding_gives_a_direction_of_descent() {
        // x xᵀ + λ with x = (1e30, 2e30, -1e30): all but one pivot are rounding.
        let x = [1e30, 2e30, -1e30];
        let mut matrix = vec![0.0; 9];
        for row in 0..3 {
            (0..3).for_each(|column| matrix[3 * row + column] = x[row] * x[column]);
            matrix[4 * row] += 1e-3;
        }
        let slopes = [1.0, -1.0, 3.0];
        let mut solved = slopes;
        Cholesky::of(matrix, 3).solve(&mut solved);
        let product: f64 = slopes.iter().zip(solved).map(|(slope, step)| slope * step).sum();
        assert!(product > 0.0 && solved.iter().all(|step| step.abs() <= 1.0), "{solved:?}");
    }

    #[test]
    fn solves_a_small_system() {
        // The upper half is never read.
        let matrix = vec![4.0, f64::NAN, f64::NAN, 2.0, 5.0, f64::NAN, 1.0, 3.0, 6.0];
        let mut right = [11.0, 21.0, 25.0];
        Cholesky::of(matrix, 3).solve(&mut right);
        let expected = [1.0, 2.0, 3.0];
        assert!(right.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-12), "{right:?}");
    }
}
