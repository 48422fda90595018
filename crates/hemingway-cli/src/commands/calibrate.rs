//! `hemingway calibrate`: a cluster file from the cluster itself.

use std::process::ExitCode;

use anyhow::Context;
use hemingway::Cluster;

use crate::arguments::Calibrate;
use crate::commands::train::ranks;
use crate::output;

pub fn run(arguments: Calibrate) -> anyhow::Result<ExitCode> {
    let measurement = hemingway::measure_ranks(&ranks(arguments.ranks), arguments.workers)?;
    if arguments.json {
        output::json(&serde_json::to_value(&measurement)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = Cluster::measured(&measurement).to_toml();
    match &arguments.output {
        Some(file) => {
            std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?
        }
        None => output::text(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}
