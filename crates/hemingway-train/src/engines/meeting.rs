//! Where the workers of one process meet: sums in rank order, broadcasts and mailboxes.
//!
//! Both in-process engines communicate through a [`Meeting`]; only their clocks differ. That is why threads and
//! simulation agree bit for bit. Each worker carries a `stamp` into every exchange (its virtual time) and gets
//! the latest stamp back.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use super::gate::Gate;
use crate::Error;

/// The meeting place of `size` workers.
pub struct Meeting {
    size: usize,
    /// What each worker brought to the exchange under way.
    brought: Vec<RwLock<(f64, Vec<f64>)>>,
    /// The sum, computed in slices by all workers.
    slices: Vec<RwLock<Vec<f64>>>,
    gate: Gate,
    mail: Vec<Mailbox>,
}

#[derive(Default)]
struct Mailbox {
    messages: Mutex<VecDeque<(usize, f64, Vec<u8>)>>,
    arrived: Condvar,
}

impl Meeting {
    /// A place for `size` workers; `spin` lets waiters burn a core for a moment, which pays when each has one.
    pub fn new(size: usize, spin: bool) -> Meeting {
        Meeting {
            size,
            brought: (0..size).map(|_| RwLock::default()).collect(),
            slices: (0..size).map(|_| RwLock::default()).collect(),
            gate: Gate::new(size, if spin { SPINS } else { 0 }),
            mail: (0..size).map(|_| Mailbox::default()).collect(),
        }
    }

    /// Sums buffers over all workers in rank order, each worker a slice; returns the latest stamp.
    pub fn sum(&self, rank: usize, stamp: f64, buffer: &mut [f64]) -> Result<f64, Error> {
        self.bring(rank, stamp, buffer)?;
        let slice = hemingway_data::shard(buffer.len(), self.size, rank);
        let mut sum = write(&self.slices[rank]);
        sum.clear();
        sum.resize(slice.len(), 0.0);
        let mut latest = stamp;
        for brought in &self.brought {
            let brought = read(brought);
            latest = latest.max(brought.0);
            for (sum, value) in sum.iter_mut().zip(&brought.1[slice.clone()]) {
                *sum += value;
            }
        }
        drop(sum);
        self.gate.pass()?;
        for (other, slice) in self.slices.iter().enumerate() {
            let place = hemingway_data::shard(buffer.len(), self.size, other);
            buffer[place].copy_from_slice(&read(slice));
        }
        Ok(latest)
    }

    /// Copies the root's buffer to all; returns the latest stamp.
    pub fn broadcast(&self, rank: usize, root: usize, stamp: f64, buffer: &mut [f64]) -> Result<f64, Error> {
        self.bring(rank, stamp, if rank == root { buffer } else { &[] })?;
        buffer.copy_from_slice(&read(&self.brought[root]).1);
        let latest = self.brought.iter().map(|brought| read(brought).0).fold(stamp, f64::max);
        self.gate.pass()?;
        Ok(latest)
    }

    fn bring(&self, rank: usize, stamp: f64, buffer: &[f64]) -> Result<(), Error> {
        {
            let mut mine = write(&self.brought[rank]);
            mine.0 = stamp;
            mine.1.clear();
            mine.1.extend_from_slice(buffer);
        }
        self.gate.pass()
    }

    /// Returns once all workers are here.
    pub fn wait_for_all(&self) -> Result<(), Error> {
        self.gate.pass()
    }

    /// Whether it was broken up.
    pub fn is_over(&self) -> bool {
        self.gate.broken()
    }

    /// Leaves a message for another worker.
    pub fn send(&self, from: usize, to: usize, stamp: f64, message: &[u8]) {
        lock(&self.mail[to].messages).push_back((from, stamp, message.to_vec()));
        self.mail[to].arrived.notify_all();
    }

    /// Waits for the next message from a worker; returns it with its stamp.
    pub fn receive(&self, rank: usize, from: usize) -> Result<(f64, Vec<u8>), Error> {
        let mailbox = &self.mail[rank];
        let mut messages = lock(&mailbox.messages);
        loop {
            if let Some(at) = messages.iter().position(|(sender, ..)| *sender == from) {
                let (_, stamp, message) = messages.remove(at).expect("found just now");
                return Ok((stamp, message));
            }
            if self.gate.broken() {
                return Err(Error::WorkerLost);
            }
            messages = mailbox.arrived.wait(messages).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the meeting: everyone who waits, now or later, gets an error.
    pub fn break_up(&self) {
        self.gate.break_open();
        for mailbox in &self.mail {
            let _messages = lock(&mailbox.messages);
            mailbox.arrived.notify_all();
        }
    }
}

/// Looks at the gate before a waiter goes to sleep: some tens of microseconds.
const SPINS: usize = 20_000;

// A worker that panics breaks the meeting up; what it left locked is not used again, so poison is no news.

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// One thread per worker; what each returned, in the order of ranks.
    fn meet<T: Send>(size: usize, spin: bool, work: impl Fn(&Meeting, usize) -> T + Sync) -> Vec<T> {
        let (meeting, work) = (&Meeting::new(size, spin), &work);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..size).map(|rank| scope.spawn(move || work(meeting, rank))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        })
    }

    #[test]
    fn sums_are_added_in_the_order_of_ranks() {
        for size in 1..=5 {
            for length in [0, 1, 3, 17] {
                // Values of very different size, so that the order shows in the last bits.
                let value = |rank: usize, at: usize| (0.1 + at as f64) * 10f64.powi(3 * rank as i32);
                let expected: Vec<f64> =
                    (0..length).map(|at| (0..size).fold(0.0, |sum, rank| sum + value(rank, at))).collect();
                let found = meet(size, size == 2, |meeting, rank| {
                    let mut last = (0.0, Vec::new());
                    for round in 0..50 {
                        let mut buffer: Vec<f64> = (0..length).map(|at| value(rank, at)).collect();
                        let stamp = f64::from(round) + rank as f64;
                        last = (meeting.sum(rank, stamp, &mut buffer).unwrap(), buffer);
                    }
                    last
                });
                let latest = 49.0 + (size - 1) as f64;
                assert!(found.iter().all(|found| *found == (latest, expected.clone())), "{size} workers");
            }
        }
    }

    #[test]
    fn everyone_gets_what_the_root_has() {
        for root in 0..3 {
            let found = meet(3, false, |meeting, rank| {
                let mut buffer = [rank as f64, 10.0 * rank as f64];
                let latest = meeting.broadcast(rank, root, rank as f64, &mut buffer).unwrap();
                (latest, buffer)
            });
            assert_eq!(found, [(2.0, [root as f64, 10.0 * root as f64]); 3]);
        }
    }

    #[test]
    fn messages_travel_around_a_ring_in_order() {
        for size in [2, 3, 4] {
            let found = meet(size, false, |meeting, rank| {
                let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
                let mut held = vec![rank as u8];
                let mut seen = Vec::new();
                for step in 0..2 * size {
                    meeting.send(rank, next, step as f64, &held);
                    let (stamp, message) = meeting.receive(rank, previous).unwrap();
                    assert_eq!(stamp, step as f64);
                    held = message;
                    seen.push(usize::from(held[0]));
                }
                seen
            });
            for (rank, seen) in found.into_iter().enumerate() {
                let expected: Vec<usize> =
                    (1..=2 * size).map(|step| (rank + 2 * size - step) % size).collect();
                assert_eq!(seen, expected, "worker {rank} of {size}");
            }
        }
    }

    #[test]
    fn messages_wait_until_their_sender_is_asked_for() {
        let meeting = Meeting::new(3, false);
        meeting.send(1, 0, 1.0, &[10]);
        meeting.send(2, 0, 2.0, &[20, 21]);
        meeting.send(1, 0, 3.0, &[11]);
        assert_eq!(meeting.receive(0, 2).unwrap(), (2.0, vec![20, 21]));
        assert_eq!(meeting.receive(0, 1).unwrap(), (1.0, vec![10]));
        assert_eq!(meeting.receive(0, 1).unwrap(), (3.0, vec![11]));
    }

    /// Workers 0 and 1 wait for a third that never comes; breaking up sends them home.
    fn check_break_up(wait: impl Fn(&Meeting, usize) -> Result<f64, Error> + Sync) {
        for spin in [false, true] {
            let outcomes = meet(3, spin, |meeting, rank| {
                if rank == 2 {
                    std::thread::sleep(Duration::from_millis(20));
                    meeting.break_up();
                    return Err(Error::WorkerLost);
                }
                wait(meeting, rank)
            });
            assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::WorkerLost))), "{outcomes:?}");
        }
    }

    #[test]
    fn breaking_up_ends_every_wait() {
        check_break_up(|meeting, rank| meeting.sum(rank, 0.0, &mut [1.0]));
        check_break_up(|meeting, rank| meeting.broadcast(rank, 2, 0.0, &mut [1.0]));
        check_break_up(|meeting, rank| meeting.receive(rank, 2).map(|(stamp, _)| stamp));
    }

    #[test]
    fn nobody_waits_at_a_meeting_that_is_over() {
        let meeting = Meeting::new(2, false);
        meeting.break_up();
        assert!(matches!(meeting.sum(0, 0.0, &mut [1.0]), Err(Error::WorkerLost)));
        assert!(matches!(meeting.broadcast(1, 0, 0.0, &mut [1.0]), Err(Error::WorkerLost)));
        assert!(matches!(meeting.receive(0, 1), Err(Error::WorkerLost)));
    }
}
