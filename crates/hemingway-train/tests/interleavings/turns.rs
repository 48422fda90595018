//! Workers take turns in the order of virtual time, nobody sleeps for ever, and the round ends when enough was done.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::engines::turns::Turns;
use crate::{Error, outcomes, outcomes_with_preemptions};

/// Turns, and who had them when.
struct Round {
    turns: Turns,
    had: Mutex<Vec<(u64, usize)>>,
}

impl Round {
    fn of(workers: usize) -> Round {
        Round { turns: Turns::new(workers), had: Mutex::new(Vec::new()) }
    }

    /// One step per turn until all have made so many. Worker 0 takes 1 second for a step, worker 1 takes 2, and so on.
    fn run(&self, rank: usize, clock: &mut u64, until: u64) {
        while self.turns.wait(rank, *clock as f64, until).unwrap() {
            self.had.lock().unwrap().push((*clock, rank));
            self.turns.made(rank, 1, until);
            *clock += rank as u64 + 1;
        }
    }

    fn had(&self) -> Vec<(u64, usize)> {
        assert_eq!(self.turns.steps(), self.had.lock().unwrap().len() as u64);
        self.had.lock().unwrap().clone()
    }
}

#[test]
fn turns_follow_virtual_time() {
    let work = |round: &Round, rank: usize| round.run(rank, &mut 0, 4);
    let expected = vec![(0, 0), (0, 1), (1, 0), (2, 0)];
    assert_eq!(outcomes(2, || Round::of(2), work, Round::had), BTreeSet::from([expected]));
}

#[test]
fn three_workers_take_turns() {
    let work = |round: &Round, rank: usize| round.run(rank, &mut 0, 4);
    let found = outcomes_with_preemptions(2, 3, || Round::of(3), work, Round::had);
    assert_eq!(found, BTreeSet::from([vec![(0, 0), (0, 1), (0, 2), (1, 0)]]));
}

/// Whoever leaves a round early begins the next one while others are still asleep in the last.
#[test]
fn the_next_round_goes_on_where_the_last_one_ended() {
    let work = |round: &Round, rank: usize| {
        let mut clock = 0;
        for until in [2, 4] {
            round.run(rank, &mut clock, until);
        }
    };
    let expected = vec![(0, 0), (0, 1), (1, 0), (2, 0)];
    assert_eq!(outcomes(2, || Round::of(2), work, Round::had), BTreeSet::from([expected]));
}

#[test]
fn steps_counted_anew_make_room_for_as_many_turns_again() {
    let work = |turns: &Turns, rank: usize| {
        for _ in 0..2 {
            turns.count_anew();
            assert!(turns.wait(rank, 0.0, 1).unwrap());
            turns.made(rank, 1, 1);
            assert!(!turns.wait(rank, 1.0, 1).unwrap());
        }
    };
    outcomes(1, || Turns::new(1), work, |_| ());
}

/// As simulated workers do on shared memory: one that is too far ahead asks again for a turn right after the slowest.
#[test]
fn nobody_is_further_ahead_than_is_allowed() {
    let work = |round: &Round, rank: usize| {
        let mut clock = 0;
        while round.turns.wait(rank, clock as f64, 4).unwrap() {
            if let Some(slowest) = round.turns.ahead_by(1, rank) {
                clock = clock.max(slowest as u64) + 1;
                continue;
            }
            round.had.lock().unwrap().push((clock, rank));
            round.turns.made(rank, 1, 4);
            clock += 1 + 9 * rank as u64;
        }
    };
    let expected = vec![(0, 0), (0, 1), (1, 0), (10, 1)];
    assert_eq!(outcomes(2, || Round::of(2), work, Round::had), BTreeSet::from([expected]));
}

#[test]
fn breaking_up_releases_everyone_who_waits_or_comes_later() {
    let work = |turns: &Turns, rank: usize| {
        if rank == 0 {
            turns.break_up();
        }
        let outcome = turns.wait(rank, rank as f64, 1);
        assert!(matches!(outcome, Err(Error::WorkerLost)), "{outcome:?}");
    };
    outcomes_with_preemptions(3, 3, || Turns::new(4), work, |_| ());
}
