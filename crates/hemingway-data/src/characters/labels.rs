//! What labels are like, and whether the order of the rows has to do with them.

use serde::{Deserialize, Serialize};

use super::View;
use crate::together::exchange;
use crate::{Error, Labels, Together};

/// What labels are like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LabelCharacters {
    /// Two classes.
    Classes {
        /// Rows of the class +1.
        positives: usize,
        /// Their share of all rows.
        positive_share: f64,
        /// The share of rows whose next row has the same label.
        neighbours_alike: f64,
        /// What that would be in random order.
        alike_by_chance: f64,
        /// How many standard deviations lie between the two.
        deviations: f64,
    },
    /// Quantities.
    Numbers {
        /// The smallest.
        min: f64,
        /// Their mean.
        mean: f64,
        /// The largest.
        max: f64,
        /// Their standard deviation.
        deviation: f64,
        /// The correlation of each with the next one, which is about 0 in random order.
        neighbour_correlation: f64,
        /// How many standard deviations it is from 0.
        deviations: f64,
    },
}

/// What a worker's targets say; those of its neighbours follow from the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Sums {
    rows: f64,
    sum: f64,
    min: f64,
    max: f64,
    ends: Option<(f32, f32)>,
    alike: f64,
}

impl LabelCharacters {
    pub(super) fn of(view: &View, together: &mut dyn Together) -> Result<LabelCharacters, Error> {
        let targets = view.data.targets.as_slice();
        let wide = |target: &f32| f64::from(*target);
        let alike = |pair: &[f32]| f64::from(u8::from(pair[0] == pair[1]));
        let mine = Sums {
            rows: targets.len() as f64,
            sum: targets.iter().map(wide).sum(),
            min: targets.iter().map(wide).fold(f64::INFINITY, f64::min),
            max: targets.iter().map(wide).fold(f64::NEG_INFINITY, f64::max),
            ends: targets.first().copied().zip(targets.last().copied()),
            alike: targets.windows(2).map(alike).sum(),
        };
        let (_, everyone) = exchange(together, Ok(mine), |mine| *mine)?;
        let ends: Vec<(f32, f32)> = everyone.iter().filter_map(|part| part.ends).collect();
        let seams = || ends.windows(2).map(|pair| [pair[0].1, pair[1].0]);
        let total = |of: fn(&Sums) -> f64| everyone.iter().map(of).sum::<f64>();
        let (rows, sum) = (total(|part| part.rows), total(|part| part.sum));
        if view.data.labels != Labels::Numbers {
            let same = total(|part| part.alike) + seams().map(|pair| alike(&pair)).sum::<f64>();
            return Ok(classes(rows, (rows + sum) / 2.0, same));
        }
        let min = everyone.iter().map(|part| part.min).fold(f64::INFINITY, f64::min);
        let max = everyone.iter().map(|part| part.max).fold(f64::NEG_INFINITY, f64::max);
        let (min, max) = if rows > 0.0 { (min, max) } else { (0.0, 0.0) };
        let mean = (sum / f64::max(rows, 1.0)).clamp(min, max);
        let product = |pair: &[f32]| (wide(&pair[0]) - mean) * (wide(&pair[1]) - mean);
        let squares: f64 = targets.iter().map(|target| (wide(target) - mean).powi(2)).sum();
        let products: f64 = targets.windows(2).map(product).sum();
        let (_, everyone) = exchange(together, Ok([squares, products]), |sums| *sums)?;
        let squares: f64 = everyone.iter().map(|sums| sums[0]).sum();
        let products = everyone.iter().map(|sums| sums[1]).sum::<f64>()
            + seams().map(|pair| product(&pair)).sum::<f64>();
        let correlation = if squares > 0.0 { (products / squares).clamp(-1.0, 1.0) } else { 0.0 };
        Ok(LabelCharacters::Numbers {
            min,
            mean,
            max,
            deviation: (squares / f64::max(rows, 1.0)).sqrt(),
            neighbour_correlation: correlation,
            deviations: correlation * rows.sqrt(),
        })
    }

    /// Whether rows that follow one another have labels that are alike, clearly and by more than a little.
    pub fn is_ordered(&self) -> bool {
        match *self {
            LabelCharacters::Classes { neighbours_alike, alike_by_chance, deviations, .. } => {
                deviations > CLEAR && neighbours_alike - alike_by_chance > MUCH
            }
            LabelCharacters::Numbers { neighbour_correlation, deviations, .. } => {
                deviations > CLEAR && neighbour_correlation > MUCH
            }
        }
    }
}

/// Chance alone hardly brings about more standard deviations than this.
const CLEAR: f64 = 5.0;
/// On much data every trifle is clear: this much is worth a word.
const MUCH: f64 = 0.05;

/// The runs test: how many neighbours are alike among all orders of so many labels.
fn classes(rows: f64, positives: f64, same: f64) -> LabelCharacters {
    let negatives = rows - positives;
    let pairs = (rows - 1.0).max(1.0);
    // Runs are one more than neighbours that differ.
    let expected = 2.0 * positives * negatives / f64::max(rows, 1.0);
    let variance = expected * (2.0 * positives * negatives - rows) / (f64::max(rows, 1.0) * pairs);
    let differing = (rows - 1.0).max(0.0) - same;
    let deviations = if variance > 0.0 { (expected - differing) / variance.sqrt() } else { 0.0 };
    LabelCharacters::Classes {
        positives: positives.round() as usize,
        positive_share: positives / f64::max(rows, 1.0),
        neighbours_alike: if rows > 1.0 { same / pairs } else { 1.0 },
        alike_by_chance: if rows > 1.0 { 1.0 - expected / pairs } else { 1.0 },
        deviations,
    }
}
