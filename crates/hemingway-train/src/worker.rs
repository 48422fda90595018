//! One worker's world: its rows, its randomness and its way to the others.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Error, Journal, Local, Request, Seconds, SharedMemory, Transport};

/// The generator of every random choice in training.
pub type Rng = Xoshiro256PlusPlus;

/// What an algorithm sees. Kernels on `local` meter themselves, and each communication first charges what was
/// metered, so no algorithm can forget to.
pub struct Worker<'a> {
    /// This worker's rows.
    pub local: Local<'a>,
    seed: u64,
    transport: &'a mut dyn Transport,
    /// Whether the training clock runs.
    running: bool,
    /// Bytes that this worker has put on the network while it ran.
    sent: f64,
    in_order: bool,
}

impl<'a> Worker<'a> {
    /// Puts a worker together; engines do this.
    pub fn new(local: Local<'a>, seed: u64, transport: &'a mut dyn Transport) -> Worker<'a> {
        Worker { local, seed, transport, running: true, sent: 0.0, in_order: false }
    }

    /// Rows that a method picks singly or a few at a time come in their order, as they do online, rather than at random.
    /// Whole passes stay shuffled.
    pub fn in_order(self) -> Worker<'a> {
        Worker { in_order: true, ..self }
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

    /// The next `count` of the first `rows` rows for a method that picked so many before: at random, any of them again, unless
    /// rows come in their order.
    pub(crate) fn pick(&self, rng: &mut Rng, rows: usize, picked: u64, count: usize) -> Vec<u32> {
        match self.in_order {
            true => (picked..).take(count).map(|at| (at % rows as u64) as u32).collect(),
            false => (0..count).map(|_| rng.random_range(0..rows as u32)).collect(),
        }
    }

    /// Whether rows come in their order.
    pub(crate) fn picks_in_order(&self) -> bool {
        self.in_order
    }

    /// Training time so far, with everything metered charged.
    pub fn now(&mut self) -> Seconds {
        self.settle();
        self.transport.now()
    }

    /// Stops or restarts the training clock.
    pub fn clock(&mut self, running: bool) {
        self.settle();
        self.running = running;
        self.transport.clock(running);
    }

    /// Sum over all workers, in place.
    pub fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        if self.size() == 1 {
            return Ok(());
        }
        self.settle();
        self.count(size_of_val(buffer));
        self.transport.sum(buffer)
    }

    /// Sum of one number over all workers.
    pub fn sum_of(&mut self, value: f64) -> Result<f64, Error> {
        let mut buffer = [value];
        self.sum(&mut buffer)?;
        Ok(buffer[0])
    }

    /// How often all rows of all workers count together: their number, unless they have weights.
    pub(crate) fn total_weight(&mut self) -> Result<f64, Error> {
        match self.local.weights() {
            None => Ok(self.local.total_rows as f64),
            Some(weights) => self.sum_of(weights.iter().map(|weight| f64::from(*weight)).sum()),
        }
    }

    /// Everyone gets the buffer of `root`.
    pub fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error> {
        if self.size() == 1 {
            return Ok(());
        }
        self.settle();
        if root == self.rank() {
            self.count(size_of_val(buffer));
        }
        self.transport.broadcast(root, buffer)
    }

    /// Sends to another worker; the network is charged for so many bytes.
    pub fn send(&mut self, to: usize, message: &[u8]) -> Result<(), Error> {
        self.settle();
        self.count(message.len());
        self.transport.send(to, message)
    }

    /// Waits for the next message of another worker.
    pub fn receive(&mut self, from: usize) -> Result<Vec<u8>, Error> {
        self.settle();
        self.transport.receive(from)
    }

    /// Sends numbers as they are.
    pub fn send_numbers(&mut self, to: usize, numbers: &[f64]) -> Result<(), Error> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.send(to, &bytes)
    }

    /// Receives numbers as they are.
    pub fn receive_numbers(&mut self, from: usize) -> Result<Vec<f64>, Error> {
        let bytes = self.receive(from)?;
        let (numbers, rest) = bytes.as_chunks::<8>();
        assert!(rest.is_empty(), "both sides agree on what a message is");
        Ok(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    /// Memory that all workers read and write without waiting, with these values at first. Everyone calls this, with the
    /// same values.
    pub fn share(&mut self, values: &[f64]) -> Result<Arc<SharedMemory>, Error> {
        self.transport.share(values)
    }

    /// A journal that is empty yet, in which workers of one memory tell one another what they change. Everyone calls this.
    pub fn journal(&mut self) -> Result<Arc<Journal>, Error> {
        self.transport.journal()
    }

    /// Whether another worker has failed, so that nothing is to be waited for any more.
    pub fn is_over(&self) -> bool {
        self.transport.is_over()
    }

    /// How many steps on the shared memory may follow now, before the next turn; nothing once all workers together have
    /// made `until` steps. Where time is virtual, this waits until no other worker is behind.
    ///
    /// What the last step of a turn changes belongs to the next turn: computing it takes until then.
    pub fn turn(&mut self, until: u64) -> Result<Option<usize>, Error> {
        self.settle();
        self.transport.turn(until)
    }

    /// Tells that so many steps were made during this turn.
    pub fn made(&mut self, steps: u64) {
        self.transport.made(steps);
    }

    /// Steps that all workers have made on what they share.
    pub fn steps(&self) -> u64 {
        self.transport.steps()
    }

    /// Puts these values on the servers. Everyone calls this, with the same values.
    pub fn serve(&mut self, values: &[f64]) -> Result<(), Error> {
        self.settle();
        self.transport.serve(values)
    }

    /// Copies what the servers have now. One worker calls this while no other asks them.
    pub fn look(&mut self, values: &mut [f64]) -> Result<(), Error> {
        self.transport.look(values)
    }

    /// Adds to the vector on the servers what a request says, and reads from it, without waiting for other workers. Nothing
    /// happens, and the answer is `false`, once all workers together have made `until` steps.
    pub fn exchange(&mut self, request: &Request, until: u64, answer: &mut Vec<f64>) -> Result<bool, Error> {
        self.settle();
        let happened = self.transport.exchange(request, until, answer)?;
        if happened {
            self.count(request.bytes());
        }
        Ok(happened)
    }

    /// Bytes that this worker has sent on the training clock since this was last asked.
    pub(crate) fn take_sent(&mut self) -> f64 {
        std::mem::take(&mut self.sent)
    }

    /// Bytes go on the network.
    fn count(&mut self, bytes: usize) {
        if self.running {
            self.sent += bytes as f64;
        }
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
