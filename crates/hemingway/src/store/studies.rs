//! Studies of schedules: what was asked, what was proposed, how each evaluation ended. Written as it happens, so that a
//! study that was killed goes on where it was.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use serde_json::Value;

use super::Store;
use super::cleaning::Keep;
use super::damage::{Problem, parsed, parsed_if_there, value};
use super::runs::{json, now, random_id};
use crate::tune::Study;
use crate::{Error, Owner, Status};

/// A study as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredStudy {
    number: i64,
    claim: i64,
    /// Its name.
    pub id: String,
    /// When it was made, in Unix time.
    pub created: f64,
    /// When it last began or ended, in Unix time.
    pub used: f64,
    /// What was asked.
    pub study: Study,
    /// How it stands.
    pub status: Status,
    owner: Owner,
}

/// An evaluation as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvaluation {
    /// Its number, from 1.
    pub number: usize,
    /// What was evaluated.
    pub configuration: Value,
    /// What was predicted of it.
    pub proposed: Value,
    /// How long it took; nothing as long as it has not ended.
    pub seconds: Option<f64>,
    /// What was measured.
    pub answer: Option<Value>,
    /// Why it failed.
    pub failure: Option<String>,
}

/// Studies that were removed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RemovedStudies {
    /// Their names.
    pub studies: Vec<String>,
    /// How much smaller the store is, in bytes.
    pub freed_bytes: u64,
}

impl StoredStudy {
    /// Refuses a study that some process works on, or may work on where that cannot be seen.
    fn check_idle(&self, take_over: bool) -> Result<(), Error> {
        let (study, Owner { pid, host, .. }) = (self.id.clone(), self.owner.clone());
        match (self.status == Status::Running, self.owner.is_elsewhere()) {
            (true, false) => Err(Error::StudyRunning { study, pid, host }),
            (true, true) if !take_over => Err(Error::StudyElsewhere { study, pid, host }),
            _ => Ok(()),
        }
    }
}

impl Store {
    /// Makes a study that this process works on.
    pub fn create_study(&self, study: &Study) -> Result<StoredStudy, Error> {
        let me = Owner::me();
        let insert = "INSERT OR IGNORE INTO studies
            (id, created, used, study, status, pid, host, process_started)
            VALUES (?1, ?2, ?2, ?3, 'running', ?4, ?5, ?6)";
        loop {
            let id = random_id();
            let row = params![id, now(), json(study), me.pid, me.host, me.started];
            if self.connection.execute(insert, row).map_err(self.error())? == 1 {
                return self.study(&id);
            }
        }
    }

    /// Takes a study that nobody works on any more, with what is now asked of it. With `take_over` also one whose process cannot
    /// be looked at.
    pub fn claim_study(
        &self,
        found: &StoredStudy,
        study: &Study,
        take_over: bool,
    ) -> Result<StoredStudy, Error> {
        self.at_once(|| {
            self.study(&found.id)?.check_idle(take_over)?;
            let me = Owner::me();
            let update =
                "UPDATE studies SET status = 'running', claim = claim + 1, used = ?2, study = ?3, pid = ?4,
                host = ?5, process_started = ?6 WHERE number = ?1";
            let row = params![found.number, now(), json(study), me.pid, me.host, me.started];
            self.connection.execute(update, row).map_err(self.error())?;
            self.study(&found.id)
        })
    }

    /// Notes how a study stands.
    pub fn close_study(&self, study: &StoredStudy, status: Status) -> Result<(), Error> {
        let word = if status == Status::Done { "done" } else { "failed" };
        let update = "UPDATE studies SET status = ?3, used = ?4 WHERE number = ?1 AND claim = ?2";
        self.connection
            .execute(update, params![study.number, study.claim, word, now()])
            .map_err(self.error())?;
        Ok(())
    }

    /// An evaluation begins.
    pub fn begin_evaluation(
        &self,
        study: &StoredStudy,
        number: usize,
        configuration: &Value,
        proposed: &Value,
    ) -> Result<(), Error> {
        // One that has ended is never begun again.
        let insert = "INSERT INTO evaluations (study, number, configuration, proposed)
            SELECT number, ?2, ?3, ?4 FROM studies WHERE number = ?1 AND claim = ?5
            ON CONFLICT DO UPDATE SET configuration = ?3, proposed = ?4 WHERE seconds IS NULL";
        let (configuration, proposed) = (configuration.to_string(), proposed.to_string());
        let row = params![study.number, number as i64, configuration, proposed, study.claim];
        self.still_ours(study, self.connection.execute(insert, row).map_err(self.error())?)
    }

    /// An evaluation ended: measured, or failed.
    pub fn end_evaluation(
        &self,
        study: &StoredStudy,
        number: usize,
        seconds: f64,
        outcome: Result<&Value, &str>,
    ) -> Result<(), Error> {
        let (answer, failure) = match outcome {
            Ok(answer) => (Some(answer.to_string()), None),
            Err(failure) => (None, Some(failure)),
        };
        let update = "UPDATE evaluations SET seconds = ?3, answer = ?4, failure = ?5
            WHERE study = ?1 AND number = ?2 AND ?6 = (SELECT claim FROM studies WHERE studies.number = ?1)";
        let row = params![study.number, number as i64, seconds, answer, failure, study.claim];
        self.still_ours(study, self.connection.execute(update, row).map_err(self.error())?)
    }

    fn still_ours(&self, study: &StoredStudy, changed: usize) -> Result<(), Error> {
        if changed == 1 { Ok(()) } else { Err(Error::StudyLost { study: study.id.clone() }) }
    }

    /// Removes studies by their names. With `take_over` also those whose process cannot be looked at.
    pub fn remove_studies(&self, names: &[String], take_over: bool) -> Result<RemovedStudies, Error> {
        let before = self.bytes();
        let studies = self.at_once(|| {
            let mut removed = Vec::new();
            for name in names {
                let study = self.study(name)?;
                study.check_idle(take_over)?;
                self.delete_study(study.number)?;
                removed.push(study.id);
            }
            Ok(removed)
        })?;
        self.give_back_space()?;
        Ok(RemovedStudies { studies, freed_bytes: before.saturating_sub(self.bytes()) })
    }

    /// Removes ended studies but those to keep.
    pub(super) fn prune_studies(&self, keep: Keep) -> Result<Vec<String>, Error> {
        let ended = self.studies()?.into_iter().filter(|study| study.status != Status::Running);
        let mut ended: Vec<StoredStudy> = ended.collect();
        ended.sort_by(|a, b| b.used.total_cmp(&a.used));
        let mut removed = Vec::new();
        for (place, study) in ended.into_iter().enumerate() {
            if !keep.keeps(place, study.used) {
                self.delete_study(study.number)?;
                removed.push(study.id);
            }
        }
        Ok(removed)
    }

    fn delete_study(&self, number: i64) -> Result<(), Error> {
        self.connection
            .execute("DELETE FROM evaluations WHERE study = ?1", [number])
            .map_err(self.error())?;
        self.connection.execute("DELETE FROM studies WHERE number = ?1", [number]).map_err(self.error())?;
        Ok(())
    }

    /// All evaluations of a study, in their order.
    pub fn evaluations(&self, study: &StoredStudy) -> Result<Vec<StoredEvaluation>, Error> {
        let query = "SELECT number, configuration, proposed, seconds, answer, failure FROM evaluations
            WHERE study = ?1 ORDER BY number";
        let mut statement = self.connection.prepare(query).map_err(self.error())?;
        let mut rows = statement.query([study.number]).map_err(self.error())?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(self.error())? {
            match read_evaluation(row) {
                Ok(evaluation) => found.push(evaluation),
                Err(problem) => {
                    self.warn(format!(
                        "an evaluation of study {} is left out: {}",
                        study.id,
                        problem.words()
                    ));
                }
            }
        }
        Ok(found)
    }

    /// All studies that can be read, the latest first.
    pub fn studies(&self) -> Result<Vec<StoredStudy>, Error> {
        let query = "SELECT * FROM studies ORDER BY number DESC";
        let mut statement = self.connection.prepare(query).map_err(self.error())?;
        let mut rows = statement.query([]).map_err(self.error())?;
        let mut studies = Vec::new();
        while let Some(row) = rows.next().map_err(self.error())? {
            match read_study(row) {
                Ok(study) => studies.push(study),
                Err(problem) => self.warn(format!("a study is left out: {}", problem.words())),
            }
        }
        Ok(studies)
    }

    /// The study of this name, of a name that begins so, or the `last` one.
    pub fn study(&self, name: &str) -> Result<StoredStudy, Error> {
        let missing = || Error::NoStudy { study: name.to_owned(), store: self.file.clone() };
        let query = match name {
            "last" => "SELECT * FROM studies ORDER BY number DESC LIMIT 1",
            _ => {
                "SELECT * FROM studies WHERE substr(id, 1, length(?1)) = ?1 AND ?1 <> '' ORDER BY number DESC LIMIT 1"
            }
        };
        let mut statement = self.connection.prepare(query).map_err(self.error())?;
        let read = |row: &Row| Ok(read_study(row));
        let found = match name {
            "last" => statement.query_row([], read),
            _ => statement.query_row([name.to_lowercase()], read),
        };
        let found = found.optional().map_err(self.error())?.ok_or_else(missing)?;
        found.map_err(|problem| Error::DamagedRun {
            run: name.to_owned(),
            store: self.file.clone(),
            problem: problem.words().to_owned(),
        })
    }
}

fn read_study(row: &Row) -> Result<StoredStudy, Problem> {
    let owner =
        Owner { pid: value(row, "pid")?, host: value(row, "host")?, started: value(row, "process_started")? };
    let status = match value::<String>(row, "status")?.as_str() {
        "running" if owner.is_dead() => Status::Died,
        "running" => Status::Running,
        "done" => Status::Done,
        "failed" => Status::Failed,
        other => return Err(Problem::unknown("status", other)),
    };
    Ok(StoredStudy {
        number: value(row, "number")?,
        claim: value(row, "claim")?,
        id: value(row, "id")?,
        created: value(row, "created")?,
        used: value(row, "used")?,
        study: parsed(row, "study")?,
        status,
        owner,
    })
}

fn read_evaluation(row: &Row) -> Result<StoredEvaluation, Problem> {
    let number: i64 = value(row, "number")?;
    Ok(StoredEvaluation {
        number: usize::try_from(number).map_err(|_| Problem::new(format!("its number is {number}")))?,
        configuration: parsed(row, "configuration")?,
        proposed: parsed(row, "proposed")?,
        seconds: value(row, "seconds")?,
        answer: parsed_if_there(row, "answer")?,
        failure: value(row, "failure")?,
    })
}
