//! How long silence and standstill are borne, and whose they are.
//!
//! Every rank says once a second that it is alive, how often it has communicated, and whether it computes or waits. From
//! that alone three things are told apart that all look like a run in which nothing happens: ranks of which nothing is heard
//! any more, ranks that all wait while none computes, and a rank that computes without end.
//!
//! Time is counted only while this process looks. A head that was busy or stopped itself has no right to complain.

use std::time::Instant;

use hemingway_train::Seconds;
use hemingway_train::protocol::{Beat, Doing};

/// How often ranks say that they are alive. Half of it costs twice as many lines and tells hardly sooner.
pub(super) const HEARTBEAT: Seconds = Seconds(1.0);
/// The least patience of `auto`, in seconds. A rank that is stopped or swapped out for so long is still waited for; a host
/// that is lost without a trace is noticed as late.
const LEAST: f64 = 30.0;
/// With `auto`, steps may take this many times as long as the longest one so far before something is wrong.
const LONGER: f64 = 10.0;
/// With `auto`, what is under way is granted a network as slow as this, in bytes per second.
const SLOWEST: f64 = 2.5e5;
/// Hosts of which nothing was heard for so many seconds are suspects once the launcher has ended.
const SUSPECT: f64 = 2.5 * HEARTBEAT.0;
/// Between two looks no more than this counts, in seconds.
const LOOK: f64 = 0.5;

/// What is wrong, and since how many seconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Trouble {
    /// Nothing was heard of these ranks.
    Silent { ranks: Vec<usize>, seconds: f64 },
    /// All wait for one another; these have come less far than the others, if any.
    Standstill { behind: Vec<usize>, seconds: f64 },
    /// These compute, and all others wait for them.
    Endless { ranks: Vec<usize>, seconds: f64 },
}

/// What is known of the life of all ranks.
pub(super) struct Pulse {
    /// What the user allows; otherwise it follows from what was seen.
    patience: Option<Seconds>,
    looked: Instant,
    /// Seconds that this process has watched.
    clock: f64,
    ranks: Vec<Known>,
    /// When something last went forward.
    moved: f64,
    /// The longest time in this stage in which nothing did.
    longest: f64,
    /// Whether a whole round of this stage was seen.
    scored: bool,
}

#[derive(Clone, Copy)]
struct Known {
    heard: f64,
    last: Option<Beat>,
}

impl Pulse {
    pub(super) fn new(patience: Option<Seconds>) -> Pulse {
        let looked = Instant::now();
        Pulse { patience, looked, clock: 0.0, ranks: Vec::new(), moved: 0.0, longest: 0.0, scored: false }
    }

    /// All of these are there now.
    pub(super) fn expect(&mut self, ranks: usize) {
        self.ranks.resize(ranks, Known { heard: self.clock, last: None });
        self.moved = self.clock;
    }

    /// A stage begins: its steps may take longer than those of the last.
    pub(super) fn begin_stage(&mut self) {
        (self.longest, self.moved, self.scored) = (0.0, self.clock, false);
    }

    /// A rank is alive.
    pub(super) fn hear(&mut self, beat: Beat) {
        if self.ranks.len() <= beat.rank {
            self.expect(beat.rank + 1);
        }
        let before =
            std::mem::replace(&mut self.ranks[beat.rank], Known { heard: self.clock, last: Some(beat) });
        let moved = before.last.is_none_or(|last| last.done != beat.done || last.doing != beat.doing);
        // Whoever rests goes nowhere, and whoever begins to may have been the last to do something.
        if moved || beat.doing == Doing::Loading {
            self.go_forward();
        }
    }

    /// Something was said that shows progress.
    pub(super) fn go_forward(&mut self) {
        self.longest = self.longest.max(self.clock - self.moved);
        self.moved = self.clock;
    }

    /// A round was scored: from now on it is known how long one takes.
    pub(super) fn score(&mut self) {
        self.scored = true;
        self.go_forward();
    }

    /// What is wrong by now.
    pub(super) fn look(&mut self) -> Option<Trouble> {
        self.pass(self.looked.elapsed().as_secs_f64());
        self.looked = Instant::now();
        self.trouble()
    }

    fn pass(&mut self, seconds: f64) {
        self.clock += seconds.min(LOOK);
        let rests = |known: &Known| known.last.is_none_or(|last| last.doing == Doing::Resting);
        if self.ranks.iter().all(rests) {
            self.moved = self.clock;
        }
    }

    /// Ranks that never said anything, because their program does not, are not watched.
    fn trouble(&self) -> Option<Trouble> {
        self.ranks.iter().find(|known| known.last.is_some())?;
        let limit = self.patience.map_or(LEAST, |patience| patience.0);
        let silent = self.those(|known| self.clock - known.heard > limit);
        if !silent.is_empty() {
            let since = silent.iter().map(|rank| self.ranks[*rank].heard).fold(f64::INFINITY, f64::min);
            return Some(Trouble::Silent { ranks: silent, seconds: self.clock - since });
        }
        let seconds = self.clock - self.moved;
        let busy = self.those(|known| known.does(&[Doing::Computing, Doing::Loading]));
        let waiting = self.those(|known| known.does(&[Doing::Waiting]));
        match busy.is_empty() {
            true if seconds > self.for_waiting(&waiting) => {
                Some(Trouble::Standstill { behind: self.behind(&waiting), seconds })
            }
            false if self.for_computing().is_some_and(|limit| seconds > limit) => {
                Some(Trouble::Endless { ranks: busy, seconds })
            }
            _ => None,
        }
    }

    fn those(&self, which: impl Fn(&Known) -> bool) -> Vec<usize> {
        (0..self.ranks.len()).filter(|rank| which(&self.ranks[*rank])).collect()
    }

    /// How long all may wait.
    fn for_waiting(&self, waiting: &[usize]) -> f64 {
        let bytes = waiting.iter().filter_map(|rank| self.ranks[*rank].last).map(|last| last.bytes).max();
        let under_way = bytes.unwrap_or(0) as f64 / SLOWEST;
        self.patience.map_or_else(|| self.adapted() + under_way, |patience| patience.0)
    }

    /// How long a rank may compute: nobody knows before the first round has ended.
    fn for_computing(&self) -> Option<f64> {
        self.patience.map(|patience| patience.0).or(self.scored.then(|| self.adapted()))
    }

    fn adapted(&self) -> f64 {
        LEAST.max(LONGER * self.longest)
    }

    /// Those who have left fewer steps behind than others.
    fn behind(&self, waiting: &[usize]) -> Vec<usize> {
        let step = |rank: &usize| self.ranks[*rank].last.map(|last| last.step);
        let farthest = waiting.iter().filter_map(step).max();
        waiting.iter().copied().filter(|rank| step(rank) < farthest).collect()
    }

    /// Ranks that missed their last beats.
    pub(super) fn suspects(&self) -> Vec<usize> {
        self.those(|known| known.last.is_some() && self.clock - known.heard > SUSPECT)
    }
}

impl Known {
    fn does(&self, any: &[Doing]) -> bool {
        self.last.is_some_and(|last| any.contains(&last.doing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds go by in which each rank beats as is said, or not at all.
    fn live(pulse: &mut Pulse, seconds: usize, beats: impl Fn(usize) -> Vec<Beat>) -> Option<Trouble> {
        for second in 0..seconds {
            beats(second).into_iter().for_each(|beat| pulse.hear(beat));
            (0..4).for_each(|_| pulse.pass(0.25));
            if let Some(trouble) = pulse.trouble() {
                return Some(trouble);
            }
        }
        None
    }

    fn beat(rank: usize, done: usize, doing: Doing) -> Beat {
        Beat { rank, done: done as u64, step: done as u64, doing, bytes: 0 }
    }

    fn three() -> Pulse {
        let mut pulse = Pulse::new(None);
        pulse.expect(3);
        let busy = live(&mut pulse, 10, |at| (0..3).map(|rank| beat(rank, at, Doing::Waiting)).collect());
        assert_eq!(busy, None);
        pulse
    }

    #[test]
    fn a_silent_rank_is_borne_for_a_while_and_then_named() {
        let others = |done: usize| (0..2).map(|rank| beat(rank, done, Doing::Waiting)).collect::<Vec<_>>();
        let mut pulse = three();
        assert_eq!(live(&mut pulse, 20, |_| others(9)), None, "20 seconds are borne");
        assert_eq!(pulse.suspects(), [2]);
        assert_eq!(
            live(&mut pulse, 5, |at| [others(10 + at), vec![beat(2, 10 + at, Doing::Computing)]].concat()),
            None
        );
        let trouble = live(&mut pulse, 40, |_| others(15));
        assert!(matches!(trouble, Some(Trouble::Silent { ref ranks, .. }) if ranks == &[2]), "{trouble:?}");
    }

    #[test]
    fn ranks_that_all_wait_stand_still() {
        let mut pulse = three();
        let waits =
            |_| vec![beat(0, 12, Doing::Waiting), beat(1, 11, Doing::Waiting), beat(2, 12, Doing::Waiting)];
        let trouble = live(&mut pulse, 40, waits);
        assert!(
            matches!(trouble, Some(Trouble::Standstill { ref behind, .. }) if behind == &[1]),
            "{trouble:?}"
        );
    }

    #[test]
    fn a_long_sum_is_given_its_time() {
        let mut pulse = three();
        let sums =
            |_| (0..3).map(|rank| Beat { bytes: 100_000_000, ..beat(rank, 12, Doing::Waiting) }).collect();
        assert_eq!(live(&mut pulse, 300, sums), None);
        assert!(live(&mut pulse, 200, sums).is_some());
    }

    #[test]
    fn a_step_may_take_ten_times_as_long_as_the_longest() {
        let step = |done: usize| {
            move |_: usize| {
                vec![
                    beat(0, done, Doing::Waiting),
                    beat(1, done, Doing::Computing),
                    beat(2, done, Doing::Waiting),
                ]
            }
        };
        let mut pulse = three();
        pulse.begin_stage();
        assert_eq!(live(&mut pulse, 15, step(20)), None);
        pulse.score();
        assert_eq!(live(&mut pulse, 140, step(21)), None, "ten times fifteen seconds");
        let trouble = live(&mut pulse, 30, step(21));
        assert!(matches!(trouble, Some(Trouble::Endless { ref ranks, .. }) if ranks == &[1]), "{trouble:?}");
    }

    #[test]
    fn the_first_round_takes_what_it_takes_and_so_do_loading_and_resting() {
        let mut pulse = Pulse::new(None);
        pulse.expect(1);
        assert_eq!(live(&mut pulse, 500, |_| vec![beat(0, 1, Doing::Loading)]), None);
        pulse.begin_stage();
        assert_eq!(live(&mut pulse, 500, |_| vec![beat(0, 1, Doing::Computing)]), None);
        pulse.score();
        assert_eq!(live(&mut pulse, 500, |_| vec![beat(0, 1, Doing::Resting)]), None);
    }

    #[test]
    fn patience_is_what_the_user_says() {
        let mut pulse = Pulse::new(Some(Seconds(5.0)));
        pulse.expect(1);
        assert!(live(&mut pulse, 4, |_| vec![beat(0, 1, Doing::Computing)]).is_none());
        assert!(live(&mut pulse, 4, |_| vec![beat(0, 1, Doing::Computing)]).is_some());
    }

    #[test]
    fn a_head_that_was_away_does_not_complain() {
        let mut pulse = three();
        pulse.pass(3600.0);
        assert_eq!(pulse.trouble(), None);
    }

    #[test]
    fn a_program_that_never_beats_is_not_watched() {
        let mut pulse = Pulse::new(None);
        pulse.expect(3);
        assert_eq!(live(&mut pulse, 500, |_| Vec::new()), None);
    }
}
