//! What the text of one cell means: nothing, yes or no, or a number as people write it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::number;

/// What people write where they have no value; an empty cell is missing too.
const MISSING: [&str; 5] = ["na", "n/a", "?", "nan", "null"];

/// How numbers are written in a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NumberStyle {
    /// `1,5` is one and a half.
    pub decimal_comma: bool,
    /// `1,234` is one thousand two hundred and thirty-four; `1.234` is where the comma is the decimal sign.
    pub thousands: bool,
}

/// Whether the cell holds no value.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    text.is_empty()
        || (text.len() <= 4 && MISSING.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes())))
}

/// True and yes, false and no, in any case.
pub(crate) fn boolean(text: &[u8]) -> Option<bool> {
    let is = |words: [&[u8]; 2]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match text.len() {
        2..=5 if is([b"true", b"yes"]) => Some(true),
        2..=5 if is([b"false", b"no"]) => Some(false),
        _ => None,
    }
}

impl NumberStyle {
    /// Whether numbers are written as programs write them.
    pub(crate) fn is_plain(self) -> bool {
        self == NumberStyle::default()
    }

    /// The number that the text is; it may be infinite.
    pub(crate) fn number(self, text: &[u8]) -> Option<f32> {
        if self.is_plain() { number::whole(text) } else { number::whole(&self.plainly(text)?) }
    }

    /// The number with a point and without separators; nothing if those are in odd places.
    fn plainly(self, text: &[u8]) -> Option<Cow<'_, [u8]>> {
        let (separator, point) = if self.decimal_comma { (b'.', b',') } else { (b',', b'.') };
        let whole = text.iter().position(|byte| *byte == point).unwrap_or(text.len());
        let (whole, decimals) = text.split_at(whole);
        let mut plain = match self.thousands {
            true => without_separators(whole, separator)?,
            false if self.decimal_comma && whole.contains(&separator) => return None,
            false => whole.to_vec(),
        };
        if let Some(decimals) = decimals.get(1..) {
            plain.push(b'.');
            plain.extend_from_slice(decimals);
        }
        Some(Cow::Owned(plain))
    }
}

/// `1,234,567` without its commas: groups of three digits, but for the first.
fn without_separators(text: &[u8], separator: u8) -> Option<Vec<u8>> {
    let mut groups = text.split(|byte| *byte == separator);
    let first = groups.next()?;
    let rest: Vec<&[u8]> = groups.collect();
    let fits = |group: &&[u8]| group.len() == 3 && group.iter().all(u8::is_ascii_digit);
    (rest.is_empty() || (first.iter().any(u8::is_ascii_digit) && rest.iter().all(fits)))
        .then(|| [&[first], rest.as_slice()].concat().concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_in_any_case() {
        for text in ["", "NA", "n/a", "?", "NaN", "NULL"] {
            assert!(is_missing(text.as_bytes()), "{text}");
        }
        for text in ["0", "none of them", "-", "naan"] {
            assert!(!is_missing(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn yes_and_no() {
        let read = ["true", "YES", "False", "no", "1", "y", ""].map(|text| boolean(text.as_bytes()));
        assert_eq!(read, [Some(true), Some(true), Some(false), Some(false), None, None, None]);
    }

    #[test]
    fn numbers_as_people_write_them() {
        let check = |decimal_comma, thousands, text: &str, expect: Option<f32>| {
            let style = NumberStyle { decimal_comma, thousands };
            assert_eq!(style.number(text.as_bytes()), expect, "{text} as {style:?}");
        };
        check(false, false, "1.5", Some(1.5));
        check(false, false, "1,234", None);
        check(false, true, "1,234", Some(1234.0));
        check(false, true, "-1,234,567.5", Some(-1_234_567.5));
        check(false, true, "12", Some(12.0));
        check(false, true, "1,23", None);
        check(false, true, ",123", None);
        check(true, false, "1,5", Some(1.5));
        check(true, false, "1.5", None);
        check(true, true, "1.234,5", Some(1234.5));
        check(true, true, "1e3", Some(1000.0));
        check(true, false, "1,2,3", None);
    }
}
