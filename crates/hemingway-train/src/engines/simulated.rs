//! Virtual time: any number of workers on any cluster, repeatable to the bit.
//!
//! The arithmetic is done for real, by one thread per worker; only the clock is invented. A worker's clock moves
//! by its metered work over its machine's speed, a message arrives after latency and transfer, and a collective
//! sets every clock to the latest one plus the collective's cost.

use hemingway_data::Dataset;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Cluster, Meeting, check, run_workers};
use crate::{Engine, Error, Event, Job, Needs, Run, Seconds, Start, Transport, Work};

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

    fn offers(&self, needs: Needs) -> bool {
        matches!(needs, Needs::Collectives | Needs::Neighbours)
    }

    fn run(
        &self,
        data: &Dataset,
        job: &Job,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        check(data, job)?;
        self.cluster.check_size(job.workers)?;
        let meeting = Meeting::new(job.workers, false);
        let begun = job.start.seconds().0 + self.telling(job);
        run_workers(data, job, &meeting, observe, |rank| Simulation {
            rank,
            size: job.workers,
            meeting: &meeting,
            cluster: &self.cluster,
            clock: begun,
            running: true,
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
    meeting: &'a Meeting,
    cluster: &'a Cluster,
    clock: f64,
    running: bool,
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

    fn send(&mut self, to: usize, message: &[f64]) -> Result<(), Error> {
        self.meeting.send(self.rank, to, self.clock, message);
        Ok(())
    }

    fn receive(&mut self, from: usize, message: &mut [f64]) -> Result<(), Error> {
        let sent = self.meeting.receive(self.rank, from, message)?;
        if self.running {
            self.clock = self.clock.max(sent + self.cluster.network.message_seconds(message.len()));
        }
        Ok(())
    }
}
