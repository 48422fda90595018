//! `hemingway explain`: the plan, the alternatives, and why the others lost.

use std::process::ExitCode;

use hemingway::{ExplainRequest, MeasureWatch, TrainRequest};
use serde_json::json;

use super::measure::Shown;
use super::train;
use crate::arguments::Explain;
use crate::{interrupt, output, plan};

pub fn run(arguments: Explain) -> anyhow::Result<ExitCode> {
    let (place, json) = (arguments.trials.store.place()?, arguments.trials.json);
    let mut shown = Shown::new(arguments.trials.quiet);
    let request = request(arguments);
    let mut watch =
        MeasureWatch { interrupt: interrupt::listen()?, observe: &mut |event| shown.follow(event) };
    let result = hemingway::explain(&request, &place, &mut watch);
    shown.finish();
    let explanation = result?;
    if json {
        output::json(&json!(explanation))?;
    } else {
        output::text(&plan::in_full(&explanation))?;
    }
    Ok(if explanation.warnings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(train::BEFORE_THE_GOAL)
    })
}

fn request(arguments: Explain) -> ExplainRequest {
    let given = |numbers: Vec<usize>| Some(numbers).filter(|numbers| !numbers.is_empty());
    ExplainRequest {
        algorithms: Some(arguments.algorithms).filter(|named| !named.is_empty()),
        workers: given(arguments.workers),
        pilots: arguments.pilots,
        base: TrainRequest {
            engine: arguments.engine,
            cluster: arguments.trials.cluster,
            seed: arguments.trials.seed,
            stop: train::stop_rules(&arguments.stop),
            planning: train::planning(&arguments.planning),
            ..train::problem(arguments.problem)
        },
    }
}
