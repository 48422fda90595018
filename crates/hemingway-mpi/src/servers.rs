//! The servers as a worker sees them: one vector in consecutive parts, and how many steps all workers have made on it.

use std::ops::Range;

use hemingway_data::shard;
use hemingway_train::Request;

use crate::communicator::Communicator;
use crate::messages::Messages;
use crate::question::{Slice, exchange, left, look, put, read_answer};

/// A worker's connection to the servers.
pub struct Servers<'a, 'b> {
    messages: Messages<'a, 'b>,
    /// The ranks of the servers.
    ranks: Range<usize>,
    /// How long the vector is.
    dimension: usize,
    /// Steps of all workers, as the last answer told.
    steps: u64,
}

impl<'a, 'b> Servers<'a, 'b> {
    /// The servers are those of the team who come after so many workers.
    pub fn new(team: &'b Communicator<'a>, workers: usize) -> Servers<'a, 'b> {
        Servers { messages: Messages::new(team), ranks: workers..team.size(), dimension: 0, steps: 0 }
    }

    /// What this worker knows of how many steps were made: all of them once it was refused.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// A vector of this length is there from now on, on which no step was made.
    pub fn begin(&mut self, dimension: usize) {
        (self.dimension, self.steps) = (dimension, 0);
    }

    /// Gives each server its part, and waits until they have it.
    pub fn put(&mut self, values: &[f64]) {
        for (server, part) in self.parts() {
            self.messages.send(server, put(&values[part]));
        }
        for server in self.ranks.clone() {
            self.messages.receive(server);
        }
    }

    /// Copies what the servers have.
    pub fn look(&mut self, values: &mut [f64]) {
        self.ranks.clone().for_each(|server| self.messages.send(server, look()));
        for (server, part) in self.parts() {
            let message = self.messages.receive(server);
            let (_, numbers) = read_answer(&message);
            values[part].iter_mut().zip(numbers).for_each(|(value, number)| *value = number);
        }
    }

    /// Asks all servers at once. That nothing may happen any more is known without asking if an answer told so before.
    pub fn exchange(&mut self, request: &Request, until: u64, values: &mut Vec<f64>) -> bool {
        if self.steps >= until {
            return false;
        }
        let within = |places: &[u32], part: &Range<usize>| {
            let before = |end: usize| places.partition_point(|at| (*at as usize) < end);
            before(part.start)..before(part.end)
        };
        for (server, part) in self.parts() {
            let (add, read) = (within(&request.add_at, &part), within(&request.read_at, &part));
            let slice = Slice { request, add, read, start: part.start };
            self.messages.send(server, exchange(&slice, until));
        }
        values.clear();
        let mut happened = true;
        for server in self.ranks.clone() {
            let message = self.messages.receive(server);
            let (verdict, numbers) = read_answer(&message);
            values.extend(numbers);
            (happened, self.steps) = (verdict.happens, verdict.steps);
        }
        happened
    }

    /// Asks nothing any more.
    pub fn leave(&mut self) {
        self.ranks.clone().for_each(|server| self.messages.send(server, left()));
    }

    /// Who has which part.
    fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let (dimension, first, servers) = (self.dimension, self.ranks.start, self.ranks.len());
        self.ranks.clone().map(move |server| (server, shard(dimension, servers, server - first)))
    }
}
