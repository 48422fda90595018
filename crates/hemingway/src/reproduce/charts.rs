//! From runs and models to charts.

use super::forecast::Forecast;
use super::models::Models;
use super::trace::{Round, Trace};
use crate::plot::{Axis, COLOURS, Chart, Mark, Scale, Series};

/// A run is shown by at most this many dots.
const DOTS: usize = 60;
/// A curve is drawn through at most this many points.
const KNOTS: usize = 250;

/// The appendix shows this many rounds.
pub(crate) const BEGINNING: u64 = 100;

/// What progress is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Round,
    Time,
}

impl By {
    /// Long runs are shown on a logarithmic axis, where short ones beside them can still be seen.
    fn axis(self, traces: &[Trace]) -> Axis {
        let short = traces.iter().all(|trace| trace.rounds() <= BEGINNING);
        let scale = if short { Scale::Linear } else { Scale::Doublings };
        match self {
            By::Round => Axis::new("rounds", scale),
            By::Time => Axis::new("time (s)", scale),
        }
    }

    fn of(self, round: &Round) -> f64 {
        match self {
            By::Round => round.number as f64,
            By::Time => round.seconds,
        }
    }
}

/// Seconds per round on m workers: measured, and modelled.
pub(crate) fn speed(traces: &[Trace], models: &Models) -> Chart {
    let (fewest, most) = (traces.first().map_or(1, |t| t.workers), traces.last().map_or(1, |t| t.workers));
    let workers: Vec<usize> = (fewest..=most).collect();
    let at = |m: usize| models.seconds_per_round(m);
    let low = workers.iter().map(|&m| (m as f64, at(m).low));
    let high = workers.iter().rev().map(|&m| (m as f64, at(m).high));
    let quantile = |trace: &Trace, share: f64| {
        let durations = trace.whole_rounds().durations();
        durations.get(((durations.len() as f64 - 1.0) * share).round() as usize).copied()
    };
    let spread = |share: f64| {
        traces.iter().filter_map(|trace| Some((trace.workers as f64, quantile(trace, share)?))).collect()
    };
    Chart {
        title: "Figure 1(a): seconds per round".to_owned(),
        notes: vec!["dots: median,", "5 % and 95 %", "of rounds"],
        x: Axis::new("workers m", Scale::Doublings),
        y: Axis::new("seconds per round", Scale::Doublings),
        series: vec![
            series("90 % interval", 1, Mark::Band, low.chain(high).collect()),
            series("model f(m)", 1, Mark::Line, workers.iter().map(|&m| (m as f64, at(m).mean)).collect()),
            series("measured", 5, Mark::Dots, spread(0.5)),
            series("measured", 5, Mark::Dots, spread(0.05)),
            series("measured", 5, Mark::Dots, spread(0.95)),
        ],
    }
}

/// Runs by round.
pub(crate) fn convergence(title: &str, traces: &[Trace], label: impl Fn(&Trace) -> String) -> Chart {
    // Few curves take colours that lie far apart.
    let colour = |k: usize| k * COLOURS.max(traces.len()) / traces.len();
    let line = |(k, trace): (usize, &Trace)| {
        series(&label(trace), colour(k), Mark::Line, thinned(&measured(trace, By::Round), KNOTS))
    };
    let series = traces.iter().enumerate().map(line).collect();
    chart(title, Vec::new(), By::Round, traces, series)
}

/// Runs as dots, what models say about them as lines.
pub(crate) fn models<'a>(
    title: &str,
    by: By,
    traces: &[Trace],
    models: impl Fn(usize) -> &'a Models,
) -> Chart {
    let predicted = |k: usize, trace: &Trace| -> Vec<(f64, f64)> {
        let gap = |round: &Round| match by {
            By::Round => Some(models(k).after_round(trace.workers, round.number)),
            By::Time => models(k).at_time(trace.workers, round.seconds),
        };
        let knots = thinned(&trace.points, KNOTS);
        knots.iter().filter_map(|round| Some((by.of(round), gap(round)?.mean))).collect()
    };
    let lines = traces.iter().enumerate().map(|(k, trace)| (k, trace, predicted(k, trace)));
    beside(title, vec!["dots: measured", "lines: model"], by, traces, lines)
}

/// Runs as dots, forecasts as lines at the places that they are about.
pub(crate) fn forecasts(title: &str, by: By, traces: &[Trace], runs: &[Vec<Forecast>]) -> Chart {
    let place = |forecast: &Forecast| match by {
        By::Round => forecast.round,
        By::Time => forecast.seconds,
    };
    let line = |run: &Vec<Forecast>| -> Vec<(f64, f64)> {
        run.iter().map(|forecast| (place(forecast), forecast.check.predicted.mean)).collect()
    };
    let lines = traces.iter().zip(runs).enumerate().map(|(k, (trace, run))| (k, trace, line(run)));
    beside(title, vec!["dots: measured", "lines: forecast"], by, traces, lines)
}

/// Dots of all runs, then lines over them.
fn beside<'a>(
    title: &str,
    notes: Vec<&'static str>,
    by: By,
    traces: &[Trace],
    lines: impl Iterator<Item = (usize, &'a Trace, Vec<(f64, f64)>)>,
) -> Chart {
    let label = |trace: &Trace| format!("m = {}", trace.workers);
    let dots = traces
        .iter()
        .enumerate()
        .map(|(k, trace)| series(&label(trace), k, Mark::Dots, thinned(&measured(trace, by), DOTS)));
    let mut all: Vec<Series> = dots.collect();
    all.extend(lines.map(|(k, trace, points)| series(&label(trace), k, Mark::Line, points)));
    chart(title, notes, by, traces, all)
}

/// The gap axis shows what was measured and a little more, whatever is predicted.
fn chart(title: &str, notes: Vec<&'static str>, by: By, traces: &[Trace], series: Vec<Series>) -> Chart {
    let gaps = || traces.iter().flat_map(|trace| trace.points.iter().map(|round| round.gap));
    let (low, high) = (gaps().fold(f64::INFINITY, f64::min), gaps().fold(0.0, f64::max));
    let y = Axis::new("primal sub-optimality P − P*", Scale::Decades);
    let y = if low <= high { y.within(low / 1.5, high * 1.5) } else { y };
    Chart { title: title.to_owned(), notes, x: by.axis(traces), y, series }
}

pub(crate) fn series(label: &str, colour: usize, mark: Mark, points: Vec<(f64, f64)>) -> Series {
    Series { label: label.to_owned(), colour, mark, points }
}

fn measured(trace: &Trace, by: By) -> Vec<(f64, f64)> {
    trace.points.iter().map(|round| (by.of(round), round.gap)).collect()
}

/// Evenly fewer, with both ends; the first few are kept, because there most happens.
fn thinned<T: Clone>(items: &[T], most: usize) -> Vec<T> {
    let step = items.len().div_ceil(most).max(1);
    let kept = |k: usize| k < 10 || k.is_multiple_of(step) || k + 1 == items.len();
    items.iter().enumerate().filter(|(k, _)| kept(*k)).map(|(_, item)| item.clone()).collect()
}
