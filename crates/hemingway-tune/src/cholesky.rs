//! Small symmetric positive definite systems, by Cholesky's method.

/// The factor L of a matrix LLᵀ, lower triangle, row by row.
#[derive(Debug, Clone, Default)]
pub struct Cholesky {
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    /// Of a matrix of which the lower triangle is given, row by row. A matrix that is not positive definite but for rounding
    /// gets as much added to its diagonal as it needs.
    pub fn new(lower: &[Vec<f64>]) -> Cholesky {
        let largest = lower.iter().enumerate().map(|(i, row)| row[i]).fold(0.0, f64::max);
        let mut added = 0.0;
        loop {
            if let Some(rows) = factor(lower, added) {
                return Cholesky { rows };
            }
            assert!(added.is_finite(), "a covariance is not a number");
            added = if added == 0.0 { 1e-12 * largest.max(f64::MIN_POSITIVE) } else { 10.0 * added };
        }
    }

    /// Solves L x = b in place.
    pub fn solve_lower(&self, vector: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate() {
            vector[i] = (vector[i] - dot(&row[..i], &vector[..i])) / row[i];
        }
    }

    /// Solves LLᵀ x = b in place.
    pub fn solve(&self, vector: &mut [f64]) {
        self.solve_lower(vector);
        for i in (0..self.rows.len()).rev() {
            vector[i] /= self.rows[i][i];
            let solved = vector[i];
            for (j, value) in vector[..i].iter_mut().enumerate() {
                *value -= self.rows[i][j] * solved;
            }
        }
    }

    /// L x: independent standard normal numbers become normal ones with this covariance.
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| dot(row, vector)).collect()
    }

    /// ln det L, half of that of the matrix.
    pub fn log_root_determinant(&self) -> f64 {
        self.rows.iter().enumerate().map(|(i, row)| row[i].ln()).sum()
    }
}

fn factor(lower: &[Vec<f64>], added: f64) -> Option<Vec<Vec<f64>>> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(lower.len());
    for (i, given) in lower.iter().enumerate() {
        let mut row = Vec::with_capacity(i + 1);
        for (j, above) in rows.iter().enumerate() {
            let value = (given[j] - dot(&row[..j], &above[..j])) / above[j];
            row.push(value);
        }
        let pivot = given[i] + added - dot(&row, &row);
        if pivot.is_nan() || pivot <= 1e-14 * given[i].abs() {
            return None;
        }
        row.push(pivot.sqrt());
        rows.push(row);
    }
    Some(rows)
}

/// The sum of products; four at a time, which is what the compiler needs to use wide registers.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (fours_a, rest_a) = a.as_chunks::<4>();
    let (fours_b, rest_b) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in fours_a.iter().zip(fours_b) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let matrix = [vec![4.0], vec![2.0, 5.0], vec![-2.0, 1.0, 6.0]];
        let full = [[4.0, 2.0, -2.0], [2.0, 5.0, 1.0], [-2.0, 1.0, 6.0]];
        let wanted = [1.0, -2.0, 3.0];
        let mut vector: Vec<f64> = full.iter().map(|row| dot(row, &wanted)).collect();
        let factor = Cholesky::new(&matrix);
        factor.solve(&mut vector);
        for (value, wanted) in vector.iter().zip(wanted) {
            assert!((value - wanted).abs() < 1e-12, "{vector:?}");
        }
        // 4·(5·6 − 1·1) − 2·(2·6 + 2·1) − 2·(2·1 + 2·5)
        assert!((factor.log_root_determinant() - 0.5 * 64f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_singular_matrix_is_helped() {
        let factor = Cholesky::new(&[vec![1.0], vec![1.0, 1.0]]);
        assert!(factor.log_root_determinant().is_finite());
        let mut vector = [1.0, 1.0];
        factor.solve(&mut vector);
        assert!((vector[0] + vector[1] - 1.0).abs() < 1e-3, "{vector:?}");
    }
}
