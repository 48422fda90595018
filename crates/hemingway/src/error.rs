//! What can go wrong, in words that name the file and the value, with the next step in [`Error::hint`].

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data could not be read.
    #[error(transparent)]
    Data(#[from] hemingway_data::Error),
    /// The job makes no sense, or training failed.
    #[error(transparent)]
    Train(hemingway_train::Error),
    /// A goal or limit outside its range.
    #[error("{name} = {value} is out of range: {expected}")]
    OutOfRange {
        /// Its name on the command line.
        name: &'static str,
        /// As given.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// Not an engine.
    #[error("there is no engine `{name}`; choose {}", hemingway_train::engines().join(" or "))]
    UnknownEngine {
        /// As written.
        name: String,
    },
    /// A cluster file describes simulated machines.
    #[error("a cluster file describes simulated machines, but the engine is {engine}")]
    ClusterWithoutSimulation {
        /// The engine asked for.
        engine: String,
    },
    /// Training without labels.
    #[error("training needs labels, but --label none says the data has none")]
    Unlabelled,
    /// Test data without labels.
    #[error("the test data {spec} has no labels to compare with")]
    UnlabelledTest {
        /// As given.
        spec: String,
    },
    /// Quantities with a loss for classes.
    #[error("the {0} loss tells classes apart, but --regression says that labels are quantities")]
    LossForClasses(hemingway_train::Loss),
    /// Something a user named cannot be read.
    #[error("cannot read {}: {source}", .file.display())]
    Read {
        /// What was to be read.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The model cannot be written.
    #[error("cannot write the model to {}: {source}", .file.display())]
    WriteModel {
        /// Where it was to go.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A place to write to that does not exist.
    #[error("cannot write {}: there is no directory {}", .file.display(), .directory.display())]
    NoDirectory {
        /// What was to be written.
        file: PathBuf,
        /// What is missing.
        directory: PathBuf,
    },
    /// A place to write to that is a directory.
    #[error("cannot write {}: it is a directory", .file.display())]
    IsDirectory {
        /// What was to be written.
        file: PathBuf,
    },
    /// A file that is no model, or a damaged one.
    #[error("{} is not a model this version can use: {problem}", .file.display())]
    Model {
        /// Where it is.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Neither `XDG_DATA_HOME` nor `HOME` says where things go.
    #[error("there is no place for the store: neither XDG_DATA_HOME nor HOME is set")]
    NoHome,
    /// No store yet.
    #[error("there is no store at {}", .file.display())]
    NoStore {
        /// Where it would be.
        file: PathBuf,
    },
    /// A file of something else.
    #[error("{} is not a Hemingway store", .file.display())]
    NotAStore {
        /// Where it is.
        file: PathBuf,
    },
    /// A store written by a later version.
    #[error("the store {} has version {found}; this hemingway knows versions up to {known}", .file.display())]
    NewerStore {
        /// Where it is.
        file: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// No space left.
    #[error("the disk is full: cannot write to the store {}", .file.display())]
    StoreFull {
        /// Where it is.
        file: PathBuf,
    },
    /// No permission, or no such directory.
    #[error("cannot write to the store {}: {source}", .file.display())]
    StoreUnwritable {
        /// Where it is.
        file: PathBuf,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Anything else that the database says.
    #[error("the store {} failed: {source}", .file.display())]
    Store {
        /// Where it is.
        file: PathBuf,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No such run.
    #[error("there is no run `{run}` in {}", .store.display())]
    NoRun {
        /// As written.
        run: String,
        /// Where it was looked for.
        store: PathBuf,
    },
    /// The beginning of more than one run's name.
    #[error("`{run}` could be any of the runs {}", .candidates.join(", "))]
    AmbiguousRun {
        /// As written.
        run: String,
        /// The runs that begin so.
        candidates: Vec<String>,
    },
    /// Someone is still at it.
    #[error("run {run} is still being trained by process {pid} on {host}")]
    StillRunning {
        /// The run.
        run: String,
        /// The process.
        pid: u32,
        /// Its machine.
        host: String,
    },
    /// The data is not what the run began with.
    #[error("the data of run {run} has changed: it had {before}, now it has {now}")]
    DataChanged {
        /// The run.
        run: String,
        /// As stored.
        before: String,
        /// As loaded.
        now: String,
    },
}

impl Error {
    /// Whether what the user asked for cannot be done as written, rather than something failing on the way.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Error::Train(error) => !matches!(
                error,
                hemingway_train::Error::Spawn { .. }
                    | hemingway_train::Error::Checkpoint(_)
                    | hemingway_train::Error::WorkerLost
                    | hemingway_train::Error::Observer(_)
            ),
            Error::WriteModel { .. }
            | Error::StoreFull { .. }
            | Error::StoreUnwritable { .. }
            | Error::Store { .. } => false,
            _ => true,
        }
    }

    /// What to do next, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::ClusterWithoutSimulation { .. } => Some("leave out --engine, or use --engine simulated"),
            Error::LossForClasses(_) => Some("use --loss squared, or leave out --regression"),
            Error::WriteModel { .. } => Some("go on with `hemingway train --resume last --model FILE`"),
            Error::NoDirectory { .. } => Some("create the directory first"),
            Error::IsDirectory { .. } => Some("add a file name"),
            Error::Model { .. } => Some("`hemingway train --model FILE` writes a model"),
            Error::NoHome | Error::StoreUnwritable { .. } => Some("choose a place with --store FILE"),
            Error::NoStore { .. } => Some("`hemingway train` makes one; --store FILE names another"),
            Error::NotAStore { .. } => Some("choose another file with --store FILE"),
            Error::NewerStore { .. } => Some("use a newer hemingway, or another file with --store FILE"),
            Error::StoreFull { .. } => {
                Some("free some space, then go on with `hemingway train --resume last`")
            }
            Error::NoRun { .. } => Some("`hemingway runs` lists them"),
            Error::AmbiguousRun { .. } => Some("write one more letter"),
            Error::StillRunning { .. } => Some("`hemingway show RUN` shows how far it is"),
            Error::DataChanged { .. } => Some("train anew without --resume"),
            _ => None,
        }
    }

    /// Says which file a database error is about, and what it means for the user.
    pub(crate) fn store(file: &Path, source: rusqlite::Error) -> Error {
        let file = file.to_path_buf();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Error::NotAStore { file },
            Some(ErrorCode::DiskFull) => Error::StoreFull { file },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Error::StoreUnwritable { file, source: source.into() }
            }
            _ => Error::Store { file, source: source.into() },
        }
    }
}

/// An observer's refusal is the library's own error on its way through training.
impl From<hemingway_train::Error> for Error {
    fn from(error: hemingway_train::Error) -> Error {
        match error {
            hemingway_train::Error::Observer(source) => match source.downcast::<Error>() {
                Ok(own) => *own,
                Err(source) => Error::Train(hemingway_train::Error::Observer(source)),
            },
            error => Error::Train(error),
        }
    }
}
