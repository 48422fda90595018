//! What evaluates a configuration: a command of the user, or the simulator.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hemingway_tune::random::stream;
use hemingway_tune::schedule::{Answer, Outcome, Schedule};
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
                run(command, configuration, number, Duration::from_secs_f64(*timeout), interrupt)
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
    end_with_us(&mut command);
    let mut process = match Process::start(command) {
        Ok(process) => process,
        Err(source) => return Evaluation::Broken(Error::NoLauncher { program: "sh".into(), source }),
    };
    process.tell(&configuration.to_string());
    process.end_input();
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
        for line in process.errors() {
            process.keep(&line);
        }
        if interrupt.load(Ordering::Relaxed) {
            return Evaluation::Interrupted;
        }
        if begun.elapsed() > timeout {
            let reason = format!("it took longer than {} s", timeout.as_secs_f64());
            return Evaluation::Ended(Outcome::Failed(reason));
        }
    };
    for line in process.errors() {
        process.keep(&line);
    }
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

/// If this process is killed, the evaluation ends too.
fn end_with_us(command: &mut Command) {
    let ask = || {
        let signal = Some(rustix::process::Signal::TERM);
        rustix::process::set_parent_process_death_signal(signal).map_err(std::io::Error::from)
    };
    // SAFETY: between fork and exec only one system call is made, which neither allocates nor takes a lock.
    unsafe { command.pre_exec(ask) };
}

/// What a command printed, as an outcome: one JSON object, alone or in the last line that is one.
pub(super) fn read(output: &str) -> Result<Outcome, String> {
    let whole = || serde_json::from_str::<Value>(output.trim()).ok().filter(Value::is_object);
    let line = |line: &str| serde_json::from_str::<Value>(line).ok().filter(Value::is_object);
    let Some(value) = whole().or_else(|| output.lines().rev().find_map(line)) else {
        let start: String = output.trim().chars().take(80).collect();
        return Err(match start.is_empty() {
            true => "it printed nothing; one JSON object with \"time\" is needed".into(),
            false => format!("it printed no JSON object but “{start}”"),
        });
    };
    match value.get("status").map(|status| status.as_str()) {
        None | Some(Some("ok")) => {}
        Some(Some("failed")) => {
            let reason = value.get("reason").and_then(Value::as_str).unwrap_or("it says that it failed");
            return Ok(Outcome::Failed(reason.to_owned()));
        }
        Some(_) => {
            return Err(format!("its status is {}; it has to be \"ok\" or \"failed\"", value["status"]));
        }
    }
    let answer: Answer =
        serde_json::from_value(value).map_err(|error| format!("its answer is not as documented: {error}"))?;
    answer.check().map_err(|error| error.to_string())?;
    Ok(Outcome::Measured(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_what_is_around_them() {
        let plain = r#"{"status": "ok", "time": 1.5}"#;
        for text in [plain.to_owned(), format!("starting\n{plain}\n\n"), "{\n\"time\":\n1.5}\n".to_owned()] {
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
