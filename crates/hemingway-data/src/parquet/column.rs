//! One column of a Parquet file: what its values mean, and the values of some rows.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use super::cell;

/// What the values of a column mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// Numbers and booleans as they are.
    Plain,
    /// Whole numbers without a sign.
    Unsigned,
    /// Days since 1970-01-01.
    Date,
    /// Time since then, so many units in a second.
    Timestamp {
        per_second: i64,
    },
    /// Whole numbers with so many digits behind the point.
    Decimal {
        digits: u32,
    },
    Text,
}

impl Kind {
    /// Finds out what a column holds; fails if it is no column of a table.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Kind, String> {
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err(format!(
                "column “{}” is not flat: lists and structures cannot be read",
                column.path().string()
            ));
        }
        let digits = u32::try_from(column.type_scale()).unwrap_or(0);
        let kind = match (column.logical_type(), column.converted_type()) {
            (Some(LogicalType::Timestamp { unit, .. }), _) => {
                Kind::Timestamp { per_second: per_second(unit) }
            }
            (_, ConvertedType::TIMESTAMP_MILLIS) => Kind::Timestamp { per_second: 1_000 },
            (_, ConvertedType::TIMESTAMP_MICROS) => Kind::Timestamp { per_second: 1_000_000 },
            (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => Kind::Date,
            (Some(LogicalType::Decimal { .. }), _) | (_, ConvertedType::DECIMAL) => Kind::Decimal { digits },
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Kind::Unsigned,
            _ if matches!(column.physical_type(), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY) => {
                Kind::Text
            }
            _ => Kind::Plain,
        };
        Ok(kind)
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    }
}

/// The values of some rows. Rows without a value are missing.
pub(super) struct Column {
    kind: Kind,
    values: Values,
    /// The place of each row among the values, if it has one.
    places: Vec<Option<u32>>,
}

enum Values {
    Boolean(Reading<parquet::data_type::BoolType>),
    Int32(Reading<parquet::data_type::Int32Type>),
    Int64(Reading<parquet::data_type::Int64Type>),
    Int96(Reading<parquet::data_type::Int96Type>),
    Float(Reading<parquet::data_type::FloatType>),
    Double(Reading<parquet::data_type::DoubleType>),
    Bytes(Reading<parquet::data_type::ByteArrayType>),
    Fixed(Reading<parquet::data_type::FixedLenByteArrayType>),
}

/// A reader with the values that it read last.
struct Reading<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

impl<T: DataType> Reading<T> {
    fn new(reader: ColumnReaderImpl<T>) -> Reading<T> {
        Reading { reader, values: Vec::new() }
    }

    /// Reads so many rows, and whether each has a value.
    fn read(&mut self, rows: usize) -> Result<Vec<Option<u32>>, ParquetError> {
        self.values.clear();
        let (mut levels, mut read) = (Vec::new(), 0);
        while read < rows {
            let (more, ..) =
                self.reader.read_records(rows - read, Some(&mut levels), None, &mut self.values)?;
            if more == 0 {
                return Err(ParquetError::EOF(format!("{rows} rows expected, {read} found")));
            }
            read += more;
        }
        // A column that cannot lack values has no levels.
        if levels.is_empty() {
            return Ok((0..rows as u32).map(Some).collect());
        }
        let mut next = 0;
        let place = |level: &i16| (*level > 0).then(|| std::mem::replace(&mut next, next + 1));
        Ok(levels.iter().map(place).collect())
    }
}

impl Column {
    pub(super) fn new(kind: Kind, reader: ColumnReader) -> Column {
        let values = match reader {
            ColumnReader::BoolColumnReader(reader) => Values::Boolean(Reading::new(reader)),
            ColumnReader::Int32ColumnReader(reader) => Values::Int32(Reading::new(reader)),
            ColumnReader::Int64ColumnReader(reader) => Values::Int64(Reading::new(reader)),
            ColumnReader::Int96ColumnReader(reader) => Values::Int96(Reading::new(reader)),
            ColumnReader::FloatColumnReader(reader) => Values::Float(Reading::new(reader)),
            ColumnReader::DoubleColumnReader(reader) => Values::Double(Reading::new(reader)),
            ColumnReader::ByteArrayColumnReader(reader) => Values::Bytes(Reading::new(reader)),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => Values::Fixed(Reading::new(reader)),
        };
        Column { kind, values, places: Vec::new() }
    }

    /// Reads the next rows.
    pub(super) fn read(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.places = match &mut self.values {
            Values::Boolean(reading) => reading.read(rows)?,
            Values::Int32(reading) => reading.read(rows)?,
            Values::Int64(reading) => reading.read(rows)?,
            Values::Int96(reading) => reading.read(rows)?,
            Values::Float(reading) => reading.read(rows)?,
            Values::Double(reading) => reading.read(rows)?,
            Values::Bytes(reading) => reading.read(rows)?,
            Values::Fixed(reading) => reading.read(rows)?,
        };
        Ok(())
    }

    /// Writes the cell of one of the rows that were read last.
    pub(super) fn write(&self, row: usize, text: &mut Vec<u8>) {
        let Some(at) = self.places[row].map(|place| place as usize) else { return };
        match &self.values {
            Values::Boolean(reading) => cell::write(reading.values[at], text),
            Values::Float(reading) => cell::write(reading.values[at], text),
            Values::Double(reading) => cell::write(reading.values[at], text),
            Values::Int32(reading) => self.write_whole(i64::from(reading.values[at]), 32, text),
            Values::Int64(reading) => self.write_whole(reading.values[at], 64, text),
            Values::Int96(reading) => cell::write_timestamp(seconds(&reading.values[at]), text),
            Values::Bytes(reading) => self.write_bytes(ByteArray::data(&reading.values[at]), text),
            Values::Fixed(reading) => self.write_bytes(FixedLenByteArray::data(&reading.values[at]), text),
        }
    }

    fn write_whole(&self, value: i64, bits: u32, text: &mut Vec<u8>) {
        match self.kind {
            Kind::Date => cell::write_date(value, text),
            Kind::Timestamp { per_second } => cell::write_timestamp(value.div_euclid(per_second), text),
            Kind::Decimal { digits } => cell::write_decimal(i128::from(value), digits, text),
            Kind::Unsigned if bits == 32 => cell::write(value as u32, text),
            Kind::Unsigned => cell::write(value as u64, text),
            Kind::Plain | Kind::Text => cell::write(value, text),
        }
    }

    fn write_bytes(&self, bytes: &[u8], text: &mut Vec<u8>) {
        match self.kind {
            Kind::Decimal { digits } => cell::write_decimal(cell::whole(bytes), digits, text),
            _ => cell::write_text(bytes, text),
        }
    }
}

/// Seconds since 1970-01-01 of the timestamps that old programs write: a Julian day, and nanoseconds of it.
fn seconds(value: &Int96) -> i64 {
    value.to_millis().div_euclid(1000)
}
