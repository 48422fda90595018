//! The paper's figures, in its order: for each its claim, our result and the chart.

use super::accuracy::Accuracy;
use super::analysis::{AHEAD, Analysis};
use super::charts::{self, BEGINNING, By};
use super::comparison;
use super::forecast::{Ahead, Forecast, accuracy};
use super::models::Models;
use super::trace::{GOAL, Trace};
use super::words;
use crate::plot::Chart;

/// A figure of the paper, made again.
pub(crate) struct Figure {
    /// As in the paper: `3(a)` is `3a`.
    pub name: &'static str,
    /// What the paper says it shows.
    pub claim: &'static str,
    /// What ours shows.
    pub result: String,
    pub chart: Chart,
}

impl Figure {
    /// The name of its files.
    pub fn file(&self) -> String {
        format!("figure-{}", self.name)
    }
}

/// All of them.
#[rustfmt::skip]
pub(crate) fn figures(analysis: &Analysis) -> Vec<Figure> {
    let Analysis { scaling, recorded, .. } = analysis;
    let first = |traces: &[Trace]| -> Vec<Trace> { traces.iter().map(|trace| trace.first(BEGINNING)).collect() };
    let (beginning, recorded_beginning) = (first(scaling), first(recorded));
    vec![
        Figure { name: "1a", claim: "Time per iteration falls from 1 to 32 cores and rises beyond; doubling the cores does not halve it.", result: fastest(analysis), chart: charts::speed(scaling, &analysis.models) },
        Figure { name: "1b", claim: "More cores, slower convergence: one needs about 10 iterations to a sub-optimality of 1e-4, sixteen about 50. (Its text names CoCoA, which averages; its models are of CoCoA+.)", result: scaling_of_both(analysis), chart: charts::convergence("Figure 1(b): CoCoA+ by number of workers m", scaling, by_workers) },
        Figure { name: "1b-averaging", claim: "As above; this is the algorithm that its text names.", result: rounds("CoCoA", &analysis.evidence.averaging), chart: charts::convergence("Figure 1(b): CoCoA, which averages, by m", &analysis.evidence.averaging, by_workers) },
        Figure { name: "1c", claim: "On 16 cores CoCoA and CoCoA+ do much better than Splash and parallel SGD with local updates; CoCoA+ is faster in the first 50 iterations, CoCoA slightly better beyond.", result: comparison::result(analysis.evidence), chart: charts::convergence("Figure 1(c): the paper's algorithms on 16 workers", &comparison::shown(analysis.evidence), comparison::label) },
        Figure { name: "1c-others", claim: "It shows none of these.", result: comparison::ranking(&comparison::others(analysis.evidence)), chart: charts::convergence("Beyond Figure 1(c): others on 16 workers", &comparison::others(analysis.evidence), comparison::label) },
        fitted("3a", "The fitted model captures the convergence trends of CoCoA+.", "Figure 3(a): fitted model, by round", By::Round, scaling, |_| &analysis.models),
        fitted("3b", "Combined with Ernest it captures them as a function of time.", "Figure 3(b): fitted models combined, by time", By::Time, scaling, |_| &analysis.models),
        fitted("4a", "Models that have not seen an m fit its convergence well.", "Figure 4(a): each m predicted from all others, by round", By::Round, scaling, |k| &analysis.held_out[k]),
        fitted("4b", "The same, as a function of time.", "Figure 4(b): each m predicted from all others, by time", By::Time, scaling, |k| &analysis.held_out[k]),
        ahead("5a", "From the last 50 iterations, 1 ahead: predictions are more accurate once i is large enough.", "Figure 5(a): 1 round ahead", 0, By::Round, analysis, recorded),
        ahead("5b", "From the last 50 iterations, 10 ahead: the same.", "Figure 5(b): 10 rounds ahead", 1, By::Round, analysis, recorded),
        ahead("6a", "Both models together capture the trends 1 s ahead.", "Figure 6(a): 1 s ahead", 2, By::Time, analysis, recorded),
        ahead("6b", "Both models together capture the trends 5 s ahead.", "Figure 6(b): 5 s ahead", 3, By::Time, analysis, recorded),
        fitted("7a", "The first 100 iterations of Figure 3(a).", "Figure 7(a): fitted model, first 100 rounds", By::Round, &beginning, |_| &analysis.models),
        fitted("7b", "The first 100 iterations of Figure 3(b).", "Figure 7(b): fitted models combined, first 100 rounds", By::Time, &beginning, |_| &analysis.models),
        fitted("8a", "The first 100 iterations of Figure 4(a).", "Figure 8(a): each m from all others, first 100 rounds", By::Round, &beginning, |k| &analysis.held_out[k]),
        fitted("8b", "The first 100 iterations of Figure 4(b).", "Figure 8(b): each m from all others, first 100 rounds", By::Time, &beginning, |k| &analysis.held_out[k]),
        ahead("9a", "The first 100 iterations of Figure 5(a).", "Figure 9(a): 1 round ahead, first 100 rounds", 0, By::Round, analysis, &recorded_beginning),
        ahead("9b", "The first 100 iterations of Figure 5(b).", "Figure 9(b): 10 rounds ahead, first 100 rounds", 1, By::Round, analysis, &recorded_beginning),
        ahead("10a", "The first 100 iterations of Figure 6(a).", "Figure 10(a): 1 s ahead, first 100 rounds", 2, By::Time, analysis, &recorded_beginning),
        ahead("10b", "The first 100 iterations of Figure 6(b).", "Figure 10(b): 5 s ahead, first 100 rounds", 3, By::Time, analysis, &recorded_beginning),
    ]
}

/// Models beside the runs that they are about.
fn fitted<'a>(
    name: &'static str,
    claim: &'static str,
    title: &str,
    by: By,
    traces: &[Trace],
    models: impl Fn(usize) -> &'a Models,
) -> Figure {
    let checks = |(k, trace): (usize, &Trace)| match by {
        By::Round => models(k).check_rounds(trace),
        By::Time => models(k).check_times(trace),
    };
    let checks: Vec<_> = traces.iter().enumerate().flat_map(checks).collect();
    let result = format!("Predicted sub-optimality is {}.", words::accuracy(Accuracy::of(&checks)));
    Figure { name, claim, result, chart: charts::models(title, by, traces, models) }
}

/// Forecasts beside what came, as far as the traces go.
fn ahead(
    name: &'static str,
    claim: &'static str,
    title: &str,
    which: usize,
    by: By,
    analysis: &Analysis,
    traces: &[Trace],
) -> Figure {
    let within = |(runs, trace): (&Vec<Forecast>, &Trace)| -> Vec<Forecast> {
        runs.iter().filter(|forecast| forecast.round <= trace.rounds() as f64).cloned().collect()
    };
    let runs: Vec<Vec<Forecast>> = analysis.ahead[which].iter().zip(traces).map(within).collect();
    let result = match accuracy(&runs.concat()) {
        None => "No run is long enough.".to_owned(),
        Some((ours, persistence)) => format!(
            "Predicted sub-optimality is {}; expecting no change is off by {}.{}",
            words::accuracy(Some(ours)),
            words::percent(persistence.median_error),
            maturing(&runs, AHEAD[which].0),
        ),
    };
    Figure { name, claim, result, chart: charts::forecasts(title, by, traces, &runs) }
}

/// Whether forecasts get better as a run goes on.
fn maturing(runs: &[Vec<Forecast>], ahead: Ahead) -> String {
    let (early, late): (Vec<Forecast>, Vec<Forecast>) =
        runs.concat().into_iter().partition(|forecast| forecast.round <= 50.0);
    match (ahead, accuracy(&early), accuracy(&late)) {
        (Ahead::Rounds(_), Some((early, _)), Some((late, _))) => format!(
            " Up to round 50 the median error is {}, later {}.",
            words::percent(early.median_error),
            words::percent(late.median_error)
        ),
        _ => String::new(),
    }
}

fn fastest(analysis: &Analysis) -> String {
    let speeds = || {
        analysis
            .scaling
            .iter()
            .filter_map(|trace| Some((trace.workers, trace.whole_rounds().seconds_per_round()?)))
    };
    let Some((best, seconds)) = speeds().min_by(|a, b| a.1.total_cmp(&b.1)) else { return String::new() };
    let all: Vec<String> = speeds().map(|(m, seconds)| format!("{seconds:.2} s on {m}")).collect();
    format!("A round is fastest on {best} workers ({seconds:.2} s): {}.", all.join(", "))
}

/// Beside the paper's σ' = m, what ours makes of it, and the algorithm that its text names.
fn scaling_of_both(analysis: &Analysis) -> String {
    let averaging = &analysis.evidence.averaging;
    format!(
        "{} From its second round on our CoCoA+ expects of other workers twice what they did in the last round (σ'), where \
         the paper's always expects the worst, σ' = m. {} The rounds of CoCoA are nearer to the paper's.",
        rounds("CoCoA+", analysis.scaling),
        fewer(analysis.scaling, averaging),
    )
}

/// By how much the first reaches the goal in fewer rounds than the second, by workers.
fn fewer(traces: &[Trace], others: &[Trace]) -> String {
    let ratio = |trace: &Trace| {
        let other = others.iter().find(|other| other.workers == trace.workers)?;
        let (rounds, at_least) = match other.reached(GOAL) {
            Some(round) => (round.number, ""),
            None => (other.rounds(), "at least "),
        };
        let times = rounds as f64 / trace.reached(GOAL)?.number as f64;
        Some(format!("{at_least}{times:.1} times on {}", trace.workers))
    };
    let all: Vec<String> = traces.iter().filter(|trace| trace.workers > 1).filter_map(ratio).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("Rounds of CoCoA over those of CoCoA+: {}.", all.join(", ")),
    }
}

fn rounds(algorithm: &str, traces: &[Trace]) -> String {
    let each = |trace: &Trace| match trace.reached(GOAL) {
        Some(round) => format!("{} on {}", round.number, trace.workers),
        None => format!("more than {} on {}", trace.rounds(), trace.workers),
    };
    let all: Vec<String> = traces.iter().map(each).collect();
    format!("Rounds of {algorithm} to a sub-optimality of 1e-4, by workers: {}.", all.join(", "))
}

fn by_workers(trace: &Trace) -> String {
    format!("m = {}", trace.workers)
}
