//! Numbers that several workers change without locks: `add` loses nothing, a racing change loses at most the other one.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::engines::shared_memory::{SharedMemory, change_racing, load};
use crate::outcomes;

fn memory() -> SharedMemory {
    SharedMemory::new(&[0.0, 0.0])
}

/// The first number; all are small and whole.
fn sum(memory: &SharedMemory) -> u64 {
    memory.get(0) as u64
}

#[test]
fn additions_are_never_lost() {
    // Powers of two: every subset has a sum of its own.
    let add_two = |memory: &SharedMemory, rank: usize| {
        for value in [[1.0, 2.0], [4.0, 8.0]][rank] {
            memory.add(0, value);
        }
    };
    assert_eq!(outcomes(2, memory, add_two, sum), BTreeSet::from([15]));
    let add_one = |memory: &SharedMemory, rank: usize| memory.add(0, [1.0, 2.0, 4.0][rank]);
    assert_eq!(outcomes(3, memory, add_one, sum), BTreeSet::from([7]));
}

#[test]
fn a_reader_sees_sums_of_whole_additions() {
    let work = |memory: &SharedMemory, rank: usize| match rank {
        0 => {
            let (before, after) = (sum(memory), sum(memory));
            assert!([0, 1, 2, 3].contains(&before) && before & after == before, "{before}, then {after}");
        }
        _ => memory.add(0, [1.0, 2.0][rank - 1]),
    };
    outcomes(3, memory, work, sum);
}

#[test]
fn of_racing_changes_that_meet_one_may_be_lost_and_nothing_is_invented() {
    let work = |memory: &SharedMemory, rank: usize| {
        change_racing(&memory.cells()[0], |now| now + [1.0, 2.0][rank]);
        let seen = load(&memory.cells()[0]);
        assert!([1.0, 2.0, 3.0].contains(&seen), "{seen}");
    };
    assert_eq!(outcomes(2, memory, work, sum), BTreeSet::from([1, 2, 3]));
}

#[test]
fn a_worker_alone_on_a_coordinate_loses_nothing() {
    let work = |memory: &SharedMemory, rank: usize| {
        for _ in 0..2 {
            change_racing(&memory.cells()[rank], |now| now + 1.0);
        }
    };
    let both = |memory: &SharedMemory| [memory.get(0) as u64, memory.get(1) as u64];
    assert_eq!(outcomes(2, memory, work, both), BTreeSet::from([[2, 2]]));
}

/// Each number of a copy is one that was there; the copy as a whole may mix moments.
#[test]
fn a_copy_under_updates_mixes_moments() {
    let fresh = || (memory(), Mutex::new([0; 2]));
    let work = |(memory, copied): &(SharedMemory, Mutex<[u64; 2]>), rank: usize| match rank {
        0 => [0, 1].into_iter().for_each(|at| memory.add(at, 1.0)),
        _ => {
            let mut copy = [f64::NAN; 2];
            memory.read(&mut copy);
            *copied.lock().unwrap() = copy.map(|value| value as u64);
        }
    };
    let found = outcomes(2, fresh, work, |(_, copied)| *copied.lock().unwrap());
    assert_eq!(found, BTreeSet::from([[0, 0], [0, 1], [1, 0], [1, 1]]));
}
