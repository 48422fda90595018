//! What an engine gives one worker.

use crate::{Error, Seconds, Work};

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
    /// Sends a message that [`receive`](Transport::receive) on the other side takes in order.
    fn send(&mut self, to: usize, message: &[f64]) -> Result<(), Error>;
    /// Waits for the next message of a worker; its length has to match.
    fn receive(&mut self, from: usize, message: &mut [f64]) -> Result<(), Error>;
    /// A vector all workers share without waiting, where the engine has one.
    fn shared(&mut self) -> Option<&mut dyn SharedVector> {
        None
    }
}

/// A vector in reach of every worker: lock-free memory on threads, a server elsewhere.
pub trait SharedVector {
    /// Copies the present state.
    fn pull(&mut self, into: &mut [f64]);
    /// Adds `scale` times the values at these coordinates.
    fn push(&mut self, indices: &[u32], values: &[f32], scale: f64);
}
