//! `hemingway explain`: the plan, the alternatives, and why the others lost.

use std::process::ExitCode;

use hemingway::{ExplainRequest, MeasureWatch, TrainRequest};
use serde_json::json;

use super::measure::Shown;
use super::train;
use crate::arguments::Explain;
use crate::{interrupt, output, plan};

pub fn run(arguments: Explain) -> anyhow::Result<ExitCode> {
    let (place, json, all) = (arguments.running.store.place()?, arguments.running.json, arguments.all);
    train::check_one_lambda(&arguments.task.problem, "explain")?;
    let mut shown = Shown::new(arguments.running.quiet);
    train::say_aliases(arguments.algorithms.iter().chain(&arguments.task.algorithm), arguments.running.quiet);
    let request = request(arguments);
    let mut watch =
        MeasureWatch { interrupt: interrupt::listen()?, observe: &mut |event| shown.follow(event) };
    let result = hemingway::explain(&request, &place, &mut watch);
    shown.finish();
    let explanation = result?;
    if json {
        output::json(&json!(explanation))?;
    } else {
        output::text(&plan::in_full(&explanation, all))?;
    }
    Ok(if explanation.warnings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(train::BEFORE_THE_GOAL)
    })
}

/// One number of workers is fixed, as it is for `train`; several are to choose from.
fn request(arguments: Explain) -> ExplainRequest {
    let (fixed, workers) = match arguments.workers.as_slice() {
        [] => (None, None),
        [one] => (Some(*one), None),
        several => (None, Some(several.to_vec())),
    };
    ExplainRequest {
        algorithms: Some(arguments.algorithms).filter(|named| !named.is_empty()),
        workers,
        pilots: arguments.pilots,
        base: TrainRequest { workers: fixed, ..train::asked(arguments.task, arguments.running) },
    }
}
