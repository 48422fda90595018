//! What a table looks like: its delimiter, whether it has a header, and how its columns are found by name.
//!
//! All of it is found out from the beginning of the file. The first line is a header when a label column was asked for
//! by name, when one of its fields is text above numbers or dates, or when one is called label, target or class. A file
//! of one line is a header when all its fields are text. Test data has a header when the training data had one.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::csv::split;
use crate::csv_label::LABEL_NAMES;
use crate::error::{excerpt, list, nearest};
use crate::format::delimiter;
use crate::input::Source;
use crate::table::cell::{boolean, is_missing};
use crate::table::{Kind, NumberStyle, Reason, date};
use crate::{Error, Format, LabelColumn, LoadOptions, charset, number};

const SAMPLE_ROWS: usize = 1000;

/// The layout of a table.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) delimiter: u8,
    /// Fields in each line.
    pub(crate) columns: usize,
    /// The column of the label, from 0.
    pub(crate) label: Option<usize>,
    /// The column that names rows, if one was asked for.
    pub(crate) id: Option<usize>,
    /// The names of the columns, if the file gives them.
    pub(crate) header: Option<Vec<String>>,
    /// What columns are called: by the header, or by their place.
    pub(crate) names: Vec<String>,
    /// What each column is for.
    pub(crate) roles: Vec<Role>,
    /// The columns that become features, in their order.
    pub(crate) slots: Vec<Slot>,
    pub(crate) left_out: Vec<(usize, Reason)>,
    /// Columns of test data that the model does not know.
    pub(crate) ignored: Vec<String>,
    pub(crate) numbers: NumberStyle,
    /// Whether all features are plain numbers, as far as the beginning of the file shows.
    pub(crate) plain: bool,
    pub(crate) drop_unlabelled: bool,
    pub(crate) is_test_data: bool,
    /// Test data of a model that does not know its columns: all of them are plain numbers, and may lack none.
    pub(crate) only_numbers: bool,
    /// For each column of the encoding of the training data, the one here.
    pub(crate) sources: Option<Vec<Option<usize>>>,
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Feature,
    Label,
    Weight,
    LeftOut,
}

/// A column that becomes features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slot {
    pub(crate) column: usize,
    pub(crate) kind: Kind,
}

pub(crate) type Row<'a> = Vec<Cow<'a, [u8]>>;

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
        let delimiter = match (options.delimiter, format) {
            (Some(delimiter), _) => delimiter,
            (None, Format::Tsv) => b'\t',
            (None, Format::Space) => b' ',
            (None, _) => delimiter(first_line).unwrap_or(b','),
        };
        let sample = sample(head, delimiter);
        let mut layout = Layout::empty(delimiter, options);
        let Some(first) = sample.first() else { return Ok((layout, blank_lines)) };
        layout.columns = first.len();
        layout.header = has_header(source.file(), &sample, options)?.then(|| header_names(first));
        layout.names = layout.header.clone().unwrap_or_else(|| places(first.len()));
        let rows = &sample[usize::from(layout.header.is_some())..];
        layout.assign(source, rows, options)?;
        let header_bytes = match layout.header {
            Some(_) => head.len().min(first_line_length(head)),
            None => 0,
        };
        let header_lines = usize::from(layout.header.is_some());
        source.skip(header_bytes);
        Ok((layout, blank_lines + header_lines))
    }

    /// Of a file without lines.
    fn empty(delimiter: u8, options: &LoadOptions) -> Layout {
        Layout {
            delimiter,
            columns: 1,
            label: None,
            id: None,
            header: None,
            names: places(1),
            roles: vec![Role::LeftOut],
            slots: Vec::new(),
            left_out: Vec::new(),
            ignored: Vec::new(),
            numbers: options.numbers,
            plain: true,
            drop_unlabelled: options.drop_unlabelled,
            is_test_data: options.is_test_data(),
            only_numbers: options.is_test_data() && options.encoding.is_none(),
            sources: None,
        }
    }

    /// The column of exactly this name, else of this name in another case, else of this number.
    pub(crate) fn column(&self, file: &str, wanted: &str) -> Result<usize, Error> {
        let names = self.header.as_deref().unwrap_or_default();
        let exact = names.iter().position(|name| name == wanted);
        let number = || wanted.parse().ok().filter(|number| (1..=self.columns).contains(number));
        exact
            .or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
            .or_else(|| number().map(|number: usize| number - 1))
            .ok_or_else(|| self.no_such_column(file, wanted))
    }

    #[cold]
    fn no_such_column(&self, file: &str, wanted: &str) -> Error {
        let columns: Vec<String> = self.names.iter().map(|name| excerpt(name.as_bytes())).collect();
        let near = self.header.as_ref().and_then(|names| nearest(wanted, names.iter().map(String::as_str)));
        Error::NoSuchColumn {
            file: file.to_string(),
            wanted: wanted.to_owned(),
            near: near.map(str::to_owned),
            count: self.columns,
            columns: list(&columns, 20),
        }
    }

    /// Test data of a model that does not know the columns of its table.
    pub(crate) fn check_width(&self, file: &str, options: &LoadOptions) -> Result<(), Error> {
        match options.columns.filter(|_| options.encoding.is_none()) {
            Some(expected) if self.slots.len() < expected => {
                Err(Error::FewerColumns { file: file.to_string(), expected, found: self.slots.len() })
            }
            _ => Ok(()),
        }
    }
}

/// Names of a header, each once: `a`, `a (2)`. A column without a name is called by its place, but for the first.
pub(crate) fn header_names(first: &Row) -> Vec<String> {
    let mut seen = HashSet::new();
    let name = |(at, field): (usize, &Cow<[u8]>)| {
        let written = match text(field) {
            name if name.is_empty() && at > 0 => place(at),
            name => name,
        };
        let mut name = written.clone();
        let mut copy = 1;
        while !seen.insert(name.clone()) {
            copy += 1;
            name = format!("{written} ({copy})");
        }
        name
    };
    first.iter().enumerate().map(name).collect()
}

fn places(columns: usize) -> Vec<String> {
    (0..columns).map(place).collect()
}

fn place(column: usize) -> String {
    format!("column {}", column + 1)
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

/// Whether the first line holds names. Test data has to be like the training data.
fn has_header(file: &str, sample: &[Row], options: &LoadOptions) -> Result<bool, Error> {
    let found = is_header(sample, options);
    let Some(encoding) = &options.encoding else { return Ok(found) };
    let known = |field: &Cow<[u8]>| {
        let names = encoding.columns.iter().map(|column| &column.name);
        names.chain(encoding.label.as_ref().map(|label| &label.name)).any(|name| name.as_bytes() == &**field)
    };
    let start = || excerpt(&sample[0].join(&b", "[..]));
    match encoding.header {
        true if found || sample[0].iter().any(known) => Ok(true),
        true => Err(Error::NoHeader { file: file.to_owned(), start: start() }),
        false if found && sample.len() > 1 => Err(Error::Header { file: file.to_owned(), start: start() }),
        false => Ok(false),
    }
}

fn is_header(sample: &[Row], options: &LoadOptions) -> bool {
    let first = &sample[0];
    if matches!(options.label, LabelColumn::Name(_)) {
        return true;
    }
    let rows = &sample[1..];
    if rows.is_empty() {
        return first.iter().all(|field| is_text(field));
    }
    let above = |(column, field): (usize, &Cow<[u8]>)| {
        is_text(field) && !date::is_date(field) && is_typed(rows, column)
    };
    let named =
        first.iter().any(|field| LABEL_NAMES[..3].iter().any(|name| text(field).eq_ignore_ascii_case(name)));
    first.iter().enumerate().any(above) || named
}

/// Whether a column begins with numbers, dates, or yes and no.
fn is_typed(rows: &[Row], column: usize) -> bool {
    let cell = rows.iter().filter_map(|row| row.get(column)).find(|cell| !is_missing(cell));
    cell.is_some_and(|cell| is_number(cell) || date::is_date(cell))
}

pub(crate) fn is_number(field: &[u8]) -> bool {
    number::whole(field).is_some()
}

pub(crate) fn is_text(field: &[u8]) -> bool {
    !is_missing(field) && !is_number(field) && boolean(field).is_none()
}

fn text(field: &[u8]) -> String {
    charset::text(field).into_owned()
}
