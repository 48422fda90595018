//! The file formats, and how each is told by its content.
//!
//! Names lie: `.txt`, `.dat` and no ending at all are common, so the content decides and the name only breaks ties.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{excerpt, list};
use crate::packing::unpacked_name;
use crate::{Error, foreign, number};

/// A file format. Each may also be compressed: gzip, Zstandard, bzip2 or xz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// LIBSVM or SVMlight: `LABEL INDEX:VALUE INDEX:VALUE …`.
    Libsvm,
    /// A table with commas, semicolons, tabs or `|` between fields.
    Csv,
    /// A table with tabs between fields.
    Tsv,
    /// A table with one or more spaces or tabs between fields.
    Space,
    /// Images as MNIST has them, with the labels in a file beside.
    Idx,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [Format::Libsvm, Format::Csv, Format::Tsv, Format::Space, Format::Idx];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Libsvm => "libsvm",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Space => "space",
            Format::Idx => "idx",
        }
    }

    /// Whether it is a table, with columns that can be named.
    pub fn is_table(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv | Format::Space)
    }

    /// The format that was asked for, knowing that this delimiter was, too: a table if nothing else was said.
    pub fn with_delimiter(format: Option<Format>, delimiter: Option<u8>) -> Result<Option<Format>, Error> {
        match (format, delimiter) {
            (Some(format), Some(_)) if !format.is_table() => {
                Err(Error::DelimiterOfTables { format: format.to_string() })
            }
            (None, Some(b'\t')) => Ok(Some(Format::Tsv)),
            (None, Some(b' ')) => Ok(Some(Format::Space)),
            (None, Some(_)) => Ok(Some(Format::Csv)),
            (format, _) => Ok(format),
        }
    }

    /// One line for help texts.
    pub fn description(self) -> &'static str {
        match self {
            Format::Libsvm => "LIBSVM or SVMlight: LABEL INDEX:VALUE INDEX:VALUE …",
            Format::Csv => "table with commas, semicolons, tabs or |, with or without a header",
            Format::Tsv => "table with tabs, with or without a header",
            Format::Space => "table with one or more spaces or tabs, with or without a header",
            Format::Idx => "MNIST-style images, with the labels in the file beside them",
        }
    }

    fn by_ending(name: &str) -> Option<Format> {
        let name = name.to_lowercase();
        let ending = Path::new(unpacked_name(&name)).extension()?.to_str()?;
        match ending {
            "libsvm" | "svm" | "svmlight" => Some(Format::Libsvm),
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Format, Error> {
        let text_matches = |format: &Format| format.name().eq_ignore_ascii_case(text);
        Format::ALL
            .into_iter()
            .find(text_matches)
            .ok_or_else(|| Error::UnknownFormatName { name: text.to_string(), known: known() })
    }
}

/// So many lines are compared with the first one.
const COMPARED_LINES: usize = 20;

/// The format of a file that starts with `head`.
pub(crate) fn recognise(file: &str, head: &[u8]) -> Result<Format, Error> {
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::Empty { file: file.to_string() });
    }
    if let Some(foreign) = foreign::of(head) {
        return Err(not_read(file, foreign));
    }
    if looks_like_idx(head) {
        return Ok(Format::Idx);
    }
    by_text(head).or_else(|| Format::by_ending(file).filter(|_| !is_binary(head))).ok_or_else(|| {
        Error::UnknownFormat {
            file: file.to_string(),
            known: known(),
            start: format!("“{}”", excerpt(&head[..head.len().min(16)])),
        }
    })
}

/// Refuses a file that cannot have the format that was named.
pub(crate) fn check_named(file: &str, head: &[u8]) -> Result<(), Error> {
    foreign::binary(head).map_or(Ok(()), |foreign| Err(not_read(file, foreign)))
}

fn not_read(file: &str, foreign: foreign::Foreign) -> Error {
    Error::Foreign { file: file.to_string(), kind: foreign.kind, known: known(), hint: foreign.hint }
}

/// In order: true pairs are LIBSVM, then delimiters make a table, then a colon is a LIBSVM line with a mistake, then
/// columns between spaces make a table.
fn by_text(head: &[u8]) -> Option<Format> {
    if is_binary(head) {
        return None;
    }
    let lines = || lines(head).filter(|line| !line.is_empty());
    if lines().any(|line| tokens(line).skip(1).any(is_pair)) || lines().all(|line| tokens(line).all(is_pair))
    {
        return Some(Format::Libsvm);
    }
    match lines().find_map(delimiter) {
        Some(b'\t') => Some(Format::Tsv),
        Some(_) => Some(Format::Csv),
        None if lines().any(|line| line.contains(&b':')) => Some(Format::Libsvm),
        None => has_columns(lines()).then_some(Format::Space),
    }
}

/// Whether lines have equally many fields between spaces, two or more, and there are numbers below the first line.
fn has_columns<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut counts = lines.map(|line| {
        let numbers = tokens(line).filter(|token| number::whole(token).is_some()).count();
        (tokens(line).count(), numbers)
    });
    let Some((columns, _)) = counts.next() else { return false };
    let below: Vec<(usize, usize)> = counts.take(COMPARED_LINES).collect();
    columns >= 2
        && below.iter().all(|(fields, _)| *fields == columns)
        && below.iter().any(|(_, numbers)| *numbers > 0)
}

/// Lines without their comments, trimmed; a cut last line is left out unless it is the only one.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    whole
        .split(|byte| *byte == b'\n')
        .map(|line| line.split(|byte| *byte == b'#').next().unwrap_or(line).trim_ascii())
}

fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty())
}

/// `INDEX:NUMBER`, or `qid:…`.
fn is_pair(token: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', token) else { return false };
    let (index, value) = (&token[..colon], &token[colon + 1..]);
    let digits = !index.is_empty() && index.iter().all(u8::is_ascii_digit);
    index == b"qid" || (digits && number::whole(value).is_some())
}

/// The most frequent of comma, tab, semicolon and `|` outside quotes; the earlier in this order when equal.
pub(crate) fn delimiter(line: &[u8]) -> Option<u8> {
    let mut quoted = false;
    let mut counts = [(b',', 0), (b'\t', 0), (b';', 0), (b'|', 0)];
    for byte in line {
        quoted ^= *byte == b'"';
        counts
            .iter_mut()
            .filter(|(delimiter, _)| !quoted && delimiter == byte)
            .for_each(|(_, count)| *count += 1);
    }
    counts
        .into_iter()
        .rev()
        .max_by_key(|(_, count)| *count)
        .filter(|(_, count)| *count > 0)
        .map(|(delimiter, _)| delimiter)
}

fn looks_like_idx(head: &[u8]) -> bool {
    matches!(head, [0, 0, 0x08 | 0x09 | 0x0b..=0x0e, 1..=4, ..])
}

fn is_binary(head: &[u8]) -> bool {
    head.contains(&0)
}

fn known() -> String {
    list(&Format::ALL.map(Format::name), Format::ALL.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, head: &[u8], expect: Format) {
        assert_eq!(recognise(file, head).unwrap(), expect, "{file}: {}", excerpt(head));
    }

    #[test]
    fn content_decides() {
        check("data.csv", b"+1 1:0.5 3:1\n-1 2:1\n", Format::Libsvm);
        check("data", b"# made today\n\n1 qid:3 1:0.5\n", Format::Libsvm);
        check("data", b"-1 \n-1 \n+1 5:1\n", Format::Libsvm);
        check("data", b"1:1 2:3\n", Format::Libsvm);
        check("data.libsvm", b"a,b,label\n1,2,0\n", Format::Csv);
        check("data", b"a;b\n1;2\n", Format::Csv);
        check("data", b"a\tb\n1\t2\n", Format::Tsv);
        check("data", b"a|b\n1|2\n", Format::Csv);
        check("data", b"a b label\n1  2 0\n3 4  1\n", Format::Space);
        check("data", b" 1 2\n 3 4\n", Format::Space);
        check("data", b"2020-01-01 12:30:00,5\n", Format::Csv);
        check("data", b"1 a:1\n", Format::Libsvm);
        check("data", &[0, 0, 8, 3, 0, 0, 0, 1], Format::Idx);
    }

    #[test]
    fn the_name_breaks_ties() {
        check("rows.svm", b"1\n-1\n", Format::Libsvm);
        check("ROWS.CSV.GZ", b"1\n-1\n", Format::Csv);
        check("rows.csv.zst", b"1\n-1\n", Format::Csv);
    }

    #[test]
    fn others_are_named() {
        let message = recognise("x.zip", b"PK\x03\x04\0\0").unwrap_err().to_string();
        assert!(message.contains("x.zip: this is a ZIP archive"), "{message}");
        assert!(
            message.contains("libsvm, csv, tsv, space, idx") && message.contains("hint: unpack it"),
            "{message}"
        );
        let message = recognise("x", b"hello world\n").unwrap_err().to_string();
        assert!(message.contains("starts with “hello world") && message.contains("--format"), "{message}");
    }

    #[test]
    fn names_are_read_back() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
        assert!("arff".parse::<Format>().unwrap_err().to_string().contains("libsvm, csv, tsv, space, idx"));
    }
}
