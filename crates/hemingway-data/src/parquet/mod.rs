//! Parquet, read as the table it holds: a line with the names of the columns, then a line for each row.
//!
//! Columns are decoded in parallel, a few thousand rows at a time, and written as text that then goes the way of every table: types, missing
//! cells, labels, several files, many workers. Writing and parsing the text costs about as much as decoding does, and saves
//! a second way through all of that. Fields stand between [`DELIMITER`]s, which occur in no text that people write.

mod cell;
mod column;

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use rayon::prelude::*;

use crate::origin::SharedFile;
use column::{Column, Kind};

/// What stands between the fields.
pub(crate) const DELIMITER: u8 = 0x1f;

/// Rows that are decoded at once: enough that handing columns to other cores costs nothing, few enough that some
/// hundred columns take a few megabytes.
const ROWS_AT_ONCE: usize = 8192;

/// Rows that one core writes as text at once.
const ROWS_WRITTEN: usize = 1024;

/// The text of a Parquet file.
pub(crate) struct Table {
    reader: SerializedFileReader<Chunks>,
    kinds: Vec<Kind>,
    /// The row group that is read next.
    group: usize,
    /// The columns of the present row group.
    columns: Vec<Column>,
    /// Rows left in it.
    rows: usize,
    text: Vec<u8>,
    given: usize,
}

impl Table {
    /// Opens a file; fails with what is wrong with it.
    pub(crate) fn open(file: Arc<File>) -> Result<Table, String> {
        let reader = SerializedFileReader::new(Chunks(file)).map_err(|error| error.to_string())?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let kinds = schema.columns().iter().map(|column| Kind::of(column)).collect::<Result<Vec<_>, _>>()?;
        let mut text = Vec::new();
        for (at, column) in schema.columns().iter().enumerate() {
            cell::separate(at, &mut text);
            cell::write_text(column.name().as_bytes(), &mut text);
        }
        text.push(b'\n');
        Ok(Table { reader, kinds, group: 0, columns: Vec::new(), rows: 0, text, given: 0 })
    }

    /// Writes the next rows as text; none are left if it is empty.
    fn write_more(&mut self) -> Result<(), ParquetError> {
        (self.text, self.given) = (Vec::new(), 0);
        while self.rows == 0 {
            if self.group == self.reader.num_row_groups() {
                return Ok(());
            }
            self.next_group()?;
        }
        let rows = self.rows.min(ROWS_AT_ONCE);
        self.columns.par_iter_mut().try_for_each(|column| column.read(rows))?;
        let columns = &self.columns;
        let pieces: Vec<Vec<u8>> = (0..rows.div_ceil(ROWS_WRITTEN))
            .into_par_iter()
            .map(|piece| written(columns, piece * ROWS_WRITTEN..rows.min((piece + 1) * ROWS_WRITTEN)))
            .collect();
        self.text = pieces.concat();
        self.rows -= rows;
        Ok(())
    }

    fn next_group(&mut self) -> Result<(), ParquetError> {
        let group = self.reader.get_row_group(self.group)?;
        self.rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        self.columns = (self.kinds.iter().enumerate())
            .map(|(at, kind)| Ok(Column::new(*kind, group.get_column_reader(at)?)))
            .collect::<Result<Vec<Column>, ParquetError>>()?;
        self.group += 1;
        Ok(())
    }
}

fn written(columns: &[Column], rows: std::ops::Range<usize>) -> Vec<u8> {
    let mut text = Vec::new();
    for row in rows {
        for (at, column) in columns.iter().enumerate() {
            cell::separate(at, &mut text);
            column.write(row, &mut text);
        }
        text.push(b'\n');
    }
    text
}

impl Read for Table {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() {
            self.write_more().map_err(io::Error::other)?;
        }
        let rest = &self.text[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

/// A file of which several cores read different pieces.
struct Chunks(Arc<File>);

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.metadata().map_or(0, |metadata| metadata.len())
    }
}

impl ChunkReader for Chunks {
    type T = io::BufReader<SharedFile>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(io::BufReader::new(SharedFile::new(Arc::clone(&self.0), start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let mut bytes = Vec::new();
        let read = SharedFile::new(Arc::clone(&self.0), start).take(length as u64).read_to_end(&mut bytes)?;
        match read == length {
            true => Ok(bytes.into()),
            false => Err(ParquetError::EOF(format!("{length} bytes expected at {start}, {read} found"))),
        }
    }
}
