//! From the columns of a frame to rows of features, as an encoding says.

use rayon::prelude::*;

use super::cell::boolean;
use super::date::days;
use super::encoding::{Becomes, Encoding};
use super::frame::{Block, Cells, Frame, Levels, MISSING};
use crate::assemble::Assembler;
use crate::chunk::Chunk;
use crate::fingerprint::mix;
use crate::labels::Column;
use crate::{Error, charset, cores};

/// No feature.
const NONE: u32 = u32::MAX;

/// Appends the rows of the frame to the assembler. `slots` says which column of the frame is which of the encoding.
pub(crate) fn encode(
    frame: Frame,
    encoding: &Encoding,
    slots: &[Option<usize>],
    assembler: &mut Assembler,
) -> Result<(), Error> {
    let Frame { blocks, levels, labels, .. } = frame;
    let columns = encoded(encoding, slots, &levels);
    drop(levels);
    (assembler.labels, assembler.lines) = (labels, 0);
    let (features, limit) = (encoding.features(), assembler.options.columns);
    let mut blocks = blocks.into_iter();
    loop {
        // A few blocks at a time, so that those that are encoded make room for their rows.
        let some: Vec<Block> = blocks.by_ref().take(2 * cores()).collect();
        if some.is_empty() {
            return Ok(());
        }
        let chunks: Vec<(Chunk, usize, Block)> = (some.into_par_iter())
            .map(|mut block| {
                let (chunk, unseen) = rows(&columns, &block, features, limit);
                block.columns = Vec::new();
                (chunk, unseen, block)
            })
            .collect();
        for (chunk, unseen, block) in chunks {
            assembler.unseen += unseen;
            assembler.ids.extend(block.ids);
            assembler.weights.extend(block.weights);
            assembler.append(chunk)?;
        }
    }
}

/// How one column of a frame becomes features.
struct Encoded {
    /// The column of the frame.
    slot: usize,
    /// Its first feature.
    first: u32,
    how: How,
}

enum How {
    /// One feature, and another where a missing value is said.
    Value {
        fill: f32,
        centre: f32,
        indicator: bool,
        /// The value of each code, where the cells are text.
        of_code: Vec<f32>,
    },
    /// The feature of each code.
    Level {
        of_code: Vec<u32>,
        missing: u32,
        /// Whether there is a feature for the text.
        seen: Vec<bool>,
    },
}

fn encoded(encoding: &Encoding, slots: &[Option<usize>], levels: &[Levels]) -> Vec<Encoded> {
    let columns = encoding.columns.iter().zip(encoding.first_features()).zip(slots);
    let column = |((column, first), slot): ((&super::SourceColumn, u32), &Option<usize>)| {
        let slot = (*slot).filter(|_| column.is_used())?;
        let how = how(&column.becomes, encoding, &levels[slot], first)?;
        Some(Encoded { slot, first, how })
    };
    columns.filter_map(column).collect()
}

fn how(becomes: &Becomes, encoding: &Encoding, levels: &Levels, first: u32) -> Option<How> {
    let values = |read: &dyn Fn(&[u8]) -> Option<f32>| {
        levels.texts().into_iter().map(|text| read(text).unwrap_or(f32::NAN)).collect()
    };
    Some(match becomes {
        Becomes::Number { fill, centre, indicator } => {
            let of_code = values(&|text| encoding.numbers.number(text).filter(|value| value.is_finite()));
            How::Value { fill: *fill, centre: *centre, indicator: *indicator, of_code }
        }
        Becomes::Boolean { fill, indicator } => {
            let of_code = values(&|text| boolean(text).map(f32::from));
            How::Value { fill: *fill, centre: 0.0, indicator: *indicator, of_code }
        }
        Becomes::Date { order, fill, centre, indicator } => {
            let of_code = values(&|text| days(text, *order));
            How::Value { fill: *fill, centre: *centre, indicator: *indicator, of_code }
        }
        Becomes::Text { levels: known, other } => one_hot(known, *other, levels, first),
        Becomes::Hashed { buckets } => {
            let of_code = |text: &[u8]| first + (hash(text) % u64::from(*buckets)) as u32;
            let texts = levels.texts();
            How::Level {
                of_code: texts.iter().map(|text| of_code(text)).collect(),
                missing: of_code(b""),
                seen: vec![true; texts.len()],
            }
        }
        Becomes::LeftOut { .. } => return None,
    })
}

/// The feature of each level. Of two levels only the second has one; values that are no level are the other, if there is one.
fn one_hot(known: &[String], other: bool, levels: &Levels, first: u32) -> How {
    let count = known.len() + usize::from(other);
    let feature = |at: usize| match (count, at) {
        (2, 0) => NONE,
        (2, _) => first,
        _ => first + at as u32,
    };
    let unknown = if other { feature(known.len()) } else { NONE };
    let places: std::collections::HashMap<&[u8], usize> =
        known.iter().enumerate().map(|(at, level)| (level.as_bytes(), at)).collect();
    let of = |text: &[u8]| places.get(charset::text(text).as_bytes()).copied();
    let found: Vec<Option<usize>> = levels.texts().into_iter().map(of).collect();
    How::Level {
        of_code: found.iter().map(|at| at.map_or(unknown, feature)).collect(),
        missing: of(b"").map_or(unknown, feature),
        seen: found.iter().map(|at| other || at.is_some()).collect(),
    }
}

/// The same for every version and machine: models depend on it.
fn hash(text: &[u8]) -> u64 {
    let word = |hash: u64, byte: &u8| mix(hash ^ u64::from(*byte), 0x9e37_79b9_7f4a_7c15);
    text.iter().fold(text.len() as u64, word)
}

/// The rows of a block, and how many of its cells have a text that is neither a level nor one of the others.
fn rows(columns: &[Encoded], block: &Block, features: usize, limit: Option<usize>) -> (Chunk, usize) {
    let mut chunk = Chunk::new(Column::Skip, limit, block.rows * columns.len());
    chunk.widen(features);
    chunk.lines = block.lines;
    let mut unseen = 0;
    for row in 0..block.rows {
        for column in columns {
            match (&column.how, &block.columns[column.slot]) {
                (How::Value { fill, centre, indicator, of_code }, cells) => {
                    let value = match cells {
                        Cells::Numbers(values) => values[row],
                        Cells::Text { codes, .. } => match codes[row] {
                            MISSING => f32::NAN,
                            code => {
                                unseen += usize::from(of_code[code as usize].is_nan());
                                of_code[code as usize]
                            }
                        },
                    };
                    let missing = value.is_nan();
                    let value = if missing { *fill } else { value };
                    chunk.push(column.first, (value - centre).clamp(f32::MIN, f32::MAX));
                    if *indicator && missing {
                        chunk.push(column.first + 1, 1.0);
                    }
                }
                (How::Level { of_code, missing, seen }, Cells::Text { codes, .. }) => {
                    let feature = match codes[row] {
                        MISSING => *missing,
                        code => {
                            unseen += usize::from(!seen[code as usize]);
                            of_code[code as usize]
                        }
                    };
                    if feature != NONE {
                        chunk.push(feature, 1.0);
                    }
                }
                (How::Level { .. }, Cells::Numbers(_)) => unreachable!("text is read as text"),
            }
        }
        chunk.end_row();
    }
    (chunk, unseen)
}
