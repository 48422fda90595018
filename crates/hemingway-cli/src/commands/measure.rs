//! `hemingway measure`: experiments into the store.

use std::process::ExitCode;

use hemingway::{
    Experiment, MeasureRequest, MeasureWatch, Measured, Measuring, Stop, StopRules, TrainRequest,
};
use serde_json::{Value, json};

use super::train;
use crate::arguments::Measure;
use crate::progress::Follower;
use crate::{interrupt, output, words};

/// What is measured unless algorithms are named: the methods whose rounds depend on the number of workers, and the
/// strongest of those whose rounds do not.
const USUAL: [&str; 5] = ["cocoa", "cocoa-plus", "l-bfgs", "local-sgd", "minibatch-sgd"];

/// The most workers that are simulated unless they are named.
const MOST_SIMULATED: usize = 64;

pub fn run(arguments: Measure) -> anyhow::Result<ExitCode> {
    let (place, json, quiet) = (arguments.store.place()?, arguments.json, arguments.quiet);
    let request = request(arguments);
    let mut shown = Shown::new(quiet);
    let mut watch =
        MeasureWatch { interrupt: interrupt::listen()?, observe: &mut |event| shown.follow(event) };
    let result = hemingway::measure(&request, &place, &mut watch);
    shown.finish();
    let outcomes = result?;

    let done: Vec<(&Experiment, &Measured)> = request.experiments.iter().zip(&outcomes).collect();
    if json {
        let experiments: Vec<Value> = done.iter().map(|(what, outcome)| as_json(what, outcome)).collect();
        let missing = request.experiments.len() - done.len();
        output::json(&json!({ "store": place.store(), "experiments": experiments, "missing": missing }))?;
    } else {
        let header = ["run", "algorithm", "workers", "rows", "rounds", "time", "proved", "ended because"];
        output::text(&output::table(&header, done.iter().map(|(what, outcome)| row(what, outcome))))?;
    }
    Ok(ending(&outcomes))
}

/// Interrupted experiments are a goal not reached, and the next call goes on with them.
fn ending(outcomes: &[Measured]) -> ExitCode {
    let interrupted = |outcome: &Measured| outcome.report().is_some_and(|r| r.stop == Stop::Interrupted);
    if outcomes.iter().any(interrupted) {
        output::note("hint: the same command goes on from here");
        return ExitCode::from(train::BEFORE_THE_GOAL);
    }
    ExitCode::SUCCESS
}

fn request(arguments: Measure) -> MeasureRequest {
    let simulated = arguments.cluster.is_some() || arguments.engine.as_deref() == Some("simulated");
    let algorithms = match arguments.algorithms {
        none if none.is_empty() => USUAL.map(str::to_owned).to_vec(),
        some => some,
    };
    let workers = match arguments.workers {
        none if none.is_empty() => powers_of_two(if simulated { MOST_SIMULATED } else { cores() }),
        some => some,
    };
    MeasureRequest {
        experiments: Experiment::grid(&algorithms, &workers, &arguments.fractions, arguments.rounds),
        base: TrainRequest {
            engine: arguments.engine,
            cluster: arguments.cluster,
            ranks: train::ranks(arguments.ranks),
            stop: StopRules { error: Some(arguments.error), ..StopRules::default() },
            seed: arguments.seed,
            ..train::problem(arguments.problem)
        },
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn powers_of_two(most: usize) -> Vec<usize> {
    std::iter::successors(Some(1), |workers| Some(2 * workers))
        .take_while(|workers| *workers <= most)
        .collect()
}

/// Follows experiments: one line for each that ends, and between them what `train` shows.
pub struct Shown {
    follower: Follower,
    number: usize,
    of: usize,
}

impl Shown {
    pub fn new(quiet: bool) -> Shown {
        Shown { follower: Follower::new(quiet), number: 0, of: 0 }
    }

    pub fn finish(&self) {
        self.follower.finish();
    }

    pub fn follow(&mut self, event: Measuring) {
        match event {
            Measuring::Begun { number, of, experiment } => {
                (self.number, self.of) = (number, of);
                self.follower.next(&format!("{number} of {of}: {}", words_for(experiment)));
            }
            Measuring::Run(progress) => train::follow(&mut self.follower, progress),
            Measuring::Ended(outcome) => {
                self.follower.say(&format!("{} of {}: {}", self.number, self.of, ended(outcome)));
            }
        }
    }
}

fn words_for(experiment: &Experiment) -> String {
    let rows = match experiment.fraction {
        1.0 => String::new(),
        fraction => format!(", {} of the rows", words::percent(fraction)),
    };
    format!("{} on {}{rows}", experiment.algorithm, words::counted(experiment.workers, "worker"))
}

fn ended(outcome: &Measured) -> String {
    match outcome {
        Measured::Impossible { reason } => format!("left out: {reason}"),
        Measured::Made(report) | Measured::Known(report) => {
            let known = if matches!(outcome, Measured::Known(_)) { ", known already" } else { "" };
            let (workers, rounds) =
                (words::counted(report.workers, "worker"), words::counted(report.rounds as usize, "round"));
            let seconds = words::duration(report.seconds);
            format!("{} on {workers}: {rounds}, {seconds}, {}{known}", report.algorithm, report.stop.reason())
        }
    }
}

fn row(experiment: &Experiment, outcome: &Measured) -> Vec<String> {
    let Experiment { algorithm, workers, fraction, .. } = experiment;
    let what = [algorithm.clone(), words::count(*workers), words::percent(*fraction)];
    let [run, rounds, time, proved, ended] = match outcome {
        Measured::Impossible { reason } => ["–", "–", "–", "–", reason.as_str()].map(str::to_owned),
        Measured::Made(report) | Measured::Known(report) => [
            report.run.clone(),
            words::count(report.rounds as usize),
            words::duration(report.seconds),
            report.certified_error.map_or_else(|| "–".to_owned(), words::percent),
            report.stop.reason().to_owned(),
        ],
    };
    let [algorithm, workers, rows] = what;
    vec![run, algorithm, workers, rows, rounds, time, proved, ended]
}

fn as_json(experiment: &Experiment, outcome: &Measured) -> Value {
    let report = outcome.report();
    json!({
        "algorithm": experiment.algorithm,
        "workers": experiment.workers,
        "fraction": experiment.fraction,
        "outcome": outcome.name(),
        "run": report.map(|report| &report.run),
        "rounds": report.map(|report| report.rounds),
        "seconds": report.map(|report| report.seconds),
        "certified_error": report.and_then(|report| report.certified_error),
        "stop": report.map(|report| report.stop),
        "reason": match outcome {
            Measured::Impossible { reason } => Some(reason),
            Measured::Made(_) | Measured::Known(_) => None,
        },
    })
}
