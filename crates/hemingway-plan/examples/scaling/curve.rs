//! Iterations per worker to an error, by the number of workers: the index of the paper.
//!
//! Every method that has a step size gets the best one for each number of workers: a rule that is common to all of them would
//! measure the rule. The best one is climbed to by factors of two, from that of half as many workers.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hemingway_data::Dataset;
use hemingway_train::{Engine, Job, Parameters, Problem, Scoring, Start, StopRules, Threads, algorithm};
use serde::Serialize;

use crate::perfect::Perfect;

/// (P − P*)/P* that is to be reached.
pub const GOAL: f64 = 1e-2;
/// P* is known to this error.
const KNOWN: f64 = 1e-6;
/// The mean of the logarithms over these counts.
const SEEDS: [u64; 2] = [1, 2];
/// Numbers of workers are powers of two up to this one.
const MOST_WORKERS: usize = 1024;
/// Each has so many rows or more.
const LEAST_ROWS: usize = 2;
/// A curve that took so long of real time is not continued, and a run that would make it twice as long is ended.
const LONGEST: Duration = Duration::from_secs(5);
/// No run takes more iterations per worker.
const MOST_ITERATIONS: f64 = 1e6;
/// A curve ends where iterations are this multiple of the least,
const RISEN: f64 = 2.0;
/// or where the last two doublings each left more than this share of them.
const FLAT: f64 = 0.97;
/// Steps of the first climb.
const COARSE: f64 = 8.0;
const FINE: f64 = 2.0;

/// Who makes the iterations of several workers.
#[derive(Clone, Copy, PartialEq)]
pub enum Together {
    /// They do.
    Workers,
    /// They do, and one alone is another method.
    Except(&'static str),
    /// One worker with the rows of all: a sum is the same whoever computes its parts, and that is faster.
    One,
}

/// What stands for a family, and what one iteration of a worker is.
pub struct Family {
    pub name: &'static str,
    pub algorithm: &'static str,
    /// What a run of m workers is made by: itself, or one worker that does what they would do together.
    pub together: Together,
    pub has_step_size: bool,
    /// Rows of a worker in an iteration; nothing: what the method takes by itself.
    pub rows: Option<usize>,
}

pub const FAMILIES: [Family; 5] = [
    Family {
        name: "asynchronous",
        algorithm: "hogwild",
        together: Together::Workers,
        has_step_size: true,
        rows: None,
    },
    Family {
        name: "mini-batch",
        algorithm: "minibatch-sgd",
        together: Together::One,
        has_step_size: true,
        rows: Some(1),
    },
    Family {
        name: "decentralised",
        algorithm: "ecd-psgd",
        together: Together::Except("minibatch-sgd"),
        has_step_size: true,
        rows: Some(1),
    },
    Family {
        name: "dual",
        algorithm: "dadm",
        together: Together::Workers,
        has_step_size: false,
        rows: Some(1),
    },
    // Its rounds visit all rows of a worker, which is how they are counted.
    Family {
        name: "cocoa-plus",
        algorithm: "cocoa-plus",
        together: Together::Workers,
        has_step_size: false,
        rows: None,
    },
];

/// A problem with its optimum.
pub struct Known {
    pub data: Rc<Dataset>,
    pub problem: Problem,
    pub optimum: f64,
    at_zero: f64,
    mean_squared_norm: f64,
}

/// One number of workers: iterations of each, and the first step size, which is 0 where there is none.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Point(pub usize, pub f64, pub f64);

/// Runs that differ in their seeds.
struct Runs<'a> {
    family: &'a Family,
    workers: usize,
    step: f64,
    /// Nothing is run later.
    end: Instant,
}

/// What was measured, and why it ends.
pub struct Curve {
    pub points: Vec<Point>,
    pub ended: &'static str,
}

impl Known {
    pub fn new(data: Rc<Dataset>, problem: Problem, mean_squared_norm: f64) -> Option<Known> {
        let algorithm = algorithm("newton-cg", &Parameters::default()).expect("in the catalogue");
        let job = Job {
            problem,
            algorithm: algorithm.as_ref(),
            workers: 1,
            seed: 0,
            stop: StopRules { error: Some(KNOWN), rounds: Some(300), ..StopRules::default() },
            scoring: Scoring::default(),
            start: Start::Zero,
            checkpoint_every: None,
            interrupt: None,
            hand_over: None,
        };
        let run = Threads.run(&data, &job, &mut |_| Ok(())).ok()?;
        let optimum = run.primal;
        let known = run.primal - run.dual <= 1e-2 * GOAL * optimum;
        let at_zero = std::f64::consts::LN_2;
        (known && optimum > 0.0).then_some(Known { data, problem, optimum, at_zero, mean_squared_norm })
    }

    pub fn curve(&self, family: &Family) -> Curve {
        let begun = Instant::now();
        let rows = self.data.matrix.rows();
        let mut points: Vec<Point> = Vec::new();
        let mut workers = 1;
        let ended = loop {
            if workers > MOST_WORKERS {
                break "workers";
            }
            if LEAST_ROWS * workers > rows {
                break "rows";
            }
            if begun.elapsed() > LONGEST {
                break "time";
            }
            let Some(point) = self.point(family, workers, points.last(), begun + 2 * LONGEST) else {
                break if begun.elapsed() > 2 * LONGEST { "time" } else { "never" };
            };
            points.push(point);
            let least = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            let left = points.windows(2).map(|two| two[1].1 / two[0].1);
            if point.1 > RISEN * least {
                break "rose";
            }
            if points.len() > 2 && left.rev().take(2).all(|left| left > FLAT) {
                break "flat";
            }
            workers *= 2;
        };
        Curve { points, ended }
    }

    /// The best step size for so many workers, and iterations with it.
    fn point(&self, family: &Family, workers: usize, before: Option<&Point>, end: Instant) -> Option<Point> {
        let mean = |step, most| self.mean_iterations(&Runs { family, workers, step, end }, most);
        let (step, iterations) = match (family.has_step_size, before) {
            (false, _) => (0.0, mean(0.0, MOST_ITERATIONS)?),
            (true, Some(before)) => climb(before.2, FINE, None, mean)?,
            (true, None) => {
                let (step, iterations) = climb(1.0 / self.mean_squared_norm, COARSE, None, mean)?;
                climb(step, FINE, Some(iterations), mean)?
            }
        };
        (Instant::now() < end).then_some(Point(workers, iterations, step))
    }

    /// The geometric mean over the seeds, if it is no larger than so much.
    fn mean_iterations(&self, runs: &Runs, most: f64) -> Option<f64> {
        let (mut product, all) = (1.0, most.powi(SEEDS.len() as i32));
        for (at, seed) in SEEDS.into_iter().enumerate() {
            // None of the others takes less than a quarter of the mean.
            let others = (most / 4.0).powi((SEEDS.len() - 1 - at) as i32);
            product *= self.iterations(runs, seed, (all / product / others).min(MOST_ITERATIONS))?;
        }
        Some(product.powf(1.0 / SEEDS.len() as f64)).filter(|mean| *mean <= most)
    }

    /// Iterations per worker to the goal, if there are no more than so many. Between two scores 1/error grows evenly, as that
    /// of stochastic methods does.
    fn iterations(&self, runs: &Runs, seed: u64, most: f64) -> Option<f64> {
        let Runs { family, workers, step, end } = *runs;
        let name = match family.together {
            Together::Except(alone) if workers == 1 => alone,
            _ => family.algorithm,
        };
        let parameters = Parameters {
            batch: family.rows.map(|rows| rows * workers),
            step_size: family.has_step_size.then_some(step),
            ..Parameters::default()
        };
        let run = Perfect {
            data: Rc::clone(&self.data),
            problem: self.problem,
            algorithm: algorithm(name, &parameters).expect("in the catalogue"),
            workers: if family.together == Together::One { 1 } else { workers },
            seed,
        };
        // A round without a number of rows visits all that a worker has.
        let each = match family.algorithm {
            "cocoa-plus" => self.data.matrix.rows() as f64 / workers as f64,
            _ => 1.0,
        };
        let reached = Rc::new(Cell::new(None));
        let found = Rc::clone(&reached);
        let optimum = self.optimum;
        let error = move |objective: f64| (objective - optimum) / optimum;
        let mut last = (0.0, error(self.at_zero));
        run.run(Box::new(move |iterations, objective| {
            let (iterations, error) = (iterations * each, error(objective).max(1e-12));
            if error <= GOAL {
                let share = (1.0 / GOAL - 1.0 / last.1) / (1.0 / error - 1.0 / last.1);
                found.set(Some(last.0 + share * (iterations - last.0)));
            } else if error.is_finite() {
                last = (iterations, error);
            }
            found.get().is_none() && iterations < most && Instant::now() < end
        }))
        .ok()?;
        reached.get().filter(|iterations| *iterations <= most)
    }
}

/// Where iterations are fewest, from a step size in factors. A run that takes longer than the best one is ended.
fn climb(
    from: f64,
    factor: f64,
    known: Option<f64>,
    iterations: impl Fn(f64, f64) -> Option<f64>,
) -> Option<(f64, f64)> {
    let mut best = known.or_else(|| iterations(from, MOST_ITERATIONS)).map(|iterations| (from, iterations));
    for factor in [1.0 / factor, factor] {
        let (mut step, before) = (from, best);
        for _ in 0..8 {
            step *= factor;
            match iterations(step, best.map_or(MOST_ITERATIONS, |best| best.1)) {
                Some(fewer) => best = Some((step, fewer)),
                None if best.is_none() => {}
                None => break,
            }
        }
        // What is better on one side is not on the other.
        if best.is_some() && before.is_some() && best != before {
            break;
        }
    }
    best
}
