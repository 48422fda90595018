//! Compressed files, recognised by their first bytes and unpacked while they are read.
//!
//! Each kind may hold several streams one after the other, as `pigz`, `pbzip2` and `cat` make them.

use std::io::{self, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;

/// How much of the packed file is read at once.
const READ_AHEAD: usize = 64 * 1024;

/// The largest window of a Zstandard frame, as a power of two: what `zstd --long=31` writes can be read. The memory is
/// taken only by files that were written so.
const LARGEST_WINDOW: u32 = 31;

/// A kind of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstandard,
    Bzip2,
    Xz,
}

impl Packing {
    pub(crate) const ALL: [Packing; 4] = [Packing::Gzip, Packing::Zstandard, Packing::Bzip2, Packing::Xz];

    /// So many bytes tell the packing.
    pub(crate) const MAGIC_BYTES: usize = 6;

    /// The packing of a file that begins with these bytes.
    pub(crate) fn of(start: &[u8]) -> Option<Packing> {
        match start {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Packing::Zstandard),
            // The size of a block, then a block or the end of the stream.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => Some(Packing::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Packing::Xz),
            _ => None,
        }
    }

    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstandard => "Zstandard",
            Packing::Bzip2 => "bzip2",
            Packing::Xz => "xz",
        }
    }

    /// How file names usually end.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Packing::Gzip => ".gz",
            Packing::Zstandard => ".zst",
            Packing::Bzip2 => ".bz2",
            Packing::Xz => ".xz",
        }
    }

    /// What a packed file holds.
    pub(crate) fn unpack<'a>(self, packed: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        let packed = BufReader::with_capacity(READ_AHEAD, packed);
        Ok(match self {
            Packing::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Packing::Zstandard => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
                decoder.window_log_max(LARGEST_WINDOW)?;
                Box::new(decoder)
            }
            Packing::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
            Packing::Xz => Box::new(XzDecoder::new_multi_decoder(packed)),
        })
    }
}

/// The name without the ending of a packed file.
pub(crate) fn unpacked_name(name: &str) -> &str {
    Packing::ALL.iter().find_map(|packing| name.strip_suffix(packing.ending())).unwrap_or(name)
}
