//! Datasets at random: many shapes, spectra and kinds of labels.

use hemingway_data::{Dataset, Dense, Labels, Matrix, Sparse};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;

/// A dataset with two classes, and the numbers that its labels come from.
pub struct Generated {
    pub kind: &'static str,
    pub data: Dataset,
    pub scores: Vec<f32>,
}

type Draw = fn(&mut Rng, usize) -> Matrix;
const KINDS: [(&str, Draw); 6] = [
    ("power", power),
    ("text", text),
    ("levels", levels),
    ("image", image),
    ("clusters", clusters),
    ("products", products),
];
/// Values of a dense matrix.
const MOST_VALUES: f64 = 2e6;

/// The random numbers of dataset `at` of a seed: its rows come first.
pub fn random_of(seed: u64, at: u64) -> Rng {
    Rng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(at))
}

pub fn draw(rng: &mut Rng) -> Generated {
    let (kind, of) = *KINDS.choose(rng).expect("some");
    let rows = between(rng, 1e3, 5e4) as usize;
    let matrix = of(rng, rows);
    let scores = scores(&matrix, rng);
    let mut targets: Vec<f32> = scores.iter().map(|score| if *score > 0.0 { 1.0 } else { -1.0 }).collect();
    if targets.iter().all(|target| *target == targets[0]) {
        targets[0] = -targets[0];
    }
    let labels = Labels::Classes { negative: "-1".to_owned(), positive: "+1".to_owned() };
    Generated { kind, data: Dataset::new(kind, matrix, targets, labels), scores }
}

/// Numbers with a spectrum that falls like a power, rotated or not, with an offset or not, rows of unequal length or not.
fn power(rng: &mut Rng, rows: usize) -> Matrix {
    let columns = dense_columns(rng, rows);
    let decay = *[0.0, 0.5, 1.0, 1.5, 2.0].choose(rng).expect("some");
    let scales: Vec<f64> = (1..=columns).map(|column| (column as f64).powf(-decay / 2.0)).collect();
    let mirrors: Vec<Vec<f64>> = match rng.random() {
        true => (0..3).map(|_| direction(rng, columns)).collect(),
        false => Vec::new(),
    };
    let uneven = if rng.random::<f64>() < 0.3 { 0.3 + 0.9 * rng.random::<f64>() } else { 0.0 };
    let offset = if rng.random::<f64>() < 0.3 { 0.3 + 1.7 * rng.random::<f64>() } else { 0.0 };
    let size = between(rng, 0.1, 10.0);
    dense(rows, columns, |row| {
        row.iter_mut().zip(&scales).for_each(|(value, scale)| *value = scale * normal(rng));
        for mirror in &mirrors {
            let along: f64 = 2.0 * row.iter().zip(mirror).map(|(a, b)| a * b).sum::<f64>();
            row.iter_mut().zip(mirror).for_each(|(value, by)| *value -= along * by);
        }
        let size = size * (uneven * normal(rng)).exp();
        row.iter_mut().for_each(|value| *value = size * (*value + offset));
    })
}

/// A few numbers and their products.
fn products(rng: &mut Rng, rows: usize) -> Matrix {
    let columns = dense_columns(rng, rows);
    let factors = ((columns as f64).sqrt() as usize).max(2);
    let pairs: Vec<(usize, usize)> =
        (0..columns).map(|_| (rng.random_range(0..factors), rng.random_range(0..factors))).collect();
    dense(rows, columns, |row| {
        let base: Vec<f64> = (0..factors).map(|_| normal(rng)).collect();
        for (at, value) in row.iter_mut().enumerate() {
            *value = if at < factors { base[at] } else { base[pairs[at].0] * base[pairs[at].1] };
        }
    })
}

/// Points around some centres.
fn clusters(rng: &mut Rng, rows: usize) -> Matrix {
    let columns = dense_columns(rng, rows);
    let (apart, wide) = (0.5 + 2.5 * rng.random::<f64>(), between(rng, 0.05, 1.0));
    let centres: Vec<Vec<f64>> =
        (0..rng.random_range(2..40)).map(|_| (0..columns).map(|_| apart * normal(rng)).collect()).collect();
    dense(rows, columns, |row| {
        let centre = centres.choose(rng).expect("some");
        row.iter_mut().zip(centre).for_each(|(value, middle)| *value = middle + wide * normal(rng));
    })
}

/// Positive combinations of a few patterns, cut off below.
fn image(rng: &mut Rng, rows: usize) -> Matrix {
    let columns = dense_columns(rng, rows);
    let patterns: Vec<Vec<f64>> =
        (0..20).map(|_| (0..columns).map(|_| rng.random::<f64>()).collect()).collect();
    let cut = 3.0 * rng.random::<f64>();
    dense(rows, columns, |row| {
        row.fill(-cut);
        for pattern in &patterns {
            let weight = normal(rng);
            row.iter_mut().zip(pattern).for_each(|(value, of)| *value += weight * of);
        }
        row.iter_mut().for_each(|value| *value = value.max(0.0) / 10.0);
    })
}

/// Words whose frequency falls like a power of their rank, counted or as directions.
fn text(rng: &mut Rng, rows: usize) -> Matrix {
    let columns = between(rng, 1e3, 5e4) as usize;
    let words = between(rng, 6.0, 100.0) as usize;
    let power = 0.8 + 0.5 * rng.random::<f64>();
    let unit = rng.random::<f64>() < 0.6;
    let mut upto = Vec::with_capacity(columns);
    let mut total = 0.0;
    for rank in 1..=columns {
        total += (rank as f64).powf(-power);
        upto.push(total);
    }
    sparse(rows, columns, |row| {
        for _ in 0..words {
            let at = upto.partition_point(|sum| *sum < total * rng.random::<f64>());
            row.push((at.min(columns - 1) as u32, 1.0));
        }
        row.sort_unstable_by_key(|(column, _)| *column);
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        if unit {
            let length = row.iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
            row.iter_mut().for_each(|(_, value)| *value /= length);
        }
    })
}

/// One of a few levels of each of several categories.
fn levels(rng: &mut Rng, rows: usize) -> Matrix {
    let categories: Vec<(usize, f64)> = (0..rng.random_range(5..40))
        .map(|_| (rng.random_range(2..12), 0.2 + 0.5 * rng.random::<f64>()))
        .collect();
    let columns = categories.iter().map(|(levels, _)| levels).sum();
    sparse(rows, columns, |row| {
        let mut first = 0;
        for &(levels, stop) in &categories {
            let mut level = 0;
            while level + 1 < levels && rng.random::<f64>() > stop {
                level += 1;
            }
            row.push(((first + level) as u32, 1.0));
            first += levels;
        }
    })
}

/// What labels are the signs of: a linear function of some features, shifted so that classes are even or not, with noise.
fn scores(matrix: &Matrix, rng: &mut Rng) -> Vec<f32> {
    let used = *[1.0, 0.2, 0.05].choose(rng).expect("some");
    let weights: Vec<f64> =
        (0..matrix.columns()).map(|_| if rng.random::<f64>() < used { normal(rng) } else { 0.0 }).collect();
    let mut scores: Vec<f64> = match matrix {
        Matrix::Dense(dense) => {
            let rows = dense.values().chunks_exact(dense.columns());
            rows.map(|row| row.iter().zip(&weights).map(|(x, w)| f64::from(*x) * w).sum()).collect()
        }
        Matrix::Sparse(sparse) => {
            let row = |ends: &[usize]| {
                let stored = ends[0]..ends[1];
                let values = sparse.indices()[stored.clone()].iter().zip(&sparse.values()[stored]);
                values.map(|(at, x)| f64::from(*x) * weights[*at as usize]).sum()
            };
            sparse.offsets().windows(2).map(row).collect()
        }
    };
    let share = *[0.5, 0.5, 0.8, 0.95].choose(rng).expect("some");
    let mut sorted = scores.clone();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[((sorted.len() - 1) as f64 * share) as usize];
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / scores.len() as f64;
    let noise = *[0.0, 0.1, 0.5, 2.0].choose(rng).expect("some");
    scores.iter_mut().for_each(|score| {
        *score = (*score - middle) / (variance.sqrt() + 1e-12) + noise * normal(rng);
    });
    scores.into_iter().map(|score| score as f32).collect()
}

fn dense_columns(rng: &mut Rng, rows: usize) -> usize {
    let columns = between(rng, 8.0, 1000.0);
    columns.min(MOST_VALUES / rows as f64).max(6.0) as usize
}

fn dense(rows: usize, columns: usize, mut fill: impl FnMut(&mut [f64])) -> Matrix {
    let (mut row, mut values) = (vec![0.0; columns], Vec::with_capacity(rows * columns));
    for _ in 0..rows {
        fill(&mut row);
        values.extend(row.iter().map(|value| *value as f32));
    }
    Matrix::Dense(Dense::new(rows, columns, values))
}

fn sparse(rows: usize, columns: usize, mut fill: impl FnMut(&mut Vec<(u32, f32)>)) -> Matrix {
    let (mut offsets, mut indices, mut values, mut row) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        row.clear();
        fill(&mut row);
        indices.extend(row.iter().map(|(column, _)| *column));
        values.extend(row.iter().map(|(_, value)| *value));
        offsets.push(indices.len());
    }
    Matrix::Sparse(Sparse::new(columns, offsets, indices, values))
}

/// A random direction of length 1.
fn direction(rng: &mut Rng, size: usize) -> Vec<f64> {
    let mut vector: Vec<f64> = (0..size).map(|_| normal(rng)).collect();
    let length = vector.iter().map(|value| value * value).sum::<f64>().sqrt().max(1e-12);
    vector.iter_mut().for_each(|value| *value /= length);
    vector
}

/// A number between two others, even in its logarithm.
fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(rng.random::<f64>())
}

/// A standard normal number, by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let (length, angle) = (1.0 - rng.random::<f64>(), std::f64::consts::TAU * rng.random::<f64>());
    (-2.0 * length.ln()).sqrt() * angle.cos()
}
