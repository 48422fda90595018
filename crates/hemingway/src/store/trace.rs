//! What a run leaves while it goes: its points, and the state to go on from.

use hemingway_train::{Checkpoint, Point, Seconds};
use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};

use super::Store;
use crate::{Error, StoredRun};

impl Store {
    /// Keeps a point. It is in the file when this returns.
    pub fn add_point(&self, run: &StoredRun, point: &Point) -> Result<(), Error> {
        let insert = "INSERT OR REPLACE INTO points VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let mut statement = self.connection.prepare_cached(insert).map_err(self.error())?;
        let row = params![
            run.number,
            point.round as i64,
            point.seconds.0,
            point.wall_seconds.0,
            point.current,
            point.primal,
            point.dual,
            point.certified_error,
        ];
        statement.execute(row).map_err(self.error())?;
        Ok(())
    }

    /// A run's points by round.
    pub fn points(&self, run: &StoredRun) -> Result<Vec<Point>, Error> {
        let query = "SELECT round, seconds, wall_seconds, current, primal, dual, certified_error
            FROM points WHERE run = ?1 ORDER BY round";
        let mut statement = self.connection.prepare_cached(query).map_err(self.error())?;
        let points = statement.query_map([run.number], read_point).map_err(self.error())?;
        points.collect::<Result<_, _>>().map_err(self.error())
    }

    /// The latest point of a run.
    pub fn last_point(&self, run: &StoredRun) -> Result<Option<Point>, Error> {
        let query = "SELECT round, seconds, wall_seconds, current, primal, dual, certified_error
            FROM points WHERE run = ?1 ORDER BY round DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(query).map_err(self.error())?;
        statement.query_row([run.number], read_point).optional().map_err(self.error())
    }

    /// Keeps a state to go on from, in place of the one before: after a crash one of the two is there as a whole.
    pub fn save_checkpoint(&self, run: &StoredRun, checkpoint: &Checkpoint) -> Result<(), Error> {
        let insert = "INSERT OR REPLACE INTO checkpoints VALUES (?1, ?2, ?3)";
        let row = params![run.number, checkpoint.round as i64, checkpoint.to_bytes()];
        self.connection.execute(insert, row).map_err(self.error())?;
        Ok(())
    }

    /// The state to go on from, if there is one yet.
    pub fn checkpoint(&self, run: &StoredRun) -> Result<Option<Checkpoint>, Error> {
        let query = "SELECT state FROM checkpoints WHERE run = ?1";
        let state = self.connection.query_row(query, [run.number], |row| row.get::<_, Vec<u8>>(0));
        let state = state.optional().map_err(self.error())?;
        Ok(state.map(|bytes| Checkpoint::from_bytes(&bytes)).transpose()?)
    }

    /// The round of the state to go on from, if there is one yet.
    pub fn checkpoint_round(&self, run: &StoredRun) -> Result<Option<u64>, Error> {
        let query = "SELECT round FROM checkpoints WHERE run = ?1";
        let round = self.connection.query_row(query, [run.number], |row| row.get::<_, i64>(0));
        Ok(round.optional().map_err(self.error())?.map(|round| round as u64))
    }

    /// Forgets the points after a round: the run is about to be there again.
    pub fn forget_points_after(&self, run: &StoredRun, round: u64) -> Result<(), Error> {
        let delete = "DELETE FROM points WHERE run = ?1 AND round > ?2";
        let transaction =
            rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(self.error())?;
        transaction.execute(delete, params![run.number, round as i64]).map_err(self.error())?;
        transaction.commit().map_err(self.error())
    }
}

fn read_point(row: &Row) -> rusqlite::Result<Point> {
    let number = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN));
    Ok(Point {
        round: row.get::<_, i64>(0)? as u64,
        seconds: Seconds(row.get(1)?),
        wall_seconds: Seconds(row.get(2)?),
        current: number(3)?,
        primal: number(4)?,
        dual: number(5)?,
        certified_error: number(6)?,
    })
}
