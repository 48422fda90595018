//! Text that is not UTF-8.
//!
//! A file that begins with the byte order mark of UTF-16 is converted as a whole while it is read. Other encodings have no
//! mark, so that a file cannot be converted without guessing from all of it. But numbers, delimiters and line ends are
//! the same bytes in all of them, and only names and labels hold anything else: those that are no valid UTF-8 are taken for
//! Windows-1252, of which Latin-1 is a part, each on its own. No two different texts become the same that way, and it does
//! not matter who reads which part of the file.

use std::borrow::Cow;
use std::io::{self, Read};

use crate::pipeline::read_up_to;

/// Bytes that are converted at once.
const CONVERTED_AT_ONCE: usize = 64 * 1024;

/// What Windows-1252 has from 0x80 to 0x9f, where Latin-1 has control characters. The five bytes that it leaves open stay such.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The bytes of a name or label as text.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| letter(*byte)).collect()),
    }
}

fn letter(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// The order of the two bytes of a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

/// What the first bytes say of the encoding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mark {
    None,
    Utf8,
    Utf16(ByteOrder),
}

/// The byte order mark at the beginning. That of UTF-32 contains that of UTF-16, and is not one.
pub(crate) fn mark(start: &[u8]) -> Mark {
    match start {
        [0xef, 0xbb, 0xbf, ..] => Mark::Utf8,
        [0xff, 0xfe, 0, 0, ..] => Mark::None,
        [0xff, 0xfe, ..] => Mark::Utf16(ByteOrder::Little),
        [0xfe, 0xff, ..] => Mark::Utf16(ByteOrder::Big),
        _ => Mark::None,
    }
}

impl Mark {
    /// How long the mark is.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Mark::None => 0,
            Mark::Utf8 => 3,
            Mark::Utf16(_) => 2,
        }
    }

    /// The order of bytes, if this is UTF-16.
    pub(crate) fn utf16(self) -> Option<ByteOrder> {
        match self {
            Mark::Utf16(order) => Some(order),
            Mark::None | Mark::Utf8 => None,
        }
    }
}

/// UTF-16, read as UTF-8. What is not valid becomes the replacement character.
pub(crate) struct Utf16<R> {
    inner: R,
    order: ByteOrder,
    /// Bytes that were read and are not converted yet: half a unit, or half a pair of units.
    left: Vec<u8>,
    converted: Vec<u8>,
    given: usize,
}

impl<R: Read> Utf16<R> {
    /// Reads `inner`, whose mark was taken off.
    pub(crate) fn new(inner: R, order: ByteOrder) -> Utf16<R> {
        Utf16 { inner, order, left: Vec::new(), converted: Vec::new(), given: 0 }
    }

    fn convert_more(&mut self) -> io::Result<()> {
        let ended = read_up_to(&mut self.inner, &mut self.left, CONVERTED_AT_ONCE)? < CONVERTED_AT_ONCE;
        let units: Vec<u16> = self.left.chunks_exact(2).map(|pair| self.unit(pair[0], pair[1])).collect();
        // The second half of a pair may be still to come.
        let pair_begins = matches!(units.last(), Some(0xd800..0xdc00)) && !ended;
        let whole = units.len() - usize::from(pair_begins);
        let letters = char::decode_utf16(units[..whole].iter().copied())
            .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
        let mut text: String = letters.collect();
        self.left.drain(..2 * whole);
        if ended && !self.left.is_empty() {
            self.left.clear();
            text.push(char::REPLACEMENT_CHARACTER);
        }
        (self.converted, self.given) = (text.into_bytes(), 0);
        Ok(())
    }

    fn unit(&self, first: u8, second: u8) -> u16 {
        match self.order {
            ByteOrder::Little => u16::from_le_bytes([first, second]),
            ByteOrder::Big => u16::from_be_bytes([first, second]),
        }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.converted.len() {
            self.convert_more()?;
        }
        let rest = &self.converted[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, order: ByteOrder) -> Vec<u8> {
        let bytes = |unit: u16| match order {
            ByteOrder::Little => unit.to_le_bytes(),
            ByteOrder::Big => unit.to_be_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn converted(bytes: &[u8], order: ByteOrder) -> String {
        let mut text = String::new();
        Utf16::new(bytes, order).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn pairs_of_units_may_lie_on_a_cut() {
        for letters in [CONVERTED_AT_ONCE / 2 - 1, CONVERTED_AT_ONCE / 2, CONVERTED_AT_ONCE / 2 + 1] {
            let text = format!("{}😀é\n", "a".repeat(letters));
            for order in [ByteOrder::Little, ByteOrder::Big] {
                assert_eq!(converted(&utf16(&text, order), order), text, "{letters} letters");
            }
        }
    }

    #[test]
    fn damaged_text_is_marked() {
        assert_eq!(converted(b"a\0b", ByteOrder::Little), "a\u{fffd}");
        assert_eq!(converted(&[0, 0xd8, b'a', 0], ByteOrder::Little), "\u{fffd}a");
    }

    #[test]
    fn different_texts_stay_different() {
        assert_eq!(text("größe".as_bytes()), "größe");
        assert_eq!(text(b"gr\xf6\xdfe"), "größe");
        assert_eq!(text(b"\x80 5"), "€ 5");
        let all: std::collections::HashSet<String> =
            (0x80..=0xff).map(|byte| text(&[byte]).into_owned()).collect();
        assert_eq!(all.len(), 128);
    }

    #[test]
    fn marks() {
        assert_eq!(mark(b"\xff\xfea\0"), Mark::Utf16(ByteOrder::Little));
        assert_eq!(mark(b"\xfe\xff\0a"), Mark::Utf16(ByteOrder::Big));
        assert_eq!(mark(b"\xff\xfe\0\0"), Mark::None);
        assert_eq!(mark(b"\xef\xbb\xbfa"), Mark::Utf8);
        assert_eq!(mark(b"a,b"), Mark::None);
    }
}
