//! The page: what was run, the paper's claims beside our results, and every figure.

use super::charts::sub_graphs;
use super::claims::{Claim, claims};
use super::experiments::{Study, TunedExperiment, spread};
use super::random_search::RandomSearch;
use super::runs::Runs;
use super::{BUDGET, BespokeRequest, CONVERGENCE, LONG_BUDGET};
use crate::plot::Chart;
use crate::reproduce::folder::picture;
use crate::reproduce::words::{count, percent, significant};

/// What the page is about.
pub(super) struct Facts<'a> {
    pub request: &'a BespokeRequest,
    pub experiments: &'a [TunedExperiment],
    /// Ours first.
    pub convergence: &'a [Runs],
    pub random: &'a RandomSearch,
    /// Whether results of other tuners were given.
    pub rivals: bool,
}

/// The whole page, in Markdown.
pub(super) fn page(facts: &Facts, charts: &[(String, Chart)]) -> String {
    let first: Vec<String> = charts
        .iter()
        .filter(|(name, _)| name.starts_with("bespoke-1"))
        .map(|(name, chart)| picture(name, chart))
        .collect();
    let second: Vec<String> = charts
        .iter()
        .filter(|(name, _)| name == "bespoke-2")
        .map(|(name, chart)| picture(name, chart))
        .collect();
    [
        title(facts.request),
        setup(facts),
        compared(facts),
        NOT_HERE.to_owned(),
        format!("{FIGURE_1}\n{}\n\n{}", first.join("\n\n"), every_experiment(facts.experiments)),
        format!("{FIGURE_2}\n{}\n\n{}", second.join("\n\n"), optimisers(facts)),
    ]
    .join("\n")
}

fn title(request: &BespokeRequest) -> String {
    format!(
        "# The figures of the paper on tuning distributed SGD, made again\n\n\
         Dalibard, Schaarschmidt and Yoneki, *Tuning the Scheduling of Distributed Stochastic Gradient Descent with Bayesian\n\
         Optimization*, 2016, tunes which machines compute, which serve parameters and how much each device gets. This page\n\
         makes its two figures again with `hemingway tune`'s optimiser and the simulator inside the program. It is written by\n\n    \
         {}\n\n\
         which also writes each figure as SVG and its data as CSV. Every result on it comes from the run.\n",
        command(request)
    )
}

/// What made the page, without the folders of whoever ran it.
fn command(request: &BespokeRequest) -> String {
    let mut command = format!("hemingway reproduce bespoke --seeds {}", request.seeds);
    if !request.experiments.is_empty() {
        command += &format!(" --experiments {}", request.experiments.join(","));
    }
    if let Some(name) = request.rivals.as_deref().and_then(|file| file.file_name()) {
        command += &format!(" --rivals {}", name.to_string_lossy());
    }
    command
}

fn setup(facts: &Facts) -> String {
    let (experiments, seeds) = (facts.experiments.len(), facts.request.seeds);
    let rivals = if facts.rivals {
        format!(
            "Other tuners come from `bench/tune/run --experiments {CONVERGENCE}`, with 30 parameters and more as the paper counts them."
        )
    } else {
        format!(
            "Other tuners are left out: `bench/tune/run --experiments {CONVERGENCE}` runs them, and `--rivals results.jsonl` \
             reads what it found."
        )
    };
    format!(
        "## What was run\n\n\
         - Times are simulated. The simulator has curves of seconds against inputs that were measured on other machines (AlexNet\n  \
         on 4, 8 and 16 cores and on an H200) and scaled to those of the paper; networks, machines and batch sizes are the\n  \
         paper's. Single times have {} noise, which is the simulator's assumption.\n\
         - {experiments} experiments, each tuned with {seeds} seeds for {BUDGET} evaluations of 20 iterations, of which the last 10\n  \
         count; that of Figure 2 for {LONG_BUDGET}. `hemingway tune --simulate NAME --seed N --stop-below 0` makes any one of these\n  \
         studies alone.\n\
         - Seconds are those of the configuration that a tuner would choose, without noise, and in the median of seeds. No tuner\n  \
         sees exact seconds.\n\
         - Uniform Devices: the same load on every device. Uniform GPUs: the same load on every GPU, settings B and C. All\n  \
         machines that compute are parameter servers too.\n\
         - The best possible schedule is known here, since the simulator's costs are.\n\
         - Random search draws two booleans for each machine and a weight for each device, without guesses of speed.\n\
         - {rivals}\n",
        percent(CONVERGENCE.world().noise)
    )
}

fn compared(facts: &Facts) -> String {
    let row = |Claim { paper, here }: &Claim| format!("| {paper} | {here} |\n");
    let rows: String = claims(facts).iter().map(row).collect();
    format!("## The paper's claims\n\n| the paper | here |\n|---|---|\n{rows}")
}

const NOT_HERE: &str = "\
## What does not carry over

- Absolute times. Milliseconds per input and seconds per iteration are those of scaled curves and assumed networks; only ratios
  within an experiment can be compared with the paper's.
- Whether the model fits real machines. The simulator and the optimiser's model share the structure of the computation: devices,
  machines, then the slowest transfer. A real parameter server has more to it; the paper's evidence is from real ones, this page's
  is not.
- That repeating a configuration shows little noise. Here noise is put in.
- How long tuning takes.
- Spearmint, which the paper also shows, is not run; Optuna stands in its place.
";

const FIGURE_1: &str = "\
## Figure 1: simple and optimised configurations

Time per input, divided within each sub-graph by the best of it, which the title gives in milliseconds. Numbers below the points
are the workers of the optimised configuration.
";

const FIGURE_2: &str = "\
## Figure 2: convergence

The best configuration so far, as each optimiser would choose it, on setting C with SpeechNet and a batch of 65,536. All but
random search begin with loads by the same guesses of how fast devices are.
";

fn every_experiment(experiments: &[TunedExperiment]) -> String {
    let mut table = "Seconds per iteration. The range is that of the seeds; workers and servers are those of the median.\n\n\
        | experiment | Uniform Devices | Uniform GPUs | optimised | range | best possible | workers | servers |\n\
        |---|---:|---:|---:|---|---:|---:|---:|\n"
        .to_owned();
    for tuned in sub_graphs(experiments).concat() {
        let Study { workers, servers, .. } = tuned.median();
        let [low, high] = spread(tuned.studies.iter().map(Study::optimised));
        table += &format!(
            "| {} | {} | {} | {} | {} to {} | {} | {workers} | {servers} |\n",
            tuned.experiment,
            significant(tuned.uniform_devices),
            tuned.uniform_gpus.map_or("–".to_owned(), significant),
            significant(tuned.optimised()),
            significant(low),
            significant(high),
            significant(tuned.optimum),
        );
    }
    table
}

/// Every optimiser after some numbers of evaluations.
fn optimisers(facts: &Facts) -> String {
    let mut table = format!(
        "Seconds per iteration, median (worst) of runs.{}\n\n\
         | optimiser | runs | after 5 | after {BUDGET} | after 20 | after {LONG_BUDGET} |\n|---|---:|---:|---:|---:|---:|\n",
        if facts.rivals { " With `-types`, machines of one type share their parameters." } else { "" }
    );
    for runs in facts.convergence {
        let at = |evaluations: usize| match (runs.median(evaluations), runs.spread(evaluations)) {
            (Some(median), Some([_, worst])) => format!("{} ({})", significant(median), significant(worst)),
            _ => "–".to_owned(),
        };
        let steps: Vec<String> = [5, BUDGET, 20, LONG_BUDGET].into_iter().map(at).collect();
        table += &format!("| {} | {} | {} |\n", runs.name, count(runs.seconds.len()), steps.join(" | "));
    }
    table
}
