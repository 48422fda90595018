//! Runs that teach the prior: simulated training on varied data, as CSV of rounds to certified errors.
//!
//! `prior_runs SEED SECONDS` draws problems at random until the time is up, `prior_runs SEED SECONDS FILE…` takes the
//! data of each problem from the next of these files, and `prior_runs FILE…` makes the same runs on every file
//! (`FILE#5` makes label 5 the positive one). One line for each run and error: the rounds it took, or with `reached` 0
//! the rounds after which it was not reached; the seconds of a round until then, and how many times they are those of a
//! pass that visits every row of one worker. With `ONLY=cocoa` or
//! `ONLY=cocoa:1` in the environment the same problems are drawn, and only that algorithm runs, or only on so many workers.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hemingway_data::{Dataset, Dense, LoadOptions, Matrix, Sparse, Transform, load, synthetic_names};
use hemingway_plan::Glance;
use hemingway_plan::prior::seconds_per_round;
use hemingway_train::{
    Cluster, Engine, Event, Job, Loss, Machine, Parameters, Problem, Scoring, Simulated, Start, Stop,
    StopRules, algorithm,
};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;

const ERRORS: [f64; 8] = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5];
const WORKERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Wall time of a run.
const LONGEST: Duration = Duration::from_millis(1500);
const LONGEST_ON_FILES: Duration = Duration::from_millis(2500);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "data,loss,lambda,rows,features,nonzeros,mean_squared_norm,largest_squared_norm,common,rare_share,\
         algorithm,workers,passes,error,rounds,reached,seconds_per_round,activity"
    );
    match arguments.as_slice() {
        [seed, seconds, files @ ..] if seed.parse::<u64>().is_ok() => {
            let mut rng = Rng::seed_from_u64(seed.parse().expect("a number"));
            let end = Instant::now() + Duration::from_secs(seconds.parse().expect("seconds"));
            let mut files = files.iter().cycle();
            while Instant::now() < end {
                match files.next() {
                    Some(file) => some_runs(name_of(file), &opened(file), &mut rng),
                    None => generated(&mut rng),
                }
            }
        }
        files => files.iter().for_each(|file| real(file)),
    }
}

/// Data at random, and a few runs on it.
fn generated(rng: &mut Rng) {
    let names: Vec<&str> = synthetic_names().map(|(name, _)| name).collect();
    let name = *names.choose(rng).expect("there are some");
    let rows = between(rng, 1e3, 2e4);
    let sparse = ["text", "sparse", "diversity"].iter().any(|kind| name.starts_with(kind));
    let most = if sparse { 5e3 } else { (2e6 / rows).min(2e3) };
    let features = between(rng, if sparse { 100.0 } else { 10.0 }, most);
    let spec =
        format!("synthetic:{name},rows={rows:.0},features={features:.0},seed={}", rng.random_range(0..1000));
    let spec = if sparse { format!("{spec},density={:.4}", between(rng, 0.003, 0.1)) } else { spec };
    let mut data = load(&spec, &LoadOptions::default()).expect("a valid spec");
    roughen(&mut data, rng);
    let kind = *["plain", "rows", "columns"].choose(rng).expect("three");
    Transform::fit(&data, kind == "rows", kind == "columns").apply(&mut data);
    some_runs(name, &data, rng);
}

/// A problem at random on this data, and a few runs.
fn some_runs(name: &str, data: &Dataset, rng: &mut Rng) {
    let (rows, features) = (data.matrix.rows() as f64, data.matrix.columns());
    let loss = *[Loss::Hinge, Loss::Logistic].choose(rng).expect("two");
    let problem = Problem::new(loss, between(rng, 0.1 / rows, 1e-2)).expect("positive");
    for algorithm in ["cocoa", "cocoa-plus", "local-sgd"] {
        for workers in WORKERS.sample(rng, 3) {
            let passes = *[1.0, 1.0, 1.0, 0.25, 4.0].choose(rng).expect("some");
            run(name, data, problem, algorithm, *workers, passes, LONGEST);
        }
    }
    for algorithm in ["l-bfgs", "gradient-descent", "minibatch-sgd", "newton"] {
        if algorithm != "newton" || features <= 800 {
            // Workers make no difference to these.
            run(name, data, problem, algorithm, 1, 1.0, LONGEST);
        }
    }
}

/// A number between two others, even in its logarithm.
fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.random::<f64>() * (high / low).ln()).exp()
}

/// Makes generated data more like what people have: features of unequal size, a common offset, wrong labels and
/// rare classes.
fn roughen(data: &mut Dataset, rng: &mut Rng) {
    let decay = *[0.0, 0.0, 0.5, 1.0].choose(rng).expect("some");
    let offset = *[0.0, 0.0, 0.3, 1.0].choose(rng).expect("some");
    let wrong = *[0.0, 0.02, 0.1, 0.2].choose(rng).expect("some");
    let kept = *[1.0, 1.0, 0.3, 0.05].choose(rng).expect("some");
    let keep: Vec<bool> = data.targets.iter().map(|y| *y < 0.0 || rng.random::<f64>() < kept).collect();
    let columns = data.matrix.columns();
    let scale = |column: usize| (1.0 + column as f32 * 20.0 / columns as f32).powf(-decay);
    data.matrix = match &data.matrix {
        Matrix::Dense(dense) => {
            let rows = dense.values().chunks_exact(columns).zip(&keep).filter(|(_, keep)| **keep);
            let change = |(column, value): (usize, &f32)| (value + offset) * scale(column);
            let values: Vec<f32> = rows.flat_map(|(row, _)| row.iter().enumerate().map(change)).collect();
            Matrix::Dense(Dense::new(values.len() / columns, columns, values))
        }
        Matrix::Sparse(sparse) => {
            let (mut ends, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for (range, _) in sparse.offsets().windows(2).zip(&keep).filter(|(_, keep)| **keep) {
                for at in range[0]..range[1] {
                    indices.push(sparse.indices()[at]);
                    values.push(sparse.values()[at] * scale(sparse.indices()[at] as usize));
                }
                ends.push(indices.len());
            }
            Matrix::Sparse(Sparse::new(columns, ends, indices, values))
        }
    };
    let kept = data.targets.iter().zip(&keep).filter(|(_, keep)| **keep);
    data.targets = kept.map(|(y, _)| if rng.random::<f64>() < wrong { -y } else { *y }).collect();
}

/// What a file is called up to the first dot.
fn name_of(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file).split(['.', '#']).next().unwrap_or(file)
}

fn opened(file: &str) -> Dataset {
    let (path, positive) = file.split_once('#').unwrap_or((file, ""));
    let positive = (!positive.is_empty()).then(|| positive.to_owned());
    load(path, &LoadOptions { positive, ..LoadOptions::default() }).expect("a dataset")
}

/// Both losses and two penalties on a file.
fn real(file: &str) {
    let (name, data) = (name_of(file), opened(file));
    let n = data.matrix.rows() as f64;
    for loss in [Loss::Hinge, Loss::Logistic] {
        for lambda in [1.0 / n, 1e-3] {
            let problem = Problem::new(loss, lambda).expect("positive");
            for algorithm in ["cocoa", "cocoa-plus", "local-sgd"] {
                for workers in [1, 4, 32] {
                    run(name, &data, problem, algorithm, workers, 1.0, LONGEST_ON_FILES);
                }
            }
            for algorithm in ["l-bfgs", "gradient-descent", "minibatch-sgd", "newton"] {
                if algorithm != "newton" || data.matrix.columns() <= 800 {
                    run(name, &data, problem, algorithm, 1, 1.0, LONGEST_ON_FILES);
                }
            }
        }
    }
}

/// One run, and a line for each error.
fn run(
    name: &str,
    data: &Dataset,
    problem: Problem,
    method: &str,
    workers: usize,
    passes: f64,
    longest: Duration,
) {
    let wanted = std::env::var("ONLY").unwrap_or_default();
    if ![method, &format!("{method}:{workers}"), ""].contains(&wanted.as_str()) {
        return;
    }
    let local = matches!(method, "cocoa" | "cocoa-plus" | "local-sgd") && passes != 1.0;
    let steps = (passes * data.matrix.rows() as f64 / workers as f64).ceil() as usize;
    let parameters = Parameters { local_steps: local.then_some(steps), ..Parameters::default() };
    let algorithm = algorithm(method, &parameters).expect("in the catalogue");
    let (rounds, every) = if method == "minibatch-sgd" { (2000, 16) } else { (1500, 1) };
    let interrupt = AtomicBool::new(false);
    let job = Job {
        problem,
        algorithm: &*algorithm,
        workers,
        seed: 1,
        stop: StopRules { error: Some(ERRORS[7]), rounds: Some(rounds), ..StopRules::default() },
        scoring: Scoring::Every(every),
        start: Start::Zero,
        checkpoint_every: None,
        interrupt: Some(&interrupt),
        hand_over: None,
    };
    let (begun, mut points) = (Instant::now(), Vec::new());
    let cluster = Cluster::of(Machine::default());
    let done = Simulated::new(cluster.clone()).run(data, &job, &mut |event| {
        if let Event::Point(point) = event {
            points.push(*point);
        }
        interrupt.store(begun.elapsed() > longest, Ordering::Relaxed);
        Ok(())
    });
    let Ok(done) = done else { return };
    let glance = Glance::of(data, &problem);
    let visiting_all = seconds_per_round(&glance, "local-sgd", 1, 1.0, 1.0, &cluster).unwrap_or(f64::NAN);
    let stuck = matches!(done.stop, Stop::NoProgress | Stop::Diverged);
    let mut out = std::io::stdout().lock();
    for error in ERRORS {
        let hit = points.iter().find(|point| point.certified_error <= error);
        let end = hit.or(points.last()).filter(|point| point.round > 0);
        let pace = end.map_or(f64::NAN, |point| point.seconds.0 / point.round as f64);
        let activity = pace / (visiting_all * passes);
        let (rounds, reached) = match hit {
            Some(point) => (point.round.max(1), 1),
            None => (done.rounds.max(1), if stuck { -1 } else { 0 }),
        };
        let Glance { rows, features, nonzeros, mean_squared_norm, largest_squared_norm, common, .. } = glance;
        writeln!(
            out,
            "{name},{},{:e},{rows},{features},{nonzeros},{mean_squared_norm:e},{largest_squared_norm:e},\
             {common:e},{:.4},{method},{workers},{passes},{error:e},{rounds},{reached},{pace:e},{activity:e}",
            problem.loss, problem.lambda, glance.rare_share
        )
        .expect("standard output");
    }
}
