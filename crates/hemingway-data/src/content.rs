//! What one file contains: unpacked, as UTF-8, without a byte order mark.

use std::io::{self, Cursor, Read};

use crate::Error;
use crate::charset::{self, Utf16};
use crate::origin::{Opened, Origin};
use crate::packing::Packing;
use crate::pipeline::read_up_to;

/// The content of a file, or of memory, on its way in.
pub(crate) struct Content<'a> {
    name: String,
    /// Where it can be read again; memory has none.
    origin: Option<Origin>,
    reader: Box<dyn Read + 'a>,
    packing: Option<Packing>,
    /// Whether the text was not UTF-8.
    converted: bool,
    /// Bytes of the file as it lies on the disk, if it is an ordinary one.
    length: Option<u64>,
    /// What stands between the fields, where the file says so itself. Then the first line is a header.
    delimiter: Option<u8>,
    /// Bytes of the byte order mark in front of the content.
    mark: u64,
    /// Unpacked bytes read so far.
    read: u64,
}

impl<'a> Content<'a> {
    /// Opens a file or standard input.
    pub(crate) fn open(origin: Origin) -> Result<Content<'static>, Error> {
        let Opened { mut reader, length } = origin.open(0)?;
        let start = first_bytes(&mut *reader).map_err(|source| origin.failed(source))?;
        #[cfg(feature = "parquet")]
        if start.starts_with(b"PAR1") && length.is_some() {
            return Content::table(origin, length);
        }
        let content = Content::begun(origin.name().to_string(), start, reader)?;
        Ok(Content { length, origin: Some(origin), ..content })
    }

    /// Reads from memory.
    pub(crate) fn memory(name: &str, mut bytes: &'a [u8]) -> Result<Content<'a>, Error> {
        let start = bytes.split_off(..bytes.len().min(Packing::MAGIC_BYTES)).unwrap_or_default();
        Content::begun(name.to_string(), start.to_vec(), Box::new(bytes))
    }

    /// Opens a file of columns.
    #[cfg(feature = "parquet")]
    fn table(origin: Origin, length: Option<u64>) -> Result<Content<'static>, Error> {
        use crate::parquet::{DELIMITER, Table};
        let name = origin.name().to_string();
        let table =
            Table::open(origin.file()?).map_err(|problem| Error::Parquet { file: name.clone(), problem })?;
        Ok(Content {
            name,
            origin: Some(origin),
            reader: Box::new(table),
            packing: None,
            converted: true,
            length,
            delimiter: Some(DELIMITER),
            mark: 0,
            read: 0,
        })
    }

    /// Finds out how bytes are packed and encoded of which the first were read already.
    fn begun(name: String, start: Vec<u8>, reader: Box<dyn Read + 'a>) -> Result<Content<'a>, Error> {
        let failed = |source| Error::Read { file: name.clone(), source };
        let packing = Packing::of(&start);
        let (start, reader) = match packing {
            None => (start, reader),
            Some(packing) => {
                let mut unpacked = packing.unpack(Cursor::new(start).chain(reader)).map_err(failed)?;
                let start = first_bytes(&mut *unpacked);
                (start.map_err(|source| unpacking_failed(&name, packing, 0, source))?, unpacked)
            }
        };
        let mark = charset::mark(&start);
        let rest = Cursor::new(start[mark.bytes()..].to_vec()).chain(reader);
        let reader: Box<dyn Read + 'a> = match mark.utf16() {
            Some(order) => Box::new(Utf16::new(rest, order)),
            None => Box::new(rest),
        };
        Ok(Content {
            name,
            origin: None,
            reader,
            packing,
            converted: mark.utf16().is_some(),
            length: None,
            delimiter: None,
            mark: mark.bytes() as u64,
            read: 0,
        })
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it lies in memory.
    pub(crate) fn is_memory(&self) -> bool {
        self.origin.is_none()
    }

    /// What stands between the fields, where the file says so itself.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    /// Bytes of the file, packed or not, if it is an ordinary one.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Bytes of the content, if it lies in a plain file as it is, which can be entered anywhere.
    pub(crate) fn extent(&self) -> Option<u64> {
        let plain = self.packing.is_none() && !self.converted;
        self.length.filter(|_| plain).map(|length| length.saturating_sub(self.mark))
    }

    /// Goes on at this byte of a content that has an extent.
    pub(crate) fn enter(&mut self, byte: u64) -> Result<(), Error> {
        if let Some(origin) = &self.origin {
            self.reader = origin.open(self.mark + byte)?.reader;
        }
        Ok(())
    }

    /// Appends up to `wanted` bytes to `buffer`; fewer come only at the end.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, wanted: usize) -> Result<usize, Error> {
        let before = buffer.len();
        let result = match wanted {
            0 => Ok(0),
            _ => read_up_to(&mut *self.reader, buffer, wanted),
        };
        self.read += (buffer.len() - before) as u64;
        result.map_err(|source| self.failed(source))
    }

    /// Puts bytes in front of what is still to come.
    pub(crate) fn put_back(&mut self, bytes: Vec<u8>) {
        self.read -= bytes.len() as u64;
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(bytes).chain(rest));
    }

    fn failed(&self, source: io::Error) -> Error {
        match self.packing {
            Some(packing) => unpacking_failed(&self.name, packing, self.read, source),
            None if self.delimiter.is_some() && source.raw_os_error().is_none() => {
                Error::Parquet { file: self.name.clone(), problem: source.to_string() }
            }
            None => Error::Read { file: self.name.clone(), source },
        }
    }
}

fn first_bytes(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    read_up_to(reader, &mut start, Packing::MAGIC_BYTES)?;
    Ok(start)
}

/// Errors of the operating system have a number; all others are those of the decoder.
fn unpacking_failed(name: &str, packing: Packing, unpacked: u64, source: io::Error) -> Error {
    let (file, packing) = (name.to_string(), packing.name());
    match source.kind() {
        _ if source.raw_os_error().is_some() => Error::Read { file, source },
        io::ErrorKind::UnexpectedEof => Error::TruncatedPacking { file, packing, unpacked },
        _ => Error::CorruptPacking { file, packing, unpacked, source },
    }
}
