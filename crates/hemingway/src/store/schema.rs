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
"];

/// Checks that the file is a store and applies the steps it lacks. Any number of commands may do so at once.
pub(super) fn bring_up_to_date(connection: &Connection, file: &Path) -> Result<(), Error> {
    let named = |error| Error::store(file, error);
    if version_at_one_moment(connection, file)? < known() {
        patiently(|| use_log(connection)).map_err(named)?;
        migrate(connection, file)?;
    }
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(named)
}

/// Checks that the file is a store of this very version.
pub(super) fn check_current(connection: &Connection, file: &Path) -> Result<(), Error> {
    if version_at_one_moment(connection, file)? == known() {
        return Ok(());
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
    if application == APPLICATION_ID || (application == 0 && empty) {
        Ok(version)
    } else {
        Err(Error::NotAStore { file: file.to_path_buf() })
    }
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

fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")
}

/// Changing the journal mode does not always wait for others by itself.
fn patiently(mut attempt: impl FnMut() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    let end = Instant::now() + super::PATIENCE;
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
