//! The rows parsed from one block of input.

use crate::features::Columns;
use crate::fingerprint::RowHash;
use crate::labels::Column;

/// Consecutive rows in sparse form, with their labels. Zeros are not kept.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Lines in the block, also those without a row.
    pub lines: usize,
    /// One more than the largest index seen, or the number of columns where the format says it.
    pub columns: usize,
    /// Values left out because their index is beyond `limit`.
    pub dropped: usize,
    /// Lines left out because they have no label.
    pub unlabelled: usize,
    /// Where each row ends in `indices` and `values`.
    pub ends: Vec<usize>,
    pub indices: Vec<u32>,
    pub values: Vec<f32>,
    pub labels: Column,
    /// The hash of its rows.
    pub hash: RowHash,
    limit: u32,
}

impl Chunk {
    /// No rows yet. Indices from `limit` on will be dropped.
    pub(crate) fn new(labels: Column, limit: Option<usize>, capacity: usize) -> Chunk {
        Chunk {
            lines: 0,
            columns: 0,
            dropped: 0,
            unlabelled: 0,
            ends: Vec::new(),
            indices: Vec::with_capacity(capacity),
            values: Vec::with_capacity(capacity),
            labels,
            hash: RowHash::default(),
            limit: limit.map_or(u32::MAX, |limit| u32::try_from(limit).unwrap_or(u32::MAX)),
        }
    }

    /// As [`Chunk::new`] for the same kind of labels and the same limit.
    pub(crate) fn like(&self, capacity: usize) -> Chunk {
        Chunk { limit: self.limit, ..Chunk::new(self.labels.emptied(), None, capacity) }
    }

    /// Adds a value to the row being read; indices within a row increase.
    #[inline]
    pub(crate) fn push(&mut self, index: u32, value: f32) {
        if index >= self.limit {
            self.dropped += usize::from(value != 0.0);
        } else if value != 0.0 {
            self.indices.push(index);
            self.values.push(value);
        }
    }

    /// Adds neighbours of which some are zero, without a branch that depends on which: nobody can foresee that.
    #[inline]
    pub(crate) fn push_some(&mut self, first: u32, values: [f32; 8]) {
        if self.limit.saturating_sub(first) < 8 {
            (first..).zip(values).for_each(|(index, value)| self.push(index, value));
            return;
        }
        let (mut kept_indices, mut kept_values, mut kept) = ([0; 8], [0.0; 8], 0);
        for (index, value) in (first..).zip(values) {
            (kept_indices[kept & 7], kept_values[kept & 7]) = (index, value);
            kept += usize::from(value != 0.0);
        }
        self.indices.extend_from_slice(&kept_indices[..kept]);
        self.values.extend_from_slice(&kept_values[..kept]);
    }

    /// Notes that the data has at least this many columns.
    #[inline]
    pub(crate) fn widen(&mut self, columns: usize) {
        self.columns = self.columns.max(columns.min(self.limit as usize));
    }

    /// Bytes of its rows.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.ends[..]) + size_of_val(&self.indices[..]) + size_of_val(&self.values[..])
    }

    /// Ends the row being read.
    #[inline]
    pub(crate) fn end_row(&mut self) {
        let begin = self.ends.last().copied().unwrap_or(0);
        self.hash.push(&self.indices[begin..], &self.values[begin..]);
        self.ends.push(self.values.len());
    }

    /// Keeps the values of features that have columns, and puts columns in place of features.
    pub(crate) fn keep(&mut self, columns: &Columns) {
        let (mut kept, mut start) = (0, 0);
        for end in &mut self.ends {
            for at in start..*end {
                if let Some(column) = columns.of(self.indices[at]) {
                    (self.indices[kept], self.values[kept]) = (column, self.values[at]);
                    kept += 1;
                }
            }
            start = std::mem::replace(end, kept);
        }
        self.dropped += self.values.len() - kept;
        self.indices.truncate(kept);
        self.values.truncate(kept);
        self.columns = columns.count();
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.ends.len()
    }
}
