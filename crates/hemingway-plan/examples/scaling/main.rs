//! How far algorithms scale on a perfect computer: iterations per worker by the number of workers, on many datasets.
//!
//!     scaling measure SECONDS OUT GENERATED [FILE…]     # appends to OUT what is not in it yet
//!     scaling characters GENERATED [FILE…]              # what `hemingway profile` says of the same data
//!
//! A line is a curve, or the characters of a dataset at a penalty. GENERATED datasets are drawn; of a file a few thousand rows
//! are taken. `bench/scaling` fits them.

mod curve;
#[path = "../corpus/generated.rs"]
#[expect(dead_code, reason = "of what is drawn only the data is used")]
mod generated;
mod perfect;

use std::collections::HashSet;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use curve::{Curve, FAMILIES, GOAL, Known};
use hemingway_data::{Characters, Dataset, LoadOptions, Matrix, Sparse, load, sample_rows};
use hemingway_plan::scaling::characters;
use hemingway_train::{DataProfile, Loss, Problem, SampledProfile};
use rand::RngExt;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};

/// The paper's is 0.01, the default of `train` 0.0001.
const LAMBDAS: [f64; 3] = [1e-3, 1e-2, 1e-4];
/// Rows of a file that are taken.
const ROWS: f64 = 3000.0;
/// Features of sparse data.
const FEATURES: usize = 1000;
/// Rows of generated data.
const FEWEST: f64 = 1000.0;
const MOST: f64 = 5000.0;
/// How many times each row of generated data is there: diversity is a character, too.
const COPIES: [usize; 8] = [1, 1, 1, 1, 1, 2, 4, 16];
const SEED: u64 = 11;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["measure", seconds, out, generated, files @ ..] => {
            let end = Instant::now() + Duration::from_secs(seconds.parse().expect("SECONDS is a number"));
            measure(end, out, &datasets(generated, files));
        }
        ["characters", generated, files @ ..] => {
            for name in datasets(generated, files) {
                let data = dataset(&name);
                let of = Characters::of(&data);
                LAMBDAS.iter().for_each(|lambda| println!("{}", told(&called(&name), &data, &of, *lambda)));
            }
        }
        _ => {
            eprintln!(
                "usage: scaling measure SECONDS OUT GENERATED [FILE…]\n       scaling characters GENERATED [FILE…]"
            );
            std::process::exit(2);
        }
    }
}

/// Files, and numbers of generated datasets.
fn datasets(generated: &str, files: &[&str]) -> Vec<String> {
    let generated: u64 = generated.parse().expect("GENERATED is a number");
    let numbers = (0..generated).map(|at| at.to_string());
    files.iter().map(|file| (*file).to_owned()).chain(numbers).collect()
}

fn measure(end: Instant, out: &str, names: &[String]) {
    let known = std::fs::read_to_string(out).unwrap_or_default();
    let lines = known.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let key = |name: &str, lambda: f64, family: &str| format!("{name} {lambda} {family}");
    let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
    let done: HashSet<String> = lines
        .map(|line| key(&text(&line, "data"), line["lambda"].as_f64().unwrap_or(0.0), &text(&line, "family")))
        .collect();
    let mut out =
        std::fs::OpenOptions::new().append(true).create(true).open(out).expect("OUT can be written");
    for lambda in LAMBDAS {
        for name in names {
            let missing = |family: &&curve::Family| !done.contains(&key(&called(name), lambda, family.name));
            let missing: Vec<_> = FAMILIES.iter().filter(missing).collect();
            if missing.is_empty() || Instant::now() > end {
                continue;
            }
            let data = Rc::new(dataset(name));
            let norm = DataProfile::of(&data).mean_squared_norm;
            let problem = Problem::new(Loss::Logistic, lambda).expect("positive");
            let Some(problem) = Known::new(Rc::clone(&data), problem, norm) else { continue };
            for family in missing {
                let begun = Instant::now();
                let Curve { points, ended } = problem.curve(family);
                let line = json!({
                    "data": called(name), "rows": data.matrix.rows(), "features": data.matrix.columns(), "lambda": lambda,
                    "family": family.name, "algorithm": family.algorithm, "goal": GOAL, "optimum": problem.optimum,
                    "points": points, "ended": ended, "seconds": begun.elapsed().as_secs_f64(),
                });
                writeln!(out, "{line}").expect("OUT can be written");
            }
        }
    }
}

/// What `hemingway profile` says of a problem.
fn told(name: &str, data: &Dataset, of: &Characters, lambda: f64) -> Value {
    let problem = Problem::new(Loss::Logistic, lambda).expect("positive");
    let sample = sample_rows(data, SampledProfile::rows_to_sample(of), 0);
    let sample = SampledProfile::of(&sample, of.rows, &problem);
    let characters = characters(of, &sample, lambda);
    let values: serde_json::Map<String, Value> =
        characters.iter().map(|of| (of.name.to_owned(), json!(of.value))).collect();
    json!({ "data": name, "lambda": lambda, "characters": values })
}

/// A file without its folder and ending, or the number of a generated dataset.
fn called(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    let file = file.trim_end_matches(".gz").trim_end_matches(".libsvm");
    match file.parse::<u64>() {
        Ok(number) => format!("generated-{number}"),
        Err(_) => file.to_owned(),
    }
}

fn dataset(name: &str) -> Dataset {
    let Ok(at) = name.parse() else {
        let all = load(name, &LoadOptions::default()).expect("a dataset");
        let share = (ROWS / all.matrix.rows() as f64).min(1.0);
        // Rows of a worker follow one another in a file.
        return occurring(&all.sample(share, SEED).shuffled(SEED));
    };
    let mut rng = generated::random_of(SEED, at);
    let data = generated::draw(&mut rng).data;
    let rows = (FEWEST * (MOST / FEWEST).powf(rng.random::<f64>())) as usize;
    let rows = rows.min(data.matrix.rows());
    let copies = *COPIES.choose(&mut rng).expect("some");
    let different = rows.div_ceil(copies);
    let chosen: Vec<usize> = (0..rows).map(|row| row % different).collect();
    occurring(&data.rows_at(&chosen))
}

/// Without the features that none of the rows has; of many only the most frequent ones, since workers hold weights for all.
fn occurring(data: &Dataset) -> Dataset {
    let matrix = match &data.matrix {
        Matrix::Dense(dense) => Matrix::Dense(dense.clone()),
        Matrix::Sparse(sparse) => Matrix::Sparse(most_frequent(sparse)),
    };
    Dataset::new(&data.name, matrix, data.targets.clone(), data.labels.clone())
}

fn most_frequent(of: &Sparse) -> Sparse {
    let mut rows = vec![0_usize; of.columns()];
    of.indices().iter().for_each(|feature| rows[*feature as usize] += 1);
    let mut kept: Vec<u32> = (0..of.columns() as u32).filter(|feature| rows[*feature as usize] > 0).collect();
    kept.sort_by_key(|feature| std::cmp::Reverse(rows[*feature as usize]));
    kept.truncate(FEATURES);
    kept.sort_unstable();
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for ends in of.offsets().windows(2) {
        for at in ends[0]..ends[1] {
            if let Ok(place) = kept.binary_search(&of.indices()[at]) {
                indices.push(place as u32);
                values.push(of.values()[at]);
            }
        }
        offsets.push(indices.len());
    }
    Sparse::new(kept.len(), offsets, indices, values)
}
