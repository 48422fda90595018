//! Real tables: text, dates, yes and no, missing cells and columns that say nothing.
//!
//! A table whose columns are all plain numbers goes straight into the matrix. Any other is read into a [`frame`]: typed
//! columns, parsed in blocks on all cores. [`summary`] counts what is in them, [`learn`] makes an [`Encoding`] of the
//! counts, and [`encode`] turns the frame into rows of numbers, block by block, so that frame and matrix are never both
//! there as a whole. Workers that load together exchange their summaries, and so learn one encoding.
//!
//! Test data is read with the encoding of the training data: [`matching`] finds its columns by name.

pub(crate) mod cell;
pub(crate) mod date;
mod encode;
mod encoding;
mod frame;
mod kind;
mod learn;
mod matching;
mod parse;
mod plain;
mod read;
mod summary;

pub use cell::NumberStyle;
pub use date::DateOrder;
pub use encoding::{Becomes, Encoding, NamedColumn, Reason, SourceColumn};
pub(crate) use kind::{Kind, kinds, says_nothing};
pub(crate) use matching::{Matched, match_columns};
pub(crate) use plain::plain_encoding;
pub(crate) use read::read_table;
