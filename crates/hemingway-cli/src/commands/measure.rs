//! `hemingway measure`: experiments into the store.

use std::process::ExitCode;

use hemingway::data::cores;
use hemingway::{
    DesignRequest, Error, Experiment, MeasureRequest, MeasureWatch, Measured, Measuring, Place, Seconds,
    Stop, StopRules, TrainRequest,
};
use serde_json::{Value, json};

use super::train;
use crate::arguments::Measure;
use crate::progress::Follower;
use crate::{environment, interrupt, output, words};

/// What is measured unless algorithms are named: the methods whose rounds depend on the number of workers, and the
/// strongest of those whose rounds do not.
const USUAL: [&str; 5] = ["cocoa", "cocoa-plus", "l-bfgs", "local-sgd", "minibatch-sgd"];

/// The shares of the rows: all of them, and smaller ones to choose from where experiments are chosen.
const SAMPLES: [f64; 5] = [1.0, 0.5, 0.25, 0.125, 0.0625];

/// The most workers that are simulated unless they are named.
const MOST_SIMULATED: usize = 64;

pub fn run(arguments: Measure) -> anyhow::Result<ExitCode> {
    let (place, json, quiet) =
        (arguments.trials.store.place()?, arguments.trials.json, arguments.trials.quiet);
    let budget = arguments.budget.map(Seconds);
    train::say_aliases(&arguments.algorithms, quiet);
    train::check_one_lambda(&arguments.problem, "measure")?;
    let request = request(arguments);
    let mut shown = Shown::new(quiet);
    let mut watch =
        MeasureWatch { interrupt: interrupt::listen()?, observe: &mut |event| shown.follow(event) };
    let result = match budget {
        Some(budget) => hemingway::measure_within(&DesignRequest { budget, ..request }, &place, &mut watch),
        None => every_one(&request, &place, &mut watch),
    };
    shown.finish();
    let done = result?;
    if json {
        let experiments: Vec<Value> = done.iter().map(|(what, outcome)| as_json(what, outcome)).collect();
        output::json(&json!({ "store": place.store(), "experiments": experiments }))?;
    } else {
        let header = ["run", "algorithm", "workers", "rows", "rounds", "time", "error", "ended because"];
        output::text(&output::table(&header, done.iter().map(|(what, outcome)| row(what, outcome))))?;
    }
    Ok(ending(&done))
}

/// All combinations.
fn every_one(
    request: &DesignRequest,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Vec<(Experiment, Measured)>, Error> {
    let DesignRequest { base, algorithms, workers, fractions, rounds, .. } = request;
    let experiments = Experiment::grid(algorithms, workers, fractions, *rounds);
    let request = MeasureRequest { base: base.clone(), experiments };
    let outcomes = hemingway::measure(&request, place, watch)?;
    Ok(request.experiments.into_iter().zip(outcomes).collect())
}

/// Interrupted experiments are a goal not reached, and the next call goes on with them.
fn ending(done: &[(Experiment, Measured)]) -> ExitCode {
    let interrupted = |outcome: &Measured| outcome.report().is_some_and(|r| r.stop == Stop::Interrupted);
    if done.iter().any(|(_, outcome)| interrupted(outcome)) {
        output::note("hint: the same command goes on from here");
        return ExitCode::from(train::BEFORE_THE_GOAL);
    }
    ExitCode::SUCCESS
}

fn request(arguments: Measure) -> DesignRequest {
    let usual_workers = usual_workers(arguments.engine.as_deref(), arguments.trials.cluster.is_some());
    let fractions = if arguments.budget.is_some() { &SAMPLES[..] } else { &SAMPLES[..1] };
    let canonical = |name: String| hemingway::canonical(&name).map_or(name, str::to_owned);
    let named: Vec<String> = arguments.algorithms.into_iter().map(canonical).collect();
    DesignRequest {
        algorithms: or(named, || USUAL.map(str::to_owned).to_vec()),
        workers: or(arguments.workers, || usual_workers),
        fractions: or(arguments.fractions, || fractions.to_vec()),
        rounds: arguments.rounds,
        budget: Seconds(0.0),
        base: environment::with_machines(TrainRequest {
            engine: arguments.engine,
            cluster: arguments.trials.cluster,
            ranks: train::ranks(arguments.ranks),
            stop: StopRules { error: Some(arguments.error), ..StopRules::default() },
            seed: arguments.trials.seed,
            ..train::problem(arguments.problem)
        }),
    }
}

/// Powers of two, as many as there are cores or as are worth simulating.
pub fn usual_workers(engine: Option<&str>, cluster: bool) -> Vec<usize> {
    let simulated = cluster || engine == Some("simulated");
    powers_of_two(if simulated { MOST_SIMULATED } else { cores() })
}

/// What was given, or else what is usual.
pub fn or<T>(given: Vec<T>, usual: impl FnOnce() -> Vec<T>) -> Vec<T> {
    if given.is_empty() { usual() } else { given }
}

fn powers_of_two(most: usize) -> Vec<usize> {
    std::iter::successors(Some(1), |workers| Some(2 * workers))
        .take_while(|workers| *workers <= most)
        .collect()
}

/// Follows experiments: one line for each that ends, and between them what `train` shows.
pub struct Shown {
    follower: Follower,
    /// Which experiment this is.
    now: String,
}

impl Shown {
    pub fn new(quiet: bool) -> Shown {
        Shown { follower: Follower::new(quiet), now: String::new() }
    }

    pub fn finish(&self) {
        self.follower.finish();
    }

    pub fn follow(&mut self, event: Measuring) {
        match event {
            Measuring::Begun { number, of, experiment } => {
                let place = if of > 1 { format!("{number} of {of}: ") } else { String::new() };
                self.now = place + &words_for(experiment);
                self.follower.next(&self.now);
            }
            Measuring::Run(progress) => train::follow(&mut self.follower, progress),
            Measuring::Ended(outcome) => self.follower.say(&format!("{}: {}", self.now, ended(outcome))),
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
            let (rounds, time) = (report.rounds as usize, words::duration(report.seconds));
            format!("{}, {time}, {}{known}", words::counted(rounds, "round"), report.stop.reason())
        }
    }
}

fn row(experiment: &Experiment, outcome: &Measured) -> Vec<String> {
    let Experiment { algorithm, workers, fraction, .. } = experiment;
    let what = [algorithm.clone(), words::count(*workers), words::percent(*fraction)];
    let [run, rounds, time, proved, ended] = match outcome {
        Measured::Impossible { reason } => {
            [words::NONE, words::NONE, words::NONE, words::NONE, reason.as_str()].map(str::to_owned)
        }
        Measured::Made(report) | Measured::Known(report) => [
            report.run.clone(),
            words::count(report.rounds as usize),
            words::duration(report.seconds),
            words::proved(report),
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
