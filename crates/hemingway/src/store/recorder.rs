//! What a run does goes into the store at once, or, while that is not possible, as soon as it is.
//!
//! Another program may hold the store, or the disk may be full for a while. That must not cost a model: the run goes on,
//! what it does is kept here in its order, and each time that something happens writing is tried again.

use std::time::{Duration, Instant};

use hemingway_train::{Checkpoint, Point};

use super::Store;
use crate::{Choice, Error, StoredRun, TrainReport};

/// Records one run.
pub(crate) struct Recorder<'a> {
    store: &'a Store,
    run: &'a StoredRun,
    waiting: Vec<Entry>,
    behind: bool,
    /// When to try again, while behind.
    again: Option<Instant>,
    /// Whether it was said that checkpoints are too large.
    said_too_large: bool,
}

/// SQLite keeps no value of more bytes; some are for what is around it.
const LARGEST_STATE: usize = 1_000_000_000 - 4096;

/// While the store cannot be written to, a try is followed by this many times its length without one: the run gets at
/// least 19 of 20 parts of the time, however much there is to write, and catches up almost at once.
const REST: u32 = 19;

/// Something to record.
pub(super) enum Entry {
    Point(Point),
    Checkpoint {
        round: u64,
        state: Vec<u8>,
    },
    /// The run changes its configuration.
    Choice(Box<Choice>),
    /// It begins again from this round.
    Again(u64),
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(store: &'a Store, run: &'a StoredRun) -> Recorder<'a> {
        Recorder { store, run, waiting: Vec::new(), behind: false, again: None, said_too_large: false }
    }

    /// Keeps a point. All these return what the user should know, if anything.
    pub(crate) fn point(&mut self, point: &Point) -> Result<Option<String>, Error> {
        self.record(Entry::Point(*point))
    }

    /// Keeps a state to go on from; one that waits is replaced.
    pub(crate) fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<Option<String>, Error> {
        let state = checkpoint.to_bytes();
        if state.len() > LARGEST_STATE {
            return Ok(self.too_large(state.len()));
        }
        self.waiting.retain(|entry| !matches!(entry, Entry::Checkpoint { .. }));
        self.record(Entry::Checkpoint { round: checkpoint.round, state })
    }

    /// The run changes its configuration.
    pub(crate) fn choice(&mut self, choice: &Choice) -> Result<Option<String>, Error> {
        self.record(Entry::Choice(Box::new(choice.clone())))
    }

    /// The run begins again from its last checkpoint, which is returned.
    pub(crate) fn begin_again(&mut self) -> Result<(Option<Checkpoint>, Option<String>), Error> {
        let from = self.last_checkpoint()?;
        let note = self.record(Entry::Again(from.as_ref().map_or(0, |from| from.round)))?;
        Ok((from, note))
    }

    /// The last checkpoint, recorded or not yet.
    pub(crate) fn last_checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        let waiting = self.waiting.iter().find_map(|entry| match entry {
            Entry::Checkpoint { state, .. } => Some(Checkpoint::from_bytes(state)),
            _ => None,
        });
        waiting.transpose()?.map_or_else(|| self.store.checkpoint(self.run), |from| Ok(Some(from)))
    }

    /// Closes the run with its result, for which the store is waited for once more. Returns what could not be recorded,
    /// and why.
    pub(crate) fn finish(self, report: &TrainReport) -> Result<Option<String>, Error> {
        self.wait_for_others(true)?;
        match self.store.finish_with(self.run, &self.waiting, report) {
            Ok(()) => Ok(None),
            Err(error) if error.may_pass() => Ok(Some(self.unrecorded(&error))),
            Err(error) => Err(error),
        }
    }

    /// Closes the run with what went wrong. If the store is what failed, this fails too; the first error is the one to
    /// report.
    pub(crate) fn fail(self, failure: &str) {
        let recorded = self.store.fail_with(self.run, &self.waiting, failure);
        let _ = recorded.or_else(|_| self.store.fail_run(self.run, failure));
    }

    fn record(&mut self, entry: Entry) -> Result<Option<String>, Error> {
        self.waiting.push(entry);
        let begun = Instant::now();
        if self.again.is_some_and(|again| begun < again) {
            return Ok(None);
        }
        match self.store.write_all(self.run, &self.waiting) {
            Ok(()) => {
                self.waiting.clear();
                self.catch_up()
            }
            Err(error) if error.may_pass() => self.fall_behind(&error, begun.elapsed()),
            Err(error) => Err(error),
        }
    }

    fn too_large(&mut self, bytes: usize) -> Option<String> {
        let said = std::mem::replace(&mut self.said_too_large, true);
        (!said).then(|| {
            let size = bytes as f64 / 1e9;
            format!("a checkpoint of this run has {size:.1} GB, more than the store can keep; it cannot be resumed")
        })
    }

    fn fall_behind(&mut self, error: &Error, tried: Duration) -> Result<Option<String>, Error> {
        if std::mem::replace(&mut self.behind, true) {
            self.again = Some(Instant::now() + REST * tried);
            return Ok(None);
        }
        // Having waited once, the run does not stand still again until its end.
        self.wait_for_others(false)?;
        Ok(Some(format!("{error}; the run goes on and is recorded once the store can be written to")))
    }

    fn catch_up(&mut self) -> Result<Option<String>, Error> {
        if !std::mem::take(&mut self.behind) {
            return Ok(None);
        }
        self.again = None;
        self.wait_for_others(true)?;
        Ok(Some("the store can be written to again; nothing is missing".to_owned()))
    }

    fn wait_for_others(&self, wait: bool) -> Result<(), Error> {
        let patience = if wait { self.store.patience } else { Duration::ZERO };
        self.store.connection.busy_timeout(patience).map_err(self.store.error())
    }

    fn unrecorded(&self, error: &Error) -> String {
        let points = self.waiting.iter().filter(|entry| matches!(entry, Entry::Point(_))).count();
        let points = match points {
            0 => String::new(),
            1 => "1 scored round and ".to_owned(),
            count => format!("{count} scored rounds and "),
        };
        let verb = if points.is_empty() { "is" } else { "are" };
        format!("{error}: {points}the result of run {} {verb} not recorded", self.run.id)
    }
}
