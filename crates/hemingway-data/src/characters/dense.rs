//! The pass over dense rows.
//!
//! Two rows at a time, sixteen columns at a time: each sum is loaded and stored once for two values, and all loops have lengths
//! that the compiler knows. Columns are taken in strips whose sums stay in the cache. Values become `f64` and lose the
//! first row before they are squared, so that features far from zero keep their variance.

use super::pass::{
    COLUMN_KEYS, Counts, Feature, Input, ROW_KEYS, Range, Row, Sums, fetch, keys, mixed, multiply_add,
};
use crate::Matrix;

/// Columns that are worked on at the same time.
const LANES: usize = 16;
/// Groups of columns whose sums stay in the nearest caches.
const STRIP: usize = 64;
/// Rows that go through a strip before the next strip begins.
const BLOCK: usize = 64;

/// Sums over rows, for each group of columns.
pub(super) struct Columns {
    width: usize,
    /// The target that others are taken as differences from.
    origin: f64,
    /// What is subtracted from each value, and the keys of the columns.
    fixed: Vec<Fixed>,
    sums: Vec<Group>,
}

/// What does not change, of a group of columns.
#[derive(Clone, Copy)]
struct Fixed {
    pivot: [f32; LANES],
    keys: [[u32; LANES]; 2],
}

/// Sums for a group of columns.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group {
    sum: [f64; LANES],
    squares: [f64; LANES],
    cross: [f64; LANES],
    /// Of each class.
    low: [[f32; LANES]; 2],
    high: [[f32; LANES]; 2],
    nonzeros: [u32; LANES],
    hash: [u32; LANES],
}

/// Sums for a row.
#[derive(Clone, Copy)]
struct Along {
    squares: [f64; LANES],
    nonzeros: [u32; LANES],
    hash: [[u32; LANES]; 2],
}

/// What a row brings: its key, its class, and its target as a difference from some target.
#[derive(Clone, Copy, Default)]
struct Own {
    key: u32,
    class: usize,
    target: f64,
}

impl Group {
    const NONE: Group = Group {
        sum: [0.0; LANES],
        squares: [0.0; LANES],
        cross: [0.0; LANES],
        low: [[f32::INFINITY; LANES]; 2],
        high: [[f32::NEG_INFINITY; LANES]; 2],
        nonzeros: [0; LANES],
        hash: [0; LANES],
    };
}

impl Along {
    const NONE: Along = Along { squares: [0.0; LANES], nonzeros: [0; LANES], hash: [[0; LANES]; 2] };
}

impl Sums for Columns {
    fn new(matrix: &Matrix) -> Self {
        let Matrix::Dense(dense) = matrix else { unreachable!("dense rows") };
        let width = dense.columns();
        let groups = width.div_ceil(LANES);
        let first = dense.values().get(..width).unwrap_or_default();
        let fixed = |group: usize| {
            let columns = group * LANES..;
            let mut fixed = Fixed { pivot: [0.0; LANES], keys: [[0; LANES]; 2] };
            for (lane, column) in columns.take(LANES).enumerate() {
                fixed.pivot[lane] = first.get(column).copied().unwrap_or(0.0);
                let key = keys(column, COLUMN_KEYS);
                (fixed.keys[0][lane], fixed.keys[1][lane]) = (key as u32, (key >> 32) as u32);
            }
            fixed
        };
        Columns {
            width,
            origin: 0.0,
            fixed: (0..groups).map(fixed).collect(),
            sums: vec![Group::NONE; groups],
        }
    }

    fn add(&mut self, input: &Input, first: usize, rows: &mut [Row]) {
        let Matrix::Dense(dense) = input.matrix else { unreachable!("dense rows") };
        self.origin = input.target(0);
        let (origin, width) = (self.origin, self.width);
        let task = Task { width, fixed: &self.fixed, sums: &mut self.sums };
        let own = |row: usize| Own {
            key: keys(input.first_row + row, ROW_KEYS) as u32,
            class: input.class_of(row),
            target: input.target(row) - origin,
        };
        task.run(&dense.values()[first * width..], |at| own(first + at), rows);
    }

    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            for lane in 0..LANES {
                mine.sum[lane] += theirs.sum[lane];
                mine.squares[lane] += theirs.squares[lane];
                mine.cross[lane] += theirs.cross[lane];
                mine.nonzeros[lane] += theirs.nonzeros[lane];
                mine.hash[lane] = mine.hash[lane].wrapping_add(theirs.hash[lane]);
                for class in 0..2 {
                    mine.low[class][lane] = mine.low[class][lane].min(theirs.low[class][lane]);
                    mine.high[class][lane] = mine.high[class][lane].max(theirs.high[class][lane]);
                }
            }
        }
    }

    fn feature(&self, column: usize, counts: &Counts) -> Feature {
        let (group, lane) = (column / LANES, column % LANES);
        let of = &self.sums[group];
        let shift = of.sum[lane] / counts.rows();
        let ranges = [0, 1].map(|class| Range { low: of.low[class][lane], high: of.high[class][lane] });
        let constant = ranges[0].and(ranges[1]).is_point();
        Feature {
            nonzeros: u64::from(of.nonzeros[lane]),
            mean: f64::from(self.fixed[group].pivot[lane]) + shift,
            deviation: if constant { 0.0 } else { (of.squares[lane] - of.sum[lane] * shift).max(0.0) },
            with_target: of.cross[lane] - of.sum[lane] * (counts.target - self.origin),
            ranges,
            // Merging parts adds all bits.
            hash: u64::from(of.hash[lane]) << 32,
        }
    }
}

/// Rows to go through.
struct Task<'a> {
    width: usize,
    fixed: &'a [Fixed],
    sums: &'a mut [Group],
}

impl Task<'_> {
    /// As fast as this machine can.
    fn run(self, values: &[f32], own: impl Fn(usize) -> Own, rows: &mut [Row]) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;

            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            fn with_avx512(task: Task, values: &[f32], own: impl Fn(usize) -> Own, rows: &mut [Row]) {
                task.run_with::<true>(values, own, rows);
            }
            #[target_feature(enable = "avx2,fma")]
            fn with_avx2(task: Task, values: &[f32], own: impl Fn(usize) -> Own, rows: &mut [Row]) {
                task.run_with::<true>(values, own, rows);
            }
            if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("fma") {
                // SAFETY: this machine has what the function is compiled for.
                return unsafe { with_avx512(self, values, own, rows) };
            }
            if has!("avx2") && has!("fma") {
                // SAFETY: this machine has what the function is compiled for.
                return unsafe { with_avx2(self, values, own, rows) };
            }
        }
        self.run_with::<false>(values, own, rows);
    }

    #[inline(always)]
    fn run_with<const FMA: bool>(self, values: &[f32], own: impl Fn(usize) -> Own, rows: &mut [Row]) {
        let width = self.width;
        for (block, rows) in rows.chunks_mut(BLOCK).enumerate() {
            let begin = block * BLOCK;
            let mut owns = [Own::default(); BLOCK];
            owns.iter_mut().take(rows.len()).enumerate().for_each(|(at, of)| *of = own(begin + at));
            let values = &values[begin * width..];
            for (strip, (sums, fixed)) in
                self.sums.chunks_mut(STRIP).zip(self.fixed.chunks(STRIP)).enumerate()
            {
                let first = strip * STRIP * LANES;
                let columns = width - first;
                let start = |at: usize| &values[at * width + first..];
                let (pairs, single) = rows.as_chunks_mut::<2>();
                for (pair, rows) in pairs.iter_mut().enumerate() {
                    let at = 2 * pair;
                    let along = add_rows::<2, FMA>(
                        [start(at), start(at + 1)],
                        columns,
                        2 * width,
                        [owns[at], owns[at + 1]],
                        fixed,
                        sums,
                    );
                    along.iter().zip(rows).for_each(|(along, row)| along.add_to(row));
                }
                let at = 2 * pairs.len();
                for row in single {
                    add_rows::<1, FMA>([start(at)], columns, width, [owns[at]], fixed, sums)[0].add_to(row);
                }
            }
        }
    }
}

impl Along {
    #[inline(always)]
    fn add_to(&self, row: &mut Row) {
        let mut squares = [0.0; 4];
        for lane in 0..LANES {
            squares[lane % 4] += self.squares[lane];
        }
        row.squared_norm += squares[0] + squares[1] + squares[2] + squares[3];
        let total = |of: &[u32; LANES]| of.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value));
        row.nonzeros += total(&self.nonzeros);
        // Strips of one row are added to each half for itself.
        let [first, second] = [row.hash as u32, (row.hash >> 32) as u32];
        let [first, second] =
            [first.wrapping_add(total(&self.hash[0])), second.wrapping_add(total(&self.hash[1]))];
        row.hash = u64::from(first) | u64::from(second) << 32;
    }
}

/// Adds some rows to the sums of a strip of columns. What follows a row in memory may be read, but does not count.
#[inline(always)]
fn add_rows<const ROWS: usize, const FMA: bool>(
    rows: [&[f32]; ROWS],
    columns: usize,
    ahead: usize,
    owns: [Own; ROWS],
    fixed: &[Fixed],
    sums: &mut [Group],
) -> [Along; ROWS] {
    let mut along = [Along::NONE; ROWS];
    let whole = (columns / LANES).min(sums.len());
    let groups = rows.map(|row| &row.as_chunks::<LANES>().0[..whole]);
    for (group, (fixed, sums)) in fixed.iter().zip(&mut *sums).take(whole).enumerate() {
        // What the next rows have here: the machine does not foresee that two rows are read at the same time.
        groups
            .iter()
            .for_each(|row| fetch(row.as_ptr().wrapping_add(group).cast::<f32>().wrapping_add(ahead)));
        add_group::<ROWS, FMA>(groups.map(|row| row[group]), &owns, fixed, sums, &mut along);
    }
    if whole < sums.len() {
        let left = columns - whole * LANES;
        let values = rows.map(|row| {
            let mut values = match row.get(whole * LANES..).and_then(|row| row.first_chunk::<LANES>()) {
                Some(values) => *values,
                None => {
                    let mut values = [0.0; LANES];
                    values[..left].copy_from_slice(&row[whole * LANES..][..left]);
                    values
                }
            };
            for (lane, value) in values.iter_mut().enumerate() {
                *value = if lane < left { *value } else { 0.0 };
            }
            values
        });
        add_group::<ROWS, FMA>(values, &owns, &fixed[whole], &mut sums[whole], &mut along);
    }
    along
}

#[inline(always)]
fn add_group<const ROWS: usize, const FMA: bool>(
    values: [[f32; LANES]; ROWS],
    owns: &[Own; ROWS],
    fixed: &Fixed,
    sums: &mut Group,
    along: &mut [Along; ROWS],
) {
    for row in 0..ROWS {
        let (values, own, along) = (&values[row], &owns[row], &mut along[row]);
        for lane in 0..LANES {
            let wide = f64::from(values[lane]);
            let apart = wide - f64::from(fixed.pivot[lane]);
            sums.sum[lane] += apart;
            sums.squares[lane] = multiply_add::<FMA>(apart, apart, sums.squares[lane]);
            sums.cross[lane] = multiply_add::<FMA>(apart, own.target, sums.cross[lane]);
            along.squares[lane] = multiply_add::<FMA>(wide, wide, along.squares[lane]);
        }
        let (low, high) = (&mut sums.low[own.class & 1], &mut sums.high[own.class & 1]);
        for lane in 0..LANES {
            let value = values[lane];
            low[lane] = if value < low[lane] { value } else { low[lane] };
            high[lane] = if value > high[lane] { value } else { high[lane] };
        }
        for lane in 0..LANES {
            let counts = u32::from(values[lane] != 0.0);
            sums.nonzeros[lane] += counts;
            along.nonzeros[lane] += counts;
        }
        for lane in 0..LANES {
            let bits = mixed(values[lane]);
            sums.hash[lane] = sums.hash[lane].wrapping_add(bits.wrapping_mul(own.key));
            for half in 0..2 {
                let term = bits.wrapping_mul(fixed.keys[half][lane]);
                along.hash[half][lane] = along.hash[half][lane].wrapping_add(term);
            }
        }
    }
}
