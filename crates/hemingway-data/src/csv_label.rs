//! Which column of a table is the label: the one that is named, or a guess where that is safe.

use std::collections::HashSet;

use crate::csv_layout::{Layout, Row, is_number, is_text};
use crate::error::{excerpt, list};
use crate::table::cell::{boolean, is_missing};
use crate::{Error, LabelColumn, LoadOptions, number};

/// Headers that mean a label. Without a header line `y` is a label's value as often as its name.
pub(crate) const LABEL_NAMES: [&str; 4] = ["label", "target", "class", "y"];
/// Whole numbers with more values than this are rather a count or an identifier than a class.
const MOST_LABEL_VALUES: usize = 20;

impl Layout {
    /// The column of the label, if there is one.
    pub(crate) fn label_column(
        &self,
        file: &str,
        rows: &[Row],
        options: &LoadOptions,
    ) -> Result<Option<usize>, Error> {
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
