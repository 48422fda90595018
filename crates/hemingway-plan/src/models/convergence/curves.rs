//! From observations to curves: the best value so far of each run, in order, without what cannot be used.

use super::{ConvergenceError, Scale, Target};
use crate::Observation;

/// Fewer usable points than this say nothing.
const FEWEST: usize = 4;
/// Points that a fit uses, for each run.
const THINNED: usize = 40;

/// One run: its best value so far, smaller is better, at increasing iterations.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) workers: f64,
    pub(crate) best: Vec<(f64, f64)>,
}

/// One run in levels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    pub(crate) workers: f64,
    /// Every point: iteration, and level, which never rises.
    pub(crate) points: Vec<(f64, f64)>,
    /// Points about evenly spread along the curve.
    pub(crate) thinned: Vec<Knot>,
}

/// A point that fits use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Knot {
    pub(crate) iteration: f64,
    pub(crate) level: f64,
    /// Turns an error in level into the distance to the curve, in log value and log iterations alike.
    pub(crate) weight: f64,
}

/// The runs in a trace of one algorithm, on the largest part of the data that it has.
pub(crate) fn runs(observations: &[Observation], target: Target) -> Result<Vec<Run>, ConvergenceError> {
    if let Some(other) = observations.iter().find(|o| o.algorithm != observations[0].algorithm) {
        let first = observations[0].algorithm.clone();
        return Err(ConvergenceError::SeveralAlgorithms { first, second: other.algorithm.clone() });
    }
    let fraction = observations.iter().map(|o| o.fraction).filter(|f| f.is_finite()).fold(0.0, f64::max);
    let mut usable: Vec<(&str, usize, u64, f64)> = observations
        .iter()
        .filter(|o| o.fraction >= fraction && o.iteration > 0 && o.workers > 0)
        .filter_map(|o| Some((o.run.as_str(), o.workers, o.iteration, target.sign() * o.value?)))
        .filter(|(.., value)| value.is_finite() && (target != Target::SubOptimality || *value > 0.0))
        .collect();
    usable.sort_by(|a, b| (a.1, a.0, a.2).cmp(&(b.1, b.0, b.2)).then(a.3.total_cmp(&b.3)));
    usable.dedup_by(|later, earlier| (later.0, later.1, later.2) == (earlier.0, earlier.1, earlier.2));
    if usable.len() < FEWEST {
        return Err(ConvergenceError::TooFew {
            given: observations.len(),
            usable: usable.len(),
            needed: FEWEST,
        });
    }
    let first = usable[0].3;
    if usable.iter().all(|(.., value)| *value == first) {
        return Err(ConvergenceError::Constant { value: target.sign() * first });
    }
    Ok(usable.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(best_so_far).collect())
}

fn best_so_far(rows: &[(&str, usize, u64, f64)]) -> Run {
    let mut best = f64::INFINITY;
    let points = rows.iter().map(|&(_, _, iteration, value)| {
        best = best.min(value);
        (iteration as f64, best)
    });
    Run { best: points.collect(), workers: rows[0].1 as f64 }
}

impl Curve {
    pub(crate) fn new(run: &Run, scale: Scale) -> Self {
        let points: Vec<(f64, f64)> = run
            .best
            .iter()
            .map(|&(iteration, value)| (iteration, scale.level(scale.sign * value)))
            .filter(|(_, level)| level.is_finite())
            .collect();
        let thinned = thin(&points);
        Self { workers: run.workers, points, thinned }
    }

    pub(crate) fn first(&self) -> (f64, f64) {
        self.points[0]
    }

    pub(crate) fn last(&self) -> (f64, f64) {
        self.points[self.points.len() - 1]
    }

    /// Where the curve first comes down to a level, if it starts above it and gets there.
    pub(crate) fn crossing(&self, level: f64) -> Option<f64> {
        let after = self.points.partition_point(|&(_, l)| l > level);
        if after == 0 || after == self.points.len() {
            return None;
        }
        let ((i0, l0), (i1, l1)) = (self.points[after - 1], self.points[after]);
        let share = (l0 - level) / (l0 - l1);
        Some((i0.ln() + share * (i1.ln() - i0.ln())).exp())
    }

    /// The level after an iteration, between the points on a line in log iterations.
    pub(crate) fn level(&self, iteration: f64) -> f64 {
        let after = self.points.partition_point(|&(i, _)| i < iteration);
        if after == 0 {
            return self.first().1;
        }
        if after == self.points.len() {
            return self.last().1;
        }
        let ((i0, l0), (i1, l1)) = (self.points[after - 1], self.points[after]);
        l0 + (iteration / i0).ln() / (i1 / i0).ln() * (l1 - l0)
    }
}

/// Points evenly spread along the curve in log iterations and levels, each with the slope around it as its weight.
fn thin(points: &[(f64, f64)]) -> Vec<Knot> {
    let Some((&first, &last)) = points.first().zip(points.last()) else { return Vec::new() };
    let length = (last.0 / first.0).ln() + (first.1 - last.1);
    let along = |p: (f64, f64)| (p.0 / first.0).ln() + (first.1 - p.1);
    let mut kept: Vec<(f64, f64)> = vec![first];
    let mut next = length / THINNED as f64;
    for &point in &points[1..] {
        if along(point) >= next {
            kept.push(point);
            next = along(point) + length / THINNED as f64;
        }
    }
    (0..kept.len())
        .map(|k| {
            let (from, to) = (kept[k.saturating_sub(3)], kept[(k + 3).min(kept.len() - 1)]);
            let run = (to.0 / from.0).ln();
            let slope = if run > 0.0 { (from.1 - to.1) / run } else { 0.0 };
            Knot {
                iteration: kept[k].0,
                level: kept[k].1,
                weight: 1.0 / (0.05 + slope * slope).sqrt().max(0.2),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(run: &str, workers: usize, iteration: u64, value: f64) -> Observation {
        Observation {
            run: run.into(),
            algorithm: "a".into(),
            workers,
            fraction: 1.0,
            iteration,
            seconds: None,
            value: Some(value),
        }
    }

    #[test]
    fn order_repeats_and_nonsense_do_not_matter() {
        let tidy: Vec<Observation> = (1..=6).map(|i| observation("r", 2, i, 1.0 / (i as f64))).collect();
        let mut messy: Vec<Observation> = tidy.iter().rev().chain(&tidy).cloned().collect();
        messy.push(observation("r", 2, 7, f64::NAN));
        messy.push(observation("r", 2, 8, f64::INFINITY));
        messy.push(observation("r", 2, 9, 0.0));
        messy.push(observation("r", 2, 0, 3.0));
        assert_eq!(runs(&tidy, Target::SubOptimality), runs(&messy, Target::SubOptimality));
    }

    #[test]
    fn a_curve_is_the_best_so_far_and_crosses_where_it_first_gets() {
        let rows = [1.0, 0.5, 0.8, 0.25, 0.3];
        let rows: Vec<Observation> =
            rows.iter().enumerate().map(|(i, v)| observation("r", 2, i as u64 + 1, *v)).collect();
        let run = &runs(&rows, Target::SubOptimality).unwrap()[0];
        assert_eq!(run.best.iter().map(|p| p.1).collect::<Vec<_>>(), [1.0, 0.5, 0.5, 0.25, 0.25]);
        let curve = Curve::new(run, Scale { sign: 1.0, optimum: 0.0 });
        assert!((curve.crossing(0.5f64.ln()).unwrap() - 2.0).abs() < 1e-9);
        assert!(curve.crossing(0.3f64.ln()).unwrap() > 3.0);
        assert_eq!(curve.crossing(0.1f64.ln()), None);
    }
}
