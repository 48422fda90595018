//! `hemingway fit`: models of traces, and what they predict.

use std::process::ExitCode;

use hemingway::Estimate;
use serde_json::json;

use crate::arguments::Fit;
use crate::{output, words};

pub fn run(arguments: Fit) -> anyhow::Result<ExitCode> {
    let models = hemingway::fit_traces(&arguments.traces)?;
    if let Some(file) = &arguments.predict {
        let answers = hemingway::predict_traces(&models, file)?;
        if arguments.json {
            let predictions: Vec<_> = answers.iter().map(|(_, prediction)| prediction).collect();
            output::json(&json!({ "predictions": predictions }))?;
        } else {
            for (query, prediction) in &answers {
                let what = format!(
                    "{} on {} workers, iteration {}",
                    query.algorithm, query.workers, query.iteration
                );
                output::text(&format!(
                    "{what}: seconds {}, value {}\n",
                    figure(prediction.seconds.as_ref()),
                    figure(prediction.value.as_ref())
                ))?;
                prediction.warnings.iter().for_each(|warning| output::note(&format!("{what}: {warning}")));
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let described = models.iter().map(|(name, fitted)| {
        let terms = fitted.system.as_ref().map(|model| {
            let terms = model
                .terms()
                .iter()
                .map(|term| format!("{:.3e}·{}", term.seconds, term.name))
                .collect::<Vec<_>>();
            (terms.join(" + "), model.held_out_error())
        });
        let value =
            fitted.convergence().map(|model| model.as_ref().map(hemingway::ConvergenceModel::description));
        (name, terms, value)
    });
    if arguments.json {
        let algorithms: serde_json::Map<String, serde_json::Value> = described
            .map(|(name, terms, value)| {
                let system = match terms {
                    Ok((terms, error)) => json!({ "seconds_per_iteration": terms, "held_out_error": error }),
                    Err(problem) => json!({ "problem": problem }),
                };
                let value = match value {
                    Some(Ok(description)) => json!({ "description": description }),
                    Some(Err(problem)) => json!({ "problem": problem }),
                    None => serde_json::Value::Null,
                };
                (name.clone(), json!({ "system": system, "convergence": value }))
            })
            .collect();
        output::json(&json!({ "algorithms": algorithms }))?;
    } else {
        for (name, terms, value) in described {
            let seconds = match terms {
                Ok((terms, Some(error))) => {
                    format!("{terms} (off by {} on runs held out)", words::percent(error))
                }
                Ok((terms, None)) => terms,
                Err(problem) => problem.clone(),
            };
            let value = value.map_or_else(String::new, |value| value.unwrap_or_else(Clone::clone));
            output::text(&format!(
                "{name}\n  seconds per iteration  {seconds}\n  value                  {value}\n"
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn figure(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(
        || "unknown".to_owned(),
        |Estimate { low, mean, high }| {
            format!("{} ({} to {})", words::number(*mean), words::number(*low), words::number(*high))
        },
    )
}
