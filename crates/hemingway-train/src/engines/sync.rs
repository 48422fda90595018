//! What the lock-free parts of the engines are made of. A test replaces this module by one that tries all interleavings.

pub use std::sync::atomic::{AtomicU64, Ordering};
pub use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets another thread go on.
pub fn pause(_: usize) {
    std::thread::yield_now();
}
