//! Who sees an entry announced reads that entry, also after the ring has come round.

use std::collections::BTreeSet;

use loom::sync::atomic::{AtomicU64, Ordering, fence};

use crate::engines::journal::{Change, Journal};
use crate::engines::sync::pause;
use crate::{outcomes, outcomes_with_preemptions};

/// A journal that worker 0 writes and all others read, until they leave.
struct Book {
    journal: Journal,
    left: AtomicU64,
    /// Entries that readers have read, together.
    read: AtomicU64,
}

impl Book {
    fn of(workers: usize, ring: usize) -> Book {
        Book { journal: Journal::new(workers, ring), left: AtomicU64::new(0), read: AtomicU64::new(0) }
    }

    /// Writes so many entries; waits for readers as long as there are any.
    fn write(&self, entries: u64) {
        let readers = self.journal.workers() as u64 - 1;
        let over = || self.left.load(Ordering::Acquire) == readers;
        (0..entries).for_each(|at| self.journal.write(0, at, change(0, at), over));
    }

    /// Reads what is there at each of so many looks.
    fn look(&self, reader: usize, looks: u64) {
        let mut read = 0;
        (0..looks).for_each(|_| catch_up(&self.journal, 0, reader, &mut read));
        self.read.fetch_add(read, Ordering::Relaxed);
        self.left.fetch_add(1, Ordering::AcqRel);
    }

    fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

/// Tells apart which worker wrote an entry, and when.
fn change(worker: usize, at: u64) -> Change {
    Change { row: 10 * (worker + 1) + at as usize, along: 0.5 * (at + 1) as f64 }
}

/// Reads what a worker has announced, as `Together::catch_up` does.
fn catch_up(journal: &Journal, worker: usize, reader: usize, read: &mut u64) {
    let written = journal.written(worker);
    for at in *read..written {
        assert_eq!(journal.read(worker, at), change(worker, at), "entry {at} of worker {worker}");
    }
    if written > *read {
        *read = written;
        journal.told(worker, reader, written);
    }
}

#[test]
fn an_entry_that_is_announced_is_the_entry_that_was_written() {
    // Half a ring is one entry, so that a writer looks for room before each; then one of three entries; then two.
    for book in [|| Book::of(2, 2), || Book::of(2, 3), || Book::of(2, 4)] {
        let two_looks = |book: &Book, rank: usize| match rank {
            0 => book.write(4),
            _ => book.look(rank, 2),
        };
        assert_eq!(outcomes(2, book, two_looks, Book::read), BTreeSet::from_iter(0..=4));
        let three_looks = |book: &Book, rank: usize| match rank {
            0 => book.write(6),
            _ => book.look(rank, 3),
        };
        let read = outcomes_with_preemptions(3, 2, book, three_looks, Book::read);
        assert_eq!(read, BTreeSet::from_iter(0..=6));
    }
}

#[test]
fn a_writer_waits_for_the_slowest_of_its_readers() {
    let work = |book: &Book, rank: usize| match rank {
        0 => book.write(3),
        _ => book.look(rank, 2),
    };
    let read = outcomes_with_preemptions(2, 3, || Book::of(3, 2), work, Book::read);
    // That both read all three takes one preemption more.
    assert_eq!(read, BTreeSet::from_iter(0..=5));
}

/// A worker that was without its core has read nothing, and leaves the round once so many entries count; it reads nothing
/// more while the other is still at its last ones.
#[test]
fn who_leaves_a_round_leaves_room() {
    let fresh = || (Journal::new(2, 8), AtomicU64::new(0));
    let work = |(journal, made): &(Journal, AtomicU64), rank: usize| match rank {
        0 => (0..9).for_each(|at| {
            made.store(at, Ordering::Release);
            journal.write(0, at, change(0, at), || false);
        }),
        _ => {
            while made.load(Ordering::Acquire) < 7 {
                pause();
            }
            if journal.is_far_ahead(0, 0) {
                catch_up(journal, 0, 1, &mut 0);
            }
        }
    };
    outcomes_with_preemptions(2, 2, fresh, work, |_| ());
}

#[test]
fn a_reader_that_goes_on_lets_the_writer_go_on() {
    let work = |journal: &Journal, rank: usize| match rank {
        0 => (0..4).for_each(|at| journal.write(0, at, change(0, at), || false)),
        _ => read_until(journal, 0, 1, &mut 0, 4),
    };
    outcomes_with_preemptions(3, 2, || Journal::new(2, 2), work, |_| ());
}

fn read_until(journal: &Journal, worker: usize, reader: usize, read: &mut u64, entries: u64) {
    while *read < entries {
        catch_up(journal, worker, reader, read);
        pause();
    }
}

/// As PASSCoDe does: a worker reads before each of its writes, and everything when all have left the round. Both would
/// wait if neither saw what the other had written half a ring ago. The fences say that stores arrive at once; a real ring
/// is so long that they arrive in time.
#[test]
fn workers_that_write_and_read_do_not_wait_for_each_other() {
    let work = |journal: &Journal, rank: usize| {
        let (other, mut read) = (1 - rank, 0);
        for at in 0..3 {
            catch_up(journal, other, rank, &mut read);
            journal.write(rank, at, change(rank, at), || false);
            fence(Ordering::SeqCst);
        }
        read_until(journal, other, rank, &mut read, 3);
    };
    outcomes_with_preemptions(3, 2, || Journal::new(2, 2), work, |_| ());
}

#[test]
fn a_writer_whose_reader_is_gone_is_released() {
    let work = |book: &Book, rank: usize| match rank {
        0 => book.write(4),
        _ => book.look(rank, 1),
    };
    outcomes(2, || Book::of(2, 2), work, Book::read);
}
