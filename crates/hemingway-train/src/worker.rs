//! One worker's world: its rows, its randomness and its way to the others.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Error, Local, Seconds, Transport};

/// The generator of every random choice in training.
pub type Rng = Xoshiro256PlusPlus;

/// What an algorithm sees. Kernels on `local` meter themselves, and each communication first charges what was
/// metered, so no algorithm can forget to.
pub struct Worker<'a> {
    /// This worker's rows.
    pub local: Local<'a>,
    seed: u64,
    transport: &'a mut dyn Transport,
}

impl<'a> Worker<'a> {
    /// Puts a worker together; engines do this.
    pub fn new(local: Local<'a>, seed: u64, transport: &'a mut dyn Transport) -> Worker<'a> {
        Worker { local, seed, transport }
    }

    /// This worker's number, from 0.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// How many workers there are.
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// Randomness of this worker in this round: streams of other workers, rounds and seeds are unrelated.
    pub fn rng(&self, round: u64) -> Rng {
        stream(self.seed, self.rank() as u64, round)
    }

    /// Training time so far, with everything metered charged.
    pub fn now(&mut self) -> Seconds {
        self.settle();
        self.transport.now()
    }

    /// Stops or restarts the training clock.
    pub fn clock(&mut self, running: bool) {
        self.settle();
        self.transport.clock(running);
    }

    /// Sum over all workers, in place.
    pub fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        if self.size() == 1 {
            return Ok(());
        }
        self.settle();
        self.transport.sum(buffer)
    }

    /// Sum of one number over all workers.
    pub fn sum_of(&mut self, value: f64) -> Result<f64, Error> {
        let mut buffer = [value];
        self.sum(&mut buffer)?;
        Ok(buffer[0])
    }

    /// Everyone gets the buffer of `root`.
    pub fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error> {
        if self.size() == 1 {
            return Ok(());
        }
        self.settle();
        self.transport.broadcast(root, buffer)
    }

    /// Sends to a neighbour.
    pub fn send(&mut self, to: usize, message: &[f64]) -> Result<(), Error> {
        self.settle();
        self.transport.send(to, message)
    }

    /// Receives from a neighbour.
    pub fn receive(&mut self, from: usize, message: &mut [f64]) -> Result<(), Error> {
        self.settle();
        self.transport.receive(from, message)
    }

    fn settle(&mut self) {
        let work = self.local.take_work();
        self.transport.charge(work);
    }
}

/// A generator keyed by seed, worker and round.
fn stream(seed: u64, worker: u64, round: u64) -> Rng {
    let mix = |state: u64, word: u64| {
        let mut x = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    Rng::seed_from_u64(mix(mix(mix(0, seed), worker), round))
}
