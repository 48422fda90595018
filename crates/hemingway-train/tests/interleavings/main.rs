//! What workers do to shared state, in every order in which threads can do it.
//!
//! The sources of the engines are compiled once more, with atomics, locks and condition variables that loom controls. Loom
//! runs a small model again and again until it has seen all interleavings, and for each relaxed load all values that
//! C++ allows it to see. A deadlock fails, and so does a loop that waits for something that never comes.
//!
//! Loom does not let a load see a store that runs later, nor does it wake a thread for no reason.

mod engines;
mod gate;
mod journal;
mod shared_memory;
mod turns;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use hemingway_train::Error;
use loom::model::Builder;

/// Runs one thread per worker in all interleavings. Returns what was observed at the end, in any of them.
fn outcomes<S: Send + Sync + 'static, T: Ord + Send + 'static>(
    workers: usize,
    shared: fn() -> S,
    work: fn(&S, usize),
    observe: fn(&S) -> T,
) -> BTreeSet<T> {
    explore(None, workers, shared, work, observe)
}

/// Like [`outcomes`], in all interleavings with at most this many preemptions of a thread that could go on. All
/// are too many where three workers wait for one another; bugs that need more than two such moments are rare.
fn outcomes_with_preemptions<S: Send + Sync + 'static, T: Ord + Send + 'static>(
    preemptions: usize,
    workers: usize,
    shared: fn() -> S,
    work: fn(&S, usize),
    observe: fn(&S) -> T,
) -> BTreeSet<T> {
    explore(Some(preemptions), workers, shared, work, observe)
}

fn explore<S: Send + Sync + 'static, T: Ord + Send + 'static>(
    preemptions: Option<usize>,
    workers: usize,
    shared: fn() -> S,
    work: fn(&S, usize),
    observe: fn(&S) -> T,
) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let mut builder = Builder::new();
    builder.preemption_bound = preemptions;
    let all = seen.clone();
    builder.check(move || {
        let shared = Arc::new(shared());
        let others: Vec<_> = (1..workers)
            .map(|rank| {
                let shared = shared.clone();
                loom::thread::spawn(move || work(&shared, rank))
            })
            .collect();
        work(&shared, 0);
        others.into_iter().for_each(|other| other.join().unwrap());
        all.lock().unwrap().insert(observe(&shared));
    });
    std::mem::take(&mut seen.lock().unwrap())
}
