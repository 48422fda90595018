//! `hemingway reproduce`: the figures of a paper, made again.

use std::path::Path;
use std::process::ExitCode;

use hemingway::{
    Accuracy, BespokeReproduction, BespokeRequest, BespokeWatch, DataRequest, DatasetFacts,
    DatasetMattersReproduction, DatasetMattersRequest, DatasetMattersWatch, Forward, MeasureWatch, Outcome,
    ReproduceRequest, Reproduction, Runs, TunedExperiment,
};

use super::measure::Shown;
use super::train::BEFORE_THE_GOAL;
use crate::arguments::{Paper, Reproduce, ReproduceBespoke, ReproduceDatasetMatters, ReproduceHemingway};
use crate::{interrupt, output, words};

pub fn run(arguments: Reproduce) -> anyhow::Result<ExitCode> {
    match arguments.paper {
        Paper::Hemingway(arguments) => hemingway_paper(arguments),
        Paper::Bespoke(arguments) => bespoke_paper(arguments),
        Paper::DatasetMatters(arguments) => dataset_matters_paper(arguments),
    }
}

fn hemingway_paper(arguments: ReproduceHemingway) -> anyhow::Result<ExitCode> {
    let (place, json, quiet) = (arguments.store.place()?, arguments.json, arguments.quiet);
    let request = request(arguments);
    let mut shown = Shown::new(quiet);
    let mut watch =
        MeasureWatch { interrupt: interrupt::listen()?, observe: &mut |event| shown.follow(event) };
    let result = hemingway::reproduce(&request, &place, &mut watch);
    shown.finish();
    let Some(made) = result? else {
        output::note("hint: the same command goes on from here");
        return Ok(ExitCode::from(BEFORE_THE_GOAL));
    };
    if json {
        output::json(&serde_json::to_value(&made)?)?;
    } else {
        output::text(&summary(&made, &request.out))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn request(arguments: ReproduceHemingway) -> ReproduceRequest {
    let spec = arguments.data.or_else(mnist).unwrap_or_else(embedded);
    let data = DataRequest { spec, positive: Some(arguments.positive), ..DataRequest::default() };
    ReproduceRequest { data, lambda: arguments.lambda, rounds: arguments.rounds, out: arguments.out }
}

fn mnist() -> Option<String> {
    hemingway::mnist().map(|file| file.to_string_lossy().into_owned())
}

fn embedded() -> String {
    output::note(
        "note: using the embedded digits; set HEMINGWAY_DATA to a folder with mnist-train-images-idx3-ubyte.gz to use \
         all of MNIST",
    );
    DataRequest::default().spec
}

fn summary(made: &Reproduction, out: &Path) -> String {
    let errors = &made.errors;
    let unseen = [
        ("rounds to a sub-optimality, unseen m", errors.rounds),
        ("sub-optimality by round, unseen m", errors.suboptimality),
        ("sub-optimality by time, unseen m", errors.suboptimality_in_time),
        ("seconds to a sub-optimality, unseen m", errors.seconds),
        ("seconds per round, unseen m", errors.seconds_per_round),
    ];
    let mut rows: Vec<Vec<String>> =
        unseen.iter().filter_map(|(what, accuracy)| Some(row(what, &(*accuracy)?, String::new()))).collect();
    rows.extend(errors.forward.iter().map(|Forward { ahead, forecast, persistence }| {
        row(&format!("{ahead} ahead"), forecast, words::percent(persistence.median_error))
    }));
    let header = ["predicted", "median error", "of no change", "intervals that hold", "predictions"];
    format!(
        "{} figures of {}, with their data, in {}\n\n{}\n  page  {}\n",
        made.figures.len(),
        made.dataset.name,
        out.display(),
        output::table(&header, rows.into_iter()),
        made.page.display()
    )
}

fn row(what: &str, accuracy: &Accuracy, persistence: String) -> Vec<String> {
    let Accuracy { count, median_error, coverage } = accuracy;
    vec![
        what.to_owned(),
        words::percent(*median_error),
        persistence,
        words::percent(*coverage),
        words::count(*count),
    ]
}

fn bespoke_paper(arguments: ReproduceBespoke) -> anyhow::Result<ExitCode> {
    let ReproduceBespoke { experiments, seeds, rivals, out, json, quiet } = arguments;
    let request = BespokeRequest { experiments, seeds, rivals, out };
    let mut tell = |tuned: &TunedExperiment, done: usize, of: usize| {
        if !quiet {
            output::note(&tuned_line(tuned, done, of));
        }
    };
    let mut watch = BespokeWatch { interrupt: interrupt::listen()?, observe: &mut tell };
    interrupt::work_begins("ending; nothing is written");
    let Some(made) = hemingway::reproduce_bespoke(&request, &mut watch)? else {
        output::note("interrupted: nothing was written");
        return Ok(ExitCode::from(BEFORE_THE_GOAL));
    };
    if json {
        output::json(&serde_json::to_value(&made)?)?;
    } else {
        output::text(&bespoke_summary(&made, &request.out))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tuned_line(tuned: &TunedExperiment, done: usize, of: usize) -> String {
    format!(
        "  {done:>2} of {of}: {}: {} per iteration, {:.3} of the best possible; {}",
        tuned.experiment,
        words::duration(tuned.optimised()),
        tuned.optimised() / tuned.optimum,
        words::counted(tuned.median().workers, "worker")
    )
}

fn bespoke_summary(made: &BespokeReproduction, out: &Path) -> String {
    let row = |runs: &Runs| {
        let after = |evaluations| runs.median(evaluations).map_or(String::new(), words::duration);
        vec![runs.name.clone(), words::count(runs.seconds.len()), after(5), after(10), after(30)]
    };
    let header = ["optimiser", "runs", "after 5", "after 10", "after 30 evaluations"];
    format!(
        "{} figures of {}, with their data, in {}\n\nFigure 2, seconds per iteration:\n\n{}\n  page  {}\n",
        made.figures.len(),
        words::counted(made.experiments.len(), "experiment"),
        out.display(),
        output::table(&header, made.convergence.iter().map(row)),
        made.page.display()
    )
}

fn dataset_matters_paper(arguments: ReproduceDatasetMatters) -> anyhow::Result<ExitCode> {
    let ReproduceDatasetMatters { experiments, seeds, full, out, json, quiet } = arguments;
    let request = DatasetMattersRequest { experiments, seeds, full, out };
    let mut tell = |panel: &str, done: usize, of: usize| {
        if !quiet {
            output::note(&format!("  {done:>2} of {of}: {panel}"));
        }
    };
    let mut watch = DatasetMattersWatch {
        interrupt: interrupt::listen()?,
        begin: &mut say_generated,
        observe: &mut tell,
    };
    interrupt::work_begins("ending; nothing is written");
    let Some(made) = hemingway::reproduce_dataset_matters(&request, &mut watch)? else {
        output::note("interrupted: nothing was written");
        return Ok(ExitCode::from(BEFORE_THE_GOAL));
    };
    if json {
        output::json(&serde_json::to_value(&made)?)?;
    } else {
        output::text(&dataset_matters_summary(&made, &request.out))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn say_generated(datasets: &[&DatasetFacts]) {
    let missing: Vec<&str> =
        datasets.iter().filter(|data| data.generated).map(|data| data.file.as_str()).collect();
    if !missing.is_empty() {
        output::note(&format!(
            "note: using generated data; set HEMINGWAY_DATA to a folder with {} to use real data",
            missing.join(" and ")
        ));
    }
}

fn dataset_matters_summary(made: &DatasetMattersReproduction, out: &Path) -> String {
    let row = |Outcome { experiment, verdict, .. }: &Outcome| vec![experiment.clone(), verdict.to_string()];
    format!(
        "{} figures of {}, with their data, in {}\n\n{}\n  page  {}\n",
        made.figures.len(),
        words::counted(made.claims.len(), "experiment"),
        out.display(),
        output::table(&["experiment", "what the paper claims is"], made.claims.iter().map(row)),
        made.page.display()
    )
}
