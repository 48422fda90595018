//! Data for Hemingway: matrices, readers for common formats, generated data and the embedded dataset.
//!
//! [`load`] takes a path, `synthetic:NAME,…` or [`EMBEDDED`] and returns a [`Dataset`]. Files go from `input` (open,
//! unpack, recognise the `format`) through `pipeline` (blocks parsed on all cores by `libsvm`, `csv` or `idx`) to
//! `assemble` (one matrix, sparse or dense) and `labels` (targets). Generated data enters at `assemble`.

mod assemble;
mod chunk;
mod csv;
mod csv_layout;
mod dataset;
mod embedded;
mod error;
mod format;
mod idx;
mod input;
mod labels;
mod libsvm;
mod load;
mod matrix;
mod number;
mod options;
mod partition;
mod pipeline;
mod synthetic;
mod transform;

pub use dataset::{Dataset, Labels};
pub use embedded::EMBEDDED;
pub use error::{Error, LineProblem};
pub use format::Format;
pub use load::{Loaded, load, load_counting, parse_blocks, parse_bytes};
pub use matrix::{Dense, Matrix, Sparse};
pub use options::{LabelColumn, LoadOptions};
pub use partition::shard;
pub use synthetic::{check_synthetic, synthetic_names};
pub use transform::{Standardise, Transform};
