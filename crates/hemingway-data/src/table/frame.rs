//! A table in memory, column by column, before it is known what its columns become.
//!
//! Rows come in blocks as they were parsed. Numbers and dates take four bytes each, text the four of a code; which text
//! a code stands for is known for the whole frame. Other formats than text fill a frame by appending blocks of their own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use crate::fingerprint::mix;
use crate::labels::{Column, hopeless};
use crate::{Error, LoadOptions};

/// The code of a cell without text.
pub(crate) const MISSING: u32 = u32::MAX;

/// Rows of a table.
#[derive(Debug)]
pub(crate) struct Frame {
    pub blocks: Vec<Block>,
    /// The texts of each column, none where it holds numbers.
    pub levels: Vec<Levels>,
    pub labels: Column,
    pub rows: usize,
    /// Rows that were left out because they have no label.
    pub unlabelled: usize,
    /// Lines that were read, and those before them.
    pub lines: usize,
    bytes: usize,
}

/// Consecutive rows.
#[derive(Debug)]
pub(crate) struct Block {
    /// Lines that they were read from.
    pub lines: usize,
    pub rows: usize,
    pub labels: Column,
    pub unlabelled: usize,
    /// The columns that may become features, each with as many cells as there are rows.
    pub columns: Vec<Cells>,
    /// The cells of the column that names rows, if one was asked for.
    pub ids: Vec<String>,
    /// The cells of the column of weights, if there is one.
    pub weights: Vec<f32>,
}

/// The cells of a column in one block.
#[derive(Debug)]
pub(crate) enum Cells {
    /// Numbers, or dates as days; NaN where one is missing.
    Numbers(Vec<f32>),
    /// Codes of texts, first of those of this block, later of the frame.
    Text { codes: Vec<u32>, levels: Levels },
}

/// Different texts, and the code of each.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    codes: HashMap<Box<[u8]>, u32, BuildHasherDefault<TextHasher>>,
    bytes: usize,
}

impl Frame {
    /// No rows yet of so many columns; `lines` came before.
    pub(crate) fn new(columns: usize, labels: Column, lines: usize) -> Frame {
        let levels = (0..columns).map(|_| Levels::default()).collect();
        Frame { blocks: Vec::new(), levels, labels, rows: 0, unlabelled: 0, lines, bytes: 0 }
    }

    /// Adds the rows of the next block.
    pub(crate) fn append(
        &mut self,
        mut block: Block,
        file: &str,
        options: &LoadOptions,
    ) -> Result<(), Error> {
        for (cells, levels) in block.columns.iter_mut().zip(&mut self.levels) {
            cells.join(levels);
        }
        self.rows += block.rows;
        self.bytes += block.columns.iter().map(Cells::bytes).sum::<usize>();
        let levels: usize = self.levels.iter().map(|levels| levels.bytes).sum();
        let what = || format!("its first {} rows take", self.rows);
        options.check_memory(file, (self.bytes + levels) as u64, what)?;
        self.labels.append(std::mem::replace(&mut block.labels, Column::Skip), self.lines);
        self.unlabelled += block.unlabelled;
        self.lines += block.lines;
        self.blocks.push(block);
        hopeless(&self.labels, file).map_or(Ok(()), Err)
    }
}

impl Cells {
    pub(crate) fn text() -> Cells {
        Cells::Text { codes: Vec::new(), levels: Levels::default() }
    }

    fn bytes(&self) -> usize {
        match self {
            Cells::Numbers(values) => size_of_val(&values[..]),
            Cells::Text { codes, .. } => size_of_val(&codes[..]),
        }
    }

    /// Puts the codes of the frame in place of those of the block.
    fn join(&mut self, frame: &mut Levels) {
        let Cells::Text { codes, levels } = self else { return };
        let texts = std::mem::take(levels).into_texts();
        let joined: Vec<u32> = texts.into_iter().map(|text| frame.code_of(text)).collect();
        codes.iter_mut().filter(|code| **code != MISSING).for_each(|code| *code = joined[*code as usize]);
    }
}

impl Levels {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The code of a text, a new one if it was not there before.
    #[inline]
    pub(crate) fn code(&mut self, text: &[u8]) -> u32 {
        match self.codes.get(text) {
            Some(code) => *code,
            None => self.code_of(text.into()),
        }
    }

    fn code_of(&mut self, text: Box<[u8]>) -> u32 {
        let next = self.codes.len() as u32;
        match self.codes.entry(text) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(place) => {
                self.bytes += place.key().len() + size_of::<(Box<[u8]>, u32)>();
                *place.insert(next)
            }
        }
    }

    /// All texts by their codes.
    pub(crate) fn texts(&self) -> Vec<&[u8]> {
        let mut texts: Vec<&[u8]> = vec![&[]; self.codes.len()];
        self.codes.iter().for_each(|(text, code)| texts[*code as usize] = text);
        texts
    }

    fn into_texts(self) -> Vec<Box<[u8]>> {
        let mut texts: Vec<Box<[u8]>> = vec![Box::default(); self.codes.len()];
        self.codes.into_iter().for_each(|(text, code)| texts[code as usize] = text);
        texts
    }
}

/// A hash of short texts, several times as fast as the one of the standard library, which withstands malice.
#[derive(Debug, Default)]
pub(crate) struct TextHasher(u64);

impl Hasher for TextHasher {
    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.0 = mix(self.0 ^ u64::from_le_bytes(word), 0x9e37_79b9_7f4a_7c15);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(texts: &[&str]) -> Block {
        let mut levels = Levels::default();
        let code = |text: &&str| if text.is_empty() { MISSING } else { levels.code(text.as_bytes()) };
        let codes: Vec<u32> = texts.iter().map(code).collect();
        Block {
            lines: texts.len(),
            rows: texts.len(),
            labels: Column::Skip,
            unlabelled: 0,
            columns: vec![Cells::Text { codes, levels }],
            ids: Vec::new(),
            weights: Vec::new(),
        }
    }

    #[test]
    fn texts_have_one_code_in_all_blocks() {
        let mut frame = Frame::new(1, Column::Skip, 0);
        for texts in [&["a", "b", "", "a"][..], &["c", "b", ""]] {
            frame.append(block(texts), "file", &LoadOptions::default()).unwrap();
        }
        let codes = |block: &Block| match &block.columns[0] {
            Cells::Text { codes, .. } => codes.clone(),
            Cells::Numbers(_) => panic!("text"),
        };
        let all: Vec<Vec<u32>> = frame.blocks.iter().map(codes).collect();
        assert_eq!(all, [vec![0, 1, MISSING, 0], vec![2, 1, MISSING]]);
        assert_eq!(frame.levels[0].texts(), [b"a", b"b", b"c"]);
        assert_eq!((frame.rows, frame.lines), (7, 7));
    }
}
