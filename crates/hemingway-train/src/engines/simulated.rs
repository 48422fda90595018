//! Virtual time: any number of workers on any cluster, repeatable to the bit.
//!
//! The arithmetic is done for real, by one thread per worker; only the clock is invented. A worker's clock moves
//! by its metered work over its machine's speed, a message arrives after latency and transfer, and a collective
//! sets every clock to the latest one plus the collective's cost.

use std::sync::{Arc, PoisonError};

use hemingway_data::Dataset;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::commons::LEAD;
use super::{Cluster, Commons, Meeting, Network, check, run_workers};
use crate::{
    Engine, Error, Event, Job, Journal, Needs, Request, Run, Seconds, SharedMemory, Start, Transport, Work,
};

/// The engine with a virtual clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The machines and the network that are pretended.
    pub cluster: Cluster,
}

impl Simulated {
    /// Simulates this cluster.
    pub fn new(cluster: Cluster) -> Simulated {
        Simulated { cluster }
    }
}

impl Engine for Simulated {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn offers(&self, _: Needs) -> bool {
        true
    }

    fn run(
        &self,
        data: &Dataset,
        job: &Job,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        let rows = 0..data.matrix.rows();
        check(data, &rows, job)?;
        let servers = job.algorithm.needs().servers();
        self.cluster.check_size(job.workers + servers)?;
        let commons = Commons::new(job.workers);
        let meeting = Meeting::new(job.workers, false);
        let begun = job.start.seconds().0 + self.telling(job);
        run_workers(data, &rows, job, (&meeting, &commons), observe, |rank| Simulation {
            rank,
            size: job.workers,
            servers,
            meeting: &meeting,
            commons: &commons,
            cluster: &self.cluster,
            clock: begun,
            running: true,
            until: 0,
            link_in: 0.0,
            link_out: 0.0,
            last_sum: f64::NEG_INFINITY,
            pace: self.cluster.algorithms.get(job.algorithm.name()).copied().unwrap_or(1.0),
            luck: Xoshiro256PlusPlus::seed_from_u64(
                job.seed ^ (rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ),
        })
    }
}

impl Simulated {
    /// How long it takes to tell workers that take over where to begin.
    fn telling(&self, job: &Job) -> f64 {
        match job.start {
            Start::Checkpoint(checkpoint) if checkpoint.is_handed_over() && job.workers > 1 => {
                self.cluster.network.broadcast_seconds(job.workers, checkpoint.numbers_to_begin_anew())
            }
            _ => 0.0,
        }
    }
}

/// One worker with a virtual clock.
struct Simulation<'a> {
    rank: usize,
    size: usize,
    servers: usize,
    meeting: &'a Meeting,
    commons: &'a Commons,
    cluster: &'a Cluster,
    clock: f64,
    running: bool,
    /// The step at which the present round ends.
    until: u64,
    /// Until when this worker's link is busy with what it receives, and with what it sends.
    link_in: f64,
    link_out: f64,
    /// When the last sum on the clock ended.
    last_sum: f64,
    /// How many times longer this algorithm computes than its metered work says.
    pace: f64,
    /// Decides when this worker straggles.
    luck: Xoshiro256PlusPlus,
}

impl Simulation<'_> {
    /// Everyone leaves a collective at the same moment.
    fn leave(&mut self, latest: f64, cost: f64) {
        if self.running {
            self.clock = latest + cost;
        }
    }
}

impl Transport for Simulation<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn now(&self) -> Seconds {
        Seconds(self.clock)
    }

    fn charge(&mut self, work: Work) {
        if self.running && work != Work::default() {
            let chance = (self.luck.random::<f64>(), self.luck.random::<f64>());
            let seconds = self.pace * self.cluster.seconds(self.rank, work);
            let seconds = seconds * self.cluster.stragglers.factor(chance);
            self.clock += seconds + self.cluster.jitter.delay(seconds, || self.luck.random::<f64>());
        }
    }

    fn clock(&mut self, running: bool) {
        self.running = running;
    }

    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        let latest = self.meeting.sum(self.rank, self.clock, buffer)?;
        let network = &self.cluster.network;
        let soonest = self.last_sum + network.sum_seconds_in_a_row(self.size, buffer.len());
        let cost = network.sum_seconds(self.size, buffer.len());
        self.leave(latest, cost.max(soonest - latest));
        self.last_sum = self.clock;
        Ok(())
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error> {
        let latest = self.meeting.broadcast(self.rank, root, self.clock, buffer)?;
        self.leave(latest, self.cluster.network.broadcast_seconds(self.size, buffer.len()));
        Ok(())
    }

    /// Messages to several workers leave one after the other.
    fn send(&mut self, to: usize, message: &[u8]) -> Result<(), Error> {
        if self.running {
            let transfer = self.cluster.network.transfer_seconds(message.len());
            self.link_out = self.link_out.max(self.clock) + transfer;
        }
        self.meeting.send(self.rank, to, self.link_out, message);
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Error> {
        let (sent, message) = self.meeting.receive(self.rank, from)?;
        if self.running {
            let Network { latency, .. } = self.cluster.network;
            let transfer = self.cluster.network.transfer_seconds(message.len());
            self.link_in = (sent + latency).max(self.link_in + transfer);
            self.clock = self.clock.max(self.link_in);
        }
        Ok(message)
    }

    fn share(&mut self, values: &[f64]) -> Result<Arc<SharedMemory>, Error> {
        self.commons.share(self.meeting, self.rank, values)
    }

    fn journal(&mut self) -> Result<Arc<Journal>, Error> {
        self.commons.journal(self.meeting, self.rank, self.size)
    }

    fn is_over(&self) -> bool {
        self.meeting.is_over()
    }

    /// One step at a time, so that nobody reads what was written later. A worker that is as far ahead of the slowest one as
    /// threads may be waits in virtual time until that one has had its turn.
    fn turn(&mut self, until: u64) -> Result<Option<usize>, Error> {
        self.until = until;
        while self.commons.turns.wait(self.rank, self.clock, until)? {
            let Some(slowest) = self.commons.turns.ahead_by(LEAD, self.rank) else { return Ok(Some(1)) };
            self.clock = self.clock.max(slowest).next_up();
        }
        Ok(None)
    }

    fn made(&mut self, steps: u64) {
        self.commons.turns.made(self.rank, steps, self.until);
    }

    fn steps(&self) -> u64 {
        self.commons.turns.steps()
    }

    fn serve(&mut self, values: &[f64]) -> Result<(), Error> {
        self.share(values).map(drop)
    }

    fn look(&mut self, values: &mut [f64]) -> Result<(), Error> {
        self.commons.memory().read(values);
        Ok(())
    }

    /// The vector is cut into as many pieces as there are servers, each with a link of its own. Requests are served in the
    /// order in which they arrive.
    fn exchange(&mut self, request: &Request, until: u64, answer: &mut Vec<f64>) -> Result<bool, Error> {
        let network = &self.cluster.network;
        let arrival = self.clock + network.message_seconds(request.bytes());
        if !self.commons.turns.wait(self.rank, arrival, until)? {
            return Ok(false);
        }
        let memory = self.commons.memory();
        for (at, value) in request.add_at.iter().zip(&request.add) {
            memory.add(*at as usize, *value);
        }
        answer.clear();
        answer.extend(request.read_at.iter().map(|at| memory.get(*at as usize)));
        let servers = self.servers as f64;
        let numbers = request.add.len() + request.read_at.len();
        let work = Work { flops: SERVING_FLOPS * numbers as f64, bytes: SERVING_BYTES * numbers as f64 };
        let computing =
            (work.flops / self.cluster.here.flops + work.bytes / self.cluster.here.bytes) / servers;
        {
            let mut busy = self.commons.servers.lock().unwrap_or_else(PoisonError::into_inner);
            let transfer = |bytes: usize| network.transfer_seconds(bytes) / servers;
            busy.link_in = arrival.max(busy.link_in + transfer(request.bytes()));
            busy.computing = busy.link_in.max(busy.computing) + computing;
            busy.link_out = busy.computing.max(busy.link_out) + transfer(request.answer_bytes());
            let rest = network.transfer_seconds(request.answer_bytes()) * (1.0 - 1.0 / servers);
            self.clock = busy.link_out + rest + network.latency;
        }
        self.commons.turns.made(self.rank, request.steps, until);
        Ok(true)
    }
}

/// What a server does for a number that is added or read: a place is looked up, the number and its place come from memory.
const SERVING_FLOPS: f64 = 2.0;
const SERVING_BYTES: f64 = 20.0;
