//! From what is in the columns to what becomes of them.
//!
//! The constants trade off columns against rows: a level or an indicator that few rows speak for fits noise.

use super::cell::boolean;
use super::date::{days, order};
use super::encoding::{Becomes, Encoding, Reason};
use super::kind::Kind;
use super::summary::{ColumnSummary, Numbers, Summary, Target};
use super::{NamedColumn, NumberStyle, SourceColumn};
use crate::csv_layout::Layout;

/// Levels of fewer rows share the feature `other`. Half of it gives rare words features of their own, which fit the few
/// rows they are in; twice of it begins to merge what small tables can still tell apart.
const FEWEST_ROWS: u64 = 5;

/// A text column of more levels than this is hashed into as many features. Up to here levels keep their names; a feature
/// takes a weight of 8 bytes on each worker, which is nothing, but weights of so many levels are rarely looked at.
const MOST_LEVELS: usize = 4096;

/// Text of which this share of the rows is different names the rows. At less, text that names groups of two or three rows
/// would go; at 1, one name that stands twice makes as many features as there are rows, each of which fits its own row.
const NAMES_ROWS: f64 = 0.9;

/// A feature says that a value is missing where the label of such rows differs from that of the others by so many
/// standard errors. Of columns where it does not matter, 3 passes 1 in 370.
const SIGNAL: f64 = 3.0;

/// Significant digits of means that are learnt: as many as matter for a value that stands in for others, and few enough
/// that workers who add in other orders learn the same.
const DIGITS: i32 = 4;

/// What becomes of the columns of a table with this in them. `centred` numbers are those less their mean.
pub(crate) fn learn(table: &Layout, summary: &Summary, centred: bool) -> Encoding {
    let mut found = summary.columns.iter().zip(&table.slots);
    let becomes = |column: usize| match table.left_out(column) {
        Some(reason) => Becomes::LeftOut { reason },
        None => {
            let (column, slot) = found.next().expect("a slot for each feature");
            becomes(column, slot.kind, &summary.targets, table.numbers, centred)
        }
    };
    table.encoding(becomes)
}

impl Layout {
    /// An encoding with what becomes of each column besides the label, in their order.
    pub(crate) fn encoding(&self, mut becomes: impl FnMut(usize) -> Becomes) -> Encoding {
        let name = |column: usize| self.names[column].clone();
        let columns = (0..self.columns).filter(|column| Some(*column) != self.label);
        Encoding {
            header: self.header.is_some(),
            numbers: self.numbers,
            label: self.label.map(|column| NamedColumn { name: name(column), position: column + 1 }),
            columns: columns
                .map(|at| SourceColumn { name: name(at), position: at + 1, becomes: becomes(at) })
                .collect(),
        }
    }
}

fn becomes(
    column: &ColumnSummary,
    kind: Kind,
    targets: &[Target],
    style: NumberStyle,
    centred: bool,
) -> Becomes {
    let indicator = column.missing > 0 && carries_signal(&column.missing_targets, targets);
    match kind {
        Kind::Number if column.numbers.count == 0 => Becomes::LeftOut { reason: Reason::Empty },
        Kind::Number => number(&column.numbers, indicator, centred),
        Kind::Date(order) => date(order, &column.numbers, indicator, centred),
        Kind::Text { said: true } => text(column),
        Kind::Text { said: false } if column.levels.is_empty() => Becomes::LeftOut { reason: Reason::Empty },
        Kind::Text { said: false } => {
            let texts = || column.levels.iter().map(|(text, _)| text.as_bytes());
            if let Some(found) = column.as_numbers(|text| style.number(text)) {
                number(&found, indicator, centred)
            } else if let Some(found) = column.as_numbers(|text| boolean(text).map(f32::from)) {
                Becomes::Boolean { fill: f32::from(2 * found.ones > found.count), indicator }
            } else if let Some((order, found)) =
                order(texts()).and_then(|order| Some((order, column.as_numbers(|text| days(text, order))?)))
            {
                date(order, &found, indicator, centred)
            } else {
                text(column)
            }
        }
    }
}

/// Numbers that are mostly zero, or zero and one, are not centred: zeros stay zeros, which take no memory.
fn number(numbers: &Numbers, indicator: bool, centred: bool) -> Becomes {
    let fill = rounded(numbers.mean());
    let mostly_zero = 2 * numbers.zeros > numbers.count || numbers.zeros + numbers.ones == numbers.count;
    Becomes::Number { fill, centre: if centred && !mostly_zero { fill } else { 0.0 }, indicator }
}

fn date(order: super::DateOrder, days: &Numbers, indicator: bool, centred: bool) -> Becomes {
    let fill = days.mean().round() as f32;
    Becomes::Date { order, fill, centre: if centred { fill } else { 0.0 }, indicator }
}

/// Levels by frequency, then by their text; missing cells are a level too.
fn text(column: &ColumnSummary) -> Becomes {
    let rows: u64 = column.levels.iter().map(|(_, count)| count).sum();
    let distinct = column.levels.len();
    if distinct > 1 && distinct as f64 >= NAMES_ROWS * rows as f64 {
        return Becomes::LeftOut { reason: Reason::AllDistinct };
    }
    let missing = (column.missing > 0).then(|| (String::new(), column.missing));
    let mut levels: Vec<(String, u64)> = column.levels.iter().cloned().chain(missing).collect();
    if levels.len() <= 1 {
        return Becomes::LeftOut { reason: if distinct == 0 { Reason::Empty } else { Reason::OneValue } };
    }
    levels.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let frequent = levels.iter().take_while(|(_, count)| *count >= FEWEST_ROWS).count();
    // In a table of a few rows every level is rare.
    let kept = if frequent == 0 { levels.len().min(MOST_LEVELS) } else { frequent };
    if kept > MOST_LEVELS {
        return Becomes::Hashed { buckets: MOST_LEVELS as u32 };
    }
    let other = kept < levels.len();
    levels.truncate(kept);
    if levels.len() == 1 && !other {
        return Becomes::LeftOut { reason: Reason::OneValue };
    }
    Becomes::Text { levels: levels.into_iter().map(|(text, _)| text).collect(), other }
}

/// Whether rows without a value have other labels than those with one: a test of the difference of two means, for
/// each class.
fn carries_signal(missing: &[Target], all: &[Target]) -> bool {
    let of_class = |class: &str| all.iter().find(|target| target.class == class);
    missing.iter().any(|missing| of_class(&missing.class).is_some_and(|all| differs(missing, all)))
}

fn differs(missing: &Target, all: &Target) -> bool {
    let (some, rows) = (missing.count as f64, all.count as f64);
    let present = rows - some;
    if some == 0.0 || present == 0.0 {
        return false;
    }
    let variance = all.squares / rows - (all.sum / rows).powi(2);
    let difference = missing.sum / some - (all.sum - missing.sum) / present;
    difference.abs() >= SIGNAL * (variance.max(0.0) * (1.0 / some + 1.0 / present)).sqrt()
        && difference != 0.0
}

/// The value to a few digits.
pub(crate) fn rounded(value: f64) -> f32 {
    let size = value.abs().log10().floor();
    if !size.is_finite() {
        return 0.0;
    }
    let unit = 10f64.powi(DIGITS - 1 - size as i32);
    let short = (value * unit).round() / unit;
    if short.is_finite() { short as f32 } else { value as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(levels: &[(&str, u64)], missing: u64) -> ColumnSummary {
        let levels = levels.iter().map(|(text, count)| ((*text).to_owned(), *count)).collect();
        ColumnSummary { levels, missing, ..ColumnSummary::default() }
    }

    fn undecided(levels: &[(&str, u64)], missing: u64) -> Becomes {
        becomes(&column(levels, missing), Kind::Text { said: false }, &[], NumberStyle::default(), true)
    }

    fn levels(levels: &[&str], other: bool) -> Becomes {
        Becomes::Text { levels: levels.iter().map(|level| (*level).to_owned()).collect(), other }
    }

    #[test]
    fn levels_are_sorted_by_frequency_and_rare_ones_share_a_feature() {
        let found = undecided(&[("b", 9), ("a", 9), ("c", 20), ("d", 4), ("e", 1)], 6);
        assert_eq!(found, levels(&["c", "a", "b", ""], true));
        assert_eq!(undecided(&[("x", 2), ("y", 1)], 0), levels(&["x", "y"], false), "all of them are rare");
    }

    #[test]
    fn text_that_says_nothing_is_left_out() {
        let left_out = |reason| Becomes::LeftOut { reason };
        assert_eq!(undecided(&[("a", 1), ("b", 1), ("c", 1)], 2), left_out(Reason::AllDistinct));
        let mut names: Vec<String> = (0..19).map(|name| format!("n{name}")).collect();
        names.push("twice".to_owned());
        let names: Vec<(&str, u64)> =
            names.iter().map(|name| (name.as_str(), if name == "twice" { 2 } else { 1 })).collect();
        assert_eq!(undecided(&names, 0), left_out(Reason::AllDistinct), "but for one name that stands twice");
        assert_eq!(undecided(&[("a", 7)], 0), left_out(Reason::OneValue));
        assert_eq!(undecided(&[], 7), left_out(Reason::Empty));
        assert_eq!(undecided(&[("a", 7)], 7), levels(&["", "a"], false), "missing or not is two levels");
    }

    #[test]
    fn all_values_decide_what_the_first_rows_did_not_show() {
        assert_eq!(undecided(&[("Yes", 7), ("no", 3)], 0), Becomes::Boolean { fill: 1.0, indicator: false });
        let number = Becomes::Number { fill: 2.5, centre: 2.5, indicator: false };
        assert_eq!(undecided(&[("1", 5), ("4", 5)], 9), number);
        let found = undecided(&[("1/2/1970", 1), ("13/1/1970", 1)], 0);
        let order = super::super::DateOrder::DayFirst;
        assert_eq!(found, Becomes::Date { order, fill: 22.0, centre: 22.0, indicator: false });
        assert!(matches!(undecided(&[("1/2/1970", 7), ("2/1/1970", 7)], 0), Becomes::Text { .. }));
    }

    #[test]
    fn very_many_levels_are_hashed() {
        let names: Vec<String> = (0..=MOST_LEVELS).map(|name| name.to_string() + "x").collect();
        let many: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 9)).collect();
        assert_eq!(undecided(&many, 0), Becomes::Hashed { buckets: MOST_LEVELS as u32 });
        assert!(matches!(undecided(&many[1..], 0), Becomes::Text { other: false, .. }));
    }

    #[test]
    fn an_indicator_has_to_be_worth_it() {
        let target = |count: u64, sum: f64| Target { class: "1".to_owned(), count, sum, squares: sum };
        assert!(carries_signal(&[target(100, 90.0)], &[target(1000, 500.0)]));
        assert!(!carries_signal(&[target(100, 55.0)], &[target(1000, 500.0)]));
        assert!(!carries_signal(&[target(2, 2.0)], &[target(1000, 500.0)]));
        assert!(!carries_signal(&[target(1000, 500.0)], &[target(1000, 500.0)]), "all are missing");
    }

    #[test]
    fn means_have_few_digits() {
        let check = |value: f64, expect: f32| assert_eq!(rounded(value), expect, "{value}");
        check(29.699_117, 29.7);
        check(-19_823.456, -19_820.0);
        check(0.000_123_456, 0.000_123_5);
        check(0.0, 0.0);
        check(3.4e38, 3.4e38);
    }
}
