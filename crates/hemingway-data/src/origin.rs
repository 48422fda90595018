//! Where bytes lie: in a file, or in what came through standard input.
//!
//! Data may be read more than once (to look at it first, for a second pass, as training and as test data), so standard
//! input is copied into an unnamed temporary file when it is first asked for. The file is gone when the process ends.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;
use crate::packing::unpacked_name;

/// What stands for standard input on the command line.
pub(crate) const STANDARD_INPUT: &str = "-";

/// Something that can be read from the beginning, any number of times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Origin {
    /// A file by its path.
    File(String),
    /// Whatever is piped into this process.
    StandardInput,
}

/// An origin opened at some byte.
pub(crate) struct Opened {
    pub(crate) reader: Box<dyn Read>,
    /// Its bytes, if it is an ordinary file.
    pub(crate) length: Option<u64>,
}

impl Origin {
    /// The name in messages.
    pub(crate) fn name(&self) -> &str {
        match self {
            Origin::File(path) => path,
            Origin::StandardInput => "standard input",
        }
    }

    /// Whether every reader gets the same bytes: pipes give each byte once.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Origin::File(path) => {
                std::fs::metadata(path).map_or(true, |metadata| metadata.is_file() || metadata.is_dir())
            }
            Origin::StandardInput => false,
        }
    }

    /// Whether looking at it leaves it as it was.
    pub(crate) fn can_be_read_again(&self) -> bool {
        match self {
            Origin::File(_) => self.is_lasting(),
            Origin::StandardInput => true,
        }
    }

    /// Opens it at this byte.
    pub(crate) fn open(&self, byte: u64) -> Result<Opened, Error> {
        match self {
            Origin::File(path) => open_file(path, byte),
            Origin::StandardInput => {
                let file = spooled()?;
                let length = file.metadata().map_err(|source| self.failed(source))?.len();
                Ok(Opened { reader: Box::new(SharedFile::new(file, byte)), length: Some(length) })
            }
        }
    }

    /// The file itself, for formats that are not read from the beginning to the end.
    #[cfg(feature = "parquet")]
    pub(crate) fn file(&self) -> Result<Arc<File>, Error> {
        match self {
            Origin::File(path) => File::open(path).map(Arc::new).map_err(|source| not_opened(path, source)),
            Origin::StandardInput => spooled(),
        }
    }

    /// The error for what the operating system refused.
    pub(crate) fn failed(&self, source: io::Error) -> Error {
        Error::Read { file: self.name().to_string(), source }
    }
}

fn open_file(path: &str, byte: u64) -> Result<Opened, Error> {
    let failed = |source| Error::Read { file: path.to_string(), source };
    let mut opened = File::open(path).map_err(|source| not_opened(path, source))?;
    let metadata = opened.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(Error::Directory { file: path.to_string() });
    }
    if byte > 0 {
        io::Seek::seek(&mut opened, io::SeekFrom::Start(byte)).map_err(failed)?;
    }
    let length = metadata.is_file().then_some(metadata.len());
    Ok(Opened { reader: Box::new(opened), length })
}

/// Reads a shared file from some byte on, whoever else reads it.
pub(crate) struct SharedFile {
    file: Arc<File>,
    byte: u64,
}

impl SharedFile {
    pub(crate) fn new(file: Arc<File>, byte: u64) -> SharedFile {
        SharedFile { file, byte }
    }
}

impl Read for SharedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.byte)?;
        self.byte += read as u64;
        Ok(read)
    }
}

/// All that came through standard input.
fn spooled() -> Result<Arc<File>, Error> {
    static SPOOL: Mutex<Option<Arc<File>>> = Mutex::new(None);
    let mut spool = SPOOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &*spool {
        return Ok(Arc::clone(file));
    }
    let file = copy(&mut io::stdin().lock())
        .map_err(|source| Error::Spool { folder: std::env::temp_dir().display().to_string(), source })?;
    Ok(Arc::clone(spool.insert(Arc::new(file))))
}

fn copy(reader: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(reader, &mut file)?;
    Ok(file)
}

fn not_opened(path: &str, source: io::Error) -> Error {
    let file = path.to_string();
    match source.kind() {
        io::ErrorKind::NotFound => Error::Missing { near: near_names(Path::new(path)), file },
        _ => Error::Read { file, source },
    }
}

/// Up to three names in the same folder that look like the one that is missing, best first.
fn near_names(path: &Path) -> Vec<String> {
    let Some(wanted) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Vec::new();
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Vec::new() };
    let mut near: Vec<(f64, String)> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|name| (likeness(&wanted, &name), name))
        .filter(|(likeness, _)| *likeness >= 0.7)
        .collect();
    near.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    let in_folder =
        |name: String| folder.map_or(PathBuf::from(&name), |folder| folder.join(&name)).display().to_string();
    near.into_iter().take(3).map(|(_, name)| in_folder(name)).collect()
}

/// How alike two names are; a name that only lacks or adds an ending, such as `.gz`, is very alike.
fn likeness(wanted: &str, name: &str) -> f64 {
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
    let by_letters = strsim::normalized_damerau_levenshtein(&wanted, &name);
    let ending_differs =
        name.strip_prefix(&wanted).or(wanted.strip_prefix(&name)).is_some_and(|rest| rest.starts_with('.'));
    let packing_differs = unpacked_name(&wanted) == unpacked_name(&name);
    if ending_differs || packing_differs { by_letters.max(0.95) } else { by_letters }
}
