//! Where the workers of one process meet: sums in rank order, broadcasts and mailboxes.
//!
//! Both in-process engines communicate through a [`Meeting`]; only their clocks differ. That is why threads and
//! simulation agree bit for bit. Each worker carries a `stamp` into every exchange (its virtual time) and gets
//! the latest stamp back.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};

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
    messages: Mutex<VecDeque<(usize, f64, Vec<f64>)>>,
    arrived: Condvar,
}

impl Meeting {
    /// A place for `size` workers; `spin` lets waiters burn a core for a moment, which pays when each has one.
    pub fn new(size: usize, spin: bool) -> Meeting {
        Meeting {
            size,
            brought: (0..size).map(|_| RwLock::default()).collect(),
            slices: (0..size).map(|_| RwLock::default()).collect(),
            gate: Gate::new(size, spin),
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

    /// Leaves a message for another worker.
    pub fn send(&self, from: usize, to: usize, stamp: f64, message: &[f64]) {
        lock(&self.mail[to].messages).push_back((from, stamp, message.to_vec()));
        self.mail[to].arrived.notify_all();
    }

    /// Waits for the next message from a worker; returns its stamp.
    pub fn receive(&self, rank: usize, from: usize, message: &mut [f64]) -> Result<f64, Error> {
        let mailbox = &self.mail[rank];
        let mut messages = lock(&mailbox.messages);
        loop {
            if let Some(at) = messages.iter().position(|(sender, ..)| *sender == from) {
                let (_, stamp, content) = messages.remove(at).expect("found just now");
                assert_eq!(content.len(), message.len(), "both sides agree on the length of a message");
                message.copy_from_slice(&content);
                return Ok(stamp);
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

/// A barrier that can be broken open, so that a failing worker does not leave the others waiting for ever.
struct Gate {
    size: usize,
    spins: usize,
    arrived: AtomicUsize,
    /// Counts how often the gate has opened.
    opened: AtomicUsize,
    broken: AtomicBool,
    lock: Mutex<()>,
    open: Condvar,
}

impl Gate {
    fn new(size: usize, spin: bool) -> Gate {
        Gate {
            size,
            spins: if spin { 20_000 } else { 0 },
            arrived: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            lock: Mutex::new(()),
            open: Condvar::new(),
        }
    }

    fn pass(&self) -> Result<(), Error> {
        let before = self.opened.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.size {
            self.arrived.store(0, Ordering::Release);
            let _guard = lock(&self.lock);
            self.opened.store(before.wrapping_add(1), Ordering::Release);
            self.open.notify_all();
        } else {
            self.wait(before);
        }
        if self.broken() { Err(Error::WorkerLost) } else { Ok(()) }
    }

    fn wait(&self, before: usize) {
        let closed = || self.opened.load(Ordering::Acquire) == before && !self.broken();
        for _ in 0..self.spins {
            if !closed() {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = lock(&self.lock);
        while closed() {
            guard = self.open.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    fn break_open(&self) {
        let _guard = lock(&self.lock);
        self.broken.store(true, Ordering::Release);
        self.open.notify_all();
    }
}

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
