//! `hemingway plot`: the error of runs against seconds and rounds, as a picture.

use std::path::PathBuf;
use std::process::ExitCode;

use hemingway::{PlotAxis, RunPlot, Store};
use serde_json::json;

use crate::arguments::{Against, Plot};
use crate::{output, words};

pub fn run(arguments: &Plot) -> anyhow::Result<ExitCode> {
    if let Some(file) = &arguments.output {
        hemingway::check_picture(file)?;
    }
    let place = arguments.store.place()?;
    let store = Store::open_to_read(&place)?.ok_or_else(|| Store::missing(&place))?;
    let plot = hemingway::plot_runs(&store, &arguments.runs)?;
    store.warnings().iter().for_each(|warning| output::warn(warning));
    let file = arguments.output.clone().unwrap_or_else(|| usual_file(&plot));
    let axes = axes(arguments.against);
    plot.write(&axes, &file)?;
    if arguments.json {
        output::json(&json!({ "file": file, "runs": plot.runs }))?;
    } else {
        let names: Vec<&str> = axes.iter().map(|axis| name(*axis)).collect();
        let runs = words::counted(plot.runs.len(), "run");
        output::text(&format!("{}: error of {runs} against {}\n", file.display(), names.join(" and ")))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn usual_file(plot: &RunPlot) -> PathBuf {
    match plot.runs.as_slice() {
        [only] => format!("{}.png", only.run).into(),
        _ => "runs.png".into(),
    }
}

fn axes(against: Option<Against>) -> Vec<PlotAxis> {
    match against {
        None => vec![PlotAxis::Seconds, PlotAxis::Rounds],
        Some(Against::Seconds) => vec![PlotAxis::Seconds],
        Some(Against::Rounds) => vec![PlotAxis::Rounds],
        Some(Against::Epochs) => vec![PlotAxis::Epochs],
    }
}

fn name(axis: PlotAxis) -> &'static str {
    match axis {
        PlotAxis::Seconds => "seconds",
        PlotAxis::Rounds => "rounds",
        PlotAxis::Epochs => "epochs",
    }
}
