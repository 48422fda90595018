//! What evaluates a configuration: a command of the user, or the simulator.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hemingway_tune::random::stream;
use hemingway_tune::schedule::{Answer, Cluster, Outcome, Schedule};
use hemingway_tune::simulator::World;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::process::{Heard, Process, describe};

/// What evaluates a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evaluator {
    /// A command, run by the shell.
    Command {
        /// The command.
        command: String,
        /// Seconds after which it has failed.
        timeout: f64,
    },
    /// A cluster that is described, not there.
    Simulated(Box<World>),
}

/// How an evaluation went.
#[derive(Debug)]
pub(super) enum Evaluation {
    /// It has an outcome: measured, or the configuration does not work.
    Ended(Outcome),
    /// The user wants to stop.
    Interrupted,
    /// What evaluates does not keep to the protocol.
    Broken(Error),
}

/// More than any answer needs.
const MOST_OUTPUT: usize = 16 << 20;
/// A line that is longer comes in pieces.
const LONGEST_LINE: u64 = 1 << 20;
/// Letters of a reason that are kept.
const REASON: usize = 300;
/// Seconds per iteration that can be: from a nanosecond to thirty years. Beyond that a unit is wrong.
const TIMES: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

impl Evaluator {
    /// Evaluates a schedule.
    pub(super) fn evaluate(
        &self,
        schedule: &Schedule,
        configuration: &Value,
        number: usize,
        seed: u64,
        interrupt: &AtomicBool,
    ) -> Evaluation {
        match self {
            Evaluator::Simulated(world) => {
                let world = World { job: world.job.with_batch(schedule.batch()), ..(**world).clone() };
                Evaluation::Ended(world.evaluate(schedule, &mut stream(seed, "evaluation", number as u64)))
            }
            Evaluator::Command { command, timeout } => {
                let timeout = Duration::try_from_secs_f64(*timeout).unwrap_or(Duration::MAX);
                run(command, configuration, number, timeout, interrupt)
            }
        }
    }

    /// The simulated cluster, if it is one.
    pub fn world(&self) -> Option<&World> {
        match self {
            Evaluator::Simulated(world) => Some(world),
            Evaluator::Command { .. } => None,
        }
    }
}

fn run(
    text: &str,
    configuration: &Value,
    number: usize,
    timeout: Duration,
    interrupt: &AtomicBool,
) -> Evaluation {
    let begun = Instant::now();
    let mut command = Command::new("sh");
    command.arg("-c").arg(text).env("HEMINGWAY_EVALUATION", number.to_string());
    let mut process = match Process::start_with_lines(command, LONGEST_LINE) {
        Ok(process) => process,
        Err(source) => return Evaluation::Broken(Error::NoLauncher { program: "sh".into(), source }),
    };
    process.end_with_us();
    process.tell_all(format!("{configuration}\n"));
    let mut output = String::new();
    let status = loop {
        match process.listen() {
            Heard::Line(line) if output.len() < MOST_OUTPUT => {
                output.push_str(&line);
                output.push('\n');
            }
            Heard::Line(_) => {
                let problem = format!("it printed more than {} MB", MOST_OUTPUT >> 20);
                return broken(text, number, problem, &process);
            }
            Heard::End(status) => break status,
            Heard::Silence => {}
        }
        keep_errors(&mut process);
        if interrupt.load(Ordering::Relaxed) {
            return Evaluation::Interrupted;
        }
        if begun.elapsed() > timeout {
            let reason = format!("it took longer than {} s", timeout.as_secs_f64());
            return Evaluation::Ended(Outcome::Failed(reason));
        }
    };
    keep_errors(&mut process);
    match read(&output) {
        Ok(outcome @ Outcome::Failed(_)) => Evaluation::Ended(outcome),
        // What it measured before it failed is not worth much.
        _ if !status.success() => {
            let words = process.last_words();
            let last = words.iter().rev().find(|line| !line.trim().is_empty());
            let last = last.map_or_else(String::new, |line| format!(": {}", line.trim()));
            Evaluation::Ended(Outcome::Failed(format!("the command {}{last}", describe(status))))
        }
        Ok(outcome) => Evaluation::Ended(outcome),
        Err(problem) => broken(text, number, problem, &process),
    }
}

fn broken(command: &str, number: usize, problem: String, process: &Process) -> Evaluation {
    let (command, said) = (command.to_owned(), process.last_words());
    Evaluation::Broken(Error::BadAnswer { command, number, problem, said })
}

fn keep_errors(process: &mut Process) {
    for line in process.errors() {
        process.keep(&short(&line, REASON));
    }
}

/// The beginning of a text, in one line.
fn short(text: &str, letters: usize) -> String {
    let line = text.trim().chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let more = if text.trim().chars().nth(letters).is_some() { "…" } else { "" };
    line.take(letters).collect::<String>() + more
}

/// What a command printed, as an outcome: one JSON object, alone or in the last line that is an answer.
pub(super) fn read(output: &str) -> Result<Outcome, String> {
    let whole = || serde_json::from_str::<Value>(output.trim()).ok().filter(Value::is_object);
    let objects = || output.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_answer = |value: &Value| value.get("time").or(value.get("status")).is_some();
    let found =
        whole().or_else(|| objects().find(is_answer)).or_else(|| objects().find(|value| value.is_object()));
    let Some(value) = found else {
        let start = short(output, 80);
        return Err(match start.is_empty() {
            true => "it printed nothing; one JSON object with \"time\" is needed".into(),
            false => format!("it printed no JSON object but “{start}”"),
        });
    };
    match value.get("status").map(|status| status.as_str()) {
        None | Some(Some("ok")) => {}
        Some(Some("failed")) => {
            let reason = value.get("reason").and_then(Value::as_str).unwrap_or("it says that it failed");
            return Ok(Outcome::Failed(short(reason, REASON)));
        }
        Some(_) => {
            return Err(format!("its status is {}; it has to be \"ok\" or \"failed\"", value["status"]));
        }
    }
    let answer: Answer =
        serde_json::from_value(value).map_err(|error| format!("its answer is not as documented: {error}"))?;
    answer.check().map_err(|error| error.to_string())?;
    check(&answer)?;
    Ok(Outcome::Measured(answer))
}

/// Whether all figures are ones that an iteration can have.
fn check(answer: &Answer) -> Result<(), String> {
    let machines = answer.machines.values();
    let parts = machines.flat_map(|machine| {
        std::iter::once(machine.time).chain(machine.devices.values().map(|device| device.time))
    });
    let times = parts.chain([Some(answer.time), answer.communication_time]).flatten();
    if let Some(time) = times.filter(|time| *time > 0.0).find(|time| !TIMES.contains(time)) {
        return Err(format!("{time:e} is no time of an iteration in seconds"));
    }
    let loads = answer.machines.values().flat_map(|machine| machine.devices.values());
    if let Some(load) = loads.filter_map(|device| device.load).find(|load| *load < 0.0) {
        return Err(format!("a load is {load}; a number of inputs is needed"));
    }
    match answer.gradient_noise_scale {
        Some(scale) if !(scale > 0.0 && scale < 1e15) => {
            Err(format!("gradient_noise_scale is {scale}; a positive number of inputs is needed"))
        }
        _ => Ok(()),
    }
}

/// Names in an answer that the job does not have.
pub(super) fn unknown_names(answer: &Answer, cluster: &Cluster) -> Vec<String> {
    let mut unknown = Vec::new();
    for (name, machine) in &answer.machines {
        match (0..cluster.machines.len()).find(|at| cluster.machines[*at].name == *name) {
            None => unknown.push(format!("machine {name}")),
            Some(at) => {
                let known = &cluster.kind_of(at).devices;
                let others = machine.devices.keys().filter(|device| known.iter().all(|k| k.name != **device));
                unknown.extend(others.map(|device| format!("device {device} of machine {name}")));
            }
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_what_is_around_them() {
        let plain = r#"{"status": "ok", "time": 1.5}"#;
        for text in [
            plain.to_owned(),
            format!("starting\n{plain}\n{{\"level\": 1}}\n\n"),
            "{\n\"time\":\n1.5}\n".to_owned(),
        ] {
            let Ok(Outcome::Measured(answer)) = read(&text) else { panic!("{text}") };
            assert_eq!(answer.time, 1.5);
        }
        let failed = r#"{"status": "failed", "reason": "out of memory"}"#;
        assert_eq!(read(failed), Ok(Outcome::Failed("out of memory".into())));
    }

    #[test]
    fn answers_that_cannot_be_are_refused() {
        for (text, expected) in [
            ("", "it printed nothing"),
            ("1.5", "no JSON object but “1.5”"),
            ("a\nb", "no JSON object but “a b”"),
            (r#"{"time": 1e300}"#, "1e300 is no time"),
            (r#"{"time": 1, "machines": {"a": {"time": 1e-200}}}"#, "1e-200 is no time"),
            (r#"{"time": 1, "gradient_noise_scale": -3}"#, "gradient_noise_scale is -3"),
            (r#"{"time": 1, "machines": {"a": {"devices": {"cpu": {"load": -2}}}}}"#, "a load is -2"),
            (r#"{"status": "ok"}"#, "missing field `time`"),
            (r#"{"time": -1}"#, "time is -1, which is no duration"),
            (r#"{"time": "fast"}"#, "not as documented"),
            (r#"{"status": 3, "time": 1}"#, "its status is 3"),
            (
                r#"{"time": 1, "machines": {"a": {"devices": {"cpu": {"time": -2}}}}}"#,
                "the time of cpu of machine a is -2",
            ),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
