//! The seam of all engines, over MPI.

use std::collections::BTreeMap;

use hemingway_data::{Error as DataError, Together};
use hemingway_train::protocol::Profile;
use hemingway_train::{Error, Request, Seconds, Stopwatch, Transport, Work};

use crate::communicator::Communicator;
use crate::computing::Computing;
use crate::messages::Messages;
use crate::servers::Servers;

/// One rank's connection to the others.
pub struct Ranks<'a, 'b> {
    communicator: &'b Communicator<'a>,
    messages: Messages<'a, 'b>,
    servers: Option<Servers<'a, 'b>>,
    watch: Stopwatch,
    /// Work and sums while the watch was running.
    work: Work,
    summing: Seconds,
    /// All communication while it was running, sums among it.
    waiting: Seconds,
    /// What the watch showed at the beginning.
    begun: Seconds,
    sums: BTreeMap<usize, u64>,
    computing: Computing,
}

impl<'a, 'b> Ranks<'a, 'b> {
    /// Begins with so much training time already spent.
    pub fn new(communicator: &'b Communicator<'a>, spent: Seconds) -> Ranks<'a, 'b> {
        Ranks {
            communicator,
            messages: Messages::new(communicator),
            servers: None,
            watch: Stopwatch::running(spent),
            work: Work::default(),
            summing: Seconds(0.0),
            waiting: Seconds(0.0),
            begun: spent,
            sums: BTreeMap::new(),
            computing: Computing::begin(),
        }
    }

    /// With servers beside the workers.
    pub fn with_servers(self, servers: Option<Servers<'a, 'b>>) -> Ranks<'a, 'b> {
        Ranks { servers, ..self }
    }

    /// Lets the servers go, once this worker has no more to ask.
    pub fn leave_servers(&mut self) {
        if let Some(mut servers) = self.servers.take() {
            servers.leave();
        }
    }

    /// Where the time of so many seconds of training went. Everyone has to call this.
    pub fn profile(&self, seconds: f64) -> Profile {
        let mut mean = [self.work.flops, self.work.bytes].map(|work| work / self.size() as f64);
        self.communicator.sum(&mut mean);
        // Whoever is the last to come waits least: what it waits for is the sum itself.
        let waits = self.communicator.gather_numbers(self.summing.0);
        let sum_seconds = waits.into_iter().fold(f64::INFINITY, f64::min);
        let mut undisturbed = [self.computing.undisturbed(self.work.flops) / self.size() as f64];
        self.communicator.sum(&mut undisturbed);
        let [undisturbed_seconds] = undisturbed;
        let work = Work { flops: mean[0], bytes: mean[1] };
        let sums = self.sums.iter().map(|(length, count)| (*length, *count)).collect();
        let rates = self.communicator.gather_numbers(self.rate());
        let compute_seconds = seconds - sum_seconds;
        Profile { work, compute_seconds, sum_seconds, undisturbed_seconds, sums, rates }
    }

    /// Operations per second of this rank while it computed; 0 if it did not long enough to tell.
    fn rate(&self) -> f64 {
        let computed = self.watch.now().0 - self.begun.0 - self.waiting.0;
        if computed >= LONG_ENOUGH { self.work.flops / computed } else { 0.0 }
    }

    /// Communicates; what that takes is waited, not computed.
    fn wait<T>(&mut self, communicate: impl FnOnce(&mut Ranks<'a, 'b>) -> T) -> (T, Seconds) {
        self.computing.wait();
        let before = self.watch.now();
        let outcome = communicate(self);
        let waited = Seconds(self.watch.now().0 - before.0);
        self.waiting.0 += waited.0;
        if self.watch.is_running() {
            self.computing.go_on();
        }
        (outcome, waited)
    }

    /// Talks to the servers, if there are any.
    fn ask<T>(&mut self, what: impl FnOnce(&mut Servers<'a, 'b>) -> T) -> Result<T, Error> {
        let (outcome, _) = self.wait(|ranks| ranks.servers.as_mut().map(what));
        outcome.ok_or(Error::NothingShared)
    }
}

/// A rank has to compute this long, in seconds, before its speed says something.
const LONG_ENOUGH: f64 = 0.1;

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

    fn charge(&mut self, work: Work) {
        if self.watch.is_running() {
            self.work += work;
            self.computing.work(work.flops);
        }
    }

    fn clock(&mut self, running: bool) {
        self.watch.set(running);
        if running { self.computing.go_on() } else { self.computing.end_round() }
    }

    /// MPI adds in an order of its own, the same on every rank.
    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        #[cfg(debug_assertions)]
        crate::guard::panic_if_asked(self.communicator.rank());
        let ((), waited) = self.wait(|ranks| ranks.communicator.sum(buffer));
        if self.watch.is_running() {
            self.summing.0 += waited.0;
            *self.sums.entry(buffer.len()).or_default() += 1;
        }
        Ok(())
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error> {
        self.wait(|ranks| ranks.communicator.broadcast(root, buffer));
        Ok(())
    }

    /// Nobody has to wait for a neighbour who is sending as well.
    fn send(&mut self, to: usize, message: &[u8]) -> Result<(), Error> {
        self.messages.send(to, message.to_vec());
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Error> {
        Ok(self.wait(|ranks| ranks.messages.receive(from)).0)
    }

    fn steps(&self) -> u64 {
        self.servers.as_ref().map_or(0, Servers::steps)
    }

    /// The first worker gives them to the servers; nobody asks before they have them.
    fn serve(&mut self, values: &[f64]) -> Result<(), Error> {
        let first = self.rank() == 0;
        self.ask(|servers| {
            servers.begin(values.len());
            if first {
                servers.put(values);
            }
        })?;
        self.wait(|ranks| ranks.communicator.barrier());
        Ok(())
    }

    fn look(&mut self, values: &mut [f64]) -> Result<(), Error> {
        self.ask(|servers| servers.look(values))
    }

    fn exchange(&mut self, request: &Request, until: u64, answer: &mut Vec<f64>) -> Result<bool, Error> {
        self.ask(|servers| servers.exchange(request, until, answer))
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
