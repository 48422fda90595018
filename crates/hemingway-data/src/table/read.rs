//! Reads a table: straight into the matrix if it is one of plain numbers, else through a frame.

use super::encode::encode;
use super::frame::Frame;
use super::learn::learn;
use super::summary::Summary;
use crate::assemble::Assembler;
use crate::csv::lacks_number;
use crate::csv_layout::Layout;
use crate::input::Source;
use crate::pipeline::{self, BlockParser, each_block};
use crate::sample::sampled_rows;
use crate::together::exchange;
use crate::{Error, Together};

/// Reads this worker's rows of a table; all workers call it together. `open` gives the source at their first one, and
/// how many lines come before it. It is called again where a table of plain numbers turns out to lack some.
pub(crate) fn read_table<'s>(
    table: &Layout,
    open: &mut dyn FnMut() -> Result<(Source<'s>, usize), Error>,
    block_bytes: usize,
    assembler: &mut Assembler,
    together: &mut dyn Together,
) -> Result<(), Error> {
    if table.plain {
        let complete = match read_plain(table, open, block_bytes, assembler) {
            Err(error) if lacks_number(&error) && !table.only_numbers => Ok(false),
            read => read.map(|()| true),
        };
        let (_, everyone) = exchange(together, complete, |complete| *complete)?;
        if everyone.into_iter().all(|complete| complete) {
            assembler.plain = !table.is_test_data;
            let learnt = || (!table.is_test_data).then(|| table.without_means());
            assembler.encoding = assembler.options.encoding.clone().or_else(learnt);
            return Ok(());
        }
        assembler.restart(table.label.is_some());
    }
    let frame = read_frame(table, open, block_bytes, assembler);
    let encoding = match assembler.options.encoding.clone() {
        Some(known) => frame.map(|frame| (frame, known)),
        None => {
            let summed = frame.and_then(|frame| {
                let summary = Summary::of(&frame, marked(&frame, assembler)?.as_deref());
                Ok((frame, summary))
            });
            let (frame, everyone) = show_summaries(together, summed)?;
            Ok((frame, learn(table, &Summary::joined(everyone), assembler.options.centre)))
        }
    };
    let (frame, encoding) = encoding?;
    assembler.unlabelled = frame.unlabelled;
    encode(frame, &encoding, &table.slots_of(&encoding), assembler)?;
    assembler.encoding = Some(encoding);
    Ok(())
}

/// Everyone's summaries. One who is alone need not write down its own.
fn show_summaries(
    together: &mut dyn Together,
    mine: Result<(Frame, Summary), Error>,
) -> Result<(Frame, Vec<Summary>), Error> {
    if together.size() == 1 {
        return mine.map(|(frame, summary)| (frame, vec![summary]));
    }
    let ((frame, _), everyone) = exchange(together, mine, |(_, summary)| summary.clone())?;
    Ok((frame, everyone))
}

fn read_plain<'s>(
    table: &Layout,
    open: &mut dyn FnMut() -> Result<(Source<'s>, usize), Error>,
    block_bytes: usize,
    assembler: &mut Assembler,
) -> Result<(), Error> {
    let (mut source, lines) = open()?;
    assembler.lines = lines;
    pipeline::run(&mut source, block_bytes, table, assembler)
}

fn read_frame<'s>(
    table: &Layout,
    open: &mut dyn FnMut() -> Result<(Source<'s>, usize), Error>,
    block_bytes: usize,
    assembler: &Assembler,
) -> Result<Frame, Error> {
    let (mut source, lines) = open()?;
    let (file, options) = (assembler.file, assembler.options);
    let empty = assembler.labels.emptied();
    let mut frame = Frame::new(table.slots.len(), empty.emptied(), lines);
    each_block(
        &mut source,
        block_bytes,
        options,
        &|buffer| table.whole_records(buffer),
        &|block| table.frame_block(block, empty.emptied()),
        |parsed| match parsed {
            Ok(block) => frame.append(block, file, options),
            Err(fault) => Err(fault.at(file, frame.lines)),
        },
    )?;
    Ok(frame)
}

/// The rows to learn from, where only some of them will be trained on.
fn marked(frame: &Frame, assembler: &Assembler) -> Result<Option<Vec<bool>>, Error> {
    let Some((fraction, seed)) = assembler.options.learn_on else { return Ok(None) };
    if frame.rows == 0 {
        return Ok(None);
    }
    let (targets, labels) = frame.labels.clone().finish(assembler.file, assembler.options)?;
    let mut marked = vec![false; frame.rows];
    sampled_rows(frame.rows, &targets, &labels, fraction, seed)
        .into_iter()
        .for_each(|row| marked[row] = true);
    Ok(Some(marked))
}
