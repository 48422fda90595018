//! `hemingway algorithms`: the catalogue as a list, and a page about each algorithm.

mod list;
mod page;

use std::process::ExitCode;

use hemingway::{Entry, Floor, catalogue, engines, named};
use serde_json::{Value, json};

use crate::arguments::Algorithms;
use crate::output;

pub fn run(arguments: Algorithms) -> anyhow::Result<ExitCode> {
    let one =
        arguments.name.as_deref().map(|name| named(name).map_err(hemingway::Error::from)).transpose()?;
    match (one, arguments.json) {
        (Some(entry), true) => output::json(&as_json(entry))?,
        (Some(entry), false) => output::text(&page::about(entry))?,
        (None, true) => {
            let entries: Vec<Value> = catalogue().iter().copied().map(as_json).collect();
            output::json(&json!({ "algorithms": entries, "engines": engines() }))?;
        }
        (None, false) => output::text(&list::all(catalogue()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// `step_size` → `--step-size`.
fn flag(parameter: &str) -> String {
    format!("--{}", parameter.replace('_', "-"))
}

fn as_json(entry: &Entry) -> Value {
    let parameter = |(name, default): (&&str, &&str)| {
        (name.to_string(), json!({ "flag": flag(name), "meaning": meaning(name), "default": default }))
    };
    let defaults = entry.parameters.iter().zip(entry.about.defaults).map(parameter);
    json!({
        "name": entry.name,
        "aliases": hemingway::aliases(entry.name),
        "summary": entry.summary,
        "reference": entry.reference,
        "family": entry.family.name(),
        "manner": entry.needs().manner(),
        "needs": entry.needs().word(),
        "engines": entry.engines(),
        "idea": entry.about.idea,
        "suits": entry.about.suits,
        "round": entry.about.round,
        "counts": entry.about.counts,
        "noise_floor": !matches!(entry.about.floor, Floor::None),
        "starts_from": page::starts_from(entry),
        "alone": entry.alone,
        "parameters": entry.parameters,
        "defaults": defaults.collect::<serde_json::Map<String, Value>>(),
    })
}

fn meaning(parameter: &str) -> &'static str {
    hemingway::Parameters::meaning(parameter).unwrap_or_default()
}
