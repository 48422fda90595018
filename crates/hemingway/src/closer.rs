//! The end of a run that was interrupted and whose round does not end.
//!
//! Workers of this process look up only between rounds, and a round over much data may take minutes. Whoever cannot wait
//! closes the run from another thread, with what its last checkpoint holds, and then ends the process.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hemingway_data::Labels;
use hemingway_train::Stop;

use crate::prepare::Ready;
use crate::session::save_last_checkpoint;
use crate::{Error, Place, Store, StoredRun, TrainReport, TrainRequest};

/// How long an interrupted run is given to end by itself, after its round. Less loses the end of more rounds; more makes
/// whoever asked it to stop, and follows up with something harsher, do so.
pub const GRACE: Duration = Duration::from_secs(3);

/// Closes a run that is being trained in this process. Either training does, at its end, or this does, but not both.
pub struct Closer {
    place: Place,
    run: String,
    request: TrainRequest,
    ready: Ready,
    closed: Mutex<bool>,
}

impl Closer {
    pub(crate) fn new(place: &Place, run: &str, request: &TrainRequest, ready: &Ready) -> Closer {
        let (place, run, request) = (place.clone(), run.to_owned(), request.clone());
        Closer { place, run, request, ready: ready.without_test(), closed: Mutex::new(false) }
    }

    /// Saves the model of the last checkpoint and closes the run with it; an error if there is none. `None` if training
    /// has come to its end after all. What training still does from now on goes nowhere, so the process should end.
    pub fn close(&self) -> Option<Result<TrainReport, Error>> {
        let mut closed = self.lock();
        if *closed {
            return None;
        }
        *closed = true;
        let save = || {
            let store = Store::open(&self.place)?;
            let run = store.run(&self.run)?;
            let report =
                save_last_checkpoint(&self.place, &store, &run, &self.request, self.ready.without_test())?;
            match &self.request.class_of {
                Some(all) => Err(classes_missing(&store, all)?),
                None => Ok(report),
            }
        };
        Some(save())
    }

    /// Lets training do something to the store, unless it has been closed.
    pub(crate) fn unless_closed<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let closed = self.lock();
        if *closed { Err(Error::Interrupted) } else { work() }
    }

    /// Training has come to its end: nobody else closes the run any more.
    pub(crate) fn take(&self) -> Result<(), Error> {
        let mut closed = self.lock();
        if std::mem::replace(&mut *closed, true) { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The run of all classes has no model either, and its process ends.
fn classes_missing(store: &Store, all: &str) -> Result<Error, Error> {
    let run = store.run(all)?;
    let ended = |run: &StoredRun| run.report.as_ref().is_some_and(|report| report.stop != Stop::Interrupted);
    let done = store.classes_of(all)?.iter().filter(|run| ended(run)).count();
    let of = if let Labels::Several(names) = &run.dataset.labels { names.len() } else { done };
    let missing = Error::ClassesMissing { run: run.id.clone(), done, of };
    store.fail_run(&run, &missing.to_string())?;
    Ok(missing)
}
