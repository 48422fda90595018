//! One trace of several attempts.
//!
//! A run that begins again from a checkpoint is at rounds it has been at before. What was seen of them before stays in
//! the trace until the new attempt has come as far: a run that is killed twice has not lost what it saw the first time.

use hemingway_train::{Effort, Point, Seconds};

/// What was seen between one beginning of a run and the next.
pub(super) struct Attempt {
    /// The round of the checkpoint that it began from.
    pub from_round: u64,
    /// By round, all later than that.
    pub points: Vec<Point>,
}

/// The whole trace: rounds, clock and effort rise throughout.
pub(super) fn splice(attempts: impl IntoIterator<Item = Attempt>) -> Vec<Point> {
    attempts.into_iter().fold(Vec::new(), overtake)
}

/// Up to where the attempt has come, its own points count. What was seen beyond that follows, on its clock and its count of
/// effort.
fn overtake(before: Vec<Point>, attempt: Attempt) -> Vec<Point> {
    let Some(last) = attempt.points.last().copied() else { return before };
    let begun = before.partition_point(|point| point.round <= attempt.from_round);
    let overtaken = before.partition_point(|point| point.round <= last.round);
    let then = taken_at(&before, overtaken, last.round);
    let more: Vec<f64> = taken(&last).into_iter().zip(then).map(|(now, then)| now - then).collect();
    let later = before[overtaken..].iter().map(|point| Point {
        seconds: Seconds(point.seconds.0 + more[0]),
        wall_seconds: Seconds(point.wall_seconds.0 + more[1]),
        effort: Effort {
            iterations: (point.effort.iterations as f64 + more[2]).round() as u64,
            epochs: point.effort.epochs + more[3],
            bytes_per_worker: point.effort.bytes_per_worker + more[4],
        },
        ..*point
    });
    before[..begun].iter().copied().chain(attempt.points).chain(later).collect()
}

/// What the run had taken at a point: both clocks and the effort.
fn taken(point: &Point) -> [f64; 5] {
    let Effort { iterations, epochs, bytes_per_worker } = point.effort;
    [point.seconds.0, point.wall_seconds.0, iterations as f64, epochs, bytes_per_worker]
}

/// What it had taken at a round, as far as can be told from the points around it; `next` is the first one after it.
fn taken_at(points: &[Point], next: usize, round: u64) -> [f64; 5] {
    let before = next.checked_sub(1).map(|last| &points[last]);
    let (from, then) = before.map_or((0, [0.0; 5]), |point| (point.round, taken(point)));
    let Some(point) = points.get(next) else { return then };
    let share = (round - from) as f64 / (point.round - from) as f64;
    let later = taken(point);
    std::array::from_fn(|at| then[at] + share * (later[at] - then[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(
        from_round: u64,
        rounds: impl IntoIterator<Item = u64>,
        clock: impl Fn(u64) -> f64,
    ) -> Attempt {
        let point = |round| Point {
            round,
            effort: Effort { iterations: round, epochs: clock(round), bytes_per_worker: f64::NAN },
            seconds: Seconds(clock(round)),
            wall_seconds: Seconds(2.0 * clock(round)),
            current: 0.5,
            primal: 0.5,
            dual: 0.25,
            certified_error: 1.0,
        };
        Attempt { from_round, points: rounds.into_iter().map(point).collect() }
    }

    fn trace(attempts: Vec<Attempt>) -> Vec<(u64, f64, f64)> {
        splice(attempts).iter().map(|point| (point.round, point.seconds.0, point.wall_seconds.0)).collect()
    }

    #[test]
    fn what_was_seen_stays_until_it_is_overtaken() {
        let first = || attempt(0, 1..=6, |round| round as f64);
        let all: Vec<_> = (1..=6).map(|round| (round, round as f64, 2.0 * round as f64)).collect();
        assert_eq!(trace(vec![first(), attempt(2, [], |_| 0.0)]), all, "nothing was seen again yet");
        // The second attempt is slower: from round 2 on a round takes 3 seconds.
        let second = |rounds| attempt(2, rounds, |round| 2.0 + 3.0 * (round as f64 - 2.0));
        let expected = [(1, 1.0, 2.0), (2, 2.0, 4.0), (4, 8.0, 16.0), (5, 9.0, 18.0), (6, 10.0, 20.0)];
        assert_eq!(trace(vec![first(), second(4..=4)]), expected);
        assert_eq!(trace(vec![first(), second(3..=9)]).last(), Some(&(9, 23.0, 46.0)));
        assert_eq!(trace(vec![first(), second(3..=9)]).len(), 9);
    }

    #[test]
    fn clocks_rise_also_between_the_points_of_the_first_attempt() {
        let first = attempt(0, [10, 20, 30], |round| round as f64);
        let second = attempt(0, [15], |_| 40.0);
        let spliced = splice([first, second]);
        let efforts: Vec<_> =
            spliced.iter().map(|point| (point.effort.iterations, point.effort.epochs)).collect();
        assert_eq!(efforts, [(15, 40.0), (20, 45.0), (30, 55.0)], "so does the effort");
        let clocks: Vec<_> = spliced.iter().map(|point| (point.seconds.0, point.wall_seconds.0)).collect();
        assert_eq!(clocks, [(40.0, 80.0), (45.0, 90.0), (55.0, 110.0)]);
    }

    #[test]
    fn attempts_overtake_one_another() {
        let clock = |round| round as f64;
        let attempts = vec![attempt(0, 1..=9, clock), attempt(2, 3..=5, clock), attempt(4, 5..=6, clock)];
        let rounds: Vec<u64> = trace(attempts).iter().map(|point| point.0).collect();
        assert_eq!(rounds, (1..=9).collect::<Vec<_>>());
    }
}
