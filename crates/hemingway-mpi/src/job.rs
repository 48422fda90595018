//! The job: read by rank 0, known to all; and the commands that follow it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hemingway_train::protocol::{Command, Doing, ExternalJob, PROTOCOL, Stage};
use hemingway_train::{Checkpoint, HandOver, Problem};
use serde::{Deserialize, Serialize};

use crate::communicator::Communicator;
use crate::{guard, pulse};

/// In place of a file: the standard input.
const INPUT: &str = "-";

/// Set when whoever asked wants the run to end.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// Something in the job that no engine could do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadJob(String);

/// A stage that was asked for, and the request to end it for another one, which only rank 0 hears.
#[derive(Serialize, Deserialize)]
pub struct Order {
    pub stage: Stage,
    /// The ranks that take part: workers, then servers.
    pub ranks: Vec<usize>,
    #[serde(skip)]
    pub hand_over: Arc<HandOver>,
}

/// The stages that rank 0 is asked for.
pub struct Orders(Option<Receiver<Order>>);

impl Orders {
    /// The next stage, if one is wanted and comes, known to all. Everyone has to call this; nobody burns a core meanwhile.
    pub fn next(&self, world: &Communicator, wanted: bool) -> anyhow::Result<Option<Order>> {
        let orders = self.0.as_ref().filter(|_| wanted);
        let order = orders.and_then(|orders| pulse::during(Doing::Resting, 0, || orders.recv().ok()));
        world.rest();
        let text = order.as_ref().map_or(Ok(Vec::new()), serde_json::to_vec)?;
        let text = world.broadcast_bytes(text);
        if text.is_empty() {
            return Ok(None);
        }
        let mut told: Order = serde_json::from_slice(&text)?;
        check_stage(&told.stage, world.size())?;
        check_ranks(&told, world.size())?;
        if let Some(order) = order {
            told.hand_over = order.hand_over;
        }
        Ok(Some(told))
    }
}

/// Rank 0 reads the job, everyone gets it; and where rank 0 hears of further stages.
pub fn read_job(world: &Communicator, file: &Path) -> anyhow::Result<(ExternalJob, Orders)> {
    let (text, orders) = if world.rank() == 0 { read_text(file)? } else { (Vec::new(), None) };
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
    check(&job, file, world.size())?;
    Ok((job, Orders(orders)))
}

/// What is the same in every version of a job.
#[derive(Deserialize)]
struct Version {
    protocol: u32,
}

fn read_text(file: &Path) -> anyhow::Result<(Vec<u8>, Option<Receiver<Order>>)> {
    if file != Path::new(INPUT) {
        let unreadable = |error| BadJob(format!("cannot read the job file {}: {error}", file.display()));
        return Ok((std::fs::read(file).map_err(unreadable)?, None));
    }
    let mut input = BufReader::new(std::io::stdin());
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line).context("cannot read the job from the standard input")?;
    let (send, orders) = channel();
    std::thread::spawn(move || obey(input, send));
    Ok((line, Some(orders)))
}

/// Follows commands until there will be none any more, because whoever asked is gone.
fn obey(input: impl BufRead, orders: Sender<Order>) {
    let mut orders = Some(orders);
    // A request that comes too late for its stage has no meaning for the next.
    let mut present: Arc<HandOver> = Arc::default();
    for line in input.lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Command::Stop) => STOP.store(true, Ordering::Relaxed),
            Ok(Command::HandOver { duals }) => present.ask(duals),
            Ok(Command::Stage { stage, ranks }) => {
                present = Arc::default();
                let ranks = if ranks.is_empty() { first_ranks(&stage) } else { ranks };
                let order = Order { stage: *stage, ranks, hand_over: Arc::clone(&present) };
                if let Some(orders) = &orders {
                    let _ = orders.send(order);
                }
            }
            Ok(Command::Done) => orders = None,
            Err(error) => eprintln!("hemingway-worker: `{line}` is not a command: {error}"),
        }
    }
    guard::die();
}

fn check(job: &ExternalJob, file: &Path, started: usize) -> anyhow::Result<()> {
    let refuse = |problem: String| Err(BadJob(problem).into());
    match job.workers {
        None if job.stages.is_empty() => {
            return refuse("a job needs at least one stage, or `workers` who wait for stages".to_owned());
        }
        Some(_) if !job.stages.is_empty() => {
            return refuse("a job has either stages, or `workers` who wait for them".to_owned());
        }
        Some(_) if file != Path::new(INPUT) => {
            return refuse(
                "a job without stages hears of them on the standard input, so it has to come from there too"
                    .to_owned(),
            );
        }
        Some(workers) if workers == 0 || workers > started => {
            return refuse(format!("{workers} workers are to load the data, but {started} were started"));
        }
        _ => {}
    }
    job.stages.iter().try_for_each(|stage| check_stage(stage, started))?;
    Problem::new(job.problem.loss, job.problem.lambda)?;
    Ok(())
}

/// The ranks of a stage that names none.
pub fn first_ranks(stage: &Stage) -> Vec<usize> {
    (0..stage.workers + stage.servers()).collect()
}

fn check_stage(stage: &Stage, started: usize) -> anyhow::Result<()> {
    let algorithm = hemingway_train::algorithm(&stage.algorithm, &stage.parameters)?;
    let needs = algorithm.needs();
    hemingway_train::check_offers(ENGINE, hemingway_train::named(&stage.algorithm)?)?;
    let (workers, servers) = (stage.workers, needs.servers());
    if workers == 0 || workers + servers > started {
        let servers = if servers == 0 {
            String::new()
        } else {
            format!(" and {servers} server{}", if servers == 1 { "" } else { "s" })
        };
        return Err(
            BadJob(format!("a stage wants {workers} workers{servers}, but {started} were started")).into()
        );
    }
    Ok(())
}

/// What this program is to those who ask it.
const ENGINE: &str = "mpi";

/// Rank 0 takes part in every stage, since it speaks for the others.
fn check_ranks(order: &Order, started: usize) -> anyhow::Result<()> {
    let Order { stage, ranks, .. } = order;
    let (workers, servers) = ranks.split_at_checked(stage.workers).unwrap_or((ranks, &[]));
    let ascending = workers.is_sorted_by(|a, b| a < b);
    let twice = (0..ranks.len()).any(|at| ranks[..at].contains(&ranks[at]));
    let complete = ranks.len() == stage.workers + stage.servers();
    let there = ranks.iter().all(|rank| *rank < started);
    if complete && there && ascending && !twice && workers.first() == Some(&0) {
        return Ok(());
    }
    let (wanted, after) = (stage.workers, if servers.is_empty() { "" } else { ", then servers" });
    let problem = format!(
        "a stage on {wanted} of {started} ranks names {ranks:?}, not {wanted} of them in ascending order from 0{after}"
    );
    Err(BadJob(problem).into())
}

/// The state that a job begins from.
pub fn read_checkpoint(state: &str) -> anyhow::Result<Checkpoint> {
    let damaged =
        |error: &dyn std::fmt::Display| BadJob(format!("the checkpoint in the job is damaged: {error}"));
    let bytes = BASE64.decode(state).map_err(|error| damaged(&error))?;
    Ok(Checkpoint::from_bytes(&bytes).map_err(|error| damaged(&error))?)
}
