//! The folder that a page with its figures goes into.

use std::io;
use std::path::{Path, PathBuf};

use crate::Error;

/// A folder, which is made when the first file is written.
pub(crate) struct Folder<'a>(pub &'a Path);

impl Folder<'_> {
    /// Refuses a place that cannot be a folder, without writing anything.
    pub fn check(&self) -> Result<(), Error> {
        let nearest = self.0.ancestors().find(|path| path.as_os_str().is_empty() || path.exists());
        match nearest {
            Some(path) if !path.as_os_str().is_empty() && !path.is_dir() => {
                Err(Error::NotADirectory { path: path.to_path_buf() })
            }
            _ => Ok(()),
        }
    }

    /// Writes a file, in folders below this one if its name has any, and says where it is.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, Error> {
        let file = self.0.join(name);
        write(&file, content.as_ref()).map_err(|source| Error::WriteFile { file: file.clone(), source })?;
        Ok(file)
    }
}

fn write(file: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, content)
}
