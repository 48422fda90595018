//! How figures are written on the page.

use super::accuracy::Accuracy;

/// 0.0123 → `1.2 %`.
pub(crate) fn percent(share: f64) -> String {
    match 100.0 * share {
        value if !value.is_finite() => "more than can be said".to_owned(),
        value if value < 0.95 => format!("{value:.2} %"),
        value if value < 9.95 => format!("{value:.1} %"),
        value => format!("{value:.0} %"),
    }
}

/// As part of a sentence.
pub(crate) fn accuracy(accuracy: Option<Accuracy>) -> String {
    match accuracy {
        None => "not known".to_owned(),
        Some(Accuracy { count, median_error, coverage }) => format!(
            "off by {} in the median of {count} predictions, and {} of the 90 % intervals hold what came",
            percent(median_error),
            percent(coverage)
        ),
    }
}

/// 60000 → `60,000`.
pub(crate) fn count(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// A time with three digits that count: 0.0123, 1.23, 12.3, 123.
pub(crate) fn significant(value: f64) -> String {
    let digits = (2.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 9.0);
    format!("{value:.*}", digits as usize)
}

/// A ratio: `1.004`, `2.54`, `12.3`; more digits near one, where they count.
pub(crate) fn times(ratio: f64) -> String {
    let digits = if ratio < 1.1 {
        3
    } else if ratio < 10.0 {
        2
    } else {
        1
    };
    format!("{ratio:.digits$}")
}
