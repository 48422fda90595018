//! What a table looks like: its delimiter, whether it has a header, and what each column is for.
//!
//! All of it is found out from the beginning of the file. The first line is a header when a label column was asked for
//! by name, when one of its fields is text above numbers or dates, or when one is called label, target or class. A file
//! of one line is a header when all its fields are text. Test data has a header when the training data had one.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::csv::split;
use crate::error::{excerpt, list, nearest};
use crate::format::delimiter;
use crate::input::Source;
use crate::table::cell::{boolean, is_missing};
use crate::table::{
    Becomes, Encoding, Kind, Matched, NumberStyle, Reason, date, kinds, match_columns, says_nothing,
};
use crate::{Error, Format, LabelColumn, LoadOptions, charset, number};

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
    left_out: Vec<(usize, Reason)>,
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
    sources: Option<Vec<Option<usize>>>,
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
        let delimiter = match (source.delimiter().or(options.delimiter), format) {
            (Some(delimiter), _) => delimiter,
            (None, Format::Tsv) => b'\t',
            (None, Format::Space) => b' ',
            (None, _) => delimiter(first_line).unwrap_or(b','),
        };
        let sample = sample(head, delimiter);
        let mut layout = Layout::empty(delimiter, options);
        let Some(first) = sample.first() else { return Ok((layout, blank_lines)) };
        layout.columns = first.len();
        let has_header = source.delimiter().is_some() || has_header(source.file(), &sample, options)?;
        layout.header = has_header.then(|| header_names(first));
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

    /// Finds out what each column is for.
    fn assign(&mut self, source: &Source, rows: &[Row], options: &LoadOptions) -> Result<(), Error> {
        let file = source.file();
        self.id = options.id.as_deref().map(|name| self.column(file, name)).transpose()?;
        self.roles = match &options.encoding {
            Some(encoding) => self.as_in_training(file, encoding, options)?,
            None => {
                self.label = self.label_column(file, rows, options)?;
                let kinds = match self.only_numbers {
                    true => vec![Kind::Number; self.columns],
                    false => kinds(rows, self.columns, self.numbers),
                };
                self.as_found(file, rows, &kinds, options)?
            }
        };
        self.plain = self.only_numbers
            || (source.can_be_read_again() && self.are_plain(rows, options.encoding.as_ref()));
        self.check_width(file, options)
    }

    /// The roles of columns in training data.
    fn as_found(
        &mut self,
        file: &str,
        rows: &[Row],
        kinds: &[Kind],
        options: &LoadOptions,
    ) -> Result<Vec<Role>, Error> {
        let columns = |names: &[String]| -> Result<HashSet<usize>, Error> {
            names.iter().map(|name| self.column(file, name)).collect()
        };
        let (drop, keep) = (columns(&options.drop)?, columns(&options.keep)?);
        let (text, numbers) = (columns(&options.text)?, columns(&options.number)?);
        let weight = options.weight.as_deref().map(|name| self.column(file, name)).transpose()?;
        let named = |column: usize| [&keep, &text, &numbers].iter().any(|names| names.contains(&column));
        let mut roles = Vec::with_capacity(self.columns);
        for column in 0..self.columns {
            let reason = if Some(column) == weight {
                Some(Reason::Weight)
            } else if drop.contains(&column) {
                Some(Reason::Dropped)
            } else if !keep.is_empty() && !keep.contains(&column) {
                Some(Reason::NotKept)
            } else if named(column) || self.only_numbers {
                None
            } else {
                says_nothing(rows, column, self.header.as_deref())
            };
            roles.push(match reason {
                _ if Some(column) == self.label => Role::Label,
                Some(reason) => {
                    self.left_out.push((column, reason));
                    if reason == Reason::Weight { Role::Weight } else { Role::LeftOut }
                }
                None => {
                    let kind = match kinds[column] {
                        _ if text.contains(&column) => Kind::Text { said: true },
                        _ if numbers.contains(&column) => Kind::Number,
                        kind => kind,
                    };
                    self.slots.push(Slot { column, kind });
                    Role::Feature
                }
            });
        }
        Ok(roles)
    }

    /// The roles of columns in test data: they are what they were in the training data.
    fn as_in_training(
        &mut self,
        file: &str,
        encoding: &Encoding,
        options: &LoadOptions,
    ) -> Result<Vec<Role>, Error> {
        let named = match options.label {
            LabelColumn::Auto | LabelColumn::Absent => None,
            _ => self.label_column(file, &[], options)?,
        };
        let header = self.header.as_deref();
        let Matched { label, sources, ignored } =
            match_columns(file, header, self.columns, encoding, &options.label, named)?;
        (self.label, self.ignored, self.numbers) = (label, ignored, encoding.numbers);
        let becomes = encoding.columns.iter().map(|column| &column.becomes);
        let mut kind = vec![None; self.columns];
        for (becomes, source) in becomes.zip(&sources) {
            if let Some(source) = source {
                kind[*source] = Some(kind_of(becomes));
            }
        }
        self.sources = Some(sources);
        let role = |(column, kind): (usize, Option<Kind>)| match kind {
            _ if Some(column) == label => Role::Label,
            Some(kind) => {
                self.slots.push(Slot { column, kind });
                Role::Feature
            }
            None => Role::LeftOut,
        };
        Ok(kind.into_iter().enumerate().map(role).collect())
    }

    /// Whether the features can go straight into the matrix: plain numbers, in the order of the training data.
    fn are_plain(&self, rows: &[Row], encoding: Option<&Encoding>) -> bool {
        let in_order = || {
            let places: Vec<usize> = self.sources.iter().flatten().flatten().copied().collect();
            places.is_sorted()
        };
        let complete =
            |slot: &Slot| rows.iter().all(|row| row.get(slot.column).is_some_and(|cell| !is_missing(cell)));
        let other_columns = self.id.is_some() || self.roles.contains(&Role::Weight);
        self.numbers.is_plain()
            && !other_columns
            && encoding.is_none_or(|encoding| encoding.is_plain() && in_order())
            && self.slots.iter().all(|slot| slot.kind == Kind::Number && complete(slot))
    }

    /// Why a column is left out, if it is.
    pub(crate) fn left_out(&self, column: usize) -> Option<Reason> {
        self.left_out.iter().find(|(left_out, _)| *left_out == column).map(|(_, reason)| *reason)
    }

    /// For each column of an encoding, which of the slots it is.
    pub(crate) fn slots_of(&self, encoding: &Encoding) -> Vec<Option<usize>> {
        let mut slot_of = vec![None; self.columns];
        self.slots.iter().enumerate().for_each(|(at, slot)| slot_of[slot.column] = Some(at));
        match &self.sources {
            Some(sources) => sources.iter().map(|source| source.and_then(|column| slot_of[column])).collect(),
            None => encoding.columns.iter().map(|column| slot_of[column.position - 1]).collect(),
        }
    }

    fn label_column(&self, file: &str, rows: &[Row], options: &LoadOptions) -> Result<Option<usize>, Error> {
        let last = self.columns - 1;
        match &options.label {
            LabelColumn::Absent => Ok(None),
            LabelColumn::Auto if options.columns == Some(self.columns) => Ok(None),
            LabelColumn::Auto if rows.is_empty() => Ok(Some(0)),
            LabelColumn::Auto if self.is_test_data => Ok(Some(self.likely(rows))),
            LabelColumn::Auto => self.guess(file, rows, options).map(Some),
            LabelColumn::First => Ok(Some(0)),
            LabelColumn::Last => Ok(Some(last)),
            LabelColumn::Number(number) if (1..=self.columns).contains(number) => Ok(Some(number - 1)),
            LabelColumn::Number(number) => self.column(file, &number.to_string()).map(Some),
            LabelColumn::Name(name) => self.column(file, name).map(Some),
        }
    }

    /// The label where it cannot be another column: the only one that is called like one, or the last of a table without
    /// names whose first cannot be one.
    fn guess(&self, file: &str, rows: &[Row], options: &LoadOptions) -> Result<usize, Error> {
        let last = self.columns - 1;
        let is_called = |name: &str| LABEL_NAMES.iter().any(|label| name.eq_ignore_ascii_case(label));
        let called: Vec<usize> = match &self.header {
            Some(names) => (0..self.columns).filter(|column| is_called(&names[*column])).collect(),
            None => Vec::new(),
        };
        match called.as_slice() {
            [only] => return Ok(*only),
            [] if self.columns == 1 => return Ok(0),
            [] if self.header.is_none()
                && !options.regression
                && !looks_like_label(rows, 0)
                && looks_like_label(rows, last) =>
            {
                return Ok(last);
            }
            _ => {}
        }
        Err(self.unclear_label(file, rows, options.regression))
    }

    /// The label in test data of a model that does not know the columns of its table, as it was guessed when that model
    /// was made.
    fn likely(&self, rows: &[Row]) -> usize {
        let names = self.header.as_deref().unwrap_or_default();
        let called = |label: &&str| names.iter().position(|name| name.eq_ignore_ascii_case(label));
        let last = self.columns - 1;
        let by_values = || if !looks_like_label(rows, 0) && looks_like_label(rows, last) { last } else { 0 };
        LABEL_NAMES.iter().find_map(called).unwrap_or_else(by_values)
    }

    #[cold]
    fn unclear_label(&self, file: &str, rows: &[Row], regression: bool) -> Error {
        let candidate = |column: &usize| match regression {
            true => is_numeric(rows, *column).then(|| excerpt(self.names[*column].as_bytes())),
            false => {
                let values = distinct(rows, *column);
                let name = excerpt(self.names[*column].as_bytes());
                (2..=MOST_LABEL_VALUES).contains(&values).then(|| format!("{name} ({values} values)"))
            }
        };
        let candidates: Vec<String> = (0..self.columns).filter_map(|column| candidate(&column)).collect();
        let example = (0..self.columns).rev().find(|column| candidate(column).is_some());
        Error::UnclearLabel {
            file: file.to_string(),
            candidates: if candidates.is_empty() { "none".to_owned() } else { list(&candidates, 10) },
            example: match (example, &self.header) {
                (Some(column), Some(names)) => names[column].clone(),
                (Some(column), None) => (column + 1).to_string(),
                (None, _) => "COLUMN".to_owned(),
            },
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
    fn check_width(&self, file: &str, options: &LoadOptions) -> Result<(), Error> {
        match options.columns.filter(|_| options.encoding.is_none()) {
            Some(expected) if self.slots.len() < expected => {
                Err(Error::FewerColumns { file: file.to_string(), expected, found: self.slots.len() })
            }
            _ => Ok(()),
        }
    }
}

fn kind_of(becomes: &Becomes) -> Kind {
    match becomes {
        Becomes::Number { .. } => Kind::Number,
        Becomes::Date { order, .. } => Kind::Date(*order),
        _ => Kind::Text { said: false },
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

fn looks_like_label(rows: &[Row], column: usize) -> bool {
    let fields = || rows.iter().filter_map(|row| row.get(column));
    let whole_numbers =
        || fields().all(|field| number::whole_double(field).is_some_and(|value| value.fract() == 0.0));
    fields().any(|field| is_text(field) || boolean(field).is_some())
        || ((2..=MOST_LABEL_VALUES).contains(&distinct(rows, column)) && whole_numbers())
}

/// How many values a column has in the first rows.
fn distinct(rows: &[Row], column: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column)).map(AsRef::as_ref);
    cells.filter(|cell| !is_missing(cell)).collect::<HashSet<&[u8]>>().len()
}

fn is_numeric(rows: &[Row], column: usize) -> bool {
    let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !is_missing(cell));
    cells.clone().next().is_some() && cells.all(|cell| is_number(cell))
}

fn is_number(field: &[u8]) -> bool {
    number::whole(field).is_some()
}

fn is_text(field: &[u8]) -> bool {
    !is_missing(field) && !is_number(field) && boolean(field).is_none()
}

fn text(field: &[u8]) -> String {
    charset::text(field).into_owned()
}
