//! A gate opens for all at once, and who has passed it sees what everyone did before.

use loom::sync::atomic::{AtomicU64, Ordering};

use crate::engines::gate::Gate;
use crate::{Error, outcomes, outcomes_with_preemptions};

/// A gate, and in which round each worker is.
struct Meeting {
    gate: Gate,
    rounds: Vec<AtomicU64>,
}

impl Meeting {
    fn of(workers: usize, spins: usize) -> Meeting {
        let rounds = (0..workers).map(|_| AtomicU64::new(0)).collect();
        Meeting { gate: Gate::new(workers, spins), rounds }
    }

    /// After the first gate all have written, and before the second nobody writes again.
    fn meet(&self, rank: usize, rounds: u64) {
        for round in 1..=rounds {
            self.rounds[rank].store(round, Ordering::Relaxed);
            self.gate.pass().unwrap();
            let seen: Vec<u64> = self.rounds.iter().map(|round| round.load(Ordering::Relaxed)).collect();
            assert!(seen.iter().all(|seen| *seen == round), "{seen:?} in round {round}");
            self.gate.pass().unwrap();
        }
    }
}

#[test]
fn nobody_passes_before_all_have_come() {
    outcomes(2, || Meeting::of(2, 0), |meeting, rank| meeting.meet(rank, 2), |_| ());
    outcomes_with_preemptions(2, 3, || Meeting::of(3, 0), |meeting, rank| meeting.meet(rank, 1), |_| ());
}

#[test]
fn nobody_who_spins_passes_before_all_have_come() {
    outcomes_with_preemptions(3, 2, || Meeting::of(2, 2), |meeting, rank| meeting.meet(rank, 2), |_| ());
    outcomes_with_preemptions(2, 3, || Meeting::of(3, 1), |meeting, rank| meeting.meet(rank, 1), |_| ());
}

#[test]
fn a_gate_that_is_broken_open_lets_everyone_go() {
    let work = |gate: &Gate, rank: usize| {
        if rank == 0 {
            gate.break_open();
        }
        assert!(matches!(gate.pass(), Err(Error::WorkerLost)));
        assert!(gate.broken());
    };
    outcomes(2, || Gate::new(3, 0), work, |_| ());
    outcomes_with_preemptions(2, 3, || Gate::new(4, 1), work, |_| ());
}
