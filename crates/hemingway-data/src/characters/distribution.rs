//! How many numbers are spread: smallest, quartiles, largest, mean, and a small histogram. Exact.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::together::sum;
use crate::{Error, Together};

/// Bins of a histogram.
const BINS: usize = 20;
/// Numbers that lie further apart than this get bins whose ends are factors apart.
const FAR_APART: f64 = 100.0;
/// Bits of a number that one round of a search finds.
const ROUND: u32 = 16;

/// How many numbers are spread. All is 0 where there is none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// The smallest.
    pub min: f64,
    /// A quarter of them is not above it.
    pub lower_quartile: f64,
    /// A half of them is not above it.
    pub median: f64,
    /// Three quarters of them are not above it.
    pub upper_quartile: f64,
    /// The largest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// How many there are in each of some bins.
    pub histogram: Histogram,
}

/// How many numbers lie in each of some bins that follow each other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Histogram {
    /// Where bins begin, and where the last one ends.
    pub edges: Vec<f64>,
    /// How many there are in each.
    pub counts: Vec<u64>,
}

impl Distribution {
    /// Of numbers that are here.
    pub(crate) fn of(numbers: Vec<f64>) -> Distribution {
        Distribution::over(numbers.len(), |at| numbers[at], &mut crate::together::Alone)
            .expect("nobody else is there to fail")
    }

    /// Of the numbers of all workers, of which these are mine. Finite ones only count.
    pub(crate) fn over(
        count: usize,
        number: impl Fn(usize) -> f64 + Sync,
        together: &mut dyn Together,
    ) -> Result<Distribution, Error> {
        let all = (0..count).into_par_iter().with_min_len(1 << 14);
        let first = [0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY];
        let and = |a: [f64; 4], b: [f64; 4]| [a[0] + b[0], a[1] + b[1], a[2].min(b[2]), a[3].max(b[3])];
        let mine = all.map(|at| [1.0, number(at), number(at), number(at)]).reduce(|| first, and);
        let (_, everyone) = crate::together::exchange(together, Ok(mine), |mine| *mine)?;
        let [total, sum, min, max] = everyone.into_iter().fold(first, and);
        if total == 0.0 {
            return Ok(Distribution::default());
        }
        let ranks = [0.25, 0.5, 0.75].map(|share| ((total - 1.0) * share).round());
        let [lower_quartile, median, upper_quartile] = at_ranks(ranks, count, &number, together)?;
        let histogram = Histogram::over(min, max, count, &number, together)?;
        // Rounding does not put a mean outside of what it is the mean of.
        let mean = (sum / total).clamp(min, max);
        Ok(Distribution { min, lower_quartile, median, upper_quartile, max, mean, histogram })
    }

    /// How far the largest is from the smallest, as a factor; 1 where that says nothing.
    pub fn factor(&self) -> f64 {
        if self.min > 0.0 { self.max / self.min } else { 1.0 }
    }
}

/// The numbers of these ranks among all, in ascending order: found a few bits at a time.
fn at_ranks(
    ranks: [f64; 3],
    count: usize,
    number: &(impl Fn(usize) -> f64 + Sync),
    together: &mut dyn Together,
) -> Result<[f64; 3], Error> {
    // What is known of each: its first bits, and its rank among those that have them.
    let mut found = ranks.map(|rank| (0u64, rank));
    for round in 1..=64 / ROUND {
        let shift = 64 - round * ROUND;
        let bins = 1usize << ROUND;
        let counts = (0..count).into_par_iter().with_min_len(1 << 16).fold(
            || vec![0.0; 3 * bins],
            |mut counts, at| {
                let key = ordered(number(at));
                for (which, (prefix, _)) in found.iter().enumerate() {
                    if round == 1 || key >> (shift + ROUND) == *prefix {
                        counts[which * bins + (key >> shift) as usize % bins] += 1.0;
                    }
                }
                counts
            },
        );
        let add = |mut a: Vec<f64>, b: Vec<f64>| {
            a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
            a
        };
        let counts = sum(&counts.reduce(|| vec![0.0; 3 * bins], add), together)?;
        for ((prefix, rank), counts) in found.iter_mut().zip(counts.chunks(bins)) {
            let mut bin = 0;
            while bin + 1 < bins && *rank >= counts[bin] {
                *rank -= counts[bin];
                bin += 1;
            }
            *prefix = *prefix << ROUND | bin as u64;
        }
    }
    Ok(found.map(|(key, _)| from_ordered(key)))
}

/// Bits that are in the order of the numbers.
fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn from_ordered(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

impl Histogram {
    fn over(
        min: f64,
        max: f64,
        count: usize,
        number: &(impl Fn(usize) -> f64 + Sync),
        together: &mut dyn Together,
    ) -> Result<Histogram, Error> {
        let factors = min > 0.0 && max / min > FAR_APART;
        let place = |value: f64| if factors { value.ln() } else { value };
        let (low, width) = (place(min), place(max) - place(min));
        if !(width > 0.0 && width.is_finite()) {
            let counts = sum(&[count as f64], together)?;
            return Ok(Histogram { edges: vec![min, max], counts: vec![counts[0] as u64] });
        }
        let bin = |at: usize| {
            let share = (place(number(at)) - low) / width;
            ((share * BINS as f64) as usize).min(BINS - 1)
        };
        let counts = (0..count).into_par_iter().with_min_len(1 << 14).fold(
            || [0.0; BINS],
            |mut counts, at| {
                counts[bin(at)] += 1.0;
                counts
            },
        );
        let counts = counts.reduce(|| [0.0; BINS], |a, b| std::array::from_fn(|at| a[at] + b[at]));
        let edge = |at: usize| low + width * at as f64 / BINS as f64;
        let edge = |at: usize| if factors { edge(at).exp() } else { edge(at) };
        let counts = sum(&counts, together)?.into_iter().map(|count| count as u64).collect();
        Ok(Histogram { edges: (0..=BINS).map(edge).collect(), counts })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_numbers() {
        let one = Distribution::of(vec![7.0]);
        assert_eq!([one.min, one.median, one.upper_quartile, one.max, one.mean], [7.0; 5]);
        assert_eq!(one.histogram, Histogram { edges: vec![7.0, 7.0], counts: vec![1] });
        assert_eq!(Distribution::of(Vec::new()), Distribution::default());
        let five = Distribution::of(vec![5.0, -1.0, 3.0, 2.0, 4.0]);
        let Distribution { min, lower_quartile, median, upper_quartile, max, mean, .. } = five;
        assert_eq!([min, lower_quartile, median, upper_quartile, max, mean], [-1.0, 2.0, 3.0, 4.0, 5.0, 2.6]);
    }

    proptest! {
        #[test]
        fn as_if_sorted(mut numbers in vec(prop_oneof![-1e3..1e3, Just(0.0), -1e300..1e300], 1..200)) {
            let found = Distribution::of(numbers.clone());
            numbers.sort_by(f64::total_cmp);
            let at = |share: f64| numbers[((numbers.len() - 1) as f64 * share).round() as usize];
            prop_assert_eq!([found.lower_quartile, found.median, found.upper_quartile], [0.25, 0.5, 0.75].map(at));
            prop_assert_eq!((found.min, found.max), (at(0.0), at(1.0)));
            prop_assert_eq!(found.histogram.counts.iter().sum::<u64>(), numbers.len() as u64);
            prop_assert_eq!(found.histogram.edges.len(), found.histogram.counts.len() + 1);
            prop_assert!(found.mean.is_finite());
        }
    }
}
