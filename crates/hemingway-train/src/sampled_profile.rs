//! A closer look at a problem than the planner takes, on a sample of the rows: the spectrum, how noisy gradients are, and how
//! hard the changes of several workers pull in one direction.
//!
//! Gradients are looked at where training begins, after one pass and after ten, with weights trained on one half of the sample
//! and gradients of the other half, so that rows the weights have seen do not count.

use hemingway_data::{Characters, Dataset};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::kernels::{Rows, with_rows};
use crate::local::dot;
use crate::loss::{Losses, Shape, with_losses};
use crate::profile::spectrum_of;
use crate::{
    Algorithm, Cocoa, Engine, Job, Lbfgs, Local, Loss, Problem, Rng, Scoring, Start, StopRules, Threads,
};

/// Rows to sample, where they are not too long;
const MOST_ROWS: usize = 4096;
/// no fewer than this, however long they are;
const LEAST_ROWS: usize = 64;
/// and values of all of them.
const MOST_VALUES: f64 = (1 << 21) as f64;
/// Lanczos steps: enough to find ten eigenvalues where they fall.
const STEPS: usize = 40;
/// Eigenvalues that are shown.
const EIGENVALUES: usize = 10;
/// Passes over half of the sample, after which gradients are looked at.
const PASSES: [u64; 3] = [0, 1, 10];
/// Numbers of workers whose changes are looked at.
const WORKERS: [usize; 5] = [2, 4, 8, 16, 64];
/// Rows of the block problem, whose Gram matrix is held as a whole.
const BLOCK_ROWS: usize = 512;
/// Steps of the power iteration; each result is a lower bound, whatever their number.
const POWER_STEPS: usize = 60;
/// What is added to the diagonal of a block, as a share of its mean: rows may depend on one another.
const RIDGE: f64 = 1e-8;

/// What a sample of the rows says of a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampledProfile {
    /// Rows of the sample.
    pub rows: usize,
    /// The largest eigenvalues of XᵀX/n, largest first; how many of them is what the Lanczos steps have found.
    pub eigenvalues: Vec<f64>,
    /// Eigenvalues of XᵀX/n with how many there are about as large.
    pub spectrum: Vec<(f64, f64)>,
    /// Σ e/(e + λ) over the eigenvalues of XᵀX/n.
    pub effective_dimension: f64,
    /// How noisy gradients are at the beginning and on the way.
    pub gradients: Vec<GradientNoise>,
    /// How hard the changes of workers with random rows pull in one direction.
    pub crowding: Vec<Crowded>,
}

/// How noisy gradients of single rows are at some weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GradientNoise {
    /// Passes of training that led to the weights.
    pub passes: u64,
    /// tr Σ: the mean squared distance of a row's gradient from the whole gradient.
    pub variance: f64,
    /// ‖g‖², the square of the whole gradient, as far as it is larger than what a sample shows of noise alone.
    pub squared_gradient: f64,
    /// tr Σ / ‖g‖²: up to about so many rows, averaging gradients is as good as as many steps. Nothing where the gradient is
    /// lost in the noise: it is then more than there are rows in the sample.
    pub noise_scale: Option<f64>,
}

/// How hard the changes of workers may pull in one direction: σ' of CoCoA+.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Crowded {
    /// Workers.
    pub workers: usize,
    /// No smaller σ' is safe for all changes: found on the sample, whose changes are some of those of all rows.
    pub least: f64,
    /// This one is safe whatever the rows are.
    pub safe: f64,
    /// What changes along the gradient at the beginning need, (n + B)/(n/m + B) with the noise scale B.
    pub along_gradient: f64,
}

impl SampledProfile {
    /// How many rows to sample of data like this.
    pub fn rows_to_sample(data: &Characters) -> usize {
        let each = (data.nonzeros as f64 / data.rows.max(1) as f64).max(1.0);
        ((MOST_VALUES / each) as usize).clamp(LEAST_ROWS, MOST_ROWS)
    }

    /// Of sampled rows, which stand for so many.
    pub fn of(sample: &Dataset, total_rows: usize, problem: &Problem) -> SampledProfile {
        let spectrum = spectrum_of(sample, STEPS);
        let found = spectrum.iter().filter(|(_, count)| *count == 1.0).map(|(value, _)| *value);
        let dimension: f64 =
            spectrum.iter().map(|(value, count)| count * value / (value + problem.lambda)).sum();
        let gradients = gradients(sample, total_rows, problem);
        let noise = gradients.first().and_then(|at| at.noise_scale);
        SampledProfile {
            rows: sample.matrix.rows(),
            eigenvalues: found.take(EIGENVALUES).collect(),
            effective_dimension: dimension.min(sample.matrix.columns() as f64),
            spectrum,
            gradients,
            crowding: crowding(sample, total_rows, noise),
        }
    }
}

/// Half of the rows trains, the other half says what gradients are like.
fn gradients(sample: &Dataset, total_rows: usize, problem: &Problem) -> Vec<GradientNoise> {
    let rows = sample.matrix.rows();
    if rows < 4 || sample.targets.len() != rows {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut Rng::seed_from_u64(2));
    let (seen, unseen) = order.split_at(rows / 2);
    let (seen, unseen) = (sample.rows_at(seen), sample.rows_at(unseen));
    let weights = |passes| match passes {
        0 => Some(vec![0.0; sample.matrix.columns() + usize::from(problem.bias)]),
        _ => trained(&seen, problem, passes),
    };
    let noise = |passes| Some(noise(&unseen, total_rows, problem, passes, &weights(passes)?));
    PASSES.into_iter().filter_map(noise).filter(|noise| noise.variance.is_finite()).collect()
}

/// Weights after some rounds of about a pass each, of a method that gets on in every one of them; where a loss has kinks that
/// is coordinate ascent. Nothing if no weights were better than those at the beginning.
fn trained(data: &Dataset, problem: &Problem, passes: u64) -> Option<Vec<f64>> {
    let algorithm: &dyn Algorithm = match problem.loss {
        Loss::Hinge => &Cocoa { local_steps: None },
        _ => &Lbfgs { memory: None },
    };
    let job = Job {
        problem: *problem,
        algorithm,
        workers: 1,
        seed: 0,
        stop: StopRules { rounds: Some(passes), ..StopRules::default() },
        scoring: Scoring::default(),
        start: Start::Zero,
        checkpoint_every: None,
        interrupt: None,
        hand_over: None,
    };
    let run = Threads.run(data, &job, &mut |_| Ok(())).ok()?;
    let weights = run.model.weights;
    let moved = weights.iter().any(|weight| *weight != 0.0);
    (moved && weights.iter().all(|weight| weight.is_finite())).then_some(weights)
}

fn noise(
    data: &Dataset,
    total_rows: usize,
    problem: &Problem,
    passes: u64,
    weights: &[f64],
) -> GradientNoise {
    let rows = data.matrix.rows();
    let mut local = Local::new(data, 0..rows, *problem);
    let mut slopes = vec![0.0; rows];
    local.predict(weights, &mut slopes);
    with_losses!(problem.loss, local.weights(), losses => {
        let rows = slopes.iter_mut().zip(local.targets()).enumerate();
        rows.for_each(|(row, (slope, target))| *slope = losses.of(row).slope(*slope, f64::from(*target)));
    });
    let constant = f64::from(u8::from(problem.bias));
    let squares: f64 = with_rows!(&data.matrix, matrix => {
        slopes.iter().enumerate().map(|(row, slope)| slope * slope * (matrix.squared_norm(row) + constant)).sum()
    });
    let mut gradient = vec![0.0; local.dimension()];
    local.combine(&slopes, &mut gradient);
    let n = rows as f64;
    gradient.iter_mut().for_each(|value| *value /= n);
    let sampled = dot(&gradient, &gradient);
    let variance = ((squares / n - sampled) * n / (n - 1.0).max(1.0)).max(0.0);
    // The penalty has no noise; a bias has no penalty.
    let features = data.matrix.columns();
    gradient
        .iter_mut()
        .zip(weights)
        .take(features)
        .for_each(|(value, weight)| *value += problem.lambda * weight);
    // Of a sample of all rows nothing is left out by chance.
    let share_left_out = 1.0 - n / (total_rows as f64).max(n);
    let noise_of_mean = variance / n * share_left_out;
    let squared_gradient = (dot(&gradient, &gradient) - noise_of_mean).max(0.0);
    let clear = squared_gradient > noise_of_mean && variance > 0.0;
    GradientNoise {
        passes,
        variance,
        squared_gradient,
        noise_scale: clear.then(|| variance / squared_gradient).filter(|scale| scale.is_finite()),
    }
}

/// σ' of a random partition.
fn crowding(sample: &Dataset, total_rows: usize, noise: Option<f64>) -> Vec<Crowded> {
    let mut order: Vec<usize> = (0..sample.matrix.rows()).collect();
    order.shuffle(&mut Rng::seed_from_u64(3));
    order.truncate(BLOCK_ROWS);
    let rows = sample.rows_at(&order);
    let gram = gram(&rows);
    let n = total_rows as f64;
    let of = |workers: usize| {
        let m = workers as f64;
        Crowded {
            workers,
            least: largest_ratio(&gram, order.len(), workers).clamp(1.0, m),
            safe: m,
            along_gradient: noise.map_or(1.0, |noise| (n + noise) / (n / m + noise)).clamp(1.0, m),
        }
    };
    WORKERS.into_iter().filter(|workers| 2 * workers <= order.len()).map(of).collect()
}

/// All products of two rows.
fn gram(data: &Dataset) -> Vec<f64> {
    let rows = data.matrix.rows();
    let mut gram = vec![0.0; rows * rows];
    let mut spread = vec![0.0; data.matrix.columns()];
    with_rows!(&data.matrix, matrix => for row in 0..rows {
        matrix.entries(row).for_each(|(column, value)| spread[column] = f64::from(value));
        for other in 0..=row {
            let product = matrix.dot::<false>(other, &spread);
            (gram[row * rows + other], gram[other * rows + row]) = (product, product);
        }
        matrix.entries(row).for_each(|(column, _)| spread[column] = 0.0);
    });
    gram
}

/// The largest ‖Σ_k A_k α_k‖² / Σ_k ‖A_k α_k‖² that a power iteration finds, rows being divided among workers in their order.
fn largest_ratio(gram: &[f64], rows: usize, workers: usize) -> f64 {
    let blocks: Vec<Block> = (0..workers)
        .map(|worker| Block::new(gram, rows, hemingway_data::shard(rows, workers, worker)))
        .collect();
    let mut direction: Vec<f64> = (0..rows).map(|row| 1.0 + 0.1 * (row as f64).sin()).collect();
    let mut ratio = 0.0;
    for _ in 0..POWER_STEPS {
        let length = dot(&direction, &direction).sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return ratio;
        }
        direction.iter_mut().for_each(|value| *value /= length);
        let mut changes = direction.clone();
        blocks.iter().for_each(|block| block.divide_by_transposed(&mut changes));
        let mut product: Vec<f64> = gram.chunks(rows).map(|row| dot(row, &changes)).collect();
        blocks.iter().for_each(|block| block.divide(&mut product));
        ratio = f64::max(ratio, dot(&direction, &product));
        direction = product;
    }
    ratio
}

/// The Cholesky factor of the products of one worker's rows.
struct Block {
    range: std::ops::Range<usize>,
    factor: Vec<f64>,
}

impl Block {
    fn new(gram: &[f64], rows: usize, range: std::ops::Range<usize>) -> Block {
        let size = range.len();
        let mut factor: Vec<f64> = range
            .clone()
            .flat_map(|row| &gram[row * rows + range.start..row * rows + range.end])
            .copied()
            .collect();
        let trace: f64 = (0..size).map(|at| factor[at * size + at]).sum();
        // Where all rows are zero anything will do.
        let ridge = if trace > 0.0 { RIDGE * trace / size as f64 } else { 1.0 };
        for at in 0..size {
            factor[at * size + at] += ridge;
            for other in 0..=at {
                let known =
                    dot(&factor[at * size..at * size + other], &factor[other * size..other * size + other]);
                let left = factor[at * size + other] - known;
                factor[at * size + other] = match at == other {
                    true => left.max(ridge * 1e-3).sqrt(),
                    false => left / factor[other * size + other],
                };
            }
        }
        Block { range, factor }
    }

    /// vector ← L⁻¹ vector, in the places of this block.
    fn divide(&self, vector: &mut [f64]) {
        let (vector, size) = (&mut vector[self.range.clone()], self.range.len());
        for at in 0..size {
            let row = &self.factor[at * size..];
            vector[at] = (vector[at] - dot(&row[..at], &vector[..at])) / row[at];
        }
    }

    /// vector ← L⁻ᵀ vector.
    fn divide_by_transposed(&self, vector: &mut [f64]) {
        let (vector, size) = (&mut vector[self.range.clone()], self.range.len());
        for at in (0..size).rev() {
            vector[at] /= self.factor[at * size + at];
            let value = vector[at];
            let row = &self.factor[at * size..at * size + at];
            vector[..at].iter_mut().zip(row).for_each(|(other, factor)| *other -= value * factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{Dense, Labels, LoadOptions, Matrix, load, sample_rows};

    use super::*;

    fn problem() -> Problem {
        Problem::new(Loss::Logistic, 1e-3).unwrap()
    }

    fn of(rows: usize, columns: usize, values: Vec<f32>, targets: Vec<f32>) -> SampledProfile {
        let labels = Labels::Classes { negative: "0".into(), positive: "1".into() };
        let data = Dataset::new("", Matrix::Dense(Dense::new(rows, columns, values)), targets, labels);
        SampledProfile::of(&data, rows, &problem())
    }

    #[test]
    fn workers_without_common_features_do_not_crowd_and_those_with_the_same_row_do() {
        let rows = 16;
        let alone: Vec<f32> =
            (0..rows * rows).map(|at| f32::from(u8::from(at / rows == at % rows))).collect();
        let targets: Vec<f32> = (0..rows).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect();
        for of in of(rows, rows, alone, targets.clone()).crowding {
            assert!((of.least - 1.0).abs() < 1e-6, "{of:?}");
        }
        let same = of(rows, 1, vec![1.0; rows], targets);
        assert_eq!(same.crowding.iter().map(|of| of.workers).collect::<Vec<_>>(), [2, 4, 8]);
        for of in same.crowding {
            assert!((of.least - of.safe).abs() < 1e-5, "{of:?}");
        }
    }

    #[test]
    fn noise_is_that_of_the_gradients_of_rows() {
        // Half of the gradients at zero are -1/2, half 1/2 in each half of the rows: all noise, no gradient.
        let targets: Vec<f32> = (0..400).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let mixed = of(400, 1, vec![1.0; 400], targets.clone());
        assert!((mixed.gradients[0].variance - 0.25).abs() < 0.01, "{:?}", mixed.gradients);
        // The same with features that have the sign of the label: no noise at all.
        let clear = of(400, 1, targets.clone(), targets);
        let first = clear.gradients[0];
        assert!((first.variance, first.noise_scale) == (0.0, None), "{first:?}");
        assert!((first.squared_gradient - 0.25).abs() < 1e-9, "{first:?}");
    }

    #[test]
    fn a_spectrum_that_is_known() {
        // Row i has only feature i mod 3, of size 3 - i mod 3: eigenvalues 3, 4/3 and 1/3.
        let value = |at: usize| if (at / 3) % 3 == at % 3 { 3.0 - (at % 3) as f32 } else { 0.0 };
        let found = of(120, 3, (0..360).map(value).collect(), vec![1.0; 120]);
        for (value, expected) in found.eigenvalues.iter().zip([3.0, 4.0 / 3.0, 1.0 / 3.0]) {
            assert!((value - expected).abs() < 1e-9, "{:?}", found.eigenvalues);
        }
        let expected: f64 = [3.0, 4.0 / 3.0, 1.0 / 3.0].map(|value| value / (value + 1e-3)).iter().sum();
        assert!((found.effective_dimension - expected).abs() < 1e-9);
    }

    #[test]
    fn whatever_the_data_all_is_a_number() {
        for (rows, columns, value) in
            [(1, 1, 0.0), (1, 3, 1.0), (2, 1, 1.0), (5, 2, 0.0), (40, 2, 1e30), (9, 3, -7.0)]
        {
            for target in [1.0, -1.0] {
                let found = of(rows, columns, vec![value; rows * columns], vec![target; rows]);
                let text = serde_json::to_string(&found).unwrap();
                let nothing = found.gradients.iter().filter(|noise| noise.noise_scale.is_none()).count();
                assert_eq!(text.matches("null").count(), nothing, "{rows} × {columns} of {value}: {text}");
            }
        }
    }

    #[test]
    fn real_digits_have_a_spectrum_that_falls() {
        let data =
            load("embedded:mnist", &LoadOptions { positive: Some("5".into()), ..LoadOptions::default() });
        let sample = sample_rows(&data.unwrap(), 1000, 0);
        let found = SampledProfile::of(&sample, 10_000, &problem());
        assert_eq!((found.eigenvalues.len(), found.gradients.len(), found.crowding.len()), (10, 3, 5));
        assert!(found.eigenvalues.is_sorted_by(|a, b| a > b), "{:?}", found.eigenvalues);
        let trace: f64 = found.spectrum.iter().map(|(value, count)| value * count).sum();
        assert!(found.eigenvalues[0] < trace && found.effective_dimension > 10.0, "{found:?}");
        assert!(found.gradients.iter().all(|noise| noise.variance > 0.0));
        assert!(found.crowding.iter().all(|of| of.least >= 1.0 && of.least <= of.safe));
    }
}
