//! How fast characters are found, beside a plain sum of the same bytes, and a sum for each column, on as many threads.
//!
//!     RAYON_NUM_THREADS=2 cargo run --release -p hemingway-data --example characters -- 500
//!
//! The arguments are the size of the data in MB and, if not all are wanted, how names begin. Each figure is the median of several repeats that take turns, so that both
//! see the same machine.

use std::hint::black_box;
use std::time::Instant;

use hemingway_data::{Characters, Dataset, Dense, Labels, Matrix, Sparse};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

const REPEATS: usize = 7;

/// Kinds of data: what they are, and how to make so many bytes of it.
type Case = (&'static str, fn(usize) -> Dataset);

const CASES: [Case; 5] = [
    ("dense, 784 features", |bytes| dense(bytes, 784)),
    ("dense, 28 features", |bytes| dense(bytes, 28)),
    ("CSR, 47,236 features", |bytes| sparse(bytes, 47_236, 75)),
    ("CSR, 4,000 features", |bytes| sparse(bytes, 4_000, 75)),
    ("CSR, 1,000,000 features", |bytes| sparse(bytes, 1_000_000, 75)),
];

fn main() {
    let megabytes: usize = std::env::args().nth(1).map_or(500, |text| text.parse().expect("a size in MB"));
    let bytes = megabytes * 1_000_000;
    println!("{} threads, {megabytes} MB each", rayon::current_num_threads());
    let only = std::env::args().nth(2);
    let wanted = |(name, _): &&Case| only.as_deref().is_none_or(|only| name.starts_with(only));
    CASES.iter().filter(wanted).for_each(|(name, make)| measure(name, make(bytes)));
}

fn measure(name: &str, data: Dataset) {
    let (mut sums, mut passes, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut by_column = Vec::new();
    for _ in 0..REPEATS {
        let sum = timed(|| plain_sum(&data.matrix));
        let pass = timed(|| Characters::pass_only(&data));
        by_column.push(timed(|| sum_by_column(&data.matrix))[0]);
        ratios.push([sum[0] / pass[0], sum[1] / pass[1]]);
        sums.push(sum[0]);
        passes.push(pass[0]);
    }
    let all = timed(|| Characters::of(&data))[0];
    let gigabytes = bytes(&data.matrix) / 1e9;
    println!(
        "{name}: sum {:.1} GB/s, sum by column {:.1} GB/s, pass {:.1} GB/s, pass / sum {:.2} ({:.2} of time on cores); \
         all characters {all:.2} s",
        gigabytes / median(sums),
        gigabytes / median(by_column),
        gigabytes / median(passes),
        median(ratios.iter().map(|ratio| ratio[0]).collect()),
        median(ratios.iter().map(|ratio| ratio[1]).collect()),
    );
}

/// Seconds by the clock, and seconds on cores, which others who use the machine do not lengthen as much.
fn timed<T>(work: impl FnOnce() -> T) -> [f64; 2] {
    let (begin, used) = (Instant::now(), on_cores());
    black_box(work());
    [begin.elapsed().as_secs_f64(), on_cores() - used]
}

/// What all threads have had of cores, where the system tells.
fn on_cores() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let text = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    text.filter_map(|text| text.split(' ').next()?.parse::<f64>().ok()).sum::<f64>() / 1e9
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// The same bytes, added up.
fn plain_sum(matrix: &Matrix) -> f64 {
    match matrix {
        Matrix::Dense(dense) => add_up(dense.values(), |value| *value as f64),
        Matrix::Sparse(sparse) => {
            let ends = add_up(sparse.offsets(), |offset| *offset as f64);
            add_up(sparse.values(), |value| f64::from(*value))
                + add_up(sparse.indices(), |index| f64::from(*index))
                + ends
        }
    }
}

/// The least that anything for each column takes: one addition for each value.
fn sum_by_column(matrix: &Matrix) -> f64 {
    let threads = rayon::current_num_threads();
    let rows = |thread: usize| matrix.rows() * thread / threads..matrix.rows() * (thread + 1) / threads;
    let sums = (0..threads).into_par_iter().map(|thread| {
        let mut sums = vec![0.0; matrix.columns()];
        match matrix {
            Matrix::Dense(dense) => {
                let width = dense.columns();
                let values = &dense.values()[rows(thread).start * width..rows(thread).end * width];
                for row in values.chunks_exact(width) {
                    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
                }
            }
            Matrix::Sparse(sparse) => {
                let stored = sparse.offsets()[rows(thread).start]..sparse.offsets()[rows(thread).end];
                for (index, value) in sparse.indices()[stored.clone()].iter().zip(&sparse.values()[stored]) {
                    sums[*index as usize] += f64::from(*value);
                }
            }
        }
        sums.iter().sum::<f64>()
    });
    sums.sum()
}

fn add_up<T: Sync>(values: &[T], wide: impl Fn(&T) -> f64 + Sync) -> f64 {
    let share = values.len().div_ceil(rayon::current_num_threads()).max(1);
    let sum = |values: &[T]| {
        let mut sums = [0.0; 16];
        let (chunks, rest) = values.as_chunks::<16>();
        for chunk in chunks {
            sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += wide(value));
        }
        sums.iter().sum::<f64>() + rest.iter().map(&wide).sum::<f64>()
    };
    values.par_chunks(share).map(sum).sum()
}

fn bytes(matrix: &Matrix) -> f64 {
    match matrix {
        Matrix::Dense(dense) => 4.0 * dense.values().len() as f64,
        Matrix::Sparse(sparse) => 8.0 * (sparse.values().len() + sparse.offsets().len()) as f64,
    }
}

fn dense(bytes: usize, columns: usize) -> Dataset {
    let rows = bytes / 4 / columns;
    let mut values = vec![0.0; rows * columns];
    values.par_chunks_mut(columns * 1024).enumerate().for_each(|(block, values)| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(block as u64);
        values.iter_mut().for_each(|value| *value = random.random::<f32>() - 0.5);
    });
    labelled(Matrix::Dense(Dense::new(rows, columns, values)), rows)
}

/// Rows like those of text: few features are frequent.
fn sparse(bytes: usize, columns: usize, each: usize) -> Dataset {
    let rows = bytes / 8 / each;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut row: Vec<u32> = Vec::new();
    for _ in 0..rows {
        let feature = |_| (columns as f64).powf(random.random::<f64>()) as u32 - 1;
        row.extend((0..each).map(feature));
        row.sort_unstable();
        row.dedup();
        indices.append(&mut row);
        offsets.push(indices.len());
    }
    values.extend(indices.iter().map(|_| random.random::<f32>()));
    labelled(Matrix::Sparse(Sparse::new(columns, offsets, indices, values)), rows)
}

fn labelled(matrix: Matrix, rows: usize) -> Dataset {
    let targets = (0..rows).map(|row| if (row * 7919) % 5 < 2 { 1.0 } else { -1.0 }).collect();
    let labels = Labels::Classes { negative: "0".into(), positive: "1".into() };
    let features = hemingway_data::Features::all(matrix.columns());
    let (name, fingerprint) = (String::new(), hemingway_data::Fingerprint::default());
    Dataset { name, matrix, features, targets, weights: None, labels, encoding: None, fingerprint }
}
