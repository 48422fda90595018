//! `hemingway predict`: labels for new data, one per line.

use std::process::ExitCode;

use hemingway::data::Labels;
use hemingway::{ModelFile, Predictions, Quality};
use serde_json::json;

use super::train::reading;
use crate::arguments::Predict;
use crate::{output, words};

pub fn run(arguments: Predict) -> anyhow::Result<ExitCode> {
    let model = ModelFile::read(&arguments.model)?;
    let predictions = hemingway::predict(&model, &reading(arguments.data, arguments.reading))?;
    if arguments.json {
        output::json(&as_json(&predictions))?;
    } else if arguments.margins {
        output::lines((0..predictions.rows()).map(|row| margins(&predictions, row)))?;
    } else {
        output::lines((0..predictions.rows()).map(|row| predictions.label(row)))?;
    }
    report(&predictions);
    Ok(ExitCode::SUCCESS)
}

/// One, or of several classes one for each, with spaces between them.
fn margins(predictions: &Predictions, row: usize) -> String {
    predictions.margins_of(row).iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}

fn as_json(predictions: &Predictions) -> serde_json::Value {
    let rows = predictions.rows();
    let several = matches!(predictions.labels, Labels::Several(_));
    let margins = match several {
        true => (0..rows).map(|row| json!(predictions.margins_of(row))).collect(),
        false => json!(predictions.margins),
    };
    let mut object = json!({
        "rows": rows,
        "labels": predictions.labels,
        "predictions": (0..rows).map(|row| predictions.label(row)).collect::<Vec<_>>(),
        "margins": margins,
        "dropped_values": predictions.dropped_values,
        "ignored_columns": predictions.ignored_columns,
        "unseen_levels": predictions.unseen_levels,
    });
    match predictions.quality {
        Some(Quality::Accuracy(share)) => object["accuracy"] = share.into(),
        Some(Quality::Rmse(error)) => object["rmse"] = error.into(),
        None => {}
    }
    object
}

/// Beside the data, not in it.
fn report(predictions: &Predictions) {
    let rows = words::counted(predictions.rows(), "row");
    match predictions.quality {
        Some(Quality::Accuracy(share)) => output::note(&format!("{rows}, {} right", words::share(share))),
        Some(Quality::Rmse(error)) => output::note(&format!("{rows}, rms error {}", words::number(error))),
        None => output::note(&rows),
    }
    if !predictions.ignored_columns.is_empty() {
        let columns = predictions.ignored_columns.join(", ");
        output::note(&format!("note: columns that the model does not know are passed over: {columns}"));
    }
    if predictions.unseen_levels > 0 {
        let cells = words::counted(predictions.unseen_levels, "cell");
        output::note(&format!("note: {cells} with a text that the training data does not have"));
    }
    if predictions.dropped_values > 0 {
        let values = words::counted(predictions.dropped_values, "value");
        output::note(&format!("warning: {values} left out, of features that the model does not know"));
    }
}
