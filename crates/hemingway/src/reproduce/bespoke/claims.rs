//! The paper's claims, one by one, beside what came of them here.

use super::charts::{best_per_input, find, sub_graphs};
use super::experiments::{Study, TunedExperiment, spread};
use super::page::Facts;
use super::runs::{OURS, median};
use super::{BUDGET, CONVERGENCE, LONG_BUDGET};
use crate::reproduce::words::{count, significant, times};

/// A simple configuration is clearly worse from here on.
const CLEARLY: f64 = 1.1;
/// Near enough to the best possible to be called efficient.
const EFFICIENT: f64 = 1.05;
/// Where convergence is looked at.
const STEPS: [usize; 4] = [3, 5, 7, BUDGET];
/// The generic optimiser that the paper compares with.
pub(super) const OPENTUNER: &str = "opentuner";

/// What the paper says, and what is found here.
pub(super) struct Claim {
    pub paper: &'static str,
    pub here: String,
}

/// All of them, in the paper's order.
#[rustfmt::skip]
pub(super) fn claims(facts: &Facts) -> Vec<Claim> {
    let figure_2 = facts.experiments.iter().find(|tuned| tuned.experiment == CONVERGENCE);
    let mut claims = vec![
        Claim { paper: "Over thirty parameters are tuned (30 to 32 for ten machines).", here: parameters(facts.experiments) },
        Claim { paper: "The optimiser converges to efficient configurations within ten iterations.", here: convergence(facts.experiments) },
        Claim { paper: "The synchronisation cost grows with workers; it can pay to use only some of the machines.", here: subsets(facts.experiments) },
        Claim { paper: "Optimised configurations significantly outperform the simple ones on most experiments.", here: simple(facts.experiments) },
        Claim { paper: "The best time per input is always that of the optimised configuration on the largest batch.", here: largest(facts.experiments) },
    ];
    if let Some(tuned) = figure_2 {
        claims.push(Claim { paper: "Figure 2: after thirty iterations OpenTuner has a median of 8.71 s per iteration, more than twice the 4.31 s of the bespoke optimiser.", here: generic(facts, tuned) });
        claims.push(Claim { paper: "Figure 2: OpenTuner is not much faster than Uniform GPUs (9.82 s).", here: uniform(facts, tuned) });
        claims.push(Claim { paper: "The space of efficient configurations is extremely narrow.", here: narrow(facts, tuned) });
    }
    claims.push(Claim { paper: "The optimiser converges consistently: stable results over 36 experiments.", here: consistent(facts.experiments) });
    claims.push(Claim { paper: "All experiments finished their ten iterations within two hours.", here: hours(facts.experiments) });
    claims
}

fn parameters(experiments: &[TunedExperiment]) -> String {
    let [low, high] = spread(experiments.iter().map(|tuned| tuned.parameters as f64));
    let machines = experiments[0].machines;
    format!(
        "**The same:** {} for {machines} machines.",
        if low == high { format!("{low}") } else { format!("{low} to {high}") }
    )
}

/// Seconds after so many evaluations / best possible, of every study.
fn ratios(experiments: &[TunedExperiment], evaluations: usize) -> Vec<f64> {
    let each = |tuned: &TunedExperiment| -> Vec<f64> {
        tuned.studies.iter().map(|study| study.seconds[evaluations - 1] / tuned.optimum).collect()
    };
    experiments.iter().flat_map(each).collect()
}

fn convergence(experiments: &[TunedExperiment]) -> String {
    let at = |evaluations: usize| {
        let ratios = ratios(experiments, evaluations);
        let worst = spread(ratios.iter().copied())[1];
        let median = median(ratios.into_iter()).unwrap_or(f64::NAN);
        format!("{} ({}) after {evaluations}", times(median), times(worst))
    };
    let steps: Vec<String> = STEPS.into_iter().map(at).collect();
    let last = ratios(experiments, BUDGET);
    let efficient = last.iter().filter(|ratio| **ratio <= EFFICIENT).count();
    format!(
        "{} {} of {} studies are within 5 % of the best possible schedule after {BUDGET} evaluations. Median (worst) ratio \
         to it: {}.",
        verdict(efficient == last.len(), 10 * efficient >= 9 * last.len()),
        count(efficient),
        count(last.len()),
        steps.join(", ")
    )
}

fn subsets(experiments: &[TunedExperiment]) -> String {
    let fewer = experiments.iter().filter(|tuned| tuned.median().workers < tuned.machines).count();
    let [low, high] = spread(experiments.iter().map(|tuned| tuned.median().workers as f64));
    format!(
        "{} In {fewer} of {} experiments the optimised configuration leaves machines out; workers are {low} to {high} of {}.",
        verdict(fewer > 0, false),
        experiments.len(),
        experiments[0].machines
    )
}

fn simple(experiments: &[TunedExperiment]) -> String {
    let gains: Vec<f64> = experiments.iter().map(|tuned| tuned.simple() / tuned.optimised()).collect();
    let clearly = gains.iter().filter(|gain| **gain >= CLEARLY).count();
    let [low, high] = spread(gains.iter().copied());
    let middle = median(gains.iter().copied()).unwrap_or(f64::NAN);
    let better = experiments.iter().filter(|tuned| tuned.simple() < tuned.optimised());
    let better: Vec<String> = better.map(|tuned| tuned.experiment.to_string()).collect();
    format!(
        "{} In {clearly} of {} experiments the better simple configuration takes at least {} times as long. In the \
         median it takes {} times as long; the range is {low:.2} to {high:.2}.{}",
        verdict(2 * clearly > gains.len(), false),
        gains.len(),
        times(CLEARLY),
        times(middle),
        if better.is_empty() {
            String::new()
        } else {
            format!(" It is better than the optimised one in {}.", better.join(", "))
        }
    )
}

fn largest(experiments: &[TunedExperiment]) -> String {
    let graphs = sub_graphs(experiments);
    let right = |tuned: &&&[TunedExperiment]| {
        let last = &tuned[tuned.len() - 1];
        last.per_input(last.optimised()) <= best_per_input(tuned)
    };
    let right = graphs.iter().filter(right).count();
    format!(
        "{} So it is in {right} of {} sub-graphs.",
        verdict(right == graphs.len(), 2 * right > graphs.len()),
        graphs.len()
    )
}

fn generic(facts: &Facts, tuned: &TunedExperiment) -> String {
    let Some(runs) = find(facts.convergence, OPENTUNER) else { return LEFT_OUT.to_owned() };
    let (ours, theirs) = (tuned.optimised(), runs.median(LONG_BUDGET).unwrap_or(f64::NAN));
    let improved =
        |run: &&Vec<f64>| matches!((run.first(), run.last()), (Some(first), Some(last)) if last < first);
    format!(
        "{} OpenTuner has {} s after {LONG_BUDGET} evaluations, {} times our {} s after {BUDGET}. Both begin with loads by guesses \
         of speed, {} s; {} of {} runs of OpenTuner find something better.",
        verdict(theirs >= 2.0 * ours, theirs > CLEARLY * ours),
        significant(theirs),
        times(theirs / ours),
        significant(ours),
        runs.median(1).map_or(String::new(), significant),
        runs.seconds.iter().filter(improved).count(),
        runs.seconds.len()
    )
}

fn uniform(facts: &Facts, tuned: &TunedExperiment) -> String {
    let gpus = tuned.uniform_gpus.unwrap_or(f64::NAN);
    let ours = find(facts.convergence, OURS).and_then(|runs| runs.median(BUDGET)).unwrap_or(f64::NAN);
    let simple = format!(
        "Uniform GPUs take {} s, {} times ours; Uniform Devices {} s.",
        significant(gpus),
        times(gpus / ours),
        significant(tuned.uniform_devices)
    );
    match find(facts.convergence, OPENTUNER).and_then(|runs| runs.median(LONG_BUDGET)) {
        None => format!("{LEFT_OUT} {simple}"),
        Some(theirs) => format!(
            "{} {simple} OpenTuner takes {:.2} of the time of Uniform GPUs.",
            verdict(theirs > 0.8 * gpus, false),
            theirs / gpus
        ),
    }
}

fn narrow(facts: &Facts, tuned: &TunedExperiment) -> String {
    let drawn: Vec<f64> = facts.random.drawn.iter().map(|seconds| seconds / tuned.optimum).collect();
    let near = drawn.iter().filter(|ratio| **ratio < 1.5).count();
    let [best, _] = spread(drawn.iter().copied());
    let middle = median(drawn.iter().copied()).unwrap_or(f64::NAN);
    format!(
        "{} Of {} random schedules {near} take less than 1.5 times the best possible; the best of them takes {} times as long, the median {}.",
        verdict(20 * near <= drawn.len(), 4 * near <= drawn.len()),
        count(drawn.len()),
        times(best),
        times(middle)
    )
}

fn consistent(experiments: &[TunedExperiment]) -> String {
    let ranges = experiments.iter().map(|tuned| {
        let [low, high] = spread(tuned.studies.iter().map(Study::optimised));
        (tuned, high / low)
    });
    let Some((widest, range)) = ranges.max_by(|a, b| a.1.total_cmp(&b.1)) else { return String::new() };
    let seeds = widest.studies.len();
    if seeds == 1 {
        return "**Not seen:** one seed says nothing about it.".to_owned();
    }
    format!(
        "{} Over {seeds} seeds the slowest study is at most {} times the fastest of the same experiment ({}), after {BUDGET} \
         evaluations, in {} experiments.",
        verdict(range <= EFFICIENT, range <= 1.2),
        times(range),
        widest.experiment,
        experiments.len()
    )
}

fn hours(experiments: &[TunedExperiment]) -> String {
    let most = experiments.iter().flat_map(|tuned| &tuned.studies).map(|study| study.evaluating);
    let [_, longest] = spread(most);
    format!(
        "**Does not carry over:** evaluations are simulated. Their iterations alone, 20 for each of {BUDGET} evaluations, would \
         take at most {:.0} min; starting the program on all machines is not simulated.",
        (longest / 60.0).ceil()
    )
}

const LEFT_OUT: &str = "**Left out:** no results of other tuners were given.";

/// Whether a claim holds here.
fn verdict(holds: bool, partly: bool) -> &'static str {
    match (holds, partly) {
        (true, _) => "**Holds.**",
        (false, true) => "**Holds in part.**",
        (false, false) => "**Does not hold.**",
    }
}
