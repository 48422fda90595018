//! What an engine gives one worker.

use std::sync::Arc;

use crate::{Error, Journal, Seconds, SharedMemory, Work};

/// One worker's connection to the others and to its clock. Object-safe, so that algorithms never know which
/// engine they run on.
pub trait Transport {
    /// This worker's number, from 0.
    fn rank(&self) -> usize;
    /// How many workers there are.
    fn size(&self) -> usize;
    /// Training time so far: a wall clock, or this worker's virtual clock.
    fn now(&self) -> Seconds;
    /// Local work just done. A virtual clock advances by it; a real one already has.
    fn charge(&mut self, work: Work);
    /// While stopped, nothing counts.
    fn clock(&mut self, running: bool);
    /// Replaces every worker's buffer by the sum of all, the same to the bit on every worker. Engines in this process add
    /// in the order of the ranks.
    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error>;
    /// Replaces every worker's buffer by that of `root`.
    fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error>;
    /// Sends a message that [`receive`](Transport::receive) on the other side takes in order. The network is charged for its
    /// bytes.
    fn send(&mut self, to: usize, message: &[u8]) -> Result<(), Error>;
    /// Waits for the next message of a worker.
    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Error>;

    /// Memory that all workers read and write without waiting, with these values at first. Everyone calls this, with the
    /// same values.
    fn share(&mut self, _values: &[f64]) -> Result<Arc<SharedMemory>, Error> {
        Err(Error::NothingShared)
    }

    /// A journal that is empty yet, in which workers of one memory tell one another what they change. Everyone calls this.
    fn journal(&mut self) -> Result<Arc<Journal>, Error> {
        Err(Error::NothingShared)
    }

    /// Whether another worker has failed, so that nothing is to be waited for any more.
    fn is_over(&self) -> bool {
        false
    }

    /// Waits until nobody is behind in time, where time is virtual, and says how many steps on the shared memory may follow
    /// before the next turn. Nothing once all workers together have made `until` steps. Waits for a worker that is far behind.
    fn turn(&mut self, _until: u64) -> Result<Option<usize>, Error> {
        Err(Error::NothingShared)
    }

    /// Tells that so many steps were made during one's turn.
    fn made(&mut self, _steps: u64) {}

    /// Steps that all workers have made on what they share, since it was shared.
    fn steps(&self) -> u64 {
        0
    }

    /// Puts these values on the servers. Everyone calls this, with the same values.
    fn serve(&mut self, _values: &[f64]) -> Result<(), Error> {
        Err(Error::NothingShared)
    }

    /// Copies what the servers have now. One worker calls this while no other asks them.
    fn look(&mut self, _values: &mut [f64]) -> Result<(), Error> {
        Err(Error::NothingShared)
    }

    /// Adds to the vector on the servers what a request says, and reads from it, without waiting for other workers. Nothing
    /// happens, and the answer is `false`, once all workers together have made `until` steps.
    fn exchange(&mut self, _request: &Request, _until: u64, _answer: &mut Vec<f64>) -> Result<bool, Error> {
        Err(Error::NothingShared)
    }
}

/// What a worker asks of the servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Where to add, in ascending order,
    pub add_at: Vec<u32>,
    /// and what.
    pub add: Vec<f64>,
    /// How many steps that is.
    pub steps: u64,
    /// The coordinates to read afterwards, in ascending order.
    pub read_at: Vec<u32>,
}

impl Request {
    /// Bytes that the request takes: eight for each number that is added, four for each place.
    pub fn bytes(&self) -> usize {
        8 * self.add.len() + 4 * (self.add_at.len() + self.read_at.len())
    }

    /// Bytes of the answer.
    pub fn answer_bytes(&self) -> usize {
        8 * self.read_at.len()
    }
}
