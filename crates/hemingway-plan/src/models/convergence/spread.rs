//! How wide a 90 % interval is: from errors on held-out m, growing with the distance to what was measured.
//!
//! In the manner of conformal prediction: half an interval is the size that nine errors of ten did not exceed, and beyond
//! the measured m a little more, since few of them could be held out there.

use super::held_out::{Errors, Place, Split, weigh};

/// Without any held-out m: a factor of e in m may change log iterations by this much.
const UNKNOWN: f64 = 1.2;
/// However well the past was predicted, a factor of e in m beyond the measured ones may change this much.
const SURPRISE: f64 = 0.4;
/// A factor of e in iterations beyond the end of the runs may change log iterations by this much.
const LATER: f64 = 1.3;
/// How much wider an interval beyond the measured m is if a single one was held out.
const FEW: f64 = 1.5;
/// No interval is narrower than this, in logarithms.
const NARROWEST: f64 = 0.02;

/// Half intervals of one kind of error.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Width {
    measured: f64,
    inside: f64, // at a distance of 1 in log m
    beyond: f64,
}

/// Half intervals of log iterations and of levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    iterations: Width,
    levels: Width,
}

impl Spread {
    pub(crate) fn new(measured: &Split, splits: &[Split]) -> Self {
        let at = errors_of(std::iter::once((measured, None)));
        let [inside, beyond] = [Place::Inside, Place::Beyond].map(|place| held_out_errors(splits, place));
        let width = |pick: fn(&Errors) -> &[f64]| {
            let slope = |e: &Collected| e.width(pick) / e.distance;
            Width {
                measured: at.as_ref().map_or(NARROWEST, |e| e.width(pick)).max(NARROWEST),
                inside: inside.as_ref().map_or(UNKNOWN, slope),
                beyond: beyond.as_ref().map_or(UNKNOWN, |e| e.few() * slope(e)).max(SURPRISE),
            }
        };
        Self { iterations: width(|e| &e.iterations), levels: width(|e| &e.levels) }
    }

    /// Half an interval of log iterations.
    pub(crate) fn iterations(&self, place: Place, distance: f64, later: f64) -> f64 {
        self.iterations.half(place, distance, later)
    }

    /// Half an interval of a level, where levels fall so steeply over log iterations.
    pub(crate) fn levels(&self, place: Place, distance: f64, later: f64, slope: f64) -> f64 {
        self.levels.half(place, distance, slope * later)
    }
}

impl Width {
    fn half(self, place: Place, distance: f64, later: f64) -> f64 {
        let slope = match place {
            Place::Measured => 0.0,
            Place::Inside => self.inside,
            Place::Beyond => self.beyond,
        };
        self.measured.max(slope * distance).hypot(LATER * later)
    }
}

/// Errors of the weighted forms on several splits, at a distance that is typical of them.
struct Collected {
    all: Vec<Errors>,
    distance: f64,
}

impl Collected {
    /// What nine errors of ten, one more counted as the largest, did not exceed.
    fn width(&self, pick: fn(&Errors) -> &[f64]) -> f64 {
        let mut sizes: Vec<f64> = self.all.iter().flat_map(pick).map(|e| e.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let place = (0.9 * (sizes.len() + 1) as f64).ceil() as usize;
        sizes.get(place.min(sizes.len()).wrapping_sub(1)).copied().unwrap_or(UNKNOWN)
    }

    /// The factor for what a few m cannot show.
    fn few(&self) -> f64 {
        1.0 + FEW / self.all.len() as f64
    }
}

/// Errors on the held-out m of one place, with weights that were found without the m itself.
fn held_out_errors(splits: &[Split], place: Place) -> Option<Collected> {
    let here = || splits.iter().filter(move |s| s.place == place);
    errors_of(here().map(|split| {
        let others = here().filter(|other| !std::ptr::eq(*other, split));
        (split, weigh(others).or_else(|| weigh(splits.iter())))
    }))
}

fn errors_of<'a>(splits: impl Iterator<Item = (&'a Split, Option<Vec<f64>>)>) -> Option<Collected> {
    let (mut all, mut distances) = (Vec::new(), Vec::new());
    for (split, weights) in splits {
        let weights = weights.or_else(|| weigh(std::iter::once(split)))?;
        all.extend(split.errors(&weights));
        distances.push(split.distance);
    }
    let distance = distances.iter().sum::<f64>() / distances.len().max(1) as f64;
    (!all.is_empty()).then_some(Collected { all, distance })
}
