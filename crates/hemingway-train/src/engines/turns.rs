//! Who is next in virtual time.
//!
//! Each simulated worker computes in a thread of its own, but what it does to shared state has to happen in the order of
//! the virtual clocks. A worker that wants to touch it says when, and waits until every other worker has said a later time:
//! then nobody can come before it any more. One condition variable per worker: with a common one 256 workers
//! mostly wake one another for nothing.

use super::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use crate::Error;

/// The order of workers in virtual time.
#[derive(Debug)]
pub struct Turns {
    state: Mutex<State>,
    wake: Vec<Condvar>,
}

#[derive(Debug)]
struct State {
    /// When each worker wants its turn, or wanted its last one.
    wanted: Vec<f64>,
    /// How many want one.
    waiting: usize,
    /// Whose turn it is.
    next: Option<usize>,
    /// Steps that were counted: of each worker,
    made: Vec<u64>,
    /// and of all.
    steps: u64,
    broken: bool,
}

impl Turns {
    /// Of so many workers.
    pub fn new(size: usize) -> Turns {
        let (wanted, made) = (vec![0.0; size], vec![0; size]);
        let state = State { wanted, waiting: 0, next: None, made, steps: 0, broken: false };
        Turns { state: Mutex::new(state), wake: (0..size).map(|_| Condvar::new()).collect() }
    }

    /// Waits until everybody else wants a later turn; of those who want the same the lower rank is first. Whether it is
    /// this worker's turn then: it is nobody's once `until` steps were counted. The turn ends when this worker asks for
    /// its next.
    pub fn wait(&self, rank: usize, time: f64, until: u64) -> Result<bool, Error> {
        let mut state = self.lock();
        if state.next == Some(rank) {
            state.next = None;
        }
        state.wanted[rank] = time;
        if state.steps < until {
            state.waiting += 1;
            self.pass_on(&mut state);
        }
        loop {
            if state.broken {
                return Err(Error::WorkerLost);
            }
            if state.steps >= until {
                return Ok(false);
            }
            if state.next == Some(rank) {
                state.waiting -= 1;
                return Ok(true);
            }
            state = self.wake[rank].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts the steps of a worker's turn. If they complete the round, all who wait are released, and nobody gets a turn
    /// again before all of them have asked for one.
    pub fn made(&self, rank: usize, steps: u64, until: u64) {
        let mut state = self.lock();
        state.made[rank] += steps;
        state.steps += steps;
        if state.steps >= until {
            state.waiting = 0;
            self.wake.iter().for_each(Condvar::notify_one);
        }
    }

    /// From no steps.
    pub fn count_anew(&self) {
        let mut state = self.lock();
        state.made.fill(0);
        state.steps = 0;
    }

    /// Steps of all workers so far.
    pub fn steps(&self) -> u64 {
        self.lock().steps
    }

    /// When the worker that has made fewest steps wants its turn, if this one has made so many more.
    pub fn ahead_by(&self, lead: u64, rank: usize) -> Option<f64> {
        let state = self.lock();
        let slowest = (0..state.made.len()).min_by_key(|other| state.made[*other])?;
        (state.made[rank] >= state.made[slowest] + lead).then(|| state.wanted[slowest])
    }

    /// Everyone who waits, now or later, gets an error.
    pub fn break_up(&self) {
        self.lock().broken = true;
        self.wake.iter().for_each(Condvar::notify_one);
    }

    /// Once all wait, the earliest goes.
    fn pass_on(&self, state: &mut State) {
        if state.next.is_some() || state.waiting < state.wanted.len() {
            return;
        }
        let wanted = &state.wanted;
        let earliest = (0..wanted.len()).min_by(|a, b| wanted[*a].total_cmp(&wanted[*b]).then(a.cmp(b)));
        state.next = earliest;
        if let Some(rank) = earliest {
            self.wake[rank].notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
