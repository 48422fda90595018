//! Runs: made when training begins, claimed again to go on, closed when it ends.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use hemingway_data::Labels;
use hemingway_train::Stop;
use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::Store;
use super::damage::{Damaged, Problem, parsed, parsed_if_there, value};
use super::recorder::Entry;
use crate::{Choice, DatasetSummary, Error, Owner, TrainReport, TrainRequest};

/// A run as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    pub(super) number: i64,
    /// How many processes have worked on it before.
    pub(super) claim: i64,
    /// Its name.
    pub id: String,
    /// When it was made, in Unix time.
    pub created: f64,
    /// When it last began or ended, in Unix time.
    pub used: f64,
    /// What it is for.
    pub purpose: Purpose,
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
    /// The result, once done; while it goes further, that of the last time it was done.
    pub report: Option<TrainReport>,
    /// What went wrong, if it failed.
    pub failure: Option<String>,
}

impl StoredRun {
    /// Whether it has no rounds of its own, but runs of its classes that have.
    pub fn is_of_several_classes(&self) -> bool {
        matches!(self.dataset.labels, Labels::Several(_))
    }

    /// Refuses a run that some process works on, or may work on where that cannot be seen.
    pub(super) fn check_idle(&self, take_over: bool) -> Result<(), Error> {
        if self.status != Status::Running {
            return Ok(());
        }
        let (run, Owner { pid, host, .. }) = (self.id.clone(), self.owner.clone());
        match self.owner.is_elsewhere() {
            true if take_over => Ok(()),
            true => Err(Error::RunsElsewhere { run, pid, host }),
            false => Err(Error::StillRunning { run, pid, host }),
        }
    }
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The user asked for its model.
    Train,
    /// It trains one of several classes, for another run.
    Class,
    /// It was made to fit models to.
    Experiment,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Purpose::Train => "train",
            Purpose::Class => "class",
            Purpose::Experiment => "experiment",
        }
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

/// Names this much alike are taken for each other mistyped: two of five letters may be wrong. Names are random, so more
/// would propose runs that have nothing to do with it.
const LIKE: f64 = 0.6;

const COLUMNS: &str =
    "number, id, created, request, choice, dataset, status, pid, host, process_started, report,
    failure, purpose, claim, before, used";

impl Store {
    /// Makes a run that this process works on.
    pub fn create_run(
        &self,
        request: &TrainRequest,
        choice: &Choice,
        dataset: &DatasetSummary,
        purpose: Purpose,
    ) -> Result<StoredRun, Error> {
        let me = Owner::me();
        let (request, choice, dataset) = (json(request), json(choice), json(dataset));
        let insert = "INSERT OR IGNORE INTO runs
            (id, created, used, request, choice, dataset, status, pid, host, process_started, purpose)
            VALUES (?1, ?2, ?2, ?3, ?4, ?5, 'running', ?6, ?7, ?8, ?9)";
        loop {
            let id = random_id();
            let purpose = purpose.name();
            let row = params![id, now(), request, choice, dataset, me.pid, me.host, me.started, purpose];
            if self.connection.execute(insert, row).map_err(self.error())? == 1 {
                return self.run(&id);
            }
        }
    }

    /// Takes a run that nobody works on any more, so that nobody else does; with `take_over` also one whose process
    /// cannot be looked at. As long as it has not begun again it stays what it was: if this process ends before that,
    /// nothing has happened.
    pub fn claim_run(&self, run: &StoredRun, take_over: bool) -> Result<StoredRun, Error> {
        self.at_once(|| {
            self.run(&run.id)?.check_idle(take_over)?;
            let me = Owner::me();
            let update = "UPDATE runs SET status = 'running', before = coalesce(before, status), pid = ?2,
                host = ?3, process_started = ?4, claim = claim + 1 WHERE number = ?1";
            let row = params![run.number, me.pid, me.host, me.started];
            self.connection.execute(update, row).map_err(self.error())?;
            self.run(&run.id)
        })
    }

    /// Gives a run back that was claimed and has not begun again, as it was before.
    pub fn release_run(&self, claimed: &StoredRun, before: &StoredRun) -> Result<(), Error> {
        let Owner { pid, host, started } = &before.owner;
        let update =
            "UPDATE runs SET status = before, before = NULL, pid = ?3, host = ?4, process_started = ?5
            WHERE number = ?1 AND claim = ?2 AND before IS NOT NULL";
        let row = params![claimed.number, claimed.claim, pid, host, started];
        self.connection.execute(update, row).map_err(self.error())?;
        Ok(())
    }

    /// A run that was claimed begins again from a round, with what is now asked of it.
    pub fn go_on(
        &self,
        run: &StoredRun,
        request: &TrainRequest,
        choice: &Choice,
        round: u64,
    ) -> Result<(), Error> {
        self.at_once(|| {
            self.check_mine(run)?;
            let update = "UPDATE runs SET request = ?2, choice = ?3, used = ?4, before = NULL, failure = NULL
                WHERE number = ?1";
            let row = params![run.number, json(request), json(choice), now()];
            self.connection.execute(update, row).map_err(self.error())?;
            self.put_attempt(run, round)
        })
    }

    /// The run changes its configuration. What an earlier attempt saw of the old one beyond that is no part of it any more.
    pub(super) fn put_choice(&self, run: &StoredRun, choice: &Choice) -> Result<(), Error> {
        let update = "UPDATE runs SET choice = ?2 WHERE number = ?1";
        self.connection.execute(update, params![run.number, json(choice)]).map_err(self.error())?;
        choice.switches.last().map_or(Ok(()), |switched| self.settle(run, switched.at_round))
    }

    /// Closes a run with its result, after what is still to be written.
    pub(super) fn finish_with(
        &self,
        run: &StoredRun,
        entries: &[Entry],
        report: &TrainReport,
    ) -> Result<(), Error> {
        self.at_once(|| {
            self.put_all(run, entries)?;
            let update =
                "UPDATE runs SET status = 'done', report = ?2, failure = NULL, used = ?3 WHERE number = ?1";
            self.connection
                .execute(update, params![run.number, json(report), now()])
                .map_err(self.error())?;
            // A run that was asked for so many rounds has no more. Otherwise what an earlier attempt saw beyond the end was
            // seen all the same.
            self.settle(run, if report.stop == Stop::Rounds { report.rounds } else { u64::MAX })?;
            // A run that reached its goal keeps what any solver can go on from, if its own needs no more; others keep all,
            // since they are likely to go on, and then as if they had never stopped.
            if needs_little(report) { self.lighten_checkpoint(run) } else { Ok(()) }
        })?;
        // Space that is not given back now is used by the next run.
        let _ = self.give_back_free_pages();
        Ok(())
    }

    /// Closes a run with what went wrong.
    pub fn fail_run(&self, run: &StoredRun, failure: &str) -> Result<(), Error> {
        self.fail_with(run, &[], failure)
    }

    /// The same after what is still to be written.
    pub(super) fn fail_with(&self, run: &StoredRun, entries: &[Entry], failure: &str) -> Result<(), Error> {
        self.at_once(|| {
            self.put_all(run, entries)?;
            let update = "UPDATE runs SET status = 'failed', failure = ?2, used = ?3 WHERE number = ?1";
            self.connection.execute(update, params![run.number, failure, now()]).map_err(self.error())?;
            Ok(())
        })
    }

    /// Refuses to write into a run that another process has taken over.
    pub(super) fn check_mine(&self, run: &StoredRun) -> Result<(), Error> {
        let query = "SELECT claim, pid, host FROM runs WHERE number = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(query).map_err(self.error())?;
        let found = statement
            .query_row(params![run.number, run.id], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get::<_, String>(2)?))
            })
            .optional()
            .map_err(self.error())?;
        match found {
            Some((claim, ..)) if claim == run.claim => Ok(()),
            Some((_, pid, host)) => Err(Error::TakenOver { run: run.id.clone(), pid, host }),
            None => Err(Error::Removed { run: run.id.clone(), store: self.file.clone() }),
        }
    }

    /// All runs that can be read, the latest first. The others are named in [`Store::warnings`].
    pub fn runs(&self) -> Result<Vec<StoredRun>, Error> {
        self.query_runs("", usize::MAX, params![])
    }

    /// So many of the latest runs with the loss and the penalty of a request, the latest first.
    pub fn latest_runs_on(&self, request: &TrainRequest, most: usize) -> Result<Vec<StoredRun>, Error> {
        // Only `CASE` is sure to look at the first condition first. What is no JSON comes along to be named.
        let alike = "WHERE CASE WHEN json_valid(request) THEN json_extract(request, '$.loss') = ?1
            AND json_extract(request, '$.lambda') = ?2 AND COALESCE(json_extract(request, '$.bias'), 0) = ?3
            ELSE 1 END";
        self.query_runs(alike, most, params![request.loss.to_string(), request.lambda, request.has_bias()])
    }

    /// The runs of the classes of a run, the latest first.
    pub fn classes_of(&self, run: &str) -> Result<Vec<StoredRun>, Error> {
        let of =
            "WHERE CASE WHEN json_valid(request) THEN json_extract(request, '$.class_of') = ?1 ELSE 0 END";
        self.query_runs(of, usize::MAX, params![run])
    }

    fn query_runs(
        &self,
        which: &str,
        most: usize,
        with: impl rusqlite::Params,
    ) -> Result<Vec<StoredRun>, Error> {
        let (runs, damaged) = self.read_runs(which, most, with)?;
        damaged.iter().for_each(|damaged| self.warn(damaged.warning()));
        Ok(runs)
    }

    /// Those that can be read, and those that cannot.
    pub(super) fn read_runs(
        &self,
        which: &str,
        most: usize,
        with: impl rusqlite::Params,
    ) -> Result<(Vec<StoredRun>, Vec<Damaged>), Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let query = format!("SELECT {COLUMNS} FROM runs {which} ORDER BY number DESC LIMIT {most}");
        let mut statement = self.connection.prepare(&query).map_err(self.error())?;
        let mut rows = statement.query(with).map_err(self.error())?;
        let (mut runs, mut damaged) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next().map_err(self.error())? {
            match read_run(row) {
                Ok(run) => runs.push(run),
                Err(problem) => damaged.push(Damaged::of(row, problem)),
            }
        }
        Ok((runs, damaged))
    }

    /// The run of this name, of a name that begins so, or the `last` one that the user asked for.
    pub fn run(&self, name: &str) -> Result<StoredRun, Error> {
        let id = self.id(name)?;
        let (mut runs, mut damaged) = self.read_runs("WHERE id = ?1", 1, [&id])?;
        match (runs.pop(), damaged.pop()) {
            (Some(run), _) => Ok(run),
            (None, Some(damaged)) => Err(damaged.error(self)),
            (None, None) => Err(self.no_run(name)),
        }
    }

    /// The whole name of a run.
    pub(super) fn id(&self, name: &str) -> Result<String, Error> {
        let id = if name == "last" { self.last_id()? } else { self.full_id(name)? };
        id.ok_or_else(|| self.no_run(name))
    }

    fn no_run(&self, name: &str) -> Error {
        Error::NoRun { run: name.to_owned(), similar: self.similar_id(name), store: self.file.clone() }
    }

    /// The run whose name is most like one that was mistyped.
    fn similar_id(&self, name: &str) -> Option<String> {
        let mut statement = self.connection.prepare("SELECT id FROM runs WHERE typeof(id) = 'text'").ok()?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0)).ok()?;
        let mut known: Vec<String> = ids.filter_map(Result::ok).collect();
        if !known.is_empty() && name != "last" {
            known.push("last".to_owned());
        }
        let likeness = |id: &String| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), id);
        let nearest = known.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        nearest.filter(|id| likeness(id) >= LIKE)
    }

    fn last_id(&self) -> Result<Option<String>, Error> {
        let query = "SELECT id FROM runs WHERE purpose = 'train' ORDER BY number DESC LIMIT 1";
        self.connection.query_row(query, [], |row| row.get(0)).optional().map_err(self.error())
    }

    fn full_id(&self, prefix: &str) -> Result<Option<String>, Error> {
        let query = "SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 AND ?1 <> ''
            AND typeof(id) = 'text' ORDER BY id";
        let mut statement = self.connection.prepare(query).map_err(self.error())?;
        let ids = statement.query_map([prefix.to_lowercase()], |row| row.get(0)).map_err(self.error())?;
        let mut ids: Vec<String> = ids.collect::<Result<_, _>>().map_err(self.error())?;
        match ids.len() {
            0 | 1 => Ok(ids.pop()),
            _ => Err(Error::AmbiguousRun { run: prefix.to_owned(), candidates: ids }),
        }
    }
}

fn read_run(row: &Row) -> Result<StoredRun, Problem> {
    let owner =
        Owner { pid: value(row, "pid")?, host: value(row, "host")?, started: value(row, "process_started")? };
    let before: Option<String> = value(row, "before")?;
    let status = match value::<String>(row, "status")?.as_str() {
        "running" if !owner.is_dead() => Status::Running,
        // It was claimed, and then nothing came of it.
        "running" => before.map_or(Ok(Status::Died), |before| ended("before", &before))?,
        status => ended("status", status)?,
    };
    let purpose = match value::<String>(row, "purpose")?.as_str() {
        "train" => Purpose::Train,
        "class" => Purpose::Class,
        "experiment" => Purpose::Experiment,
        other => return Err(Problem::unknown("purpose", other)),
    };
    Ok(StoredRun {
        number: value(row, "number")?,
        claim: value(row, "claim")?,
        id: value(row, "id")?,
        created: value(row, "created")?,
        used: value(row, "used")?,
        purpose,
        request: parsed(row, "request")?,
        choice: parsed(row, "choice")?,
        dataset: parsed(row, "dataset")?,
        status,
        owner,
        report: parsed_if_there(row, "report")?,
        failure: value(row, "failure")?,
    })
}

/// The status of a run that no process works on.
fn ended(column: &str, status: &str) -> Result<Status, Problem> {
    match status {
        "running" => Ok(Status::Died),
        "done" => Ok(Status::Done),
        "failed" => Ok(Status::Failed),
        other => Err(Problem::unknown(column, other)),
    }
}

/// Whether weights and duals are enough to go on from: the run reached its goal, and its solver has nothing else that
/// would take rounds to find again.
pub(super) fn needs_little(report: &TrainReport) -> bool {
    let solver = hemingway_train::algorithm(&report.algorithm, &report.parameters);
    report.goal_reached
        && matches!(report.stop, Stop::Error | Stop::Objective)
        && solver.is_ok_and(|solver| solver.goes_on_from_model(report.loss))
}

/// Our own plain data: numbers, texts and lists, which JSON can always hold.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data has a JSON form")
}

pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Five letters and digits that are not easily confused. Not a count, so that runs of two stores, and their models,
/// do not get in each other's way.
pub(super) fn random_id() -> String {
    const LETTERS: &[u8; 28] = b"23456789abcdefghjkmnpqrstvwx";
    let mut bits = RandomState::new().hash_one(now().to_bits());
    let mut letter = || {
        let letter = LETTERS[(bits % 28) as usize];
        bits /= 28;
        char::from(letter)
    };
    (0..5).map(|_| letter()).collect()
}
