//! The job: read by rank 0, known to all; and the commands that follow it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hemingway_train::protocol::{Command, ExternalJob, PROTOCOL};
use hemingway_train::{Checkpoint, Problem};

use crate::communicator::Communicator;
use crate::guard;

/// Set when whoever asked wants the run to end.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// Something in the job that no engine could do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadJob(String);

/// Rank 0 reads the job, everyone gets it.
pub fn read_job(world: &Communicator, file: &Path) -> anyhow::Result<ExternalJob> {
    let text = if world.rank() == 0 { read_text(file)? } else { Vec::new() };
    let text = world.broadcast_bytes(text);
    let place = match file.to_str() {
        Some("-") => "the job on the standard input".to_owned(),
        _ => format!("the job file {}", file.display()),
    };
    let damaged = |error: serde_json::Error| BadJob(format!("{place} is damaged: {error}"));
    let Version { protocol } = serde_json::from_slice(&text).map_err(damaged)?;
    if protocol != PROTOCOL {
        let message = format!(
            "{place} is of protocol {protocol}, but this hemingway-worker speaks protocol {PROTOCOL}; install the same \
             version of both"
        );
        return Err(BadJob(message).into());
    }
    let job: ExternalJob = serde_json::from_slice(&text).map_err(damaged)?;
    check(&job, world.size())?;
    Ok(job)
}

/// What is the same in every version of a job.
#[derive(serde::Deserialize)]
struct Version {
    protocol: u32,
}

fn read_text(file: &Path) -> anyhow::Result<Vec<u8>> {
    if file != Path::new("-") {
        let unreadable = |error| BadJob(format!("cannot read the job file {}: {error}", file.display()));
        return Ok(std::fs::read(file).map_err(unreadable)?);
    }
    let mut input = BufReader::new(std::io::stdin());
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line).context("cannot read the job from the standard input")?;
    std::thread::spawn(move || obey(input));
    Ok(line)
}

/// Follows commands until there will be none any more, because whoever asked is gone.
fn obey(input: impl BufRead) {
    for line in input.lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Command::Stop) => STOP.store(true, Ordering::Relaxed),
            Err(error) => eprintln!("hemingway-worker: `{line}` is not a command: {error}"),
        }
    }
    guard::die();
}

fn check(job: &ExternalJob, started: usize) -> anyhow::Result<()> {
    if job.stages.is_empty() {
        return Err(BadJob("a job needs at least one stage".to_owned()).into());
    }
    for stage in &job.stages {
        if stage.workers == 0 || stage.workers > started {
            let wanted = stage.workers;
            return Err(BadJob(format!("a stage wants {wanted} workers, but {started} were started")).into());
        }
        hemingway_train::algorithm(&stage.algorithm, &stage.parameters)?;
    }
    Problem::new(job.problem.loss, job.problem.lambda)?;
    Ok(())
}

/// The state that a job begins from.
pub fn read_checkpoint(state: &str) -> anyhow::Result<Checkpoint> {
    let damaged =
        |error: &dyn std::fmt::Display| BadJob(format!("the checkpoint in the job is damaged: {error}"));
    let bytes = BASE64.decode(state).map_err(|error| damaged(&error))?;
    Ok(Checkpoint::from_bytes(&bytes).map_err(|error| damaged(&error))?)
}
