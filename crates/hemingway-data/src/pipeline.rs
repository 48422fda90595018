//! How bytes become rows at the speed of all cores: read a block, parse it on the pool, append in order.
//!
//! The calling thread reads (and unpacks) blocks that end where a record ends and hands each to the thread pool. It
//! keeps a bounded queue of blocks in flight and appends the oldest when the queue is full, so reading, unpacking,
//! parsing and appending overlap and the order of rows is the order of the file.
//!
//! Files are read rather than mapped into memory: a mapped file's pages count as the process's own and would double
//! the peak, the copy costs a few per cent of parsing, a compressed file takes the same path, and a file that shrinks
//! while it is read gives an error instead of a signal.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use crate::assemble::Assembler;
use crate::chunk::Chunk;
use crate::input::Source;
use crate::limit::size;
use crate::{Error, LineProblem, LoadOptions, cores};

/// Large enough that handing over costs nothing, small enough that a few in flight do not matter.
pub(crate) const BLOCK_BYTES: usize = 256 * 1024;

/// Turns one block of a format's input into rows.
pub(crate) trait BlockParser: Sync {
    /// How many of the leading bytes are whole records.
    fn whole_records(&self, buffer: &[u8]) -> usize;

    /// An upper bound on the values in a block of this many bytes.
    fn most_values(&self, bytes: usize) -> usize;

    /// Parses whole records (the last may lack its end) into `chunk`.
    fn parse(&self, block: &[u8], chunk: &mut Chunk) -> Result<(), Fault>;
}

/// A problem in the line with this number in its block, counted from 0.
#[derive(Debug)]
pub(crate) struct Fault {
    pub line: usize,
    pub problem: LineProblem,
}

impl Fault {
    /// The same in a file, after so many lines.
    pub(crate) fn at(self, file: &str, lines: usize) -> Error {
        Error::Line { file: file.to_string(), line: lines + self.line + 1, problem: self.problem }
    }
}

/// Reads `source` to its end into the assembler.
pub(crate) fn run(
    source: &mut Source,
    block_bytes: usize,
    parser: &dyn BlockParser,
    assembler: &mut Assembler,
) -> Result<(), Error> {
    let template = assembler.chunk(0);
    let options = assembler.options;
    let parse = |block: &[u8]| {
        let mut chunk = template.like(parser.most_values(block.len()));
        parser.parse(block, &mut chunk).map(|()| chunk)
    };
    let whole_records = |buffer: &[u8]| parser.whole_records(buffer);
    each_block(source, block_bytes, options, &whole_records, &parse, |parsed| match parsed {
        Ok(chunk) => assembler.append(chunk),
        Err(fault) => Err(fault.at(assembler.file, assembler.lines)),
    })
}

/// Reads `source` to its end: parses blocks on all cores and appends what comes of each in their order.
pub(crate) fn each_block<T: Send>(
    source: &mut Source,
    block_bytes: usize,
    options: &LoadOptions,
    whole_records: &dyn Fn(&[u8]) -> usize,
    parse: &(dyn Fn(&[u8]) -> Result<T, Fault> + Sync),
    mut append: impl FnMut(Result<T, Fault>) -> Result<(), Error>,
) -> Result<(), Error> {
    let in_flight = 2 * cores() + 1;
    rayon::in_place_scope(|scope| {
        let mut waiting: VecDeque<Receiver<Result<T, Fault>>> = VecDeque::new();
        let mut carry = Vec::new();
        while let Some(block) = next_block(source, block_bytes, whole_records, options, &mut carry)? {
            let (send, receive_from) = sync_channel(1);
            scope.spawn(move |_| {
                let _ = send.send(parse(&block)); // nobody listens after an error elsewhere
            });
            waiting.push_back(receive_from);
            if waiting.len() >= in_flight
                && let Some(oldest) = waiting.pop_front()
            {
                append(receive(&oldest))?;
            }
        }
        waiting.into_iter().try_for_each(|oldest| append(receive(&oldest)))
    })
}

/// The next block of whole records, or whatever is left at the end.
fn next_block(
    source: &mut Source,
    block_bytes: usize,
    whole_records: &dyn Fn(&[u8]) -> usize,
    options: &LoadOptions,
    carry: &mut Vec<u8>,
) -> Result<Option<Vec<u8>>, Error> {
    let mut block = std::mem::take(carry);
    let mut wanted = block_bytes;
    loop {
        block.reserve_exact(wanted);
        let read = source.fill(&mut block, wanted)?;
        if read < wanted {
            return Ok((!block.is_empty()).then_some(block));
        }
        match whole_records(&block) {
            0 => {
                check_record(source, block.len(), options)?;
                wanted = block.len(); // a record longer than the block: read as much again
            }
            end => {
                carry.extend_from_slice(&block[end..]);
                block.truncate(end);
                return Ok(Some(block));
            }
        }
    }
}

/// Whether a record that is longer than so many bytes may be read: twice as many, and what they are parsed into.
pub(crate) fn check_record(source: &Source, bytes: usize, options: &LoadOptions) -> Result<(), Error> {
    let what = || format!("a line of more than {} takes", size(bytes as u64));
    options.check_memory(source.file(), 4 * bytes as u64, what)
}

/// Waits for a block; when the caller is itself a thread of the pool, works meanwhile instead of blocking it.
fn receive<T>(oldest: &Receiver<Result<T, Fault>>) -> Result<T, Fault> {
    loop {
        let parsed = match oldest.try_recv() {
            Err(TryRecvError::Empty) if rayon::yield_now().is_some() => continue,
            Err(_) => oldest.recv(),
            Ok(parsed) => return parsed,
        };
        return parsed.expect("a parsing task sends its result unless it panics, which the scope passes on");
    }
}

/// Reads until `wanted` more bytes are in `buffer` or the input ends; how many came.
pub(crate) fn read_up_to(reader: &mut dyn Read, buffer: &mut Vec<u8>, wanted: usize) -> io::Result<usize> {
    reader.take(wanted as u64).read_to_end(buffer)
}
