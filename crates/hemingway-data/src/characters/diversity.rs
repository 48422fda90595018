//! How many rows are different, and how many nearly the same.
//!
//! Rows are told apart by hashes of 64 bits. One worker counts all of them. Several exchange them as long as they are not too
//! many; beyond that they count those of a share of all hashes, which is the same share of all different rows.
//!
//! Near-duplicates are looked for among the rows of a sample: each gets 64 signs of random projections of what is different
//! from the mean row (simhash), pairs with nearly the same signs are compared value by value, and the share of pairs
//! that are near-duplicates says how many of all other rows are that for a row.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Interval;
use super::sampling::{Row, Rows};
use crate::together::exchange;
use crate::{Error, Together};

/// So many hashes are exchanged at most.
const MOST_HASHES: usize = 1 << 22;
/// Hashes shown in one exchange.
const AT_ONCE: usize = 1 << 16;
/// Rows are near-duplicates if their squared distance is below this share of that of two random rows: if they are seven times
/// as near as these. This is what the word means here.
const NEAR: f64 = 0.02;
/// Signs in which near-duplicates may differ. Rows just near enough that are as far from the mean row as usual are seen from
/// there under 0.2 rad, so of 64 signs 4 differ, give or take 2; of random rows 32, give or take 4. Rows much nearer to the mean
/// row may be missed.
const SIGNS: u32 = 9;
/// Pairs that are compared value by value at most.
const MOST_COMPARED: usize = 20_000;
/// Rows whose pairs are looked at, at most.
const MOST_SKETCHED: usize = 4096;

/// How many rows are different.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Diversity {
    /// Different rows.
    pub distinct_rows: Interval,
    /// Their share of all rows.
    pub distinct_share: Interval,
    /// For a row, how many of the other rows are nearly the same, but not quite: their squared distance is below 2 % of
    /// that of two random rows.
    pub near_duplicates: Interval,
}

/// How many different hashes all workers have together.
pub(super) fn distinct(mut hashes: Vec<u64>, together: &mut dyn Together) -> Result<Interval, Error> {
    hashes.par_sort_unstable();
    hashes.dedup();
    if together.size() == 1 {
        return Ok(Interval::exact(hashes.len() as f64));
    }
    let (_, counts) = exchange(together, Ok(hashes.len()), |count| *count)?;
    let all: usize = counts.iter().sum();
    // Of each share of all hashes that is left out, the same share of the rows is.
    let left_out = (all / MOST_HASHES + 1).next_power_of_two().trailing_zeros();
    hashes.retain(|hash| hash.trailing_zeros() >= left_out || left_out == 0);
    let rounds = ((all >> left_out) / AT_ONCE + 1).next_power_of_two().trailing_zeros();
    let mut found = 0usize;
    for round in 0..1u64 << rounds {
        let of_round = |hash: &&u64| rounds == 0 || **hash >> (64 - rounds) == round;
        let mine: Vec<u64> = hashes.iter().filter(of_round).copied().collect();
        let (_, everyone) = exchange(together, Ok(mine), Clone::clone)?;
        let mut hashes = everyone.concat();
        hashes.sort_unstable();
        hashes.dedup();
        found += hashes.len();
    }
    let factor = (1u64 << left_out) as f64;
    Ok(match left_out {
        0 => Interval::exact(found as f64),
        _ => Interval::around(factor * found as f64, factor * (found as f64 * (1.0 - 1.0 / factor)).sqrt()),
    })
}

/// For a row of so many, how many others are nearly the same; `variance` is that of a row around the mean row.
pub(super) fn near_duplicates(rows: &Rows, total_rows: usize, mean: &[f64], variance: f64) -> Interval {
    let count = rows.len().min(MOST_SKETCHED);
    let pairs = count.saturating_mul(count.saturating_sub(1)) as f64 / 2.0;
    if pairs == 0.0 || variance <= 0.0 || !variance.is_finite() {
        return Interval::exact(0.0);
    }
    // Rows are in the order of the data: those of a part of the sample have to be spread over all of it.
    let places: Vec<usize> = (0..count).map(|at| at * rows.len() / count).collect();
    // So few rows are all compared.
    let all = count == total_rows && pairs <= MOST_COMPARED as f64;
    let sketches = if all { vec![0; count] } else { sketches(rows, &places, mean) };
    let alike = |at: usize, other: usize| (sketches[at] ^ sketches[other]).count_ones() <= SIGNS;
    let candidates_of = |at: usize| {
        let alike = move |other: &usize| alike(at, *other);
        (at + 1..count).filter(alike).map(move |other| (at as u32, other as u32))
    };
    let mut candidates: Vec<(u32, u32)> = (0..count).into_par_iter().flat_map_iter(candidates_of).collect();
    let found = candidates.len();
    if found > MOST_COMPARED {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(found as u64);
        candidates = (0..MOST_COMPARED).map(|_| candidates[random.random_range(0..found)]).collect();
    }
    // Two random rows are 2 tr Σ apart.
    let near = NEAR * 2.0 * variance;
    let mut of_row = vec![0.0; count];
    for (at, other) in &candidates {
        let (at, other) = (*at as usize, *other as usize);
        let apart = squared_distance(rows.nth(places[at]), rows.nth(places[other]));
        if apart > 0.0 && apart < near {
            of_row[at] += 1.0;
            of_row[other] += 1.0;
        }
    }
    let weight = found as f64 / candidates.len().max(1) as f64;
    let others = (total_rows - 1) as f64 / (count - 1) as f64;
    of_row.iter_mut().for_each(|near| *near *= weight);
    let seen = Interval::mean(&of_row);
    if all {
        return Interval::exact(seen.mean);
    }
    // Each pair is seen from both of its rows; and where none is seen there may be three.
    let none = 3.0 * 2.0 / count as f64;
    let wide = Interval {
        low: (seen.mean - std::f64::consts::SQRT_2 * (seen.mean - seen.low)).max(0.0),
        mean: seen.mean,
        high: (seen.mean + std::f64::consts::SQRT_2 * (seen.high - seen.mean)).max(none),
    };
    wide.times(others)
}

/// The signs of 64 random projections of each row, less the mean row.
fn sketches(rows: &Rows, places: &[usize], mean: &[f64]) -> Vec<u64> {
    let add = |sums: &mut [f32; 64], column: usize, value: f32| {
        let signs = signs(column);
        for (bit, sum) in sums.iter_mut().enumerate() {
            *sum += f32::from_bits(value.to_bits() ^ (((signs >> bit) as u32 & 1) << 31));
        }
    };
    let scale = mean.iter().fold(0.0f64, |most, value| most.max(value.abs())).max(1e-300);
    let mut middle = [0.0; 64];
    mean.iter().enumerate().for_each(|(column, value)| add(&mut middle, column, (value / scale) as f32));
    let one = |place: &usize| {
        let row = rows.nth(*place);
        let mut sums = middle.map(|sum| -sum);
        for (column, value) in row.indices.iter().zip(row.values) {
            add(&mut sums, *column as usize, (f64::from(*value) / scale) as f32);
        }
        sums.iter().enumerate().fold(0, |bits, (bit, sum)| bits | u64::from(*sum > 0.0) << bit)
    };
    places.par_iter().map(one).collect()
}

/// 64 random signs for a column.
fn signs(column: usize) -> u64 {
    let key = super::pass::keys(column, 0xa409_3822_299f_31d0);
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key.rotate_left(17)
}

fn squared_distance(one: Row, other: Row) -> f64 {
    let (mut a, mut b, mut sum) = (0, 0, 0.0);
    let value = |row: Row, at: usize, column: u32| match row.indices.get(at) {
        Some(index) if *index == column => f64::from(row.values[at]),
        _ => 0.0,
    };
    loop {
        let next = [one.indices.get(a), other.indices.get(b)].into_iter().flatten().min();
        let Some(&column) = next else { return sum };
        let (left, right) = (value(one, a, column), value(other, b, column));
        sum += (left - right).powi(2);
        a += usize::from(one.indices.get(a) == Some(&column));
        b += usize::from(other.indices.get(b) == Some(&column));
    }
}
