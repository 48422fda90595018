//! From what was found to charts: a sub-graph of Figure 1 for each network and setting, and Figure 2.

use super::experiments::{Study, TunedExperiment};
use super::random_search::RANDOM;
use super::runs::{OURS, Runs};
use super::{CONVERGENCE, LONG_BUDGET};
use crate::plot::{Axis, Chart, Mark, Scale, Series};
use crate::reproduce::charts::series;
use crate::reproduce::words::significant;

/// The optimisers that Figure 2 shows, and their colours.
const SHOWN: [(&str, usize); 4] = [(OURS, 1), (RANDOM, 4), ("opentuner", 3), ("optuna", 7)];
const DEVICES: (&str, usize) = ("uniform devices", 6);
const GPUS: (&str, usize) = ("uniform GPUs", 5);
const OPTIMISED: (&str, usize) = ("optimised", 1);

/// All of them, by the names of their files.
pub(super) fn charts(experiments: &[TunedExperiment], convergence: &[Runs]) -> Vec<(String, Chart)> {
    let mut charts: Vec<(String, Chart)> = sub_graphs(experiments).into_iter().map(sub_graph).collect();
    if let Some(tuned) = experiments.iter().find(|tuned| tuned.experiment == CONVERGENCE) {
        charts.push(("bespoke-2".to_owned(), figure_2(tuned, convergence)));
    }
    charts
}

/// The experiments with the same network and setting, by rising batch.
pub(super) fn sub_graphs(experiments: &[TunedExperiment]) -> Vec<&[TunedExperiment]> {
    let together = |a: &TunedExperiment, b: &TunedExperiment| {
        (a.experiment.network, a.experiment.setting) == (b.experiment.network, b.experiment.setting)
    };
    experiments.chunk_by(together).collect()
}

/// The least milliseconds per input of any configuration of a sub-graph, by which it is normalised.
pub(super) fn best_per_input(tuned: &[TunedExperiment]) -> f64 {
    let each = |tuned: &TunedExperiment| tuned.per_input(tuned.optimised().min(tuned.simple()));
    tuned.iter().map(each).fold(f64::INFINITY, f64::min)
}

fn sub_graph(tuned: &[TunedExperiment]) -> (String, Chart) {
    let experiment = &tuned[0].experiment;
    let (network, setting) = (format!("{:?}", experiment.network), format!("{:?}", experiment.setting));
    let best = best_per_input(tuned);
    let line = |seconds: &dyn Fn(&TunedExperiment) -> Option<f64>| -> Vec<(f64, f64)> {
        let point = |tuned: &TunedExperiment| {
            Some((tuned.experiment.batch as f64, tuned.per_input(seconds(tuned)?) / best))
        };
        tuned.iter().filter_map(point).collect()
    };
    let optimised = line(&|tuned| Some(tuned.optimised()));
    let mut all = dotted(DEVICES, line(&|tuned| Some(tuned.uniform_devices)));
    if tuned.iter().any(|tuned| tuned.uniform_gpus.is_some()) {
        all.extend(dotted(GPUS, line(&|tuned| tuned.uniform_gpus)));
    }
    all.extend(dotted(OPTIMISED, optimised.clone()));
    let workers = tuned.iter().zip(optimised).map(|(tuned, point)| {
        let Study { workers, .. } = tuned.median();
        series(&workers.to_string(), OPTIMISED.1, Mark::Text, vec![point])
    });
    all.extend(workers);
    let most = all.iter().flat_map(|series| &series.points).map(|point| point.1).fold(1.0, f64::max);
    let chart = Chart {
        title: format!("Figure 1: {network}, setting {setting}; best {} ms per input", significant(best)),
        notes: vec!["numbers: workers of", "the optimised", "configuration"],
        x: Axis::new("batch size", Scale::Doublings),
        y: Axis::new("time per input / best", Scale::Linear).within(0.0, most),
        series: all,
    };
    (format!("bespoke-1-{}-{}", network.to_lowercase(), setting.to_lowercase()), chart)
}

fn figure_2(tuned: &TunedExperiment, convergence: &[Runs]) -> Chart {
    let mut all = Vec::new();
    let shown = || SHOWN.iter().filter_map(|(name, colour)| Some((find(convergence, name)?, *colour)));
    all.extend(shown().map(|(runs, colour)| band(runs, colour)));
    let flat = |(name, colour): (&str, usize), seconds: f64| {
        series(name, colour, Mark::Line, vec![(1.0, seconds), (LONG_BUDGET as f64, seconds)])
    };
    // Beneath ours, which comes close to it.
    all.push(flat(("best possible", 0), tuned.optimum));
    all.push(flat(DEVICES, tuned.uniform_devices));
    all.extend(tuned.uniform_gpus.map(|seconds| flat(GPUS, seconds)));
    all.extend(shown().map(|(runs, colour)| series(&runs.name, colour, Mark::Line, medians(runs))));
    let lasts: Vec<f64> = shown().filter_map(|(runs, _)| runs.median(LONG_BUDGET)).collect();
    let mut notes = vec!["lines: median of runs", "bands: all runs"];
    if lasts.iter().enumerate().any(|(at, last)| lasts[..at].contains(last)) {
        notes.extend(["lines that coincide", "hide one another"]);
    }
    Chart {
        title: "Figure 2: convergence on setting C, SpeechNet, batch 65,536".to_owned(),
        notes,
        x: Axis::new("evaluations", Scale::Linear),
        y: Axis::new("seconds per iteration, best so far", Scale::Doublings),
        series: all,
    }
}

/// The runs of an optimiser.
pub(super) fn find<'a>(convergence: &'a [Runs], name: &str) -> Option<&'a Runs> {
    convergence.iter().find(|runs| runs.name == name)
}

fn dotted((label, colour): (&str, usize), points: Vec<(f64, f64)>) -> Vec<Series> {
    vec![series(label, colour, Mark::Line, points.clone()), series(label, colour, Mark::Dots, points)]
}

fn medians(runs: &Runs) -> Vec<(f64, f64)> {
    let at = |evaluations: usize| Some((evaluations as f64, runs.median(evaluations)?));
    (1..=runs.evaluations().min(LONG_BUDGET)).filter_map(at).collect()
}

fn band(runs: &Runs, colour: usize) -> Series {
    let at = |evaluations: usize| Some((evaluations as f64, runs.spread(evaluations)?));
    let spread: Vec<(f64, [f64; 2])> = (1..=runs.evaluations().min(LONG_BUDGET))
        .filter_map(at)
        .filter(|(_, [_, high])| high.is_finite())
        .collect();
    let low = spread.iter().map(|(x, [low, _])| (*x, *low));
    let high = spread.iter().rev().map(|(x, [_, high])| (*x, *high));
    series(&runs.name, colour, Mark::Band, low.chain(high).collect())
}
