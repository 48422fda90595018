//! Runs: made when training begins, claimed again to go on, closed when it ends.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Store;
use crate::{Choice, DatasetSummary, Error, Owner, TrainReport, TrainRequest};

/// A run as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    pub(super) number: i64,
    /// Its name.
    pub id: String,
    /// When it was made, in Unix time.
    pub created: f64,
    /// What was asked for.
    pub request: TrainRequest,
    /// What was decided.
    pub choice: Choice,
    /// What was trained on.
    pub dataset: DatasetSummary,
    /// How it stands.
    pub status: Status,
    /// Who works or worked on it.
    pub owner: Owner,
    /// The result, once done.
    pub report: Option<TrainReport>,
    /// What went wrong, if it failed.
    pub failure: Option<String>,
}

impl StoredRun {
    /// Refuses a run that some process works on.
    pub(crate) fn check_idle(&self) -> Result<(), Error> {
        if self.status != Status::Running {
            return Ok(());
        }
        let Owner { pid, host, .. } = self.owner.clone();
        Err(Error::StillRunning { run: self.id.clone(), pid, host })
    }
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A process works on it.
    Running,
    /// A process worked on it and is gone without a word: killed, or the machine went down.
    Died,
    /// It ended, for whatever reason its report gives.
    Done,
    /// It ended with an error.
    Failed,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Status::Running => "running",
            Status::Died => "interrupted (died)",
            Status::Done => "done",
            Status::Failed => "failed",
        })
    }
}

const COLUMNS: &str =
    "number, id, created, request, choice, dataset, status, pid, host, process_started, report, failure";

impl Store {
    /// Makes a run that this process works on.
    pub fn create_run(
        &self,
        request: &TrainRequest,
        choice: &Choice,
        dataset: &DatasetSummary,
    ) -> Result<StoredRun, Error> {
        let me = Owner::me();
        let (request, choice, dataset) = (json(request), json(choice), json(dataset));
        let insert = "INSERT OR IGNORE INTO runs
            (id, created, request, choice, dataset, status, pid, host, process_started)
            VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7, ?8)";
        loop {
            let id = random_id();
            let row = params![id, now(), request, choice, dataset, me.pid, me.host, me.started];
            if self.connection.execute(insert, row).map_err(self.error())? == 1 {
                return self.run(&id);
            }
        }
    }

    /// Takes over a run that nobody works on any more, with what is now asked of it.
    pub fn claim_run(&self, run: &StoredRun, request: &TrainRequest, choice: &Choice) -> Result<(), Error> {
        let transaction =
            rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(self.error())?;
        self.run(&run.id)?.check_idle()?;
        let me = Owner::me();
        let update = "UPDATE runs SET status = 'running', pid = ?2, host = ?3, process_started = ?4,
            request = ?5, choice = ?6, report = NULL, failure = NULL WHERE number = ?1";
        let row = params![run.number, me.pid, me.host, me.started, json(request), json(choice)];
        transaction.execute(update, row).map_err(self.error())?;
        transaction.commit().map_err(self.error())
    }

    /// The run goes on another way.
    pub fn change_choice(&self, run: &StoredRun, choice: &Choice) -> Result<(), Error> {
        let update = "UPDATE runs SET choice = ?2 WHERE number = ?1";
        self.connection.execute(update, params![run.number, json(choice)]).map_err(self.error())?;
        Ok(())
    }

    /// Closes a run with its result.
    pub fn finish_run(&self, run: &StoredRun, report: &TrainReport) -> Result<(), Error> {
        let update = "UPDATE runs SET status = 'done', report = ?2 WHERE number = ?1";
        self.connection.execute(update, params![run.number, json(report)]).map_err(self.error())?;
        Ok(())
    }

    /// Closes a run with what went wrong.
    pub fn fail_run(&self, run: &StoredRun, failure: &str) -> Result<(), Error> {
        let update = "UPDATE runs SET status = 'failed', failure = ?2 WHERE number = ?1";
        self.connection.execute(update, params![run.number, failure]).map_err(self.error())?;
        Ok(())
    }

    /// All runs, the latest first.
    pub fn runs(&self) -> Result<Vec<StoredRun>, Error> {
        self.query_runs("", usize::MAX, params![])
    }

    /// So many of the latest runs with the loss and the penalty of a request, the latest first.
    pub fn latest_runs_on(&self, request: &TrainRequest, most: usize) -> Result<Vec<StoredRun>, Error> {
        let alike = "WHERE json_extract(request, '$.loss') = ?1 AND json_extract(request, '$.lambda') = ?2
            AND json_extract(request, '$.bias') = ?3";
        self.query_runs(alike, most, params![request.loss.to_string(), request.lambda, request.bias])
    }

    fn query_runs(
        &self,
        which: &str,
        most: usize,
        with: impl rusqlite::Params,
    ) -> Result<Vec<StoredRun>, Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let query = format!("SELECT {COLUMNS} FROM runs {which} ORDER BY number DESC LIMIT {most}");
        let mut statement = self.connection.prepare(&query).map_err(self.error())?;
        let runs = statement.query_map(with, read_run).map_err(self.error())?;
        runs.collect::<Result<_, _>>().map_err(self.error())
    }

    /// The run of this name, of a name that begins so, or the `last` one.
    pub fn run(&self, name: &str) -> Result<StoredRun, Error> {
        let id = if name == "last" { self.last_id()? } else { self.full_id(name)? };
        let id = id.ok_or_else(|| Error::NoRun { run: name.to_owned(), store: self.file.clone() })?;
        let query = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        self.connection.query_row(&query, [id], read_run).map_err(self.error())
    }

    fn last_id(&self) -> Result<Option<String>, Error> {
        let query = "SELECT id FROM runs ORDER BY number DESC LIMIT 1";
        self.connection.query_row(query, [], |row| row.get(0)).optional().map_err(self.error())
    }

    fn full_id(&self, prefix: &str) -> Result<Option<String>, Error> {
        let query = "SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 AND ?1 <> '' ORDER BY id";
        let mut statement = self.connection.prepare(query).map_err(self.error())?;
        let ids = statement.query_map([prefix.to_lowercase()], |row| row.get(0)).map_err(self.error())?;
        let mut ids: Vec<String> = ids.collect::<Result<_, _>>().map_err(self.error())?;
        match ids.len() {
            0 | 1 => Ok(ids.pop()),
            _ => Err(Error::AmbiguousRun { run: prefix.to_owned(), candidates: ids }),
        }
    }
}

fn read_run(row: &Row) -> rusqlite::Result<StoredRun> {
    let owner = Owner { pid: row.get(7)?, host: row.get(8)?, started: row.get(9)? };
    let status = match row.get::<_, String>(6)?.as_str() {
        "running" if owner.is_dead() => Status::Died,
        "running" => Status::Running,
        "done" => Status::Done,
        _ => Status::Failed,
    };
    let report = row.get::<_, Option<String>>(10)?.map(|text| parse(10, &text)).transpose()?;
    Ok(StoredRun {
        number: row.get(0)?,
        id: row.get(1)?,
        created: row.get(2)?,
        request: parse(3, row.get_ref(3)?.as_str()?)?,
        choice: parse(4, row.get_ref(4)?.as_str()?)?,
        dataset: parse(5, row.get_ref(5)?.as_str()?)?,
        status,
        owner,
        report,
        failure: row.get(11)?,
    })
}

fn parse<T: DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
    })
}

/// Our own plain data: numbers, texts and lists, which JSON can always hold.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data has a JSON form")
}

pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Five letters and digits that are not easily confused. Not a count, so that runs of two stores, and their models,
/// do not get in each other's way.
fn random_id() -> String {
    const LETTERS: &[u8; 28] = b"23456789abcdefghjkmnpqrstvwx";
    let mut bits = RandomState::new().hash_one(now().to_bits());
    let mut letter = || {
        let letter = LETTERS[(bits % 28) as usize];
        bits /= 28;
        char::from(letter)
    };
    (0..5).map(|_| letter()).collect()
}
