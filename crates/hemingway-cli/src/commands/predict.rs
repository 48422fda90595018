//! `hemingway predict`: labels for new data, one per line, or as a table.

use std::process::ExitCode;

use hemingway::data::Labels;
use hemingway::{DataRequest, Error, ModelFile, PredictionFormat, PredictionTable, Predictions, Quality};
use serde_json::json;

use super::train::reading;
use crate::arguments::Predict;
use crate::failure::Usage;
use crate::{output, words};

pub fn run(arguments: Predict) -> anyhow::Result<ExitCode> {
    let model = ModelFile::read(&arguments.model)?;
    check(&arguments, &model)?;
    let format = format(&arguments);
    let Predict { data, reading: how, id, margins, probabilities, output: file, json, .. } = arguments;
    let request = DataRequest { id: id.clone(), ..reading(&data, how) };
    let predictions = hemingway::predict(&model, &request)?;
    let ids = id.as_deref().map(|id| (id, predictions.ids.as_slice()));
    let table = PredictionTable { predictions: &predictions, ids, margins, probabilities };
    match file {
        _ if json => output::json(&as_json(&predictions, probabilities))?,
        Some(file) => table.write_file(format, &file)?,
        None => output::written(|out| table.write(format, out))?,
    }
    report(&predictions);
    Ok(ExitCode::SUCCESS)
}

/// As asked for, or a table where rows have names.
fn format(arguments: &Predict) -> PredictionFormat {
    let usual = if arguments.id.is_some() { PredictionFormat::Csv } else { PredictionFormat::Lines };
    arguments.output_format.unwrap_or(usual)
}

/// What can be found out before the data is read.
fn check(arguments: &Predict, model: &ModelFile) -> anyhow::Result<()> {
    let lines = !arguments.json && format(arguments) == PredictionFormat::Lines;
    if lines && arguments.id.is_some() {
        let problem = "a line holds one value: leave out --id, or use --output-format csv or jsonl";
        return Err(Usage(problem.to_owned()).into());
    }
    if lines && arguments.margins && arguments.probabilities {
        let problem =
            "a line holds one value: choose --margins or --probabilities, or add --output-format csv";
        return Err(Usage(problem.to_owned()).into());
    }
    if !arguments.probabilities || model.scaling().is_some() {
        Ok(())
    } else if model.labels == Labels::Numbers {
        Err(Error::ProbabilitiesOfNumbers.into())
    } else {
        Err(Error::NoProbabilities(model.loss).into())
    }
}

fn as_json(predictions: &Predictions, probabilities: bool) -> serde_json::Value {
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
    if !predictions.ids.is_empty() {
        object["ids"] = predictions.ids.clone().into();
    }
    match predictions.quality {
        Some(Quality::Accuracy(share)) => object["accuracy"] = share.into(),
        Some(Quality::Rmse(error)) => object["rmse"] = error.into(),
        None => {}
    }
    if let Some(of_classes) = predictions.probabilities.as_ref().filter(|_| probabilities) {
        let each = predictions.classes().into_iter().zip(of_classes);
        object["probabilities"] = each.map(|(class, of)| (class, json!(of))).collect();
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
    warn(predictions);
}

/// What the model could not take into account.
pub fn warn(predictions: &Predictions) {
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
