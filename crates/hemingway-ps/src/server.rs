//! A parameter server: holds a part of the weights, adds up the workers' gradients, makes the step.
//!
//! One thread for each worker's connection; the server's own thread adds up in the order of workers, so that the sum does
//! not depend on who came first.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle, scope};

use crate::clock::monotonic;
use crate::error::Result;
use crate::problem::{add, squared_norm};
use crate::protocol::{ServerIteration, ServerReport};
use crate::throttle::{Meter, Quota};
use crate::wire::{Breaker, Connection, Kind};
use crate::worker::join;

/// Values that are added up between two looks at the clock.
const BLOCK: usize = 64 * 1024;

/// A machine that holds parameters.
pub struct Server {
    pub weights: Vec<f32>,
    /// Workers, in the order of the schedule.
    pub workers: Vec<Connection>,
    /// Inputs of all workers together.
    pub batch: u64,
    pub quota: Arc<Quota>,
}

/// A connection's thread, as the server sees it.
struct Lane<'scope> {
    weights: Sender<Arc<Vec<f32>>>,
    gradients: Receiver<Vec<f32>>,
    thread: ScopedJoinHandle<'scope, Result<()>>,
}

impl Server {
    /// Serves these iterations.
    pub fn run(&mut self, iterations: Range<u64>, learning_rate: f32) -> Result<ServerReport> {
        let Server { weights, workers, batch, quota } = self;
        let quota = &*quota;
        let mut meter = Meter::start(quota)?;
        let breakers: Vec<Breaker> = workers.iter().map(Connection::breaker).collect::<Result<_>>()?;
        scope(|scope| {
            let lanes: Vec<Lane> =
                workers.iter_mut().map(|worker| lane(scope, worker, quota, iterations.clone())).collect();
            let mut report = ServerReport::default();
            for _ in iterations {
                let Some(gradient) = exchange(weights, &lanes, &mut meter) else {
                    breakers.iter().for_each(Breaker::pull);
                    break;
                };
                let squared_norm = step(weights, &gradient, *batch, learning_rate);
                meter.settle();
                report.iterations.push(ServerIteration { updated: monotonic(), squared_norm });
            }
            join(lanes.into_iter().map(|lane| lane.thread))?;
            Ok(report)
        })
    }
}

/// Gives the weights to all workers and adds up their gradients; nothing if a connection has failed.
fn exchange(weights: &[f32], lanes: &[Lane], meter: &mut Meter) -> Option<Vec<f32>> {
    let shared = Arc::new(weights.to_vec());
    for lane in lanes {
        lane.weights.send(shared.clone()).ok()?;
    }
    let mut sum = lanes[0].gradients.recv().ok()?;
    for lane in &lanes[1..] {
        let gradient = lane.gradients.recv().ok()?;
        meter.begin();
        for (from, target) in gradient.chunks(BLOCK).zip(sum.chunks_mut(BLOCK)) {
            add(from, target);
            meter.pay();
        }
    }
    Some(sum)
}

/// One step along the mean gradient, whose squared norm is returned.
fn step(weights: &mut [f32], gradient: &[f32], batch: u64, learning_rate: f32) -> f64 {
    let scale = learning_rate / batch as f32;
    weights.iter_mut().zip(gradient).for_each(|(weight, gradient)| *weight -= scale * gradient);
    squared_norm(gradient) / (batch as f64).powi(2)
}

fn lane<'scope>(
    scope: &'scope Scope<'scope, '_>,
    connection: &'scope mut Connection,
    quota: &'scope Arc<Quota>,
    iterations: Range<u64>,
) -> Lane<'scope> {
    let (weights, current) = channel::<Arc<Vec<f32>>>();
    let (pushed, gradients) = channel();
    let thread = scope.spawn(move || {
        let mut meter = Meter::start(quota)?;
        for (iteration, weights) in iterations.zip(current) {
            connection.receive(Kind::Pull, iteration, &mut [], &mut meter)?;
            connection.send(Kind::Weights, iteration, &weights, &mut meter)?;
            let mut gradient = vec![0.0; weights.len()];
            connection.receive(Kind::Push, iteration, &mut gradient, &mut meter)?;
            meter.settle();
            if pushed.send(gradient).is_err() {
                break;
            }
        }
        Ok(())
    });
    Lane { weights, gradients, thread }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::device::{Device, sum};
    use crate::problem::tests::small;
    use crate::problem::{Data, Model, Problem};
    use crate::random::Stream;
    use crate::wire::accept;
    use crate::worker::Worker;

    const BATCH: u64 = 30;
    const ITERATIONS: Range<u64> = 0..12;

    fn unlimited() -> Arc<Quota> {
        Arc::new(Quota::new(1.0, None))
    }

    fn data(problem: &Problem) -> Data {
        Data::generate(problem, Stream::Training, problem.examples)
    }

    /// The same training without machines.
    fn alone(problem: &Problem) -> Vec<f32> {
        let mut meter = Meter::start(&unlimited()).unwrap();
        let (data, mut weights) = (data(problem), problem.initial_weights());
        for iteration in ITERATIONS {
            let gradient = sum(problem, &data, &weights, iteration, 0..BATCH, &mut meter);
            step(&mut weights, &gradient, BATCH, 0.1);
        }
        weights
    }

    /// Two workers, one of which has two devices, and some servers, as threads that are connected over TCP.
    fn sharded(problem: &Problem, servers: usize) -> Vec<f32> {
        let parameters = problem.parameters();
        let part = |at: usize| at * parameters / servers..(at + 1) * parameters / servers;
        let listeners: Vec<_> = (0..servers).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let addresses: Vec<_> = listeners.iter().map(|listener| listener.local_addr().unwrap()).collect();
        scope(|scope| {
            for (machine, bounds) in [&[0, 11][..], &[11, 18, BATCH]].into_iter().enumerate() {
                let addresses = addresses.clone();
                scope.spawn(move || {
                    let connect = |(at, address): (usize, &std::net::SocketAddr)| {
                        (Connection::to_server(*address, "server", 9, machine, None).unwrap(), part(at))
                    };
                    let servers = addresses.iter().enumerate().map(connect).collect();
                    let devices = bounds
                        .windows(2)
                        .map(|pair| Device { quota: unlimited(), inputs: pair[0]..pair[1] })
                        .collect();
                    let (problem, data) = (problem.clone(), data(problem));
                    Worker { problem, data, devices, quota: unlimited(), servers }.run(ITERATIONS).unwrap();
                });
            }
            let serve = |(at, listener): (usize, TcpListener)| {
                let mut found: Vec<_> = (0..2).map(|_| accept(&listener, 9).unwrap()).collect();
                found.sort_by_key(|(_, machine)| *machine);
                let workers = found
                    .into_iter()
                    .map(|(stream, _)| Connection::from_worker(stream, "worker", None).unwrap())
                    .collect();
                let weights = problem.initial_weights()[part(at)].to_vec();
                let mut server = Server { weights, workers, batch: BATCH, quota: unlimited() };
                scope.spawn(move || {
                    server.run(ITERATIONS, 0.1).unwrap();
                    server.weights
                })
            };
            let running: Vec<_> = listeners.into_iter().enumerate().map(serve).collect();
            running.into_iter().flat_map(|server| server.join().unwrap()).collect()
        })
    }

    #[test]
    fn servers_and_workers_compute_what_one_process_computes() {
        for model in [Model::Linear, Model::Mlp] {
            let problem = small(model);
            let expected = alone(&problem);
            assert_ne!(expected, problem.initial_weights());
            for servers in [1, 3] {
                for (found, expected) in sharded(&problem, servers).iter().zip(&expected) {
                    assert!(
                        (found - expected).abs() < 1e-5,
                        "{model:?}, {servers} servers: {found} {expected}"
                    );
                }
            }
        }
    }
}
