//! How long a rank computes when nothing disturbs it.
//!
//! Waiting has to stay out of this: for other ranks, for the network, and for a core that somebody else has. So it is the
//! time on the core that counts, and only between communications; and because a core may be slow for a while, the pace of
//! the median round stands for all of them.

use rustix::time::{ClockId, clock_gettime};

/// The computing of one rank, by rounds.
pub struct Computing {
    /// Time on the core when it last began to compute, if it does.
    since: Option<f64>,
    now: Round,
    rounds: Vec<Round>,
}

#[derive(Clone, Copy, Default)]
struct Round {
    flops: f64,
    seconds: f64,
}

/// Rounds that are kept: enough for a median, and little memory in runs of millions.
const REMEMBERED: usize = 1000;

impl Computing {
    /// Computes from now on.
    pub fn begin() -> Computing {
        Computing { since: Some(on_the_core()), now: Round::default(), rounds: Vec::new() }
    }

    /// So much was computed.
    pub fn work(&mut self, flops: f64) {
        self.now.flops += flops;
    }

    /// Does something else until it goes on.
    pub fn wait(&mut self) {
        if let Some(since) = self.since.take() {
            self.now.seconds += on_the_core() - since;
        }
    }

    /// Computes again.
    pub fn go_on(&mut self) {
        self.since = Some(on_the_core());
    }

    /// A round has ended, and nothing is computed until it goes on.
    pub fn end_round(&mut self) {
        self.wait();
        let round = std::mem::take(&mut self.now);
        if round.flops > 0.0 && self.rounds.len() < REMEMBERED {
            self.rounds.push(round);
        }
    }

    /// What so many operations take at the pace of the median round, where every round counts as much as its work.
    pub fn undisturbed(&self, flops: f64) -> f64 {
        let mut rounds = self.rounds.clone();
        rounds.sort_by(|a, b| (a.seconds / a.flops).total_cmp(&(b.seconds / b.flops)));
        let mut left = rounds.iter().map(|round| round.flops).sum::<f64>() / 2.0;
        let middle = rounds.iter().find(|round| {
            left -= round.flops;
            left <= 0.0
        });
        middle.map_or(0.0, |round| flops * round.seconds / round.flops)
    }
}

/// The time that this thread has spent on a core, in seconds.
fn on_the_core() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn of(rounds: &[(f64, f64)]) -> Computing {
        let rounds = rounds.iter().map(|&(flops, seconds)| Round { flops, seconds }).collect();
        Computing { since: None, now: Round::default(), rounds }
    }

    #[test]
    fn a_disturbed_round_changes_nothing() {
        let quiet = of(&[(100.0, 1.0); 5]);
        let disturbed = of(&[(100.0, 1.0), (100.0, 90.0), (100.0, 1.0), (100.0, 30.0), (100.0, 1.0)]);
        assert_eq!(quiet.undisturbed(500.0), 5.0);
        assert_eq!(disturbed.undisturbed(500.0), 5.0);
        assert_eq!(of(&[]).undisturbed(500.0), 0.0);
    }

    #[test]
    fn a_round_counts_as_much_as_its_work() {
        let rounds = of(&[(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (100.0, 10.0)]);
        assert_eq!(rounds.undisturbed(1000.0), 100.0);
    }

    #[test]
    fn neither_sleep_nor_waiting_is_computing() {
        let mut computing = Computing::begin();
        std::thread::sleep(Duration::from_millis(30));
        computing.wait();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(30) {
            std::hint::spin_loop();
        }
        computing.work(1.0);
        computing.end_round();
        let seconds = computing.undisturbed(1.0);
        assert!(seconds < 0.01, "{seconds} s of 60 ms asleep and waiting");
    }
}
