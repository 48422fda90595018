//! Several files as one stream of lines.
//!
//! Each file is unpacked and converted for itself. A last line without an end gets one, and the header of the first file
//! is taken off the others. Which file a line came from is kept for messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Error;
use crate::content::Content;
use crate::header::{Header, is_header_only};
use crate::origin::Origin;

/// So much of a file is looked at to find its header.
const HEAD: usize = 64 * 1024;
/// Headers of wide tables are long.
const LONGEST_HEADER: usize = 32 * 1024 * 1024;
/// Lines of the first file with which its layout can be found out: a header and a row.
const ENOUGH_LINES: usize = 2;

/// Files that are read one after the other.
pub(crate) struct Joined {
    rest: VecDeque<Origin>,
    now: Option<Content<'static>>,
    /// The name of the file that was opened last.
    file: Option<String>,
    header: Option<Header>,
    /// Whether the layout is still being found out from the first file, so that headers are not known.
    beginning: bool,
    lines: usize,
    in_a_line: bool,
    length: Option<u64>,
    /// What stands between the fields, where the first file says so itself.
    delimiter: Option<u8>,
    places: Places,
}

/// Where the files that were opened so far begin, for whoever has to say where a line came from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Arc<Mutex<Vec<Place>>>);

/// Where the lines of a file begin in the stream.
#[derive(Debug)]
struct Place {
    file: String,
    /// Lines of the stream before it.
    before: usize,
    /// Lines of the file that are not in the stream.
    left_out: usize,
}

impl Joined {
    /// Opens the files, of which there are some.
    pub(crate) fn open(origins: Vec<Origin>) -> Result<Joined, Error> {
        let mut length = Some(0);
        for origin in &origins {
            length = length.zip(origin.open(0)?.length).map(|(sum, bytes)| sum + bytes);
        }
        let rest = from_first_rows(origins)?;
        let delimiter = Content::open(rest[0].clone())?.delimiter();
        Ok(Joined {
            rest,
            delimiter,
            now: None,
            file: None,
            header: None,
            beginning: true,
            lines: 0,
            in_a_line: false,
            length,
            places: Places::default(),
        })
    }

    /// Bytes of all files as they lie on the disk, if all are ordinary ones.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// What stands between the fields, where the first file says so itself.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    /// Where the lines come from.
    pub(crate) fn places(&self) -> Places {
        self.places.clone()
    }

    /// The file that is being read.
    pub(crate) fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Takes this header off all files but the first.
    pub(crate) fn expect_header(&mut self, header: Option<Header>) {
        self.header = header;
    }

    /// Says that the layout is known.
    pub(crate) fn go_on(&mut self) {
        self.beginning = false;
    }

    /// Appends up to `wanted` bytes to `buffer`; fewer come at the end, and at the end of the first file while its layout
    /// is being found out.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, wanted: usize) -> Result<usize, Error> {
        let before = buffer.len();
        while buffer.len() - before < wanted {
            let Some(content) = &mut self.now else {
                let enough = self.beginning && self.lines >= ENOUGH_LINES;
                if enough || !self.open_next()? {
                    break;
                }
                continue;
            };
            let (start, left) = (buffer.len(), wanted - (buffer.len() - before));
            let ended = content.fill(buffer, left)? < left;
            self.lines += memchr::memchr_iter(b'\n', &buffer[start..]).count();
            self.in_a_line = buffer[start..].last().map_or(self.in_a_line, |last| *last != b'\n');
            if ended {
                self.end_file(buffer);
            }
        }
        Ok(buffer.len() - before)
    }

    fn end_file(&mut self, buffer: &mut Vec<u8>) {
        self.now = None;
        if self.in_a_line && !self.rest.is_empty() {
            buffer.push(b'\n');
            self.lines += 1;
            self.in_a_line = false;
        }
    }

    /// Opens the next file, if there is one.
    fn open_next(&mut self) -> Result<bool, Error> {
        let Some(origin) = self.rest.pop_front() else { return Ok(false) };
        let mut content = Content::open(origin)?;
        let left_out = match &self.header {
            Some(header) if self.file.is_some() => take_header(header, &mut content)?,
            _ => 0,
        };
        let file = content.name().to_string();
        self.file = Some(file.clone());
        self.places.all().push(Place { file, before: self.lines, left_out });
        self.now = Some(content);
        Ok(true)
    }
}

/// Takes the header off a file; the lines that it took.
fn take_header(header: &Header, content: &mut Content) -> Result<usize, Error> {
    let mut head = Vec::new();
    let mut wanted = HEAD;
    while content.fill(&mut head, wanted)? == wanted
        && memchr::memchr(b'\n', head.trim_ascii_start()).is_none()
        && head.len() < LONGEST_HEADER
    {
        wanted = head.len();
    }
    let length = header.length(content.name(), &head)?;
    let lines = memchr::memchr_iter(b'\n', &head[..length]).count();
    content.put_back(head.split_off(length));
    Ok(lines)
}

/// Passes over leading files that are empty or have only the header of the next one, as Spark writes them: the layout is
/// found out from the first file.
fn from_first_rows(origins: Vec<Origin>) -> Result<VecDeque<Origin>, Error> {
    let mut rest = VecDeque::from(origins);
    let mut first = head(&rest[0])?;
    while rest.len() > 1 {
        let second = head(&rest[1])?;
        if first.is_empty() || is_header_only(&first, &second) {
            rest.pop_front();
            first = second;
        } else if second.is_empty() {
            rest.remove(1);
        } else {
            break;
        }
    }
    Ok(rest)
}

fn head(origin: &Origin) -> Result<Vec<u8>, Error> {
    let mut head = Vec::new();
    Content::open(origin.clone())?.fill(&mut head, HEAD)?;
    Ok(head)
}

impl Places {
    /// Those of a single file.
    pub(crate) fn one(file: &str) -> Places {
        let place = Place { file: file.to_string(), before: 0, left_out: 0 };
        Places(Arc::new(Mutex::new(vec![place])))
    }

    /// The file of a line of the stream and the line in it, both counted from 1.
    pub(crate) fn locate(&self, line: usize) -> Option<(String, usize)> {
        let places = self.all();
        let at = places.partition_point(|place| place.before < line).checked_sub(1)?;
        let place = &places[at];
        Some((place.file.clone(), line - place.before + place.left_out))
    }

    fn all(&self) -> MutexGuard<'_, Vec<Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
