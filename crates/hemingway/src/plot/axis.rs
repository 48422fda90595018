//! Where values go on an axis, and which of them are named.
//!
//! An axis turns values into positions, their logarithms if it is a logarithmic one. Plotters has logarithmic scales of
//! its own, but names too many values on them.

use std::ops::Range;

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// What it measures, with the unit.
    pub label: &'static str,
    pub scale: Scale,
    /// The smallest and largest value shown, where the data is not to decide.
    pub limits: Option<(f64, f64)>,
}

/// How values are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    /// Logarithmic, named at powers of ten.
    Decades,
    /// Logarithmic, named at powers of two.
    Doublings,
}

impl Axis {
    pub fn new(label: &'static str, scale: Scale) -> Axis {
        Axis { label, scale, limits: None }
    }

    /// The same axis with its ends fixed.
    pub fn within(self, low: f64, high: f64) -> Axis {
        Axis { limits: Some((low, high)), ..self }
    }

    /// Whether a value has a place on it.
    pub fn shows(&self, value: f64) -> bool {
        let inside = self.limits.is_none_or(|(low, high)| (low..=high).contains(&value));
        inside && self.position(value).is_finite()
    }

    /// Where a value goes.
    pub fn position(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Decades => value.log10(),
            Scale::Doublings => value.log2(),
        }
    }

    /// The positions between which all values lie, with a little air.
    pub fn range(&self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let positions = values.map(|value| self.position(value)).filter(|position| position.is_finite());
        let (mut low, mut high) =
            positions.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        if let Some((first, last)) = self.limits {
            (low, high) = (self.position(first), self.position(last));
        }
        if !(low.is_finite() && high.is_finite()) {
            (low, high) = (0.0, 1.0);
        }
        let air = ((high - low) * 0.03).max(1e-9);
        low - air..high + air
    }

    /// The values between two positions that are named.
    pub fn ticks(&self, range: &Range<f64>) -> Vec<f64> {
        let width = range.end - range.start;
        let step = match self.scale {
            Scale::Linear => round_step(width / 6.0),
            Scale::Decades | Scale::Doublings => (width / 9.0).ceil().max(1.0),
        };
        let first = (range.start / step).ceil() as i64;
        let last = (range.end / step).floor() as i64;
        (first..=last).map(|k| self.value(k as f64 * step)).collect()
    }

    /// What is at a position.
    pub fn value(&self, position: f64) -> f64 {
        match self.scale {
            Scale::Linear => position,
            Scale::Decades => 10f64.powf(position),
            Scale::Doublings => position.exp2(),
        }
    }

    /// A value in words.
    pub fn name(&self, value: f64) -> String {
        match self.scale {
            Scale::Decades => format!("10{}", superscript(value.log10().round() as i64)),
            Scale::Linear | Scale::Doublings => format!("{}", (value * 1e6).round() / 1e6),
        }
    }
}

/// 1, 2 or 5 times a power of ten, not below the step that is given.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|round| *round >= step)
        .unwrap_or(10.0 * power)
}

fn superscript(number: i64) -> String {
    let raise = |letter: char| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    number.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis, values: &[f64]) -> Vec<String> {
        let range = axis.range(values.iter().copied());
        axis.ticks(&range).into_iter().map(|tick| axis.name(tick)).collect()
    }

    #[test]
    fn ticks_are_round() {
        let linear = Axis::new("", Scale::Linear);
        assert_eq!(names(&linear, &[0.0, 500.0]), ["0", "100", "200", "300", "400", "500"]);
        assert_eq!(names(&linear, &[0.0, 0.7]), ["0", "0.2", "0.4", "0.6"]);
        assert_eq!(names(&Axis::new("", Scale::Decades), &[1e-4, 10.0]).concat(), "10⁻⁴10⁻³10⁻²10⁻¹10⁰10¹");
        assert_eq!(names(&Axis::new("", Scale::Doublings), &[1.0, 8.0]), ["1", "2", "4", "8"]);
    }

    #[test]
    fn what_has_no_place_is_not_shown() {
        let axis = Axis::new("", Scale::Decades).within(1e-4, 1.0);
        assert_eq!([0.5, -1.0, f64::NAN, 2.0].map(|value| axis.shows(value)), [true, false, false, false]);
        assert!(names(&axis, &[]).len() > 3);
    }
}
