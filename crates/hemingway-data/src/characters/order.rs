//! Whether rows that follow one another are alike.
//!
//! C_sim of a range is the mean number of features in which a row differs from each of the next so many rows, the first
//! rows following the last (equation 3 of the paper). It is a distance, despite its name: large is diverse.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::Interval;
use super::sampling::{Row, Rows, some_of};

/// Ranges in which rows are compared with those that follow; the largest has pairs from as far as a batch.
const RANGES: [usize; 5] = [1, 4, 16, 64, 256];
/// Rows that an asynchronous algorithm may see late: as many as it has workers, and this is a usual number of them.
const DELAY: usize = 16;
/// Rows of a batch.
const BATCH: usize = 64;
/// Batches that are compared.
const BATCHES: usize = 16;

/// Whether rows that follow one another are alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Order {
    /// C_sim of the order that rows have, for several ranges.
    pub given: Vec<RangeDistance>,
    /// C_sim of rows in random order, whatever the range.
    pub shuffled: Interval,
    /// LS of asynchronous algorithms: C_sim at their delay.
    pub asynchronous: RangeDistance,
    /// LS of algorithms with batches: the largest C_sim inside a batch. Where batches were sampled it is the largest of
    /// these, and `high` is what no batch of such rows can exceed.
    pub batches: RangeDistance,
}

/// How far rows are from those that follow.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RangeDistance {
    /// Over so many following rows.
    pub range: usize,
    /// The mean number of features in which they differ.
    pub distance: Interval,
}

/// What has to be compared.
pub(super) struct Comparisons {
    rows: usize,
    ranges: Vec<(usize, Pairs)>,
    pub shuffled: Pairs,
    batch: usize,
    /// Where batches begin.
    batches: Vec<usize>,
    all_batches: usize,
}

/// Pairs of rows.
pub(super) struct Pairs {
    pub pairs: Vec<(usize, usize)>,
    /// Whether these are all there are.
    pub all: bool,
}

impl Pairs {
    /// Each row with each of the next `range`, or so many of these pairs.
    fn following(rows: usize, range: usize, most: usize, random: &mut Xoshiro256PlusPlus) -> Pairs {
        let pair = |row: usize, step: usize| (row, (row + step) % rows);
        if rows.saturating_mul(range) <= most {
            let pairs = (0..rows).flat_map(|row| (1..=range).map(move |step| pair(row, step))).collect();
            return Pairs { pairs, all: true };
        }
        let starts = some_of(rows, most, random);
        // Fewer rows than pairs are begun with several times.
        let starts = starts.iter().cycle().take(most);
        Pairs { pairs: starts.map(|row| pair(*row, random.random_range(1..=range))).collect(), all: false }
    }

    /// Two different rows, or so many of these pairs.
    fn any(rows: usize, most: usize, random: &mut Xoshiro256PlusPlus) -> Pairs {
        if rows.saturating_mul(rows.saturating_sub(1)) / 2 <= most {
            let pairs = (0..rows).flat_map(|row| (row + 1..rows).map(move |other| (row, other))).collect();
            return Pairs { pairs, all: true };
        }
        let one = |_| {
            let row = random.random_range(0..rows);
            let other = random.random_range(0..rows - 1);
            (row, other + usize::from(other >= row))
        };
        Pairs { pairs: (0..most).map(one).collect(), all: false }
    }

    /// The mean of what is found for each.
    pub fn mean(&self, of: impl Fn(usize, usize) -> f64) -> Interval {
        let found: Vec<f64> = self.pairs.iter().map(|(row, other)| of(*row, *other)).collect();
        let mean = Interval::mean(&found);
        if self.all { Interval::exact(mean.mean) } else { mean }
    }

    /// The share of which something holds.
    pub fn share(&self, holds: impl Fn(usize, usize) -> bool) -> Interval {
        let hits = self.pairs.iter().filter(|(row, other)| holds(*row, *other)).count();
        match self.all {
            true => Interval::exact(hits as f64 / self.pairs.len().max(1) as f64),
            false => Interval::share(hits, self.pairs.len()),
        }
    }
}

impl Comparisons {
    /// For so many rows, with room for about so many of them.
    pub fn new(rows: usize, room: usize, random: &mut Xoshiro256PlusPlus) -> Comparisons {
        let shuffled = Pairs::any(rows, room / 5, random);
        let each = (room / 4 / RANGES.len()).max(1);
        let ranges = RANGES.into_iter().filter(|range| *range == 1 || *range < rows);
        let ranges = ranges.map(|range| (range, Pairs::following(rows, range, each, random))).collect();
        let batch = BATCH.min(rows).min((room / 4).max(1));
        let all_batches = rows / batch.max(1);
        let most = BATCHES.min(room / 4 / batch.max(1)).max(1);
        let batches = some_of(all_batches, most, random).into_iter().map(|at| at * batch).collect();
        Comparisons { rows, ranges, shuffled, batch, batches, all_batches }
    }

    /// All comparisons in these ranges.
    #[cfg(test)]
    pub fn over(rows: usize, ranges: &[usize]) -> Comparisons {
        use rand::SeedableRng;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let ranges =
            ranges.iter().map(|range| (*range, Pairs::following(rows, *range, usize::MAX, &mut random)));
        Comparisons { ranges: ranges.collect(), ..Comparisons::new(rows, usize::MAX, &mut random) }
    }

    /// The rows that are compared.
    pub fn places(&self) -> Vec<usize> {
        let pairs = self.ranges.iter().map(|(_, pairs)| pairs).chain([&self.shuffled]);
        let pairs = pairs.flat_map(|pairs| pairs.pairs.iter().flat_map(|(row, other)| [*row, *other]));
        pairs.chain(self.batches.iter().flat_map(|start| *start..start + self.batch)).collect()
    }

    /// Compares them; no two rows of the whole dataset differ in more than `most` features.
    pub fn order(&self, rows: &Rows, most: usize) -> Order {
        let apart = |row: usize, other: usize| distance(rows.row(row), rows.row(other)) as f64;
        let of =
            |(range, pairs): &(usize, Pairs)| RangeDistance { range: *range, distance: pairs.mean(apart) };
        let given: Vec<RangeDistance> = self.ranges.iter().map(of).collect();
        let late = given.iter().rfind(|of| of.range <= DELAY).copied().unwrap_or_default();
        Order {
            shuffled: self.shuffled.mean(apart),
            asynchronous: late,
            batches: self.batches(rows, most),
            given,
        }
    }

    /// The range covers all others of a batch, so the order inside of it does not count, and each row meets itself once.
    fn batches(&self, rows: &Rows, most: usize) -> RangeDistance {
        let size = self.batch;
        let of = |start: &usize| {
            let batch: Vec<Row> = (*start..start + size).map(|place| rows.row(place)).collect();
            let pairs = (0..size).flat_map(|row| (row + 1..size).map(move |other| (row, other)));
            let sum: usize = pairs.map(|(row, other)| distance(batch[row], batch[other])).sum();
            2.0 * sum as f64 / (size * size) as f64
        };
        let found: Vec<f64> = self.batches.iter().map(of).collect();
        let largest = found.iter().copied().fold(0.0, f64::max);
        let all = self.batches.len() == self.all_batches && self.rows > 0;
        let high = if all { largest } else { most as f64 * (size as f64 - 1.0) / size as f64 };
        RangeDistance { range: size, distance: Interval { low: largest, mean: largest, high } }
    }
}

/// ‖x − y‖₀: in how many features two rows differ.
pub(super) fn distance(one: Row, other: Row) -> usize {
    let (mut a, mut b, mut count) = (0, 0, 0);
    while a < one.indices.len() && b < other.indices.len() {
        let (left, right) = (one.indices[a], other.indices[b]);
        count += usize::from(left != right || one.values[a] != other.values[b]);
        a += usize::from(left <= right);
        b += usize::from(right <= left);
    }
    count + one.indices.len() - a + other.indices.len() - b
}

/// Whether two rows have a feature in common.
pub(super) fn share_a_feature(one: Row, other: Row) -> bool {
    let (mut a, mut b) = (0, 0);
    while a < one.indices.len() && b < other.indices.len() {
        match one.indices[a].cmp(&other.indices[b]) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => a += 1,
            std::cmp::Ordering::Greater => b += 1,
        }
    }
    false
}
