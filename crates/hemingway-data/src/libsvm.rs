//! LIBSVM and SVMlight: `LABEL INDEX:VALUE INDEX:VALUE … # comment`.
//!
//! Indices increase within a line and start at 1 unless the options say 0. `qid:…` (ranking) is passed over, blank
//! lines and comments too. The largest index is the number of features.

use crate::chunk::Chunk;
use crate::error::excerpt;
use crate::input::Source;
use crate::pipeline::{BlockParser, Fault};
use crate::text::{LineParser, for_each_line, whole_lines};
use crate::{Error, Format, LabelColumn, LineProblem, LoadOptions, number};

/// Indices counted from 0 stay below this, so that they and their number fit in 32 bits.
const MOST_FEATURES: u64 = u32::MAX as u64;

/// The shortest pair is ` 1:1`.
const SHORTEST_PAIR: usize = 4;

/// How the lines are to be read.
#[derive(Debug)]
pub(crate) struct Libsvm {
    first_index: u64,
    labels: LabelUse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelUse {
    Wanted,
    Ignored,
}

impl Libsvm {
    /// Settles the options; unlabelled test data is seen from its first line.
    pub(crate) fn new(source: &Source, options: &LoadOptions) -> Result<Libsvm, Error> {
        let labels = match options.label {
            LabelColumn::Absent => LabelUse::Ignored,
            LabelColumn::Auto if options.is_test_data() && starts_with_pair(source.head()) => {
                LabelUse::Ignored
            }
            LabelColumn::Auto | LabelColumn::First | LabelColumn::Number(1) => LabelUse::Wanted,
            _ => {
                let (file, format) = (source.file().to_string(), Format::Libsvm.to_string());
                return Err(Error::FixedLabel { file, format, place: "each line starts with its label" });
            }
        };
        Ok(Libsvm { first_index: u64::from(!options.zero_based), labels })
    }

    /// Whether rows will have labels.
    pub(crate) fn has_labels(&self) -> bool {
        self.labels == LabelUse::Wanted
    }

    fn line(&self, line: &[u8], number: usize, chunk: &mut Chunk) -> Result<(), LineProblem> {
        if !self.is_row(line) {
            return Ok(());
        }
        let mut rest = skip_spaces(line);
        let label = token(rest);
        if !label.contains(&b':') {
            chunk.labels.push(label, number)?;
            rest = skip_spaces(&rest[label.len()..]);
        } else if self.has_labels() {
            return Err(LineProblem::NoLabel { text: excerpt(label) });
        }
        self.pairs(rest, chunk)?;
        chunk.end_row();
        Ok(())
    }

    fn pairs(&self, mut rest: &[u8], chunk: &mut Chunk) -> Result<(), LineProblem> {
        let mut lowest = self.first_index;
        while !is_end(rest) {
            let Some((index, colon)) = index(rest) else {
                if rest.starts_with(b"qid:") {
                    rest = skip_spaces(&rest[token(rest).len()..]);
                    continue;
                }
                return Err(self.explain(token(rest), lowest));
            };
            let found = number::prefix(&rest[colon + 1..]).filter(|(value, length)| {
                index >= lowest
                    && index - self.first_index < MOST_FEATURES
                    && value.is_finite()
                    && ends_at(rest, colon + 1 + length)
            });
            let Some((value, length)) = found else { return Err(self.explain(token(rest), lowest)) };
            chunk.push((index - self.first_index) as u32, value);
            lowest = index + 1;
            rest = skip_spaces(&rest[colon + 1 + length..]);
        }
        chunk.widen((lowest - self.first_index) as usize);
        Ok(())
    }

    /// What is wrong with a pair that was refused. `lowest` is the smallest index allowed.
    #[cold]
    fn explain(&self, pair: &[u8], lowest: u64) -> LineProblem {
        let text = excerpt(pair);
        let Some(colon) = memchr::memchr(b':', pair) else { return LineProblem::NotAPair { text } };
        let (index, value) = (&pair[..colon], &pair[colon + 1..]);
        if index.is_empty() || !index.iter().all(u8::is_ascii_digit) {
            return LineProblem::BadIndex { index: excerpt(index), text };
        }
        let number = excerpt(index).parse::<u64>().unwrap_or(u64::MAX);
        let largest = MOST_FEATURES - 1 + self.first_index;
        match number {
            _ if number > largest => LineProblem::IndexTooLarge { index: excerpt(index), limit: largest },
            _ if number < self.first_index => LineProblem::IndexZero { text },
            _ if number + 1 == lowest => LineProblem::DuplicateIndex { index: number },
            _ if number < lowest => LineProblem::DecreasingIndex { index: number, previous: lowest - 1 },
            _ => bad_value(value, number),
        }
    }
}

impl BlockParser for Libsvm {
    fn whole_records(&self, buffer: &[u8]) -> usize {
        whole_lines(buffer)
    }

    fn most_values(&self, bytes: usize) -> usize {
        bytes / SHORTEST_PAIR + 1
    }

    fn parse(&self, block: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        for_each_line(block, chunk, |line, number, chunk| self.line(line, number, chunk))
    }
}

impl LineParser for Libsvm {
    #[inline]
    fn is_row(&self, line: &[u8]) -> bool {
        !is_end(skip_spaces(line))
    }
}

fn bad_value(value: &[u8], index: u64) -> LineProblem {
    let (place, text) = (format!("the value of index {index}"), excerpt(value));
    match number::whole(value) {
        Some(_) => LineProblem::NotFinite { place, text },
        None => {
            LineProblem::NotANumber { place, text, hint: "values are decimal numbers such as 0.5 or 1e-3" }
        }
    }
}

/// The whole number before the colon the bytes start with, and where the colon is.
#[inline]
fn index(bytes: &[u8]) -> Option<(u64, usize)> {
    const MOST_DIGITS: usize = 19;
    let mut index = 0u64;
    for (position, byte) in bytes.iter().enumerate().take(MOST_DIGITS + 1) {
        match byte {
            b'0'..=b'9' if position < MOST_DIGITS => index = index * 10 + u64::from(byte - b'0'),
            b':' if position > 0 => return Some((index, position)),
            _ => return None,
        }
    }
    None
}

fn starts_with_pair(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n').map(|line| skip_spaces(line.trim_ascii_end()));
    lines.into_iter().find(|line| !is_end(line)).is_some_and(|line| token(line).contains(&b':'))
}

#[inline]
fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}

#[inline]
fn skip_spaces(bytes: &[u8]) -> &[u8] {
    let spaces = bytes.iter().take_while(|byte| is_space(**byte)).count();
    &bytes[spaces..]
}

/// At the end of the line or a comment.
#[inline]
fn is_end(bytes: &[u8]) -> bool {
    matches!(bytes.first(), None | Some(b'#'))
}

#[inline]
fn ends_at(bytes: &[u8], position: usize) -> bool {
    bytes.get(position).is_none_or(|byte| is_space(*byte) || *byte == b'#')
}

fn token(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().take_while(|byte| !is_space(**byte) && **byte != b'#').count();
    &bytes[..length]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Dense, Labels, Matrix, Sparse, parse_bytes};

    fn read(text: &str, options: &LoadOptions) -> Result<Dataset, String> {
        parse_bytes(Format::Libsvm, text.as_bytes(), options)
            .map(|loaded| loaded.dataset)
            .map_err(|error| error.to_string())
    }

    fn check(text: &str, expect: Matrix, targets: &[f32]) {
        let dataset = read(text, &LoadOptions::default()).unwrap();
        assert_eq!((dataset.matrix, dataset.targets.as_slice()), (expect, targets), "{text}");
    }

    fn check_error(text: &str, parts: &[&str]) {
        let message = read(text, &LoadOptions::default()).unwrap_err();
        parts.iter().for_each(|part| assert!(message.contains(part), "{part}\nnot in\n{message}"));
    }

    fn two_rows() -> Matrix {
        Matrix::Sparse(Sparse::new(7, vec![0, 2, 3], vec![0, 6, 1], vec![0.5, 2.0, -3.0]))
    }

    #[test]
    fn ordinary_lines() {
        check("+1 1:0.5 7:2\n-1 2:-3\n", two_rows(), &[1.0, -1.0]);
        check("+1 1:0.5 7:2\n-1 2:-3", two_rows(), &[1.0, -1.0]);
    }

    #[test]
    fn comments_blank_lines_queries_and_other_line_ends() {
        check("# by hand\r\n\r\n+1 qid:4 1:0.5 7:2 # first\r\n-1\t2:-3#last\r\n", two_rows(), &[1.0, -1.0]);
        check("  +1   1:5e-1  7:+2.  \n\n-1 2:-3 4:0 \n#\n", two_rows(), &[1.0, -1.0]);
    }

    #[test]
    fn full_rows_are_dense_and_empty_rows_are_rows() {
        check(
            "1 1:1 2:2\n0 1:3 2:4\n1\n",
            Matrix::Dense(Dense::new(3, 2, vec![1.0, 2.0, 3.0, 4.0, 0.0, 0.0])),
            &[1.0, -1.0, 1.0],
        );
    }

    #[test]
    fn explicit_zeros_count_as_features_but_not_as_values() {
        let dataset = read("1 1:1 9:0\n0 1:2\n", &LoadOptions::default()).unwrap();
        assert_eq!((dataset.matrix.columns(), dataset.matrix.nonzeros()), (9, 2));
    }

    #[test]
    fn zero_based_on_request() {
        let options = LoadOptions { zero_based: true, ..LoadOptions::default() };
        assert_eq!(read("+1 0:0.5 6:2\n-1 1:-3\n", &options).unwrap().matrix, two_rows());
    }

    #[test]
    fn test_data_takes_its_width_from_training() {
        let labels = Labels::Classes { negative: "-1".to_string(), positive: "+1".to_string() };
        let options =
            LoadOptions { columns: Some(5), labels: Some(labels.clone()), ..LoadOptions::default() };
        let loaded = parse_bytes(Format::Libsvm, b"1 1:1 6:2 7:3\n", &options).unwrap();
        assert_eq!((loaded.dataset.matrix.columns(), loaded.dropped_values), (5, 2));
        assert_eq!((loaded.dataset.targets, loaded.dataset.labels), (vec![1.0], labels.clone()));
        let unlabelled = parse_bytes(Format::Libsvm, b"1:1 3:2\n2:1\n", &options).unwrap();
        assert_eq!((unlabelled.dataset.matrix.rows(), unlabelled.dataset.targets), (2, vec![]));
        assert_eq!(unlabelled.dataset.labels, labels);
    }

    #[test]
    fn labels_can_be_ignored() {
        let options = LoadOptions { label: LabelColumn::Absent, ..LoadOptions::default() };
        let dataset = read("x 1:1\n2:1\n", &options).unwrap();
        assert_eq!((dataset.matrix.rows(), dataset.targets.len()), (2, 0));
        let last = LoadOptions { label: LabelColumn::Last, ..LoadOptions::default() };
        assert!(read("1 1:1\n", &last).unwrap_err().contains("each line starts with its label"));
    }

    #[test]
    fn mistakes_are_explained() {
        check_error("1 1:1\n-1 1:x\n", &["bytes:2: the value of index 1 is “x”", "not a number", "hint:"]);
        check_error("1 1:1\n-1 0:1\n", &["bytes:2: index 0 in “0:1”", "--zero-based"]);
        check_error("1 3:1 2:1\n", &["bytes:1: index 2 follows index 3", "sort"]);
        check_error("1 3:1 3:1\n", &["index 3 occurs twice"]);
        check_error("1 4294967296:1\n", &["bytes:1: index 4294967296 is too large; at most 4294967295"]);
        check_error("1 99999999999999999999999:1\n", &["index 99999999999999999999999 is too large"]);
        check_error("1 1:nan\n", &["the value of index 1 is “nan”", "not a finite"]);
        check_error("1 1:-inf\n", &["“-inf”"]);
        check_error("1 1:1e39\n", &["“1e39”", "not a finite 32-bit number"]);
        check_error("1 a:1\n", &["“a” in “a:1” is not an index"]);
        check_error("1 -1:1\n", &["“-1” in “-1:1” is not an index"]);
        check_error("1 1:1 word\n", &["“word” is not an index:value pair"]);
        check_error("1 1:\n", &["the value of index 1 is “”"]);
        check_error("1 1:1:1\n", &["the value of index 1 is “1:1”"]);
        check_error("\n# x\n1:1\n", &["bytes:3: the line starts with the pair “1:1”", "--label none"]);
        check_error("", &["bytes: no rows"]);
        check_error("\n# only this\n", &["no rows"]);
        check_error("1\n-1\n", &["2 rows but no features"]);
    }
}
