//! What the formats of lines have in common: where a line ends, which lines hold a row, how blocks of them are read.

use crate::assemble::Assembler;
use crate::chunk::Chunk;
use crate::csv_layout::Layout;
use crate::header::Header;
use crate::input::Source;
use crate::libsvm::Libsvm;
use crate::pipeline::{self, BlockParser, Fault};
use crate::{Error, Format, LineProblem, LoadOptions};

/// A parser of lines.
pub(crate) trait LineParser: BlockParser {
    /// Whether the line holds a row, rather than being blank or a comment.
    fn is_row(&self, line: &[u8]) -> bool;
}

/// A text whose layout is known.
pub(crate) struct Text {
    pub(crate) parser: Box<dyn LineParser>,
    /// Lines that were taken off the source already.
    pub(crate) lines: usize,
    /// The header, which other files of the dataset may have, too.
    pub(crate) header: Option<Header>,
    has_labels: bool,
}

impl Text {
    /// Finds out the layout and takes a header off the source. Nothing if the format is not one of lines.
    pub(crate) fn find(
        source: &mut Source,
        format: Format,
        options: &LoadOptions,
    ) -> Result<Option<Text>, Error> {
        match format {
            Format::Libsvm => {
                let parser = Libsvm::new(source, options)?;
                let has_labels = parser.has_labels();
                Ok(Some(Text { parser: Box::new(parser), lines: 0, header: None, has_labels }))
            }
            Format::Csv | Format::Tsv | Format::Space => {
                let (layout, lines) = Layout::find(source, format, options)?;
                let has_labels = layout.label.is_some();
                let delimiter = layout.delimiter;
                let header = layout.header.clone().map(|names| Header { names, delimiter });
                source.expect_header(header.clone());
                Ok(Some(Text { parser: Box::new(layout), lines, header, has_labels }))
            }
            Format::Idx => Ok(None),
        }
    }

    /// Reads the source to its end; `lines` came before.
    pub(crate) fn read(
        &self,
        source: &mut Source,
        lines: usize,
        block_bytes: usize,
        assembler: &mut Assembler,
    ) -> Result<(), Error> {
        assembler.expect_labels(self.has_labels);
        assembler.lines = lines;
        let done = pipeline::run(source, block_bytes, &*self.parser, assembler);
        assembler.places = source.places();
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
