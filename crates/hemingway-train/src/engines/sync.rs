//! What the lock-free parts of the engines are made of. The test `interleavings` replaces this
//! module by one that tries all interleavings.

pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets another thread go on.
pub fn pause() {
    std::thread::yield_now();
}
