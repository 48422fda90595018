//! CSV and TSV: one row per line, the same fields in each.
//!
//! Fields may be quoted (`""` stands for a quote) and spaces around them are passed over, but a field may not go over
//! several lines: that lets blocks of lines be parsed in parallel. Delimiter, header and what the columns are is found
//! out in `csv_layout`. This parser is for tables whose features are all plain numbers; others are read by `table`.

use std::borrow::Cow;

use crate::chunk::Chunk;
use crate::csv_layout::{Layout, Role};
use crate::error::excerpt;
use crate::pipeline::{BlockParser, Fault};
use crate::table::cell::is_missing;
use crate::text::{LineParser, for_each_line, whole_lines};
use crate::{Error, LineProblem, number};

/// A delimiter that may occur several times between two fields, as may tabs.
const SPACES: u8 = b' ';

impl Layout {
    fn line(&self, line: &[u8], number: usize, chunk: &mut Chunk) -> Result<(), LineProblem> {
        if !self.is_row(line) {
            chunk.unlabelled += usize::from(!line.trim_ascii().is_empty());
            return Ok(());
        }
        let line = trimmed(line, self.delimiter);
        // Fewer or more fields than expected explain any other mistake in the line.
        self.fields(line, number, chunk).map_err(|problem| self.ragged(line).unwrap_or(problem))?;
        chunk.end_row();
        Ok(())
    }

    fn fields(&self, line: &[u8], number: usize, chunk: &mut Chunk) -> Result<(), LineProblem> {
        let mut feature = 0;
        let mut rest = Some(line);
        for (column, role) in self.roles.iter().enumerate() {
            let bytes = rest.ok_or_else(|| self.ragged_line(line))?;
            rest = match role {
                Role::Feature => {
                    let (value, next) = self.value(bytes, column)?;
                    chunk.push(feature, value);
                    feature += 1;
                    next
                }
                Role::Label => {
                    let (text, next) = field(bytes, self.delimiter)?;
                    chunk.labels.push(&text, number)?;
                    next
                }
                Role::LeftOut | Role::Weight => field(bytes, self.delimiter)?.1,
            };
        }
        match rest {
            None => Ok(()),
            Some(_) => Err(self.ragged_line(line)),
        }
    }

    /// The number at the front, and what follows its delimiter.
    #[inline]
    fn value<'a>(&self, bytes: &'a [u8], column: usize) -> Result<(f32, Option<&'a [u8]>), LineProblem> {
        if let Some((value, length)) = number::prefix(bytes).filter(|(value, _)| value.is_finite()) {
            match bytes.get(length) {
                None => return Ok((value, None)),
                Some(byte) if *byte == self.delimiter => return Ok((value, Some(&bytes[length + 1..]))),
                _ => {}
            }
        }
        let (text, next) = field(bytes, self.delimiter)?;
        match number::whole(&text) {
            _ if is_missing(&text) => Err(LineProblem::MissingNumber { place: self.place(column) }),
            Some(value) if value.is_finite() => Ok((value, next)),
            Some(_) => Err(LineProblem::NotFinite { place: self.place(column), text: excerpt(&text) }),
            None => Err(LineProblem::NotANumber {
                place: self.place(column),
                text: excerpt(&text),
                hint: self.kind_hint(),
            }),
        }
    }

    /// What to do about a cell that is not what its column holds.
    pub(crate) fn kind_hint(&self) -> &'static str {
        match self.is_test_data {
            true => "the model has learnt that this column holds no such text: mend the cell",
            false => "mend the cell, or pass --text COLUMN to read the whole column as text",
        }
    }

    pub(crate) fn place(&self, column: usize) -> String {
        match self.header.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("column {} ({})", column + 1, excerpt(name.as_bytes())),
            None => format!("column {}", column + 1),
        }
    }

    #[cold]
    pub(crate) fn ragged(&self, line: &[u8]) -> Option<LineProblem> {
        let found = split(line, self.delimiter).ok()?.len();
        (found != self.columns).then(|| self.ragged_line(line))
    }

    #[cold]
    pub(crate) fn ragged_line(&self, line: &[u8]) -> LineProblem {
        let found = split(line, self.delimiter).map_or(0, |fields| fields.len());
        let delimiter = match self.delimiter {
            b'\t' => "tab".to_string(),
            SPACES => "space".to_string(),
            delimiter => char::from(delimiter).to_string(),
        };
        LineProblem::Ragged { expected: self.columns, found, delimiter }
    }
}

impl BlockParser for Layout {
    fn whole_records(&self, buffer: &[u8]) -> usize {
        whole_lines(buffer)
    }

    fn most_values(&self, bytes: usize) -> usize {
        bytes / 2 + 1 // a digit and a delimiter
    }

    fn parse(&self, block: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        chunk.widen(self.slots.len());
        for_each_line(block, chunk, |line, number, chunk| self.line(line, number, chunk))
    }
}

impl LineParser for Layout {
    #[inline]
    fn is_row(&self, line: &[u8]) -> bool {
        !line.trim_ascii().is_empty() && !(self.drop_unlabelled && self.lacks_label(line))
    }
}

impl Layout {
    fn lacks_label(&self, line: &[u8]) -> bool {
        let Some(label) = self.label else { return false };
        let mut rest = trimmed(line, self.delimiter);
        for _ in 0..label {
            match field(rest, self.delimiter) {
                Ok((_, Some(next))) => rest = next,
                _ => return false, // the line is ragged, which its parser says
            }
        }
        field(rest, self.delimiter).is_ok_and(|(text, _)| is_missing(&text))
    }
}

/// Whether a table of plain numbers turned out to lack one.
pub(crate) fn lacks_number(error: &Error) -> bool {
    matches!(error, Error::Line { problem: LineProblem::MissingNumber { .. }, .. })
}

/// All fields of a line.
pub(crate) fn split(line: &[u8], delimiter: u8) -> Result<Vec<Cow<'_, [u8]>>, LineProblem> {
    let mut fields = Vec::new();
    let mut rest = Some(trimmed(line, delimiter));
    while let Some(bytes) = rest {
        let (text, next) = field(bytes, delimiter)?;
        fields.push(text);
        rest = next;
    }
    Ok(fields)
}

/// A field's text, and what follows its delimiter; nothing follows the last field.
type Field<'a> = (Cow<'a, [u8]>, Option<&'a [u8]>);

/// The field at the front.
pub(crate) fn field(bytes: &[u8], delimiter: u8) -> Result<Field<'_>, LineProblem> {
    let bytes = if delimiter == SPACES { bytes.trim_ascii_start() } else { bytes };
    let spaces = bytes.iter().take_while(|byte| **byte == b' ').count();
    if bytes.get(spaces) == Some(&b'"') {
        return quoted(&bytes[spaces..], delimiter);
    }
    let (text, next) = until(bytes, delimiter);
    Ok((Cow::Borrowed(text.trim_ascii()), next))
}

/// A field that starts with a quote. Text between the closing quote and the delimiter belongs to the field.
fn quoted(bytes: &[u8], delimiter: u8) -> Result<Field<'_>, LineProblem> {
    let mut text = Vec::new();
    let mut start = 1;
    loop {
        let length = memchr::memchr(b'"', &bytes[start..])
            .ok_or_else(|| LineProblem::OpenQuote { text: excerpt(bytes) })?;
        let end = start + length;
        text.extend_from_slice(&bytes[start..end]);
        if bytes.get(end + 1) != Some(&b'"') {
            let (after, next) = until(&bytes[end + 1..], delimiter);
            text.extend_from_slice(after.trim_ascii_end());
            return Ok((Cow::Owned(text.trim_ascii().to_vec()), next));
        }
        text.push(b'"');
        start = end + 2;
    }
}

/// Without the spaces around it where spaces are no fields.
pub(crate) fn trimmed(line: &[u8], delimiter: u8) -> &[u8] {
    if delimiter == SPACES { line.trim_ascii() } else { line }
}

fn until(bytes: &[u8], delimiter: u8) -> (&[u8], Option<&[u8]>) {
    let end = match delimiter {
        SPACES => memchr::memchr2(b' ', b'\t', bytes),
        _ => memchr::memchr(delimiter, bytes),
    };
    match end {
        Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
        None => (bytes, None),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, Dense, Format, LabelColumn, Labels, LoadOptions, Matrix, parse_bytes};

    fn read(text: &str, options: &LoadOptions) -> Result<Dataset, String> {
        parse_bytes(Format::Csv, text.as_bytes(), options)
            .map(|loaded| loaded.dataset)
            .map_err(|error| error.to_string())
    }

    fn with_label(label: LabelColumn) -> LoadOptions {
        LoadOptions { label, ..LoadOptions::default() }
    }

    /// All examples hold the same two rows, (0.5, 2) with target +1 and (3, 4) with target -1.
    fn check(text: &str, label: LabelColumn) {
        let dataset = read(text, &with_label(label)).unwrap();
        assert_eq!(dataset.matrix, Matrix::Dense(Dense::new(2, 2, vec![0.5, 2.0, 3.0, 4.0])), "{text}");
        assert_eq!(dataset.targets, [1.0, -1.0], "{text}");
    }

    fn check_error(text: &str, parts: &[&str]) {
        let message = read(text, &with_label(LabelColumn::First)).unwrap_err();
        parts.iter().for_each(|part| assert!(message.contains(part), "{part}\nnot in\n{message}"));
    }

    #[test]
    fn delimiters() {
        check("1,0.5,2\n0,3,4\n", LabelColumn::First);
        check("1;0.5;2\n0;3;4\n", LabelColumn::First);
        check("1\t0.5\t2\n0\t3\t4\n", LabelColumn::First);
        check("1|0.5|2\n0|3|4\n", LabelColumn::First);
    }

    #[test]
    fn spaces_between_fields() {
        let options =
            LoadOptions { label: LabelColumn::Name("of interest".to_string()), ..LoadOptions::default() };
        let expected = Matrix::Dense(Dense::new(2, 2, vec![0.5, 2.0, 3.0, 4.0]));
        for text in [
            "a \"of interest\" b\n0.5 1 2\n3 0 4\n",
            "  a  \"of interest\"\t b  \r\n  0.5\t1   2 \r\n\r\n\t3  \"0\" 4",
        ] {
            let dataset = parse_bytes(Format::Space, text.as_bytes(), &options).unwrap().dataset;
            assert_eq!((&dataset.matrix, &dataset.targets[..]), (&expected, &[1.0, -1.0][..]), "{text}");
        }
        let ragged =
            parse_bytes(Format::Space, b"1 2 3\n1  2\n", &LoadOptions::default()).unwrap_err().to_string();
        assert!(
            ragged.contains("bytes:2: 3 fields expected, 2 found") && ragged.contains("“space”"),
            "{ragged}"
        );
    }

    #[test]
    fn a_delimiter_that_was_named() {
        let options = LoadOptions { delimiter: Some(b':'), ..with_label(LabelColumn::First) };
        let dataset = read("1:0.5:2\n0:3:4\n", &options).unwrap();
        assert_eq!(dataset.matrix, Matrix::Dense(Dense::new(2, 2, vec![0.5, 2.0, 3.0, 4.0])));
    }

    #[test]
    fn quotes_spaces_and_line_ends() {
        check("\"1\", 0.5 ,2\r\n\r\n0,\"3\",4", LabelColumn::First);
        check("\u{feff}1,0.5,2\n0,3,4\n", LabelColumn::First);
        let dataset = read("\"a, \"\"b\"\"\",1,2\nc,3,4\n", &with_label(LabelColumn::First)).unwrap();
        assert_eq!(
            dataset.labels,
            Labels::Classes { negative: "a, \"b\"".to_string(), positive: "c".to_string() }
        );
    }

    #[test]
    fn headers_and_label_columns() {
        check("label,a,b\n1,0.5,2\n0,3,4\n", LabelColumn::Auto);
        check("a,b,Target\n0.5,2,1\n3,4,0\n", LabelColumn::Auto);
        check("a,Y,b\n0.5,1,2\n3,0,4\n", LabelColumn::Auto);
        check("a,kind,b\n0.5,yes,2\n3,no,4\n", LabelColumn::Name("kind".to_string()));
        check("a,kind,b\n0.5,yes,2\n3,no,4\n", LabelColumn::Number(2));
        check("0.5,2,1\n3,4,0\n", LabelColumn::Last);
        check("\"label\",0,1\nyes,0.5,2\nno,3,4\n", LabelColumn::Auto);
    }

    #[test]
    fn label_columns_found_without_a_header() {
        check("0.5,2,yes\n3,4,no\n", LabelColumn::Auto);
        let dataset = read("0.5,0.2,1\n0.3,0.4,0\n", &LoadOptions::default()).unwrap();
        assert_eq!(dataset.targets, [1.0, -1.0]); // only the last does
    }

    #[test]
    fn labels_are_not_guessed_where_that_is_not_safe() {
        for text in [
            "yes,0.5,2.5\nno,3,4\n",
            "1,0.5,1\n0,3,0\n",
            "is_male,age,survived\n1,30,0\n0,4,1\n",
            "class,y\n1,1\n0,0\n",
        ] {
            let message = read(text, &LoadOptions::default()).unwrap_err();
            assert!(message.contains("not clear which column is the label"), "{message}");
        }
        let message = read("is_male,age,survived\n1,30,0\n0,4,1\n", &LoadOptions::default()).unwrap_err();
        assert!(message.contains("is_male (2 values), age (2 values), survived (2 values)"), "{message}");
        assert!(message.contains("--label survived"), "{message}");
    }

    #[test]
    fn missing_labels_are_mistakes_or_left_out() {
        let text = "label,a\n1,5\n,6\nNA,7\n0,8\n";
        let message = read(text, &LoadOptions::default()).unwrap_err();
        assert!(message.contains("bytes:3: the label is missing (“”)"), "{message}");
        let options = LoadOptions { drop_unlabelled: true, ..LoadOptions::default() };
        for (text, features) in [(text, vec![5.0, 8.0]), ("label,a\n1,5\n,6\nNA,7\n0,\n", vec![5.0, 5.0])] {
            let loaded = parse_bytes(Format::Csv, text.as_bytes(), &options).unwrap();
            assert_eq!((loaded.dataset.targets.as_slice(), loaded.unlabelled_rows), (&[1.0, -1.0][..], 2));
            assert_eq!(loaded.dataset.matrix, Matrix::Dense(Dense::new(2, 1, features)));
        }
    }

    #[test]
    fn no_labels() {
        let dataset = read("a,b\n0.5,2\n3,4\n", &with_label(LabelColumn::Absent)).unwrap();
        assert_eq!((dataset.matrix.columns(), dataset.targets.len()), (2, 0));
    }

    #[test]
    fn test_data_follows_training() {
        let labels = Labels::Classes { negative: "0".to_string(), positive: "1".to_string() };
        let options = LoadOptions { columns: Some(2), labels: Some(labels), ..LoadOptions::default() };
        let loaded = parse_bytes(Format::Csv, b"1,5,6,7\n", &options).unwrap();
        assert_eq!((loaded.dataset.matrix.columns(), loaded.dropped_values), (2, 1));
        let unlabelled = parse_bytes(Format::Csv, b"5,6\n", &options).unwrap().dataset;
        assert_eq!((unlabelled.matrix.columns(), unlabelled.targets.len()), (2, 0));
        let options = LoadOptions { columns: Some(4), ..options };
        let message = parse_bytes(Format::Csv, b"1,5,6\n", &options).unwrap_err().to_string();
        assert!(message.contains("2 feature columns, but the training data has 4"), "{message}");
    }

    #[test]
    fn mistakes_are_explained() {
        let numbers = "1,2,3\n0,2,3\n".repeat(1000);
        check_error(
            &format!("{numbers}0,x,3\n"),
            &["bytes:2001: column 2 is “x”, which is not a number", "hint: mend the cell, or pass --text"],
        );
        check_error(&format!("label,a,b\n{numbers}\n0,2,inf\n"), &["bytes:2003: column 3 (b) is “inf”"]);
        check_error("1,2,3\n0,1e40,3\n", &["“1e40”"]);
        check_error("1,2,3\n0,3\n", &["bytes:2: 3 fields expected, 2 found"]);
        check_error("1,2,3\n0,3,4,x\n", &["bytes:2: 3 fields expected, 4 found"]);
        check_error("1,2,3\n0,\"3,4\n", &["bytes:2: the quoted field “\"3,4” does not end"]);
        check_error("", &["no rows"]);
        check_error("label,a,b\n", &["no rows"]);
        check_error("1\n0\n", &["2 rows but no features"]);
        check_error("a,1\na,2\n", &["all 2 rows have the label “a”"]);
    }

    #[test]
    fn missing_label_columns_list_what_there_is() {
        let message = read("a,b\n1,2\n", &with_label(LabelColumn::Name("kind".to_string()))).unwrap_err();
        assert!(
            message.contains("no column kind") && message.contains("the 2 columns are a, b"),
            "{message}"
        );
        let message = read("1,2\n0,2\n", &with_label(LabelColumn::Number(7))).unwrap_err();
        assert!(message.contains("no column 7") && message.contains("2 columns"), "{message}");
    }
}
