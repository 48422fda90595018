//! A vector that threads read and write without locks.
//!
//! All accesses are relaxed atomics: a number is never half of one value and half of another, and that is all that is
//! promised. Which of several values a reader sees, and how the updates of two workers to different coordinates
//! interleave, is left to chance on purpose: the methods that use this converge in spite of it. What two workers do to the
//! same coordinate at the same moment is told apart:
//!
//! - [`add`](SharedMemory::add) loses nothing: an addition that meets another one is repeated. A sum of such additions is
//!   exact up to rounding, whatever their order.
//! - [`change_racing`] may lose one of two changes that meet. Stochastic gradients are noisy anyway, and a plain store is
//!   several times cheaper.

use super::sync::{AtomicU64, Ordering};

/// Numbers in reach of every worker of this process.
#[derive(Debug)]
pub struct SharedMemory(Box<[AtomicU64]>);

impl SharedMemory {
    /// With these values.
    pub fn new(values: &[f64]) -> SharedMemory {
        SharedMemory(values.iter().map(|value| AtomicU64::new(value.to_bits())).collect())
    }

    /// The present value.
    #[inline(always)]
    pub fn get(&self, at: usize) -> f64 {
        load(&self.0[at])
    }

    /// The cells themselves, for kernels.
    #[inline(always)]
    pub fn cells(&self) -> &[AtomicU64] {
        &self.0
    }

    /// Adds a value; nothing is lost.
    #[inline(always)]
    pub fn add(&self, at: usize, value: f64) {
        let cell = &self.0[at];
        let mut now = cell.load(Ordering::Relaxed);
        loop {
            let sum = (f64::from_bits(now) + value).to_bits();
            match cell.compare_exchange_weak(now, sum, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(changed) => now = changed,
            }
        }
    }

    /// Copies all numbers, each as it is at some moment of the copy.
    pub fn read(&self, into: &mut [f64]) {
        for (value, cell) in into.iter_mut().zip(&self.0) {
            *value = load(cell);
        }
    }
}

/// The present value of a cell.
#[inline(always)]
pub(crate) fn load(cell: &AtomicU64) -> f64 {
    f64::from_bits(cell.load(Ordering::Relaxed))
}

/// Changes a cell; of two changes that meet one may be lost.
#[inline(always)]
pub(crate) fn change_racing(cell: &AtomicU64, change: impl FnOnce(f64) -> f64) {
    cell.store(change(load(cell)).to_bits(), Ordering::Relaxed);
}
