//! A worker's own rows and the metered kernels over them.

use std::ops::Range;

use hemingway_data::{Dataset, Fingerprint, Matrix};

use crate::kernels::{Rows, Task, fastest, with_rows};
use crate::loss::{BLOCK, Losses, Shape, Tally, with_losses};
use crate::meter::Meter;
use crate::{Problem, Work};

/// The rows of one worker. Rows are numbered from 0 here; `first_row` is the global number of the first.
pub struct Local<'a> {
    /// What is minimised.
    pub problem: Problem,
    /// Rows over all workers, n.
    pub total_rows: usize,
    /// Global number of row 0.
    pub first_row: usize,
    /// What all rows contain.
    pub fingerprint: Fingerprint,
    matrix: &'a Matrix,
    targets: &'a [f32],
    weights: Option<&'a [f32]>,
    range: Range<usize>,
    meter: Meter,
    work: Work,
    total_work: Work,
    visited: f64,
}

impl<'a> Local<'a> {
    /// The rows `range` of a dataset that is in memory as a whole.
    pub fn new(data: &'a Dataset, range: Range<usize>, problem: Problem) -> Local<'a> {
        let fingerprint = data.fingerprint;
        let weights = data.weights.as_ref().map(|weights| &weights[range.clone()]);
        Local { fingerprint, weights, ..Local::of(&data.matrix, &data.targets, range, problem) }
    }

    /// The rows `mine`, counted from the first of the rows `all` of a dataset, where these are all there are.
    pub(crate) fn among(
        data: &'a Dataset,
        all: &Range<usize>,
        mine: Range<usize>,
        problem: Problem,
    ) -> Local<'a> {
        let range = all.start + mine.start..all.start + mine.end;
        Local { first_row: mine.start, total_rows: all.len(), ..Local::new(data, range, problem) }
    }

    /// All rows of a dataset that is itself a part: its first row has this number among so many rows.
    pub fn part(data: &'a Dataset, first_row: usize, total_rows: usize, problem: Problem) -> Local<'a> {
        Local { first_row, total_rows, ..Local::new(data, 0..data.matrix.rows(), problem) }
    }

    /// The rows `range` of a matrix with one target per row.
    pub(crate) fn of(
        matrix: &'a Matrix,
        targets: &'a [f32],
        range: Range<usize>,
        problem: Problem,
    ) -> Local<'a> {
        Local {
            problem,
            total_rows: matrix.rows(),
            first_row: range.start,
            fingerprint: Fingerprint::default(),
            matrix,
            targets: &targets[range.clone()],
            weights: None,
            range,
            meter: Meter::of(matrix, problem.loss),
            work: Work::default(),
            total_work: Work::default(),
            visited: 0.0,
        }
    }

    /// Rows of this worker, n_k.
    pub fn rows(&self) -> usize {
        self.range.len()
    }

    /// Features of the data, without the bias.
    pub fn features(&self) -> usize {
        self.matrix.columns()
    }

    /// Length of a weight vector: features, and one more for a bias.
    pub fn dimension(&self) -> usize {
        self.features() + usize::from(self.problem.bias)
    }

    /// The targets of these rows.
    pub fn targets(&self) -> &'a [f32] {
        self.targets
    }

    /// How often each of these rows counts in the loss, where they do not all count once.
    pub fn weights(&self) -> Option<&'a [f32]> {
        self.weights
    }

    /// How often this row counts in the loss.
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| f64::from(weights[row]))
    }

    /// Numbers of these rows, each multiplied by how often its row counts.
    pub(crate) fn weigh(&self, numbers: &mut [f64]) {
        if let Some(weights) = self.weights {
            numbers.iter_mut().zip(weights).for_each(|(number, weight)| *number *= f64::from(*weight));
        }
    }

    /// Σ c_i v_i² of one number for each of these rows.
    pub(crate) fn weighted_square(&self, numbers: &[f64]) -> f64 {
        let weighted = |weights: &[f32]| {
            numbers.iter().zip(weights).map(|(number, weight)| f64::from(*weight) * number * number).sum()
        };
        self.weights.map_or_else(|| dot(numbers, numbers), weighted)
    }

    /// Σ c_i ‖x_i‖² over the first rows: as much as they curve the loss.
    pub(crate) fn squared_norms(&self, count: usize) -> f64 {
        let first = self.range.start;
        with_rows!(self.matrix, rows => {
            (0..count).map(|row| self.weight(row) * rows.squared_norm(first + row)).sum()
        })
    }

    /// The matrix that holds the rows, and where in it they are.
    pub(crate) fn matrix(&self) -> (&'a Matrix, Range<usize>) {
        (self.matrix, self.range.clone())
    }

    /// Values stored in these rows.
    pub fn stored(&self) -> usize {
        with_rows!(self.matrix, rows => rows.stored(self.range.clone()))
    }

    /// Adds to the meter: `values` stored values were read and each used for a multiplication and an addition.
    pub(crate) fn meter(&mut self, values: f64) {
        self.work += self.meter.values(values);
    }

    /// Adds to the meter: `rows` rows were visited one after the other, with a loss in between.
    pub(crate) fn meter_visits(&mut self, rows: f64) {
        self.work += self.meter.visits(rows);
        self.visited += rows;
    }

    /// Adds to the meter: the loss was evaluated `rows` times in vectorised loops.
    pub(crate) fn meter_losses(&mut self, rows: f64) {
        self.work += self.meter.losses(rows);
    }

    /// Adds to the meter: `rows` rows were visited in a plain pass, half of what a step on them would be.
    pub(crate) fn meter_rows(&mut self, rows: f64) {
        self.work += self.meter.rows(rows);
        self.visited += 0.5 * rows;
    }

    /// Rows that were visited since this was last asked.
    pub(crate) fn take_visited(&mut self) -> f64 {
        std::mem::take(&mut self.visited)
    }

    pub(crate) fn take_work(&mut self) -> Work {
        self.total_work += self.work;
        std::mem::take(&mut self.work)
    }

    /// What one pass of predictions and losses will be metered as.
    pub(crate) fn cost_of_a_pass(&self) -> Work {
        let (values, rows) = (self.stored() as f64, self.rows() as f64);
        self.meter.values(values) + self.meter.rows(rows) + self.meter.losses(3.0 * rows)
    }

    /// All work since the run began.
    pub(crate) fn total_work(&self) -> Work {
        let mut total = self.total_work;
        total += self.work;
        total
    }

    /// p_i = x_i·w for every row.
    pub fn predict(&mut self, weights: &[f64], predictions: &mut [f64]) {
        struct Predict<'a, R> {
            rows: R,
            range: Range<usize>,
            weights: &'a [f64],
            bias: f64,
            predictions: &'a mut [f64],
        }
        impl<R: Rows> Task for Predict<'_, R> {
            type Output = ();
            #[inline(always)]
            fn run<const FMA: bool>(self) {
                for (prediction, row) in self.predictions.iter_mut().zip(self.range) {
                    *prediction = self.rows.dot::<FMA>(row, self.weights) + self.bias;
                }
            }
        }
        let bias = if self.problem.bias { weights[self.features()] } else { 0.0 };
        let range = self.range.clone();
        with_rows!(self.matrix, rows => fastest(Predict { rows, range, weights, bias, predictions }));
        self.meter(self.stored() as f64);
        self.meter_rows(self.rows() as f64);
    }

    /// into += Σ scale_i x_i (and Σ scale_i for a bias).
    pub fn combine(&mut self, scales: &[f64], into: &mut [f64]) {
        struct Combine<'a, R> {
            rows: R,
            range: Range<usize>,
            scales: &'a [f64],
            into: &'a mut [f64],
        }
        impl<R: Rows> Task for Combine<'_, R> {
            type Output = ();
            #[inline(always)]
            fn run<const FMA: bool>(self) {
                for (scale, row) in self.scales.iter().zip(self.range) {
                    if *scale != 0.0 {
                        self.rows.add::<FMA>(row, *scale, self.into);
                    }
                }
            }
        }
        let features = self.features();
        if self.problem.bias {
            into[features] += scales.iter().sum::<f64>();
        }
        let range = self.range.clone();
        let into = &mut into[..features];
        with_rows!(self.matrix, rows => fastest(Combine { rows, range, scales, into }));
        let used = scales.iter().filter(|scale| **scale != 0.0).count() as f64 / scales.len().max(1) as f64;
        self.meter(self.stored() as f64 * used);
        self.meter_rows(self.rows() as f64);
    }

    /// into += Σ c_i x_i², feature by feature (and Σ c_i for a bias).
    pub fn add_squares(&mut self, into: &mut [f64]) {
        let features = self.features();
        if let Some(bias) = into.get_mut(features) {
            *bias += (0..self.rows()).map(|row| self.weight(row)).sum::<f64>();
        }
        with_rows!(self.matrix, rows => for (row, at) in self.range.clone().enumerate() {
            let weight = self.weight(row);
            for (feature, value) in rows.entries(at) {
                into[feature] += weight * (f64::from(value) * f64::from(value));
            }
        });
        self.meter(self.stored() as f64);
    }

    /// into += 1 for every stored value of every row, which is what steps along single rows touch: of dense rows the zeros, too.
    pub fn count_features(&mut self, into: &mut [f64]) {
        with_rows!(self.matrix, rows => for row in self.range.clone() {
            rows.entries(row).for_each(|(feature, _)| into[feature] += 1.0);
        });
        self.meter(self.stored() as f64);
    }

    /// Predictions and the sum of slopes·rows in one pass over the data; returns Σ c_i φ(p_i, y_i).
    pub fn loss_and_gradient(
        &mut self,
        weights: &[f64],
        predictions: &mut [f64],
        gradient: &mut [f64],
    ) -> f64 {
        struct Pass<'a, R, L> {
            rows: R,
            range: Range<usize>,
            losses: L,
            targets: &'a [f32],
            weights: &'a [f64],
            bias: f64,
            predictions: &'a mut [f64],
            gradient: &'a mut [f64],
        }
        impl<R: Rows, L: Losses> Task for Pass<'_, R, L> {
            type Output = (f64, f64);
            #[inline(always)]
            fn run<const FMA: bool>(self) -> (f64, f64) {
                let (mut tally, mut slopes) = (Tally::default(), 0.0);
                let per_row = self.predictions.iter_mut().zip(self.targets).zip(self.range);
                for (at, ((prediction, target), row)) in per_row.enumerate() {
                    let target = f64::from(*target);
                    *prediction = self.rows.dot::<FMA>(row, self.weights) + self.bias;
                    let slope = self.losses.of(at).tally(*prediction, target, &mut tally);
                    slopes += slope;
                    if slope != 0.0 {
                        self.rows.add::<FMA>(row, slope, self.gradient);
                    }
                }
                (tally.total(), slopes)
            }
        }
        let features = self.features();
        let bias = if self.problem.bias { weights[features] } else { 0.0 };
        let (range, targets) = (self.range.clone(), self.targets);
        let (gradient, bias_gradient) = gradient.split_at_mut(features);
        let (total, slopes) = with_rows!(self.matrix, rows => with_losses!(self.problem.loss, self.weights, losses => {
            fastest(Pass { rows, range, losses, targets, weights, bias, predictions, gradient })
        }));
        if let Some(bias_gradient) = bias_gradient.first_mut() {
            *bias_gradient += slopes;
        }
        self.meter(2.0 * self.stored() as f64);
        self.meter_visits(self.rows() as f64);
        total
    }

    /// Adds to the meter: this many operations on numbers in cache.
    pub(crate) fn meter_flops(&mut self, flops: f64) {
        self.work += Work { flops, bytes: 0.0 };
    }

    /// gradient += Σ c_i φ'(p_i, y_i)·x_i over some of the rows.
    pub fn gradient_of(&mut self, rows: &[u32], weights: &[f64], gradient: &mut [f64]) {
        struct Batch<'a, R, L> {
            matrix: R,
            losses: L,
            first: usize,
            rows: &'a [u32],
            targets: &'a [f32],
            weights: &'a [f64],
            bias: f64,
            gradient: &'a mut [f64],
        }
        impl<R: Rows, L: Losses> Task for Batch<'_, R, L> {
            type Output = (f64, usize);
            #[inline(always)]
            fn run<const FMA: bool>(self) -> (f64, usize) {
                let (mut slopes, mut values) = (0.0, 0);
                for row in self.rows {
                    let row = *row as usize;
                    let prediction = self.matrix.dot::<FMA>(self.first + row, self.weights) + self.bias;
                    let slope = self.losses.of(row).slope(prediction, f64::from(self.targets[row]));
                    slopes += slope;
                    values += self.matrix.length(self.first + row);
                    if slope != 0.0 {
                        self.matrix.add::<FMA>(self.first + row, slope, self.gradient);
                    }
                }
                (slopes, values)
            }
        }
        let features = self.features();
        let bias = if self.problem.bias { weights[features] } else { 0.0 };
        let (first, targets) = (self.range.start, self.targets);
        let (gradient, bias_gradient) = gradient.split_at_mut(features);
        let (slopes, values) = with_rows!(self.matrix, matrix => with_losses!(self.problem.loss, self.weights, losses => {
            fastest(Batch { matrix, losses, first, rows, targets, weights, bias, gradient })
        }));
        if let Some(bias_gradient) = bias_gradient.first_mut() {
            *bias_gradient += slopes;
        }
        self.meter(2.0 * values as f64);
        self.meter_visits(rows.len() as f64);
    }

    /// The features that some of the rows have, in ascending order, and how many of them have each; the bias is one.
    pub fn features_of(&self, some: &[u32]) -> (Vec<u32>, Vec<f64>) {
        let mut found: Vec<u32> = Vec::new();
        with_rows!(self.matrix, rows => {
            let some = || some.iter().map(|row| self.range.start + *row as usize);
            // Vectors that grow are held twice while they do.
            found.reserve_exact(some().map(|row| rows.length(row) + 1).sum());
            found.extend(some().flat_map(|row| rows.entries(row).map(|(feature, _)| feature as u32)));
        });
        if self.problem.bias {
            found.extend(some.iter().map(|_| self.features() as u32));
        }
        found.sort_unstable();
        let times = found.chunk_by(|a, b| a == b).map(|same| same.len() as f64).collect();
        found.dedup();
        found.shrink_to_fit();
        (found, times)
    }

    /// Σ c_i φ(p_i, y_i).
    pub fn loss(&self, predictions: &[f64]) -> f64 {
        self.loss_and_slopes(predictions, None, None)
    }

    /// Σ c_i φ(p_i + θ(q_i − p_i), y_i) for several θ at once.
    pub fn losses_between<const N: usize>(&mut self, from: &[f64], to: &[f64], thetas: [f64; N]) -> [f64; N] {
        struct Between<'a, L, const N: usize> {
            losses: L,
            from: &'a [f64],
            to: &'a [f64],
            targets: &'a [f32],
            thetas: [f64; N],
        }
        impl<L: Losses, const N: usize> Task for Between<'_, L, N> {
            type Output = [f64; N];
            #[inline(always)]
            fn run<const FMA: bool>(self) -> [f64; N] {
                let mut sums = [[0.0; 8]; N];
                let (from, from_rest) = self.from.as_chunks::<8>();
                let (to, to_rest) = self.to.as_chunks::<8>();
                let (targets, targets_rest) = self.targets.as_chunks::<8>();
                for (block, ((from, to), targets)) in from.iter().zip(to).zip(targets).enumerate() {
                    let losses: [_; 8] = self.losses.several(8 * block);
                    for (sums, theta) in sums.iter_mut().zip(self.thetas) {
                        for lane in 0..8 {
                            let prediction = from[lane] + theta * (to[lane] - from[lane]);
                            sums[lane] += losses[lane].value(prediction, f64::from(targets[lane]));
                        }
                    }
                }
                let rest = self.targets.len() - targets_rest.len();
                for (row, ((from, to), target)) in
                    (rest..).zip(from_rest.iter().zip(to_rest).zip(targets_rest))
                {
                    for (sums, theta) in sums.iter_mut().zip(self.thetas) {
                        let prediction = from + theta * (to - from);
                        sums[0] += self.losses.of(row).value(prediction, f64::from(*target));
                    }
                }
                sums.map(|sums| sums.iter().sum())
            }
        }
        self.meter_losses((N * self.rows()) as f64);
        let targets = self.targets;
        with_losses!(self.problem.loss, self.weights, losses => {
            fastest(Between { losses, from, to, targets, thetas })
        })
    }

    /// Σ c_i φ(p_i + t·d_i, y_i), with the slope of each row.
    pub fn slopes_along(
        &mut self,
        predictions: &[f64],
        step: &[f64],
        length: f64,
        slopes: &mut [f64],
    ) -> f64 {
        self.meter_losses(self.rows() as f64);
        self.loss_and_slopes(predictions, Some((step, length)), Some(slopes))
    }

    fn loss_and_slopes(&self, from: &[f64], step: Option<(&[f64], f64)>, slopes: Option<&mut [f64]>) -> f64 {
        struct Along<'a, L> {
            losses: L,
            from: &'a [f64],
            step: Option<(&'a [f64], f64)>,
            targets: &'a [f32],
            slopes: Option<&'a mut [f64]>,
        }
        impl<L: Losses> Task for Along<'_, L> {
            type Output = f64;
            #[inline(always)]
            fn run<const FMA: bool>(mut self) -> f64 {
                let mut sum = 0.0;
                for start in (0..self.from.len()).step_by(BLOCK) {
                    let end = (start + BLOCK).min(self.from.len());
                    // A block that is not full is filled up with its first row, whose loss is taken off again.
                    let mut predictions = [self.from[start]; BLOCK];
                    let mut targets = [self.targets[start]; BLOCK];
                    predictions[..end - start].copy_from_slice(&self.from[start..end]);
                    targets[..end - start].copy_from_slice(&self.targets[start..end]);
                    if let Some((step, length)) = self.step {
                        let mut steps = [step[start]; BLOCK];
                        steps[..end - start].copy_from_slice(&step[start..end]);
                        for (p, d) in predictions.iter_mut().zip(&steps) {
                            *p += length * d;
                        }
                    }
                    let surplus = (BLOCK - (end - start)) as f64;
                    if surplus > 0.0 {
                        sum -= surplus * self.losses.of(start).value(predictions[0], f64::from(targets[0]));
                    }
                    sum += self.losses.block_from(start, &mut predictions, &targets);
                    if let Some(slopes) = &mut self.slopes {
                        slopes[start..end].copy_from_slice(&predictions[..end - start]);
                    }
                }
                // Losses of nearly nothing, less as much, may round to less than nothing.
                if sum < 0.0 { 0.0 } else { sum }
            }
        }
        let targets = self.targets;
        with_losses!(self.problem.loss, self.weights, losses => {
            fastest(Along { losses, from, step, targets, slopes })
        })
    }

    /// Slopes c_i φ'(p_i, y_i).
    pub fn slopes(&self, predictions: &[f64]) -> Vec<f64> {
        let mut slopes = vec![0.0; predictions.len()];
        self.loss_and_slopes(predictions, None, Some(&mut slopes));
        slopes
    }

    /// Σ (c_i φ)*(−s·α_i) for a scale s in [0, 1].
    pub fn conjugate(&self, duals: &[f64], scale: f64) -> f64 {
        struct Conjugate<'a, L> {
            losses: L,
            duals: &'a [f64],
            scale: f64,
            targets: &'a [f32],
        }
        impl<L: Losses> Task for Conjugate<'_, L> {
            type Output = f64;
            #[inline(always)]
            fn run<const FMA: bool>(self) -> f64 {
                let mut sums = [0.0; 8];
                let (duals, duals_rest) = self.duals.as_chunks::<8>();
                let (targets, targets_rest) = self.targets.as_chunks::<8>();
                for (block, (dual, target)) in duals.iter().zip(targets).enumerate() {
                    let losses: [_; 8] = self.losses.several(8 * block);
                    for lane in 0..8 {
                        sums[lane] +=
                            losses[lane].conjugate(self.scale * dual[lane], f64::from(target[lane]));
                    }
                }
                let rest =
                    (self.targets.len() - targets_rest.len()..).zip(duals_rest.iter().zip(targets_rest));
                let rest =
                    rest.map(|(row, (a, y))| self.losses.of(row).conjugate(self.scale * a, f64::from(*y)));
                sums.iter().sum::<f64>() + rest.sum::<f64>()
            }
        }
        let targets = self.targets;
        with_losses!(self.problem.loss, self.weights, losses => {
            fastest(Conjugate { losses, duals, scale, targets })
        })
    }
}

/// (λ/2)‖w‖² without the bias.
pub(crate) fn penalty(problem: Problem, features: usize, weights: &[f64]) -> f64 {
    problem.lambda / 2.0 * dot(&weights[..features], &weights[..features])
}

/// a·b.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 16];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
