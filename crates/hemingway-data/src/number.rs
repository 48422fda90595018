//! Decimal numbers from bytes, fast and rounded exactly as `str::parse::<f32>` rounds.
//!
//! Nearly all numbers in data files are short. Up to 19 digits without an exponent become one integer; when that is
//! below 2⁵³ the quotient by a power of ten is the correctly rounded `f64`. Rounding that once more to `f32` is
//! exact too unless the `f64` lies precisely half-way between two `f32`, which is seen in its low 29 bits. Those
//! cases, exponents, and very large or small numbers go to `fast-float2`.

/// Powers of ten that `f64` holds exactly and the fast path divides by.
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19,
];

/// The number at the start of `bytes` and its length, or nothing. NaN and infinities are numbers here.
#[inline]
pub(crate) fn prefix(bytes: &[u8]) -> Option<(f32, usize)> {
    match short_prefix(bytes) {
        Some(found) => Some(found),
        None => any_prefix(bytes),
    }
}

/// The number that all of `bytes` is.
pub(crate) fn whole(bytes: &[u8]) -> Option<f32> {
    prefix(bytes).filter(|(_, length)| *length == bytes.len()).map(|(value, _)| value)
}

/// As [`whole`], in double precision, for labels.
pub(crate) fn whole_double(bytes: &[u8]) -> Option<f64> {
    let (negative, unsigned) = split_sign(bytes)?;
    let value: f64 = fast_float2::parse(unsigned).ok()?;
    Some(if negative { -value } else { value })
}

#[inline(always)] // in the innermost loop of every text parser; a call costs several per cent
fn short_prefix(bytes: &[u8]) -> Option<(f32, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative || bytes.first() == Some(&b'+'));
    let mut integer = 0u64;
    let point = digits(bytes, start, &mut integer);
    let mut end = point;
    let mut decimals = 0;
    if bytes.get(point) == Some(&b'.') {
        end = digits(bytes, point + 1, &mut integer);
        decimals = end - point - 1;
    }
    let count = point - start + decimals;
    let exponent_follows = matches!(bytes.get(end), Some(b'e' | b'E'));
    if count == 0 || count > 19 || exponent_follows || integer >= 1 << 53 {
        return None;
    }
    let magnitude = integer as f64 / POWERS[decimals];
    if !rounds_exactly(magnitude) {
        return None;
    }
    let value = magnitude as f32;
    Some((if negative { -value } else { value }, end))
}

/// Adds the digits from `position` on to `integer`; where they end. Wraps beyond 19 digits, which the caller sees.
#[inline]
fn digits(bytes: &[u8], mut position: usize, integer: &mut u64) -> usize {
    while let Some(digit) =
        bytes.get(position).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)
    {
        *integer = integer.wrapping_mul(10).wrapping_add(u64::from(digit));
        position += 1;
    }
    position
}

/// Whether rounding to `f32` gives what rounding the decimal number directly would.
#[inline]
fn rounds_exactly(magnitude: f64) -> bool {
    const DROPPED: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    let ordinary = magnitude >= f64::from(f32::MIN_POSITIVE) && magnitude < f64::from(f32::MAX);
    magnitude == 0.0 || (ordinary && magnitude.to_bits() & DROPPED != HALF)
}

#[cold]
fn any_prefix(bytes: &[u8]) -> Option<(f32, usize)> {
    let (negative, unsigned) = split_sign(bytes)?;
    let (value, length) = fast_float2::parse_partial::<f32, _>(unsigned).ok()?;
    let sign = bytes.len() - unsigned.len();
    (length > 0).then_some((if negative { -value } else { value }, sign + length))
}

/// Takes one sign off the front; a second one makes it no number.
fn split_sign(bytes: &[u8]) -> Option<(bool, &[u8])> {
    let (negative, unsigned) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, bytes),
    };
    (!matches!(unsigned.first(), None | Some(b'-' | b'+'))).then_some((negative, unsigned))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: Option<(f32, usize)>) {
        let found = prefix(text.as_bytes());
        assert_eq!(
            found.map(|(value, length)| (value.to_bits(), length)),
            expect.map(|(v, l)| (v.to_bits(), l)),
            "{text}"
        );
    }

    #[test]
    fn short_numbers() {
        check("0.68148", Some((0.68148, 7)));
        check("+1", Some((1.0, 2)));
        check("-.5 x", Some((-0.5, 3)));
        check("5. ", Some((5.0, 2)));
        check("-0", Some((-0.0, 2)));
        check("7:3", Some((7.0, 1)));
    }

    #[test]
    fn other_numbers() {
        check("1e-3,", Some((1e-3, 4)));
        check("1.5E+2", Some((150.0, 6)));
        check("123456789012345678901234567890", Some((1.234_567_9e29, 30)));
        check("0.00000000000000000000000000000000000000000000001", Some((0.0, 49)));
        check("1e39", Some((f32::INFINITY, 4)));
        check("-inf", Some((f32::NEG_INFINITY, 4)));
        assert!(whole(b"NaN").is_some_and(f32::is_nan));
    }

    #[test]
    fn not_numbers() {
        for text in ["", "+", "-", ".", "+-1", "--1", "e5", "x1", "-.e3", ":1"] {
            check(text, None);
        }
        assert_eq!(whole(b"1x"), None);
        assert_eq!(whole_double(b"1_000"), None);
        assert_eq!(whole_double(b"+1.0"), Some(1.0));
    }

    #[test]
    fn half_way_cases_round_like_the_standard_library() {
        for text in [
            "16777217",
            "16777219.0",
            "1.000000059604644775390625",
            "0.1",
            "33554434.00000001",
            "9007199254740993",
        ] {
            check(text, Some((text.parse().unwrap(), text.len())));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(text in "[+-]?([0-9]{1,12}(\\.[0-9]{0,12})?|\\.[0-9]{1,12})([eE][+-]?[0-9]{1,2})?") {
            check(&text, Some((text.parse().unwrap(), text.len())));
        }

        #[test]
        fn every_float_survives_writing_and_reading(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(whole(value.to_string().as_bytes()).map(f32::to_bits), Some(bits));
        }
    }
}
