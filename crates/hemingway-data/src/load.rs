//! From a spec to a dataset: a path, `synthetic:NAME,…` or `embedded:mnist`.

use crate::assemble::Assembler;
use crate::csv_layout::Layout;
use crate::format::recognise;
use crate::idx::{self, LabelSource};
use crate::input::Source;
use crate::labels::Column;
use crate::libsvm::Libsvm;
use crate::pipeline::{self, BLOCK_BYTES};
use crate::{Dataset, Error, Format, LoadOptions, embedded, synthetic};

/// A dataset, and what was left out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The dataset.
    pub dataset: Dataset,
    /// Values dropped because the training data has no such feature; see [`LoadOptions::columns`].
    pub dropped_values: usize,
}

/// Loads a dataset: a path, `synthetic:NAME,rows=…,features=…,seed=…` or `embedded:mnist`.
pub fn load(spec: &str, options: &LoadOptions) -> Result<Dataset, Error> {
    load_counting(spec, options).map(|loaded| loaded.dataset)
}

/// As [`load`], and says how many values of test data had to be dropped.
pub fn load_counting(spec: &str, options: &LoadOptions) -> Result<Loaded, Error> {
    match spec.split_once(':') {
        Some(("synthetic", request)) => synthetic::generate(spec, request, options),
        Some(("embedded", name)) => embedded::load(spec, name, options),
        _ => read(Source::open(spec)?, options.format, LabelSource::Beside(spec), BLOCK_BYTES, options),
    }
}

/// Parses bytes in memory, compressed or not. For tests, fuzzing and benchmarks: IDX labels follow the images.
#[doc(hidden)]
pub fn parse_bytes(
    format: impl Into<Option<Format>>,
    bytes: &[u8],
    options: &LoadOptions,
) -> Result<Loaded, Error> {
    parse_blocks(format, bytes, BLOCK_BYTES, options)
}

/// As [`parse_bytes`] with blocks of another size, to test the cuts between them.
#[doc(hidden)]
pub fn parse_blocks(
    format: impl Into<Option<Format>>,
    bytes: &[u8],
    block_bytes: usize,
    options: &LoadOptions,
) -> Result<Loaded, Error> {
    let source = Source::memory("bytes", bytes)?;
    read(source, format.into(), LabelSource::Behind, block_bytes.max(1), options)
}

pub(crate) fn read(
    mut source: Source,
    format: Option<Format>,
    labels: LabelSource,
    block_bytes: usize,
    options: &LoadOptions,
) -> Result<Loaded, Error> {
    let file = source.file().to_string();
    let format = format.map_or_else(|| recognise(&file, source.head()), Ok)?;
    let mut assembler = Assembler::new(&file, options, Column::for_options(options));
    match format {
        Format::Libsvm => {
            let parser = Libsvm::new(&source, options)?;
            assembler.expect_labels(parser.has_labels());
            pipeline::run(&mut source, block_bytes, &parser, &mut assembler)?;
        }
        Format::Csv | Format::Tsv => {
            let (layout, lines) = Layout::find(&mut source, format, options)?;
            assembler.expect_labels(layout.label.is_some());
            assembler.lines = lines;
            pipeline::run(&mut source, block_bytes, &layout, &mut assembler)?;
        }
        Format::Idx => idx::read(&mut source, labels, block_bytes, &mut assembler)?,
    }
    assembler.finish(format.name())
}
