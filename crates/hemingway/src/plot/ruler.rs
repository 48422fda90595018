//! An axis with its data, as plotters wants it: where values go in pixels, which of them are named, and how.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::Axis;

/// An axis that knows its ends.
pub(super) struct Ruler {
    axis: Axis,
    positions: Range<f64>,
}

impl Ruler {
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Ruler {
        Ruler { positions: axis.range(values), axis: axis.clone() }
    }
}

impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let Range { start, end } = self.positions;
        let share = (self.axis.position(*value) - start) / (end - start);
        first + (share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.axis.ticks(&self.positions)
    }

    fn range(&self) -> Range<f64> {
        self.axis.value(self.positions.start)..self.axis.value(self.positions.end)
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format_ext(&self, value: &f64) -> String {
        self.axis.name(*value)
    }
}
