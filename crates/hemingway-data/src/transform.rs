//! Scaling fitted to training data, kept in the model, and applied to whatever the model sees later.
//!
//! Order: columns are standardised first, rows brought to unit length after. Sparse training data is only scaled,
//! never centred, since subtracting means would fill every zero: its means are stored as 0. Means of dense
//! data hold for test data too: should that happen to be stored sparsely, it is made dense to be centred.

use std::convert::Infallible;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::together::sum;
use crate::{Dataset, Dense, Error, Matrix, Part, Sparse, Together};

/// What to do to features before training or prediction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Transform {
    /// Divide each row by its Euclidean length; rows of zeros stay.
    pub rows: bool,
    /// Bring each column to mean 0 (dense data only) and standard deviation 1.
    pub columns: Option<Standardise>,
}

/// Mean and scale of each column: a value becomes `(value - mean) / scale`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Standardise {
    /// What is subtracted; 0 when fitted to sparse data.
    pub mean: Vec<f32>,
    /// What is divided by: the standard deviation, or 1 for a column that does not vary.
    pub scale: Vec<f32>,
}

impl Transform {
    /// Fits to training data what [`Transform::apply`] needs.
    pub fn fit(dataset: &Dataset, normalise_rows: bool, standardise: bool) -> Transform {
        let rows = dataset.matrix.rows();
        let columns = standardise.then(|| {
            let Ok(columns) = Standardise::fit(&dataset.matrix, rows, &mut Ok::<_, Infallible>);
            columns
        });
        Transform { rows: normalise_rows, columns }
    }

    /// As [`Transform::fit`] on all parts at once, up to rounding. Every worker calls it and gets the same.
    pub fn fit_part(
        part: &Part,
        normalise_rows: bool,
        standardise: bool,
        together: &mut dyn Together,
    ) -> Result<Transform, Error> {
        let mut over_all = |sums: Vec<f64>| sum(&sums, together);
        let columns = standardise
            .then(|| Standardise::fit(&part.dataset.matrix, part.total_rows, &mut over_all))
            .transpose()?;
        Ok(Transform { rows: normalise_rows, columns })
    }

    /// Transforms all rows in place.
    ///
    /// # Panics
    /// When the dataset has another number of columns than the one fitted; load it with `LoadOptions::columns`.
    pub fn apply(&self, dataset: &mut Dataset) {
        if let Some(columns) = &self.columns {
            columns.apply(&mut dataset.matrix);
            dataset.fingerprint = dataset.fingerprint.treated("standardised columns");
        }
        if self.rows {
            normalise_rows(&mut dataset.matrix);
            dataset.fingerprint = dataset.fingerprint.treated("normalised rows");
        }
    }
}

/// Turns sums over a worker's rows into sums over all rows.
type OverAll<'a, E> = dyn FnMut(Vec<f64>) -> Result<Vec<f64>, E> + 'a;

impl Standardise {
    /// Fits some of `rows` rows, given how the sums over some become the sums over all.
    fn fit<E>(matrix: &Matrix, rows: usize, over_all: &mut OverAll<E>) -> Result<Standardise, E> {
        match matrix {
            Matrix::Sparse(sparse) => Standardise::fit_sparse(sparse, rows as f64, over_all),
            Matrix::Dense(dense) => Standardise::fit_dense(dense, rows as f64, over_all),
        }
    }

    fn fit_dense<E>(dense: &Dense, rows: f64, over_all: &mut OverAll<E>) -> Result<Standardise, E> {
        let mean = divided(over_all(dense_sums(dense, |_, value| value))?, rows);
        let squares = dense_sums(dense, |column, value| (value - mean[column]).powi(2));
        let variance = divided(over_all(squares)?, rows);
        let scale = mean.iter().zip(&variance).map(|(mean, variance)| scale(*mean, *variance)).collect();
        Ok(Standardise { mean: mean.iter().map(|mean| *mean as f32).collect(), scale })
    }

    fn fit_sparse<E>(sparse: &Sparse, rows: f64, over_all: &mut OverAll<E>) -> Result<Standardise, E> {
        let width = sparse.columns();
        let mean = divided(over_all(sparse_sums(sparse, |_, value| value))?, rows);
        let present = over_all(sparse_sums(sparse, |_, _| 1.0))?;
        let squares = over_all(sparse_sums(sparse, |column, value| (value - mean[column]).powi(2)))?;
        let variance =
            |column: usize| (squares[column] + (rows - present[column]) * mean[column].powi(2)) / rows;
        let scale = (0..width).map(|column| scale(mean[column], variance(column))).collect();
        Ok(Standardise { mean: vec![0.0; width], scale })
    }

    fn apply(&self, matrix: &mut Matrix) {
        assert_eq!(matrix.columns(), self.scale.len(), "as many columns as were fitted");
        if self.mean.iter().any(|mean| *mean != 0.0) {
            make_dense(matrix);
        }
        match matrix {
            Matrix::Sparse(sparse) => {
                let (indices, values) = sparse.indices_and_values_mut();
                let scaled =
                    |(index, value): (&u32, &mut f32)| *value = finite(*value / self.scale[*index as usize]);
                indices.par_iter().zip(values).with_min_len(1 << 14).for_each(scaled);
            }
            Matrix::Dense(dense) => {
                let width = dense.columns().max(1);
                dense.values_mut().par_chunks_exact_mut(width).for_each(|row| self.apply_row(row));
            }
        }
    }

    fn apply_row(&self, row: &mut [f32]) {
        for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
            let centred = *value - mean;
            // The difference of two of the largest numbers is none, but a share of it is.
            let scaled =
                if centred.is_finite() { centred / scale } else { (*value / scale) - (mean / scale) };
            *value = finite(scaled);
        }
    }
}

fn normalise_rows(matrix: &mut Matrix) {
    match matrix {
        Matrix::Sparse(sparse) => sparse.rows_mut().for_each(normalise),
        Matrix::Dense(dense) => {
            let width = dense.columns().max(1);
            dense.values_mut().par_chunks_exact_mut(width).for_each(normalise);
        }
    }
}

fn normalise(row: &mut [f32]) {
    let length = row.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    }
}

/// Per column, the sum of `term` over all values.
fn dense_sums(dense: &Dense, term: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; dense.columns()];
    for row in dense.values().chunks_exact(dense.columns().max(1)) {
        for (column, (sum, value)) in sums.iter_mut().zip(row).enumerate() {
            *sum += term(column, f64::from(*value));
        }
    }
    sums
}

/// Per column, the sum of `term` over the values that are stored.
fn sparse_sums(sparse: &Sparse, term: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; sparse.columns()];
    for (index, value) in sparse.indices().iter().zip(sparse.values()) {
        let column = *index as usize;
        sums[column] += term(column, f64::from(*value));
    }
    sums
}

fn divided(mut sums: Vec<f64>, by: f64) -> Vec<f64> {
    sums.iter_mut().for_each(|sum| *sum /= by.max(1.0));
    sums
}

/// The standard deviation; 1 when it is no more than rounding in the mean.
fn scale(mean: f64, variance: f64) -> f32 {
    let rounding = f64::from(f32::EPSILON) * mean.abs();
    let deviation = variance.sqrt() as f32;
    if variance.sqrt() <= rounding || deviation < f32::MIN_POSITIVE { 1.0 } else { deviation }
}

/// Test values far outside the training range must not become infinite.
fn finite(value: f32) -> f32 {
    value.clamp(f32::MIN, f32::MAX)
}

fn make_dense(matrix: &mut Matrix) {
    if let Matrix::Sparse(sparse) = matrix {
        let mut values = vec![0.0; sparse.rows() * sparse.columns()];
        for (row, bounds) in sparse.offsets().windows(2).enumerate() {
            let start = row * sparse.columns();
            for position in bounds[0]..bounds[1] {
                values[start + sparse.indices()[position] as usize] = sparse.values()[position];
            }
        }
        *matrix = Matrix::Dense(Dense::trusted(sparse.rows(), sparse.columns(), values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labels;

    fn dataset(matrix: Matrix) -> Dataset {
        Dataset::new("test", matrix, vec![], Labels::Numbers)
    }

    fn dense(columns: usize, values: &[f32]) -> Dataset {
        dataset(Matrix::Dense(Dense::new(values.len() / columns, columns, values.to_vec())))
    }

    #[test]
    fn the_largest_values_are_standardised_like_others() {
        let mut input = dense(1, &[3e38, 3e38, 3e38, -3e38]);
        Transform::fit(&input, false, true).apply(&mut input);
        let Matrix::Dense(matrix) = &input.matrix else { panic!("it stays dense") };
        let expected = [0.577_350_3, 0.577_350_3, 0.577_350_3, -1.732_050_8];
        let near = matrix.values().iter().zip(expected).all(|(value, near)| (value - near).abs() < 1e-5);
        assert!(near, "{:?}", matrix.values());
    }

    fn sparse() -> Dataset {
        dataset(Matrix::Sparse(Sparse::new(4, vec![0, 2, 3], vec![0, 3, 3], vec![3.0, 4.0, 4.0])))
    }

    fn check(mut input: Dataset, transform: &Transform, expect: &[f32]) {
        transform.apply(&mut input);
        let values = match &input.matrix {
            Matrix::Sparse(sparse) => sparse.values(),
            Matrix::Dense(dense) => dense.values(),
        };
        assert!(
            values.len() == expect.len() && values.iter().zip(expect).all(|(a, b)| (a - b).abs() < 1e-6),
            "{values:?}"
        );
    }

    #[test]
    fn rows_to_unit_length() {
        let transform = Transform { rows: true, columns: None };
        check(dense(2, &[3.0, 4.0, 0.0, 0.0]), &transform, &[0.6, 0.8, 0.0, 0.0]);
        check(sparse(), &transform, &[0.6, 0.8, 1.0]);
    }

    #[test]
    fn dense_columns_are_centred_and_scaled() {
        let data = dense(2, &[1.0, 7.0, 3.0, 7.0]);
        let transform = Transform::fit(&data, false, true);
        assert_eq!(transform.columns, Some(Standardise { mean: vec![2.0, 7.0], scale: vec![1.0, 1.0] }));
        check(data, &transform, &[-1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn sparse_columns_are_scaled_only() {
        let transform = Transform::fit(&sparse(), false, true);
        let scale = vec![1.5, 1.0, 1.0, 1.0]; // the last is 4 in every row, so it does not vary
        assert_eq!(transform.columns, Some(Standardise { mean: vec![0.0; 4], scale }));
        check(sparse(), &transform, &[2.0, 4.0, 4.0]);
    }

    #[test]
    fn columns_come_before_rows() {
        let data = dense(2, &[1.0, 10.0, 3.0, 30.0]);
        check(
            data.clone(),
            &Transform::fit(&data, true, true),
            &[-0.5f32.sqrt(), -0.5f32.sqrt(), 0.5f32.sqrt(), 0.5f32.sqrt()],
        );
    }

    #[test]
    fn means_hold_for_test_data_stored_sparsely() {
        let columns = Some(Standardise { mean: vec![1.0; 4], scale: vec![2.0; 4] });
        check(sparse(), &Transform { rows: false, columns }, &[1.0, -0.5, -0.5, 1.5, -0.5, -0.5, -0.5, 1.5]);
    }

    #[test]
    fn survives_being_stored() {
        let transform = Transform::fit(&sparse(), true, true);
        let text = serde_json::to_string(&transform).unwrap();
        assert_eq!(serde_json::from_str::<Transform>(&text).unwrap(), transform);
    }
}
