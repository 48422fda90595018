//! Real threads of this process on real cores.

use std::ops::Range;
use std::sync::Arc;

use hemingway_data::{Dataset, cores};

use super::commons::LEAD;
use super::{Commons, Meeting, check, run_workers};
use crate::{
    Engine, Error, Event, Job, Journal, Needs, Run, Seconds, SharedMemory, Stopwatch, Transport, Work,
};

/// The engine that runs each worker on a thread of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Threads;

impl Engine for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn offers(&self, needs: Needs) -> bool {
        !matches!(needs, Needs::Servers(_))
    }

    fn run(
        &self,
        data: &Dataset,
        job: &Job,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        let rows = 0..data.matrix.rows();
        ThreadsOn { rows }.run(data, job, observe)
    }
}

/// The same on consecutive rows of a dataset, which are all the data there is for the job: its duals are those of these
/// rows, counted from 0.
#[derive(Debug, Clone)]
pub struct ThreadsOn {
    /// Which rows.
    pub rows: Range<usize>,
}

impl Engine for ThreadsOn {
    fn name(&self) -> &'static str {
        Threads.name()
    }

    fn offers(&self, needs: Needs) -> bool {
        Threads.offers(needs)
    }

    fn run(
        &self,
        data: &Dataset,
        job: &Job,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        check(data, &self.rows, job)?;
        let meeting = Meeting::new(job.workers, job.workers <= cores());
        let commons = Commons::new(job.workers);
        run_workers(data, &self.rows, job, (&meeting, &commons), observe, |rank| Thread {
            rank,
            size: job.workers,
            meeting: &meeting,
            commons: &commons,
            watch: Stopwatch::running(job.start.seconds()),
            made: 0,
            slowest: 0,
        })
    }
}

/// One worker on a thread.
struct Thread<'a> {
    rank: usize,
    size: usize,
    meeting: &'a Meeting,
    commons: &'a Commons,
    watch: Stopwatch,
    /// Steps of this worker, and those of the slowest when it last looked.
    made: u64,
    slowest: u64,
}

impl Thread<'_> {
    /// Counts from nothing, as everyone does when something is shared.
    fn count_anew(&mut self) {
        (self.made, self.slowest) = (0, 0);
    }

    fn check(&self) -> Result<(), Error> {
        if self.meeting.is_over() { Err(Error::WorkerLost) } else { Ok(()) }
    }
}

impl Transport for Thread<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn now(&self) -> Seconds {
        self.watch.now()
    }

    fn charge(&mut self, _: Work) {}

    fn clock(&mut self, running: bool) {
        self.watch.set(running);
    }

    fn sum(&mut self, buffer: &mut [f64]) -> Result<(), Error> {
        self.meeting.sum(self.rank, 0.0, buffer).map(drop)
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [f64]) -> Result<(), Error> {
        self.meeting.broadcast(self.rank, root, 0.0, buffer).map(drop)
    }

    fn send(&mut self, to: usize, message: &[u8]) -> Result<(), Error> {
        self.meeting.send(self.rank, to, 0.0, message);
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Vec<u8>, Error> {
        self.meeting.receive(self.rank, from).map(|(_, message)| message)
    }

    fn share(&mut self, values: &[f64]) -> Result<Arc<SharedMemory>, Error> {
        self.count_anew();
        self.commons.share(self.meeting, self.rank, values)
    }

    fn journal(&mut self) -> Result<Arc<Journal>, Error> {
        self.count_anew();
        self.commons.journal(self.meeting, self.rank, self.size)
    }

    fn is_over(&self) -> bool {
        self.meeting.is_over()
    }

    fn turn(&mut self, until: u64) -> Result<Option<usize>, Error> {
        self.check()?;
        while self.commons.steps() < until {
            if self.made < self.slowest + LEAD {
                return Ok(Some(STEPS_BETWEEN_LOOKS));
            }
            self.slowest = self.commons.slowest();
            if self.made >= self.slowest + LEAD {
                std::thread::yield_now();
                self.check()?;
            }
        }
        Ok(None)
    }

    fn made(&mut self, steps: u64) {
        self.made += steps;
        self.commons.made(self.rank, steps);
    }

    fn steps(&self) -> u64 {
        self.commons.steps()
    }
}

/// Steps after which a worker looks whether the round is over: often enough that a round is hardly longer than it should
/// be, rarely enough that the common count is in nobody's way.
const STEPS_BETWEEN_LOOKS: usize = 64;
