//! How figures are written for people.

use hemingway::data::Labels;
use hemingway::{DatasetSummary, Effort, Estimate, Point, TrainReport};

/// 60000 → `60,000`.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Features as the user counts them, and how many of them occur where not all have weights.
pub fn features(data: &DatasetSummary) -> String {
    let occurring = data.occurring.map(|occurring| format!(", {} of which occur", count(occurring)));
    format!("{}{}", counted(data.features, "feature"), occurring.unwrap_or_default())
}

/// One of it, or many: `1 worker`, `4 workers`.
pub fn counted(number: usize, one: &str) -> String {
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A fraction, from zero up, to two digits at least: 0.00084 → `0.084 %`.
pub fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    match value.abs() {
        0.0 => "0 %".to_owned(),
        size if size < 1e-4 => format!("{value:.1e} %"),
        size if size < 10.0 => format!("{value:.*} %", (1.0 - size.log10().floor()) as usize),
        _ => format!("{} %", count(value.round() as usize)),
    }
}

/// The share of rows that are right: 0.97136 → `97.14 %`.
pub fn share(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

/// An objective, or another number whose first digits matter.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if !value.is_finite() || size == 0.0 => value.to_string(),
        size if (1e-3..1e6).contains(&size) => {
            format!("{value:.*}", (5.0 - size.log10().floor()).clamp(0.0, 8.0) as usize)
        }
        _ => format!("{value:.5e}"),
    }
}

/// A relative error as it is asked for, with two digits at most: `1e-4`, `1.9e-5`, `0.45`, `2.5e2`.
pub fn error(error: f64) -> String {
    match error {
        e if e <= 0.0 || !e.is_finite() => e.to_string(),
        e if (0.0995..0.995).contains(&e) => rounded(e),
        e if (0.995..9.95).contains(&e) => format!("{e:.1}").replace(".0", ""),
        e => format!("{e:.1e}").replace(".0e", "e"),
    }
}

/// An error that is only predicted. Far below what anybody asks for it is no more than that.
pub fn predicted_error(value: f64) -> String {
    if value < SMALLEST_PREDICTED { format!("below {SMALLEST_PREDICTED:e}") } else { error(value) }
}

/// Errors below this are not told apart.
const SMALLEST_PREDICTED: f64 = 1e-9;

/// The certified relative error of a point; a dash as long as no lower bound is proved that it could be relative to.
pub fn certified(point: &Point) -> String {
    if point.dual > 0.0 && point.certified_error.is_finite() {
        error(point.certified_error)
    } else {
        NONE.to_owned()
    }
}

/// The same of a finished run.
pub fn proved(report: &TrainReport) -> String {
    let error = report.certified_error.filter(|_| !report.relative_to_start);
    error.map_or_else(|| NONE.to_owned(), self::error)
}

/// `3 epochs, 12.4 MB sent per worker`; iterations too where they are not the rounds. Nothing of a run that did not count.
pub fn effort(effort: &Effort, rounds: u64) -> Option<String> {
    let Effort { iterations, epochs, bytes_per_worker } = *effort;
    let other = iterations != 0 && iterations != rounds;
    let parts = [
        other.then(|| counted(iterations as usize, "iteration")),
        (!epochs.is_nan())
            .then(|| format!("{} epoch{}", rounded_count(epochs), if epochs == 1.0 { "" } else { "s" })),
        (bytes_per_worker > 0.0).then(|| format!("{} sent per worker", bytes(bytes_per_worker as u64))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A count that need not be whole, with two digits after the point at most: `0.08`, `3`, `12.5`, `1,234`.
pub fn rounded_count(value: f64) -> String {
    match value {
        v if v.is_nan() => NONE.to_owned(),
        v if v < 10.0 => rounded(v),
        v if v < 1e3 => format!("{v:.1}").replace(".0", ""),
        v => count(v.round() as usize),
    }
}

/// Where there is no figure.
pub const NONE: &str = "-";

/// A count that is only predicted: two digits of it.
pub fn rough_count(value: f64) -> String {
    let size = 10f64.powf((value.max(1.0).log10().floor() - 1.0).max(0.0));
    if value > MANY { "> 1 million".to_owned() } else { count(((value / size).round() * size) as usize) }
}

/// Nobody waits for more rounds than this.
const MANY: f64 = 1e6;

/// Two digits after the point at most: `0.45`, `4`.
pub fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Money, with two digits at least: `0.00045`, `0.12`, `23.80`.
pub fn cost(cost: f64) -> String {
    match cost {
        c if c <= 0.0 || !c.is_finite() => c.to_string(),
        c if c < 1e-7 => error(c),
        c if c < 1.0 => format!("{c:.*}", (1.0 - c.log10().floor()) as usize),
        c if c < 1e4 => format!("{c:.2}"),
        c => count(c as usize),
    }
}

/// A time that is only predicted: two or three digits of it.
pub fn predicted_duration(seconds: f64) -> String {
    const HOUR: f64 = 3600.0;
    const DAY: f64 = 24.0 * HOUR;
    match seconds {
        s if s < 120.0 => duration(s),
        s if s < 600.0 => format!("{:.1} min", s / 60.0),
        s if s < 2.0 * HOUR => format!("{:.0} min", s / 60.0),
        s if s < 10.0 * HOUR => format!("{:.1} h", s / HOUR),
        s if s < 2.0 * DAY => format!("{:.0} h", s / HOUR),
        s if s < 365.0 * DAY => format!("{:.0} days", s / DAY),
        _ => "> 1 year".to_owned(),
    }
}

/// `12 s (8 s to 20 s)`, or `12 s` where that is certain.
pub fn interval(estimate: &Estimate, write: fn(f64) -> String) -> String {
    let Estimate { low, mean, high } = estimate;
    let [low, mean, high] = [low, mean, high].map(|value| write(*value));
    if low == high { mean } else { format!("{mean} ({low} to {high})") }
}

/// A length of time with the unit that suits it.
pub fn duration(seconds: f64) -> String {
    // Rounded first, so that there are no 60 seconds in a minute.
    let parted = |whole: f64| ((whole / 60.0).floor(), whole % 60.0);
    match seconds {
        s if s > 0.0 && s < 5e-7 => "below 1 µs".to_owned(),
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 9.95e-3 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => {
            let (minutes, seconds) = parted(s.round());
            format!("{minutes:.0} min {seconds:.0} s")
        }
        s => {
            let (hours, minutes) = parted((s / 60.0).round());
            format!("{hours:.0} h {minutes:.0} min")
        }
    }
}

/// A size: 2345678 → `2.3 MB`.
pub fn bytes(bytes: u64) -> String {
    let value = bytes as f64;
    match value {
        b if b < 1e3 => format!("{bytes} bytes"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}

/// How long ago.
pub fn ago(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => "just now".to_owned(),
        s if s < 3600.0 => format!("{:.0} min ago", (s / 60.0).floor()),
        s if s < 2.0 * 86_400.0 => format!("{:.0} h ago", (s / 3600.0).floor()),
        s => format!("{:.0} days ago", (s / 86_400.0).floor()),
    }
}

/// A moment in Unix time as `2026-11-15 10:22:29 UTC`.
pub fn moment(unix: f64) -> String {
    let seconds = unix as i64;
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", rest / 3600, rest / 60 % 60, rest % 60)
}

/// `5 → +1, rest → −1`, or what else targets are.
pub fn labels(labels: &Labels) -> String {
    match labels {
        Labels::Classes { negative, positive } => format!("{positive} → +1, {negative} → −1"),
        Labels::Several(names) => {
            let shown = names.iter().take(NAMED_CLASSES).cloned().collect::<Vec<_>>().join(", ");
            let more = if names.len() > NAMED_CLASSES { ", …" } else { "" };
            format!("{} classes, each against the rest: {shown}{more}", names.len())
        }
        Labels::Numbers => "labels are numbers".to_owned(),
    }
}

/// So many of several classes are named.
const NAMED_CLASSES: usize = 10;

/// `rows count by class: no 1, yes 3`, where that was asked for.
pub fn class_weights(data: &DatasetSummary) -> Option<String> {
    let weights = data.class_weights.iter();
    let weights: Vec<String> =
        weights.map(|counted| format!("{} {}", counted.class, counted.weight)).collect();
    (!weights.is_empty()).then(|| format!("rows count by class: {}", weights.join(", ")))
}

/// Howard Hinnant's civil_from_days: the calendar date of a day counted from 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(
            [count(7), count(999), count(60_000), count(1_234_567)],
            ["7", "999", "60,000", "1,234,567"]
        );
        assert_eq!(
            [percent(0.00084), percent(0.012), percent(0.45), percent(3e-9)],
            ["0.084 %", "1.2 %", "45 %", "3.0e-7 %"]
        );
        assert_eq!(percent(0.0001), "0.010 %");
        assert_eq!(percent(125.73), "12,573 %");
        assert_eq!(
            [number(0.0878120501), number(12.5), number(1e-9)],
            ["0.0878121", "12.5000", "1.00000e-9"]
        );
        assert_eq!([duration(0.42), duration(2.347), duration(200.0)], ["420 ms", "2.35 s", "3 min 20 s"]);
        assert_eq!([duration(2e-6), duration(1.23e-3), duration(179.7)], ["2 µs", "1.2 ms", "3 min 0 s"]);
        assert_eq!([duration(7_199.0), duration(10_799.0)], ["119 min 59 s", "3 h 0 min"]);
        assert_eq!([ago(5.0), ago(125.0), ago(86_400.0 * 3.5)], ["just now", "2 min ago", "3 days ago"]);
        assert_eq!([bytes(17), bytes(2345), bytes(2_345_678)], ["17 bytes", "2.3 kB", "2.3 MB"]);
        assert_eq!([counted(1, "worker"), counted(4, "worker")], ["1 worker", "4 workers"]);
    }

    #[test]
    fn effort_is_said_as_far_as_it_is_known() {
        let of = |iterations, epochs, bytes_per_worker| Effort { iterations, epochs, bytes_per_worker };
        let said =
            [of(7, 3.0, 12.4e6), of(70_000, 0.081, 0.0), of(7, 1.0, f64::NAN)].map(|of| effort(&of, 7));
        let expected = ["3 epochs, 12.4 MB sent per worker", "70,000 iterations, 0.08 epochs", "1 epoch"];
        assert_eq!(said, expected.map(|text| Some(text.to_owned())));
        assert_eq!(effort(&Effort::unknown(), 7), None);
        assert_eq!([10.0, 12.34, 999.0, 1234.4].map(rounded_count), ["10", "12.3", "999", "1,234"]);
    }

    #[test]
    fn errors_are_written_as_they_are_asked_for() {
        let written = [1e-4, 0.001, 1.92e-5, 9.99e-5, 0.45, 0.1, 1.0, 0.5, 2.46, 247.3].map(error);
        assert_eq!(written, ["1e-4", "1e-3", "1.9e-5", "1e-4", "0.45", "0.1", "1", "0.5", "2.5", "2.5e2"]);
        assert_eq!([predicted_error(1e-12), predicted_error(2e-9)], ["below 1e-9", "2e-9"]);
    }

    #[test]
    fn predictions_claim_no_more_digits_than_they_have() {
        assert_eq!([rough_count(48.3), rough_count(1234.0)], ["48", "1,200"]);
        assert_eq!(rough_count(85_572_287.0), "> 1 million");
        let estimate = |low, mean, high| Estimate { low, mean, high };
        assert_eq!(interval(&estimate(0.1, 0.2, 0.4), duration), "200 ms (100 ms to 400 ms)");
        assert_eq!(interval(&estimate(1e-12, 1e-11, 1e-10), predicted_error), "below 1e-9");
        assert_eq!(
            [13.0, 130.0, 1000.0, 8e4, 1e6, 1e9].map(predicted_duration),
            ["13.0 s", "2.2 min", "17 min", "22 h", "12 days", "> 1 year"]
        );
        assert_eq!([4.5e-4, 0.123, 23.8, 23_809.2].map(cost), ["0.00045", "0.12", "23.80", "23,809"]);
        assert_eq!([duration(0.0), duration(1e-9)], ["0 µs", "below 1 µs"]);
    }

    #[test]
    fn moments_are_on_the_calendar() {
        assert_eq!(moment(0.0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_782_399.9), "2000-02-28 23:59:59 UTC");
        assert_eq!(moment(951_782_400.0), "2000-02-29 00:00:00 UTC");
        assert_eq!(moment(1_794_738_149.0), "2026-11-15 10:22:29 UTC");
    }
}
