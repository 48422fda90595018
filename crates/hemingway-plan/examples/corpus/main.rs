//! The corpus that the prior is fitted to: rounds to certified errors of many configurations on many problems.
//!
//!     corpus SEED SECONDS JOBS [--only ALGORITHM,…] [--patience FACTOR] [FILE…] > corpus.jsonl
//!     corpus --characters CORPUS [FILE…] > characters.jsonl
//!
//! The second call makes the datasets of a corpus again and writes what `hemingway profile` says of them, a line for each.
//!
//! Draws datasets until the time is up: every other one is generated, every other one is the next of the files. On each it
//! solves one problem per loss, with a penalty at random, on a simulated cluster without a network. A line is a run.
//! Dual methods on one worker skip settled rows, so the effort of a run is given in passes over all rows as well as in
//! rounds. Runs are ended after less than a second of real time, or FACTOR times as long on a machine that is busy; errors
//! that were not reached by then were not reached *yet*.

mod characters;
#[path = "../../../hemingway-train/examples/regret/clocks.rs"]
mod clocks;
mod generated;

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clocks::Simulation;
use hemingway_data::{Dataset, Labels, LoadOptions, load};
use hemingway_plan::{Profile, prior};
use hemingway_train::{
    Cluster, DataProfile, Entry, Family, LOSSES, Loss, Machine, Needs, Parameters, Problem, Share, catalogue,
    entry,
};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;
use serde::Serialize;

const LAMBDAS: [f64; 6] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];
const WORKERS: [usize; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/// Local work that is not one pass.
const PASSES: [f64; 4] = [4.0, 4.0, 0.25, 16.0];
/// Errors are 10^(-k/4): a tenth is the first that counts, 1e-5 the last.
const LEVELS: std::ops::RangeInclusive<i32> = 4..=20;
/// A run ends after this much real time; methods that rarely win get less,
const LONGEST: Duration = Duration::from_millis(700);
const LESS: Duration = Duration::from_millis(250);
/// and those whose workers take turns in virtual time, which is slow to simulate, get more,
const TURNS: Duration = Duration::from_millis(1500);
/// or after this many rounds.
const MOST_ROUNDS: u64 = 10_000;
/// Factoring a larger Hessian takes longer than a run may.
const MOST_NEWTON: usize = 700;
/// Pilots are runs on so many rows, where there are at least two and a half times as many.
const PILOT_ROWS: usize = 1000;
/// More workers that take turns are too slow to simulate.
const MOST_ASYNCHRONOUS: usize = 64;
/// How many runs with other workers or other local work an algorithm gets that depends on them.
const SEVERAL: usize = 3;

/// One line.
#[derive(Serialize)]
struct Line<'a> {
    data: &'a str,
    real: bool,
    loss: Loss,
    lambda: f64,
    bias: bool,
    rows: usize,
    features: usize,
    nonzeros: usize,
    algorithm: &'static str,
    family: String,
    workers: usize,
    /// Whether rounds become shorter as rows settle, so that effort is not rounds.
    settles: bool,
    passes: f64,
    /// Rows of a pilot.
    pilot: Option<usize>,
    /// The terms of the prior at g = 1.
    terms: Vec<f64>,
    /// For each error 10^(-k/4): k, rounds and effort.
    reached: Vec<(i32, u64, f64)>,
    /// Rounds and effort when the run ended.
    ended: (u64, f64),
    stop: String,
    /// Seconds of a round over those that the catalogue predicts; of the first round where rounds become shorter.
    pace: f64,
}

/// What is run on a problem.
struct Trial<'a> {
    data: &'a Rc<Dataset>,
    profile: &'a DataProfile,
    name: &'a str,
    real: bool,
    problem: Problem,
    patience: f64,
}

/// What the command line asks for.
struct Wanted {
    seed: u64,
    end: Instant,
    files: Vec<String>,
    only: Option<Vec<String>>,
    patience: f64,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut flag = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.drain(at..(at + 2).min(arguments.len())).nth(1)
    };
    if let Some(corpus) = flag("--characters") {
        return characters::write(&corpus, &arguments);
    }
    let only = flag("--only").map(|names| names.split(',').map(str::to_owned).collect::<Vec<_>>());
    let patience = flag("--patience").map_or(1.0, |factor| factor.parse().expect("FACTOR is a number"));
    if let Some(name) = only.iter().flatten().find(|name| entry(name).is_none()) {
        eprintln!("there is no algorithm {name}");
        std::process::exit(2);
    }
    let [seed, seconds, jobs, files @ ..] = arguments.as_slice() else {
        eprintln!("usage: corpus SEED SECONDS JOBS [--only ALGORITHM,…] [--patience FACTOR] [FILE…]");
        std::process::exit(2);
    };
    let wanted = Wanted {
        seed: seed.parse().expect("SEED is a number"),
        end: Instant::now() + Duration::from_secs(seconds.parse().expect("SECONDS is a number")),
        files: files.to_vec(),
        only,
        patience,
    };
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs.parse().expect("JOBS is a number") {
            scope.spawn(|| {
                while Instant::now() < wanted.end {
                    on_dataset(&wanted, next.fetch_add(1, Ordering::Relaxed));
                }
            });
        }
    });
}

/// One problem per loss on a dataset.
fn on_dataset(wanted: &Wanted, at: u64) {
    let Wanted { seed, end, files, only, patience } = wanted;
    let mut rng = generated::random_of(*seed, at);
    let real = at % 2 == 1 && !files.is_empty();
    let (name, data, scores) = if real {
        let file = &files[(at / 2) as usize % files.len()];
        let data = load(file, &LoadOptions::default()).expect("a dataset");
        (source(file), data, None)
    } else {
        let made = generated::draw(&mut rng);
        (format!("{}-{seed}-{at}", made.kind), made.data, Some(made.scores))
    };
    let (profile, data) = (DataProfile::of(&data), Rc::new(data));
    for &loss in &LOSSES {
        let lambda = *LAMBDAS.choose(&mut rng).expect("some");
        let bias = rng.random::<f64>() < 0.25;
        let problem = Problem { bias, ..Problem::new(loss, lambda).expect("positive") };
        // Half of the generated problems with squares are regressions.
        let numbers = scores.as_ref().filter(|_| loss == Loss::Squared && rng.random());
        let regression = numbers.map(|numbers| {
            Rc::new(Dataset::new("regression", data.matrix.clone(), numbers.clone(), Labels::Numbers))
        });
        let data = regression.as_ref().unwrap_or(&data);
        let trial = Trial { data, profile: &profile, name: &name, real, problem, patience: *patience };
        // Numbers of its own, so that the problems are the same whatever is run on them.
        let mut own = Rng::seed_from_u64(rng.random());
        if Instant::now() < *end {
            trial.all(only.as_deref(), &mut own);
        }
    }
}

/// Whether workers wait for one another, so that a round is the same on every cluster.
fn waits(entry: &Entry) -> bool {
    matches!(entry.needs(), Needs::Collectives | Needs::Neighbours)
}

/// A file is named `source.variant.libsvm`.
fn source(file: &str) -> String {
    file.rsplit('/').next().unwrap_or(file).split('.').next().unwrap_or(file).to_owned()
}

impl Trial<'_> {
    fn all(&self, only: Option<&[String]>, rng: &mut Rng) {
        let rows = self.data.matrix.rows();
        let wanted = |name: &str| only.is_none_or(|only| only.iter().any(|only| only == name));
        for entry in catalogue().iter().filter(|entry| wanted(entry.name)) {
            let too_large = entry.name == "newton" && self.data.matrix.columns() > MOST_NEWTON;
            if too_large || (entry.unsuited)(self.data.matrix.columns(), self.problem.loss).is_some() {
                continue;
            }
            if !entry.depends_on_workers || entry.alone.is_none() {
                self.run(entry, 1, 1.0);
            }
            if entry.depends_on_workers {
                let most = if waits(entry) { usize::MAX } else { MOST_ASYNCHRONOUS };
                let possible: Vec<usize> =
                    WORKERS.into_iter().filter(|m| 4 * m <= rows && *m <= most).collect();
                for &workers in possible.sample(rng, SEVERAL) {
                    self.run(entry, workers, 1.0);
                }
                let local_work = entry.parameters.contains(&"local_steps");
                if let Some(&workers) = possible.choose(rng).filter(|_| local_work) {
                    self.run(entry, workers, *PASSES.choose(rng).expect("some"));
                }
            }
        }
        if 2 * rows > 5 * PILOT_ROWS && only.is_none() {
            self.pilots(rng);
        }
    }

    /// The same problem on some of the rows, for methods whose rounds hardly depend on how many there are.
    fn pilots(&self, rng: &mut Rng) {
        let rows = rand::seq::index::sample(rng, self.data.matrix.rows(), PILOT_ROWS).into_vec();
        let data = Rc::new(self.data.rows_at(&rows));
        let profile = DataProfile::of(&data);
        let trial = Trial { data: &data, profile: &profile, ..*self };
        for entry in ["l-bfgs", "newton"].iter().filter_map(|name| entry(name)) {
            if entry.name != "newton" || data.matrix.columns() <= MOST_NEWTON {
                trial.run_with(entry, 1, 1.0, Some(PILOT_ROWS));
            }
        }
    }

    fn run(&self, entry: &'static Entry, workers: usize, passes: f64) {
        self.run_with(entry, workers, passes, None);
    }

    fn run_with(&self, entry: &'static Entry, workers: usize, passes: f64, pilot: Option<usize>) {
        let rows = self.data.matrix.rows() as f64;
        let steps = (passes * (rows / workers as f64).ceil()).round() as usize;
        let parameters =
            Parameters { local_steps: (passes != 1.0).then_some(steps), ..Parameters::default() };
        let simulation = Simulation {
            data: Rc::clone(self.data),
            problem: self.problem,
            algorithm: hemingway_train::algorithm(entry.name, &parameters).expect("in the catalogue"),
            workers,
            seed: 1,
            clusters: vec![without_network()],
        };
        let record = Rc::new(RefCell::new(Vec::<(u64, f64, f64)>::new()));
        let (observer, begun) = (Rc::clone(&record), Instant::now());
        let last = 10_f64.powi(-LEVELS.end() / 4);
        let longest = match entry.family {
            _ if !waits(entry) => TURNS,
            Family::Stochastic | Family::Decentralised => LESS,
            Family::Batch if entry.name == "gradient-descent" => LESS,
            Family::Dual | Family::Batch | Family::SecondOrder => LONGEST,
        };
        let longest = longest.mul_f64(self.patience);
        let run = simulation.run(Box::new(move |point, seconds| {
            let error = if point.dual > 0.0 { point.certified_error } else { f64::INFINITY };
            observer.borrow_mut().push((point.round, seconds[0], error));
            error > last && begun.elapsed() < longest && point.round < MOST_ROUNDS
        }));
        let Ok(run) = run else { return };
        self.write(entry, workers, passes, pilot, &record.borrow(), run.stop.reason());
    }

    fn write(
        &self,
        entry: &'static Entry,
        workers: usize,
        passes: f64,
        pilot: Option<usize>,
        points: &[(u64, f64, f64)],
        stop: &str,
    ) {
        let points: Vec<_> = points.iter().filter(|point| point.0 > 0).collect();
        let (Some(&&(first, begun, _)), Some(&&last)) = (points.first(), points.last()) else { return };
        let share = Share::new(self.profile, &self.problem, workers, passes);
        let seconds = |phases: Vec<hemingway_train::Phase>| -> f64 {
            phases.iter().map(|phase| phase.times * without_network().seconds(0, phase.work)).sum()
        };
        let (round, set_up) = (seconds((entry.round)(&share)), seconds((entry.set_up)(&share)));
        let settles = entry.settles_alone && workers == 1;
        let first_round = begun / first as f64;
        let effort = |point: &(u64, f64, f64)| if settles { point.1 / first_round } else { point.0 as f64 };
        let pace = match settles || last.0 == first {
            true => (begun - set_up) / first as f64 / round,
            false => (last.1 - begun) / (last.0 - first) as f64 / round,
        };
        let at = |level: i32| {
            let error = 10_f64.powf(-f64::from(level) / 4.0);
            let point = points.iter().find(|point| point.2 <= error)?;
            Some((level, point.0, digits(effort(point))))
        };
        let profile = Profile::new(self.profile.clone(), &self.problem);
        let line = Line {
            data: self.name,
            real: self.real,
            loss: self.problem.loss,
            lambda: self.problem.lambda,
            bias: self.problem.bias,
            rows: self.profile.rows,
            features: self.profile.features,
            nonzeros: self.profile.nonzeros,
            algorithm: entry.name,
            family: format!("{:?}", entry.family),
            workers,
            settles,
            passes,
            pilot,
            terms: prior::terms(&profile, workers, passes, 1.0).map(digits).to_vec(),
            reached: LEVELS.filter_map(at).collect(),
            ended: (last.0, digits(effort(&last))),
            stop: stop.to_owned(),
            pace: digits(pace),
        };
        let text = serde_json::to_string(&line).expect("plain data");
        writeln!(std::io::stdout().lock(), "{text}").expect("standard output");
    }
}

/// Workers of one kind that speak to each other at once.
fn without_network() -> Cluster {
    let mut cluster = Cluster::of(Machine { flops: 1e9, bytes: 4e9 });
    cluster.network.latency = 0.0;
    cluster.network.bandwidth = 1e18;
    cluster
}

/// Six of them, which keeps the corpus small.
fn digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("a number")
}
