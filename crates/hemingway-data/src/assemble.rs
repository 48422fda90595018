//! Chunks put together into one dataset, sparse or dense, whichever suits the data.
//!
//! Chunks are appended as they arrive and freed at once, so that the peak is the finished matrix plus the few chunks
//! in flight. The first chunk decides how rows are stored meanwhile; the finished data decides how they stay.

use serde::{Deserialize, Serialize};

use crate::chunk::Chunk;
use crate::fingerprint::{Fingerprint, RowHash};
use crate::labels::{Column, hopeless};
use crate::{Dataset, Dense, Error, LoadOptions, Loaded, Matrix, Sparse};

/// From this density on rows are stored densely.
///
/// A sparse value costs 8 bytes (index and value), a dense one 4, zeros included, so memory breaks even at 0.5. Dense
/// kernels read without gathering and use the vector units, so they win somewhat earlier.
pub(crate) const DENSE_FROM: f64 = 0.4;

/// Storage switches back to sparse below this density only, lest it go to and fro.
const SPARSE_BELOW: f64 = 0.3;

/// A dataset being put together.
#[derive(Debug)]
pub(crate) struct Assembler<'a> {
    pub(crate) file: &'a str,
    pub(crate) options: &'a LoadOptions,
    pub(crate) labels: Column,
    /// Lines appended so far, for messages.
    pub(crate) lines: usize,
    shape: Shape,
    hash: RowHash,
    dropped: usize,
    storage: Storage,
}

/// How large a matrix is, and how full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub rows: usize,
    pub columns: usize,
    pub nonzeros: usize,
}

/// What was put into an assembler: some rows of a dataset, or all of them.
#[derive(Debug)]
pub(crate) struct Filled {
    /// The name of the format or the generator.
    pub format: &'static str,
    /// The place of the first row put in among all rows of the dataset.
    pub first_row: usize,
    /// Rows of the dataset.
    pub total_rows: usize,
}

#[derive(Debug)]
enum Storage {
    Sparse {
        offsets: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f32>,
    },
    /// Rows of `width` values.
    Dense {
        width: usize,
        values: Vec<f32>,
    },
}

impl<'a> Assembler<'a> {
    /// No rows yet.
    pub(crate) fn new(file: &'a str, options: &'a LoadOptions, labels: Column) -> Assembler<'a> {
        let shape = Shape { columns: options.columns.unwrap_or(0), ..Shape::default() };
        Assembler {
            file,
            options,
            labels,
            lines: 0,
            shape,
            hash: RowHash::default(),
            dropped: 0,
            storage: Storage::empty(),
        }
    }

    /// Says whether the input turned out to have labels.
    pub(crate) fn expect_labels(&mut self, expected: bool) {
        if !expected {
            self.labels = Column::Skip;
        }
    }

    /// An empty chunk to parse the next block into.
    pub(crate) fn chunk(&self, capacity: usize) -> Chunk {
        Chunk::new(self.labels.emptied(), self.options.columns, capacity)
    }

    /// Adds the rows of the next chunk.
    pub(crate) fn append(&mut self, mut chunk: Chunk) -> Result<(), Error> {
        let first = self.shape.rows == 0;
        self.dropped += chunk.dropped;
        self.hash = self.hash.above(chunk.hash);
        self.shape = self.shape.above(Shape {
            rows: chunk.rows(),
            columns: chunk.columns,
            nonzeros: chunk.values.len(),
        });
        if first && self.shape.density() >= DENSE_FROM {
            self.storage = Storage::Dense { width: self.shape.columns, values: Vec::new() };
        } else if self.shape.density() < SPARSE_BELOW {
            self.storage.make_sparse();
        }
        self.storage.append(self.shape.columns, &chunk);
        self.labels.append(std::mem::replace(&mut chunk.labels, Column::Skip), self.lines);
        self.lines += chunk.lines;
        hopeless(&self.labels, self.file).map_or(Ok(()), Err)
    }

    /// The rows appended so far.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// The hash of the rows appended so far.
    pub(crate) fn hash(&self) -> RowHash {
        self.hash
    }

    /// The dataset, when all its rows were appended.
    pub(crate) fn finish(self, format: &str) -> Result<Loaded, Error> {
        let (whole, rows) = (self.shape, self.hash);
        let mut loaded = self.finish_part(whole, format)?;
        let targets = RowHash::of_targets(&loaded.dataset.targets);
        loaded.dataset.fingerprint = Fingerprint::new(rows, targets, whole.columns);
        Ok(loaded)
    }

    /// The appended rows of a dataset that has the shape `whole`, which decides how they are stored. Its fingerprint is for
    /// whoever knows all rows.
    pub(crate) fn finish_part(self, whole: Shape, format: &str) -> Result<Loaded, Error> {
        let file = self.file.to_string();
        if whole.rows == 0 {
            return Err(Error::Empty { file });
        }
        if whole.columns == 0 {
            return Err(Error::NoFeatures { file, rows: whole.rows, format: format.to_string() });
        }
        let dense = whole.density() >= DENSE_FROM;
        let (targets, labels) = self.labels.finish(self.file, self.options)?;
        let matrix = self.storage.into_matrix(self.shape.rows, whole.columns, dense);
        let dataset = Dataset { name: file, matrix, targets, labels, fingerprint: Fingerprint::default() };
        Ok(Loaded { dataset, dropped_values: self.dropped })
    }
}

impl Shape {
    /// Of these rows with the next ones below them.
    pub(crate) fn above(self, next: Shape) -> Shape {
        Shape {
            rows: self.rows + next.rows,
            columns: self.columns.max(next.columns),
            nonzeros: self.nonzeros + next.nonzeros,
        }
    }

    fn density(self) -> f64 {
        self.nonzeros as f64 / (self.rows as f64 * self.columns as f64).max(1.0)
    }
}

impl Storage {
    fn empty() -> Storage {
        Storage::Sparse { offsets: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    fn append(&mut self, columns: usize, chunk: &Chunk) {
        match self {
            Storage::Sparse { offsets, indices, values } => {
                let before = values.len();
                offsets.extend(chunk.ends.iter().map(|end| before + end));
                indices.extend_from_slice(&chunk.indices);
                values.extend_from_slice(&chunk.values);
            }
            Storage::Dense { width, values } => {
                widen(width, values, columns);
                scatter(columns, &chunk.ends, &chunk.indices, &chunk.values, values);
            }
        }
    }

    fn make_sparse(&mut self) {
        if let Storage::Dense { width, values } = self {
            *self = gather(*width, values);
        }
    }

    fn into_matrix(mut self, rows: usize, columns: usize, dense: bool) -> Matrix {
        if !dense {
            self.make_sparse();
        }
        match self {
            Storage::Sparse { offsets, indices, values } if dense => {
                let mut every = Vec::with_capacity(rows * columns);
                scatter(columns, &offsets[1..], &indices, &values, &mut every);
                Matrix::Dense(Dense::trusted(rows, columns, every))
            }
            Storage::Sparse { mut offsets, mut indices, mut values } => {
                offsets.shrink_to_fit();
                indices.shrink_to_fit();
                values.shrink_to_fit();
                Matrix::Sparse(Sparse::trusted(columns, offsets, indices, values))
            }
            Storage::Dense { mut width, mut values } => {
                widen(&mut width, &mut values, columns);
                values.shrink_to_fit();
                Matrix::Dense(Dense::trusted(rows, columns, values))
            }
        }
    }
}

/// Makes room for more columns.
fn widen(width: &mut usize, values: &mut Vec<f32>, columns: usize) {
    if *width < columns && !values.is_empty() {
        let mut wider = Vec::with_capacity(values.len() / *width * columns);
        for row in values.chunks_exact(*width) {
            wider.extend_from_slice(row);
            wider.resize(wider.len() + columns - *width, 0.0);
        }
        *values = wider;
    }
    *width = columns;
}

/// Appends sparse rows to dense ones.
fn scatter(columns: usize, ends: &[usize], indices: &[u32], values: &[f32], dense: &mut Vec<f32>) {
    let mut start = 0;
    for &end in ends {
        let base = dense.len();
        dense.resize(base + columns, 0.0);
        let row = &mut dense[base..];
        for (index, value) in indices[start..end].iter().zip(&values[start..end]) {
            row[*index as usize] = *value;
        }
        start = end;
    }
}

/// Sparse rows from dense ones.
fn gather(width: usize, dense: &[f32]) -> Storage {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in dense.chunks_exact(width) {
        for (index, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(index as u32);
            values.push(*value);
        }
        offsets.push(values.len());
    }
    Storage::Sparse { offsets, indices, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row given densely with its own width; one chunk per inner slice.
    fn assemble(chunks: &[&[&[f32]]]) -> Matrix {
        let options = LoadOptions { label: crate::LabelColumn::Absent, ..LoadOptions::default() };
        let mut assembler = Assembler::new("test", &options, Column::for_options(&options));
        for rows in chunks {
            let mut chunk = assembler.chunk(0);
            for row in *rows {
                row.iter().enumerate().for_each(|(index, value)| chunk.push(index as u32, *value));
                chunk.widen(row.len());
                chunk.end_row();
            }
            assembler.append(chunk).unwrap();
        }
        assembler.finish("test").unwrap().dataset.matrix
    }

    #[test]
    fn full_rows_become_dense() {
        let matrix = assemble(&[&[&[1.0, 2.0]], &[&[3.0, 0.0]]]);
        assert_eq!(matrix, Matrix::Dense(Dense::new(2, 2, vec![1.0, 2.0, 3.0, 0.0])));
    }

    #[test]
    fn later_chunks_may_be_wider() {
        let matrix = assemble(&[&[&[1.0, 2.0]], &[&[3.0, 4.0, 5.0]]]);
        assert_eq!(matrix, Matrix::Dense(Dense::new(2, 3, vec![1.0, 2.0, 0.0, 3.0, 4.0, 5.0])));
    }

    #[test]
    fn dense_beginnings_may_turn_sparse() {
        let matrix = assemble(&[&[&[1.0, 2.0]], &[&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0]]]);
        assert_eq!(matrix, Matrix::Sparse(Sparse::new(8, vec![0, 2, 3], vec![0, 1, 7], vec![1.0, 2.0, 9.0])));
    }

    #[test]
    fn sparse_beginnings_may_turn_dense() {
        let matrix = assemble(&[&[&[0.0, 0.0, 1.0]], &[&[1.0, 2.0, 3.0], &[1.0, 1.0, 1.0]]]);
        assert_eq!(
            matrix,
            Matrix::Dense(Dense::new(3, 3, vec![0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 1.0, 1.0, 1.0]))
        );
    }
}
