//! Chunks put together into one dataset, sparse or dense, whichever suits the data.
//!
//! Chunks are appended as they arrive and freed at once, so that the peak is the finished matrix plus the few chunks
//! in flight. The first chunk decides how rows are stored meanwhile; the finished data decides how they stay.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chunk::Chunk;
use crate::features::{Columns, may_have_gaps, occurring};
use crate::fingerprint::{Fingerprint, RowHash, TargetHash};
use crate::joined::Places;
use crate::labels::{Column, hopeless};
use crate::table::plain_encoding;
use crate::together::{Alone, Together, sum};
use crate::{Dataset, Dense, Encoding, Error, Features, LoadOptions, Loaded, Matrix, Sparse};

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
    /// The files that the lines came from.
    pub(crate) places: Places,
    shape: Shape,
    hash: RowHash,
    dropped: usize,
    /// Table: rows left out because they have no label.
    pub(crate) unlabelled: usize,
    /// Table: columns of test data that the model does not know.
    pub(crate) ignored: Vec<String>,
    /// Table: cells of test data with a text that training did not see.
    pub(crate) unseen: usize,
    /// Table: what names rows, if that was asked for.
    pub(crate) ids: Vec<String>,
    /// Table: the weight of each row, if it has one.
    pub(crate) weights: Vec<f32>,
    /// Table: what became of its columns.
    pub(crate) encoding: Option<Encoding>,
    /// Whether that is a table of plain numbers whose means are not in the encoding yet.
    pub(crate) plain: bool,
    storage: Storage,
    /// Test data: the columns that training has given out.
    known: Option<Columns<'a>>,
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
        let known = options.used.as_deref().map(Columns::new);
        let columns = known.as_ref().map(Columns::count).or(options.columns).unwrap_or(0);
        let shape = Shape { columns, ..Shape::default() };
        let (hash, storage) = (RowHash::default(), Storage::empty());
        Assembler {
            file,
            options,
            labels,
            lines: 0,
            places: Places::default(),
            shape,
            hash,
            dropped: 0,
            unlabelled: 0,
            ignored: Vec::new(),
            unseen: 0,
            ids: Vec::new(),
            weights: Vec::new(),
            encoding: None,
            plain: false,
            storage,
            known,
        }
    }

    /// Forgets all rows, to read them again.
    pub(crate) fn restart(&mut self, has_labels: bool) {
        let ignored = std::mem::take(&mut self.ignored);
        *self = Assembler {
            ignored,
            ..Assembler::new(self.file, self.options, Column::for_options(self.options))
        };
        self.expect_labels(has_labels);
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
        if let Some(known) = &self.known {
            chunk.keep(known);
        }
        self.dropped += chunk.dropped;
        self.unlabelled += chunk.unlabelled;
        self.hash = self.hash.above(chunk.hash);
        self.shape = self.shape.above(Shape {
            rows: chunk.rows(),
            columns: chunk.columns,
            nonzeros: chunk.values.len(),
        });
        self.watch(&chunk)?;
        let appended = self.put_below(first, &chunk);
        appended.map_err(|refused| self.refused(&refused))?;
        self.labels.append(std::mem::replace(&mut chunk.labels, Column::Skip), self.lines);
        self.lines += chunk.lines;
        hopeless(&self.labels, self.file).map_or(Ok(()), Err)
    }

    /// Refuses rows that would go beyond the memory limit, before they are stored.
    fn watch(&self, chunk: &Chunk) -> Result<(), Error> {
        let labels = size_of::<f32>() * self.shape.rows;
        let bytes = (self.storage.bytes() + labels + chunk.bytes()) as u64;
        self.options.check_memory(self.file, bytes, || format!("its first {} rows take", self.shape.rows))
    }

    fn put_below(&mut self, first: bool, chunk: &Chunk) -> Result<(), Refused> {
        if first && self.shape.density() >= DENSE_FROM {
            self.storage = Storage::Dense { width: self.shape.columns, values: Vec::new() };
        } else if self.shape.density() < SPARSE_BELOW {
            self.storage.make_sparse()?;
        }
        self.storage.append(self.shape.columns, chunk)
    }

    fn refused(&self, refused: &Refused) -> Error {
        Error::NoMemory { file: self.file.to_string(), bytes: refused.bytes as u64 }
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
    pub(crate) fn finish(mut self, format: &str) -> Result<Loaded, Error> {
        let (whole, rows) = (self.shape, self.hash);
        let used = if self.may_have_gaps(whole) { self.occurring(whole)? } else { None };
        let plain = self.plain;
        let mut loaded = self.finish_part(whole, used, format)?;
        if plain {
            plain_encoding(&mut loaded.dataset, whole.rows, &mut Alone)?;
        }
        check_weights(&loaded.dataset, &mut Alone)?;
        let Dataset { targets, weights, .. } = &loaded.dataset;
        let targets = TargetHash::of(0, targets, weights.as_deref());
        loaded.dataset.fingerprint = Fingerprint::new(rows, targets, whole.columns);
        Ok(loaded)
    }

    /// Whether columns may have to be given out for the features that occur in data of this shape.
    pub(crate) fn may_have_gaps(&self, whole: Shape) -> bool {
        let decided = self.options.columns.is_some() || self.known.is_some();
        !decided && whole.density() < DENSE_FROM && may_have_gaps(whole.columns, whole.nonzeros)
    }

    /// The features that occur in the appended rows; nothing if they are too many to give out columns.
    pub(crate) fn occurring(&mut self, whole: Shape) -> Result<Option<Vec<u32>>, Error> {
        let sparse = self.storage.make_sparse();
        sparse.map_err(|refused| self.refused(&refused))?;
        let Storage::Sparse { indices, .. } = &self.storage else { return Ok(None) };
        Ok(occurring(indices, whole.columns))
    }

    /// The appended rows of a dataset that has the shape `whole`, which decides how they are stored. `used` features get
    /// columns, if it is given. The fingerprint is for whoever knows all rows.
    pub(crate) fn finish_part(
        mut self,
        mut whole: Shape,
        used: Option<Vec<u32>>,
        format: &str,
    ) -> Result<Loaded, Error> {
        let file = self.file.to_string();
        if whole.rows == 0 {
            return Err(Error::Empty { file });
        }
        if whole.columns == 0 {
            return Err(Error::NoFeatures { file, rows: whole.rows, format: format.to_string() });
        }
        let features = match used {
            Some(used) => self.give_out(used, &mut whole),
            None => Features {
                count: self.options.columns.unwrap_or(whole.columns),
                used: self.options.used.clone(),
            },
        };
        let dense = whole.density() >= DENSE_FROM;
        if let (Storage::Sparse { .. }, true) = (&self.storage, dense) {
            let bytes = self.storage.bytes() + size_of::<f32>() * self.shape.rows * whole.columns;
            let what = || format!("its {} rows take", self.shape.rows);
            self.options.check_memory(self.file, bytes as u64, what)?;
        }
        let labelled = self.labels.finish(self.file, self.options);
        let (targets, labels) = labelled.map_err(|error| error.located(self.file, &self.places))?;
        let matrix = self.storage.into_matrix(self.shape.rows, whole.columns, dense);
        let matrix = matrix
            .map_err(|Refused { bytes }| Error::NoMemory { file: file.clone(), bytes: bytes as u64 })?;
        let encoding = self.encoding.map(Arc::new);
        let weights = (!self.weights.is_empty()).then_some(self.weights);
        let fingerprint = Fingerprint::default();
        let dataset =
            Dataset { name: file, matrix, features, targets, weights, labels, encoding, fingerprint };
        Ok(Loaded {
            dataset,
            dropped_values: self.dropped,
            unlabelled_rows: self.unlabelled,
            ignored_columns: self.ignored,
            unseen_levels: self.unseen,
            ids: self.ids,
        })
    }

    /// Gives each feature that is used a column of its own.
    fn give_out(&mut self, mut used: Vec<u32>, whole: &mut Shape) -> Features {
        if used.is_empty() {
            used.push(0); // a matrix of zeros has a column too
        }
        if let Storage::Sparse { indices, .. } = &mut self.storage {
            Columns::new(&used).renumber(indices);
        }
        let count = std::mem::replace(&mut whole.columns, used.len());
        Features { count, used: Some(used) }
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

    /// Bytes of the rows themselves.
    fn bytes(&self) -> usize {
        match self {
            Storage::Sparse { offsets, indices, values } => {
                size_of_val(&offsets[..]) + size_of_val(&indices[..]) + size_of_val(&values[..])
            }
            Storage::Dense { values, .. } => size_of_val(&values[..]),
        }
    }

    fn append(&mut self, columns: usize, chunk: &Chunk) -> Result<(), Refused> {
        match self {
            Storage::Sparse { offsets, indices, values } => {
                make_room(offsets, chunk.ends.len())?;
                make_room(indices, chunk.indices.len())?;
                make_room(values, chunk.values.len())?;
                let before = values.len();
                offsets.extend(chunk.ends.iter().map(|end| before + end));
                indices.extend_from_slice(&chunk.indices);
                values.extend_from_slice(&chunk.values);
            }
            Storage::Dense { width, values } => {
                widen(width, values, columns)?;
                make_room(values, columns * chunk.ends.len())?;
                scatter(columns, &chunk.ends, &chunk.indices, &chunk.values, values);
            }
        }
        Ok(())
    }

    fn make_sparse(&mut self) -> Result<(), Refused> {
        if let Storage::Dense { width, values } = self {
            *self = gather(*width, values)?;
        }
        Ok(())
    }

    fn into_matrix(mut self, rows: usize, columns: usize, dense: bool) -> Result<Matrix, Refused> {
        if !dense {
            self.make_sparse()?;
        }
        Ok(match self {
            Storage::Sparse { offsets, indices, values } if dense => {
                let mut every = with_room(rows * columns)?;
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
                widen(&mut width, &mut values, columns)?;
                values.shrink_to_fit();
                Matrix::Dense(Dense::trusted(rows, columns, values))
            }
        })
    }
}

/// Refuses weights that leave every row out. All workers call it on their parts.
pub(crate) fn check_weights(dataset: &Dataset, together: &mut dyn Together) -> Result<(), Error> {
    let Some(weights) = &dataset.weights else { return Ok(()) };
    let mine: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
    match sum(&[mine], together)?[0] {
        0.0 => Err(Error::NoWeight { file: dataset.name.clone() }),
        _ => Ok(()),
    }
}

/// The system refused this much memory.
#[derive(Debug)]
struct Refused {
    bytes: usize,
}

/// Room for so many more: twice as much as there is, or just as much as is needed where that is refused.
fn make_room<T>(values: &mut Vec<T>, more: usize) -> Result<(), Refused> {
    let bytes = size_of::<T>() * (values.len() + more);
    if values.try_reserve(more).is_err() {
        values.try_reserve_exact(more).map_err(|_| Refused { bytes })?;
    }
    Ok(())
}

fn with_room<T>(count: usize) -> Result<Vec<T>, Refused> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| Refused { bytes: size_of::<T>() * count })?;
    Ok(values)
}

/// Makes room for more columns.
fn widen(width: &mut usize, values: &mut Vec<f32>, columns: usize) -> Result<(), Refused> {
    if *width < columns && !values.is_empty() {
        let mut wider = with_room(values.len() / *width * columns)?;
        for row in values.chunks_exact(*width) {
            wider.extend_from_slice(row);
            wider.resize(wider.len() + columns - *width, 0.0);
        }
        *values = wider;
    }
    *width = columns;
    Ok(())
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
fn gather(width: usize, dense: &[f32]) -> Result<Storage, Refused> {
    let nonzeros = dense.iter().filter(|value| **value != 0.0).count();
    let mut offsets = with_room(dense.len() / width.max(1) + 1)?;
    let (mut indices, mut values) = (with_room(nonzeros)?, with_room(nonzeros)?);
    offsets.push(0);
    for row in dense.chunks_exact(width) {
        for (index, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(index as u32);
            values.push(*value);
        }
        offsets.push(values.len());
    }
    Ok(Storage::Sparse { offsets, indices, values })
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
