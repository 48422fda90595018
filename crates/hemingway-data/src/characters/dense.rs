//! The pass over dense rows.
//!
//! Two rows at a time, sixteen columns at a time: each sum is loaded and stored once for two values, and all loops have lengths
//! that the compiler knows. Columns are taken in strips whose sums stay in the cache. Values become `f64` and lose the
//! first row before they are squared, so that features far from zero keep their variance.

use super::pass::{
    COLUMN_KEYS, Counts, Feature, Input, ROW_KEYS, Range, Row, Sums, fetch, keys, mixed, multiply_add,
};
use crate::{Labels, Matrix};

/// Rows that are worked on at the same time,
const ROWS: usize = 2;
/// and columns.
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
    /// Whether targets are numbers.
    crosses: bool,
    /// What is subtracted from each value, and the keys of the columns.
    fixed: Vec<Fixed>,
    sums: Vec<Group>,
}

/// What does not change, of a group of columns.
#[derive(Clone, Copy)]
struct Fixed {
    pivot: [f64; LANES],
    keys: [[u32; LANES]; 2],
}

/// Sums for a group of columns.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group {
    /// Of each class.
    sum: [[f64; LANES]; 2],
    squares: [f64; LANES],
    /// Of values times targets, where these are numbers; those of classes follow from the sums.
    cross: [f64; LANES],
    /// Of each class, as whole numbers that are in the same order.
    low: [[i32; LANES]; 2],
    high: [[i32; LANES]; 2],
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
        sum: [[0.0; LANES]; 2],
        squares: [0.0; LANES],
        cross: [0.0; LANES],
        low: [[i32::MAX; LANES]; 2],
        high: [[i32::MIN; LANES]; 2],
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
                fixed.pivot[lane] = f64::from(first.get(column).copied().unwrap_or(0.0));
                let key = keys(column, COLUMN_KEYS);
                (fixed.keys[0][lane], fixed.keys[1][lane]) = (key as u32, (key >> 32) as u32);
            }
            fixed
        };
        Columns {
            width,
            origin: 0.0,
            crosses: false,
            fixed: (0..groups).map(fixed).collect(),
            sums: vec![Group::NONE; groups],
        }
    }

    fn add(&mut self, input: &Input, first: usize, rows: &mut [Row]) {
        let Matrix::Dense(dense) = input.matrix else { unreachable!("dense rows") };
        (self.origin, self.crosses) = (input.target(0), *input.labels == Labels::Numbers);
        let (origin, width, crosses) = (self.origin, self.width, self.crosses);
        let task = Task { width, crosses, fixed: &self.fixed, sums: &mut self.sums };
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
                mine.squares[lane] += theirs.squares[lane];
                mine.cross[lane] += theirs.cross[lane];
                mine.nonzeros[lane] += theirs.nonzeros[lane];
                mine.hash[lane] = mine.hash[lane].wrapping_add(theirs.hash[lane]);
                for class in 0..2 {
                    mine.sum[class][lane] += theirs.sum[class][lane];
                    mine.low[class][lane] = mine.low[class][lane].min(theirs.low[class][lane]);
                    mine.high[class][lane] = mine.high[class][lane].max(theirs.high[class][lane]);
                }
            }
        }
    }

    fn feature(&self, column: usize, counts: &Counts) -> Feature {
        let (group, lane) = (column / LANES, column % LANES);
        let of = &self.sums[group];
        let sums = [of.sum[0][lane], of.sum[1][lane]];
        let sum = sums[0] + sums[1];
        let shift = sum / counts.rows();
        let cross = match self.crosses {
            true => of.cross[lane],
            false => sums[0] * (-1.0 - self.origin) + sums[1] * (1.0 - self.origin),
        };
        let range = |class: usize| match of.low[class][lane] <= of.high[class][lane] {
            true => {
                Range { low: from_ordered(of.low[class][lane]), high: from_ordered(of.high[class][lane]) }
            }
            false => Range::NONE,
        };
        let ranges = [0, 1].map(range);
        let constant = ranges[0].and(ranges[1]).is_point();
        Feature {
            nonzeros: u64::from(of.nonzeros[lane]),
            mean: self.fixed[group].pivot[lane] + shift,
            deviation: if constant { 0.0 } else { (of.squares[lane] - sum * shift).max(0.0) },
            with_target: cross - sum * (counts.target - self.origin),
            ranges,
            // Merging parts adds all bits.
            hash: u64::from(of.hash[lane]) << 32,
        }
    }
}

/// Rows to go through.
struct Task<'a> {
    width: usize,
    crosses: bool,
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
                task.run_as::<true>(values, own, rows);
            }
            #[target_feature(enable = "avx2,fma")]
            fn with_avx2(task: Task, values: &[f32], own: impl Fn(usize) -> Own, rows: &mut [Row]) {
                task.run_as::<true>(values, own, rows);
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
        self.run_as::<false>(values, own, rows);
    }

    #[inline(always)]
    fn run_as<const FMA: bool>(self, values: &[f32], own: impl Fn(usize) -> Own, rows: &mut [Row]) {
        match self.crosses {
            true => self.run_with::<FMA, true>(values, own, rows),
            false => self.run_with::<FMA, false>(values, own, rows),
        }
    }

    #[inline(always)]
    fn run_with<const FMA: bool, const CROSS: bool>(
        self,
        values: &[f32],
        own: impl Fn(usize) -> Own,
        rows: &mut [Row],
    ) {
        let width = self.width;
        for (block, rows) in rows.chunks_mut(BLOCK).enumerate() {
            let begin = block * BLOCK;
            let mut owns = [Own::default(); BLOCK];
            owns.iter_mut().take(rows.len()).enumerate().for_each(|(at, of)| *of = own(begin + at));
            let mut totals = [Total::default(); BLOCK];
            let count = rows.len();
            let values = &values[begin * width..];
            for (strip, (sums, fixed)) in
                self.sums.chunks_mut(STRIP).zip(self.fixed.chunks(STRIP)).enumerate()
            {
                let first = strip * STRIP * LANES;
                let columns = width - first;
                let start = |at: usize| &values[at * width + first..];
                let (several, single) = totals[..count].as_chunks_mut::<ROWS>();
                for (number, rows) in several.iter_mut().enumerate() {
                    let at: [usize; ROWS] = std::array::from_fn(|row| number * ROWS + row);
                    let (starts, owns) = (at.map(start), at.map(|at| owns[at]));
                    let along =
                        add_rows::<ROWS, FMA, CROSS>(starts, columns, 2 * ROWS * width, owns, fixed, sums);
                    along.iter().zip(rows).for_each(|(along, row)| along.add_to(row));
                }
                let first_single = several.len() * ROWS;
                for (number, row) in single.iter_mut().enumerate() {
                    let at = first_single + number;
                    add_rows::<1, FMA, CROSS>([start(at)], columns, width, [owns[at]], fixed, sums)[0]
                        .add_to(row);
                }
            }
            for (row, Total { squares, nonzeros, hash: [first, second] }) in rows.iter_mut().zip(totals) {
                *row = Row::new(nonzeros, squares, u64::from(first) | u64::from(second) << 32);
            }
        }
    }
}

/// Sums for a row over strips.
#[derive(Clone, Copy, Default)]
struct Total {
    squares: f64,
    nonzeros: u32,
    hash: [u32; 2],
}

impl Along {
    #[inline(always)]
    fn add_to(&self, row: &mut Total) {
        let mut squares = [0.0; 4];
        for lane in 0..LANES {
            squares[lane % 4] += self.squares[lane];
        }
        row.squares += squares[0] + squares[1] + squares[2] + squares[3];
        let total = |of: &[u32; LANES]| of.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value));
        row.nonzeros += total(&self.nonzeros);
        for half in 0..2 {
            row.hash[half] = row.hash[half].wrapping_add(total(&self.hash[half]));
        }
    }
}

/// Adds some rows to the sums of a strip of columns. What follows a row in memory may be read, but does not count.
#[inline(always)]
fn add_rows<const ROWS: usize, const FMA: bool, const CROSS: bool>(
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
    let (fixed, last_fixed) = fixed.split_at(whole);
    let (sums, last_sums) = sums.split_at_mut(whole);
    for group in 0..whole {
        // What the next rows have here: the machine does not foresee that several rows are read at the same time.
        groups
            .iter()
            .for_each(|row| fetch(row.as_ptr().wrapping_add(group).cast::<f32>().wrapping_add(ahead)));
        add_group::<ROWS, FMA, CROSS>(
            groups.map(|row| row[group]),
            &owns,
            &fixed[group],
            &mut sums[group],
            &mut along,
        );
    }
    if let ([fixed, ..], [sums, ..]) = (last_fixed, last_sums) {
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
        add_group::<ROWS, FMA, CROSS>(values, &owns, fixed, sums, &mut along);
    }
    along
}

#[inline(always)]
fn add_group<const ROWS: usize, const FMA: bool, const CROSS: bool>(
    values: [[f32; LANES]; ROWS],
    owns: &[Own; ROWS],
    fixed: &Fixed,
    sums: &mut Group,
    along: &mut [Along; ROWS],
) {
    for row in 0..ROWS {
        let (values, own, along) = (&values[row], &owns[row], &mut along[row]);
        let sum = &mut sums.sum[own.class & 1];
        for lane in 0..LANES {
            let wide = f64::from(values[lane]);
            let apart = wide - fixed.pivot[lane];
            sum[lane] += apart;
            sums.squares[lane] = multiply_add::<FMA>(apart, apart, sums.squares[lane]);
            if CROSS {
                sums.cross[lane] = multiply_add::<FMA>(apart, own.target, sums.cross[lane]);
            }
            along.squares[lane] = multiply_add::<FMA>(wide, wide, along.squares[lane]);
        }
        // As whole numbers in the same order: these have a smallest and a largest without a branch.
        let (low, high) = (&mut sums.low[own.class & 1], &mut sums.high[own.class & 1]);
        for lane in 0..LANES {
            let place = ordered(values[lane]);
            low[lane] = low[lane].min(place);
            high[lane] = high[lane].max(place);
        }
        for (lane, value) in values.iter().enumerate() {
            let counts = u32::from(*value != 0.0);
            sums.nonzeros[lane] += counts;
            along.nonzeros[lane] += counts;
        }
        for (lane, value) in values.iter().enumerate() {
            let bits = mixed(*value);
            sums.hash[lane] = sums.hash[lane].wrapping_add(bits.wrapping_mul(own.key));
            for half in 0..2 {
                let term = bits.wrapping_mul(fixed.keys[half][lane]);
                along.hash[half][lane] = along.hash[half][lane].wrapping_add(term);
            }
        }
    }
}

/// A whole number; those of larger numbers are larger.
#[inline(always)]
fn ordered(value: f32) -> i32 {
    let bits = value.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

fn from_ordered(place: i32) -> f32 {
    f32::from_bits((place ^ (((place >> 31) as u32) >> 1) as i32) as u32)
}
