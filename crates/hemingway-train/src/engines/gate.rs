//! A barrier that can be broken open, so that a failing worker does not leave the others waiting for ever.

use super::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, PoisonError, spin_loop};
use crate::Error;

/// Opens when all workers have arrived.
pub struct Gate {
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
    /// For so many workers, which look this often before they go to sleep.
    pub fn new(size: usize, spins: usize) -> Gate {
        Gate {
            size,
            spins,
            arrived: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            lock: Mutex::new(()),
            open: Condvar::new(),
        }
    }

    /// Returns once all workers are here, with all that they did before in sight.
    pub fn pass(&self) -> Result<(), Error> {
        let before = self.opened.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.size {
            self.arrived.store(0, Ordering::Release);
            let _guard = self.lock();
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
            spin_loop();
        }
        let mut guard = self.lock();
        while closed() {
            guard = self.open.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether it was broken open.
    pub fn broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Lets everyone pass who waits, now or later, with an error.
    pub fn break_open(&self) {
        let _guard = self.lock();
        self.broken.store(true, Ordering::Release);
        self.open.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
