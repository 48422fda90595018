//! What the formats of lines have in common: where a line ends, which lines hold a row, how blocks of them are read.

use crate::assemble::Assembler;
use crate::chunk::Chunk;
use crate::csv_layout::Layout;
use crate::header::Header;
use crate::input::Source;
use crate::joined::Places;
use crate::libsvm::Libsvm;
use crate::pipeline::{self, BlockParser, Fault};
use crate::table::read_table;
use crate::{Error, Format, LineProblem, LoadOptions, Together};

/// A parser of lines.
pub(crate) trait LineParser: BlockParser {
    /// Whether the line holds a row, rather than being blank or a comment.
    fn is_row(&self, line: &[u8]) -> bool;
}

/// A text whose layout is known.
pub(crate) struct Text {
    lines_of: Lines,
    /// Lines that were taken off the source already.
    pub(crate) lines: usize,
}

/// What the lines are.
enum Lines {
    Pairs(Libsvm),
    Table(Layout),
}

impl Text {
    /// Finds out the layout and takes a header off the source. Nothing if the format is not one of lines.
    pub(crate) fn find(
        source: &mut Source,
        format: Format,
        options: &LoadOptions,
    ) -> Result<Option<Text>, Error> {
        if !format.is_table() && options.names_columns() {
            return Err(Error::NoColumns { file: source.file().to_string(), format: format.name() });
        }
        match format {
            Format::Libsvm if options.encoding.is_some() => {
                Err(Error::NotATable { file: source.file().to_string(), format: format.name() })
            }
            Format::Libsvm => {
                let parser = Libsvm::new(source, options)?;
                Ok(Some(Text { lines_of: Lines::Pairs(parser), lines: 0 }))
            }
            Format::Csv | Format::Tsv | Format::Space => {
                let (layout, lines) = Layout::find(source, format, options)?;
                let text = Text { lines_of: Lines::Table(layout), lines };
                source.expect_header(text.header());
                Ok(Some(text))
            }
            Format::Idx if options.encoding.is_some() => {
                Err(Error::NotATable { file: source.file().to_string(), format: format.name() })
            }
            Format::Idx => Ok(None),
        }
    }

    /// What reads its lines.
    pub(crate) fn parser(&self) -> &dyn LineParser {
        match &self.lines_of {
            Lines::Pairs(libsvm) => libsvm,
            Lines::Table(layout) => layout,
        }
    }

    /// The header, which other files of the dataset may have, too.
    pub(crate) fn header(&self) -> Option<Header> {
        match &self.lines_of {
            Lines::Pairs(_) => None,
            Lines::Table(layout) => {
                let names = layout.header.clone()?;
                Some(Header { names, delimiter: layout.delimiter })
            }
        }
    }

    fn has_labels(&self) -> bool {
        match &self.lines_of {
            Lines::Pairs(libsvm) => libsvm.has_labels(),
            Lines::Table(layout) => layout.label.is_some(),
        }
    }

    /// Reads this worker's rows; all workers call it together. `open` gives the source at the first of them, and how many
    /// lines come before.
    pub(crate) fn read<'s>(
        &self,
        open: &mut dyn FnMut() -> Result<(Source<'s>, usize), Error>,
        block_bytes: usize,
        assembler: &mut Assembler,
        together: &mut dyn Together,
    ) -> Result<(), Error> {
        assembler.expect_labels(self.has_labels());
        let mut places = Places::default();
        let mut open = || {
            let opened = open()?;
            places = opened.0.places();
            Ok(opened)
        };
        let done = match &self.lines_of {
            Lines::Pairs(libsvm) => open().and_then(|(mut source, lines)| {
                assembler.lines = lines;
                pipeline::run(&mut source, block_bytes, libsvm, assembler)
            }),
            Lines::Table(layout) => {
                assembler.ignored.clone_from(&layout.ignored);
                read_table(layout, &mut open, block_bytes, assembler, together)
            }
        };
        assembler.places = places;
        done
    }
}

/// Each line of the block and where it begins; the line's end, LF or CRLF, is taken off.
pub(crate) fn lines(block: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        let rest = block.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        next = start + length + 1;
        Some((start, rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length])))
    })
}

/// Where the last whole line ends: the cut for all formats of lines.
pub(crate) fn whole_lines(buffer: &[u8]) -> usize {
    memchr::memrchr(b'\n', buffer).map_or(0, |newline| newline + 1)
}

/// Calls `each` with every line of the block and its number.
pub(crate) fn for_each_line(
    block: &[u8],
    chunk: &mut Chunk,
    mut each: impl FnMut(&[u8], usize, &mut Chunk) -> Result<(), LineProblem>,
) -> Result<(), Fault> {
    for (_, line) in lines(block) {
        let number = chunk.lines;
        each(line, number, chunk).map_err(|problem| Fault { line: number, problem })?;
        chunk.lines += 1;
    }
    Ok(())
}
