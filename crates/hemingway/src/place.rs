//! Where the store and the models live.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::target::Target;
use crate::{Error, TrainRequest};

/// How long to wait for another command's transaction, which takes milliseconds. Longer, and a run stands still for as
/// long when another program holds the store; shorter, and a slow disk looks like one.
const PATIENCE: Duration = Duration::from_secs(30);

/// The file of the store, and the folder that models go into, beside it unless the user says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    store: PathBuf,
    models: Option<PathBuf>,
    chosen: bool,
    patience: Duration,
}

impl Place {
    /// A file that the user chose.
    pub fn at(store: impl Into<PathBuf>) -> Place {
        Place { store: store.into(), models: None, chosen: true, patience: PATIENCE }
    }

    /// `$XDG_DATA_HOME/hemingway/store.sqlite`, else `$HOME/.local/share/hemingway/store.sqlite`.
    pub fn usual() -> Result<Place, Error> {
        let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data =
            absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
        let data = data.ok_or(Error::NoHome)?;
        let store = data.join("hemingway").join("store.sqlite");
        Ok(Place { store, models: None, chosen: false, patience: PATIENCE })
    }

    /// The same place with another time to wait for other programs that use the store: 30 seconds unless said.
    pub fn with_patience(self, patience: Duration) -> Place {
        Place { patience, ..self }
    }

    /// The same place with another folder for models.
    pub fn with_models(self, folder: impl Into<PathBuf>) -> Place {
        let folder = folder.into();
        Place { models: Some(std::path::absolute(&folder).unwrap_or(folder)), ..self }
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// The store's file.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Where a run's model goes unless the user says otherwise.
    pub fn model(&self, run: &str) -> PathBuf {
        self.models_folder().join(format!("{run}.json"))
    }

    fn models_folder(&self) -> PathBuf {
        self.models.clone().unwrap_or_else(|| self.store.with_file_name("models"))
    }

    /// Makes the folder of a model that goes where [`Place::model`] says.
    pub(crate) fn make_model_folder(&self, model: &Path) -> Result<(), Error> {
        let folder = model.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .map_err(|source| Error::WriteModel { file: model.to_path_buf(), source })
    }

    /// Whether a store could be made here, as far as one can tell without writing.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.chosen { check_path(&self.store) } else { Ok(()) }
    }

    /// Whether the model of a request could be written, before there is one.
    pub(crate) fn check_model(&self, request: &TrainRequest) -> Result<(), Error> {
        match &request.model {
            Some(model) => check_writable(model),
            // A folder that is not there will be made, like the store beside it.
            None if self.models_folder().symlink_metadata().is_err() => Ok(()),
            None => check_writable(&self.model("run")),
        }
    }
}

/// Refuses a file that cannot be written: its directory is missing or nothing can be made in it, or it is itself a
/// directory, a socket or protected. Nothing is left behind.
pub fn check_writable(file: &Path) -> Result<(), Error> {
    check_path(file)?;
    Target::of(file).and_then(|target| target.check()).map_err(|source| unwritable(file, source))
}

/// Refuses a file whose directory is missing, or that is one itself.
fn check_path(file: &Path) -> Result<(), Error> {
    if file.is_dir() || file.file_name().is_none() {
        return Err(Error::IsDirectory { file: file.to_path_buf() });
    }
    match file.parent() {
        Some(directory) if !directory.as_os_str().is_empty() && !directory.is_dir() => {
            Err(Error::NoDirectory { file: file.to_path_buf(), directory: directory.to_path_buf() })
        }
        _ => Ok(()),
    }
}

fn unwritable(file: &Path, source: std::io::Error) -> Error {
    Error::Unwritable { file: file.to_path_buf(), source }
}
