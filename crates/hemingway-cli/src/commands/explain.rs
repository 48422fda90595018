//! `hemingway explain`: the plan, the alternatives, and why the others lost.

use std::process::ExitCode;

use hemingway::{
    Candidate, Estimate, ExplainRequest, Explanation, MeasureWatch, Requirement, Risk, TrainRequest,
};
use serde_json::json;

use super::measure::{Shown, or, usual_workers};
use super::train;
use crate::arguments::Explain;
use crate::{interrupt, output, words};

/// How many alternatives are shown.
const SHOWN: usize = 8;

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
        output::text(&in_words(&explanation, &request))?;
    }
    let possible = explanation.decision.plan.is_some();
    Ok(if possible { ExitCode::SUCCESS } else { ExitCode::from(train::BEFORE_THE_GOAL) })
}

fn request(arguments: Explain) -> ExplainRequest {
    let usual = usual_workers(arguments.engine.as_deref(), arguments.trials.cluster.is_some());
    let asked = Requirement {
        error: arguments.error.or(if arguments.within.is_none() { Some(1e-3) } else { None }),
        within: arguments.within,
        budget: arguments.budget,
        cheapest: arguments.cheapest,
        risk: arguments.risk.map_or(Risk::Expected, Risk::Quantile),
    };
    ExplainRequest {
        asked,
        algorithms: Some(arguments.algorithms).filter(|named| !named.is_empty()),
        workers: or(arguments.workers, || usual),
        base: TrainRequest {
            engine: arguments.engine,
            cluster: arguments.trials.cluster,
            seed: arguments.trials.seed,
            ..train::problem(arguments.problem)
        },
    }
}

fn in_words(explanation: &Explanation, request: &ExplainRequest) -> String {
    let mut text = format!("Goal: {}\n", goal(&explanation.asked));
    text += &format!("Data: {}, {}\n", explanation.dataset.name, explanation.dataset.size());
    text += &format!("Known: {}\n\n", known(explanation));
    text += &match &explanation.decision.plan {
        Some(plan) => format!("Plan: {}\n  {}\n", plan.name(), promised(plan)),
        None => {
            let workers: Vec<String> = request.workers.iter().map(usize::to_string).collect();
            format!("Plan: none. Nothing on {} workers is predicted to do this.\n", workers.join(", "))
        }
    };
    if let Some(warning) = explanation.decision.plan.as_ref().and_then(|plan| plan.warning.as_ref()) {
        text += &format!("  extrapolated: {warning}\n");
    }
    if !explanation.decision.alternatives.is_empty() {
        let header = ["alternatives", "workers", "rounds", "time", "error", "price"];
        let rows = explanation.decision.alternatives.iter().take(SHOWN).map(row);
        text += &format!("\n{}", output::table(&header, rows));
        let more = explanation.decision.alternatives.len().saturating_sub(SHOWN);
        text += &if more > 0 { format!("  and {more} more\n") } else { String::new() };
    }
    let rejected =
        explanation.decision.rejected.iter().map(|lost| format!("  {}: {}\n", lost.name, lost.reason));
    let rejected: String = rejected.collect();
    if rejected.is_empty() { text } else { format!("{text}\nRejected\n{rejected}") }
}

fn goal(asked: &Requirement) -> String {
    let mut parts = Vec::new();
    parts.push(
        asked.error.map_or("the smallest error".to_owned(), |error| format!("a relative error of {error:e}")),
    );
    parts.extend(asked.within.map(|within| format!("within {}", words::duration(within))));
    parts.extend(asked.budget.map(|budget| format!("for at most {budget}")));
    parts.push(if asked.cheapest { "as cheap as possible" } else { "as fast as possible" }.to_owned());
    parts.join(", ")
}

fn known(explanation: &Explanation) -> String {
    let mut parts: Vec<String> = explanation
        .reused
        .iter()
        .map(|reused| format!("{} of {}", words::counted(reused.runs, "earlier run"), reused.algorithm))
        .collect();
    if explanation.pilots > 0 {
        let spent = words::duration(explanation.overhead_seconds);
        parts.push(format!("{} that took {spent}", words::counted(explanation.pilots, "pilot")));
    }
    parts.join(", ")
}

fn promised(plan: &Candidate) -> String {
    let [_, _, rounds, time, error, price] =
        <[String; 6]>::try_from(row(plan)).unwrap_or_else(|_| Default::default());
    let named = [("rounds", rounds), ("time", time), ("error", error), ("price", price)];
    let parts = named.into_iter().filter(|(_, figure)| !figure.is_empty());
    parts.map(|(name, figure)| format!("{name} {figure}")).collect::<Vec<_>>().join(", ")
}

fn row(way: &Candidate) -> Vec<String> {
    vec![
        way.algorithm.clone(),
        words::count(way.workers),
        written(way.rounds.as_ref(), |rounds| words::count(rounds as usize)),
        written(way.seconds.as_ref(), words::duration),
        written(way.error.as_ref(), words::percent),
        way.price.map_or_else(String::new, |price| format!("{price:.3}")),
    ]
}

fn written(estimate: Option<&Estimate>, write: fn(f64) -> String) -> String {
    estimate.map_or_else(String::new, |Estimate { low, mean, high }| {
        format!("{} ({} to {})", write(*mean), write(*low), write(*high))
    })
}
