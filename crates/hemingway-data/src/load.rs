//! From a spec to a dataset: a path, `synthetic:NAME,…` or `embedded:mnist`.

use crate::assemble::{Assembler, Filled};
use crate::format::{check_named, recognise};
use crate::idx::{self, LabelSource};
use crate::input::Source;
use crate::inputs::origins;
use crate::labels::Column;
use crate::origin::Origin;
use crate::partition::Share;
use crate::pipeline::BLOCK_BYTES;
use crate::text::Text;
use crate::together::Alone;
use crate::{Dataset, Error, Format, LoadOptions, embedded, synthetic};

/// A dataset, and what was left out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The dataset.
    pub dataset: Dataset,
    /// Values dropped because the training data has no such feature; see [`LoadOptions::columns`].
    pub dropped_values: usize,
    /// Rows of a table left out because they have no label; see [`LoadOptions::drop_unlabelled`].
    pub unlabelled_rows: usize,
    /// Columns of test data that the training data does not have.
    pub ignored_columns: Vec<String>,
    /// Cells of test data with a text that the training data does not have, where no feature stands for others.
    pub unseen_levels: usize,
    /// What names each row; empty unless [`LoadOptions::id`] asks for it.
    pub ids: Vec<String>,
}

/// Loads a dataset: a path, `synthetic:NAME,rows=…,features=…,seed=…` or `embedded:mnist`.
pub fn load(spec: &str, options: &LoadOptions) -> Result<Dataset, Error> {
    load_counting(spec, options).map(|loaded| loaded.dataset)
}

/// As [`load`], and says how many values of test data had to be dropped.
pub fn load_counting(spec: &str, options: &LoadOptions) -> Result<Loaded, Error> {
    match spec.split_once(':') {
        Some(("synthetic", request)) => {
            assemble(spec, options, |assembler| synthetic::generate(spec, request, Share::WHOLE, assembler))
        }
        Some(("embedded", name)) => assemble(spec, &embedded::with_defaults(options), |assembler| {
            embedded::read(spec, name, Share::WHOLE, assembler)
        }),
        _ => assemble(spec, options, |assembler| {
            let open = || Source::open(spec);
            read(&open, options.format, LabelSource::Beside, BLOCK_BYTES, assembler)
        }),
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
    const NAME: &str = "bytes";
    let open = || Source::memory(NAME, bytes);
    assemble(NAME, options, |assembler| {
        read(&open, format.into(), LabelSource::Behind, block_bytes.max(1), assembler)
    })
}

/// An input whose format and layout are known.
pub(crate) struct Input<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) format: Format,
    /// How to read its lines, unless the format is binary.
    pub(crate) text: Option<Text>,
}

impl<'a> Input<'a> {
    /// Finds out the format, unless it is given, and the layout from the beginning of the source.
    pub(crate) fn new(
        mut source: Source<'a>,
        format: Option<Format>,
        options: &LoadOptions,
    ) -> Result<Input<'a>, Error> {
        let format = match format {
            _ if source.delimiter().is_some() => Format::Csv,
            Some(format) => check_named(source.part(), source.head()).map(|()| format)?,
            None => recognise(source.part(), source.head())?,
        };
        if source.is_joined() && format == Format::Idx {
            let (file, format) = (source.file().to_string(), format.to_string());
            return Err(Error::NotJoined { file, format });
        }
        let text = Text::find(&mut source, format, options)?;
        Ok(Input { source, format, text })
    }
}

/// The format of a spec, as far as it can be found out without using it up: nothing of generated data, of a pipe, and of
/// what cannot be read.
pub fn recognised(spec: &str, format: Option<Format>) -> Option<Format> {
    if matches!(spec.split_once(':'), Some(("synthetic" | "embedded", _))) {
        return None;
    }
    format.or_else(|| {
        let again = origins(spec).ok()?.iter().all(Origin::can_be_read_again);
        let source = again.then(|| Source::open(spec).ok())??;
        match source.delimiter() {
            Some(_) => Some(Format::Csv),
            None => recognise(source.part(), source.head()).ok(),
        }
    })
}

fn assemble(
    file: &str,
    options: &LoadOptions,
    fill: impl FnOnce(&mut Assembler) -> Result<Filled, Error>,
) -> Result<Loaded, Error> {
    let mut assembler = Assembler::new(file, options, Column::for_options(options));
    let filled = fill(&mut assembler);
    let filled = filled.map_err(|error| error.located(file, &assembler.places))?;
    assembler.finish(filled.format)
}

fn read<'s>(
    open: &dyn Fn() -> Result<Source<'s>, Error>,
    format: Option<Format>,
    labels: LabelSource,
    block_bytes: usize,
    assembler: &mut Assembler,
) -> Result<Filled, Error> {
    let Input { mut source, format, text } = Input::new(open()?, format, assembler.options)?;
    let Some(text) = text else {
        return idx::read(&mut source, labels, Share::WHOLE, block_bytes, assembler);
    };
    let begin = source.taken();
    let mut first = Some(source);
    let mut open = || match first.take() {
        Some(source) => Ok((source, text.lines)),
        None => {
            let mut again = open()?;
            again.expect_header(text.header());
            again.skip_to(begin)?;
            Ok((again, text.lines))
        }
    };
    text.read(&mut open, block_bytes, assembler, &mut Alone)?;
    Ok(Filled { format: format.name(), first_row: 0, total_rows: assembler.shape().rows })
}
