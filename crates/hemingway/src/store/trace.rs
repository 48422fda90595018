//! What a run leaves while it goes: its points, and the state to go on from.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use hemingway_train::{Checkpoint, Effort, Point, Seconds};
use rusqlite::{OptionalExtension, Row, params};

use super::Store;
use super::recorder::Entry;
use super::splice::{Attempt, splice};
use crate::{Error, StoredRun};

impl Store {
    /// Keeps a point. It is in the file when this returns.
    pub fn add_point(&self, run: &StoredRun, point: &Point) -> Result<(), Error> {
        self.write_all(run, &[Entry::Point(*point)])
    }

    /// The run begins again from a round. What was seen beyond it stays until it is overtaken.
    pub fn begin_again(&self, run: &StoredRun, round: u64) -> Result<(), Error> {
        self.write_all(run, &[Entry::Again(round)])
    }

    /// Writes all of it or nothing, if the run is still this process's.
    pub(super) fn write_all(&self, run: &StoredRun, entries: &[Entry]) -> Result<(), Error> {
        self.at_once(|| self.put_all(run, entries))
    }

    /// The same inside a transaction.
    pub(super) fn put_all(&self, run: &StoredRun, entries: &[Entry]) -> Result<(), Error> {
        self.check_mine(run)?;
        entries.iter().try_for_each(|entry| match entry {
            Entry::Point(point) => self.put_point(run, point),
            Entry::Checkpoint { round, state } => self.put_checkpoint(run, *round, state, false),
            Entry::Choice(choice) => self.put_choice(run, choice),
            Entry::Again(round) => self.put_attempt(run, *round),
        })
    }

    fn put_point(&self, run: &StoredRun, point: &Point) -> Result<(), Error> {
        let latest = "SELECT coalesce(max(attempt), 0) FROM attempts WHERE run = ?1";
        let mut statement = self.connection.prepare_cached(latest).map_err(self.error())?;
        let attempt = statement.query_row([run.number], |row| row.get(0)).map_err(self.error())?;
        self.put_point_of(run, attempt, point)
    }

    fn put_point_of(&self, run: &StoredRun, attempt: i64, point: &Point) -> Result<(), Error> {
        let insert = "INSERT OR REPLACE INTO points
            (run, attempt, round, seconds, wall_seconds, current, primal, dual, certified_error,
             iterations, epochs, bytes_per_worker)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let mut statement = self.connection.prepare_cached(insert).map_err(self.error())?;
        let row = params![
            run.number,
            attempt,
            point.round as i64,
            point.seconds.0,
            point.wall_seconds.0,
            point.current,
            point.primal,
            point.dual,
            point.certified_error,
            point.effort.iterations as i64,
            point.effort.epochs,
            point.effort.bytes_per_worker,
        ];
        statement.execute(row).map_err(self.error())?;
        Ok(())
    }

    pub(super) fn put_attempt(&self, run: &StoredRun, round: u64) -> Result<(), Error> {
        let insert = "INSERT INTO attempts (run, attempt, from_round)
            SELECT ?1, coalesce(max(attempt), 0) + 1, ?2 FROM attempts WHERE run = ?1";
        self.connection.execute(insert, params![run.number, round as i64]).map_err(self.error())?;
        Ok(())
    }

    fn put_checkpoint(&self, run: &StoredRun, round: u64, state: &[u8], packed: bool) -> Result<(), Error> {
        let insert = "INSERT OR REPLACE INTO checkpoints (run, round, state, packed) VALUES (?1, ?2, ?3, ?4)";
        self.connection
            .execute(insert, params![run.number, round as i64, state, packed])
            .map_err(self.error())?;
        Ok(())
    }

    /// A run's points by round.
    pub fn points(&self, run: &StoredRun) -> Result<Vec<Point>, Error> {
        let mut attempts = vec![Attempt { from_round: 0, points: Vec::new() }];
        let query = "SELECT from_round FROM attempts WHERE run = ?1 ORDER BY attempt";
        let mut statement = self.connection.prepare_cached(query).map_err(self.error())?;
        let begun = statement.query_map([run.number], |row| row.get::<_, i64>(0)).map_err(self.error())?;
        for from_round in begun.filter_map(Result::ok) {
            attempts.push(Attempt { from_round: from_round as u64, points: Vec::new() });
        }
        let query = format!("SELECT {COLUMNS} FROM points WHERE run = ?1 ORDER BY attempt, round");
        let mut statement = self.connection.prepare_cached(&query).map_err(self.error())?;
        let mut rows = statement.query([run.number]).map_err(self.error())?;
        let mut damaged = 0;
        while let Some(row) = rows.next().map_err(self.error())? {
            let found = read_point(row).ok();
            match found.and_then(|(attempt, point)| Some((attempts.get_mut(attempt)?, point))) {
                Some((attempt, point)) => attempt.points.push(point),
                None => damaged += 1,
            }
        }
        if damaged > 0 {
            self.warn(format!(
                "{damaged} of the points of run {} cannot be read and are left out; `hemingway runs repair` removes them",
                run.id
            ));
        }
        Ok(splice(attempts))
    }

    /// The latest point of a run.
    pub fn last_point(&self, run: &StoredRun) -> Result<Option<Point>, Error> {
        let query = format!("SELECT {COLUMNS} FROM points WHERE run = ?1 ORDER BY round DESC LIMIT 1");
        let mut statement = self.connection.prepare_cached(&query).map_err(self.error())?;
        let last = statement.query_row([run.number], |row| Ok(read_point(row))).optional();
        match last.map_err(self.error())? {
            None => Ok(None),
            Some(Ok((_, last))) if self.attempts(run)? == 0 => Ok(Some(last)),
            Some(_) => Ok(self.points(run)?.pop()),
        }
    }

    /// How often it began again.
    fn attempts(&self, run: &StoredRun) -> Result<i64, Error> {
        let query = "SELECT count(*) FROM attempts WHERE run = ?1";
        let mut statement = self.connection.prepare_cached(query).map_err(self.error())?;
        statement.query_row([run.number], |row| row.get(0)).map_err(self.error())
    }

    /// Makes one attempt of all, up to a round: what was seen beyond it does not belong to the run any more.
    pub(super) fn settle(&self, run: &StoredRun, round: u64) -> Result<(), Error> {
        if self.attempts(run)? == 0 {
            return Ok(());
        }
        let points = self.points(run)?;
        for table in ["points", "attempts"] {
            let delete = format!("DELETE FROM {table} WHERE run = ?1");
            self.connection.execute(&delete, [run.number]).map_err(self.error())?;
        }
        points
            .iter()
            .filter(|point| point.round <= round)
            .try_for_each(|point| self.put_point_of(run, 0, point))
    }

    /// The state to go on from, if there is one yet.
    pub fn checkpoint(&self, run: &StoredRun) -> Result<Option<Checkpoint>, Error> {
        let query = "SELECT round, state, packed FROM checkpoints WHERE run = ?1";
        let state = self.connection.query_row(query, [run.number], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, bool>(2)?))
        });
        let damaged = |round, problem| Error::DamagedCheckpoint { run: run.id.clone(), round, problem };
        match state.optional() {
            Ok(Some((round, state, packed))) => {
                let state = if packed { unpack(&state) } else { Ok(state) };
                let read = state
                    .map_err(|error| error.to_string())
                    .and_then(|state| Checkpoint::from_bytes(&state).map_err(|error| error.to_string()));
                read.map(Some).map_err(|problem| damaged(round as u64, problem))
            }
            Ok(None) => Ok(None),
            Err(error) if error.sqlite_error_code().is_none() => Err(damaged(0, error.to_string())),
            Err(error) => Err(self.error()(error)),
        }
    }

    /// The round of the state to go on from, if there is one yet.
    pub fn checkpoint_round(&self, run: &StoredRun) -> Result<Option<u64>, Error> {
        let query = "SELECT round FROM checkpoints WHERE run = ?1 AND typeof(round) = 'integer'";
        let round = self.connection.query_row(query, [run.number], |row| row.get::<_, i64>(0));
        Ok(round.optional().map_err(self.error())?.map(|round| round as u64))
    }

    /// Leaves of the state what any solver can go on from.
    pub(super) fn lighten_checkpoint(&self, run: &StoredRun) -> Result<(), Error> {
        let Some(mut checkpoint) = self.checkpoint(run)? else { return Ok(()) };
        checkpoint.workers.clear();
        self.put_checkpoint(run, checkpoint.round, &checkpoint.to_bytes(), false)
    }

    /// Compresses the state of an ended run, which takes longer than to train many a model: only whoever cleans up waits
    /// for it.
    pub(super) fn pack_checkpoint(&self, run: &StoredRun, light: bool) -> Result<(), Error> {
        let packed = "SELECT packed FROM checkpoints WHERE run = ?1";
        let packed = self.connection.query_row(packed, [run.number], |row| row.get::<_, bool>(0));
        if packed.optional().map_err(self.error())? != Some(false) {
            return Ok(());
        }
        let Some(mut checkpoint) = self.checkpoint(run)? else { return Ok(()) };
        if light {
            checkpoint.workers.clear();
        }
        self.put_checkpoint(run, checkpoint.round, &pack(&checkpoint.to_bytes()), true)
    }
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.expect("memory can be written to")
}

fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    DeflateDecoder::new(bytes).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// What is read of a point.
const COLUMNS: &str = "round, seconds, wall_seconds, current, primal, dual, certified_error, attempt,
    iterations, epochs, bytes_per_worker";

/// A point and the attempt it belongs to.
fn read_point(row: &Row) -> rusqlite::Result<(usize, Point)> {
    let number = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN));
    let count = |column| {
        let count: i64 = row.get(column)?;
        u64::try_from(count).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, count))
    };
    let point = Point {
        round: count(0)?,
        effort: Effort { iterations: count(8)?, epochs: number(9)?, bytes_per_worker: number(10)? },
        seconds: Seconds(row.get(1)?),
        wall_seconds: Seconds(row.get(2)?),
        current: number(3)?,
        primal: number(4)?,
        dual: number(5)?,
        certified_error: number(6)?,
    };
    Ok((count(7)? as usize, point))
}
