//! What the workers of one process hold in common: memory that all of them touch, and who may touch it when.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Alone, Journal, Meeting, SharedMemory, Turns};
use crate::Error;

/// In common to all workers of a run.
pub struct Commons {
    memory: Mutex<Option<Arc<SharedMemory>>>,
    journal: Mutex<Option<Arc<Journal>>>,
    /// Steps on it, where workers do not take turns: of all, and of each.
    steps: AtomicU64,
    steps_of: Box<[Alone<AtomicU64>]>,
    /// Whose turn it is, where time is virtual.
    pub turns: Turns,
    /// Until when the servers are busy, where they are simulated.
    pub servers: Mutex<Busy>,
}

/// Changes that a worker may be ahead of another: some milliseconds of work, as long as a thread may be without its core.
pub const JOURNAL: usize = 1 << 16;

/// How many steps a worker may be ahead of the slowest one. A thread can be without its core for milliseconds, in which
/// another one would make pass after pass over its own rows at weights that nobody else moves. Threads on cores of their own
/// are hardly ever so far apart. It is also what keeps the journal of a worker from filling up while others wait.
pub const LEAD: u64 = 256;

/// Until when, in virtual time, servers are busy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Busy {
    /// Receiving,
    pub link_in: f64,
    /// adding and reading,
    pub computing: f64,
    /// and answering.
    pub link_out: f64,
}

impl Commons {
    /// Of so many workers.
    pub fn new(size: usize) -> Commons {
        Commons {
            memory: Mutex::default(),
            journal: Mutex::default(),
            steps: AtomicU64::new(0),
            steps_of: (0..size).map(|_| Alone(AtomicU64::new(0))).collect(),
            turns: Turns::new(size),
            servers: Mutex::default(),
        }
    }

    /// Memory with these values, the same for all workers, who all call this. Steps are counted anew.
    pub fn share(&self, meeting: &Meeting, rank: usize, values: &[f64]) -> Result<Arc<SharedMemory>, Error> {
        if rank == 0 {
            self.count_anew();
            *self.memory.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Arc::new(SharedMemory::new(values)));
        }
        meeting.wait_for_all()?;
        Ok(self.memory())
    }

    /// An empty journal, the same for all workers, who all call this. Steps are counted anew.
    pub fn journal(&self, meeting: &Meeting, rank: usize, workers: usize) -> Result<Arc<Journal>, Error> {
        let journal = || self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if rank == 0 {
            self.count_anew();
            *journal() = Some(Arc::new(Journal::new(workers, JOURNAL)));
        }
        meeting.wait_for_all()?;
        let found = journal().clone();
        Ok(found.expect("the first worker has made it"))
    }

    /// Nobody makes a step before all have called what calls this.
    fn count_anew(&self) {
        self.steps_of
            .iter()
            .map(|steps| &steps.0)
            .chain([&self.steps])
            .for_each(|steps| steps.store(0, Ordering::Relaxed));
        self.turns.count_anew();
    }

    /// The memory that was shared last.
    pub fn memory(&self) -> Arc<SharedMemory> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.clone().expect("memory is shared before it is used")
    }

    /// Counts steps of a worker.
    pub fn made(&self, rank: usize, steps: u64) {
        self.steps_of[rank].0.fetch_add(steps, Ordering::Relaxed);
        self.steps.fetch_add(steps, Ordering::Relaxed);
    }

    /// Steps of the worker that has made fewest.
    pub fn slowest(&self) -> u64 {
        self.steps_of.iter().map(|steps| steps.0.load(Ordering::Relaxed)).min().unwrap_or(0)
    }

    /// Steps of all workers so far, where they do not take turns.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }
}
