//! The optimum P* where it is only known to lie in a bracket: the value that makes the tails of curves regular.
//!
//! The gap v − P* is supposed to fall as a power or exponentially. Candidates are compared by errors in log
//! iterations, which mean the same whatever P* is; errors in the gap shrink as P* moves away, and would prefer that.

use super::curves::{Curve, Run};
use super::least_squares::minimise;
use super::{ConvergenceError, Scale, Target};

/// How many values of P* are tried.
const CANDIDATES: usize = 14;
/// How many runs are used: those that got furthest.
const RUNS: usize = 4;
/// An optimum is plausible if curves are at most this many times as irregular as with the best one.
const PLAUSIBLE: f64 = 2.0;

/// Between which values P* may plausibly lie, after the sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Doubt {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

/// The map from values to levels, with the most plausible optimum, and with what else is plausible.
pub(crate) fn scale(runs: &[Run], target: Target) -> Result<(Scale, Doubt), ConvergenceError> {
    let sign = target.sign();
    let values = || runs.iter().flat_map(|run| run.best.iter().map(|p| p.1));
    let best = values().fold(f64::INFINITY, f64::min);
    let worst = values().fold(f64::NEG_INFINITY, f64::max);
    let (lower, upper) = match target {
        Target::SubOptimality => {
            return Ok((Scale { sign, optimum: 0.0 }, Doubt { lower: 0.0, upper: 0.0 }));
        }
        Target::Loss { lower, upper } => (lower, upper.min(best)),
        Target::Metric(_) => (best - (worst - best), best),
    };
    if !(lower.is_finite() && lower <= upper && lower < worst) {
        let upper = if let Target::Loss { upper, .. } = target { upper } else { upper };
        return Err(ConvergenceError::Bracket { lower, upper });
    }
    let lower = lower.min(best - 1e-9 * (worst - best)).max(best - 10.0 * (worst - best)).min(upper);
    let width = upper - lower;
    let candidate = |k: usize| upper - width * 1e-4f64.powf(k as f64 / (CANDIDATES - 1) as f64);
    let tried: Vec<f64> =
        (0..CANDIDATES).map(|k| irregularity(runs, Scale { sign, optimum: candidate(k) })).collect();
    let chosen = (0..CANDIDATES).min_by(|&a, &b| tried[a].total_cmp(&tried[b])).unwrap_or(0);
    let optimum = if tried[chosen].is_finite() { candidate(chosen) } else { lower };
    let doubt = doubt(&tried, chosen, &candidate);
    let doubt = match target {
        // A metric may stay where it is, or fall further than anything that was tried.
        Target::Metric(_) => {
            Doubt { lower: doubt.lower - if chosen == 0 { width } else { 0.0 }, upper: best }
        }
        _ => doubt,
    };
    Ok((Scale { sign, optimum }, doubt))
}

/// From the chosen candidate to the last plausible one on either side, and never less than to the next.
fn doubt(tried: &[f64], chosen: usize, candidate: &dyn Fn(usize) -> f64) -> Doubt {
    let plausible = |k: &usize| tried[*k] <= PLAUSIBLE * tried[chosen] || k.abs_diff(chosen) <= 1;
    let first = (0..=chosen).find(plausible).unwrap_or(chosen);
    let last = (chosen..tried.len()).rev().find(plausible).unwrap_or(chosen);
    Doubt { lower: candidate(first), upper: candidate(last) }
}

/// How far the runs that got furthest are from a power law or an exponential, in log iterations.
fn irregularity(runs: &[Run], scale: Scale) -> f64 {
    let mut curves: Vec<Curve> = runs.iter().map(|run| Curve::new(run, scale)).collect();
    curves.retain(|c| c.thinned.len() > 4);
    curves.sort_by(|a, b| a.last().1.total_cmp(&b.last().1));
    curves.iter().take(RUNS).map(|curve| power(curve).min(exponential(curve))).sum()
}

fn power(curve: &Curve) -> f64 {
    let top = curve.first().1;
    let level =
        |p: &[f64], i: f64| p[0] - p[1].clamp(-3.0, 3.0).exp() * (i / p[2].clamp(-20.0, 40.0).exp()).ln_1p();
    let starts = [vec![top, 0.0, 0.0], vec![top, 0.5, 3.0]];
    misfit(curve, &level, &starts)
}

fn exponential(curve: &Curve) -> f64 {
    let (first, last) = (curve.first(), curve.last());
    let tau = ((last.0 - first.0).max(1.0) / (first.1 - last.1).max(1e-6)).ln();
    let level = |p: &[f64], i: f64| p[0] - i / p[1].clamp(-20.0, 60.0).exp();
    misfit(curve, &level, &[vec![first.1, tau]])
}

fn misfit(curve: &Curve, level: &dyn Fn(&[f64], f64) -> f64, starts: &[Vec<f64>]) -> f64 {
    let (first, last) = (curve.first(), curve.last());
    let usual = ((first.1 - last.1) / (last.0 / first.0).ln().max(1e-6)).abs().max(1e-12);
    let knots = &curve.thinned;
    let slope = |k: usize| {
        let (a, b) = (knots[k.saturating_sub(2)], knots[(k + 2).min(knots.len() - 1)]);
        (a.level - b.level) / (b.iteration / a.iteration).ln().max(1e-6)
    };
    let weights: Vec<f64> = (0..knots.len()).map(|k| 1.0 / slope(k).hypot(0.3 * usual)).collect();
    let residuals = |p: &[f64], out: &mut Vec<f64>| {
        out.extend(knots.iter().zip(&weights).map(|(k, w)| (level(p, k.iteration) - k.level) * w));
    };
    minimise(&residuals, starts).map_or(f64::INFINITY, |(_, loss)| loss / knots.len() as f64)
}
