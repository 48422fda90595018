//! What is no longer wanted, or no longer readable, leaves the store, and the space goes back to the disk.
//!
//! Models are results, so they stay unless their removal is asked for, and then only those that lie beside the store.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::params;
use serde::Serialize;

use super::Store;
use super::damage::Damaged;
use super::runs::{needs_little, now};
use crate::{Error, Place, Status, StoredRun};

/// Bytes of a point in the file, about: its twelve columns and its place in the tree.
const POINT: i64 = 96;

/// Which ended runs and studies stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Keep {
    /// So many of the latest.
    Latest(usize),
    /// Those used within so many seconds.
    Seconds(f64),
}

impl Keep {
    /// Whether something stays, from its place among the latest and the time of its last use.
    pub(super) fn keeps(self, place: usize, used: f64) -> bool {
        match self {
            Keep::Latest(count) => place < count,
            Keep::Seconds(seconds) => now() - used <= seconds,
        }
    }
}

/// Runs that were removed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Removed {
    /// Their names.
    pub runs: Vec<String>,
    /// Studies that were removed with them.
    pub studies: Vec<String>,
    /// How much smaller the store is, in bytes.
    pub freed_bytes: u64,
    /// Models that were removed with them.
    pub removed_models: Vec<PathBuf>,
    /// Models of theirs that are still there.
    pub kept_models: Vec<PathBuf>,
}

/// What could not be read, and what became of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Repaired {
    /// What was removed, and what was wrong with it.
    pub removed: Vec<String>,
    /// What was left alone, and why.
    pub left: Vec<String>,
    /// How much smaller the store is, in bytes.
    pub freed_bytes: u64,
}

impl Store {
    /// Removes runs by their names, those of several classes with the runs of their classes. With `take_over` also those whose process cannot be looked at.
    pub fn remove_runs(
        &self,
        names: &[String],
        take_over: bool,
        place: &Place,
        with_models: bool,
    ) -> Result<Removed, Error> {
        let before = self.bytes();
        let removed = self.at_once(|| {
            let mut removed: Vec<(String, Option<PathBuf>)> = Vec::new();
            for id in self.with_classes(names)? {
                let model = match self.run(&id) {
                    Ok(run) => {
                        run.check_idle(take_over)?;
                        model_of(&run, place)
                    }
                    // What cannot be read can still be removed.
                    Err(Error::DamagedRun { .. }) => Some(place.model(&id)),
                    Err(error) => return Err(error),
                };
                self.delete("WHERE run IN (SELECT number FROM runs WHERE id = ?1)", &id)?;
                self.connection.execute("DELETE FROM runs WHERE id = ?1", [&id]).map_err(self.error())?;
                removed.push((id, model));
            }
            Ok(removed)
        })?;
        self.cleaned(removed, place, with_models, before)
    }

    /// The whole names of runs, and of the runs of their classes.
    fn with_classes(&self, names: &[String]) -> Result<Vec<String>, Error> {
        let mut ids = Vec::new();
        for name in names {
            let id = self.id(name)?;
            let classes = self.classes_of(&id)?.into_iter().rev().map(|run| run.id);
            for id in std::iter::once(id).chain(classes) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        Ok(ids)
    }

    /// Removes ended runs and studies but those to keep, and makes the states of the others small.
    pub fn prune(&self, keep: Keep, place: &Place, with_models: bool) -> Result<Removed, Error> {
        let before = self.bytes();
        let removed = self.at_once(|| {
            let ended = self.runs()?.into_iter().filter(|run| run.status != Status::Running);
            let mut ended: Vec<StoredRun> = ended.collect();
            ended.sort_by(|a, b| b.used.total_cmp(&a.used));
            let mut removed = Vec::new();
            for (place_in_list, run) in ended.iter().enumerate() {
                if !keep.keeps(place_in_list, run.used) {
                    self.delete_run(run.number)?;
                    removed.push((run.id.clone(), model_of(run, place)));
                } else if run.status == Status::Done {
                    // One that cannot be read stays as it is: to mend it is another command's.
                    let light = run.report.as_ref().is_some_and(needs_little);
                    match self.pack_checkpoint(run, light) {
                        Err(Error::DamagedCheckpoint { .. }) => {}
                        packed => packed?,
                    }
                }
            }
            Ok((removed, self.prune_studies(keep)?))
        })?;
        let (runs, studies) = removed;
        Ok(Removed { studies, ..self.cleaned(runs, place, with_models, before)? })
    }

    /// Removes what cannot be read: runs, points, states, and what belongs to no run. What a newer version seems to have
    /// written is left alone.
    pub fn repair(&self) -> Result<Repaired, Error> {
        let before = self.bytes();
        let mut repaired = self.at_once(|| {
            let (runs, damaged) = self.read_runs("", usize::MAX, params![])?;
            let mut repaired = Repaired::default();
            for Damaged { number, run, problem, newer } in damaged {
                if newer {
                    repaired.left.push(format!("run {run}: {problem}"));
                } else {
                    self.delete_run(number)?;
                    repaired.removed.push(format!("run {run}: {problem}"));
                }
            }
            for run in runs.iter().filter(|run| run.status != Status::Running) {
                self.repair_run(run, &mut repaired)?;
            }
            for table in ["points", "checkpoints", "attempts"] {
                let delete = format!("DELETE FROM {table} WHERE run NOT IN (SELECT number FROM runs)");
                let count = self.connection.execute(&delete, []).map_err(self.error())?;
                if count > 0 {
                    repaired.removed.push(format!("{count} {table} of runs that are not there"));
                }
            }
            let orphans = "DELETE FROM evaluations WHERE study NOT IN (SELECT number FROM studies)";
            let count = self.connection.execute(orphans, []).map_err(self.error())?;
            if count > 0 {
                repaired.removed.push(format!("{count} evaluations of studies that are not there"));
            }
            Ok(repaired)
        })?;
        self.give_back_space()?;
        repaired.freed_bytes = before.saturating_sub(self.bytes());
        Ok(repaired)
    }

    fn repair_run(&self, run: &StoredRun, repaired: &mut Repaired) -> Result<(), Error> {
        let number = |column: &str| format!("typeof({column}) NOT IN ('real', 'integer')");
        let nullable = |column: &str| format!("typeof({column}) NOT IN ('real', 'integer', 'null')");
        let wrong: Vec<String> = ["seconds", "wall_seconds"]
            .map(number)
            .into_iter()
            .chain(
                ["current", "primal", "dual", "certified_error", "epochs", "bytes_per_worker"].map(nullable),
            )
            .collect();
        let delete = format!(
            "DELETE FROM points WHERE run = ?1 AND (typeof(round) <> 'integer' OR round < 0
             OR typeof(iterations) <> 'integer' OR iterations < 0 OR {}
             OR (attempt <> 0 AND attempt NOT IN (SELECT attempt FROM attempts WHERE run = ?1)))",
            wrong.join(" OR ")
        );
        let points = self.connection.execute(&delete, [run.number]).map_err(self.error())?;
        if points > 0 {
            repaired.removed.push(format!("{points} points of run {}: they are no numbers", run.id));
        }
        if let Err(error @ Error::DamagedCheckpoint { .. }) = self.checkpoint(run) {
            let delete = "DELETE FROM checkpoints WHERE run = ?1";
            self.connection.execute(delete, [run.number]).map_err(self.error())?;
            repaired.removed.push(error.to_string());
        }
        Ok(())
    }

    /// How much of the file is a run's, about, in bytes.
    pub fn bytes_of(&self, run: &StoredRun) -> Result<u64, Error> {
        let size = "SELECT coalesce(octet_length(request), 0) + coalesce(octet_length(choice), 0)
                + coalesce(octet_length(dataset), 0) + coalesce(octet_length(report), 0)
                + coalesce((SELECT octet_length(state) FROM checkpoints WHERE run = number), 0)
                + ?2 * (SELECT count(*) FROM points WHERE run = number)
            FROM runs WHERE number = ?1";
        let mut statement = self.connection.prepare_cached(size).map_err(self.error())?;
        let bytes = statement.query_row([run.number, POINT], |row| row.get::<_, i64>(0));
        bytes.map(|bytes| bytes.max(0) as u64).map_err(self.error())
    }

    /// How much the store takes on the disk, in bytes.
    pub fn bytes(&self) -> u64 {
        let size = |file: &Path| fs::metadata(file).map_or(0, |file| file.len());
        size(&self.file) + size(&super::log_of(&self.file))
    }

    fn delete_run(&self, number: i64) -> Result<(), Error> {
        self.delete("WHERE run = ?1", &number)?;
        self.connection.execute("DELETE FROM runs WHERE number = ?1", [number]).map_err(self.error())?;
        Ok(())
    }

    /// From all that hangs on runs.
    fn delete(&self, which: &str, with: &dyn rusqlite::ToSql) -> Result<(), Error> {
        for table in ["points", "checkpoints", "attempts"] {
            self.connection.execute(&format!("DELETE FROM {table} {which}"), [with]).map_err(self.error())?;
        }
        Ok(())
    }

    fn cleaned(
        &self,
        runs: Vec<(String, Option<PathBuf>)>,
        place: &Place,
        with_models: bool,
        before: u64,
    ) -> Result<Removed, Error> {
        self.give_back_space()?;
        let mut removed = Removed { freed_bytes: before.saturating_sub(self.bytes()), ..Removed::default() };
        for (run, model) in runs {
            let model = model.filter(|model| model.is_file());
            match model {
                Some(model) if with_models && model == place.model(&run) => {
                    fs::remove_file(&model)
                        .map_err(|source| Error::WriteFile { file: model.clone(), source })?;
                    removed.removed_models.push(model);
                }
                Some(model) => removed.kept_models.push(model),
                None => {}
            }
            removed.runs.push(run);
        }
        Ok(removed)
    }

    /// Returns all free pages to the disk. A store of the first version is written anew once, so that it can.
    pub(super) fn give_back_space(&self) -> Result<(), Error> {
        const INCREMENTAL: i64 = 2;
        let mode = self.connection.pragma_query_value(None, "auto_vacuum", |row| row.get::<_, i64>(0));
        if mode.map_err(self.error())? != INCREMENTAL {
            self.run_to_its_end("PRAGMA auto_vacuum = INCREMENTAL")?;
            self.run_to_its_end("VACUUM")?;
        }
        self.give_back_free_pages()
    }

    /// The same where it costs little; elsewhere free pages are used again.
    pub(super) fn give_back_free_pages(&self) -> Result<(), Error> {
        self.run_to_its_end("PRAGMA incremental_vacuum")?;
        self.run_to_its_end("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Some statements do a little of their work with each row that is asked for.
    fn run_to_its_end(&self, statement: &str) -> Result<(), Error> {
        let mut statement = self.connection.prepare(statement).map_err(self.error())?;
        let mut rows = statement.query([]).map_err(self.error())?;
        while rows.next().map_err(self.error())?.is_some() {}
        Ok(())
    }
}

/// Where a run's model is, if it made one.
fn model_of(run: &StoredRun, place: &Place) -> Option<PathBuf> {
    let named = run.report.as_ref().map(|report| report.model.clone());
    Some(named.unwrap_or_else(|| place.model(&run.id)))
}
