//! What columns hold, as their first rows show it, and which of them say nothing.

use std::borrow::Cow;
use std::collections::HashSet;

use super::cell::is_missing;
use super::date;
use super::{DateOrder, NumberStyle, Reason};
use crate::number;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Date(DateOrder),
    /// Anything. Unless the user said that it is text, all of its values decide later whether it is more than that.
    Text {
        said: bool,
    },
}

/// Names of columns that identify rows.
const IDENTIFIERS: [&str; 7] = ["id", "index", "row", "rownames", "row_names", "uuid", "unnamed: 0"];

/// What the first rows show of each column, in the order of columns.
pub(crate) fn kinds(rows: &[Vec<Cow<[u8]>>], columns: usize, numbers: NumberStyle) -> Vec<Kind> {
    (0..columns).map(|column| kind(&present(rows, column), numbers)).collect()
}

fn kind(cells: &[&[u8]], numbers: NumberStyle) -> Kind {
    if cells.is_empty() {
        return Kind::Text { said: false };
    }
    if cells.iter().all(|cell| numbers.number(cell).is_some()) {
        return Kind::Number;
    }
    date::order(cells.iter().copied()).map_or(Kind::Text { said: false }, Kind::Date)
}

/// Why a column says nothing that could be learnt, if its name and its first rows show that.
pub(crate) fn says_nothing(
    rows: &[Vec<Cow<[u8]>>],
    column: usize,
    header: Option<&[String]>,
) -> Option<Reason> {
    let name = header?.get(column)?;
    let cells = present(rows, column);
    let whole: Option<Vec<i64>> = cells.iter().map(|cell| whole_number(cell)).collect();
    let whole = whole.filter(|whole| whole.len() >= 2)?;
    let counts = whole.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(1));
    let distinct = || whole.iter().collect::<HashSet<_>>().len() == whole.len();
    match name.as_str() {
        "" => (column == 0 && counts).then_some(Reason::RowNumbers),
        name => (identifies(name) && distinct()).then_some(Reason::Identifier),
    }
}

/// Whether rows are identified by a column of this name: `id`, `user_id`, `PassengerId`, `index`, …
fn identifies(name: &str) -> bool {
    let lower = name.to_lowercase();
    let ending = |ending: &str| {
        let rest = name.strip_suffix(ending)?;
        rest.ends_with(|letter: char| letter.is_lowercase()).then_some(())
    };
    IDENTIFIERS.contains(&lower.as_str())
        || [" id", "_id", "-id"].iter().any(|end| lower.ends_with(end))
        || ["Id", "ID"].into_iter().any(|end| ending(end).is_some())
}

fn whole_number(cell: &[u8]) -> Option<i64> {
    let value = number::whole_double(cell)?;
    (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}

/// The cells of a column that are there.
fn present<'a>(rows: &'a [Vec<Cow<[u8]>>], column: usize) -> Vec<&'a [u8]> {
    let cells = rows.iter().filter_map(|row| row.get(column)).map(AsRef::as_ref);
    cells.filter(|cell| !is_missing(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<'a>(cells: &[&'a str]) -> Vec<Vec<Cow<'a, [u8]>>> {
        cells.iter().map(|cell| vec![Cow::Borrowed(cell.as_bytes())]).collect()
    }

    #[test]
    fn the_first_rows_show_what_a_column_holds() {
        let check = |cells: &[&str], expect| {
            assert_eq!(kinds(&rows(cells), 1, NumberStyle::default()), [expect], "{cells:?}");
        };
        check(&["1", "", "2.5e3"], Kind::Number);
        check(&["2024-01-01", "NA", "2024-02-01 12:00"], Kind::Date(DateOrder::DayFirst));
        check(&["1/13/2024", "1/2/2024"], Kind::Date(DateOrder::MonthFirst));
        check(&["1/1/2024", "1/2/2024"], Kind::Text { said: false });
        check(&["1", "one"], Kind::Text { said: false });
        check(&["", "?"], Kind::Text { said: false });
    }

    #[test]
    fn identifiers_are_told_by_name_and_values() {
        let check = |name: &str, cells: &[&str], expect| {
            assert_eq!(says_nothing(&rows(cells), 0, Some(&[name.to_owned()])), expect, "{name} {cells:?}");
        };
        check("", &["0", "1", "2"], Some(Reason::RowNumbers));
        check("", &["0", "1", "3"], None);
        check("PassengerId", &["9", "4", "7"], Some(Reason::Identifier));
        check("customer_id", &["9", "4", "7"], Some(Reason::Identifier));
        check("customer_id", &["9", "4", "9"], None);
        check("id", &["9.5", "4"], None);
        check("humid", &["9", "4", "7"], None);
        check("age", &["9", "4", "7"], None);
    }
}
