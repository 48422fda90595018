//! The header of a table, found again at the beginning of its other files.

use crate::csv::split;
use crate::csv_layout::{header_names, leading_blank};
use crate::error::excerpt;
use crate::{Error, number};

/// The names of the columns in the first file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub(crate) names: Vec<String>,
    pub(crate) delimiter: u8,
}

impl Header {
    /// How many bytes the same header takes at the beginning of `head`; none if a row stands there.
    ///
    /// A line that shares most of its fields with the header, but not in this order, is a header of other columns.
    pub(crate) fn length(&self, file: &str, head: &[u8]) -> Result<usize, Error> {
        let (blank, _) = leading_blank(head);
        let line_end = memchr::memchr(b'\n', &head[blank..]).map_or(head.len(), |end| blank + end + 1);
        let Ok(fields) = split(head[blank..line_end].trim_ascii_end(), self.delimiter) else { return Ok(0) };
        let fields = header_names(&fields);
        if fields == self.names {
            return Ok(line_end);
        }
        let shared = fields.iter().filter(|field| self.names.contains(field)).count();
        match 2 * shared > fields.len().min(self.names.len()) {
            true => Err(self.other(file, &fields)),
            false => Ok(0),
        }
    }

    fn other(&self, file: &str, fields: &[String]) -> Error {
        let differs = |column: &usize| fields.get(*column) != self.names.get(*column);
        let column = (0..fields.len().max(self.names.len())).find(differs).unwrap_or(0);
        let name = |names: &[String]| match names.get(column) {
            Some(name) => format!("“{}”", excerpt(name.as_bytes())),
            None => "missing".to_string(),
        };
        Error::OtherHeader {
            file: file.to_string(),
            column: column + 1,
            found: name(fields),
            expected: name(&self.names),
        }
    }
}

/// Whether the first of two files holds nothing but the header with which the second one begins.
pub(crate) fn is_header_only(first: &[u8], second: &[u8]) -> bool {
    let (line, rest) = first_line(first);
    let is_number = |field: &[u8]| number::whole(field.trim_ascii()).is_some();
    let mut fields = line.split(|byte| b",;|\t ".contains(byte));
    let is_row = line.contains(&b':') || fields.any(is_number);
    !line.is_empty() && rest.trim_ascii().is_empty() && !is_row && first_line(second).0 == line
}

fn first_line(head: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', head).unwrap_or(head.len());
    (head[..end].trim_ascii_end(), &head[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(head: &str) -> Result<usize, String> {
        let names = ["a", "b", "label"].map(str::to_string).to_vec();
        let header = Header { names, delimiter: b',' };
        header.length("part", head.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_same_header_is_taken_off() {
        assert_eq!(length("a,b,label\n1,2,yes\n"), Ok(10));
        assert_eq!(length("\n\"a\", b,label\r\n1,2,yes\n"), Ok(15));
        assert_eq!(length("a,b,label"), Ok(9));
        assert_eq!(length("1,2,yes\n"), Ok(0));
        assert_eq!(length("a,2,yes\n"), Ok(0));
        assert_eq!(length(""), Ok(0));
    }

    #[test]
    fn another_header_is_refused() {
        let check = |head: &str, parts: &[&str]| {
            let message = length(head).unwrap_err();
            parts.iter().for_each(|part| assert!(message.contains(part), "{part}\nnot in\n{message}"));
        };
        check("b,a,label\n1,2,3\n", &["part: column 1 is “b”", "“a” in the first file"]);
        check("a,b,c,label\n", &["column 3 is “c”", "“label” in the first file"]);
        check("a,b\n", &["column 3 is missing", "“label” in the first file"]);
    }

    #[test]
    fn files_without_rows() {
        assert!(is_header_only(b"a,b\n", b"a,b\n1,2\n"));
        assert!(is_header_only(b"a,b", b"a,b\r\n1,2\n"));
        assert!(is_header_only(b"a,b", b"a,b"));
        assert!(!is_header_only(b"a,b\n1,2\n", b"a,b\n1,2\n"));
        assert!(!is_header_only(b"1,2\n", b"1,2\n3,4\n"));
        assert!(!is_header_only(b"a 1:2\n", b"a 1:2\n"));
        assert!(!is_header_only(b"", b"a,b\n"));
    }
}
