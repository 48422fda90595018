//! The planner under test: the `hemingway` binary, told a problem, a goal and a cluster, and nothing else.
//!
//! Each cell has its own store, empty at first, so that what one cell observed does not help in another. In it run, one
//! after the other, `first` (seed 0), `second` (seed 1) and `third` (seed 2): the predictions of the latter two have one and
//! two earlier runs to go by. In stores of their own: `adapt-off`, and `deadline`, the best model within a time.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cells::{Cells, GOALS, Line, Problem, append, read_lines};
use crate::{Arguments, Outcome, in_parallel};

/// The deadline is so many times the best fixed configuration's time to this error.
const DEADLINE_ERROR: f64 = 1e-3;
const DEADLINE_FACTOR: f64 = 1.25;
/// Real seconds after which a run is killed.
const LONGEST: Duration = Duration::from_secs(240);
/// What is kept of a report.
const FIELDS: [&str; 11] = [
    "algorithm",
    "workers",
    "total_seconds",
    "seconds",
    "overhead_seconds",
    "goal_reached",
    "certified_error",
    "primal",
    "rounds",
    "stop",
    "switches",
];

/// One line of `plans.jsonl`.
#[derive(Serialize, Deserialize)]
struct Answer {
    problem: String,
    cluster: String,
    /// None: a deadline.
    error: Option<f64>,
    variant: String,
    within: Option<f64>,
    seed: u64,
    host_seconds: f64,
    /// The fields kept, and `predicted_seconds` of the plan; or `failure`.
    report: BTreeMap<String, Value>,
}

/// Runs that follow each other in one store.
struct Chain<'a> {
    problem: &'a Problem,
    error: Option<f64>,
    within: Option<f64>,
    /// Name and seed of each.
    runs: &'static [(&'static str, u64)],
    flags: &'static [&'static str],
}

/// Makes the runs that are not yet in `plans.jsonl`, for the problems that have a table.
pub fn complete(arguments: &Arguments) -> Outcome<()> {
    let cells = Cells::read(arguments)?;
    let path = arguments.results.join("plans.jsonl");
    let done: HashSet<_> = read_lines::<Answer>(&path)?.iter().map(Answer::key).collect();
    let file = Mutex::new(append(&path)?);
    let mut chains = Vec::new();
    for problem in &cells.problems {
        chains.extend(chains_of(arguments, problem, &cells.errors)?);
    }
    if let Some(wanted) = arguments.options.get("runs") {
        chains.retain_mut(|chain| {
            let wanted = |run: &(&str, u64)| wanted.split(',').any(|name| name == run.0);
            chain.runs = &chain.runs[..chain.runs.iter().take_while(|run| wanted(run)).count()];
            !chain.runs.is_empty()
        });
    }
    chains.retain(|chain| chain.runs.iter().any(|run| !done.contains(&chain.key(run.0))));
    let jobs = arguments.number("jobs", 1.0)? as usize;
    eprintln!("{} sequences of runs to make", chains.len());
    in_parallel(jobs, &chains, |chain| chain.run(arguments, &file))
}

/// Cells that no fixed configuration reached have nothing to be compared with.
fn chains_of<'a>(arguments: &Arguments, problem: &'a Problem, errors: &[f64]) -> Outcome<Vec<Chain<'a>>> {
    let lines: Vec<Line> = read_lines(&arguments.table(&problem.name))?;
    let best = |error: f64| {
        let at = GOALS.iter().position(|goal| *goal == error)?;
        let times = lines.iter().filter_map(|line| line.reached.get(&problem.cluster)?[at]);
        times.min_by(f64::total_cmp)
    };
    let mut chains = Vec::new();
    for error in errors.iter().copied().filter(|error| best(*error).is_some()) {
        let chain = |runs, flags| Chain { problem, error: Some(error), within: None, runs, flags };
        chains.push(chain(&[("first", 0), ("second", 1), ("third", 2)], &[]));
        chains.push(chain(&[("adapt-off", 0)], &["--adapt", "off"]));
    }
    let within = best(DEADLINE_ERROR).map(|seconds| DEADLINE_FACTOR * seconds);
    let deadline = Chain { problem, error: None, within, runs: &[("deadline", 0)], flags: &[] };
    chains.extend(within.map(|_| deadline));
    Ok(chains)
}

type Key = (String, String, Option<u64>, String);

impl Answer {
    fn key(&self) -> Key {
        (self.problem.clone(), self.cluster.clone(), self.error.map(f64::to_bits), self.variant.clone())
    }
}

impl Chain<'_> {
    fn key(&self, variant: &str) -> Key {
        let Problem { name, cluster, .. } = self.problem;
        (name.clone(), cluster.clone(), self.error.map(f64::to_bits), variant.to_owned())
    }

    fn run(&self, arguments: &Arguments, file: &Mutex<File>) -> Outcome<()> {
        let place = tempfile::tempdir()?;
        let mut text = String::new();
        for (variant, seed) in self.runs {
            let begun = Instant::now();
            let report = self.train(arguments, place.path(), *seed)?;
            let answer = Answer {
                problem: self.problem.name.clone(),
                cluster: self.problem.cluster.clone(),
                error: self.error,
                variant: (*variant).to_owned(),
                within: self.within,
                seed: *seed,
                host_seconds: begun.elapsed().as_secs_f64(),
                report,
            };
            text += &format!("{}\n", serde_json::to_string(&answer)?);
        }
        Ok(file.lock().expect("nobody panics here").write_all(text.as_bytes())?)
    }

    /// The report of one run.
    fn train(&self, arguments: &Arguments, place: &Path, seed: u64) -> Outcome<BTreeMap<String, Value>> {
        let (output, errors) = (place.join("report.json"), place.join("errors"));
        let mut command = Command::new(arguments.get("hemingway")?);
        command.arg("train").arg(arguments.data(&self.problem.dataset)?);
        command.args([
            "--loss",
            &self.problem.loss.to_string(),
            "--lambda",
            &self.problem.lambda.to_string(),
        ]);
        command.args(["--engine", "simulated", "--json", "-q", "--seed", &seed.to_string()]).args(self.flags);
        command.arg("--cluster").arg(arguments.cluster(&self.problem.cluster));
        command.arg("--store").arg(place.join("store.sqlite")).arg("--model").arg(place.join("model"));
        if let Some(error) = self.error {
            command.args(["--error", &error.to_string()]);
        }
        if let Some(within) = self.within {
            command.args(["--within", &format!("{within:.6}s")]);
        }
        command.env("RAYON_NUM_THREADS", "1").stdin(Stdio::null());
        command.stdout(File::create(&output)?).stderr(File::create(&errors)?);
        let failure = |text: String| Ok(BTreeMap::from([("failure".to_owned(), Value::from(text))]));
        match wait(command)? {
            None => failure(format!("not finished after {} s", LONGEST.as_secs())),
            Some(0 | 3) => kept(serde_json::from_slice(&std::fs::read(&output)?)?),
            Some(_) => failure(std::fs::read_to_string(&errors)?),
        }
    }
}

/// The exit code of a command; nothing if it took too long.
fn wait(mut command: Command) -> Outcome<Option<i32>> {
    let mut child = command.spawn().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(-1)));
        }
        if begun.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kept(mut report: BTreeMap<String, Value>) -> Outcome<BTreeMap<String, Value>> {
    let predicted = report.get("plan").and_then(|plan| plan.get("predicted_seconds")).cloned();
    report.retain(|name, _| FIELDS.contains(&name.as_str()));
    report.extend(predicted.map(|predicted| ("predicted_seconds".to_owned(), predicted)));
    Ok(report)
}
