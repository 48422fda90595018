//! Where bytes come from: a file or memory, unpacked on the way when it is gzip.
//!
//! The beginning is read ahead so that the format can be recognised from the content, and given out again.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::Error;
use crate::pipeline::read_up_to;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const READ_AHEAD: usize = 64 * 1024;
/// The first lines are read ahead whole up to this size: headers of wide tables are long.
const LONGEST_READ_AHEAD: usize = 32 * 1024 * 1024;

/// Bytes on their way in.
pub(crate) struct Source<'a> {
    file: String,
    reader: Box<dyn Read + 'a>,
    gzip: bool,
    /// Bytes of the file as it lies on the disk, if it is an ordinary one.
    length: Option<u64>,
    in_memory: bool,
    /// Bytes of the byte order mark in front of the content.
    mark: u64,
    head: Vec<u8>,
    given: usize,
    taken: u64,
    /// Bytes still to be given out before the input counts as ended.
    remaining: u64,
}

impl<'a> Source<'a> {
    /// Opens a file.
    pub(crate) fn open(path: &str) -> Result<Source<'static>, Error> {
        let file = path.to_string();
        let opened = File::open(path).map_err(|source| not_opened(path, source))?;
        match opened.metadata() {
            Ok(metadata) if metadata.is_dir() => Err(Error::Directory { file }),
            Ok(metadata) => {
                let length = metadata.is_file().then_some(metadata.len());
                Ok(Source { length, ..Source::new(file, Box::new(opened))? })
            }
            Err(source) => Err(Error::Read { file, source }),
        }
    }

    /// Reads from memory.
    pub(crate) fn memory(name: &str, bytes: &'a [u8]) -> Result<Source<'a>, Error> {
        Ok(Source { in_memory: true, ..Source::new(name.to_string(), Box::new(bytes))? })
    }

    fn new(file: String, mut reader: Box<dyn Read + 'a>) -> Result<Source<'a>, Error> {
        let mut magic = Vec::new();
        read_up_to(&mut *reader, &mut magic, GZIP_MAGIC.len())
            .map_err(|source| Error::Read { file: file.clone(), source })?;
        let gzip = magic == GZIP_MAGIC;
        let whole = Cursor::new(magic).chain(reader);
        let reader: Box<dyn Read + 'a> = match gzip {
            true => Box::new(MultiGzDecoder::new(BufReader::with_capacity(READ_AHEAD, whole))),
            false => Box::new(whole),
        };
        let mut source = Source {
            file,
            reader,
            gzip,
            length: None,
            in_memory: false,
            mark: 0,
            head: Vec::new(),
            given: 0,
            taken: 0,
            remaining: u64::MAX,
        };
        source.read_ahead()?;
        Ok(source)
    }

    /// Whether the same bytes can be had again by opening it again.
    pub(crate) fn can_be_read_again(&self) -> bool {
        self.length.is_some() || self.in_memory
    }

    /// Name of the file, for messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Bytes of the file, packed or not, if it is an ordinary one.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Bytes of the content, if it lies in a plain file, which can be entered anywhere.
    pub(crate) fn extent(&self) -> Option<u64> {
        self.length.filter(|_| !self.gzip).map(|length| length.saturating_sub(self.mark))
    }

    /// The beginning, unpacked: some lines, or everything if there is less.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head[self.given..]
    }

    /// Reads ahead again once the first head is used up.
    pub(crate) fn look_ahead(&mut self) -> Result<(), Error> {
        if self.head().is_empty() {
            let taken = self.taken;
            let mut head = Vec::new();
            self.read(&mut head, READ_AHEAD)?;
            (self.head, self.given, self.taken) = (head, 0, taken);
        }
        Ok(())
    }

    /// Takes bytes off the head.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.given += bytes;
        self.taken += bytes as u64;
    }

    /// Takes back the last bytes of what was just filled in.
    pub(crate) fn give_back(&mut self, bytes: &[u8]) {
        match self.head.is_empty() {
            true => self.head = bytes.to_vec(),
            false => self.given -= bytes.len(),
        }
        self.taken -= bytes.len() as u64;
        self.remaining += bytes.len() as u64;
    }

    /// Goes on at this byte of the unpacked content, or at the end if that comes first. A plain file is entered there;
    /// anything else is read up to there, and cannot go back.
    pub(crate) fn skip_to(&mut self, byte: u64) -> Result<(), Error> {
        match self.extent() {
            _ if byte == self.taken => Ok(()),
            Some(extent) => self.enter(byte.min(extent)),
            None => self.pass_over(byte),
        }
    }

    fn enter(&mut self, byte: u64) -> Result<(), Error> {
        let mut file = File::open(&self.file).map_err(|source| not_opened(&self.file, source))?;
        file.seek(SeekFrom::Start(self.mark + byte)).map_err(|source| self.failed(source))?;
        self.reader = Box::new(file);
        (self.head, self.given, self.taken) = (Vec::new(), 0, byte);
        Ok(())
    }

    fn pass_over(&mut self, byte: u64) -> Result<(), Error> {
        let mut passed = Vec::with_capacity(READ_AHEAD);
        while self.taken < byte {
            passed.clear();
            let wanted = (byte - self.taken).min(READ_AHEAD as u64) as usize;
            if self.fill(&mut passed, wanted)? < wanted {
                break;
            }
        }
        Ok(())
    }

    /// Lets the input end after this many more bytes; what follows stays for after another call.
    pub(crate) fn limit(&mut self, bytes: u64) {
        self.remaining = bytes;
    }

    /// Unpacked bytes given out so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Appends up to `wanted` bytes to `buffer`; fewer come only at the end of the input.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, wanted: usize) -> Result<usize, Error> {
        let wanted = wanted.min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        let from_head = wanted.min(self.head.len() - self.given);
        buffer.extend_from_slice(&self.head[self.given..self.given + from_head]);
        self.given += from_head;
        if self.given == self.head.len() {
            (self.head, self.given) = (Vec::new(), 0);
        }
        self.taken += from_head as u64;
        let filled = from_head + self.read(buffer, wanted - from_head)?;
        self.remaining -= filled as u64;
        Ok(filled)
    }

    fn read(&mut self, buffer: &mut Vec<u8>, wanted: usize) -> Result<usize, Error> {
        let before = buffer.len();
        let result = match wanted {
            0 => Ok(0),
            _ => read_up_to(&mut *self.reader, buffer, wanted),
        };
        self.taken += (buffer.len() - before) as u64;
        result.map_err(|source| self.failed(source))
    }

    fn read_ahead(&mut self) -> Result<(), Error> {
        let mut head = Vec::new();
        let mut wanted = READ_AHEAD;
        while self.read(&mut head, wanted)? == wanted && !has_lines(&head) && head.len() < LONGEST_READ_AHEAD
        {
            wanted = head.len();
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            self.mark = BYTE_ORDER_MARK.len() as u64;
            head.drain(..BYTE_ORDER_MARK.len());
        }
        self.head = head;
        self.taken = 0;
        Ok(())
    }

    fn failed(&self, source: io::Error) -> Error {
        let (file, unpacked) = (self.file.clone(), self.taken);
        match source.kind() {
            io::ErrorKind::UnexpectedEof if self.gzip => Error::TruncatedGzip { file, unpacked },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if self.gzip => {
                Error::CorruptGzip { file, unpacked, source }
            }
            _ => Error::Read { file, source },
        }
    }
}

/// Whether the head holds enough whole lines to find out a layout; binary data has none to wait for.
fn has_lines(head: &[u8]) -> bool {
    head.starts_with(&[0, 0]) || memchr::memchr_iter(b'\n', head).nth(2).is_some()
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
    if ending_differs { by_letters.max(0.95) } else { by_letters }
}
