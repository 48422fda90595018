//! The one pass over all rows: sums for each feature and each class, and what each row is like.
//!
//! Cores take shares of the rows that hold about as many values, and sum for themselves; the sums are merged in the order
//! of the rows. Sums of a feature are moments about its mean, so that those of ranks are merged without cancellation.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{dense, sparse};
use crate::{Labels, Matrix};

/// What is known of a feature in the rows of one class.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Feature {
    /// Rows in which it is not zero.
    pub nonzeros: u64,
    /// The mean of its values, zeros included.
    pub mean: f64,
    /// Σ (x − mean)².
    pub deviation: f64,
    /// Σ (x − mean)(y − mean of y), where targets are numbers.
    pub with_target: f64,
    /// The smallest and the largest value, zeros included.
    pub low: f32,
    /// See `low`.
    pub high: f32,
    /// Depends on each value and its row: columns that are alike have the same.
    pub hash: u64,
}

/// What is known of all features in the rows of one class.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Class {
    pub rows: u64,
    /// The mean of the targets.
    pub target: f64,
    pub features: Vec<Feature>,
}

/// What each row is like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Row {
    /// Values that are not zero.
    pub nonzeros: u32,
    /// ‖x‖².
    pub squared_norm: f64,
    /// Depends on each value and its feature: rows that are alike have the same.
    pub hash: u64,
}

/// What the pass found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Pass {
    /// The class −1, or all rows where targets are numbers; the class +1.
    pub classes: [Class; 2],
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
    /// What is known of a feature in the rows of a class, of which there are so many, with this mean target.
    fn feature(&self, column: usize, class: usize, rows: u64, target: f64) -> Feature;
}

impl Pass {
    /// Over all these rows, on all cores.
    pub(crate) fn over(input: &Input) -> Pass {
        match input.matrix {
            Matrix::Dense(_) if input.crosses() => Pass::with::<dense::Columns<true>>(input),
            Matrix::Dense(_) => Pass::with::<dense::Columns<false>>(input),
            Matrix::Sparse(_) => Pass::with::<sparse::Columns>(input),
        }
    }

    fn with<S: Sums>(input: &Input) -> Pass {
        let mut rows = vec![Row::default(); input.matrix.rows()];
        let (mut rest, mut shares) = (rows.as_mut_slice(), Vec::new());
        for range in shares_of(input.matrix, rayon::current_num_threads()) {
            shares.push((range.start, rest.split_off_mut(..range.len()).unwrap_or_default()));
        }
        let sums: Vec<S> = (shares.into_par_iter())
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
        let counted = input.classes();
        let classes = [0, 1].map(|class| {
            let (rows, target) = counted[class];
            let feature = |column| match &merged {
                Some(sums) if rows > 0 => sums.feature(column, class, rows, target),
                _ => Feature::default(),
            };
            let features =
                (0..input.matrix.columns()).into_par_iter().with_min_len(1024).map(feature).collect();
            Class { rows, target, features }
        });
        Pass { classes, rows }
    }
}

impl Input<'_> {
    /// Whether targets are numbers, with which features may go together.
    pub(super) fn crosses(&self) -> bool {
        *self.labels == Labels::Numbers
    }

    /// The class of a row.
    #[inline]
    pub(super) fn class_of(&self, row: usize) -> usize {
        usize::from(!self.crosses() && self.targets.get(row).is_some_and(|target| *target > 0.0))
    }

    /// How many rows each class has, and the mean of their targets.
    fn classes(&self) -> [(u64, f64); 2] {
        let of = |row: usize| {
            let mut one = [(0, 0.0); 2];
            one[self.class_of(row)] = (1, f64::from(self.targets.get(row).copied().unwrap_or(0.0)));
            one
        };
        let and =
            |a: [(u64, f64); 2], b: [(u64, f64); 2]| [0, 1].map(|at| (a[at].0 + b[at].0, a[at].1 + b[at].1));
        let rows = (0..self.matrix.rows()).into_par_iter().with_min_len(1 << 14);
        let sums = rows.map(of).reduce(|| [(0, 0.0); 2], and);
        sums.map(|(rows, sum)| (rows, if rows > 0 { sum / rows as f64 } else { 0.0 }))
    }
}

impl Class {
    /// These rows and others.
    pub(crate) fn and(mut self, other: &Class) -> Class {
        let (mine, theirs) = (self.rows as f64, other.rows as f64);
        if other.rows == 0 {
            return self;
        }
        if self.rows == 0 {
            return other.clone();
        }
        let apart = other.target - self.target;
        for (feature, next) in self.features.iter_mut().zip(&other.features) {
            feature.add(mine, next, theirs, apart);
        }
        self.target += apart * theirs / (mine + theirs);
        self.rows += other.rows;
        self
    }
}

impl Feature {
    /// Adds what is known of other rows, whose mean target is so much larger.
    fn add(&mut self, rows: f64, other: &Feature, other_rows: f64, apart: f64) {
        let difference = other.mean - self.mean;
        let weight = rows * other_rows / (rows + other_rows);
        self.deviation += other.deviation + difference * difference * weight;
        self.with_target += other.with_target + difference * apart * weight;
        self.mean += difference * other_rows / (rows + other_rows);
        self.nonzeros += other.nonzeros;
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.hash = add_hashes(self.hash, other.hash);
    }

    /// Whether all values are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.low == self.high
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

/// Bits of a value, mixed so that those of a difference are no longer those of its exponent alone. Zero stays zero, so that
/// zeros do not count whether they are stored or not.
#[inline(always)]
pub(super) fn mixed(value: f32) -> u32 {
    // Minus zero is zero.
    let bits = (value + 0.0).to_bits().wrapping_mul(0x9e37_79b1);
    bits ^ (bits >> 15)
}

/// Two random odd numbers for a row or a column.
#[inline]
pub(super) fn keys(place: usize, salt: u64) -> [u32; 2] {
    let mut z = (place as u64 ^ salt).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    [z as u32 | 1, (z >> 32) as u32 | 1]
}

/// Keys of rows and of columns are not to be the same.
pub(super) const ROW_KEYS: u64 = 0x243f_6a88_85a3_08d3;
/// See [`ROW_KEYS`].
pub(super) const COLUMN_KEYS: u64 = 0x1319_8a2e_0370_7344;

/// Two sums as one number.
#[inline]
pub(super) fn joined(first: u32, second: u32) -> u64 {
    u64::from(first) | u64::from(second) << 32
}

/// The sums of two hashes, each half for itself.
pub(super) fn add_hashes(a: u64, b: u64) -> u64 {
    joined((a as u32).wrapping_add(b as u32), ((a >> 32) as u32).wrapping_add((b >> 32) as u32))
}
