//! Plans in words: EXPLAIN, and what `train` says of its plan.

use hemingway::{Candidate, DatasetSummary, Estimate, Explanation, Glance, Leg, Requirement, Switched, Way};

use crate::{output, words};

/// How many alternatives are shown.
const SHOWN: usize = 8;

/// All of it.
pub fn in_full(explanation: &Explanation) -> String {
    let mut text = format!("Goal      {}\n", goal(&explanation.asked));
    text += &format!(
        "Data      {}: {}\n",
        explanation.dataset.name,
        looks(&explanation.dataset, &explanation.glance)
    );
    text += &format!("Memory    {}\n", memory(explanation));
    text += &match &explanation.decision.plan {
        Some(plan) => format!("\nPlan      {}\n          {}\n", path(explanation, plan), promised(plan)),
        None => "\nPlan      none\n".to_owned(),
    };
    for warning in &explanation.warnings {
        text += &format!("Warning   {warning}\n");
    }
    let alternatives = &explanation.decision.alternatives;
    if !alternatives.is_empty() {
        let header = ["alternatives", "workers", "rounds", "time", "error", "price"];
        text += &format!("\n{}", output::table(&header, alternatives.iter().take(SHOWN).map(row)));
        let more = alternatives.len().saturating_sub(SHOWN);
        text += &if more > 0 { format!("and {more} more\n") } else { String::new() };
    }
    let rejected = explanation.decision.rejected.iter();
    let rejected: String = rejected.map(|lost| format!("  {}: {}\n", lost.name, lost.reason)).collect();
    if rejected.is_empty() { text } else { format!("{text}\nNot considered\n{rejected}") }
}

/// What is said before a run.
pub fn in_short(explanation: &Explanation) -> String {
    let mut lines = Vec::new();
    if let Some(plan) = &explanation.decision.plan {
        lines.push(format!("Plan: {}; {}", path(explanation, plan), promised(plan)));
    }
    if !explanation.reused.is_empty() {
        lines.push(format!("Memory: {}", memory(explanation)));
    }
    lines.join("\n")
}

/// What is said of a change.
pub fn switched(switched: &Switched) -> String {
    let Switched { at_seconds, from, to, reason, .. } = switched;
    format!("Switched at {}: {} to {}: {reason}", words::duration(*at_seconds), name(from), name(to))
}

/// `cocoa on 4 workers, 4 passes a round`.
fn name(way: &Way) -> String {
    if way.passes == 1.0 { way.name() } else { format!("{}, {} passes a round", way.name(), way.passes) }
}

fn path(explanation: &Explanation, plan: &Candidate) -> String {
    let legs: Vec<String> = explanation
        .path
        .iter()
        .map(|Leg { way, until_error }| format!("{} to {}", name(way), words::percent(*until_error)))
        .collect();
    if legs.is_empty() { plan_name(plan) } else { legs.join(", then ") }
}

fn plan_name(plan: &Candidate) -> String {
    let steps = plan.local_steps.map(|steps| format!(", {} local steps a round", words::count(steps)));
    format!("{}{}", plan.name(), steps.unwrap_or_default())
}

fn looks(data: &DatasetSummary, glance: &Glance) -> String {
    let kind = if glance.is_dense() { "dense" } else { "sparse" };
    format!(
        "{} rows, {}, {kind} ({} of values are not zero), rows of length {:.2}, the rarer class {}",
        words::count(glance.rows),
        words::features(data),
        words::percent(glance.density()),
        glance.mean_squared_norm.sqrt(),
        words::percent(glance.rare_share),
    )
}

fn goal(asked: &Requirement) -> String {
    let error = |error| format!("a relative error of {error:e}");
    let mut parts = vec![asked.error.map_or("the smallest error".to_owned(), error)];
    parts.extend(asked.within.map(|within| format!("within {}", words::duration(within))));
    parts.extend(asked.budget.map(|budget| format!("for at most {budget}")));
    if asked.cheapest {
        parts.push("as cheap as possible".to_owned());
    } else if asked.error.is_some() {
        parts.push("as fast as possible".to_owned());
    }
    if let hemingway::Risk::Quantile(share) = asked.risk {
        parts.push(format!("in {} of cases", words::percent(share)));
    }
    parts.join(", ")
}

fn memory(explanation: &Explanation) -> String {
    let mut parts = Vec::new();
    if explanation.pilots > 0 {
        let spent = words::duration(explanation.overhead_seconds);
        parts.push(format!("{} that took {spent}", words::counted(explanation.pilots, "pilot")));
    }
    for what in ["rounds and seconds", "rounds"] {
        let runs = explanation.reused.iter().filter(|run| run.what == what);
        let names: Vec<String> = runs
            .map(|run| match &run.similar {
                Some(data) => format!("{} ({}, on {data})", run.run, run.algorithm),
                None => format!("{} ({})", run.run, run.algorithm),
            })
            .collect();
        if !names.is_empty() {
            parts.push(format!("{what} of {}", names.join(", ")));
        }
    }
    parts.extend(explanation.dropped.iter().map(|dropped| format!("not {dropped}")));
    if parts.is_empty() { "no earlier run of this problem".to_owned() } else { parts.join("; ") }
}

fn promised(plan: &Candidate) -> String {
    let [_, _, rounds, time, error, price] =
        <[String; 6]>::try_from(row(plan)).unwrap_or_else(|_| Default::default());
    let named = [("time", time), ("rounds", rounds), ("error", error), ("price", price)];
    let parts = named.into_iter().filter(|(_, figure)| !figure.is_empty());
    parts.map(|(name, figure)| format!("{name} {figure}")).collect::<Vec<_>>().join(", ")
}

fn row(way: &Candidate) -> Vec<String> {
    vec![
        way.local_steps.map_or(way.algorithm.clone(), |steps| format!("{} H={steps}", way.algorithm)),
        words::count(way.workers),
        written(way.rounds.as_ref(), |rounds| words::count(rounds.round() as usize)),
        written(way.seconds.as_ref(), words::duration),
        written(way.error.as_ref(), words::percent),
        way.price.map_or_else(String::new, |price| format!("{price:.4}")),
    ]
}

/// `12 s (8 to 20)`.
pub fn written(estimate: Option<&Estimate>, write: fn(f64) -> String) -> String {
    estimate.map_or_else(String::new, |Estimate { low, mean, high }| {
        format!("{} ({} to {})", write(*mean), write(*low), write(*high))
    })
}
