//! `hemingway evaluate`: how well a model predicts data that has labels.

use std::process::ExitCode;

use hemingway::{Evaluation, ModelFile};
use serde_json::Value;

use super::predict::warn;
use super::train::reading;
use crate::arguments::Evaluate;
use crate::{metrics, output};

pub fn run(arguments: Evaluate) -> anyhow::Result<ExitCode> {
    let model = ModelFile::read(&arguments.model)?;
    let evaluation = hemingway::evaluate(&model, &reading(&arguments.data, arguments.reading))?;
    if arguments.json {
        output::json(&as_json(&evaluation)?)?;
    } else {
        output::text(&metrics::all(&evaluation.metrics))?;
    }
    warn(&evaluation.predictions);
    Ok(ExitCode::SUCCESS)
}

fn as_json(evaluation: &Evaluation) -> anyhow::Result<Value> {
    let mut object = serde_json::to_value(&evaluation.metrics)?;
    object["dropped_values"] = evaluation.predictions.dropped_values.into();
    Ok(object)
}
