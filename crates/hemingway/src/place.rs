//! Where the store and the models live.

use std::env;
use std::path::{Path, PathBuf};

use crate::Error;

/// The file of the store; models go into a folder beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    store: PathBuf,
    chosen: bool,
}

impl Place {
    /// A file that the user chose.
    pub fn at(store: impl Into<PathBuf>) -> Place {
        Place { store: store.into(), chosen: true }
    }

    /// `$XDG_DATA_HOME/hemingway/store.sqlite`, else `$HOME/.local/share/hemingway/store.sqlite`.
    pub fn usual() -> Result<Place, Error> {
        let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data =
            absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
        let data = data.ok_or(Error::NoHome)?;
        Ok(Place { store: data.join("hemingway").join("store.sqlite"), chosen: false })
    }

    /// The store's file.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Where a run's model goes unless the user says otherwise.
    pub fn model(&self, run: &str) -> PathBuf {
        self.store.with_file_name("models").join(format!("{run}.json"))
    }

    /// Makes the folder of a model that goes where [`Place::model`] says.
    pub(crate) fn make_model_folder(&self, model: &Path) -> Result<(), Error> {
        let folder = model.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .map_err(|source| Error::WriteModel { file: model.to_path_buf(), source })
    }

    /// Whether a store could be made here, as far as one can tell without writing.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.chosen { check_writable(&self.store) } else { Ok(()) }
    }
}

/// Refuses a file that cannot be written because its directory is missing, or because it is one itself.
pub fn check_writable(file: &Path) -> Result<(), Error> {
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
