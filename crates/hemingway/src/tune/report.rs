//! What a study says, step by step and at its end.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use hemingway_tune::random::stream;
use hemingway_tune::schedule::{Finding, Outcome, Schedule, Tuner};
use hemingway_tune::simulator::{World, experiment};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Study, TuneStop};
use crate::Error;

/// One evaluation, and where the study stands after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatedStep {
    /// Its number, from 1.
    pub number: usize,
    /// What was evaluated.
    pub configuration: Value,
    /// Inputs per iteration.
    pub batch: u64,
    /// How many machines compute.
    pub workers: usize,
    /// How many serve parameters.
    pub servers: usize,
    /// Seconds per iteration, if it was measured.
    pub time: Option<f64>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Seconds per iteration as predicted: a lower bound, the mean and an upper bound.
    pub predicted: Option<[f64; 3]>,
    /// The improvement that was expected of it, as a share.
    pub expected_improvement: Option<f64>,
    /// How long the evaluation took.
    pub seconds: f64,
    /// The number of the best evaluation so far.
    pub best: Option<usize>,
    /// Its seconds per iteration as measured.
    pub best_time: Option<f64>,
    /// Simulated: seconds per iteration without noise.
    pub exact: Option<f64>,
    /// Simulated: the same of the best evaluation so far.
    pub best_exact: Option<f64>,
}

/// What a study found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TuneReport {
    /// The name of the study.
    pub study: String,
    /// The name of the job.
    pub job: String,
    /// Why it ended.
    pub stop: TuneStop,
    /// Every evaluation, in the order in which they ended.
    pub evaluations: Vec<EvaluatedStep>,
    /// The number of the best one; nothing if nothing was measured.
    pub best: Option<usize>,
    /// The best configuration, as evaluations get it; nothing if nothing was measured.
    pub configuration: Option<Value>,
    /// Its seconds per iteration as measured.
    pub time: Option<f64>,
    /// What the model says about it.
    pub finding: Option<Finding>,
    /// Simulated: seconds per iteration of the best possible schedule.
    pub optimum: Option<f64>,
    /// A study used as history.
    pub earlier: Option<String>,
    /// What could not be recorded in the store, and why.
    pub unrecorded: Option<String>,
}

/// Where a study stands after its last evaluation.
pub(super) fn step(
    study: &Study,
    tuner: &Tuner,
    before: &[EvaluatedStep],
    number: usize,
    seconds: f64,
    proposed: &Value,
) -> EvaluatedStep {
    let evaluated = &tuner.evaluated()[tuner.evaluated().len() - 1];
    let (time, failure) = match &evaluated.outcome {
        Outcome::Measured(answer) => (Some(answer.time), None),
        Outcome::Failed(reason) => (None, Some(reason.clone())),
    };
    let best = tuner.think().best();
    let world = study.evaluator.world();
    let exact = |schedule: &Schedule| world.and_then(|world| world.exact(schedule));
    EvaluatedStep {
        number,
        configuration: evaluated.schedule.to_json(&study.job.job.cluster),
        batch: evaluated.schedule.batch(),
        workers: evaluated.schedule.workers(),
        servers: evaluated.schedule.servers(),
        time,
        failure,
        predicted: serde_json::from_value(proposed["predicted"].clone()).unwrap_or(None),
        expected_improvement: proposed["expected_improvement"].as_f64(),
        seconds,
        best: best.map(|at| before.get(at).map_or(number, |step| step.number)),
        best_time: best.and_then(|at| tuner.evaluated()[at].answer()).map(|answer| answer.time),
        exact: exact(&evaluated.schedule),
        best_exact: best.and_then(|at| exact(&tuner.evaluated()[at].schedule)),
    }
}

pub(super) fn report(
    study: &Study,
    id: &str,
    tuner: &Tuner,
    evaluations: Vec<EvaluatedStep>,
    stop: TuneStop,
    unrecorded: Option<String>,
) -> TuneReport {
    let finding = tuner.think().finding();
    let best = finding.as_ref().map(|finding| &tuner.evaluated()[finding.best]);
    TuneReport {
        study: id.to_owned(),
        job: study.job.name.clone(),
        stop,
        configuration: best.map(|best| best.schedule.to_json(&study.job.job.cluster)),
        time: best.and_then(|best| best.answer()).map(|answer| answer.time),
        best: finding.as_ref().map(|finding| evaluations[finding.best].number),
        finding,
        optimum: study.evaluator.world().map(|world| world.optimum().1),
        earlier: study.earlier.clone(),
        unrecorded,
        evaluations,
    }
}

/// Evaluates configurations with a simulated cluster for another tuner: one in a line, an answer in a line. Without an input,
/// describes the cluster.
pub fn serve(
    name: &str,
    seed: u64,
    input: Option<&mut dyn BufRead>,
    output: &mut dyn Write,
) -> Result<(), Error> {
    let world = experiment(name).ok_or_else(|| Error::NoExperiment { name: name.to_owned() })?.world();
    let written = match input {
        None => writeln!(output, "{}", described(name, &world)),
        Some(input) => answers(&world, seed, input, output),
    };
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::Read { file: "standard input".into(), source: error })
        }
        _ => Ok(()),
    }
}

fn answers(world: &World, seed: u64, input: &mut dyn BufRead, output: &mut dyn Write) -> std::io::Result<()> {
    for (number, line) in input.lines().enumerate() {
        let line = line?;
        let failed = |reason: String| json!({ "status": "failed", "reason": reason });
        let schedule =
            serde_json::from_str::<Value>(&line).map_err(|error| error.to_string()).and_then(|value| {
                Schedule::from_json(&value, &world.job.cluster).map_err(|error| error.to_string())
            });
        let answer = match schedule {
            Err(reason) => failed(reason),
            Ok(schedule) => {
                match world.evaluate(&schedule, &mut stream(seed, "evaluation", number as u64 + 1)) {
                    Outcome::Failed(reason) => failed(reason),
                    Outcome::Measured(answer) => {
                        let mut answer = json!(answer);
                        answer["status"] = "ok".into();
                        answer["exact"] = json!(world.exact(&schedule));
                        answer
                    }
                }
            }
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn described(name: &str, world: &World) -> Value {
    let machine = |at: usize| {
        let kind = world.job.cluster.kind_of(at);
        let devices: Vec<&str> = kind.devices.iter().map(|device| device.name.as_str()).collect();
        // What a user guesses, so that all tuners begin from the same knowledge.
        let speeds: BTreeMap<&str, f64> =
            kind.devices.iter().map(|device| (device.name.as_str(), device.speed)).collect();
        let name = &world.job.cluster.machines[at].name;
        json!({ "name": name, "type": kind.name, "devices": devices, "speeds": speeds })
    };
    json!({
        "name": name,
        "batch": world.job.batch,
        "machines": (0..world.job.cluster.machines.len()).map(machine).collect::<Vec<Value>>(),
        "optimum": world.optimum().1,
        "uniform": world.exact(&Schedule::uniform(&world.job)),
    })
}
