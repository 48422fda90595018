//! What a study does goes into the store at once, or, while that is not possible, as soon as it is.
//!
//! Another program may hold the store, or the disk may be full for a while. An evaluation may have taken an hour, so that must
//! not cost it: the study goes on, what happened is kept here in its order, and each time that something happens writing is
//! tried again.

use hemingway_tune::schedule::Outcome;
use serde_json::{Value, json};

use crate::store::StoredStudy;
use crate::{Error, Store};

/// Records one study.
pub(super) struct Recorder<'a> {
    store: &'a Store,
    study: &'a StoredStudy,
    waiting: Vec<Entry>,
    behind: bool,
}

enum Entry {
    Begun { number: usize, configuration: Value, proposed: Value },
    Ended { number: usize, seconds: f64, outcome: Result<Value, String> },
}

impl<'a> Recorder<'a> {
    pub(super) fn new(store: &'a Store, study: &'a StoredStudy) -> Recorder<'a> {
        Recorder { store, study, waiting: Vec::new(), behind: false }
    }

    /// An evaluation begins. This and [`Recorder::ended`] return what the user should know, if anything.
    pub(super) fn begun(
        &mut self,
        number: usize,
        configuration: &Value,
        proposed: &Value,
    ) -> Result<Option<String>, Error> {
        let (configuration, proposed) = (configuration.clone(), proposed.clone());
        self.record(Entry::Begun { number, configuration, proposed })
    }

    /// An evaluation ended.
    pub(super) fn ended(
        &mut self,
        number: usize,
        seconds: f64,
        outcome: &Outcome,
    ) -> Result<Option<String>, Error> {
        let outcome = match outcome {
            Outcome::Measured(answer) => Ok(json!(answer)),
            Outcome::Failed(reason) => Err(reason.clone()),
        };
        self.record(Entry::Ended { number, seconds, outcome })
    }

    /// Tries once more. Returns what could not be recorded, and why.
    pub(super) fn finish(&mut self) -> Result<Option<String>, Error> {
        match self.catch_up() {
            Err(error) if error.may_pass() => {
                let ended = self.waiting.iter().filter(|entry| matches!(entry, Entry::Ended { .. })).count();
                Ok(Some(format!("{ended} evaluations are not in the store: {error}")))
            }
            result => result.map(|()| None),
        }
    }

    fn record(&mut self, entry: Entry) -> Result<Option<String>, Error> {
        self.waiting.push(entry);
        let before = self.behind;
        match self.catch_up() {
            Ok(()) => {
                self.behind = false;
                Ok(before.then(|| "the store can be written to again; nothing is missing".to_owned()))
            }
            Err(error) if error.may_pass() => {
                self.behind = true;
                let text = format!("{error}; the study goes on and is recorded once that is possible");
                Ok((!before).then_some(text))
            }
            Err(error) => Err(error),
        }
    }

    fn catch_up(&mut self) -> Result<(), Error> {
        while let Some(entry) = self.waiting.first() {
            match entry {
                Entry::Begun { number, configuration, proposed } => {
                    self.store.begin_evaluation(self.study, *number, configuration, proposed)?;
                }
                Entry::Ended { number, seconds, outcome } => {
                    let outcome = outcome.as_ref().map_err(String::as_str);
                    self.store.end_evaluation(self.study, *number, *seconds, outcome)?;
                }
            }
            self.waiting.remove(0);
        }
        Ok(())
    }
}
