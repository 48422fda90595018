//! Where the rows of a text are, found out by all workers together without parsing it.
//!
//! Each worker counts the lines and rows of an equal share of the bytes, block by block; a line belongs to the share
//! in which it begins. Everyone's counts one after the other tell the block in which any row begins, and counting on
//! inside that block tells its byte and its line. A compressed text cannot be entered in the middle, so its share for
//! the first worker is all of it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::input::Source;
use crate::partition::Share;
use crate::pipeline::check_record;
use crate::text::{LineParser, lines};
use crate::{Error, LoadOptions};

/// How much is read at once to find the end of a line.
const LINE_BYTES: usize = 16 * 1024;

/// How long a piece of text is. For a place in the text: the piece before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stretch {
    pub bytes: u64,
    pub lines: usize,
    pub rows: usize,
}

/// Counts the blocks of this worker's share of what is left of the source.
pub(crate) fn count(
    mut source: Source,
    parser: &dyn LineParser,
    share: Share,
    block_bytes: usize,
    options: &LoadOptions,
) -> Result<Vec<Stretch>, Error> {
    let range = byte_range(&source, share);
    if range.start > source.taken() {
        source.skip_to(range.start - 1)?;
        take_lines(&mut source, 1, options)?; // the line that began in an earlier share, or the end of the last one there
    }
    let mut counts = Vec::new();
    while source.taken() < range.end {
        let wanted = (range.end - source.taken()).min(block_bytes as u64) as usize;
        let block = take_lines(&mut source, wanted, options)?;
        if block.is_empty() {
            break;
        }
        counts.push(Stretch::of(&block, parser));
    }
    Ok(counts)
}

/// The bytes in which this worker's lines begin.
fn byte_range(source: &Source, share: Share) -> Range<u64> {
    let begin = source.taken();
    let Some(extent) = source.extent() else {
        return if share.rank == 0 { begin..u64::MAX } else { begin..begin };
    };
    let bytes = u128::from(extent.saturating_sub(begin));
    let cut = |rank: usize| begin + (bytes * rank as u128 / share.workers as u128) as u64;
    cut(share.rank)..cut(share.rank + 1)
}

/// The next `wanted` bytes and what follows up to the end of the line; fewer only at the end of the text.
fn take_lines(source: &mut Source, wanted: usize, options: &LoadOptions) -> Result<Vec<u8>, Error> {
    let mut block = Vec::with_capacity(wanted + LINE_BYTES);
    source.fill(&mut block, wanted)?;
    while !block.ends_with(b"\n") {
        let before = block.len();
        check_record(source, before, options)?;
        if source.fill(&mut block, LINE_BYTES)? == 0 {
            break;
        }
        if let Some(newline) = memchr::memchr(b'\n', &block[before..]) {
            let end = before + newline + 1;
            source.give_back(&block[end..]);
            block.truncate(end);
        }
    }
    Ok(block)
}

impl Stretch {
    fn of(block: &[u8], parser: &dyn LineParser) -> Stretch {
        let mut stretch = Stretch { bytes: block.len() as u64, ..Stretch::default() };
        for (_, line) in lines(block) {
            stretch.lines += 1;
            stretch.rows += usize::from(parser.is_row(line));
        }
        stretch
    }

    fn and(self, next: Stretch) -> Stretch {
        Stretch {
            bytes: self.bytes + next.bytes,
            lines: self.lines + next.lines,
            rows: self.rows + next.rows,
        }
    }
}

/// The counts of all workers, put together.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Where each block begins, and where the last one ends.
    cuts: Vec<Stretch>,
}

impl Survey {
    /// Puts together what all workers counted, in the order of ranks, from the place `begin` on.
    pub(crate) fn new(begin: Stretch, counts: Vec<Vec<Stretch>>) -> Survey {
        let blocks = counts.into_iter().flatten();
        let cuts = blocks.scan(begin, |place, block| {
            *place = place.and(block);
            Some(*place)
        });
        Survey { cuts: std::iter::once(begin).chain(cuts).collect() }
    }

    /// Rows in the whole text.
    pub(crate) fn rows(&self) -> usize {
        self.cuts[self.cuts.len() - 1].rows
    }

    /// Brings a source to the line with this row, counted from 0 and below [`Survey::rows`], and returns the place.
    pub(crate) fn enter(
        &self,
        row: usize,
        source: &mut Source,
        parser: &dyn LineParser,
    ) -> Result<Stretch, Error> {
        let after = self.cuts.partition_point(|cut| cut.rows <= row);
        let (mut place, end) = (self.cuts[after - 1], self.cuts[after]);
        source.skip_to(place.bytes)?;
        let mut block = Vec::new();
        source.fill(&mut block, (end.bytes - place.bytes) as usize)?;
        for (start, line) in lines(&block) {
            let is_row = parser.is_row(line);
            if is_row && place.rows == row {
                source.give_back(&block[start..]);
                return Ok(Stretch { bytes: place.bytes + start as u64, ..place });
            }
            place.lines += 1;
            place.rows += usize::from(is_row);
        }
        Err(Error::Changed { file: source.file().to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::text::Text;

    fn text(source: &mut Source) -> Text {
        Text::find(source, Format::Libsvm, &LoadOptions::default()).unwrap().unwrap()
    }

    /// The survey of a file with this content, by so many workers in blocks of this size.
    fn survey(path: &str, workers: usize, block_bytes: usize) -> Survey {
        let counts = (0..workers).map(|rank| {
            let mut source = Source::open(path).unwrap();
            let text = text(&mut source);
            count(source, text.parser(), Share { rank, workers }, block_bytes, &LoadOptions::default())
                .unwrap()
        });
        Survey::new(Stretch::default(), counts.collect())
    }

    #[test]
    fn every_row_is_found_however_the_bytes_are_cut() {
        const CONTENT: &str = "\n1 1:1\n# x\n-1 1:2 2:3\n\n\n1\n1 1:5";
        let rows = [(1, 1), (11, 3), (24, 6), (26, 7)]; // bytes and lines before
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), CONTENT).unwrap();
        let path = file.path().display().to_string();
        for workers in 1..40 {
            for block_bytes in [1, 2, 5, 11, 1000] {
                let survey = survey(&path, workers, block_bytes);
                let all = Stretch { bytes: CONTENT.len() as u64, lines: 8, rows: 4 };
                assert_eq!(survey.cuts.last(), Some(&all), "{workers} workers, {block_bytes} bytes");
                for (row, (bytes, lines)) in rows.into_iter().enumerate() {
                    let mut source = Source::open(&path).unwrap();
                    let text = text(&mut source);
                    let place = survey.enter(row, &mut source, text.parser()).unwrap();
                    assert_eq!(place, Stretch { bytes, lines, rows: row });
                    let mut rest = Vec::new();
                    source.fill(&mut rest, 1000).unwrap();
                    assert_eq!(rest, CONTENT.as_bytes()[bytes as usize..]);
                }
            }
        }
    }
}
