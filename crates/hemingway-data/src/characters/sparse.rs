//! The pass over sparse rows: all sums of a feature lie together, so that a value touches one place in memory.

use super::pass::{COLUMN_KEYS, Feature, Input, ROW_KEYS, Row, Sums, joined, keys, mixed};
use crate::Matrix;

/// Sums over rows, for each class and each feature.
pub(super) struct Columns {
    sums: [Vec<Sum>; 2],
    /// The target that others are taken as differences from.
    origin: f64,
}

/// Sums over the values of a feature that are stored.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Sum {
    sum: f64,
    squares: f64,
    cross: f64,
    low: f32,
    high: f32,
    nonzeros: u32,
    hash: [u32; 2],
    keys: [u32; 2],
}

impl Sums for Columns {
    fn new(matrix: &Matrix) -> Columns {
        let empty = |column: usize| Sum {
            sum: 0.0,
            squares: 0.0,
            cross: 0.0,
            low: f32::INFINITY,
            high: f32::NEG_INFINITY,
            nonzeros: 0,
            hash: [0; 2],
            keys: keys(column, COLUMN_KEYS),
        };
        let sums: Vec<Sum> = (0..matrix.columns()).map(empty).collect();
        Columns { sums: [sums.clone(), sums], origin: 0.0 }
    }

    fn add(&mut self, input: &Input, first: usize, rows: &mut [Row]) {
        let Matrix::Sparse(sparse) = input.matrix else { unreachable!("sparse rows") };
        let crosses = input.crosses();
        self.origin = f64::from(input.targets.first().copied().unwrap_or(0.0));
        for (at, row) in rows.iter_mut().enumerate() {
            let stored = sparse.offsets()[first + at]..sparse.offsets()[first + at + 1];
            let (indices, values) = (&sparse.indices()[stored.clone()], &sparse.values()[stored]);
            let class = input.class_of(first + at);
            let sums = &mut self.sums[class][..sparse.columns()];
            *row = add_row(sums, indices, values, keys(input.first_row + first + at, ROW_KEYS));
            if crosses && let Some(target) = input.targets.get(first + at) {
                let target = f64::from(*target) - self.origin;
                for (index, value) in indices.iter().zip(values) {
                    sums[*index as usize].cross += f64::from(*value) * target;
                }
            }
        }
    }

    fn merge(&mut self, other: &Columns) {
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                mine.sum += theirs.sum;
                mine.squares += theirs.squares;
                mine.cross += theirs.cross;
                mine.low = mine.low.min(theirs.low);
                mine.high = mine.high.max(theirs.high);
                mine.nonzeros += theirs.nonzeros;
                for half in 0..2 {
                    mine.hash[half] = mine.hash[half].wrapping_add(theirs.hash[half]);
                }
            }
        }
    }

    fn feature(&self, column: usize, class: usize, rows: u64, target: f64) -> Feature {
        let of = &self.sums[class][column];
        let has_zeros = u64::from(of.nonzeros) < rows;
        let low = if has_zeros { of.low.min(0.0) } else { of.low };
        let high = if has_zeros { of.high.max(0.0) } else { of.high };
        let mean = of.sum / rows as f64;
        Feature {
            nonzeros: u64::from(of.nonzeros),
            mean: if low == high { f64::from(low) } else { mean },
            deviation: if low == high { 0.0 } else { (of.squares - of.sum * mean).max(0.0) },
            with_target: of.cross - of.sum * (target - self.origin),
            low,
            high,
            hash: joined(of.hash[0], of.hash[1]),
        }
    }
}

#[inline]
fn add_row(sums: &mut [Sum], indices: &[u32], values: &[f32], own: [u32; 2]) -> Row {
    let (mut squared_norm, mut nonzeros, mut hash) = (0.0, 0, [0u32; 2]);
    for (index, value) in indices.iter().zip(values) {
        let of = &mut sums[*index as usize];
        let (wide, counts, bits) = (f64::from(*value), u32::from(*value != 0.0), mixed(*value));
        let square = wide * wide;
        of.sum += wide;
        of.squares += square;
        of.low = if *value < of.low { *value } else { of.low };
        of.high = if *value > of.high { *value } else { of.high };
        of.nonzeros += counts;
        squared_norm += square;
        nonzeros += counts;
        for half in 0..2 {
            of.hash[half] = of.hash[half].wrapping_add(bits.wrapping_mul(own[half]));
            hash[half] = hash[half].wrapping_add(bits.wrapping_mul(of.keys[half]));
        }
    }
    Row { nonzeros, squared_norm, hash: joined(hash[0], hash[1]) }
}
