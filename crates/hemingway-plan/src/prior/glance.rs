//! What one look at the data shows: its size, the lengths of its rows and how even its classes are.

use hemingway_data::Dataset;
use hemingway_train::{Look, Loss, Problem};
use serde::{Deserialize, Serialize};

/// From this density on data is stored as dense rows.
const DENSE_FROM: f64 = 0.4;

/// The characters of a problem that one pass over its data tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Glance {
    /// Rows, n.
    pub rows: usize,
    /// Features, d.
    pub features: usize,
    /// Values that are not zero.
    pub nonzeros: usize,
    /// The mean of ‖x‖² over the rows.
    pub mean_squared_norm: f64,
    /// The largest ‖x‖², R² in the theory of dual methods.
    pub largest_squared_norm: f64,
    /// ‖mean row‖² over the mean of ‖x‖²: 1 if all rows are alike, 0 if they cancel out.
    pub common: f64,
    /// The mean over the rows of the squared number of values that are not zero, over the square of the mean number.
    pub unevenness: f64,
    /// The share of the rarer class, at most ½; ½ where targets are numbers.
    pub rare_share: f64,
    /// What is minimised.
    pub loss: Loss,
    /// The strength of the penalty.
    pub lambda: f64,
}

impl Glance {
    /// Looks at all rows of data that is to be trained on.
    pub fn of(data: &Dataset, problem: &Problem) -> Glance {
        Glance::of_some(data, problem, usize::MAX)
    }

    /// Looks at no more than so many rows, evenly spaced: a few hundred tell nearly as much as all of them.
    pub fn of_some(data: &Dataset, problem: &Problem, most: usize) -> Glance {
        let Dataset { matrix, .. } = data;
        Glance::seen(&Look::at(data, most), [matrix.rows(), matrix.columns(), matrix.nonzeros()], problem)
    }

    /// What somebody else saw of data with so many rows, features and values that are not zero.
    pub fn seen(look: &Look, [rows, features, nonzeros]: [usize; 3], problem: &Problem) -> Glance {
        let Look { mean_squared_norm, largest_squared_norm, squared_norm_of_mean, unevenness, rare_share } =
            *look;
        let common = if mean_squared_norm > 0.0 { squared_norm_of_mean / mean_squared_norm } else { 0.0 };
        Glance {
            rows,
            features,
            nonzeros,
            mean_squared_norm,
            largest_squared_norm,
            common,
            unevenness,
            rare_share,
            loss: problem.loss,
            lambda: problem.lambda,
        }
    }

    /// The share of values that are not zero.
    pub fn density(&self) -> f64 {
        self.nonzeros as f64 / (self.rows.max(1) as f64 * self.features.max(1) as f64)
    }

    /// Whether rows are stored with their zeros.
    pub fn is_dense(&self) -> bool {
        self.density() >= DENSE_FROM
    }

    /// Values that kernels read in one pass over all rows.
    pub(super) fn stored(&self) -> f64 {
        if self.is_dense() { self.rows as f64 * self.features as f64 } else { self.nonzeros as f64 }
    }

    /// Pairs of stored values of one row, over all rows: what a Hessian is made of.
    pub(super) fn pairs(&self) -> f64 {
        let unevenness = if self.is_dense() { 1.0 } else { self.unevenness };
        self.stored().powi(2) / self.rows.max(1) as f64 * unevenness / 2.0
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{Dense, Labels, Matrix, Sparse};

    use super::*;

    fn data(matrix: Matrix) -> Dataset {
        let labels = Labels::Classes { negative: "no".into(), positive: "yes".into() };
        let features = hemingway_data::Features::all(matrix.columns());
        Dataset { name: String::new(), matrix, features, targets: vec![1.0, -1.0, -1.0, -1.0], labels }
    }

    #[test]
    fn some_rows_tell_nearly_as_much_as_all() {
        let values: Vec<f32> =
            (0_u32..8000).map(|k| (k.wrapping_mul(2_654_435_761) >> 16) as f32 / 65_536.0).collect();
        let (matrix, targets) = (Matrix::Dense(Dense::new(2000, 4, values)), vec![1.0; 2000]);
        let many = Dataset { targets, ..data(matrix) };
        let problem = Problem::new(Loss::Hinge, 0.1).unwrap();
        let (all, some) = (Glance::of(&many, &problem), Glance::of_some(&many, &problem, 300));
        assert!((all.common - some.common).abs() < 0.05, "{} and {}", all.common, some.common);
        let ratio = some.mean_squared_norm / all.mean_squared_norm;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
        assert_eq!((some.rows, all.nonzeros), (all.rows, 7999), "one value is zero");
        assert!((some.nonzeros as f64 / all.nonzeros as f64 - 1.0).abs() < 0.01);
    }

    #[test]
    fn sparse_and_dense_rows_look_the_same() {
        let dense = Dense::new(4, 2, vec![3.0, 4.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        let sparse = Sparse::new(2, vec![0, 2, 3, 4, 4], vec![0, 1, 1, 0], vec![3.0, 4.0, 1.0, 1.0]);
        let problem = Problem::new(Loss::Hinge, 0.1).unwrap();
        let glance = Glance::of(&data(Matrix::Dense(dense)), &problem);
        assert_eq!(glance, Glance::of(&data(Matrix::Sparse(sparse)), &problem));
        assert_eq!((glance.rows, glance.features, glance.nonzeros), (4, 2, 4));
        assert_eq!((glance.mean_squared_norm, glance.largest_squared_norm), (6.75, 25.0));
        // Rows of 2, 1, 1 and 0 values.
        assert_eq!((glance.rare_share, glance.unevenness), (0.25, 1.5));
        // The mean row is (1, 5/4).
        assert!((glance.common - (1.0 + 25.0 / 16.0) / 6.75).abs() < 1e-12, "{}", glance.common);
    }
}
