//! The one pass over all rows: sums for each feature and each class, and what each row is like.
//!
//! Cores take shares of the rows that hold about as many values, and sum for themselves; the sums are merged in the order
//! of the rows. Sums of a feature are moments about its mean, so that those of ranks are merged without cancellation.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{dense, sparse};
use crate::{Labels, Matrix};

/// Shares of the rows for each core, where there are few columns.
const SHARES: usize = 4;
/// Sums of so many columns are little to merge.
const FEW_COLUMNS: usize = 1 << 14;

/// What is known of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Feature {
    /// Rows in which it is not zero.
    pub nonzeros: u64,
    /// The mean of its values, zeros included.
    pub mean: f64,
    /// Σ (x − mean)².
    pub deviation: f64,
    /// Σ (x − mean)(y − mean of y).
    pub with_target: f64,
    /// Where its values lie in each class, zeros included.
    pub ranges: [Range; 2],
    /// Depends on each value and its row: columns that are alike have the same.
    pub hash: u64,
}

/// From the smallest of some values to the largest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub low: f32,
    pub high: f32,
}

/// How many rows there are of the class −1 and of the class +1, and the mean of all targets. Where targets are numbers all
/// rows are in the first class.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub classes: [u64; 2],
    pub target: f64,
}

/// What each row is like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Row {
    /// Values that are not zero.
    pub nonzeros: u32,
    /// ‖x‖, the largest number at most.
    pub norm: f32,
    /// Depends on each value and its feature: rows that are alike have the same.
    pub hash: u64,
}

impl Row {
    pub(super) fn new(nonzeros: u32, squared_norm: f64, hash: u64) -> Row {
        Row { nonzeros, norm: (squared_norm.sqrt() as f32).min(f32::MAX), hash }
    }
}

/// What the pass found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Pass {
    pub counts: Counts,
    pub features: Vec<Feature>,
    pub rows: Vec<Row>,
}

/// Rows to pass over.
pub(crate) struct Input<'a> {
    pub matrix: &'a Matrix,
    pub targets: &'a [f32],
    pub labels: &'a Labels,
    /// The place of the first of them among all rows.
    pub first_row: usize,
}

/// The sums of one core.
pub(super) trait Sums: Send + Sync {
    /// Nothing yet, for so many columns.
    fn new(matrix: &Matrix) -> Self;
    /// Adds rows from this one on, and says what each is like.
    fn add(&mut self, input: &Input, first: usize, rows: &mut [Row]);
    /// Adds what another core found.
    fn merge(&mut self, other: &Self);
    /// What is known of a feature, among so many rows.
    fn feature(&self, column: usize, counts: &Counts) -> Feature;
}

impl Pass {
    /// Over all these rows, on all cores.
    pub(crate) fn over(input: &Input) -> Pass {
        match input.matrix {
            Matrix::Dense(_) => Pass::with::<dense::Columns>(input),
            Matrix::Sparse(_) => Pass::with::<sparse::Columns>(input),
        }
    }

    fn with<S: Sums>(input: &Input) -> Pass {
        // Sums of few columns are merged in no time, and several shares each let cores that are disturbed do fewer.
        let each = if input.matrix.columns() <= FEW_COLUMNS { SHARES } else { 1 };
        let shares = each * rayon::current_num_threads();
        let mut rows = vec![Row::default(); input.matrix.rows()];
        let (mut rest, mut tasks) = (rows.as_mut_slice(), Vec::new());
        for range in shares_of(input.matrix, shares) {
            tasks.push((range.start, rest.split_off_mut(..range.len()).unwrap_or_default()));
        }
        let sums: Vec<S> = (tasks.into_par_iter())
            .map(|(first, rows)| {
                let mut sums = S::new(input.matrix);
                sums.add(input, first, rows);
                sums
            })
            .collect();
        let merged = sums.into_iter().reduce(|mut all, next| {
            all.merge(&next);
            all
        });
        let counts = input.counts();
        let columns = (0..input.matrix.columns()).into_par_iter().with_min_len(1024);
        let features = match &merged {
            Some(sums) if counts.rows() > 0.0 => {
                columns.map(|column| sums.feature(column, &counts)).collect()
            }
            _ => vec![Feature::default(); input.matrix.columns()],
        };
        Pass { counts, features, rows }
    }
}

impl Input<'_> {
    /// The class of a row.
    #[inline]
    pub(super) fn class_of(&self, row: usize) -> usize {
        usize::from(*self.labels != Labels::Numbers && self.target(row) > 0.0)
    }

    /// The target of a row; 0 where there are none.
    #[inline]
    pub(super) fn target(&self, row: usize) -> f64 {
        f64::from(self.targets.get(row).copied().unwrap_or(0.0))
    }

    fn counts(&self) -> Counts {
        let rows = (0..self.matrix.rows()).into_par_iter().with_min_len(1 << 14);
        let of = |row: usize| (u64::from(self.class_of(row) == 1), self.target(row));
        let (positives, sum) = rows.map(of).reduce(|| (0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let all = self.matrix.rows() as u64;
        let target = if all > 0 { sum / all as f64 } else { 0.0 };
        Counts { classes: [all - positives, positives], target }
    }
}

impl Counts {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> f64 {
        self.classes.iter().sum::<u64>() as f64
    }

    /// These rows and others.
    pub(crate) fn and(&self, other: &Counts) -> Counts {
        let [mine, theirs] = [self.rows(), other.rows()];
        let share = if mine + theirs > 0.0 { theirs / (mine + theirs) } else { 0.0 };
        Counts {
            classes: [self.classes[0] + other.classes[0], self.classes[1] + other.classes[1]],
            target: self.target + (other.target - self.target) * share,
        }
    }
}

impl Feature {
    /// What is known of it in rows that are so many, and in others.
    pub(crate) fn and(&self, counts: &Counts, other: &Feature, others: &Counts) -> Feature {
        let [rows, more] = [counts.rows(), others.rows()];
        if rows == 0.0 || more == 0.0 {
            return if rows == 0.0 { *other } else { *self };
        }
        let (difference, weight) = (other.mean - self.mean, rows * more / (rows + more));
        let apart = others.target - counts.target;
        Feature {
            nonzeros: self.nonzeros + other.nonzeros,
            mean: self.mean + difference * more / (rows + more),
            deviation: self.deviation + other.deviation + difference * difference * weight,
            with_target: self.with_target + other.with_target + difference * apart * weight,
            ranges: [0, 1].map(|class| self.ranges[class].and(other.ranges[class])),
            hash: self.hash.wrapping_add(other.hash),
        }
    }

    /// Where its values lie.
    pub(crate) fn range(&self) -> Range {
        self.ranges[0].and(self.ranges[1])
    }

    /// Whether all values are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.range().is_point()
    }
}

impl Range {
    /// Of no values.
    pub(crate) const NONE: Range = Range { low: f32::INFINITY, high: f32::NEG_INFINITY };
    pub(crate) const ZERO: Range = Range { low: 0.0, high: 0.0 };

    pub(crate) fn and(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether all values are the same.
    pub(crate) fn is_point(self) -> bool {
        self.low == self.high
    }
}

impl Default for Range {
    fn default() -> Range {
        Range::NONE
    }
}

/// Ranges of rows that hold about as many values each.
fn shares_of(matrix: &Matrix, shares: usize) -> Vec<std::ops::Range<usize>> {
    let rows = matrix.rows();
    let start = |share: usize| match matrix {
        Matrix::Dense(_) => rows * share / shares,
        Matrix::Sparse(sparse) => {
            // A row costs about as much as a value of it.
            let work = |row: usize| sparse.offsets()[row] + row;
            let wanted = work(rows) as u128 * share as u128 / shares as u128;
            let (mut low, mut high) = (0, rows);
            while low < high {
                let middle = (low + high) / 2;
                if (work(middle) as u128) < wanted { low = middle + 1 } else { high = middle }
            }
            low
        }
    };
    (0..shares).map(|share| start(share)..if share + 1 == shares { rows } else { start(share + 1) }).collect()
}

/// Bits of a value, the lowest and the highest exchanged: those of small whole numbers end with zeros, which products would
/// keep. Zero stays zero, so that zeros do not count whether they are stored or not.
#[inline(always)]
pub(super) fn mixed(value: f32) -> u32 {
    // Minus zero is zero.
    (value + 0.0).to_bits().swap_bytes()
}

/// Random bits for a row or a column; both halves are odd.
#[inline]
pub(super) fn keys(place: usize, salt: u64) -> u64 {
    let mut z = (place as u64 ^ salt).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) | 1 | 1 << 32
}

/// Keys of rows and of columns are not to be the same.
pub(super) const ROW_KEYS: u64 = 0x243f_6a88_85a3_08d3;
/// See [`ROW_KEYS`].
pub(super) const COLUMN_KEYS: u64 = 0x1319_8a2e_0370_7344;

/// Asks for memory that will be needed soon.
#[inline(always)]
pub(super) fn fetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[inline(always)]
pub(super) fn multiply_add<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}
