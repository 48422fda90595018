//! The training clock of engines that run in real time.

use std::time::{Duration, Instant};

use crate::Seconds;

/// Counts time while it is running.
#[derive(Debug, Clone)]
pub struct Stopwatch {
    /// Time before it was last started.
    before: Duration,
    since: Option<Instant>,
}

impl Stopwatch {
    /// Starts now, with so much on it already.
    pub fn running(spent: Seconds) -> Stopwatch {
        Stopwatch { before: Duration::from_secs_f64(spent.0), since: Some(Instant::now()) }
    }

    /// What it shows.
    pub fn now(&self) -> Seconds {
        let running = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        Seconds((self.before + running).as_secs_f64())
    }

    /// Whether it counts.
    pub fn is_running(&self) -> bool {
        self.since.is_some()
    }

    /// Stops or starts it.
    pub fn set(&mut self, running: bool) {
        if let Some(since) = self.since.take() {
            self.before += since.elapsed();
        }
        self.since = running.then(Instant::now);
    }
}
