//! Held-out loss by iterations, for several numbers of workers and seeds, and what it says of scaling.

use serde::Serialize;

use crate::reproduce::accuracy;

/// The runs of one dataset and algorithm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curves {
    /// Rising numbers of workers.
    pub workers: Vec<usize>,
    /// Rising numbers of iterations, from 0.
    pub iterations: Vec<u64>,
    /// By workers, then seeds: the loss after each number of iterations.
    pub losses: Vec<Vec<Vec<f64>>>,
}

/// By how much the loss of the fewest workers is above that of the most, as a share of what training gains: of the way from
/// the first loss down to the lowest. Negative where it is below.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gap {
    /// In the median of seeds.
    pub median: f64,
    /// The smallest of any seed.
    pub low: f64,
    /// The largest of any seed.
    pub high: f64,
}

/// When a gap is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// In the first tenth of the iterations.
    Early,
    /// In the second half.
    Late,
}

/// Points of the trend through a noisy curve.
const TREND: usize = 5;
/// A run has converged when so much of the way down to where that of few workers ends is left.
pub(super) const LEFT: f64 = 0.2;

impl Curves {
    /// The median over seeds, by iterations, smoothed.
    pub fn trend(&self, at: usize) -> Vec<f64> {
        trend(&self.median(at))
    }

    /// The median over seeds, by iterations.
    fn median(&self, at: usize) -> Vec<f64> {
        let runs = &self.losses[at];
        (0..self.iterations.len())
            .map(|point| median(runs.iter().map(|losses| losses[point]).collect()))
            .collect()
    }

    /// How far the most workers are ahead.
    pub fn gap(&self, when: When) -> Gap {
        let gain = self.gain();
        let (first, last) = (&self.losses[0], &self.losses[self.losses.len() - 1]);
        let pairs = first.iter().zip(last);
        Gap::of(pairs.map(|(one, most)| (mean(part(one, when)) - mean(part(most, when))) / gain).collect())
    }

    /// By how much all losses of so many workers are above those of other runs in the mean, as a share of what these gain.
    pub fn above(&self, other: &Curves, at: usize) -> Gap {
        let gain = other.gain();
        let pairs = self.losses[at].iter().zip(&other.losses[at]);
        Gap::of(pairs.map(|(mine, theirs)| (mean(mine) - mean(theirs)) / gain).collect())
    }

    /// By workers: the iterations until the loss stays below a level near that where the second number of workers ends. The
    /// first may gain nothing at all.
    pub fn iterations(&self) -> Vec<Option<f64>> {
        let trends: Vec<Vec<f64>> = (0..self.workers.len()).map(|at| self.trend(at)).collect();
        let end = trends[1][trends[1].len() - 1];
        let level = end + LEFT * (self.start() - end);
        trends.iter().map(|trend| self.below(trend, level)).collect()
    }

    /// The iterations after which a curve stays below a level, as if it were straight between two points.
    fn below(&self, losses: &[f64], level: f64) -> Option<f64> {
        let Some(before) = losses.iter().rposition(|loss| *loss > level) else { return Some(0.0) };
        let (above, below) = (losses[before], *losses.get(before + 1)?);
        let [from, to] = [before, before + 1].map(|at| self.iterations[at] as f64);
        Some(from + (above - level) / (above - below) * (to - from))
    }

    /// From the first loss down to the lowest median.
    fn gain(&self) -> f64 {
        let medians = (0..self.workers.len()).flat_map(|at| self.median(at));
        self.start() - medians.fold(f64::INFINITY, f64::min)
    }

    fn start(&self) -> f64 {
        self.losses[0][0][0]
    }
}

impl Gap {
    fn of(seeds: Vec<f64>) -> Gap {
        Gap {
            low: seeds.iter().copied().fold(f64::INFINITY, f64::min),
            high: seeds.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            median: median(seeds),
        }
    }

    /// The same with the other sign: how far the most workers are behind.
    pub fn behind(self) -> Gap {
        Gap { median: -self.median, low: -self.high, high: -self.low }
    }
}

/// The points after the first that are meant.
fn part(losses: &[f64], when: When) -> &[f64] {
    let points = losses.len() - 1;
    match when {
        When::Early => &losses[1..1 + (points / 10).max(1)],
        When::Late => &losses[1 + points / 2..],
    }
}

/// The means of each point and those before it.
fn trend(losses: &[f64]) -> Vec<f64> {
    (1..=losses.len()).map(|end| mean(&losses[end.saturating_sub(TREND)..end])).collect()
}

fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len() as f64
}

fn median(values: Vec<f64>) -> f64 {
    accuracy::median(values).unwrap_or(f64::NAN)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Losses that fall from 1 to a floor at a speed, one curve for each number of workers, with three seeds that differ a
    /// little.
    pub fn falling(to: &[(f64, f64)]) -> Curves {
        let iterations: Vec<u64> = (0..=100).map(|at| 10 * at).collect();
        let run = |floor: f64, speed: f64, off: f64| -> Vec<f64> {
            let fallen = |i: &u64| floor + (1.0 - floor) * (-speed * *i as f64).exp();
            iterations.iter().map(|i| fallen(i) + if *i > 0 { off } else { 0.0 }).collect()
        };
        let runs =
            |(floor, speed): &(f64, f64)| [-1e-3, 0.0, 1e-3].map(|off| run(*floor, *speed, off)).to_vec();
        let workers = [1, 2, 4, 8, 16, 24][..to.len()].to_vec();
        Curves { workers, losses: to.iter().map(runs).collect(), iterations }
    }

    #[test]
    fn a_gap_is_a_share_of_what_training_gains() {
        let gap = falling(&[(0.5, 1.0), (0.3, 1.0), (0.0, 1.0)]).gap(When::Late);
        assert!(
            (gap.median - 0.5).abs() < 1e-9 && gap.low <= gap.median && gap.median <= gap.high,
            "{gap:?}"
        );
        let worse = falling(&[(0.0, 1.0), (0.2, 1.0)]).gap(When::Late);
        assert!((worse.median + 0.2).abs() < 1e-9 && (worse.behind().median - 0.2).abs() < 1e-9, "{worse:?}");
    }

    #[test]
    fn a_gap_may_be_there_at_first_only() {
        let curves = falling(&[(0.0, 0.01), (0.0, 0.1)]);
        assert!(curves.gap(When::Early).median > 0.4 && curves.gap(When::Late).median < 0.01);
    }

    #[test]
    fn iterations_are_those_after_which_a_curve_stays_below_where_few_workers_end() {
        let curves = falling(&[(0.9, 0.05), (0.5, 0.05), (0.3, 0.05)]);
        let reached = curves.iterations();
        // 0.6 is where e^(-0.05 i) is 1/5 and 3/7; the trend is a little late. One worker has no say, and gets nowhere.
        for (found, expected) in reached[1..].iter().zip([5f64.ln() / 0.05, (7.0f64 / 3.0).ln() / 0.05]) {
            let found = found.unwrap();
            assert!((expected..expected + 30.0).contains(&found), "{found} for {expected}");
        }
        assert_eq!(reached[0], None);
        assert_eq!(falling(&[(0.5, 1.0), (0.3, 1.0), (0.5, 1.0)]).iterations()[2], None, "it ends above");
        let mut jumping = curves.clone();
        jumping.losses[2].iter_mut().for_each(|run| run[50] = 3.0);
        let late = jumping.iterations()[2].unwrap();
        assert!((500.0..=550.0).contains(&late), "{late}");
    }

    #[test]
    fn runs_are_above_others_by_the_mean_of_all_points() {
        let above = falling(&[(0.2, 1.0), (0.2, 1.0)]).above(&falling(&[(0.0, 1.0), (0.2, 1.0)]), 0);
        assert!((above.median - 0.2 * 100.0 / 101.0).abs() < 1e-3, "{above:?}");
    }
}
