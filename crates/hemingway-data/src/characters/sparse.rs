//! The pass over sparse rows: all sums of a feature lie together in one line of the cache, which is asked for a few values in
//! advance.

use super::pass::{
    COLUMN_KEYS, Counts, Feature, Input, ROW_KEYS, Range, Row, Sums, fetch, keys, multiply_add,
};
use crate::{Matrix, Sparse};

/// Values of a row that are added together, while the sums of the next so many are fetched.
const AHEAD: usize = 32;

/// Sums over rows, for each feature.
pub(super) struct Columns {
    sums: Vec<Sum>,
    /// The target that others are taken as differences from.
    origin: f64,
}

/// Sums over the values of a feature that are stored.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Sum {
    /// Σ x, Σ x² and Σ x (y − origin).
    moments: [f64; 3],
    /// The largest −x and x of each class.
    reach: [[f32; 2]; 2],
    hash: u64,
    key: u64,
    /// Of each class.
    nonzeros: [u32; 2],
}

impl Sums for Columns {
    fn new(matrix: &Matrix) -> Columns {
        let empty = |column: usize| Sum {
            moments: [0.0; 3],
            reach: [[f32::NEG_INFINITY; 2]; 2],
            hash: 0,
            key: keys(column, COLUMN_KEYS),
            nonzeros: [0; 2],
        };
        Columns { sums: (0..matrix.columns()).map(empty).collect(), origin: 0.0 }
    }

    fn add(&mut self, input: &Input, first: usize, rows: &mut [Row]) {
        let Matrix::Sparse(sparse) = input.matrix else { unreachable!("sparse rows") };
        self.origin = input.target(0);
        let origin = self.origin;
        let own = |row: usize| Own {
            key: keys(input.first_row + row, ROW_KEYS),
            class: input.class_of(row),
            target: input.target(row) - origin,
        };
        add_rows(&mut self.sums, sparse, first, own, rows);
    }

    fn merge(&mut self, other: &Columns) {
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            mine.moments.iter_mut().zip(theirs.moments).for_each(|(mine, theirs)| *mine += theirs);
            for (mine, theirs) in mine.reach.iter_mut().flatten().zip(theirs.reach.iter().flatten()) {
                *mine = mine.max(*theirs);
            }
            mine.nonzeros.iter_mut().zip(theirs.nonzeros).for_each(|(mine, theirs)| *mine += theirs);
            mine.hash = mine.hash.wrapping_add(theirs.hash);
        }
    }

    fn feature(&self, column: usize, counts: &Counts) -> Feature {
        let of = &self.sums[column];
        let [sum, squares, cross] = of.moments;
        let ranges = [0, 1].map(|class| {
            let [low, high] = of.reach[class];
            let stored = Range { low: -low, high };
            let has_zeros = u64::from(of.nonzeros[class]) < counts.classes[class];
            if has_zeros { stored.and(Range::ZERO) } else { stored }
        });
        let mean = sum / counts.rows();
        let all = ranges[0].and(ranges[1]);
        Feature {
            nonzeros: of.nonzeros.map(u64::from).iter().sum(),
            mean: if all.is_point() { f64::from(all.low) } else { mean },
            deviation: if all.is_point() { 0.0 } else { (squares - sum * mean).max(0.0) },
            with_target: cross - sum * (counts.target - self.origin),
            ranges,
            hash: of.hash,
        }
    }
}

/// What a row brings: its key, its class, and its target as a difference from some target.
struct Own {
    key: u64,
    class: usize,
    target: f64,
}

/// Sums for a row.
#[derive(Default)]
struct Along {
    squared_norm: f64,
    nonzeros: u32,
    hash: u64,
}

/// Adds rows from this one on, as fast as this machine can.
fn add_rows(sums: &mut [Sum], sparse: &Sparse, first: usize, own: impl Fn(usize) -> Own, rows: &mut [Row]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        #[target_feature(enable = "avx2,fma")]
        fn with_avx2(
            sums: &mut [Sum],
            sparse: &Sparse,
            first: usize,
            own: impl Fn(usize) -> Own,
            rows: &mut [Row],
        ) {
            add_rows_with::<true>(sums, sparse, first, own, rows);
        }
        // SAFETY: this machine has what the function is compiled for.
        return unsafe { with_avx2(sums, sparse, first, own, rows) };
    }
    add_rows_with::<false>(sums, sparse, first, own, rows);
}

#[inline(always)]
fn add_rows_with<const FMA: bool>(
    sums: &mut [Sum],
    sparse: &Sparse,
    first: usize,
    own: impl Fn(usize) -> Own,
    rows: &mut [Row],
) {
    let offsets = &sparse.offsets()[first..=first + rows.len()];
    let end = offsets[rows.len()];
    assert!(sums.len() >= sparse.columns());
    for (row, (at, stored)) in rows.iter_mut().zip(offsets.windows(2).enumerate()) {
        let own = own(first + at);
        // Kept apart from the sums, so that it need not go through memory.
        let mut along = Along::default();
        let mut begin = stored[0];
        while begin < stored[1] {
            let stop = (begin + AHEAD).min(stored[1]);
            let soon = &sparse.indices()[stop..(stop + AHEAD).min(end)];
            soon.iter().for_each(|index| fetch(sums.as_ptr().wrapping_add(*index as usize)));
            let values = sparse.indices()[begin..stop].iter().zip(&sparse.values()[begin..stop]);
            // SAFETY: every index of a `Sparse` lies below its number of columns, and sums are as many.
            values.for_each(|(index, value)| unsafe {
                add_value::<FMA>(sums.get_unchecked_mut(*index as usize), *value, &own, &mut along);
            });
            begin = stop;
        }
        *row = Row::new(along.nonzeros, along.squared_norm, along.hash);
    }
}

#[inline(always)]
fn add_value<const FMA: bool>(of: &mut Sum, value: f32, own: &Own, row: &mut Along) {
    if value == 0.0 {
        return;
    }
    let wide = f64::from(value);
    let [sum, squares, cross] = &mut of.moments;
    *sum += wide;
    *squares = multiply_add::<FMA>(wide, wide, *squares);
    *cross = multiply_add::<FMA>(wide, own.target, *cross);
    row.squared_norm = multiply_add::<FMA>(wide, wide, row.squared_norm);
    let [low, high] = &mut of.reach[own.class & 1];
    *low = if -value > *low { -value } else { *low };
    *high = if value > *high { value } else { *high };
    of.nonzeros[own.class & 1] += 1;
    row.nonzeros += 1;
    let bits = u64::from(value.to_bits().swap_bytes());
    of.hash = of.hash.wrapping_add(bits.wrapping_mul(own.key));
    row.hash = row.hash.wrapping_add(bits.wrapping_mul(of.key));
}
