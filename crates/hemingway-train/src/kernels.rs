//! The inner loops: dot products and updates of one row against a vector of weights.
//!
//! Rows hold `f32`, weights are `f64`: half the memory traffic of doubles, while sums stay exact enough for
//! certificates of 1e-6 and below. Loops run several independent sums, because a single one waits for its own
//! last addition. [`fastest`] compiles a whole task for the best instruction set of the machine, so that the
//! loops are inlined into it.

use hemingway_data::{Dense, Matrix, Sparse};

/// Rows that kernels run over.
pub trait Rows: Copy + Send + Sync {
    /// x_row · weights.
    fn dot<const FMA: bool>(self, row: usize, weights: &[f64]) -> f64;
    /// weights += scale · x_row.
    fn add<const FMA: bool>(self, row: usize, scale: f64, weights: &mut [f64]);
    /// The place and value of each stored value.
    fn entries(self, row: usize) -> impl Iterator<Item = (usize, f32)>;
    /// ‖x_row‖².
    fn squared_norm(self, row: usize) -> f64;
    /// Asks for what says where a row is, well before [`prefetch`](Rows::prefetch).
    fn prefetch_place(self, row: usize);
    /// Asks for a row that will be needed soon.
    fn prefetch(self, row: usize);
    /// Stored values of one row.
    fn length(self, row: usize) -> usize;
    /// Stored values in this range of rows.
    fn stored(self, rows: std::ops::Range<usize>) -> usize;
}

/// Compressed rows.
#[derive(Clone, Copy)]
pub struct SparseRows<'a>(pub &'a Sparse);

/// Row-major rows.
#[derive(Clone, Copy)]
pub struct DenseRows<'a>(pub &'a Dense);

/// Runs an expression with the rows of a matrix as [`Rows`].
macro_rules! with_rows {
    ($matrix:expr, $rows:ident => $body:expr) => {
        match $matrix {
            hemingway_data::Matrix::Sparse(sparse) => {
                let $rows = $crate::kernels::SparseRows(sparse);
                $body
            }
            hemingway_data::Matrix::Dense(dense) => {
                let $rows = $crate::kernels::DenseRows(dense);
                $body
            }
        }
    };
}
pub(crate) use with_rows;

#[inline(always)]
fn multiply_add<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

impl Rows for SparseRows<'_> {
    #[inline(always)]
    fn dot<const FMA: bool>(self, row: usize, weights: &[f64]) -> f64 {
        let range = self.range(row);
        let (indices, values) = (self.0.indices(), self.0.values());
        assert!(weights.len() >= self.0.columns());
        // SAFETY: every index of a `Sparse` lies below its number of columns, and weights are as many.
        let weight = |index: u32| unsafe { *weights.get_unchecked(index as usize) };
        let mut sums = [0.0; 4];
        let (indices4, rest) = indices[range.clone()].as_chunks::<4>();
        let (values4, _) = values[range.clone()].as_chunks::<4>();
        for (index, value) in indices4.iter().zip(values4) {
            for lane in 0..4 {
                sums[lane] = multiply_add::<FMA>(f64::from(value[lane]), weight(index[lane]), sums[lane]);
            }
        }
        // The rest is filled up with what follows it, times zero: a loop of unpredictable length costs more.
        let begin = range.end - rest.len();
        let fill = &KEEP[rest.len()];
        if let (Some(index), Some(value)) = (indices.get(begin..begin + 4), values.get(begin..begin + 4)) {
            for lane in 0..4 {
                let value = f32::from_bits(value[lane].to_bits() & fill[lane]);
                sums[lane] = multiply_add::<FMA>(f64::from(value), weight(index[lane]), sums[lane]);
            }
        } else {
            for (sum, at) in sums.iter_mut().zip(begin..range.end) {
                *sum = multiply_add::<FMA>(f64::from(values[at]), weight(indices[at]), *sum);
            }
        }
        add_up(sums)
    }

    #[inline(always)]
    fn add<const FMA: bool>(self, row: usize, scale: f64, weights: &mut [f64]) {
        let (indices, values) = self.row(row);
        assert!(weights.len() >= self.0.columns());
        for (index, value) in indices.iter().zip(values) {
            // SAFETY: every index of a `Sparse` lies below its number of columns, and weights are as many.
            let weight = unsafe { weights.get_unchecked_mut(*index as usize) };
            *weight = multiply_add::<FMA>(f64::from(*value), scale, *weight);
        }
    }

    #[inline(always)]
    fn entries(self, row: usize) -> impl Iterator<Item = (usize, f32)> {
        let (indices, values) = self.row(row);
        indices.iter().zip(values).map(|(index, value)| (*index as usize, *value))
    }

    #[inline(always)]
    fn squared_norm(self, row: usize) -> f64 {
        sum_of_squares(self.row(row).1)
    }

    #[inline(always)]
    fn prefetch_place(self, row: usize) {
        prefetch(&self.0.offsets()[row]);
    }

    #[inline(always)]
    fn prefetch(self, row: usize) {
        let begin = self.0.offsets()[row];
        let length = self.0.offsets()[row + 1] - begin;
        let (indices, values) = (self.0.indices(), self.0.values());
        for at in (begin..begin + length.min(LOOK_AHEAD_VALUES)).step_by(16) {
            prefetch(&indices[at]);
            prefetch(&values[at]);
        }
    }

    #[inline(always)]
    fn length(self, row: usize) -> usize {
        self.0.offsets()[row + 1] - self.0.offsets()[row]
    }

    fn stored(self, rows: std::ops::Range<usize>) -> usize {
        self.0.offsets()[rows.end] - self.0.offsets()[rows.start]
    }
}

/// Bits to keep of four values when only the first so many count.
const KEEP: [[u32; 4]; 4] = [[0; 4], [!0, 0, 0, 0], [!0, !0, 0, 0], [!0, !0, !0, 0]];

/// Longer rows are left to the hardware once their beginning is there.
const LOOK_AHEAD_VALUES: usize = 256;

impl<'a> SparseRows<'a> {
    #[inline(always)]
    fn range(self, row: usize) -> std::ops::Range<usize> {
        let offsets = self.0.offsets();
        offsets[row]..offsets[row + 1]
    }

    #[inline(always)]
    fn row(self, row: usize) -> (&'a [u32], &'a [f32]) {
        let range = self.range(row);
        (&self.0.indices()[range.clone()], &self.0.values()[range])
    }
}

impl Rows for DenseRows<'_> {
    #[inline(always)]
    fn dot<const FMA: bool>(self, row: usize, weights: &[f64]) -> f64 {
        let values = self.row(row);
        let weights = &weights[..values.len()];
        let mut sums = [0.0; 32];
        let (values32, values) = values.as_chunks::<32>();
        let (weights32, weights) = weights.as_chunks::<32>();
        for (value, weight) in values32.iter().zip(weights32) {
            for lane in 0..32 {
                sums[lane] = multiply_add::<FMA>(f64::from(value[lane]), weight[lane], sums[lane]);
            }
        }
        let mut rest = [0.0; 4];
        let (values4, values) = values.as_chunks::<4>();
        let (weights4, weights) = weights.as_chunks::<4>();
        for (value, weight) in values4.iter().zip(weights4) {
            for lane in 0..4 {
                rest[lane] = multiply_add::<FMA>(f64::from(value[lane]), weight[lane], rest[lane]);
            }
        }
        for (value, weight) in values.iter().zip(weights) {
            rest[0] = multiply_add::<FMA>(f64::from(*value), *weight, rest[0]);
        }
        add_up(sums) + add_up(rest)
    }

    #[inline(always)]
    fn add<const FMA: bool>(self, row: usize, scale: f64, weights: &mut [f64]) {
        let values = self.row(row);
        for (weight, value) in weights[..values.len()].iter_mut().zip(values) {
            *weight = multiply_add::<FMA>(f64::from(*value), scale, *weight);
        }
    }

    #[inline(always)]
    fn entries(self, row: usize) -> impl Iterator<Item = (usize, f32)> {
        self.row(row).iter().copied().enumerate()
    }

    #[inline(always)]
    fn squared_norm(self, row: usize) -> f64 {
        sum_of_squares(self.row(row))
    }

    #[inline(always)]
    fn prefetch_place(self, _: usize) {}

    #[inline(always)]
    fn prefetch(self, row: usize) {
        let values = self.row(row);
        for at in (0..values.len().min(4 * LOOK_AHEAD_VALUES)).step_by(16) {
            prefetch(&values[at]);
        }
    }

    #[inline(always)]
    fn length(self, _: usize) -> usize {
        self.0.columns()
    }

    fn stored(self, rows: std::ops::Range<usize>) -> usize {
        rows.len() * self.0.columns()
    }
}

impl<'a> DenseRows<'a> {
    #[inline(always)]
    fn row(self, row: usize) -> &'a [f32] {
        let columns = self.0.columns();
        &self.0.values()[row * columns..(row + 1) * columns]
    }
}

#[inline(always)]
fn sum_of_squares(values: &[f32]) -> f64 {
    let mut sums = [0.0; 16];
    let (chunks, rest) = values.as_chunks::<16>();
    for value in chunks {
        for lane in 0..16 {
            sums[lane] += f64::from(value[lane]) * f64::from(value[lane]);
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum += f64::from(*value) * f64::from(*value);
    }
    add_up(sums)
}

/// Adds independent sums pairwise.
#[inline(always)]
fn add_up<const N: usize>(mut sums: [f64; N]) -> f64 {
    let mut width = N;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
    }
    sums[0]
}

#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch changes nothing the program can see, and the address is that of a live reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Work that gains from being compiled for the machine's best instructions.
pub trait Task {
    /// What it returns.
    type Output;
    /// Does it; implementations are `#[inline(always)]`. `FMA` says whether fused multiply-add is an instruction.
    fn run<const FMA: bool>(self) -> Self::Output;
}

/// Runs a task with the best instructions this machine has.
pub fn fastest<T: Task>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2")]
        fn with_avx512<T: Task>(task: T) -> T::Output {
            task.run::<true>()
        }
        #[target_feature(enable = "avx2,fma,bmi2")]
        fn with_avx2<T: Task>(task: T) -> T::Output {
            task.run::<true>()
        }
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2");
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw");
        if avx2 && avx512 {
            // SAFETY: the features were just found.
            return unsafe { with_avx512(task) };
        }
        if avx2 {
            // SAFETY: the features were just found.
            return unsafe { with_avx2(task) };
        }
    }
    #[cfg(target_arch = "aarch64")]
    return task.run::<true>();
    #[cfg(not(target_arch = "aarch64"))]
    task.run::<false>()
}

/// Number of values a matrix stores: the non-zeros of sparse data, all of dense data.
pub fn stored(matrix: &Matrix) -> usize {
    with_rows!(matrix, rows => rows.stored(0..matrix.rows()))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Random rows of this many columns, some of them empty, as sparse and as dense matrix.
    fn matrices(columns: usize, density: f64) -> (Sparse, Dense) {
        const ROWS: usize = 7;
        let mut rng = crate::Rng::seed_from_u64(columns as u64);
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut dense = vec![0.0; ROWS * columns];
        for row in 0..ROWS {
            for column in 0..columns {
                if row % 3 != 1 && rng.random::<f64>() < density {
                    let value = rng.random_range(-2.0..2.0f32);
                    indices.push(column as u32);
                    values.push(value);
                    dense[row * columns + column] = value;
                }
            }
            offsets.push(indices.len());
        }
        (Sparse::new(columns, offsets, indices, values), Dense::new(ROWS, columns, dense))
    }

    /// Product, sum and squared norm of every row.
    struct All<'a, R> {
        rows: R,
        count: usize,
        weights: &'a [f64],
    }

    #[derive(Debug, Clone, PartialEq)]
    struct Results {
        products: Vec<f64>,
        norms: Vec<f64>,
        added: Vec<f64>,
    }

    impl<R: Rows> Task for All<'_, R> {
        type Output = Results;

        #[inline(always)]
        fn run<const FMA: bool>(self) -> Results {
            let mut added = self.weights.to_vec();
            for row in 0..self.count {
                self.rows.prefetch(row);
                self.rows.add::<FMA>(row, 0.1 + row as f64, &mut added);
            }
            let products = (0..self.count).map(|row| self.rows.dot::<FMA>(row, self.weights)).collect();
            let norms = (0..self.count).map(|row| self.rows.squared_norm(row)).collect();
            Results { products, norms, added }
        }
    }

    /// The same with checked indexing and one sum.
    fn checked(dense: &Dense, weights: &[f64]) -> Results {
        let columns = dense.columns();
        let value = |row: usize, column: usize| f64::from(dense.values()[row * columns + column]);
        let sum = |row: usize, factor: &dyn Fn(usize) -> f64| {
            (0..columns).map(|column| value(row, column) * factor(column)).sum::<f64>()
        };
        let mut added = weights.to_vec();
        for row in 0..dense.rows() {
            (0..columns).for_each(|column| added[column] += (0.1 + row as f64) * value(row, column));
        }
        Results {
            products: (0..dense.rows()).map(|row| sum(row, &|column| weights[column])).collect(),
            norms: (0..dense.rows()).map(|row| sum(row, &|column| value(row, column))).collect(),
            added,
        }
    }

    fn check<R: Rows>(rows: R, count: usize, weights: &[f64], expected: &Results, about: &str) {
        let all = || All { rows, count, weights };
        let kernels =
            [("fused", all().run::<true>()), ("plain", all().run::<false>()), ("fastest", fastest(all()))];
        for (kernel, found) in kernels {
            let pairs = [
                (&found.products, &expected.products),
                (&found.norms, &expected.norms),
                (&found.added, &expected.added),
            ];
            for (found, expected) in pairs {
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    let off = (found - expected).abs();
                    assert!(
                        off <= 1e-12 * (1.0 + expected.abs()),
                        "{about}, {kernel}: {found}, not {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn kernels_agree_with_checked_indexing() {
        for columns in 1..=70 {
            for density in [0.15, 0.6, 1.0] {
                let (sparse, dense) = matrices(columns, density);
                let mut rng = crate::Rng::seed_from_u64(99);
                // With a bias, weights have one number more than rows have columns.
                let weights: Vec<f64> = (0..=columns).map(|_| rng.random_range(-1.0..1.0)).collect();
                for weights in [&weights[..columns], &weights] {
                    let expected = checked(&dense, weights);
                    let about = format!("{columns} columns, density {density}, {} weights", weights.len());
                    check(SparseRows(&sparse), 7, weights, &expected, &format!("sparse, {about}"));
                    check(DenseRows(&dense), 7, weights, &expected, &format!("dense, {about}"));
                }
            }
        }
    }

    #[test]
    fn lengths_count_stored_values() {
        let (sparse, dense) = matrices(20, 0.5);
        let lengths: Vec<usize> = (0..7).map(|row| SparseRows(&sparse).length(row)).collect();
        assert_eq!((lengths[1], lengths.iter().sum()), (0, sparse.values().len()));
        assert_eq!(SparseRows(&sparse).stored(2..5), lengths[2..5].iter().sum::<usize>());
        assert_eq!((DenseRows(&dense).length(1), DenseRows(&dense).stored(2..5)), (20, 60));
        assert_eq!(stored(&Matrix::Sparse(sparse)), lengths.iter().sum::<usize>());
        assert_eq!(stored(&Matrix::Dense(dense)), 140);
    }

    #[test]
    #[should_panic(expected = "weights.len()")]
    fn too_few_weights_for_a_sparse_dot_are_caught() {
        let (sparse, _) = matrices(20, 1.0);
        SparseRows(&sparse).dot::<false>(0, &[0.0; 19]);
    }

    #[test]
    #[should_panic(expected = "weights.len()")]
    fn too_few_weights_for_a_sparse_add_are_caught() {
        let (sparse, _) = matrices(20, 1.0);
        SparseRows(&sparse).add::<false>(0, 1.0, &mut [0.0; 19]);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn too_few_weights_for_a_dense_dot_are_caught() {
        let (_, dense) = matrices(20, 1.0);
        DenseRows(&dense).dot::<false>(0, &[0.0; 19]);
    }
}
