//! Real threads of this process on real cores.

use std::time::{Duration, Instant};

use super::{Meeting, check, run_workers};
use crate::{Engine, Error, Event, Job, Needs, Run, Seconds, Transport, Work};

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

    fn run(&self, job: &Job, observe: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<Run, Error> {
        check(job)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let meeting = Meeting::new(job.workers, job.workers <= cores);
        let spent = job.resume.map_or(0.0, |checkpoint| checkpoint.seconds.0);
        run_workers(job, &meeting, observe, |rank| Thread {
            rank,
            size: job.workers,
            meeting: &meeting,
            before: Duration::from_secs_f64(spent),
            since: Some(Instant::now()),
        })
    }
}

/// One worker on a thread, with a stop-watch.
struct Thread<'a> {
    rank: usize,
    size: usize,
    meeting: &'a Meeting,
    /// Training time before the watch was last started.
    before: Duration,
    since: Option<Instant>,
}

impl Transport for Thread<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn now(&self) -> Seconds {
        let running = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        Seconds((self.before + running).as_secs_f64())
    }

    fn charge(&mut self, _: Work) {}

    fn clock(&mut self, running: bool) {
        if let Some(since) = self.since.take() {
            self.before += since.elapsed();
        }
        self.since = running.then(Instant::now);
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
