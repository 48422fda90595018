//! Data for Hemingway: matrices, readers for common formats, generated data and the embedded dataset.
//!
//! [`load`] takes a path, `synthetic:NAME,…` or [`EMBEDDED`] and returns a [`Dataset`]. Files go from `input` (open,
//! unpack, recognise the `format`) through `pipeline` (blocks parsed on all cores by `libsvm`, `csv` or `idx`) to
//! `assemble` (one matrix, sparse or dense) and `labels` (targets). Generated data enters at `assemble`. Tables of more
//! than plain numbers go from `pipeline` into a frame of `table` and from there to `assemble`.
//!
//! [`load_part`] gives each of several workers its own rows of the same, so that nobody holds all of them. The workers
//! are [`Together`]: they `survey` a text to find where its rows are, read their own through the pipeline above, and
//! exchange columns, density and classes before they finish as one.

mod assemble;
mod characters;
mod charset;
mod chunk;
mod class_weight;
mod classes;
mod content;
mod cores;
mod csv;
mod csv_layout;
mod dataset;
mod embedded;

mod error;
mod features;
mod fingerprint;
mod foreign;
mod format;
mod header;
mod idx;
mod input;
mod inputs;
mod joined;
mod labels;
mod libsvm;
mod limit;
mod load;
mod matrix;
mod number;
mod options;
mod origin;
mod packing;
#[cfg(feature = "parquet")]
mod parquet;
mod part;
mod partition;
mod pipeline;
mod sample;
mod survey;
mod synthetic;
mod table;
mod text;
mod together;
mod transform;

pub use characters::{
    Characters, Distribution, Diversity, Finding, Histogram, Interval, Kind, LabelCharacters, Order,
    RangeDistance, sample_part, sample_rows,
};
pub use class_weight::{ClassWeight, CountedClass};
pub use classes::EachClass;
pub use cores::cores;
pub use dataset::{Dataset, Labels};
pub use embedded::EMBEDDED;
pub use error::{Error, LineProblem};
pub use features::Features;
pub use fingerprint::{Difference, Fingerprint};
pub use format::Format;
pub use inputs::{absolute_spec, is_standard_input, several};
pub use limit::{MemoryLimit, ParseSizeError, SetBy, parse_size, size};
pub use load::{Loaded, load, load_counting, parse_blocks, parse_bytes, recognised};
pub use matrix::{Dense, Matrix, Sparse};
pub use options::{LabelColumn, LoadOptions, parse_delimiter};
pub use part::{Part, load_part, load_part_blocks};
pub use partition::shard;
pub use synthetic::{check_synthetic, synthetic_names};
pub use table::{Becomes, DateOrder, Encoding, NamedColumn, NumberStyle, Reason, SourceColumn};
pub use together::Together;
pub use transform::{Standardise, Transform};
