//! `hemingway predict`: labels for new data, one per line, or as a table.

use std::process::ExitCode;

use hemingway::data::Labels;
use hemingway::{Error, ModelFile, PredictionFormat, PredictionTable, Predictions, Quality};
use serde_json::json;

use super::train::reading;
use crate::arguments::Predict;
use crate::failure::Usage;
use crate::{output, words};

pub fn run(arguments: Predict) -> anyhow::Result<ExitCode> {
    let model = ModelFile::read(&arguments.model)?;
    check(&arguments, &model)?;
    let Predict { data, reading: how, margins, probabilities, output_format, output: file, json, .. } =
        arguments;
    let predictions = hemingway::predict(&model, &reading(data, how))?;
    let table = PredictionTable { predictions: &predictions, ids: None, margins, probabilities };
    let format = output_format.unwrap_or_default();
    match file {
        _ if json => output::json(&as_json(&predictions, probabilities))?,
        Some(file) => table.write_file(format, &file)?,
        None => output::written(|out| table.write(format, out))?,
    }
    report(&predictions);
    Ok(ExitCode::SUCCESS)
}

/// What can be found out before the data is read.
fn check(arguments: &Predict, model: &ModelFile) -> anyhow::Result<()> {
    let lines = !arguments.json && arguments.output_format.unwrap_or_default() == PredictionFormat::Lines;
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
    });
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
    warn_of_dropped(predictions.dropped_values);
}

/// Values that the model could not take into account.
pub fn warn_of_dropped(dropped_values: usize) {
    if dropped_values > 0 {
        let values = words::counted(dropped_values, "value");
        output::note(&format!("warning: {values} left out, of features that the model does not know"));
    }
}
