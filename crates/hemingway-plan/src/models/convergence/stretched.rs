//! One curve, stretched: on m workers a run goes through the same levels as on any other number, only later.
//!
//! Written for iterations: log i(level, m) = H(level) + log(1 + κ(level)·m^q). H is any increasing function of progress,
//! kept at some levels; κ is constant, or changes with the stage of the run, since the end is often slowed down more by
//! workers than the beginning. The interpolated form adds what is left over at the measured m, on lines in log m.

use super::curves::Curve;
use super::form::Form;
use super::least_squares::minimise;

/// How many levels H is kept at.
const LEVELS: usize = 32;
/// Left-over errors at the edge are carried outwards this far in log m.
const CARRY: f64 = 1.0;

#[derive(Debug)]
struct Stretched {
    levels: Vec<f64>, // falling
    base: Vec<f64>,   // H, log iterations
    stretch: Stretch,
    leftover: Vec<(f64, Vec<f64>)>, // by log m: log iterations beyond the form, at each level
    straight: bool,                 // beyond the last level: a linear rate, or else a power
}

/// κ constant.
pub(crate) fn fit_stretched(curves: &[Curve]) -> Option<Box<dyn Form>> {
    Some(Box::new(fit(curves, false)?.0))
}

/// κ changes with the stage.
pub(crate) fn fit_by_stage(curves: &[Curve]) -> Option<Box<dyn Form>> {
    Some(Box::new(fit(curves, true)?.0))
}

/// κ changes with the stage, and left-over errors are interpolated.
pub(crate) fn fit_interpolated(curves: &[Curve]) -> Option<Box<dyn Form>> {
    let (mut form, table) = fit(curves, true)?;
    form.leftover = table.leftover(&form);
    Some(Box::new(form))
}

/// Log iterations of each run to each level, where it came down to it.
struct Table {
    levels: Vec<f64>,
    logs: Vec<f64>,              // log m of each run
    rows: Vec<Vec<Option<f64>>>, // by run, by level
}

fn fit(curves: &[Curve], by_stage: bool) -> Option<(Stretched, Table)> {
    let table = Table::new(curves)?;
    let stage_weight = if by_stage { 0.2 } else { 1e3 };
    let residuals = |p: &[f64], out: &mut Vec<f64>| {
        let stretch = Stretch::from(p);
        let base = table.base(&stretch);
        for (row, log) in table.rows.iter().zip(&table.logs) {
            let left = |k: usize| Some(row[k]? - base[k] - stretch.at(*log, table.stage(k)));
            out.extend((0..row.len()).filter_map(left));
        }
        out.extend([
            0.2 * (p[0] + 1.0),
            stage_weight * p[1],
            0.5 * (p[2] - 0.7),
            0.3 * p[3],
            stage_weight * p[4],
        ]);
    };
    let starts = [[-1.0, 0.7], [-3.0, 1.2], [1.0, 0.3], [1.0, -0.5]];
    let (p, _) = minimise(&residuals, &starts.map(|[kappa, q]| vec![kappa, 0.0, q, 0.0, 0.0]))?;
    let stretch = Stretch::from(&p);
    let mut base = table.base(&stretch);
    for k in 1..base.len() {
        base[k] = base[k].max(base[k - 1]);
    }
    let straight = is_straight(&table.levels, &base);
    let levels = table.levels.clone();
    Some((Stretched { levels, base, stretch, leftover: Vec::new(), straight }, table))
}

/// How many times longer it takes on m workers, log(1 + κ·m^q), at each stage of a run from −1 to 1. One worker alone,
/// with nobody to agree with, is faster by a factor of its own.
#[derive(Debug)]
struct Stretch {
    kappa: [f64; 2], // log κ at the middle stage, and its slope over the stage
    exponent: f64,   // q
    alone: [f64; 2], // log factor at the middle stage, and its slope over the stage
}

impl Stretch {
    fn from(parameters: &[f64]) -> Self {
        let &[kappa, slope, exponent, alone, alone_slope] = parameters else {
            unreachable!("five parameters")
        };
        Self { kappa: [kappa, slope], exponent: exponent.clamp(-3.0, 3.0), alone: [alone, alone_slope] }
    }

    fn at(&self, log_workers: f64, stage: f64) -> f64 {
        let inside = self.kappa[0] + self.kappa[1] * stage + self.exponent * log_workers;
        let stretch = if inside > 40.0 { inside } else { inside.exp().ln_1p() };
        if log_workers == 0.0 { stretch - self.alone[0] - self.alone[1] * stage } else { stretch }
    }
}

impl Table {
    fn new(curves: &[Curve]) -> Option<Self> {
        let top = curves.iter().map(|c| c.first().1).fold(f64::NEG_INFINITY, f64::max);
        let bottom = curves.iter().map(|c| c.last().1).fold(f64::INFINITY, f64::min);
        let step = (top - bottom) / LEVELS as f64;
        let levels = (0..LEVELS).map(|k| top - step * (k as f64 + 0.999));
        let levels: Vec<f64> = levels.filter(|&l| curves.iter().any(|c| c.crossing(l).is_some())).collect();
        let row = |curve: &Curve| levels.iter().map(|&l| Some(curve.crossing(l)?.ln())).collect();
        let rows = curves.iter().map(row).collect();
        let logs = curves.iter().map(|c| c.workers.ln()).collect();
        (levels.len() >= 3).then_some(Self { levels, logs, rows })
    }

    /// From −1 at the first level to 1 at the last.
    fn stage(&self, level: usize) -> f64 {
        2.0 * level as f64 / (self.levels.len() - 1) as f64 - 1.0
    }

    /// H at each level: the mean over runs of what the stretch leaves, each run with an offset of its own, so that H
    /// does not jump where a run ends.
    fn base(&self, stretch: &Stretch) -> Vec<f64> {
        let mut offsets = vec![0.0; self.rows.len()];
        let left: Vec<Vec<Option<f64>>> = (0..self.rows.len())
            .map(|j| {
                (0..self.levels.len())
                    .map(|k| Some(self.rows[j][k]? - stretch.at(self.logs[j], self.stage(k))))
                    .collect()
            })
            .collect();
        let mut base = vec![0.0; self.levels.len()];
        for _ in 0..4 {
            for (k, base) in base.iter_mut().enumerate() {
                *base = mean(left.iter().zip(&offsets).filter_map(|(row, o)| Some(row[k]? - o)));
            }
            for (row, offset) in left.iter().zip(&mut offsets) {
                *offset = 0.9 * mean(row.iter().zip(&base).filter_map(|(t, b)| Some((*t)? - b)));
            }
        }
        base
    }

    /// What the form leaves over at each measured m; where a run was not measured, as at the nearest level where it was.
    fn leftover(&self, form: &Stretched) -> Vec<(f64, Vec<f64>)> {
        let mut all: Vec<(f64, Vec<f64>)> = Vec::new();
        for (j, row) in self.rows.iter().enumerate() {
            let left = |k: usize| Some(row[k]? - form.log_iteration_at(self.logs[j], k));
            let seen: Vec<usize> = (0..row.len()).filter(|&k| row[k].is_some()).collect();
            if seen.is_empty() {
                continue;
            }
            let nearest =
                |k: usize| *seen.iter().min_by_key(|s| s.abs_diff(k)).expect("some level was measured");
            let filled: Vec<f64> = (0..row.len()).map(|k| left(nearest(k)).unwrap_or(0.0)).collect();
            all.push((self.logs[j], filled));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.chunk_by(|a, b| a.0 == b.0)
            .map(|same| {
                (same[0].0, (0..self.levels.len()).map(|k| mean(same.iter().map(|s| s.1[k]))).collect())
            })
            .collect()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// Whether iterations rather than their logarithm grow evenly with progress: the last third of H is predicted from the
/// third before, both ways.
fn is_straight(levels: &[f64], base: &[f64]) -> bool {
    let (count, third) = (base.len(), base.len() / 3);
    if third < 2 {
        return false;
    }
    let (a, b, c) = (count - 1 - 2 * third, count - 1 - third, count - 1);
    let ratio = (levels[c] - levels[b]) / (levels[b] - levels[a]);
    let power = base[b] + ratio * (base[b] - base[a]);
    let linear = (base[b].exp() + ratio * (base[b].exp() - base[a].exp())).ln();
    (linear - base[c]).abs() < (power - base[c]).abs()
}

impl Stretched {
    fn log_iteration_at(&self, log_workers: f64, level: usize) -> f64 {
        let stage = 2.0 * level as f64 / (self.levels.len() - 1) as f64 - 1.0;
        let form = self.base[level] + self.stretch.at(log_workers, stage);
        form + self.leftover_at(log_workers, level)
    }

    fn leftover_at(&self, log_workers: f64, level: usize) -> f64 {
        let after = self.leftover.partition_point(|(log, _)| *log < log_workers);
        match (after.checked_sub(1).map(|k| &self.leftover[k]), self.leftover.get(after)) {
            (Some(a), Some(b)) => {
                let share = (log_workers - a.0) / (b.0 - a.0);
                a.1[level] + share * (b.1[level] - a.1[level])
            }
            (Some(edge), None) | (None, Some(edge)) => {
                edge.1[level] * (-(log_workers - edge.0).abs() / CARRY).exp()
            }
            (None, None) => 0.0,
        }
    }
}

impl Form for Stretched {
    fn level(&self, workers: f64, iteration: f64) -> f64 {
        let (log_workers, wanted) = (workers.ln(), iteration.max(1e-9).ln());
        let last = self.levels.len() - 1;
        let mut times: Vec<f64> = (0..=last).map(|k| self.log_iteration_at(log_workers, k)).collect();
        for k in 1..=last {
            times[k] = times[k].max(times[k - 1] + 1e-6);
        }
        let slope = |from: usize, to: usize| {
            ((self.levels[from] - self.levels[to]) / (times[to] - times[from]).max(1e-6)).clamp(1e-3, 100.0)
        };
        let after = times.partition_point(|&t| t < wanted);
        if after == 0 {
            return self.levels[0] + slope(0, last / 3).min(3.0) * (times[0] - wanted);
        }
        if after > last {
            let (from, beyond) = (last - last.div_ceil(3), wanted - times[last]);
            if !self.straight {
                return self.levels[last] - slope(from, last) * beyond;
            }
            let fall = self.levels[from] - self.levels[last];
            return self.levels[last] - fall * beyond.exp_m1() / -(times[from] - times[last]).exp_m1();
        }
        let share = (wanted - times[after - 1]) / (times[after] - times[after - 1]);
        self.levels[after - 1] + share * (self.levels[after] - self.levels[after - 1])
    }

    fn describe(&self) -> String {
        let what = if self.leftover.is_empty() { "" } else { ", corrected at each measured m" };
        let [start, end] =
            [-1.0, 1.0].map(|stage| (self.stretch.kappa[0] + self.stretch.kappa[1] * stage).exp());
        format!(
            "one curve, stretched by 1 + κ·m^{:.2} with κ from {start:.3} at the start to {end:.3} at the end{what}",
            self.stretch.exponent
        )
    }
}
