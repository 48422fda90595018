//! The page: what was run, the errors of all predictions, and every figure with the paper's claim beside our result.

use std::path::Path;

use super::accuracy::Accuracy;
use super::analysis::{Analysis, Errors, Forward};
use super::experiments::Evidence;
use super::figures::Figure;
use super::folder::picture;
use super::forecast::WINDOW;
use super::trace::GOAL;
use super::words::{count, percent};

/// What the page is about, apart from the figures.
pub(crate) struct Facts<'a> {
    pub evidence: &'a Evidence,
    pub errors: &'a Errors,
    pub of_averaging: &'a Errors,
    pub rounds: u64,
    pub cluster: &'a str,
}

/// The whole page, in Markdown.
pub(crate) fn page(facts: &Facts, analysis: &Analysis, figures: &[Figure]) -> String {
    let sections: Vec<String> = figures.iter().map(section).collect();
    [
        TITLE.to_owned(),
        setup(facts),
        format!("{ERRORS}\n{}", errors("CoCoA+", facts.errors)),
        short_runs(analysis),
        errors("CoCoA, which averages", facts.of_averaging),
        by_workers(analysis),
        models(analysis),
        format!("## Figures\n\n{}", sections.join("\n")),
        format!("## The cluster\n\n```toml\n{}```\n", facts.cluster),
    ]
    .join("\n")
}

const TITLE: &str = "\
# The figures of the Hemingway paper, made again

Pan, Venkataraman, Tai and Gonzalez, *Hemingway: Modeling Distributed Optimization Algorithms*, 2016, shows that two
models, one of seconds per iteration f(m) and one of convergence g(i, m), predict how distributed training goes. Its
figures are without error figures; here are both. This page is written by `hemingway reproduce hemingway`, which also
writes each figure as SVG and its data as CSV. Every result on it comes from the runs.
";

fn setup(facts: &Facts) -> String {
    let Evidence { reference, optimum, .. } = facts.evidence;
    let data = &reference.dataset;
    let file =
        Path::new(&data.name).file_name().map_or(data.name.as_str().into(), |name| name.to_string_lossy());
    let embedded = if data.name == hemingway_data::EMBEDDED {
        " This is the embedded part of MNIST; the paper used all 60,000 digits. Set `HEMINGWAY_DATA` to a folder with \
         `mnist-train-images-idx3-ubyte.gz` to use them too."
    } else {
        ""
    };
    format!(
        "## What was run\n\n\
         - Data: `{file}`, {} rows, {} features; {}.{embedded}\n\
         - Problem: hinge loss, λ = {:e}, which the paper does not give; on all of MNIST CoCoA with 4e-3 \
         comes near the rounds of its Figure 1(b).\n\
         - Optimum: between {optimum:.8} and {:.8}, proved by a run of its own. Sub-optimality is counted from the lower \
         bound, and is that of the best weights so far; forecasts within a run are of the weights of each round.\n\
         - Runs: CoCoA+ and CoCoA on 1, 2, 4, …, 128 workers, each worker passing over its rows once a round, until a \
         sub-optimality of {GOAL:e} or {} rounds. A single worker leaves out settled rows from its third round on, so \
         it is faster than predicted; seconds per round are those of rounds that visit every row. Also, on 16 workers all algorithms of the catalogue that take the hinge loss and whose workers meet in rounds.\n\
         - Machines: simulated, as described at the end, in place of the paper's Spark cluster.\n",
        count(data.rows),
        count(data.features),
        labels(&data.labels),
        reference.lambda,
        reference.primal,
        facts.rounds,
    )
}

fn labels(labels: &hemingway_data::Labels) -> String {
    match labels {
        hemingway_data::Labels::Classes { negative, positive } => format!("{positive} against {negative}"),
        hemingway_data::Labels::Several(names) => format!("{} classes", names.len()),
        hemingway_data::Labels::Numbers => "labels are numbers".to_owned(),
    }
}

const ERRORS: &str = "\
## How good the predictions are

Errors are shares of the truth. 90 % intervals should hold what came in 90 % of cases. Figures 3 to 10 are of CoCoA+.
";

fn errors(algorithm: &str, errors: &Errors) -> String {
    let mut table = format!(
        "| {algorithm}: predicted | median error | intervals that hold | predictions |\n|---|---|---|---|\n"
    );
    let unseen = [
        ("rounds to 1e-1, 1e-2, 1e-3 and 1e-4, where reached, unseen m", errors.rounds),
        ("the same for m between others", errors.rounds_between),
        ("sub-optimality by round, unseen m", errors.suboptimality),
        ("sub-optimality by time, unseen m", errors.suboptimality_in_time),
        ("seconds to the same, unseen m", errors.seconds),
        ("seconds per round, unseen m", errors.seconds_per_round),
    ];
    for (what, accuracy) in unseen {
        table += &accuracy.map_or(format!("| {what} | – | – | 0 |\n"), |accuracy| row(what, accuracy));
    }
    table += "\nForecasts within a run from its last 50 rounds:\n\n\
        | ahead | median error | of expecting no change | intervals that hold | predictions |\n|---|---|---|---|---|\n";
    for Forward { ahead, forecast, persistence } in &errors.forward {
        table += &format!(
            "| {ahead} | {} | {} | {} | {} |\n",
            percent(forecast.median_error),
            percent(persistence.median_error),
            percent(forecast.coverage),
            count(forecast.count)
        );
    }
    table
}

/// Forecasts within a run suffer from runs that end soon.
fn short_runs(analysis: &Analysis) -> String {
    let runs = analysis.recorded;
    let short = runs.iter().filter(|trace| trace.rounds() < WINDOW as u64).count();
    format!(
        "Of the {} runs of CoCoA+ {short} end before round {WINDOW}, sooner than the paper's (Figure 1(b) says why), so \
         forecasts within them are made from fewer rounds.\n",
        runs.len()
    )
}

fn row(what: &str, Accuracy { count: number, median_error, coverage }: Accuracy) -> String {
    format!("| {what} | {} | {} | {} |\n", percent(median_error), percent(coverage), count(number))
}

/// Each m as models see it that were made without it.
fn by_workers(analysis: &Analysis) -> String {
    let mut table = "Each m from all others, for CoCoA+:\n\n\
        | m | rounds to 1e-4 | predicted | 90 % interval | seconds per round | predicted |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (trace, models) in analysis.scaling.iter().zip(&analysis.held_out) {
        let rounds = match trace.reached(GOAL) {
            Some(round) => round.number.to_string(),
            None => format!("> {}", trace.rounds()),
        };
        let (predicted, interval) = match models.convergence.iterations_to(trace.workers, GOAL) {
            Some(estimate) => {
                (format!("{:.0}", estimate.mean), format!("{:.0} to {:.0}", estimate.low, estimate.high))
            }
            None => ("never".to_owned(), "–".to_owned()),
        };
        let speed = models.check_speed(trace);
        let (measured, modelled) =
            speed.map_or((f64::NAN, f64::NAN), |check| (check.truth, check.predicted.mean));
        table += &format!(
            "| {} | {rounds} | {predicted} | {interval} | {measured:.3} | {modelled:.3} |\n",
            trace.workers
        );
    }
    table
}

fn models(analysis: &Analysis) -> String {
    format!(
        "The models of all runs together:\n\n```text\n{}\n\n{}\n```\n",
        analysis.models.system,
        analysis.models.convergence.description()
    )
}

fn section(figure: &Figure) -> String {
    let Figure { claim, result, chart, .. } = figure;
    let picture = picture(&figure.file(), chart);
    format!("### {}\n\n{picture}\n\nThe paper: {claim}\n\nHere: {result}\n", chart.title)
}
