//! The bytes of a dataset on their way in, from one file, several, or memory.
//!
//! The beginning is read ahead so that the format can be recognised from the content, and given out again.

use crate::Error;
use crate::content::Content;
use crate::header::Header;
use crate::inputs::origins;
use crate::joined::{Joined, Places};

const READ_AHEAD: usize = 64 * 1024;
/// The first lines are read ahead whole up to this size: headers of wide tables are long.
const LONGEST_READ_AHEAD: usize = 32 * 1024 * 1024;

/// Bytes on their way in.
pub(crate) struct Source<'a> {
    file: String,
    stream: Stream<'a>,
    head: Vec<u8>,
    given: usize,
    taken: u64,
    /// Bytes still to be given out before the input counts as ended.
    remaining: u64,
}

enum Stream<'a> {
    One(Content<'a>),
    Several(Joined),
}

impl<'a> Source<'a> {
    /// Opens what a spec names: a file, several, or standard input.
    pub(crate) fn open(spec: &str) -> Result<Source<'static>, Error> {
        let mut origins = origins(spec)?;
        match origins.len() {
            1 => {
                let content = Content::open(origins.remove(0))?;
                Source::new(content.name().to_string(), Stream::One(content))
            }
            _ => Source::new(spec.to_string(), Stream::Several(Joined::open(origins)?)),
        }
    }

    /// Reads from memory.
    pub(crate) fn memory(name: &str, bytes: &'a [u8]) -> Result<Source<'a>, Error> {
        let content = Content::memory(name, bytes)?;
        Source::new(name.to_string(), Stream::One(content))
    }

    fn new(file: String, stream: Stream<'a>) -> Result<Source<'a>, Error> {
        let mut source = Source { file, stream, head: Vec::new(), given: 0, taken: 0, remaining: u64::MAX };
        source.read_ahead()?;
        Ok(source)
    }

    /// Whether the same bytes can be had again by opening it again.
    pub(crate) fn can_be_read_again(&self) -> bool {
        self.length().is_some() || matches!(&self.stream, Stream::One(content) if content.is_memory())
    }

    /// Name of the file, for messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The file that is being read, where there are several.
    pub(crate) fn part(&self) -> &str {
        match &self.stream {
            Stream::One(_) => &self.file,
            Stream::Several(joined) => joined.file().unwrap_or(&self.file),
        }
    }

    /// Whether it is put together from several files.
    pub(crate) fn is_joined(&self) -> bool {
        matches!(self.stream, Stream::Several(_))
    }

    /// Which files the lines of the content come from; what is read later is added.
    pub(crate) fn places(&self) -> Places {
        match &self.stream {
            Stream::One(content) => Places::one(content.name()),
            Stream::Several(joined) => joined.places(),
        }
    }

    /// What stands between the fields, where the files say so themselves. Then they begin with a header.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        match &self.stream {
            Stream::One(content) => content.delimiter(),
            Stream::Several(joined) => joined.delimiter(),
        }
    }

    /// Takes this header off all files but the first.
    pub(crate) fn expect_header(&mut self, header: Option<Header>) {
        if let Stream::Several(joined) = &mut self.stream {
            joined.expect_header(header);
        }
    }

    /// Bytes of the files, packed or not, if they are ordinary ones.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.stream {
            Stream::One(content) => content.length(),
            Stream::Several(joined) => joined.length(),
        }
    }

    /// Bytes of the content, if it lies in one plain file, which can be entered anywhere.
    pub(crate) fn extent(&self) -> Option<u64> {
        match &self.stream {
            Stream::One(content) => content.extent(),
            Stream::Several(_) => None,
        }
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
        if let Stream::One(content) = &mut self.stream {
            content.enter(byte)?;
        }
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
        if let Stream::Several(joined) = &mut self.stream {
            joined.go_on();
        }
        let filled = from_head + self.read(buffer, wanted - from_head)?;
        self.remaining -= filled as u64;
        Ok(filled)
    }

    fn read(&mut self, buffer: &mut Vec<u8>, wanted: usize) -> Result<usize, Error> {
        let read = match &mut self.stream {
            Stream::One(content) => content.fill(buffer, wanted)?,
            Stream::Several(joined) => joined.fill(buffer, wanted)?,
        };
        self.taken += read as u64;
        Ok(read)
    }

    fn read_ahead(&mut self) -> Result<(), Error> {
        let mut head = Vec::new();
        let mut wanted = READ_AHEAD;
        while self.read(&mut head, wanted)? == wanted && !has_lines(&head) && head.len() < LONGEST_READ_AHEAD
        {
            wanted = head.len();
        }
        self.head = head;
        self.taken = 0;
        Ok(())
    }
}

/// Whether the head holds enough whole lines to find out a layout; binary data has none to wait for.
fn has_lines(head: &[u8]) -> bool {
    head.starts_with(&[0, 0]) || memchr::memchr_iter(b'\n', head).nth(2).is_some()
}
