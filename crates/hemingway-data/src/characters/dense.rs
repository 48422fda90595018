//! The pass over dense rows.
//!
//! Two rows of one class at a time, eight columns at a time: each sum is loaded and stored once for two values, and all
//! loops have lengths that the compiler knows. Columns are taken in strips whose sums stay in the cache. Values become
//! `f64` and lose the first row before they are squared, so that features far from zero keep their variance.

use super::pass::{COLUMN_KEYS, Feature, Input, ROW_KEYS, Row, Sums, add_hashes, joined, keys, mixed};
use crate::Matrix;

/// Columns that are worked on at the same time.
const LANES: usize = 8;
/// Groups of columns whose sums stay in the first cache.
const STRIP: usize = 128;
/// Rows that are sorted by class before they are summed.
const BLOCK: usize = 64;

/// Sums over rows, for each class and each group of columns.
pub(super) struct Columns<const CROSS: bool> {
    width: usize,
    /// The target that others are taken as differences from.
    origin: f64,
    /// What is subtracted from each value, and the keys of the columns.
    fixed: Vec<Fixed>,
    sums: [Vec<Group<CROSS>>; 2],
}

/// What does not change, of a group of columns.
#[derive(Clone, Copy)]
struct Fixed {
    pivot: [f32; LANES],
    keys: [[u32; LANES]; 2],
}

/// Sums for a group of columns.
#[derive(Clone, Copy)]
struct Group<const CROSS: bool> {
    sum: [f64; LANES],
    squares: [f64; LANES],
    cross: [f64; LANES],
    low: [f32; LANES],
    high: [f32; LANES],
    nonzeros: [u32; LANES],
    hash: [[u32; LANES]; 2],
}

/// Sums for a row.
#[derive(Clone, Copy)]
struct Along {
    squares: [f64; LANES],
    nonzeros: [u32; LANES],
    hash: [[u32; LANES]; 2],
}

/// What a row brings: its keys, and its target as a difference from some target.
#[derive(Clone, Copy, Default)]
struct Own {
    keys: [u32; 2],
    target: f64,
}

impl<const CROSS: bool> Group<CROSS> {
    const NONE: Group<CROSS> = Group {
        sum: [0.0; LANES],
        squares: [0.0; LANES],
        cross: [0.0; LANES],
        low: [f32::INFINITY; LANES],
        high: [f32::NEG_INFINITY; LANES],
        nonzeros: [0; LANES],
        hash: [[0; LANES]; 2],
    };
}

impl Along {
    const NONE: Along = Along { squares: [0.0; LANES], nonzeros: [0; LANES], hash: [[0; LANES]; 2] };

    fn add_to(&self, row: &mut Row) {
        row.squared_norm += self.squares.iter().sum::<f64>();
        row.nonzeros += self.nonzeros.iter().sum::<u32>();
        let [first, second] = self.hash.map(|hash| hash.into_iter().fold(0, u32::wrapping_add));
        row.hash = add_hashes(row.hash, joined(first, second));
    }
}

impl<const CROSS: bool> Sums for Columns<CROSS> {
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
                let [a, b] = keys(column, COLUMN_KEYS);
                (fixed.keys[0][lane], fixed.keys[1][lane]) = (a, b);
            }
            fixed
        };
        let sums = || vec![Group::NONE; groups];
        Columns { width, origin: 0.0, fixed: (0..groups).map(fixed).collect(), sums: [sums(), sums()] }
    }

    fn add(&mut self, input: &Input, first: usize, rows: &mut [Row]) {
        let Matrix::Dense(dense) = input.matrix else { unreachable!("dense rows") };
        let target = |row: usize| f64::from(input.targets.get(row).copied().unwrap_or(0.0));
        let origin = target(0);
        self.origin = origin;
        for (block, rows) in rows.chunks_mut(BLOCK).enumerate() {
            let begin = first + block * BLOCK;
            let own = |at: usize| Own {
                keys: keys(input.first_row + begin + at, ROW_KEYS),
                target: if CROSS { target(begin + at) - origin } else { 0.0 },
            };
            let mut owns = [Own::default(); BLOCK];
            owns.iter_mut().take(rows.len()).enumerate().for_each(|(at, of)| *of = own(at));
            for class in 0..2 {
                let mut places = [0; BLOCK];
                let mut count = 0;
                for at in (0..rows.len()).filter(|at| input.class_of(begin + at) == class) {
                    places[count] = at;
                    count += 1;
                }
                let values = &dense.values()[begin * self.width..(begin + rows.len()) * self.width];
                self.add_block(class, values, &places[..count], &owns, rows);
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                for lane in 0..LANES {
                    mine.sum[lane] += theirs.sum[lane];
                    mine.squares[lane] += theirs.squares[lane];
                    mine.cross[lane] += theirs.cross[lane];
                    mine.low[lane] = mine.low[lane].min(theirs.low[lane]);
                    mine.high[lane] = mine.high[lane].max(theirs.high[lane]);
                    mine.nonzeros[lane] += theirs.nonzeros[lane];
                    for half in 0..2 {
                        mine.hash[half][lane] = mine.hash[half][lane].wrapping_add(theirs.hash[half][lane]);
                    }
                }
            }
        }
    }

    fn feature(&self, column: usize, class: usize, rows: u64, target: f64) -> Feature {
        let (group, lane) = (column / LANES, column % LANES);
        let (of, rows) = (&self.sums[class][group], rows as f64);
        let shift = of.sum[lane] / rows;
        let constant = of.low[lane] == of.high[lane];
        Feature {
            nonzeros: u64::from(of.nonzeros[lane]),
            mean: f64::from(self.fixed[group].pivot[lane]) + shift,
            deviation: if constant { 0.0 } else { (of.squares[lane] - of.sum[lane] * shift).max(0.0) },
            with_target: of.cross[lane] - of.sum[lane] * (target - self.origin),
            low: of.low[lane],
            high: of.high[lane],
            hash: joined(of.hash[0][lane], of.hash[1][lane]),
        }
    }
}

impl<const CROSS: bool> Columns<CROSS> {
    /// Adds the rows at these places of a block, all of one class.
    fn add_block(
        &mut self,
        class: usize,
        values: &[f32],
        places: &[usize],
        owns: &[Own; BLOCK],
        rows: &mut [Row],
    ) {
        let width = self.width;
        let strips = self.sums[class].chunks_mut(STRIP).zip(self.fixed.chunks(STRIP)).enumerate();
        for (strip, (sums, fixed)) in strips {
            let begin = strip * STRIP * LANES;
            let end = (begin + STRIP * LANES).min(width);
            let row = |at: usize| &values[at * width + begin..at * width + end];
            let (pairs, single) = places.as_chunks::<2>();
            for pair in pairs {
                let along = add_rows([row(pair[0]), row(pair[1])], pair.map(|at| owns[at]), fixed, sums);
                along.iter().zip(pair).for_each(|(along, at)| along.add_to(&mut rows[*at]));
            }
            for at in single {
                add_rows([row(*at)], [owns[*at]], fixed, sums)[0].add_to(&mut rows[*at]);
            }
        }
    }
}

/// Adds some rows to the sums of their columns, as fast as this machine can.
fn add_rows<const ROWS: usize, const CROSS: bool>(
    rows: [&[f32]; ROWS],
    owns: [Own; ROWS],
    fixed: &[Fixed],
    sums: &mut [Group<CROSS>],
) -> [Along; ROWS] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        #[target_feature(enable = "avx2,fma")]
        fn with_avx2<const ROWS: usize, const CROSS: bool>(
            rows: [&[f32]; ROWS],
            owns: [Own; ROWS],
            fixed: &[Fixed],
            sums: &mut [Group<CROSS>],
        ) -> [Along; ROWS] {
            add_rows_with::<ROWS, CROSS, true>(rows, owns, fixed, sums)
        }
        // SAFETY: this machine has what the function is compiled for.
        return unsafe { with_avx2(rows, owns, fixed, sums) };
    }
    add_rows_with::<ROWS, CROSS, false>(rows, owns, fixed, sums)
}

#[inline(always)]
fn add_rows_with<const ROWS: usize, const CROSS: bool, const FMA: bool>(
    rows: [&[f32]; ROWS],
    owns: [Own; ROWS],
    fixed: &[Fixed],
    sums: &mut [Group<CROSS>],
) -> [Along; ROWS] {
    let mut along = [Along::NONE; ROWS];
    let (whole, rest) =
        (rows.map(|row| row.as_chunks::<LANES>().0), rows.map(|row| row.as_chunks::<LANES>().1));
    let groups = whole[0].len();
    let (fixed, last_fixed) = fixed.split_at(groups);
    let (sums, last_sums) = sums.split_at_mut(groups);
    let whole = whole.map(|row| &row[..groups]);
    for (group, (fixed, sums)) in fixed.iter().zip(sums).enumerate() {
        let values = whole.map(|row| row[group]);
        add_group::<ROWS, CROSS, FMA>(values, &owns, fixed, sums, &mut along);
    }
    if let ([fixed], [sums]) = (last_fixed, last_sums) {
        let padded = rest.map(|row| {
            let mut padded = [0.0; LANES];
            padded[..row.len()].copy_from_slice(row);
            padded
        });
        add_group::<ROWS, CROSS, FMA>(padded, &owns, fixed, sums, &mut along);
    }
    along
}

#[inline(always)]
fn add_group<const ROWS: usize, const CROSS: bool, const FMA: bool>(
    values: [[f32; LANES]; ROWS],
    owns: &[Own; ROWS],
    fixed: &Fixed,
    sums: &mut Group<CROSS>,
    along: &mut [Along; ROWS],
) {
    for row in 0..ROWS {
        let (values, own, along) = (&values[row], &owns[row], &mut along[row]);
        for lane in 0..LANES {
            let value = values[lane];
            let wide = f64::from(value);
            let apart = wide - f64::from(fixed.pivot[lane]);
            sums.sum[lane] += apart;
            sums.squares[lane] = multiply_add::<FMA>(apart, apart, sums.squares[lane]);
            if CROSS {
                sums.cross[lane] = multiply_add::<FMA>(apart, own.target, sums.cross[lane]);
            }
            along.squares[lane] = multiply_add::<FMA>(wide, wide, along.squares[lane]);
        }
        for lane in 0..LANES {
            let value = values[lane];
            sums.low[lane] = if value < sums.low[lane] { value } else { sums.low[lane] };
            sums.high[lane] = if value > sums.high[lane] { value } else { sums.high[lane] };
            let counts = u32::from(value != 0.0);
            sums.nonzeros[lane] += counts;
            along.nonzeros[lane] += counts;
        }
        for lane in 0..LANES {
            let bits = mixed(values[lane]);
            for half in 0..2 {
                let column = bits.wrapping_mul(own.keys[half]);
                sums.hash[half][lane] = sums.hash[half][lane].wrapping_add(column);
                let row = bits.wrapping_mul(fixed.keys[half][lane]);
                along.hash[half][lane] = along.hash[half][lane].wrapping_add(row);
            }
        }
    }
}

#[inline(always)]
fn multiply_add<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}
