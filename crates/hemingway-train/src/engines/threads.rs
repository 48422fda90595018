//! Real threads of this process on real cores.

use hemingway_data::{Dataset, cores};

use super::{Meeting, check, run_workers};
use crate::{Engine, Error, Event, Job, Needs, Run, Seconds, Stopwatch, Transport, Work};

/// The engine that runs each worker on a thread of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Threads;

impl Engine for Threads {
    fn name(&self) -> &'static str {
        "threads"
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
        let meeting = Meeting::new(job.workers, job.workers <= cores());
        run_workers(data, job, &meeting, observe, |rank| Thread {
            rank,
            size: job.workers,
            meeting: &meeting,
            watch: Stopwatch::running(job.start.seconds()),
        })
    }
}

/// One worker on a thread.
struct Thread<'a> {
    rank: usize,
    size: usize,
    meeting: &'a Meeting,
    watch: Stopwatch,
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

    fn send(&mut self, to: usize, message: &[f64]) -> Result<(), Error> {
        self.meeting.send(self.rank, to, 0.0, message);
        Ok(())
    }

    fn receive(&mut self, from: usize, message: &mut [f64]) -> Result<(), Error> {
        self.meeting.receive(self.rank, from, message).map(drop)
    }
}
