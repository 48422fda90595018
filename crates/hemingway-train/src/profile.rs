//! What the data is like, from some of its rows: how long they are, how unevenly filled, and how their spectrum falls.
//!
//! The spectrum is that of XᵀX/n, each row times the root of its weight where rows have weights. A few Lanczos steps from a random vector give its largest eigenvalue and how the rest
//! of the trace is spread, which is all that the effective dimension Σ e/(e + λ) needs.

use hemingway_data::{Dataset, Matrix};
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::local::dot;
use crate::meter::Meter;
use crate::{Loss, Phase, Rng};

/// So many rows are sampled, a random one in each of as many equal parts of the data.
const PROFILED_ROWS: usize = 128;
/// Lanczos steps: what is then not known of the largest eigenvalue is less than what the sample leaves open.
const STEPS: usize = 3;
/// An eigenvalue has been found once its residual is this share of it.
const FOUND: f64 = 0.05;
/// Numbers that are summed before the spectrum is computed.
const FIRST_SUMS: usize = 5;
/// From this density on data is stored as dense rows.
const DENSE_FROM: f64 = 0.4;

/// The characters of a dataset that decide how training on it goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataProfile {
    /// Rows, n.
    pub rows: usize,
    /// Features that occur, d.
    pub features: usize,
    /// Values that are not zero.
    pub nonzeros: usize,
    /// The mean of ‖x‖² over the rows, each times its weight, which is the trace of XᵀX/n.
    pub mean_squared_norm: f64,
    /// The mean over the rows of the squared number of values that are not zero, over the square of the mean number.
    pub unevenness: f64,
    /// Eigenvalues of XᵀX/n, the largest first, each with how many there are about as large.
    pub spectrum: Vec<(f64, f64)>,
}

impl DataProfile {
    /// Samples rows of data that is in memory as a whole.
    pub fn of(data: &Dataset) -> DataProfile {
        DataProfile::of_part(data, 0, data.matrix.rows(), &mut |_| ())
    }

    /// Samples this worker's share of the rows that one worker with all rows would sample; `sum` adds up over workers.
    pub fn of_part(
        data: &Dataset,
        first_row: usize,
        total_rows: usize,
        sum: &mut dyn FnMut(&mut [f64]),
    ) -> DataProfile {
        let rows = Sample::of(data, first_row, total_rows);
        let mut sums: [f64; FIRST_SUMS] = [data.matrix.nonzeros() as f64, 0.0, 0.0, 0.0, 0.0];
        for row in &rows.rows {
            let values = rows.nonzeros(row);
            let norm = rows.squared_norm(row);
            sums.iter_mut()
                .skip(1)
                .zip([1.0, norm, values, values * values])
                .for_each(|(sum, of)| *sum += of);
        }
        sum(&mut sums);
        let [nonzeros, count, norms, values, squared_values] = sums;
        let sampled = count.max(1.0);
        let features = data.matrix.columns();
        DataProfile {
            rows: total_rows,
            features,
            nonzeros: nonzeros as usize,
            mean_squared_norm: norms / sampled,
            unevenness: if values > 0.0 { sampled * squared_values / (values * values) } else { 1.0 },
            spectrum: spectrum(&rows, features, sampled, norms / sampled, STEPS, sum),
        }
    }

    /// The largest eigenvalue of XᵀX/n.
    pub fn largest_eigenvalue(&self) -> f64 {
        self.spectrum.first().map_or(0.0, |(value, _)| *value)
    }

    /// Σ e/(e + λ) over the eigenvalues of XᵀX/n.
    pub fn effective_dimension(&self, lambda: f64) -> f64 {
        let sum: f64 = self.spectrum.iter().map(|(value, count)| count * value / (value + lambda)).sum();
        sum.min(self.features as f64)
    }

    /// The share of values that are not zero.
    pub fn density(&self) -> f64 {
        self.nonzeros as f64 / (self.rows.max(1) as f64 * self.features.max(1) as f64)
    }

    /// Whether rows are stored with their zeros.
    pub fn is_dense(&self) -> bool {
        self.density() >= DENSE_FROM
    }

    /// Values that kernels read in one pass over all rows.
    pub fn stored(&self) -> f64 {
        if self.is_dense() { self.rows as f64 * self.features as f64 } else { self.nonzeros as f64 }
    }

    /// Pairs of stored values of one row, over all rows.
    pub fn pairs(&self) -> f64 {
        let unevenness = if self.is_dense() { 1.0 } else { self.unevenness };
        self.stored().powi(2) / self.rows.max(1) as f64 * unevenness / 2.0
    }

    /// What making this profile costs: rows that are spread over so many workers, and sums over them.
    pub fn phases(&self, loss: Loss, workers: usize) -> [Phase; 2] {
        let meter = Meter::new(!self.is_dense(), self.features, loss);
        let rows = (self.rows.min(PROFILED_ROWS) as f64 / workers.max(1) as f64).ceil();
        let pass = meter.values(self.stored() / self.rows.max(1) as f64 * rows) + meter.rows(rows);
        // Each step takes the direction of every earlier one out of a dense vector: a product and a difference.
        let orthogonal = Meter::new(false, self.features, loss).values(((STEPS + 1) * self.features) as f64);
        let step = Phase { times: STEPS as f64, ..Phase::once(2.0 * pass + orthogonal, self.features) };
        [Phase::once(pass, FIRST_SUMS), step]
    }
}

/// The rows of one worker that are sampled.
struct Sample<'a> {
    data: &'a Dataset,
    rows: Vec<usize>,
}

impl Sample<'_> {
    fn of(data: &Dataset, first_row: usize, total_rows: usize) -> Sample<'_> {
        let step = total_rows.div_ceil(PROFILED_ROWS).max(1);
        let mut rng = Rng::seed_from_u64(0);
        let chosen = (0..total_rows).step_by(step).map(|block| block + rng.random_range(0..step));
        let here =
            chosen.filter_map(|row| row.checked_sub(first_row)).filter(|row| *row < data.matrix.rows());
        Sample { data, rows: here.collect() }
    }

    fn nonzeros(&self, row: &usize) -> f64 {
        let mut count = 0;
        self.each(*row, |_, value| count += u32::from(value != 0.0));
        f64::from(count)
    }

    fn squared_norm(&self, row: &usize) -> f64 {
        let mut sum = 0.0;
        self.each(*row, |_, value| sum += value * value);
        f64::from(self.data.weight(*row)) * sum
    }

    /// Σ c x (x·v), over these rows.
    fn multiply(&self, vector: &[f64]) -> Vec<f64> {
        let mut result = vec![0.0; vector.len()];
        for row in &self.rows {
            let mut product = 0.0;
            self.each(*row, |column, value| product += value * vector[column]);
            product *= f64::from(self.data.weight(*row));
            self.each(*row, |column, value| result[column] += product * value);
        }
        result
    }

    #[inline]
    fn each(&self, row: usize, mut see: impl FnMut(usize, f64)) {
        match &self.data.matrix {
            Matrix::Sparse(sparse) => {
                let stored = sparse.offsets()[row]..sparse.offsets()[row + 1];
                let values = sparse.indices()[stored.clone()].iter().zip(&sparse.values()[stored]);
                values.for_each(|(column, value)| see(*column as usize, f64::from(*value)));
            }
            Matrix::Dense(dense) => {
                let columns = dense.columns();
                let values = &dense.values()[row * columns..(row + 1) * columns];
                values.iter().enumerate().for_each(|(column, value)| see(column, f64::from(*value)));
            }
        }
    }
}

/// The spectrum of all rows of a dataset, with so many Lanczos steps.
pub(crate) fn spectrum_of(data: &Dataset, steps: usize) -> Vec<(f64, f64)> {
    let matrix = &data.matrix;
    let rows = Sample { data, rows: (0..matrix.rows()).collect() };
    let count = matrix.rows().max(1) as f64;
    let trace = rows.rows.iter().map(|row| rows.squared_norm(row)).sum::<f64>() / count;
    spectrum(&rows, matrix.columns(), count, trace, steps, &mut |_| ())
}

/// Eigenvalues of XᵀX/n with how many there are of each: those that the steps have found stand for themselves, the others
/// for the rest of all directions, in proportion to what the random vector has of them.
fn spectrum(
    rows: &Sample,
    features: usize,
    sampled: f64,
    trace: f64,
    steps: usize,
    sum: &mut dyn FnMut(&mut [f64]),
) -> Vec<(f64, f64)> {
    let (diagonal, beside, rest) = lanczos(rows, features, sampled, steps, sum);
    let mut ritz = eigenvalues(&diagonal, &beside);
    ritz.retain(|ritz| ritz.value > f64::EPSILON * trace);
    ritz.sort_by(|a, b| b.value.total_cmp(&a.value));
    let (mut found, mut spread): (Vec<Ritz>, Vec<Ritz>) =
        ritz.into_iter().partition(|ritz| rest * ritz.last.abs() <= FOUND * ritz.value);
    let explained: f64 = found.iter().map(|ritz| ritz.value).sum();
    if spread.is_empty() && trace - explained > FOUND * trace {
        // The steps have found each eigenvalue once, and some occur more often.
        spread = std::mem::take(&mut found);
    }
    let mut spectrum: Vec<(f64, f64)> = found.iter().map(|ritz| (ritz.value, 1.0)).collect();
    let weights: f64 = spread.iter().map(|ritz| ritz.first * ritz.first).sum();
    // What is left of the trace says how many directions are left.
    let left = (trace - found.iter().map(|ritz| ritz.value).sum::<f64>()).max(0.0);
    let mean: f64 = spread.iter().map(|ritz| ritz.first * ritz.first / weights * ritz.value).sum();
    let count = if mean > 0.0 { left / mean } else { 0.0 };
    spectrum.extend(spread.iter().map(|ritz| (ritz.value, count * ritz.first * ritz.first / weights)));
    spectrum.sort_by(|a, b| b.0.total_cmp(&a.0));
    spectrum
}

/// The diagonal and what is beside it of the tridiagonal matrix that Lanczos steps lead to, and what comes next beside it.
fn lanczos(
    rows: &Sample,
    features: usize,
    sampled: f64,
    steps: usize,
    sum: &mut dyn FnMut(&mut [f64]),
) -> (Vec<f64>, Vec<f64>, f64) {
    let mut rng = Rng::seed_from_u64(1);
    let mut next: Vec<f64> = (0..features).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect();
    let (mut basis, mut diagonal, mut beside) = (Vec::<Vec<f64>>::new(), Vec::new(), Vec::new());
    let mut length = dot(&next, &next).sqrt();
    while basis.len() < steps.min(features) && length > 0.0 {
        next.iter_mut().for_each(|value| *value /= length);
        let mut product = rows.multiply(&next);
        sum(&mut product);
        product.iter_mut().for_each(|value| *value /= sampled);
        basis.push(next);
        let at = basis.len() - 1;
        diagonal.push(dot(&basis[at], &product));
        let size = dot(&product, &product).sqrt();
        for vector in &basis {
            let along = dot(vector, &product);
            product.iter_mut().zip(vector).for_each(|(value, part)| *value -= along * part);
        }
        length = dot(&product, &product).sqrt();
        // What rounding leaves is no direction.
        if length <= 1e-10 * size {
            length = 0.0;
        }
        next = product;
        beside.push(length);
    }
    let rest = beside.pop().unwrap_or(0.0);
    (diagonal, beside, rest)
}

/// An eigenvalue of a small symmetric matrix, with the first and the last entry of its eigenvector.
struct Ritz {
    value: f64,
    first: f64,
    last: f64,
}

/// Jacobi rotations until nothing is left beside the diagonal.
fn eigenvalues(diagonal: &[f64], beside: &[f64]) -> Vec<Ritz> {
    let n = diagonal.len();
    let mut a = vec![vec![0.0; n]; n];
    let mut vectors = vec![vec![0.0; n]; n];
    for k in 0..n {
        (a[k][k], vectors[k][k]) = (diagonal[k], 1.0);
        if k + 1 < n {
            (a[k][k + 1], a[k + 1][k]) = (beside[k], beside[k]);
        }
    }
    for _ in 0..SWEEPS {
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let t = if theta == 0.0 { 1.0 } else { t };
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            let turn = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
            for row in a.iter_mut().chain(&mut vectors) {
                (row[p], row[q]) = turn(row[p], row[q]);
            }
            let (above, below) = a.split_at_mut(q);
            for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                (*x, *y) = turn(*x, *y);
            }
        }
    }
    (0..n).map(|k| Ritz { value: a[k][k], first: vectors[0][k], last: vectors[n - 1][k] }).collect()
}

/// More than a matrix of this size needs.
const SWEEPS: usize = 8;

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use hemingway_data::{Dense, Labels, LoadOptions, Sparse, load, shard};

    use super::*;

    fn dense(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f32) -> Dataset {
        let values = (0..rows * columns).map(|at| value(at / columns, at % columns)).collect();
        let matrix = Matrix::Dense(Dense::new(rows, columns, values));
        Dataset::new("", matrix, vec![1.0; rows], Labels::Numbers)
    }

    #[test]
    fn few_eigenvalues_are_found_exactly() {
        // Row i has only feature i mod 3, of size 3 - i mod 3: eigenvalues 3, 4/3 and 1/3.
        let data = dense(120, 3, |row, column| if row % 3 == column { 3.0 - column as f32 } else { 0.0 });
        let profile = DataProfile::of(&data);
        for ((value, count), expected) in profile.spectrum.iter().zip([3.0, 4.0 / 3.0, 1.0 / 3.0]) {
            assert!((value - expected).abs() < 1e-9 && *count == 1.0, "{value} ({count}) for {expected}");
        }
        let expected = 3.0 / 4.0 + 4.0 / 7.0 + 1.0 / 4.0;
        assert!((profile.effective_dimension(1.0) - expected).abs() < 1e-9);
    }

    #[test]
    fn data_that_repeats_itself_is_not_mistaken_for_a_part_of_it() {
        // Every fourth row is large; sampling every fourth row would find only those, or none.
        let data = dense(1024, 1, |row, _| if row % 4 == 0 { 2.0 } else { 0.0 });
        let norm = DataProfile::of(&data).mean_squared_norm;
        assert!((0.6..1.6).contains(&norm), "{norm} for 1");
    }

    #[test]
    fn the_spectrum_has_the_whole_trace() {
        for spec in ["synthetic:separable,rows=900,features=40", "synthetic:text,rows=700,features=300"] {
            let profile = DataProfile::of(&load(spec, &LoadOptions::default()).unwrap());
            let trace: f64 = profile.spectrum.iter().map(|(value, count)| value * count).sum();
            assert!((trace / profile.mean_squared_norm - 1.0).abs() < 1e-9, "{spec}: {trace}");
            assert!(profile.effective_dimension(1e-12) <= 1.5 * profile.features as f64, "{spec}");
        }
    }

    #[test]
    fn eigenvalues_that_occur_often_are_counted_as_often() {
        // Each row has a feature of its own: as many eigenvalues of 1/100 as rows. The steps find one, and 0.
        let data = dense(100, 200, |row, column| if row == column { 1.0 } else { 0.0 });
        let profile = DataProfile::of(&data);
        let expected = 100.0 * 0.01 / (0.01 + 1e-3);
        assert!((profile.effective_dimension(1e-3) / expected - 1.0).abs() < 1e-6, "{:?}", profile.spectrum);
    }

    #[test]
    fn sparse_and_dense_rows_have_the_same_profile() {
        let dense = Dense::new(4, 2, vec![3.0, 4.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        let sparse = Sparse::new(2, vec![0, 2, 3, 4, 4], vec![0, 1, 1, 0], vec![3.0, 4.0, 1.0, 1.0]);
        let of = |matrix| DataProfile::of(&Dataset::new("", matrix, vec![1.0; 4], Labels::Numbers));
        let profile = of(Matrix::Dense(dense));
        assert_eq!(profile, of(Matrix::Sparse(sparse)));
        // Rows of 2, 1, 1 and 0 values.
        assert_eq!((profile.nonzeros, profile.mean_squared_norm, profile.unevenness), (4, 6.75, 1.5));
    }

    fn cut(data: &Dataset, rows: Range<usize>) -> Dataset {
        let matrix = match &data.matrix {
            Matrix::Dense(dense) => {
                let columns = dense.columns();
                let values = dense.values()[rows.start * columns..rows.end * columns].to_vec();
                Matrix::Dense(Dense::new(rows.len(), columns, values))
            }
            Matrix::Sparse(sparse) => {
                let offsets = &sparse.offsets()[rows.start..=rows.end];
                let (from, to) = (offsets[0], offsets[rows.len()]);
                let (indices, values) = (&sparse.indices()[from..to], &sparse.values()[from..to]);
                let offsets = offsets.iter().map(|offset| offset - from).collect();
                Matrix::Sparse(Sparse::new(sparse.columns(), offsets, indices.to_vec(), values.to_vec()))
            }
        };
        Dataset { matrix, targets: data.targets[rows].to_vec(), ..data.clone() }
    }

    /// Workers that meet for each sum.
    fn together(data: &Dataset, workers: usize) -> Vec<DataProfile> {
        let total = data.matrix.rows();
        let (meeting, sums) = (std::sync::Barrier::new(workers), std::sync::Mutex::new(Vec::<f64>::new()));
        std::thread::scope(|scope| {
            let one = |rank: usize| {
                let range = shard(total, workers, rank);
                let (part, meeting, sums) = (cut(data, range.clone()), &meeting, &sums);
                scope.spawn(move || {
                    DataProfile::of_part(&part, range.start, total, &mut |mine| {
                        {
                            let mut sums = sums.lock().unwrap();
                            sums.resize(mine.len(), 0.0);
                            sums.iter_mut().zip(mine.iter()).for_each(|(sum, one)| *sum += one);
                        }
                        meeting.wait();
                        mine.copy_from_slice(&sums.lock().unwrap());
                        if meeting.wait().is_leader() {
                            sums.lock().unwrap().clear();
                        }
                        meeting.wait();
                    })
                })
            };
            let threads: Vec<_> = (0..workers).map(one).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn many_workers_see_what_one_sees() {
        for spec in ["synthetic:separable,rows=1203,features=7", "synthetic:text,rows=700,features=40"] {
            let data = load(spec, &LoadOptions::default()).unwrap();
            let alone = DataProfile::of(&data);
            for profile in together(&data, 3) {
                assert_eq!((profile.rows, profile.nonzeros), (alone.rows, alone.nonzeros));
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(1e-3);
                assert!(near(profile.mean_squared_norm, alone.mean_squared_norm), "{profile:?}, {alone:?}");
                assert!(near(profile.largest_eigenvalue(), alone.largest_eigenvalue()), "{profile:?}");
                assert!(near(profile.effective_dimension(0.1), alone.effective_dimension(0.1)));
            }
        }
    }
}
