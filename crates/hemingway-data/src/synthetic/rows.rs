//! Where generators write their rows.

use std::ops::Range;

use crate::Error;
use crate::assemble::Assembler;
use crate::chunk::Chunk;

const VALUES_AT_ONCE: usize = 1 << 16;

/// Collects the wanted ones of all rows and passes them on in chunks.
pub(super) struct Rows<'a, 'b> {
    assembler: &'a mut Assembler<'b>,
    chunk: Chunk,
    wanted: Range<usize>,
    /// Rows generated so far, wanted or not.
    generated: usize,
}

impl<'a, 'b> Rows<'a, 'b> {
    pub(super) fn new(assembler: &'a mut Assembler<'b>, wanted: Range<usize>) -> Rows<'a, 'b> {
        let chunk = assembler.chunk(VALUES_AT_ONCE);
        Rows { assembler, chunk, wanted, generated: 0 }
    }

    /// Adds one row of a matrix with `features` columns: values by increasing index, and whether its label is +1.
    pub(super) fn push(
        &mut self,
        features: usize,
        row: impl Iterator<Item = (u32, f32)>,
        positive: bool,
    ) -> Result<(), Error> {
        self.generated += 1;
        if !self.wanted.contains(&(self.generated - 1)) {
            return Ok(());
        }
        row.for_each(|(index, value)| self.chunk.push(index, value));
        self.chunk.widen(features);
        let label: &[u8] = if positive { b"+1" } else { b"-1" };
        self.chunk.labels.push(label, self.chunk.lines).expect("+1 and -1 are labels");
        self.chunk.lines += 1;
        self.chunk.end_row();
        if self.chunk.values.len() >= VALUES_AT_ONCE { self.flush() } else { Ok(()) }
    }

    /// Adds a row given with all its values.
    pub(super) fn push_dense(&mut self, row: &[f32], positive: bool) -> Result<(), Error> {
        self.push(row.len(), row.iter().enumerate().map(|(index, value)| (index as u32, *value)), positive)
    }

    /// Passes on what is left.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Error> {
        let empty = self.assembler.chunk(VALUES_AT_ONCE);
        self.assembler.append(std::mem::replace(&mut self.chunk, empty))
    }
}
