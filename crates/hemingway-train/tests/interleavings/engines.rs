//! The sources under test, made of what loom controls.

#[path = "../../src/engines/gate.rs"]
pub mod gate;
#[path = "../../src/engines/journal.rs"]
pub mod journal;
#[path = "../../src/engines/shared_memory.rs"]
pub mod shared_memory;
#[path = "../../src/engines/turns.rs"]
pub mod turns;

/// In place of `engines/sync.rs`.
pub mod sync {
    pub use std::sync::PoisonError;

    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub use loom::sync::{Condvar, Mutex, MutexGuard};
    pub use loom::thread::yield_now as pause;
}
