//! What this rank is doing, said once in a while: whoever started it hears which rank has fallen silent, which one the
//! others wait for, and when all wait and none computes.
//!
//! The state is a few atomic numbers that communications set as they begin and end; a thread of its own says them. Nobody
//! looks at a clock on the way: a count that is the same beat after beat tells how long it has stood still.

use std::io::Write;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use hemingway_train::Seconds;
use hemingway_train::protocol::{Beat, Doing};

static DONE: AtomicU64 = AtomicU64::new(0);
static STEP: AtomicU64 = AtomicU64::new(0);
static DOING: AtomicU8 = AtomicU8::new(Doing::Computing as u8);
static BYTES: AtomicU64 = AtomicU64::new(0);

const STATES: [Doing; 4] = [Doing::Loading, Doing::Computing, Doing::Waiting, Doing::Resting];

/// Does something that others should know of; afterwards the rank does again what it did before.
pub fn during<T>(doing: Doing, bytes: usize, what: impl FnOnce() -> T) -> T {
    BYTES.store(bytes as u64, Ordering::Relaxed);
    let before = DOING.swap(doing as u8, Ordering::Relaxed);
    let outcome = what();
    DOING.store(before, Ordering::Relaxed);
    DONE.fetch_add(1, Ordering::Relaxed);
    outcome
}

/// Waits in a communication that everyone of the present stage takes part in.
pub fn together<T>(bytes: usize, what: impl FnOnce() -> T) -> T {
    let outcome = during(Doing::Waiting, bytes, what);
    STEP.fetch_add(1, Ordering::Relaxed);
    outcome
}

/// Those who take part in a stage count from here on together.
pub fn begin_stage() {
    STEP.store(0, Ordering::Relaxed);
}

/// Says from now on what this rank is doing, this often. A line is short enough that the system writes it in one piece.
pub fn beat(rank: usize, every: Seconds) {
    std::thread::spawn(move || {
        while std::io::stderr().write_all(&line(rank)).is_ok() {
            std::thread::sleep(Duration::from_secs_f64(every.0));
        }
    });
}

fn line(rank: usize) -> Vec<u8> {
    let beat = Beat {
        rank,
        done: DONE.load(Ordering::Relaxed),
        step: STEP.load(Ordering::Relaxed),
        doing: STATES[usize::from(DOING.load(Ordering::Relaxed))],
        bytes: BYTES.load(Ordering::Relaxed),
    };
    let mut line = serde_json::to_vec(&beat).expect("a beat is plain data");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_told_as_they_are_kept() {
        for state in STATES {
            assert_eq!(STATES[state as usize], state);
            let told = during(state, 8, || during(Doing::Waiting, 80, || line(3)));
            let told: Beat = serde_json::from_slice(&told).unwrap();
            assert_eq!((told.rank, told.doing, told.bytes), (3, Doing::Waiting, 80));
            let told: Beat = serde_json::from_slice(&during(state, 8, || line(3))).unwrap();
            assert_eq!(told.doing, state);
        }
    }
}
