//! Dates, with or without a time, as days since 1970-01-01.
//!
//! `2024-03-01` and `2024/03/01` begin with the year, `01.03.2024` with the day. `3/1/2024` may begin with either day or
//! month: a column does what its values say, of which one above 12 is enough.

use serde::{Deserialize, Serialize};

/// What comes first in a date like `3/1/2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// The day.
    DayFirst,
    /// The month.
    MonthFirst,
}

/// What one text says of the dates in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// It is a date in any order.
    Nothing,
    /// It is a date in this order only.
    Order(DateOrder),
    /// It is a date in either order, and a different one.
    Either,
}

/// Days since 1970-01-01, with a fraction for the time.
pub(crate) fn days(text: &[u8], order: DateOrder) -> Option<f32> {
    let (date, rest) = split_date(text)?;
    let whole = match date.order {
        Written::YearMonthDay([year, month, day]) | Written::DayMonthYear([day, month, year]) => {
            civil(year, month, day)?
        }
        Written::Slashes([one, two, year]) => match order {
            DateOrder::DayFirst => civil(year, two, one)?,
            DateOrder::MonthFirst => civil(year, one, two)?,
        },
    };
    Some((whole as f64 + time(rest)?) as f32)
}

/// The order in which all of the texts are dates, if they are; nothing where they could be read in both.
pub(crate) fn order<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Option<DateOrder> {
    let (mut found, mut unclear) = (None, false);
    for text in texts {
        match (says(text)?, found) {
            (Says::Order(order), Some(before)) if order != before => return None,
            (Says::Order(order), _) => found = Some(order),
            (Says::Either, _) => unclear = true,
            (Says::Nothing, _) => {}
        }
    }
    found.or((!unclear).then_some(DateOrder::DayFirst))
}

/// Whether the text is a date in some order.
pub(crate) fn is_date(text: &[u8]) -> bool {
    says(text).is_some()
}

fn says(text: &[u8]) -> Option<Says> {
    let orders = [DateOrder::DayFirst, DateOrder::MonthFirst];
    match orders.map(|order| days(text, order)) {
        [None, None] => None,
        [Some(_), None] => Some(Says::Order(DateOrder::DayFirst)),
        [None, Some(_)] => Some(Says::Order(DateOrder::MonthFirst)),
        [one, other] if one == other => Some(Says::Nothing),
        _ => Some(Says::Either),
    }
}

struct Date {
    order: Written,
}

enum Written {
    YearMonthDay([i64; 3]),
    DayMonthYear([i64; 3]),
    Slashes([i64; 3]),
}

/// The date at the front, and what follows it.
fn split_date(text: &[u8]) -> Option<(Date, &[u8])> {
    let (one, separator, rest) = part(text)?;
    let (two, second, rest) = part(rest)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (three, rest) = rest.split_at(digits);
    if separator != second {
        return None;
    }
    let lengths = [one, two, three].map(<[u8]>::len);
    let order = match (separator, lengths) {
        (b'-' | b'/', [4, 1..=2, 1..=2]) => Written::YearMonthDay,
        (b'.', [1..=2, 1..=2, 4]) => Written::DayMonthYear,
        (b'/', [1..=2, 1..=2, 4]) => Written::Slashes,
        _ => return None,
    };
    Some((Date { order: order([whole(one)?, whole(two)?, whole(three)?]) }, rest))
}

/// Digits, the byte behind them and the rest.
fn part(text: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some((&text[..digits], *text.get(digits)?, &text[digits + 1..]))
}

fn whole(digits: &[u8]) -> Option<i64> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Days since 1970-01-01 in the Gregorian calendar: years are counted from March, so that leap days come last.
fn civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let from_march = (month + 9) % 12;
    let year = year - i64::from(month < 3);
    let before = (153 * from_march + 2) / 5 + day - 1;
    Some(365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + before - 719_468)
}

/// The date of a day counted from 1970-01-01, as `2024-03-01`.
pub(crate) fn iso(days: f32) -> String {
    let days = f64::from(days).floor() as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * from_march + 2) / 5 + 1, (from_march + 2) % 12 + 1);
    format!("{:04}-{month:02}-{day:02}", year_of_era + era * 400 + i64::from(month < 3))
}

/// The share of a day that `T12:30:15.5Z` or ` 12:30` is; none of it where nothing follows the date.
fn time(text: &[u8]) -> Option<f64> {
    let Some((b'T' | b't' | b' ', clock)) = text.split_first() else {
        return text.is_empty().then_some(0.0);
    };
    let (clock, offset) = split_zone(clock)?;
    let mut parts = clock.split(|byte| *byte == b':');
    let [hours, minutes] = [parts.next()?, parts.next()?].map(two_digits);
    let seconds = parts.next().map_or(Some(0.0), seconds)?;
    let (hours, minutes) = (hours?, minutes?);
    (parts.next().is_none() && hours < 24.0 && minutes < 60.0 && seconds < 61.0)
        .then_some((hours * 3600.0 + minutes * 60.0 + seconds - offset) / 86_400.0)
}

/// The clock time, and the seconds that its zone is ahead of UTC.
fn split_zone(clock: &[u8]) -> Option<(&[u8], f64)> {
    if let Some(clock) = clock.strip_suffix(b"Z").or(clock.strip_suffix(b"z")) {
        return Some((clock, 0.0));
    }
    let Some(at) = clock.iter().position(|byte| matches!(byte, b'+' | b'-')) else {
        return Some((clock, 0.0));
    };
    let sign = if clock[at] == b'-' { -1.0 } else { 1.0 };
    let zone: Vec<u8> = clock[at + 1..].iter().copied().filter(|byte| *byte != b':').collect();
    let (hours, minutes) = zone.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0.0 } else { two_digits(minutes)? };
    Some((clock[..at].trim_ascii_end(), sign * (two_digits(hours)? * 3600.0 + minutes * 60.0)))
}

fn two_digits(text: &[u8]) -> Option<f64> {
    (text.len() == 2 && text.iter().all(u8::is_ascii_digit)).then(|| whole(text).map(|value| value as f64))?
}

fn seconds(text: &[u8]) -> Option<f64> {
    let plain = text.len() >= 2 && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    plain.then(|| str::from_utf8(text).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(text: &str) -> Option<f32> {
        days(text.as_bytes(), DateOrder::DayFirst)
    }

    #[test]
    fn dates_in_common_forms() {
        assert_eq!(day("1970-01-01"), Some(0.0));
        assert_eq!(day("2024-03-01"), Some(19_783.0));
        for text in ["01.03.2024", "1/3/2024", "2024/3/1", "2024-03-01T00:00:00Z", "2024-03-01 00:00"] {
            assert_eq!(day(text), Some(19_783.0), "{text}");
        }
        assert_eq!(days(b"3/1/2024", DateOrder::MonthFirst), Some(19_783.0));
        assert_eq!(day("1969-12-31"), Some(-1.0));
        assert_eq!(day("2024-03-01T12:00"), Some(19_783.5));
        assert_eq!(day("2024-03-01T12:00:00+06:00"), Some(19_783.25));
    }

    #[test]
    fn what_is_no_date() {
        for text in
            ["", "2024", "2024-13-01", "2023-02-29", "2024-02-30", "1-2-3", "2024-01-01x", "01.02/2024"]
        {
            assert_eq!(day(text), None, "{text}");
        }
        for text in ["2024-01-01T25:00", "2024-01-01 1:00", "2024-01-01T12:00+x"] {
            assert_eq!(day(text), None, "{text}");
        }
    }

    #[test]
    fn one_value_above_twelve_tells_the_order() {
        let order = |texts: &[&str]| order(texts.iter().map(|text| text.as_bytes()));
        assert_eq!(order(&["1/2/2024", "13/2/2024"]), Some(DateOrder::DayFirst));
        assert_eq!(order(&["1/2/2024", "2/13/2024"]), Some(DateOrder::MonthFirst));
        assert_eq!(order(&["1/2/2024", "3/4/2024"]), None, "it could be both");
        assert_eq!(order(&["13/2/2024", "2/13/2024"]), None, "it cannot be either");
        assert_eq!(order(&["2024-03-01", "5/5/2024"]), Some(DateOrder::DayFirst), "it does not matter");
        assert_eq!(order(&["2024-03-01", "x"]), None);
    }

    proptest! {
        #[test]
        fn a_date_is_written_as_it_is_read(year in 1i64..4000, month in 1i64..=12, day in 1i64..=28) {
            let text = format!("{year:04}-{month:02}-{day:02}");
            prop_assert_eq!(iso(days(text.as_bytes(), DateOrder::DayFirst).unwrap()), text);
        }

        #[test]
        fn the_next_day_is_one_more(year in 1i64..4000, month in 1i64..=12, day in 1i64..=31) {
            prop_assume!(civil(year, month, day).is_some());
            let next = civil(year, month, day + 1)
                .or(civil(year, month + 1, 1))
                .or(civil(year + 1, 1, 1));
            prop_assert_eq!(next, civil(year, month, day).map(|today| today + 1));
        }
    }
}
