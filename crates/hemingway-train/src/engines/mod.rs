//! The engines inside one process, and what they share: starting one worker per thread.

mod cluster;
mod commons;
mod gate;
mod journal;
mod measured;
mod meeting;
pub(crate) mod shared_memory;
mod simulated;
mod sync;
mod threads;
mod turns;

use std::ops::Range;
use std::time::Instant;

use hemingway_data::{Dataset, shard};

use crate::drive::drive;
use crate::{Engine, Entry, Error, Event, Job, Local, Needs, Run, Transport, Worker};

pub use cluster::{
    Cluster, Collective, Jitter, Machine, MachineType, Network, Stragglers, calibrate, calibrate_among_others,
};
use commons::Commons;
pub(crate) use commons::JOURNAL;
use journal::Alone;
pub use journal::{Change, Journal};
pub use measured::MeasuredSums;
pub use meeting::Meeting;
pub use shared_memory::SharedMemory;
pub use simulated::Simulated;
pub use threads::{Threads, ThreadsOn};
use turns::Turns;

/// The names of all engines.
pub fn engines() -> &'static [&'static str] {
    &["threads", "simulated", "mpi"]
}

/// Whether the engine of this name can run an algorithm that needs this.
pub fn offers(engine: &str, needs: Needs) -> bool {
    match engine {
        "threads" => Threads.offers(needs),
        "mpi" => !matches!(needs, Needs::SharedMemory),
        _ => true,
    }
}

/// The engines that can run an algorithm that needs this.
pub fn engines_for(needs: Needs) -> Vec<&'static str> {
    engines().iter().copied().filter(|engine| offers(engine, needs)).collect()
}

/// Refuses an algorithm that the engine of this name cannot run.
pub fn check_offers(engine: &str, entry: &Entry) -> Result<(), Error> {
    let needs = entry.needs();
    if offers(engine, needs) {
        return Ok(());
    }
    let (engine, can) = (engine.to_owned(), engines_for(needs));
    Err(Error::Unsupported { engine, algorithm: entry.name, needs: needs.name(), can })
}

/// Runs a job on some rows of the data with one thread per worker. Worker 0 is the calling thread: it alone observes, and a single worker
/// starts no thread at all.
fn run_workers<T: Transport>(
    data: &Dataset,
    rows: &Range<usize>,
    job: &Job,
    (meeting, commons): (&Meeting, &Commons),
    observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    transport: impl Fn(usize) -> T + Sync,
) -> Result<Run, Error> {
    let begun = Instant::now();
    let transport = &transport;
    let work = move |rank: usize, observe: &mut dyn FnMut(Event) -> Result<(), Error>| {
        let breaker = BreakUp(meeting, commons);
        let mut transport = transport(rank);
        let mine = shard(rows.len(), job.workers, rank);
        let local = Local::among(data, rows, mine, job.problem);
        let mut worker = Worker::new(local, job.seed, &mut transport);
        let outcome = drive(&mut worker, job, begun, observe)?;
        std::mem::forget(breaker);
        Ok(outcome)
    };
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for rank in 1..job.workers {
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            match builder.spawn_scoped(scope, move || work(rank, &mut |_| Ok(()))) {
                Ok(handle) => others.push(handle),
                Err(error) => {
                    drop(BreakUp(meeting, commons));
                    return Err(Error::Spawn { rank, error });
                }
            }
        }
        let first = work(0, observe);
        let failures = others.into_iter().filter_map(|other| match other.join() {
            Ok(outcome) => outcome.err(),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let failure = failures.fold(None, |found, error| match found {
            None | Some(Error::WorkerLost) => Some(error),
            found => found,
        });
        match (first, failure) {
            (Err(Error::WorkerLost), Some(error)) => Err(error),
            (outcome, _) => outcome.map(|run| run.expect("worker 0 returns the run")),
        }
    })
}

/// Enough for the shallow calls of a solver, small enough for a thousand threads.
pub(crate) const STACK_BYTES: usize = 1 << 20;

/// Breaks the meeting up when its worker leaves early, by error or by panic.
struct BreakUp<'a>(&'a Meeting, &'a Commons);

impl Drop for BreakUp<'_> {
    fn drop(&mut self) {
        self.0.break_up();
        self.1.turns.break_up();
    }
}

/// What every engine checks before it starts.
fn check(data: &Dataset, rows: &Range<usize>, job: &Job) -> Result<(), Error> {
    let rows = rows.len();
    if job.workers == 0 {
        return Err(Error::NoWorkers(0));
    }
    if job.workers > rows {
        return Err(Error::TooManyWorkers { workers: job.workers, rows });
    }
    job.algorithm.check(job.workers)?;
    job.start.check(rows, data.matrix.columns() + usize::from(job.problem.bias), data.fingerprint)
}
