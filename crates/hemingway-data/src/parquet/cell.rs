//! Cells as text.

use std::fmt::Display;
use std::io::Write;

use super::DELIMITER;

const SECONDS_PER_DAY: i64 = 86_400;

/// Writes what stands before the field at this place in its line.
pub(super) fn separate(at: usize, text: &mut Vec<u8>) {
    if at > 0 {
        text.push(DELIMITER);
    }
}

/// Writes a value as Rust prints it.
pub(super) fn write(value: impl Display, text: &mut Vec<u8>) {
    write!(text, "{value}").expect("memory takes whatever is written");
}

/// Writes a text in quotes, if it needs them. A line is a row, so ends of lines become spaces.
pub(super) fn write_text(bytes: &[u8], text: &mut Vec<u8>) {
    let quoted = bytes.iter().any(|byte| matches!(byte, b'"' | b'\n' | b'\r' | &DELIMITER));
    if !quoted {
        text.extend_from_slice(bytes);
        return;
    }
    text.push(b'"');
    for byte in bytes {
        match byte {
            b'"' => text.extend_from_slice(b"\"\""),
            b'\n' | b'\r' => text.push(b' '),
            other => text.push(*other),
        }
    }
    text.push(b'"');
}

/// Writes the date so many days after 1970-01-01.
pub(super) fn write_date(days: i64, text: &mut Vec<u8>) {
    let (year, month, day) = date(days);
    write(format_args!("{year:04}-{month:02}-{day:02}"), text);
}

/// Writes the date and time so many seconds after 1970-01-01.
pub(super) fn write_timestamp(seconds: i64, text: &mut Vec<u8>) {
    write_date(seconds.div_euclid(SECONDS_PER_DAY), text);
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    write(format_args!(" {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60), text);
}

/// Writes a whole number with a point before its last digits.
pub(super) fn write_decimal(value: i128, digits: u32, text: &mut Vec<u8>) {
    if digits == 0 {
        return write(value, text);
    }
    let sign = if value < 0 { "-" } else { "" };
    let width = digits as usize + 1;
    let all = format!("{:0width$}", value.unsigned_abs());
    let (whole, fraction) = all.split_at(all.len() - digits as usize);
    write(format_args!("{sign}{whole}.{fraction}"), text);
}

/// The number in these bytes, the highest first.
pub(super) fn whole(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |value, byte| value << 8 | i128::from(*byte))
}

/// Year, month and day: years begin in March here, so that the day that is not in every year is the last of one.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let from_march = days + 719_468; // from the first of March of the year 0
    let (era, day) = (from_march.div_euclid(DAYS_IN_400_YEARS), from_march.rem_euclid(DAYS_IN_400_YEARS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut text = Vec::new();
        write(&mut text);
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (19_783, "2024-03-01"),
            (-25_508, "1900-03-01"),
        ] {
            check(|text| write_date(days, text), expected);
        }
        check(|text| write_timestamp(-1, text), "1969-12-31 23:59:59");
        check(|text| write_timestamp(1_709_294_706, text), "2024-03-01 12:05:06");
    }

    #[test]
    fn decimals() {
        for (value, digits, expected) in
            [(12345, 2, "123.45"), (-5, 2, "-0.05"), (-12345, 0, "-12345"), (0, 3, "0.000")]
        {
            check(|text| write_decimal(value, digits, text), expected);
        }
        assert_eq!([whole(&[0x01, 0x00]), whole(&[0xff, 0xfe]), whole(&[])], [256, -2, 0]);
    }

    #[test]
    fn texts() {
        check(|text| write_text(b"a, b", text), "a, b");
        check(|text| write_text(b"say \"a\"\nb", text), "\"say \"\"a\"\" b\"");
    }
}
