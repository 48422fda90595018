//! The store: every run with its settings, its trace and a state to go on from, in one SQLite file.
//!
//! Several commands may use one store at once. So the file is in WAL mode, every transaction is short, and whoever
//! finds the file locked waits. A point is committed the moment it is scored: with `synchronous = NORMAL` that is a
//! write into the log without waiting for the disk, so a killed process loses nothing and only a power cut may lose
//! the last moments.
//!
//! `schema` says what the tables are, `runs` keeps runs, `trace` their points and checkpoints, `splice` makes one trace
//! of several attempts, `recorder` keeps what cannot be written yet, `damage` reads rows that may be broken, `cleaning`
//! removes runs and gives space back, `studies` keeps schedules that were tuned, and `calibrations` knows how fast machines are.

mod calibrations;
mod cleaning;
mod damage;
mod recorder;
mod runs;
mod schema;
mod splice;
mod studies;
mod trace;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use cleaning::{Keep, Removed, Repaired};
pub(crate) use recorder::Recorder;
pub use runs::{Purpose, Status, StoredRun};
pub use studies::{RemovedStudies, StoredEvaluation, StoredStudy};

use crate::{Error, Place};

/// An open store.
pub struct Store {
    file: PathBuf,
    connection: Connection,
    patience: Duration,
    warnings: RefCell<Vec<String>>,
}

impl Store {
    /// Opens the store, making it if it is not there.
    pub fn open(place: &Place) -> Result<Store, Error> {
        place.check()?;
        let file = place.store();
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder).map_err(|source| Error::StoreUnwritable {
                file: file.to_path_buf(),
                source: source.into(),
            })?;
        }
        Store::connect(place, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the store if it is there.
    pub fn open_if_there(place: &Place) -> Result<Option<Store>, Error> {
        match place.store().try_exists() {
            Ok(true) => Store::connect(place, OpenFlags::empty()).map(Some),
            Ok(false) => Ok(None),
            Err(source) => Err(Error::Read { file: place.store().to_path_buf(), source }),
        }
    }

    /// Opens a store that has to be there.
    pub fn open_existing(place: &Place) -> Result<Store, Error> {
        Store::open_if_there(place)?.ok_or_else(|| Store::missing(place))
    }

    /// The error for a store that has to be there and is not.
    pub fn missing(place: &Place) -> Error {
        Error::NoStore { file: place.store().to_path_buf() }
    }

    /// Opens a store to look at it: this also works where nothing can be written.
    pub fn open_to_read(place: &Place) -> Result<Option<Store>, Error> {
        match Store::open_if_there(place) {
            Err(Error::StoreUnwritable { .. }) if !has_log(place.store()) => {
                Store::connect_frozen(place).map(Some)
            }
            result => result,
        }
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What could not be read so far, in a sentence each that names it.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    fn warn(&self, text: String) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    fn connect(place: &Place, create: OpenFlags) -> Result<Store, Error> {
        let (file, patience) = (place.store(), place.patience());
        if file.is_dir() {
            return Err(Error::IsDirectory { file: file.to_path_buf() });
        }
        check_length(file)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
        let opened = Connection::open_with_flags(file, flags).and_then(|connection| {
            connection.busy_timeout(patience)?;
            Ok(connection)
        });
        let connection = opened.map_err(|error| Error::store(file, error))?;
        schema::bring_up_to_date(&connection, file)?;
        Ok(Store { file: file.to_path_buf(), connection, patience, warnings: RefCell::default() })
    }

    /// A store that nobody can write to does not change, so it needs no locks, which would have to be written.
    fn connect_frozen(place: &Place) -> Result<Store, Error> {
        let (file, patience) = (place.store(), place.patience());
        let escaped = file.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)
            .map_err(|error| Error::store(file, error))?;
        schema::check_current(&connection, file)?;
        Ok(Store { file: file.to_path_buf(), connection, patience, warnings: RefCell::default() })
    }

    /// Does all of it or nothing, without anybody in between.
    fn at_once<T>(&self, write: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(self.error())?;
        let done = write()?;
        transaction.commit().map_err(self.error())?;
        Ok(done)
    }

    /// Names the file in a database error.
    fn error(&self) -> impl Fn(rusqlite::Error) -> Error {
        |error| Error::store(&self.file, error)
    }
}

/// Whether some of the store is still in the log beside it.
fn has_log(file: &Path) -> bool {
    std::fs::metadata(log_of(file)).is_ok_and(|log| log.len() > 0)
}

fn log_of(file: &Path) -> PathBuf {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// SQLite takes a file of one byte for an empty database and would write over it; no database is shorter than a page.
/// Only the length is looked at: to open and close the file would release the locks of this process's other stores.
fn check_length(file: &Path) -> Result<(), Error> {
    match std::fs::metadata(file) {
        Ok(found) if (1..512).contains(&found.len()) => Err(Error::NotAStore { file: file.to_path_buf() }),
        _ => Ok(()),
    }
}
