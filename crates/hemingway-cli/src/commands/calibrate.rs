//! `hemingway calibrate`: a cluster file from the cluster itself.

use std::process::ExitCode;

use anyhow::Context;
use hemingway::TrainRequest;

use crate::arguments::Calibrate;
use crate::commands::train::{input, ranks};
use crate::{environment, output};

pub fn run(arguments: Calibrate) -> anyhow::Result<ExitCode> {
    arguments.output.as_deref().map_or(Ok(()), hemingway::check_writable)?;
    let request = TrainRequest {
        data: input(arguments.input),
        loss: arguments.loss,
        workers: Some(arguments.workers),
        ranks: environment::with_hosts(ranks(arguments.ranks)),
        ..TrainRequest::default()
    };
    let calibration = hemingway::calibrate_cluster(request)?;
    calibration.warnings.iter().for_each(|warning| output::note(&format!("Warning: {warning}")));
    let cluster = &calibration.cluster;
    match &arguments.output {
        _ if arguments.json => output::json(&serde_json::to_value(&calibration)?)?,
        Some(file) => {
            std::fs::write(file, cluster.to_toml())
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        None => output::text(&cluster.to_toml())?,
    }
    Ok(ExitCode::SUCCESS)
}
