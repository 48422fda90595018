//! A worker: pulls weights, computes, pushes gradients.
//!
//! Threads live for a run of iterations: one for each server's connection, so that all servers send at once, and one for
//! each device. They hand values over through channels; when one of them fails, its channels close and the others end too.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle, scope};
use std::time::Instant;

use crate::clock::monotonic;
use crate::device::{Device, Outcome};
use crate::error::{Error, Result};
use crate::problem::{Data, Problem, add};
use crate::protocol::{WorkerIteration, WorkerReport};
use crate::throttle::{Meter, Quota};
use crate::wire::{Breaker, Connection, Kind};

/// A machine that computes gradients.
pub struct Worker {
    pub problem: Problem,
    pub data: Data,
    /// Its devices, in the order of the schedule; those without inputs too.
    pub devices: Vec<Device>,
    /// The quota that pays for communication and for adding up the devices' gradients.
    pub quota: Arc<Quota>,
    /// Servers, with their parts of the parameters in order.
    pub servers: Vec<(Connection, Range<usize>)>,
}

type Vector = Arc<Vec<f32>>;

/// A connection's thread, as the worker sees it.
struct Lane<'scope> {
    parameters: Range<usize>,
    gradients: Sender<Vector>,
    weights: Receiver<Vec<f32>>,
    thread: ScopedJoinHandle<'scope, Result<()>>,
}

/// A device's thread, as the worker sees it.
struct Station<'scope> {
    /// Which device of the machine.
    device: usize,
    weights: Sender<Vector>,
    outcomes: Receiver<Outcome>,
    thread: ScopedJoinHandle<'scope, Result<()>>,
}

impl Worker {
    /// Runs these iterations together with the servers.
    pub fn run(&mut self, iterations: Range<u64>) -> Result<WorkerReport> {
        let Worker { problem, data, devices, quota, servers } = self;
        let (problem, data, quota) = (&*problem, &*data, &*quota);
        let mut meter = Meter::start(quota)?;
        let breakers: Vec<Breaker> =
            servers.iter().map(|(connection, _)| connection.breaker()).collect::<Result<_>>()?;
        scope(|scope| {
            let lanes: Vec<Lane> = servers
                .iter_mut()
                .map(|(connection, part)| lane(scope, connection, part.clone(), quota, iterations.clone()))
                .collect();
            let stations: Vec<Station> = devices
                .iter()
                .enumerate()
                .filter(|(_, device)| !device.inputs.is_empty())
                .map(|(at, device)| station(scope, at, device, problem, data, iterations.clone()))
                .collect();
            let mut report = WorkerReport { began: monotonic(), iterations: Vec::new() };
            for _ in iterations {
                let round = iterate(problem, &lanes, &stations, devices.len(), &mut meter);
                let Some(round) = round else {
                    breakers.iter().for_each(Breaker::pull);
                    break;
                };
                report.iterations.push(round);
            }
            let stations = stations.into_iter().map(|station| station.thread);
            join(lanes.into_iter().map(|lane| lane.thread).chain(stations))?;
            Ok(report)
        })
    }
}

/// One iteration; nothing if a thread has failed.
fn iterate(
    problem: &Problem,
    lanes: &[Lane],
    stations: &[Station],
    devices: usize,
    meter: &mut Meter,
) -> Option<WorkerIteration> {
    let mut weights = vec![0.0; problem.parameters()];
    for lane in lanes {
        weights[lane.parameters.clone()].copy_from_slice(&lane.weights.recv().ok()?);
    }
    let start = Instant::now();
    let weights = Arc::new(weights);
    for station in stations {
        station.weights.send(weights.clone()).ok()?;
    }
    let mut round = WorkerIteration { devices: vec![0.0; devices], ..WorkerIteration::default() };
    let mut gradient = Vec::new();
    for station in stations {
        let outcome = station.outcomes.recv().ok()?;
        round.devices[station.device] = outcome.seconds;
        round.weighted_norms += outcome.weighted_norms;
        round.groups += outcome.groups;
        match gradient.as_mut_slice() {
            [] => gradient = outcome.gradient,
            sum => add(&outcome.gradient, sum),
        }
    }
    meter.settle();
    round.seconds = start.elapsed().as_secs_f64();
    let gradient = Arc::new(gradient);
    for lane in lanes {
        lane.gradients.send(gradient.clone()).ok()?;
    }
    Some(round)
}

fn lane<'scope>(
    scope: &'scope Scope<'scope, '_>,
    connection: &'scope mut Connection,
    parameters: Range<usize>,
    quota: &'scope Arc<Quota>,
    iterations: Range<u64>,
) -> Lane<'scope> {
    let (gradients, pushes) = channel::<Vector>();
    let (pulled, weights) = channel();
    let part = parameters.clone();
    let thread = scope.spawn(move || {
        let mut meter = Meter::start(quota)?;
        for iteration in iterations {
            let mut values = vec![0.0; part.len()];
            connection.send(Kind::Pull, iteration, &[], &mut meter)?;
            connection.receive(Kind::Weights, iteration, &mut values, &mut meter)?;
            meter.settle();
            if pulled.send(values).is_err() {
                break;
            }
            let Ok(gradient) = pushes.recv() else { break };
            meter.begin();
            connection.send(Kind::Push, iteration, &gradient[part.clone()], &mut meter)?;
        }
        Ok(())
    });
    Lane { parameters, gradients, weights, thread }
}

fn station<'scope>(
    scope: &'scope Scope<'scope, '_>,
    at: usize,
    device: &'scope Device,
    problem: &'scope Problem,
    data: &'scope Data,
    iterations: Range<u64>,
) -> Station<'scope> {
    let (weights, given) = channel::<Vector>();
    let (done, outcomes) = channel();
    let thread = scope.spawn(move || {
        let mut meter = device.meter()?;
        for (iteration, weights) in iterations.zip(given) {
            if done.send(device.compute(problem, data, &weights, iteration, &mut meter)).is_err() {
                break;
            }
        }
        Ok(())
    });
    Station { device: at, weights, outcomes, thread }
}

/// Waits for threads; the first error is returned.
pub fn join<'scope>(threads: impl Iterator<Item = ScopedJoinHandle<'scope, Result<()>>>) -> Result<()> {
    // All channels are closed before the first thread is waited for.
    let threads: Vec<_> = threads.collect();
    let outcomes: Vec<Result<()>> = threads
        .into_iter()
        .map(|thread| {
            let panicked =
                |_| Error::System { what: "go on", error: std::io::Error::other("a thread panicked") };
            thread.join().map_err(panicked).flatten()
        })
        .collect();
    outcomes.into_iter().collect()
}
