//! What is in the file, and how an old file becomes a new one.
//!
//! `application_id` tells a store from other databases, `user_version` counts the steps that have been applied. A
//! change to the tables is a new step at the end of [`STEPS`]; a step that was released is never edited.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::Error;

/// "HEMW".
const APPLICATION_ID: i64 = 0x4845_4d57;

/// From each version to the next.
const STEPS: &[&str] = &["
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        created REAL NOT NULL,      -- Unix time
        request TEXT NOT NULL,      -- JSON: what was asked for
        choice TEXT NOT NULL,       -- JSON: what was decided
        dataset TEXT NOT NULL,      -- JSON: what was trained on
        status TEXT NOT NULL,       -- running, done or failed
        pid INTEGER NOT NULL,       -- the process that works on it,
        host TEXT NOT NULL,         -- on which machine,
        process_started TEXT NOT NULL, -- since when
        report TEXT,                -- JSON, once done
        failure TEXT                -- once failed
    );
    CREATE TABLE points (
        run INTEGER NOT NULL REFERENCES runs (number),
        round INTEGER NOT NULL,
        seconds REAL NOT NULL,
        wall_seconds REAL NOT NULL,
        current REAL,               -- NULL is not a number: the round diverged
        primal REAL,
        dual REAL,
        certified_error REAL,
        PRIMARY KEY (run, round)
    ) WITHOUT ROWID;
    CREATE TABLE checkpoints (
        run INTEGER PRIMARY KEY REFERENCES runs (number),
        round INTEGER NOT NULL,
        state BLOB NOT NULL
    );
    CREATE TABLE calibrations (
        machine TEXT PRIMARY KEY,
        created REAL NOT NULL,
        speed TEXT NOT NULL         -- JSON
    );
", "
    -- What a run is for: `train` if the user asked for it, `experiment` if it was made to learn from.
    ALTER TABLE runs ADD COLUMN purpose TEXT NOT NULL DEFAULT 'train';
    -- Counts the processes that worked on it: who has an earlier number has lost the run.
    ALTER TABLE runs ADD COLUMN claim INTEGER NOT NULL DEFAULT 0;
    -- The status before a claim, until training begins.
    ALTER TABLE runs ADD COLUMN before TEXT;
    -- Unix time of its last beginning or end.
    ALTER TABLE runs ADD COLUMN used REAL NOT NULL DEFAULT 0;
    UPDATE runs SET used = created;

    -- A run that begins again is at rounds it has been at before. What was seen of them stays until it is overtaken.
    CREATE TABLE attempts (
        run INTEGER NOT NULL REFERENCES runs (number),
        attempt INTEGER NOT NULL,   -- from 1; the first time is attempt 0 and has no row
        from_round INTEGER NOT NULL,
        PRIMARY KEY (run, attempt)
    ) WITHOUT ROWID;
    ALTER TABLE points RENAME TO old_points;
    CREATE TABLE points (
        run INTEGER NOT NULL REFERENCES runs (number),
        attempt INTEGER NOT NULL,
        round INTEGER NOT NULL,
        seconds REAL NOT NULL,
        wall_seconds REAL NOT NULL,
        current REAL,               -- NULL is not a number: the round diverged
        primal REAL,
        dual REAL,
        certified_error REAL,
        PRIMARY KEY (run, attempt, round)
    ) WITHOUT ROWID;
    INSERT INTO points SELECT run, 0, round, seconds, wall_seconds, current, primal, dual, certified_error
        FROM old_points;
    DROP TABLE old_points;

    -- Whether the state is compressed, as cleaning up leaves it.
    ALTER TABLE checkpoints ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;
", "
    -- Schedules that were tuned.
    CREATE TABLE studies (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        created REAL NOT NULL,      -- Unix time
        used REAL NOT NULL,         -- of its last beginning or end
        study TEXT NOT NULL,        -- JSON: the job and how to evaluate it
        status TEXT NOT NULL,       -- running, done or failed
        claim INTEGER NOT NULL DEFAULT 0, -- counts the processes that worked on it
        pid INTEGER NOT NULL,
        host TEXT NOT NULL,
        process_started TEXT NOT NULL
    );
    CREATE TABLE evaluations (
        study INTEGER NOT NULL REFERENCES studies (number),
        number INTEGER NOT NULL,    -- from 1
        configuration TEXT NOT NULL, -- JSON
        proposed TEXT NOT NULL,     -- JSON: what was predicted of it
        seconds REAL,               -- how long it took, once it ended
        answer TEXT,                -- JSON, if it was measured
        failure TEXT,               -- if it failed
        PRIMARY KEY (study, number)
    ) WITHOUT ROWID;
", "
    -- What training had taken. All methods had rounds until now, so these were their iterations; the rest was not counted.
    ALTER TABLE points ADD COLUMN iterations INTEGER NOT NULL DEFAULT 0; -- 0 is not known
    ALTER TABLE points ADD COLUMN epochs REAL;           -- NULL is not known
    ALTER TABLE points ADD COLUMN bytes_per_worker REAL; -- NULL is not known
    UPDATE points SET iterations = round;
"];

/// What every store has.
const TABLES: [&str; 7] =
    ["runs", "points", "checkpoints", "calibrations", "attempts", "studies", "evaluations"];

/// Checks that the file is a store and applies the steps it lacks. Any number of commands may do so at once.
pub(super) fn bring_up_to_date(connection: &Connection, file: &Path) -> Result<(), Error> {
    let named = |error| Error::store(file, error);
    if version_at_one_moment(connection, file)? < known() {
        patiently(connection, || use_log(connection)).map_err(named)?;
        migrate(connection, file)?;
    }
    check_tables(connection, file)?;
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(named)
}

/// Checks that the file is a store of this very version.
pub(super) fn check_current(connection: &Connection, file: &Path) -> Result<(), Error> {
    if version_at_one_moment(connection, file)? == known() {
        return check_tables(connection, file);
    }
    let source = "it is of an earlier version and has to be written to become current".into();
    Err(Error::StoreUnwritable { file: file.to_path_buf(), source })
}

fn known() -> i64 {
    STEPS.len() as i64
}

/// Someone else may be making the store right now: either none of it counts or all of it.
fn version_at_one_moment(connection: &Connection, file: &Path) -> Result<i64, Error> {
    let transaction = connection.unchecked_transaction().map_err(|error| Error::store(file, error))?;
    version(&transaction, file)
}

/// The file's version, if it is a store or still empty.
fn version(connection: &Connection, file: &Path) -> Result<i64, Error> {
    let named = |error| Error::store(file, error);
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(named)?;
    let version = number("user_version").map_err(named)?;
    if application == APPLICATION_ID && version > known() {
        return Err(Error::NewerStore { file: file.to_path_buf(), found: version, known: known() });
    }
    let empty = "SELECT count(*) = 0 FROM sqlite_schema";
    let empty = version == 0 && connection.query_row(empty, [], |row| row.get(0)).map_err(named)?;
    match application {
        APPLICATION_ID if version > 0 => Ok(version),
        APPLICATION_ID | 0 if empty => Ok(0),
        APPLICATION_ID => Err(damaged(file, format!("its version is {version}"))),
        _ => Err(Error::NotAStore { file: file.to_path_buf() }),
    }
}

/// A file that says it is a store has to have the tables of one.
fn check_tables(connection: &Connection, file: &Path) -> Result<(), Error> {
    let named = |error| Error::store(file, error);
    for table in TABLES {
        let there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        if connection.query_row(there, [table], |row| row.get::<_, i64>(0)).map_err(named)? == 0 {
            return Err(damaged(file, format!("it has no table `{table}`")));
        }
    }
    Ok(())
}

fn damaged(file: &Path, problem: String) -> Error {
    Error::DamagedStore { file: file.to_path_buf(), problem }
}

fn migrate(connection: &Connection, file: &Path) -> Result<(), Error> {
    let named = |error| Error::store(file, error);
    let transaction =
        rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(named)?;
    // Someone else may have been faster.
    let from = version(&transaction, file)?;
    for step in &STEPS[from as usize..] {
        transaction.execute_batch(step).map_err(named)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(named)?;
    transaction.pragma_update(None, "user_version", known()).map_err(named)?;
    transaction.commit().map_err(named)
}

/// Before the first table is made, space that becomes free can still be made returnable.
fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")
}

/// Changing the journal mode does not always wait for others by itself.
fn patiently(
    connection: &Connection,
    mut attempt: impl FnMut() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let patience = connection.pragma_query_value(None, "busy_timeout", |row| row.get::<_, i64>(0))?;
    let end = Instant::now() + Duration::from_millis(patience.max(0) as u64);
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(5))
            }
            result => return result,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
