//! A token bucket: something may be used at a rate, and whoever used too much waits.
//!
//! Use is reported afterwards, and the debt is waited for. A wait that lasts too long, because the operating system wakes
//! a thread late or has given the core to somebody else, becomes credit, so that the rate is kept on average. Credit
//! is limited: nobody saves up for later.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Units per second, shared by threads.
pub struct Bucket {
    rate: f64,
    most_credit: f64,
    state: Mutex<State>,
}

struct State {
    /// Units that may be used; negative if too many were.
    balance: f64,
    at: Instant,
}

impl Bucket {
    /// A bucket that fills with `rate` units per second, for at most so long.
    pub fn new(rate: f64, catch_up: Duration) -> Bucket {
        let state = State { balance: 0.0, at: Instant::now() };
        Bucket { rate, most_credit: rate * catch_up.as_secs_f64(), state: Mutex::new(state) }
    }

    /// Reports use; returns how long to wait until it is paid for.
    pub fn take(&self, units: f64) -> Duration {
        let balance = self.update(|balance| balance - units);
        if balance >= 0.0 { Duration::ZERO } else { Duration::from_secs_f64(-balance / self.rate) }
    }

    /// Gives up credit: what was not used before a piece of work began does not make it faster.
    pub fn forfeit(&self) {
        self.update(|balance| balance.min(0.0));
    }

    fn update(&self, change: impl FnOnce(f64) -> f64) -> f64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let filled = state.balance + self.rate * (now - state.at).as_secs_f64();
        state.balance = change(filled.min(self.most_credit));
        state.at = now;
        state.balance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debt_is_waited_for() {
        let bucket = Bucket::new(100.0, Duration::from_millis(10));
        let wait = bucket.take(50.0).as_secs_f64();
        assert!((0.3..=0.5).contains(&wait), "{wait}");
    }

    #[test]
    fn credit_is_limited_and_can_be_given_up() {
        let bucket = Bucket::new(100.0, Duration::from_millis(10));
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(bucket.take(0.9), Duration::ZERO);
        std::thread::sleep(Duration::from_millis(50));
        bucket.forfeit();
        assert!(bucket.take(0.9) > Duration::from_millis(5));
    }

    #[test]
    fn threads_share_the_rate() {
        let bucket = Bucket::new(1e4, Duration::from_millis(5));
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..50).for_each(|_| std::thread::sleep(bucket.take(20.0))));
            }
        });
        let seconds = start.elapsed().as_secs_f64();
        assert!((0.19..1.0).contains(&seconds), "2,000 units at 10,000 per second took {seconds} s");
    }
}
