//! `hemingway platt`: probabilities for a model that has only margins.

use std::process::ExitCode;

use hemingway::{Error, ModelFile};
use serde_json::json;

use super::train::reading;
use crate::arguments::Platt;
use crate::{output, words};

pub fn run(arguments: Platt) -> anyhow::Result<ExitCode> {
    let Platt { model: file, data, reading: how, output: target, json } = arguments;
    let request = reading(&data, how);
    let model = hemingway::with_probabilities(&ModelFile::read(&file)?, &request)?;
    let target = target.unwrap_or(file);
    model.write(&target).map_err(|error| match error {
        Error::WriteModel { file, source } => Error::Unwritable { file, source },
        other => other,
    })?;
    let fitted = model.platt.map(|curve| (curve.slope, curve.intercept));
    if json {
        output::json(&json!({ "model": target, "platt": model.platt, "data": request.spec }))?;
    } else if let Some((slope, intercept)) = fitted {
        let sign = if intercept < 0.0 { '−' } else { '+' };
        let [slope, intercept] = [slope, intercept.abs()].map(words::number);
        let curve = format!("1/(1 + exp(−({slope} · margin {sign} {intercept})))");
        output::text(&format!("probability {curve}, in {}\n", target.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
