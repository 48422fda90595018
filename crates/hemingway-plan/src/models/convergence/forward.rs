//! What comes next in one run: a forecast from a sliding window, without a model of workers.
//!
//! Several simple forecasts, from "the next value is the last one" to a decay towards a limit, are tried on the window
//! itself: from earlier places in it, over the same distance. Those that did well there are averaged. Where nothing
//! beats the last value, the last value is what comes out.

use crate::Estimate;

/// Points of the window that are used.
const WINDOW: usize = 60;
/// Places in the window from which forecasts are tried.
const TRIALS: usize = 16;

/// A forecast at x from the points of a window.
type Forecast = fn(&[(f64, f64)], f64) -> f64;

/// All forecasts, the simplest first.
const FORECASTS: [Forecast; 7] =
    [last, |w, _| recent(w, 4), |w, _| recent(w, 12), half_trend, trend, logarithm, decay];

/// The value at a distance `ahead` of the last point of a window of (iteration or time, value). Points that are not
/// finite are left out; an empty window gives a value that is not a number.
pub fn forward(window: &[(f64, f64)], ahead: f64) -> Estimate {
    let mut points: Vec<(f64, f64)> =
        window.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by_key(|p| p.0);
    let points = &points[points.len().saturating_sub(WINDOW)..];
    let Some(&(end, value)) = points.last() else {
        return Estimate { low: f64::NAN, mean: f64::NAN, high: f64::NAN };
    };
    let ahead = ahead.max(0.0);
    let trials = trials(points, ahead);
    if trials.is_empty() {
        let range = points.iter().map(|p| (p.1 - value).abs()).fold(value.abs(), f64::max);
        return Estimate { low: value - range, mean: value, high: value + range };
    }
    let weights = weights(&trials);
    let mean = mix(points, end + ahead, &weights);
    let (below, above) = quantiles(&trials, &weights);
    Estimate { low: mean + below, mean, high: mean + above }
}

/// What each forecast said at earlier places of the window about a later one, and what came.
struct Trial {
    forecasts: [f64; FORECASTS.len()],
    truth: f64,
    scale: f64, // how much larger errors are at the distance asked than at the one tried
}

fn trials(points: &[(f64, f64)], ahead: f64) -> Vec<Trial> {
    let count = points.len();
    let first = (count / 3).max(3);
    if count <= first {
        return Vec::new();
    }
    let step = (count - first).div_ceil(TRIALS);
    let growth = growth(points);
    (first..count)
        .rev()
        .step_by(step)
        .filter_map(|origin| {
            let known = &points[..origin];
            let from = known[origin - 1].0;
            let later = points[origin..]
                .iter()
                .min_by(|a, b| (a.0 - from - ahead).abs().total_cmp(&(b.0 - from - ahead).abs()))?;
            let forecasts = FORECASTS.map(|forecast| forecast(known, later.0));
            Some(Trial { forecasts, truth: later.1, scale: (ahead / (later.0 - from)).max(1.0).powf(growth) })
        })
        .collect()
}

/// The power of the distance with which errors grow: those of a curve that goes one way in proportion, those of one that
/// goes up and down like a sum of chances.
fn growth(points: &[(f64, f64)]) -> f64 {
    let steps = || points.windows(2).map(|pair| pair[1].1 - pair[0].1);
    if steps().any(|step| step > 0.0) && steps().any(|step| step < 0.0) { 0.5 } else { 1.0 }
}

fn weights(trials: &[Trial]) -> [f64; FORECASTS.len()] {
    let mut errors = [0.0; FORECASTS.len()];
    for (age, trial) in trials.iter().enumerate() {
        let recent = 0.93f64.powi(age as i32);
        for (error, forecast) in errors.iter_mut().zip(trial.forecasts) {
            *error += recent * (forecast - trial.truth).abs();
        }
    }
    let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let weights = errors.map(|e| if e.is_finite() { ((best + 1e-300) / (e + 1e-300)).powi(8) } else { 0.0 });
    let total: f64 = weights.iter().sum();
    weights.map(|w| w / total)
}

fn mix(points: &[(f64, f64)], at: f64, weights: &[f64]) -> f64 {
    FORECASTS.iter().zip(weights).filter(|(_, w)| **w > 1e-3).map(|(f, w)| f(points, at) * w).sum::<f64>()
        / weights.iter().filter(|w| **w > 1e-3).sum::<f64>()
}

/// How far below and above its forecasts the truth was in nine trials of ten.
fn quantiles(trials: &[Trial], weights: &[f64]) -> (f64, f64) {
    let errors = trials.iter().map(|trial| {
        let mean: f64 =
            trial.forecasts.iter().zip(weights).filter(|(_, w)| **w > 1e-3).map(|(f, w)| f * w).sum();
        ((trial.truth - mean) * trial.scale).abs()
    });
    let mut errors: Vec<f64> = errors.collect();
    errors.sort_by(f64::total_cmp);
    let place = 0.9 * (errors.len() + 1) as f64 - 1.0;
    let (below, last) = (place as usize, errors.len() - 1);
    let half = match errors.get(below + 1) {
        Some(above) => errors[below] + place.fract() * (above - errors[below]),
        None => errors[last] * if place > last as f64 { 1.5 } else { 1.0 },
    };
    (-half, half)
}

fn last(window: &[(f64, f64)], _: f64) -> f64 {
    window[window.len() - 1].1
}

fn recent(window: &[(f64, f64)], count: usize) -> f64 {
    let recent = &window[window.len().saturating_sub(count)..];
    recent.iter().map(|p| p.1).sum::<f64>() / recent.len() as f64
}

/// Half-way between the last value and the trend: trends flatten.
fn half_trend(window: &[(f64, f64)], at: f64) -> f64 {
    0.5 * (last(window, at) + trend(window, at))
}

/// On from the last value, along the slope of the recent points.
fn trend(window: &[(f64, f64)], at: f64) -> f64 {
    let recent = &window[window.len().saturating_sub(6)..];
    let (x, v) = recent[recent.len() - 1];
    v + slope(recent.iter().map(|p| (p.0, p.1))) * (at - x)
}

/// On from the last value, along the slope over log x.
fn logarithm(window: &[(f64, f64)], at: f64) -> f64 {
    let recent = &window[window.len().saturating_sub(20)..];
    let (x, v) = recent[recent.len() - 1];
    if recent[0].0 <= 0.0 {
        return v;
    }
    v + slope(recent.iter().map(|p| (p.0.ln(), p.1))) * (at / x).ln()
}

/// On from the last value towards a limit: changes per step shrink by a factor that is the same everywhere.
fn decay(window: &[(f64, f64)], at: f64) -> f64 {
    let recent = &window[window.len().saturating_sub(24)..];
    let (x, v) = recent[recent.len() - 1];
    let half = recent.len() / 2;
    if half < 2 {
        return v;
    }
    let before = slope(recent[..half].iter().copied());
    let after = slope(recent[half..].iter().copied());
    let between = middle(&recent[half..]) - middle(&recent[..half]);
    if before * after <= 0.0 || after.abs() >= before.abs() || between <= 0.0 {
        return trend(window, at);
    }
    let rate = (before / after).ln() / between;
    let now = after * (-rate * (x - middle(&recent[half..]))).exp();
    v + now * -(-rate * (at - x)).exp_m1() / rate
}

fn middle(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|p| p.0).sum::<f64>() / points.len() as f64
}

fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (sx, sv, count) = points.clone().fold((0.0, 0.0, 0.0), |(x, v, n), p| (x + p.0, v + p.1, n + 1.0));
    let (mx, mv) = (sx / count, sv / count);
    let (top, bottom) =
        points.fold((0.0, 0.0), |(t, b), p| (t + (p.0 - mx) * (p.1 - mv), b + (p.0 - mx).powi(2)));
    if bottom > 0.0 { top / bottom } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors of forecasts through a run, and those of taking the last value.
    fn errors(run: &[(f64, f64)], ahead: usize) -> (f64, f64) {
        let (mut ours, mut persistence) = (0.0, 0.0);
        for origin in 20..run.len() - ahead {
            let window = &run[origin.saturating_sub(50)..origin];
            let truth = run[origin - 1 + ahead].1;
            ours += (forward(window, ahead as f64).mean - truth).abs();
            persistence += (run[origin - 1].1 - truth).abs();
        }
        (ours, persistence)
    }

    fn run(value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (1..200).map(|i| (f64::from(i), value(f64::from(i)))).collect()
    }

    #[test]
    fn monotone_and_jumping_curves_are_forecast_better_than_by_their_last_value() {
        let noise = |i: f64| {
            let mut bits = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let curves = [
            run(|i| 1.0 / i),
            run(|i| (-i / 50.0).exp() + 0.1),
            run(|i| 1.0 / i.sqrt() + 0.03 * noise(i)),
            run(|i| 0.5 + 0.1 * noise(i)),
        ];
        for curve in curves {
            for ahead in [1, 10] {
                let (ours, persistence) = errors(&curve, ahead);
                assert!(ours < 0.9 * persistence, "{ours} against {persistence}, {ahead} ahead");
            }
        }
    }

    #[test]
    fn short_and_odd_windows_are_answered_with_care() {
        assert!(forward(&[], 1.0).mean.is_nan());
        let one = forward(&[(1.0, 0.5)], 1.0);
        assert!(one.low <= 0.0 && one.high >= 1.0);
        let constant = forward(&run(|_| 2.0), 5.0);
        assert!((constant.mean - 2.0).abs() < 1e-9);
        let with_nan = [(1.0, 0.5), (2.0, f64::NAN), (3.0, 0.4), (3.0, 0.4), (2.5, 0.45)];
        assert!(forward(&with_nan, 1.0).mean.is_finite());
    }
}
