//! `hemingway algorithms`: the catalogue.

use std::process::ExitCode;

use hemingway::{Entry, catalogue};
use serde_json::{Value, json};

use crate::arguments::Algorithms;
use crate::output;

pub fn run(arguments: Algorithms) -> anyhow::Result<ExitCode> {
    if arguments.json {
        let entries: Vec<Value> = catalogue().iter().copied().map(as_json).collect();
        output::json(&json!({ "algorithms": entries, "engines": hemingway::engines() }))?;
    } else {
        let entries: Vec<String> = catalogue().iter().copied().map(as_text).collect();
        output::text(&entries.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn as_text(entry: &Entry) -> String {
    let flags: Vec<String> = entry.parameters.iter().map(|name| flag(name)).collect();
    let takes = if flags.is_empty() { "no parameters".to_owned() } else { flags.join(" ") };
    let name = console::style(entry.name).bold();
    format!("{name}\n  {}\n  takes {takes}\n  {}\n", entry.summary, entry.reference)
}

fn flag(parameter: &str) -> String {
    format!("--{}", parameter.trim_start_matches("--").replace('_', "-"))
}

fn as_json(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "reference": entry.reference,
        "parameters": entry.parameters,
    })
}
