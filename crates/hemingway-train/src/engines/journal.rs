//! What each worker has changed, for the others to repeat.
//!
//! Weights that several cores write to are slow: every line of cache travels from core to core at each update. Here every
//! worker has weights of its own, and writes down each change as a row and how far the weights moved along it. The others
//! repeat it on theirs. Nothing is lost, so all have the sum of all changes, exact up to rounding; a change costs the others
//! one update of their own cache, and a visit that changes nothing costs them nothing.
//!
//! Each worker writes a ring of its own that all others read: an entry is written, then the count of entries is raised
//! (release); who sees the count (acquire) sees the entry. A writer waits only for a reader that has fallen a whole ring
//! behind.

use super::sync::{AtomicU64, Ordering, pause};

/// The changes of all workers.
#[derive(Debug)]
pub struct Journal {
    writers: Box<[Writer]>,
}

/// The changes of one worker, and how far the others have read.
#[derive(Debug)]
struct Writer {
    written: Alone<AtomicU64>,
    read: Box<[Alone<AtomicU64>]>,
    ring: Box<[[AtomicU64; 2]]>,
}

/// On a line of cache of its own, so that it does not travel with its neighbours.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Alone<T>(pub(super) T);

/// A movement along a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The number of the row in the matrix of all rows.
    pub row: usize,
    /// How far.
    pub along: f64,
}

impl Journal {
    /// Of so many workers, each of which may be so many changes ahead of the slowest reader: at least two.
    pub fn new(workers: usize, ring: usize) -> Journal {
        assert!(ring >= 2, "a ring of {ring} has no half");
        let zero = || Alone(AtomicU64::new(0));
        let writer = || Writer {
            written: zero(),
            read: (0..workers).map(|_| zero()).collect(),
            ring: (0..ring).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect(),
        };
        Journal { writers: (0..workers).map(|_| writer()).collect() }
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.writers.len()
    }

    /// Writes down a change; the worker itself has made so many before. Waits while the slowest reader is a ring behind,
    /// unless `over` says that it never comes.
    #[inline(always)]
    pub fn write(&self, worker: usize, before: u64, change: Change, over: impl Fn() -> bool) {
        let writer = &self.writers[worker];
        let size = writer.ring.len() as u64;
        if before.is_multiple_of(size / 2) {
            // Half a ring of room is enough until the next look.
            writer.wait_for_room(worker, before, over);
        }
        let entry = &writer.ring[(before % size) as usize];
        entry[0].store(change.row as u64, Ordering::Relaxed);
        entry[1].store(change.along.to_bits(), Ordering::Relaxed);
        writer.written.0.store(before + 1, Ordering::Release);
    }

    /// Whether a worker has written more than so many changes.
    #[inline(always)]
    pub fn written(&self, worker: usize) -> u64 {
        self.writers[worker].written.0.load(Ordering::Acquire)
    }

    /// A change that was written: one of the first [`written`](Journal::written) that this reader has not yet
    /// [told](Journal::told) to have read.
    #[inline(always)]
    pub fn read(&self, worker: usize, at: u64) -> Change {
        let writer = &self.writers[worker];
        let entry = &writer.ring[(at % writer.ring.len() as u64) as usize];
        let [row, along] = [0, 1].map(|part| entry[part].load(Ordering::Relaxed));
        Change { row: row as usize, along: f64::from_bits(along) }
    }

    /// Tells that a reader has read so many changes of a worker.
    #[inline(always)]
    pub fn told(&self, worker: usize, reader: usize, read: u64) {
        self.writers[worker].read[reader].0.store(read, Ordering::Release);
    }

    /// Whether a worker is more than three eighths of a ring ahead of who has read so many of its changes. Where not, it
    /// has room for another eighth.
    pub fn is_far_ahead(&self, worker: usize, read: u64) -> bool {
        self.written(worker) > read + self.writers[worker].ring.len() as u64 * 3 / 8
    }
}

impl Writer {
    /// How far the others have read.
    fn readers(&self, worker: usize) -> impl Iterator<Item = (usize, &Alone<AtomicU64>)> {
        self.read.iter().enumerate().filter(move |(reader, _)| *reader != worker)
    }

    #[cold]
    fn wait_for_room(&self, worker: usize, before: u64, over: impl Fn() -> bool) {
        let half = self.ring.len() as u64 / 2;
        for (_, read) in self.readers(worker) {
            while before > read.0.load(Ordering::Acquire) + half {
                if over() {
                    return;
                }
                pause();
            }
        }
    }
}
