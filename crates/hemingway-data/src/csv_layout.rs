//! What a table looks like: its delimiter, whether it has a header, and which column is the label.
//!
//! All of it is found out from the beginning of the file. The first line is a header when a label column was asked for
//! by name, when one of its fields is text above a number, or when one is called label, target or class. A file of one
//! line is a header when all its fields are text.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::csv::split;
use crate::error::{excerpt, list};
use crate::format::delimiter;
use crate::input::Source;
use crate::{Error, Format, LabelColumn, LoadOptions, encoding, number};

/// Headers that mean a label. Without a header line `y` is a label's value as often as its name.
const LABEL_NAMES: [&str; 4] = ["label", "target", "class", "y"];
/// Whole numbers with more values than this are rather a count or an identifier than a class.
const MOST_LABEL_VALUES: usize = 20;
const SAMPLE_ROWS: usize = 1000;

/// The layout of a table.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) delimiter: u8,
    /// Fields in each line.
    pub(crate) columns: usize,
    /// The column of the label, from 0.
    pub(crate) label: Option<usize>,
    /// The names of the columns.
    pub(crate) header: Option<Vec<String>>,
}

type Row<'a> = Vec<Cow<'a, [u8]>>;

impl Layout {
    /// Finds out the layout and takes the header off the source; also returns the lines taken off.
    pub(crate) fn find(
        source: &mut Source,
        format: Format,
        options: &LoadOptions,
    ) -> Result<(Layout, usize), Error> {
        let (blank_bytes, blank_lines) = leading_blank(source.head());
        source.skip(blank_bytes);
        let head = source.head();
        let first_line = lines(head).next().unwrap_or_default();
        let delimiter = match (source.delimiter().or(options.delimiter), format) {
            (Some(delimiter), _) => delimiter,
            (None, Format::Tsv) => b'\t',
            (None, Format::Space) => b' ',
            (None, _) => delimiter(first_line).unwrap_or(b','),
        };
        let sample = sample(head, delimiter);
        let Some(first) = sample.first() else {
            return Ok((Layout { delimiter, columns: 1, label: None, header: None }, blank_lines));
        };
        let header = (source.delimiter().is_some() || is_header(&sample, options))
            .then(|| first.iter().map(|name| text(name)).collect::<Vec<_>>());
        let rows = &sample[usize::from(header.is_some())..];
        let mut layout = Layout { delimiter, columns: first.len(), label: None, header };
        layout.label = layout.label_column(source.file(), rows, options)?;
        layout.check_width(source.file(), options)?;
        let header_bytes = match layout.header {
            Some(_) => head.len().min(first_line_length(head)),
            None => 0,
        };
        let header_lines = usize::from(layout.header.is_some());
        source.skip(header_bytes);
        Ok((layout, blank_lines + header_lines))
    }

    /// Number of columns that are not the label.
    pub(crate) fn features(&self) -> usize {
        self.columns - usize::from(self.label.is_some())
    }

    fn label_column(&self, file: &str, rows: &[Row], options: &LoadOptions) -> Result<Option<usize>, Error> {
        let last = self.columns - 1;
        match &options.label {
            LabelColumn::Absent => Ok(None),
            LabelColumn::Auto if options.columns == Some(self.columns) => Ok(None),
            LabelColumn::Auto => {
                Ok(Some(self.named_like_a_label().unwrap_or_else(|| likely_label(rows, last))))
            }
            LabelColumn::First => Ok(Some(0)),
            LabelColumn::Last => Ok(Some(last)),
            LabelColumn::Number(number) if (1..=self.columns).contains(number) => Ok(Some(number - 1)),
            LabelColumn::Number(number) => Err(self.no_such_column(file, number.to_string())),
            LabelColumn::Name(name) => match self.named(name) {
                Some(column) => Ok(Some(column)),
                None => Err(self.no_such_column(file, format!("“{name}”"))),
            },
        }
    }

    fn named_like_a_label(&self) -> Option<usize> {
        let names = self.header.as_ref()?;
        LABEL_NAMES.iter().find_map(|label| names.iter().position(|name| name.eq_ignore_ascii_case(label)))
    }

    /// The column of exactly this name, else of this name in another case.
    fn named(&self, wanted: &str) -> Option<usize> {
        let names = self.header.as_ref()?;
        let exact = names.iter().position(|name| name == wanted);
        exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
    }

    fn no_such_column(&self, file: &str, wanted: String) -> Error {
        let numbers = || (1..=self.columns).map(|number| number.to_string()).collect();
        let columns: Vec<String> = self.header.clone().unwrap_or_else(numbers);
        let columns: Vec<String> = columns.iter().map(|name| excerpt(name.as_bytes())).collect();
        Error::NoSuchColumn {
            file: file.to_string(),
            wanted,
            count: self.columns,
            columns: list(&columns, 20),
        }
    }

    fn check_width(&self, file: &str, options: &LoadOptions) -> Result<(), Error> {
        match options.columns {
            Some(expected) if self.features() < expected => {
                Err(Error::FewerColumns { file: file.to_string(), expected, found: self.features() })
            }
            _ => Ok(()),
        }
    }
}

/// Bytes and lines before the first line that is not blank.
pub(crate) fn leading_blank(head: &[u8]) -> (usize, usize) {
    let (mut bytes, mut lines) = (0, 0);
    while let Some(end) = memchr::memchr(b'\n', &head[bytes..]) {
        if !head[bytes..bytes + end].trim_ascii().is_empty() {
            break;
        }
        bytes += end + 1;
        lines += 1;
    }
    (bytes, lines)
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end)
}

fn first_line_length(head: &[u8]) -> usize {
    memchr::memchr(b'\n', head).map_or(head.len(), |end| end + 1)
}

/// The fields of the first lines, up to one that cannot be split: the parser will report that.
fn sample(head: &[u8], delimiter: u8) -> Vec<Row<'_>> {
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    let rows = lines(whole).filter(|line| !line.trim_ascii().is_empty()).take(SAMPLE_ROWS);
    rows.map_while(|line| split(line, delimiter).ok()).collect()
}

fn is_header(sample: &[Row], options: &LoadOptions) -> bool {
    let first = &sample[0];
    if matches!(options.label, LabelColumn::Name(_)) {
        return true;
    }
    let Some(second) = sample.get(1) else { return first.iter().all(|field| is_text(field)) };
    let text_above_number = first.iter().zip(second).any(|(above, below)| is_text(above) && is_number(below));
    let named =
        first.iter().any(|field| LABEL_NAMES[..3].iter().any(|name| text(field).eq_ignore_ascii_case(name)));
    text_above_number || named
}

/// The only one of the first and the last column that looks like a label, else the first.
fn likely_label(rows: &[Row], last: usize) -> usize {
    match !looks_like_label(rows, 0) && looks_like_label(rows, last) {
        true => last,
        false => 0,
    }
}

fn looks_like_label(rows: &[Row], column: usize) -> bool {
    let fields = || rows.iter().filter_map(|row| row.get(column));
    let distinct: HashSet<&[u8]> = fields().map(|field| field.as_ref()).take(SAMPLE_ROWS).collect();
    let whole_numbers =
        || fields().all(|field| number::whole_double(field).is_some_and(|value| value.fract() == 0.0));
    fields().any(|field| is_text(field))
        || ((2..=MOST_LABEL_VALUES).contains(&distinct.len()) && whole_numbers())
}

fn is_number(field: &[u8]) -> bool {
    number::whole(field).is_some()
}

fn is_text(field: &[u8]) -> bool {
    !field.is_empty() && !is_number(field)
}

fn text(field: &[u8]) -> String {
    encoding::text(field).into_owned()
}
