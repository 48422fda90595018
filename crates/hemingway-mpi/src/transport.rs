//! The seam of all engines, over MPI.

use hemingway_data::{Error as DataError, Together};
use hemingway_train::{Error, Seconds, Stopwatch, Transport, Work};

use crate::communicator::{Communicator, Sending};

/// One rank's connection to the others.
pub struct Ranks<'a, 'b> {
    communicator: &'b Communicator<'a>,
    watch: Stopwatch,
    /// Messages that may still be read from.
    sending: Vec<Sending>,
}

impl<'a, 'b> Ranks<'a, 'b> {
    /// Begins with so much training time already spent.
    pub fn new(communicator: &'b Communicator<'a>, spent: Seconds) -> Ranks<'a, 'b> {
        Ranks { communicator, watch: Stopwatch::running(spent), sending: Vec::new() }
    }
}

impl Transport for Ranks<'_, '_> {
    fn rank(&self) -> usize {
        self.communicator.rank()
    }

    fn size(&self) -> usize {
        self.communicator.size()
    }

    fn now(&self) -> Seconds {
        self.watch.now()
    }

    fn charge(&mut self, _: Work) {}

    fn clock(&mut self, running: bool) {
        self.watch.set(running);
    }

    /// MPI adds in an order of its own, the same on every rank.
    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        self.communicator.sum(buffer);
        Ok(())
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error> {
        self.communicator.broadcast(root, buffer);
        Ok(())
    }

    /// The message is copied, so that nobody has to wait for a neighbour who is sending as well.
    fn send(&mut self, to: usize, message: &[f64]) -> Result<(), Error> {
        self.sending.retain_mut(|sending| !sending.is_done());
        self.sending.push(self.communicator.send(to, message.to_vec()));
        Ok(())
    }

    fn receive(&mut self, from: usize, message: &mut [f64]) -> Result<(), Error> {
        let came = self.communicator.receive(from, message);
        assert_eq!(came, message.len(), "a message of another length than expected");
        Ok(())
    }
}

impl Together for &Communicator<'_> {
    fn rank(&self) -> usize {
        Communicator::rank(self)
    }

    fn size(&self) -> usize {
        Communicator::size(self)
    }

    fn gather(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, DataError> {
        Ok(Communicator::gather(self, mine))
    }
}
