//! The feature matrix: one row per example, sparse or dense, always `f32`.

use rayon::prelude::*;

/// Rows checked by one task: enough that handing it over costs nothing.
const ROWS_AT_ONCE: usize = 1024;

/// A feature matrix.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Compressed sparse rows.
    Sparse(Sparse),
    /// Every value in row-major order.
    Dense(Dense),
}

/// Compressed sparse rows: row `i` is `indices[offsets[i]..offsets[i + 1]]` with the same range of `values`.
///
/// Invariants, which the constructors of this crate keep and kernels rely on: `offsets` starts at 0, does not
/// decrease and ends at `indices.len() == values.len()`; inside a row indices strictly increase and lie below
/// `columns`; values are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    columns: usize,
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

/// Row-major values; `values.len()` is a multiple of `columns` and all values are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

impl Matrix {
    /// Number of examples.
    pub fn rows(&self) -> usize {
        match self {
            Matrix::Sparse(sparse) => sparse.rows(),
            Matrix::Dense(dense) => dense.rows(),
        }
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        match self {
            Matrix::Sparse(sparse) => sparse.columns(),
            Matrix::Dense(dense) => dense.columns(),
        }
    }

    /// The sum of each column: of pieces of rows in their order, so that the number of cores does not matter.
    pub(crate) fn column_sums(&self) -> Vec<f64> {
        let columns = self.columns();
        let rows = self.rows();
        let pieces: Vec<Vec<f64>> = (0..rows.div_ceil(ROWS_AT_ONCE))
            .into_par_iter()
            .map(|piece| {
                let mut sums = vec![0.0; columns];
                self.add_rows(piece * ROWS_AT_ONCE..rows.min((piece + 1) * ROWS_AT_ONCE), &mut sums);
                sums
            })
            .collect();
        pieces.into_iter().fold(vec![0.0; columns], |mut sums, piece| {
            sums.iter_mut().zip(piece).for_each(|(sum, more)| *sum += more);
            sums
        })
    }

    fn add_rows(&self, rows: std::ops::Range<usize>, sums: &mut [f64]) {
        match self {
            Matrix::Sparse(sparse) => {
                let stored = sparse.offsets[rows.start]..sparse.offsets[rows.end];
                let values = sparse.indices[stored.clone()].iter().zip(&sparse.values[stored]);
                values.for_each(|(column, value)| sums[*column as usize] += f64::from(*value));
            }
            Matrix::Dense(dense) => {
                let values = &dense.values[rows.start * dense.columns..rows.end * dense.columns];
                for row in values.chunks_exact(dense.columns.max(1)) {
                    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
                }
            }
        }
    }

    /// Number of values that are not zero.
    pub fn nonzeros(&self) -> usize {
        match self {
            Matrix::Sparse(sparse) => sparse.values.len(),
            Matrix::Dense(dense) => dense.values.iter().filter(|value| **value != 0.0).count(),
        }
    }
}

impl Sparse {
    /// Builds a matrix from its parts.
    ///
    /// # Panics
    /// When the parts break the invariants above: readers check the world, this checks the readers.
    pub fn new(columns: usize, offsets: Vec<usize>, indices: Vec<u32>, values: Vec<f32>) -> Sparse {
        let sparse = Sparse { columns, offsets, indices, values };
        sparse.check();
        sparse
    }

    /// As [`Sparse::new`] for readers that checked each line already; checked again in debug builds only.
    pub(crate) fn trusted(
        columns: usize,
        offsets: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f32>,
    ) -> Sparse {
        let sparse = Sparse { columns, offsets, indices, values };
        if cfg!(debug_assertions) {
            sparse.check();
        }
        sparse
    }

    fn check(&self) {
        assert_eq!(self.offsets.first(), Some(&0), "offsets start at 0");
        assert_eq!(self.offsets.last(), Some(&self.indices.len()), "offsets end at the number of values");
        assert_eq!(self.indices.len(), self.values.len(), "one index per value");
        self.offsets.par_windows(2).with_min_len(ROWS_AT_ONCE).for_each(|row| self.check_row(row[0], row[1]));
    }

    fn check_row(&self, start: usize, end: usize) {
        assert!(start <= end, "offsets do not decrease");
        let indices = &self.indices[start..end];
        assert!(indices.windows(2).all(|pair| pair[0] < pair[1]), "indices increase");
        assert!(
            indices.last().is_none_or(|last| (*last as usize) < self.columns),
            "indices are below columns"
        );
        assert!(self.values[start..end].iter().all(|value| value.is_finite()), "values are finite");
    }

    /// Number of examples.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Where each row begins in `indices` and `values`, and one past the end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Column of each value.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    pub(crate) fn indices_and_values_mut(&mut self) -> (&[u32], &mut [f32]) {
        (&self.indices, &mut self.values)
    }

    /// The stored values of each row.
    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        let mut rest = self.values.as_mut_slice();
        self.offsets.windows(2).map(move |row| rest.split_off_mut(..row[1] - row[0]).unwrap_or_default())
    }
}

impl Dense {
    /// Builds a matrix from row-major values.
    ///
    /// # Panics
    /// When `values` does not hold `rows * columns` numbers, or one is not finite.
    pub fn new(rows: usize, columns: usize, values: Vec<f32>) -> Dense {
        assert!(values.par_iter().with_min_len(1 << 16).all(|value| value.is_finite()), "values are finite");
        Dense::trusted(rows, columns, values)
    }

    /// As [`Dense::new`] for readers that checked each value already.
    pub(crate) fn trusted(rows: usize, columns: usize, values: Vec<f32>) -> Dense {
        assert_eq!(values.len(), rows * columns, "rows × columns values");
        Dense { rows, columns, values }
    }

    /// Number of examples.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
}
