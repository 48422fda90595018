//! How long the next round may take, from the last ones: a deadline is kept by not beginning a round that would miss it.

/// The lengths of the last rounds, in seconds, the latest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoundLengths {
    last: [f64; REMEMBERED],
    known: usize,
}

/// More rounds are remembered than one slow moment can hide, and fewer than it takes rounds to change their length.
const REMEMBERED: usize = 5;
/// With fewer rounds than this, none can be called unusual.
const ENOUGH: usize = 3;
/// A round this many times as long as the median is unusual: the machine was busy or stood still. Methods that
/// search along a line make some rounds two or three times as long as others; half of this would call these unusual and
/// miss deadlines, twice as much would let short stops of the machine end a run.
const UNUSUAL: f64 = 4.0;
/// The next round may take this many times as long as the longest of the last ones.
const PRUDENCE: f64 = 1.1;

impl RoundLengths {
    /// A round took so long.
    pub(crate) fn observe(&mut self, seconds: f64) {
        self.last.rotate_right(1);
        self.last[0] = seconds;
        self.known = (self.known + 1).min(REMEMBERED);
    }

    /// How long the next one may take. A single unusual round says nothing about it; two of them do.
    pub(crate) fn next(&self) -> f64 {
        let mut sorted = self.last;
        let sorted = &mut sorted[..self.known];
        sorted.sort_by(f64::total_cmp);
        let longest = match *sorted {
            [.., before, last] if self.known >= ENOUGH && last > UNUSUAL * sorted[(self.known - 1) / 2] => {
                before
            }
            [.., last] => last,
            [] => 0.0,
        };
        PRUDENCE * longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(lengths: &[f64]) -> f64 {
        let mut rounds = RoundLengths::default();
        lengths.iter().for_each(|seconds| rounds.observe(*seconds));
        rounds.next() / PRUDENCE
    }

    #[test]
    fn the_longest_of_the_last_rounds_is_expected_again() {
        assert_eq!(next(&[]), 0.0);
        assert_eq!(next(&[3.0]), 3.0);
        assert_eq!(next(&[1.0, 9.0]), 9.0);
        assert_eq!(next(&[1.0, 2.0, 1.0, 3.0, 1.0]), 3.0);
        assert_eq!(next(&[9.0, 1.0, 2.0, 3.0, 4.0, 5.0]), 5.0);
    }

    #[test]
    fn one_slow_moment_is_not() {
        for at in 0..5 {
            let mut lengths = [0.02; 5];
            lengths[at] = 5.5;
            assert_eq!(next(&lengths), 0.02, "{lengths:?}");
        }
        assert_eq!(next(&[0.02, 0.03, 5.5]), 0.03);
    }

    #[test]
    fn two_slow_moments_are() {
        assert_eq!(next(&[0.02, 5.5, 0.02, 5.0, 0.02]), 5.0);
    }
}
