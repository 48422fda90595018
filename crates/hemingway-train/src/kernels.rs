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
    /// ‖x_row‖².
    fn squared_norm(self, row: usize) -> f64;
    /// Asks for a row that will be needed soon.
    fn prefetch(self, row: usize);
    /// Stored values of one row.
    fn length(self, row: usize) -> usize;
    /// Stored values in this range of rows.
    fn stored(self, rows: std::ops::Range<usize>) -> usize;
    /// Bytes per stored value.
    const BYTES: f64;
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
    const BYTES: f64 = 8.0;

    #[inline(always)]
    fn dot<const FMA: bool>(self, row: usize, weights: &[f64]) -> f64 {
        let (indices, values) = self.row(row);
        assert!(weights.len() >= self.0.columns());
        // SAFETY: every index of a `Sparse` lies below its number of columns, and weights are as many.
        let weight = |index: u32| unsafe { *weights.get_unchecked(index as usize) };
        let mut sums = [0.0; 8];
        let (indices8, indices) = indices.as_chunks::<8>();
        let (values8, values) = values.as_chunks::<8>();
        for (index, value) in indices8.iter().zip(values8) {
            for lane in 0..8 {
                sums[lane] = multiply_add::<FMA>(f64::from(value[lane]), weight(index[lane]), sums[lane]);
            }
        }
        let mut rest = 0.0;
        for (index, value) in indices.iter().zip(values) {
            rest = multiply_add::<FMA>(f64::from(*value), weight(*index), rest);
        }
        add_up(sums) + rest
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
    fn squared_norm(self, row: usize) -> f64 {
        self.row(row).1.iter().fold(0.0, |sum, value| sum + f64::from(*value) * f64::from(*value))
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

/// Longer rows are left to the hardware once their beginning is there.
const LOOK_AHEAD_VALUES: usize = 256;

impl<'a> SparseRows<'a> {
    #[inline(always)]
    fn row(self, row: usize) -> (&'a [u32], &'a [f32]) {
        let offsets = self.0.offsets();
        let range = offsets[row]..offsets[row + 1];
        (&self.0.indices()[range.clone()], &self.0.values()[range])
    }
}

impl Rows for DenseRows<'_> {
    const BYTES: f64 = 4.0;

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
    fn squared_norm(self, row: usize) -> f64 {
        let mut sums = [0.0; 16];
        let (chunks, rest) = self.row(row).as_chunks::<16>();
        for value in chunks {
            for lane in 0..16 {
                sums[lane] += f64::from(value[lane]) * f64::from(value[lane]);
            }
        }
        add_up(sums) + rest.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>()
    }

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
fn prefetch<T>(place: &T) {
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
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2");
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
