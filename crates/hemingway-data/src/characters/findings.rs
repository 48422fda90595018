//! What a careful colleague would point out: one sentence with its values, and the next step.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::pass::{Counts, Feature, Range};
use super::{Characters, LabelCharacters, feature_number};
use crate::{Dataset, Labels};

/// Scales of features that are further apart than this, as a factor, slow most methods down.
const SCALES: f64 = 100.0;
/// A row so many times as long as the median one dominates.
const LONG: f64 = 100.0;
/// A class with a smaller share of the rows is rare.
const FEW: f64 = 0.05;
/// A smaller share of something is not worth a word.
const SOME: f64 = 0.01;
/// Features that occur once are worth a word from this share of all features on.
const ONCE: f64 = 0.2;
/// A column that correlates so much with the label says what it is.
const LEAK: f64 = 0.99;
/// How likely it may be that chance alone tells the classes apart by one of all columns.
const CHANCE: f64 = 1e-3;
/// Rows that follow one another are alike if they are nearer than this share of what random rows are.
const NEARER: f64 = 0.9;

/// Something that should be looked into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// One sentence with its values.
    pub text: String,
    /// The next step.
    pub advice: String,
}

/// Kinds of findings, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All rows have one label.
    SingleClass,
    /// A column alone says what the label is.
    Leak,
    /// Rows are ordered by their label.
    OrderedByLabel,
    /// Rows that follow one another are alike.
    SimilarNeighbours,
    /// One class is rare.
    RareClass,
    /// Features differ in scale by orders of magnitude.
    Scales,
    /// A few rows are far longer than the others.
    LongRows,
    /// Rows that are copies of others.
    DuplicateRows,
    /// Rows that nearly are.
    NearDuplicates,
    /// Columns that are zero throughout.
    EmptyColumns,
    /// Columns with the same value throughout.
    ConstantColumns,
    /// Columns that are copies of others.
    DuplicateColumns,
    /// Features that occur in one row only.
    RareFeatures,
}

/// Looks for all of them.
pub(super) fn look(of: &Characters, data: &Dataset, counts: &Counts, features: &[Feature]) -> Vec<Finding> {
    let look = Look { of, data, counts, features };
    let mut findings: Vec<Finding> = [
        look.single_class(),
        look.leak(),
        look.ordered_by_label(),
        look.similar_neighbours(),
        look.rare_class(),
        look.scales(),
        look.long_rows(),
        look.duplicate_rows(),
        look.near_duplicates(),
        look.empty_columns(),
        look.constant_columns(),
        look.duplicate_columns(),
        look.rare_features(),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.sort_by_key(|finding| finding.kind);
    findings
}

struct Look<'a> {
    of: &'a Characters,
    data: &'a Dataset,
    counts: &'a Counts,
    features: &'a [Feature],
}

impl Look<'_> {
    fn single_class(&self) -> Option<Finding> {
        let LabelCharacters::Classes { positives, .. } = self.of.labels else { return None };
        let Labels::Classes { positive, negative } = &self.data.labels else { return None };
        let only = match positives {
            0 => negative,
            all if all == self.of.rows => positive,
            _ => return None,
        };
        found(
            Kind::SingleClass,
            format!("All {} have the label {only}.", counted(self.of.rows, "row")),
            "There is nothing to learn: check that the file is complete, and what --positive names.",
        )
    }

    fn leak(&self) -> Option<Finding> {
        let mut best: Option<(f64, usize, String)> = None;
        let mut count = 0;
        for column in 0..self.features.len() {
            if let Some((strength, how)) = self.tells(column) {
                count += 1;
                if best.as_ref().is_none_or(|(most, ..)| strength > *most) {
                    best = Some((strength, column, how));
                }
            }
        }
        let (_, column, how) = best?;
        let others =
            if count > 1 { format!(" So do {} more.", counted(count - 1, "column")) } else { String::new() };
        found(
            Kind::Leak,
            format!("Feature {} alone predicts the label: {how}.{others}", self.name(column)),
            "Make sure that it is known before the label is; if not, leave it out.",
        )
    }

    /// Whether this column alone says what the label is, how strongly, and how it does that.
    fn tells(&self, column: usize) -> Option<(f64, String)> {
        let feature = &self.features[column];
        if feature.is_constant() {
            return None;
        }
        let correlation = self.correlation(column);
        if let Labels::Numbers = self.data.labels {
            let strong = correlation.abs() > LEAK && self.of.rows > 10;
            return strong.then(|| (correlation.abs(), format!("their correlation is {correlation:.3}")));
        }
        let [no, yes] = feature.ranges;
        let apart = no.high < yes.low || yes.high < no.low;
        if apart && self.cannot_be_chance() {
            let (below, above) = if no.high < yes.low { (no.high, yes.low) } else { (yes.high, no.low) };
            let how = format!(
                "it is at most {} in one class and at least {} in the other",
                short(below),
                short(above)
            );
            return Some((2.0, how));
        }
        let strong = correlation.abs() > LEAK && self.cannot_be_chance();
        strong.then(|| (correlation.abs(), format!("their correlation is {correlation:.3}")))
    }

    /// The classes of few rows are told apart by one of many columns just so.
    fn cannot_be_chance(&self) -> bool {
        let [a, b] = self.counts.classes.map(|rows| rows as f64);
        let (few, all) = (a.min(b), a + b);
        // ln of the number of ways to choose the rarer class, of which two put it at an end.
        let choices: f64 =
            (0..few.min(1000.0) as usize).map(|k| ((all - k as f64) / (few - k as f64)).ln()).sum();
        few >= 1.0 && choices > (2.0 * self.features.len() as f64 / CHANCE).ln()
    }

    /// Of a column and the label.
    fn correlation(&self, column: usize) -> f64 {
        let feature = &self.features[column];
        let targets = match self.of.labels {
            LabelCharacters::Numbers { deviation, .. } => deviation * deviation * self.of.rows as f64,
            LabelCharacters::Classes { .. } => {
                let [a, b] = self.counts.classes.map(|rows| rows as f64);
                4.0 * a * b / (a + b).max(1.0)
            }
        };
        let scale = (feature.deviation * targets).sqrt();
        if scale > 0.0 && scale.is_finite() { (feature.with_target / scale).clamp(-1.0, 1.0) } else { 0.0 }
    }

    fn ordered_by_label(&self) -> Option<Finding> {
        if !self.of.labels.is_ordered() {
            return None;
        }
        let text = match &self.of.labels {
            LabelCharacters::Classes { neighbours_alike, alike_by_chance, .. } => format!(
                "Rows are ordered by their label: {} of neighbours have the same one, by chance it would be {}.",
                percent(*neighbours_alike),
                percent(*alike_by_chance)
            ),
            LabelCharacters::Numbers { neighbour_correlation, .. } => format!(
                "Rows are ordered by their label: that of a row and of the next one correlate by {neighbour_correlation:.2}."
            ),
        };
        found(Kind::OrderedByLabel, text, SHUFFLE)
    }

    fn similar_neighbours(&self) -> Option<Finding> {
        let (order, random) = (&self.of.order, self.of.order.shuffled);
        let near = order.given.iter().filter(|of| of.range < self.of.rows / 2);
        let near = near.filter(|of| of.distance.mean < NEARER * random.mean && of.distance.high < random.low);
        let widest = near.max_by_key(|of| of.range)?;
        let text = format!(
            "Rows that follow one another are alike: a row differs from the next {} in {} features on average, from \
             random rows in {}.",
            widest.range,
            short(widest.distance.mean as f32),
            short(random.mean as f32)
        );
        let advice = if self.of.labels.is_ordered() { "--shuffle helps against this too." } else { SHUFFLE };
        found(Kind::SimilarNeighbours, text, advice)
    }

    fn rare_class(&self) -> Option<Finding> {
        let LabelCharacters::Classes { positives, positive_share, .. } = self.of.labels else { return None };
        let Labels::Classes { positive, negative } = &self.data.labels else { return None };
        let (share, count, name, other) = if positive_share <= 0.5 {
            (positive_share, positives, positive, negative)
        } else {
            (1.0 - positive_share, self.of.rows - positives, negative, positive)
        };
        if count == 0 || share >= FEW {
            return None;
        }
        let text = format!(
            "Only {} ({}) have the label {name}: who always says {other} is right for {}.",
            counted(count, "row"),
            percent(share),
            percent(1.0 - share)
        );
        found(
            Kind::RareClass,
            text,
            "Do not judge a model by its accuracy; look at its margins (`hemingway predict --margins`).",
        )
    }

    fn scales(&self) -> Option<Finding> {
        let n = self.of.rows as f64;
        let scale = |feature: &Feature| {
            // What a feature is like where it occurs: its root mean square over values that are not zero.
            let squares = feature.deviation + n * feature.mean * feature.mean;
            (squares / feature.nonzeros.max(1) as f64).sqrt()
        };
        let vary = || self.features.iter().enumerate().filter(|(_, of)| !of.is_constant() && of.nonzeros > 1);
        let (small, least) = vary().map(|(at, of)| (at, scale(of))).min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (large, most) = vary().map(|(at, of)| (at, scale(of))).max_by(|a, b| a.1.total_cmp(&b.1))?;
        if least <= 0.0 || most / least < SCALES {
            return None;
        }
        let text = format!(
            "Features differ in scale by a factor of {}: values of feature {} are about {}, those of feature {} about {}.",
            short((most / least) as f32),
            self.name(small),
            short(least as f32),
            self.name(large),
            short(most as f32)
        );
        found(
            Kind::Scales,
            text,
            "Train with --standardise: most methods then need far fewer rounds, and the penalty treats features alike.",
        )
    }

    fn long_rows(&self) -> Option<Finding> {
        let norms = &self.of.row_norms;
        if norms.median <= 0.0 || norms.max < LONG * norms.median {
            return None;
        }
        let text = format!(
            "The longest row has length {}, the median one {}.",
            short(norms.max as f32),
            short(norms.median as f32)
        );
        found(
            Kind::LongRows,
            text,
            "Look for slips in the data; --normalise rows brings all rows to length 1.",
        )
    }

    fn duplicate_rows(&self) -> Option<Finding> {
        let distinct = self.of.diversity.distinct_rows;
        let copies = 1.0 - self.of.diversity.distinct_share.mean;
        if copies < SOME || self.of.rows < 2 {
            return None;
        }
        let about = if distinct.is_exact() { "" } else { "about " };
        let text = format!(
            "{} of the rows are copies of others: {about}{} of {} are different.",
            percent(copies),
            grouped(distinct.mean.round() as usize),
            grouped(self.of.rows)
        );
        found(
            Kind::DuplicateRows,
            text,
            "Workers that have the same rows repeat each other's work; keep copies out of test data.",
        )
    }

    fn near_duplicates(&self) -> Option<Finding> {
        let near = self.of.diversity.near_duplicates;
        // Where there are few features every row has rows nearby.
        if near.low < 0.5 || near.low > 0.01 * self.of.rows as f64 {
            return None;
        }
        let text = format!(
            "A row has about {} near-duplicates ({} to {}) among the others.",
            short(near.mean as f32),
            short(near.low as f32),
            short(near.high as f32)
        );
        found(Kind::NearDuplicates, text, "Keep near-duplicates of training rows out of test data.")
    }

    fn empty_columns(&self) -> Option<Finding> {
        let columns = self.columns(|feature| feature.nonzeros == 0);
        let text = format!("{} zero in all rows{}.", are(columns.len()), self.examples(&columns));
        found(Kind::EmptyColumns, text, "They cost time and memory but change no model; leave them out.")
            .filter(|_| !columns.is_empty() && self.of.nonzeros > 0)
    }

    fn constant_columns(&self) -> Option<Finding> {
        let columns =
            self.columns(|feature| feature.nonzeros > 0 && feature.is_constant() && self.of.rows > 1);
        let text = format!("{} the same in all rows{}.", are(columns.len()), self.examples(&columns));
        found(
            Kind::ConstantColumns,
            text,
            "Leave them out and train with --bias instead, which the penalty leaves alone.",
        )
        .filter(|_| !columns.is_empty())
    }

    fn duplicate_columns(&self) -> Option<Finding> {
        let mut seen: HashMap<(u64, u64, u32, u32), usize> = HashMap::new();
        let (mut copies, mut example) = (0, None);
        for (column, of) in self.features.iter().enumerate().filter(|(_, of)| !of.is_constant()) {
            let Range { low, high } = of.range();
            // Minus zero is zero.
            let key = (of.hash, of.nonzeros, (low + 0.0).to_bits(), (high + 0.0).to_bits());
            match seen.get(&key) {
                Some(first) => {
                    copies += 1;
                    example.get_or_insert((*first, column));
                }
                None => {
                    seen.insert(key, column);
                }
            }
        }
        let (first, copy) = example?;
        let text = format!(
            "{} a copy of another, for example feature {} of feature {}.",
            if copies == 1 {
                "1 column is".to_owned()
            } else {
                format!("{} columns are each", grouped(copies))
            },
            self.name(copy),
            self.name(first)
        );
        found(Kind::DuplicateColumns, text, "Leave copies out: they only share the weight of the original.")
    }

    fn rare_features(&self) -> Option<Finding> {
        let once = self.features.iter().filter(|feature| feature.nonzeros == 1).count();
        let share = once as f64 / self.features.len().max(1) as f64;
        if share < ONCE || self.of.rows < 10 {
            return None;
        }
        let text = format!(
            "{} of {} features ({}) occur in a single row.",
            grouped(once),
            grouped(self.features.len()),
            percent(share)
        );
        found(
            Kind::RareFeatures,
            text,
            "Leave them out where size matters: they fit single rows and say nothing of others.",
        )
    }

    fn columns(&self, are: impl Fn(&Feature) -> bool) -> Vec<usize> {
        (0..self.features.len()).filter(|column| are(&self.features[*column])).collect()
    }

    fn examples(&self, columns: &[usize]) -> String {
        let names: Vec<String> =
            columns.iter().take(3).map(|column| self.name(*column).to_string()).collect();
        let more = if columns.len() > names.len() { ", …" } else { "" };
        format!(" (feature {}{more})", names.join(", "))
    }

    /// A feature as the user counts: from 1.
    fn name(&self, column: usize) -> usize {
        feature_number(self.data, column) + 1
    }
}

const SHUFFLE: &str = "Train with --shuffle: methods that go through rows in order, and workers with neighbouring rows, \
    otherwise see one kind at a time.";

fn found(kind: Kind, text: String, advice: &str) -> Option<Finding> {
    Some(Finding { kind, text, advice: advice.to_owned() })
}

fn are(columns: usize) -> String {
    if columns == 1 { "1 column is".to_owned() } else { format!("{} columns are", grouped(columns)) }
}

fn counted(number: usize, one: &str) -> String {
    format!("{} {one}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// 60000 → `60,000`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

fn percent(share: f64) -> String {
    let value = 100.0 * share;
    if value >= 10.0 || value == 0.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// Three digits at most.
fn short(value: f32) -> String {
    let value = f64::from(value);
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e5).contains(&size) => {
            let digits = (2.0 - size.log10().floor()).max(0.0) as usize;
            let text = format!("{value:.digits$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
        _ => format!("{value:.1e}"),
    }
}
