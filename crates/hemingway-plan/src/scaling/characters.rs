//! The characters of data and problem that may say how far algorithms scale: a positive number each, and how it is told.
//!
//! They are those of the paper (variance, sparsity, diversity, and how alike rows are), those that theory names (the spread of
//! the spectrum, curvatures over the penalty, the noise of gradients, crowding), and the size. The fit takes few of them.

use hemingway_data::{Characters, LabelCharacters};
use hemingway_train::{GradientNoise, SampledProfile};

/// A character with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Character {
    /// What the fit calls it.
    pub name: &'static str,
    /// Positive, however degenerate the data is.
    pub value: f64,
    /// How it is told, with a place for the value.
    words: &'static str,
}

/// Values outside of this range say no more.
const LEAST: f64 = 1e-6;
const MOST: f64 = 1e9;
/// Probabilities below this are not told apart: as many pairs are looked at.
const RARE: f64 = 1e-3;
/// The crowding of so many workers.
const WORKERS: usize = 16;

impl Character {
    /// The part of a sentence that names it.
    pub fn told(&self) -> String {
        self.words.replace("{}", &digits(self.value))
    }
}

/// All of them.
pub fn characters(data: &Characters, sample: &SampledProfile, lambda: f64) -> Vec<Character> {
    let rows = data.rows.max(1) as f64;
    // Eigenvalues that are there several times are found once.
    let found: f64 = sample.spectrum.iter().map(|(value, count)| value * count).sum();
    let squares = found.max(data.total_variance);
    let largest = sample.spectrum.first().map_or(0.0, |(value, _)| *value);
    let second = sample.spectrum.get(1).map_or(largest, |(value, _)| *value);
    let variance = |at: Option<&GradientNoise>| at.map_or(0.0, |noise| noise.variance);
    let (early, late) = (variance(sample.gradients.first()), variance(sample.gradients.last()));
    let crowding = sample.crowding.iter().take_while(|of| of.workers <= WORKERS).last();
    let lost = (sample.rows / 2) as f64;
    let noise =
        |at: Option<&GradientNoise>| at.map_or(1.0, |noise| noise.noise_scale.unwrap_or(lost).min(lost));
    let rarer = match data.labels {
        LabelCharacters::Classes { positive_share, .. } => positive_share.min(1.0 - positive_share),
        LabelCharacters::Numbers { .. } => 0.5,
    };
    let of = |name, value: f64, words| Character {
        name,
        value: if value.is_finite() { value.clamp(LEAST, MOST) } else { 1.0 },
        words,
    };
    vec![
        of("rows", rows, "there are {} rows"),
        of("lambda", lambda, "lambda is {}"),
        of("density", data.density, "a share of {} of the values is not zero"),
        of("omega", data.row_nonzeros.max, "the longest row has Omega = {} values"),
        of("delta", data.delta, "the most frequent feature is in a share of delta = {} of the rows"),
        of("rho", data.rho.mean.max(RARE), "two random rows share a feature with probability rho = {}"),
        of("variance", data.total_variance, "the variance of all features together is {}"),
        of(
            "varied",
            ratio(data.total_variance, squares),
            "the variance is a share of {} of the mean squared norm",
        ),
        of("c_sim", data.order.shuffled.mean, "two random rows differ in C_sim = {} features"),
        of("distinct", data.diversity.distinct_share.mean, "a share of {} of the rows is different"),
        of("squares", squares, "the mean squared norm of a row is {}"),
        of(
            "longest",
            ratio(data.row_norms.max, data.row_norms.median),
            "the longest row is {} times as long as usual",
        ),
        of("spread", ratio(squares, largest), "the mean squared norm is {} times the largest eigenvalue"),
        of("second", ratio(squares, second), "the mean squared norm is {} times the second eigenvalue"),
        of(
            "late variance",
            ratio(late, squares),
            "on the way, gradients vary by {} of the mean squared norm",
        ),
        of("settled", ratio(early, late), "gradients vary {} times as much at the beginning as on the way"),
        of("dimension", sample.effective_dimension, "{} dimensions are effective at this lambda"),
        of("kappa", 1.0 + squares / (lambda * rows), "1 + R²/(lambda n) is {}"),
        of("condition", 1.0 + largest / lambda, "the condition 1 + L/lambda is {}"),
        of("steepness", 1.0 + squares / lambda, "1 + R²/lambda is {}"),
        of(
            "noise",
            noise(sample.gradients.first()),
            "the noise scale of gradients at the beginning is {} rows",
        ),
        of(
            "late noise",
            noise(sample.gradients.last()),
            "the noise scale of gradients on the way is {} rows",
        ),
        of("crowding", crowding.map_or(1.0, |of| of.least), "sigma' of 16 workers is {}"),
        of("rarer class", rarer.max(RARE), "the rarer class has a share of {}"),
    ]
}

/// A whole number, with a comma after each three digits.
pub(super) fn grouped(value: f64) -> String {
    let text = format!("{value:.0}");
    let commas = |at: usize| at > 0 && (text.len() - at).is_multiple_of(3) && text.as_bytes()[at - 1] != b'-';
    text.char_indices().flat_map(|(at, digit)| commas(at).then_some(',').into_iter().chain([digit])).collect()
}

fn ratio(of: f64, over: f64) -> f64 {
    if over > 0.0 { of / over } else { 1.0 }
}

/// Two digits or more, from a thousand on two and zeros.
fn digits(value: f64) -> String {
    if value.abs() >= 1000.0 {
        let unit = 10_f64.powf(value.abs().log10().floor() - 1.0);
        return grouped((value / unit).round() * unit);
    }
    let places = (1.0 - value.abs().log10().floor()).clamp(0.0, 7.0) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
