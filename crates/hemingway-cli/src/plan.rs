//! Plans in words: EXPLAIN, and what `train` says of its plan.

use hemingway::{Candidate, DatasetSummary, Estimate, Explanation, Goal, Profile, Stage, Switched, Unit};

use crate::{output, words};

/// How many alternatives are shown.
const SHOWN: usize = 8;

/// All of it.
pub fn in_full(explanation: &Explanation) -> String {
    let mut text = format!("Goal      {}\n", goal(&explanation.goal));
    let data = described(&explanation.dataset, &explanation.profile);
    text += &format!("Data      {}: {data}\n", explanation.dataset.name);
    text += &format!("Based on  {}\n", based_on(explanation));
    text += &match &explanation.decision.plan {
        Some(plan) => format!("\nPlan      {}\n", in_stages(plan)),
        None => "\nPlan      none\n".to_owned(),
    };
    if let Some(reason) = &explanation.decision.reason {
        text += &format!("          {reason}\n");
    }
    for warning in &explanation.warnings {
        text += &format!("Warning   {warning}\n");
    }
    let alternatives = &explanation.decision.alternatives;
    if !alternatives.is_empty() {
        let rows = alternatives.iter().take(SHOWN).map(row).collect();
        text +=
            &format!("\n{}", filled(&["alternatives", "workers", "length", "time", "error", "cost"], rows));
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
        lines.push(format!("Plan: {}; {}", stages(plan), predicted(plan)));
    }
    if !explanation.reused.is_empty() {
        lines.push(format!("Based on {}", based_on(explanation)));
    }
    lines.join("\n")
}

/// What is said of a change.
pub fn switched(switched: &Switched) -> String {
    let Switched { at_seconds, from, to, reason, .. } = switched;
    format!("Switched at {}: {} to {}: {reason}", words::duration(*at_seconds), from.name(), to.name())
}

/// A plan of one stage in a line, of several in numbered lines.
pub fn in_stages(plan: &Candidate) -> String {
    let [only] = plan.stages.as_slice() else {
        let lines = plan
            .stages
            .iter()
            .enumerate()
            .map(|(at, stage)| format!("\n          {}. {}", at + 1, in_figures(stage)));
        return format!("{}{}", predicted(plan), lines.collect::<String>());
    };
    let rounds = length(only).map(|length| format!(", {length}")).unwrap_or_default();
    format!("{}\n          {}{rounds}", only.configuration.name(), predicted(plan))
}

/// `l-bfgs on 8 workers to error 1e-2, then newton on 8 workers to error 1e-4`.
fn stages(plan: &Candidate) -> String {
    let name = |stage: &Stage| match (plan.stages.len(), stage.until_error) {
        (2.., Some(error)) => format!("{} to error {}", stage.configuration.name(), words::error(error)),
        _ => stage.configuration.name(),
    };
    plan.stages.iter().map(name).collect::<Vec<_>>().join(", then ")
}

fn in_figures(stage: &Stage) -> String {
    let mut parts = vec![stage.configuration.name()];
    parts.extend(stage.until_error.map(|error| format!("to error {}", words::error(error))));
    parts.extend(length(stage));
    parts.extend(
        stage.seconds.as_ref().map(|seconds| format!("time {}", written(Some(seconds), words::duration))),
    );
    parts.extend(stage.cost.map(|cost| format!("cost {cost:.4}")));
    parts.join(", ")
}

/// `12 rounds (8 to 20)`.
fn length(stage: &Stage) -> Option<String> {
    let unit = match stage.unit {
        Unit::Rounds => "rounds",
        Unit::Passes => "passes",
    };
    let Estimate { low, mean, high } = stage.rounds.as_ref()?;
    let [low, mean, high] = [low, mean, high].map(|count| words::rough_count(*count));
    Some(format!("{mean} {unit} ({low} to {high})"))
}

fn described(data: &DatasetSummary, profile: &Profile) -> String {
    let kind = if profile.data.is_dense() { "dense" } else { "sparse" };
    format!(
        "{} rows, {}, {kind} ({} of values are not zero), rows of length {:.2}, effective dimension {:.0}",
        words::count(profile.data.rows),
        words::features(data),
        words::percent(profile.data.density()),
        profile.data.mean_squared_norm.sqrt(),
        profile.data.effective_dimension(profile.lambda),
    )
}

fn goal(goal: &Goal) -> String {
    let error = |error| format!("a relative error of {}", words::error(error));
    let mut parts = vec![goal.error.map_or("the smallest error".to_owned(), error)];
    parts.extend(
        goal.within.map(|within| format!("within {}, with a probability of 90 %", words::duration(within))),
    );
    parts.extend(goal.budget.map(|budget| format!("for at most {budget}")));
    if goal.cheapest {
        parts.push("as cheap as possible".to_owned());
    } else if goal.error.is_some() {
        parts.push("as fast as possible".to_owned());
    }
    if let hemingway::Risk::Quantile(share) = goal.risk {
        parts.push(format!("in {} of cases", words::percent(share)));
    }
    parts.join(", ")
}

fn based_on(explanation: &Explanation) -> String {
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
            parts.push(format!("{what} of {}: {}", words::counted(names.len(), "run"), names.join(", ")));
        }
    }
    if parts.is_empty() {
        parts.push(
            "the prior only; a run of this problem in the store, or --pilots, would narrow the intervals"
                .to_owned(),
        );
    }
    if !explanation.unmeasured.is_empty() {
        parts.push(format!(
            "never measured, so only their family is known: {}",
            explanation.unmeasured.join(", ")
        ));
    }
    parts.extend(explanation.dropped.iter().map(|dropped| format!("not {dropped}")));
    parts.join("; ")
}

fn predicted(plan: &Candidate) -> String {
    let time =
        plan.seconds.as_ref().map(|seconds| format!("time {}", written(Some(seconds), words::duration)));
    let error = plan.error.as_ref().map(|error| format!("error {}", written(Some(error), words::error)));
    let cost = plan.cost.map(|cost| format!("cost {cost:.4}"));
    [time, error, cost].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn row(candidate: &Candidate) -> Vec<String> {
    let first = candidate.first();
    let passes = if first.passes == 1.0 { String::new() } else { format!(", {} passes", first.passes) };
    vec![
        format!("{}{passes}", first.algorithm),
        words::count(first.workers),
        candidate.stages.first().and_then(length).unwrap_or_default(),
        written(candidate.seconds.as_ref(), words::duration),
        written(candidate.error.as_ref(), words::error),
        candidate.cost.map_or_else(String::new, |cost| format!("{cost:.4}")),
    ]
}

/// A table without its empty columns.
fn filled(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let used: Vec<usize> =
        (0..header.len()).filter(|&column| rows.iter().any(|row| !row[column].is_empty())).collect();
    let header: Vec<&str> = used.iter().map(|&column| header[column]).collect();
    let kept =
        |row: &Vec<String>| -> Vec<String> { used.iter().map(|&column| row[column].clone()).collect() };
    output::table(&header, rows.iter().map(kept))
}

/// `12 s (8 to 20)`.
pub fn written(estimate: Option<&Estimate>, write: fn(f64) -> String) -> String {
    estimate.map_or_else(String::new, |Estimate { low, mean, high }| {
        format!("{} ({} to {})", write(*mean), write(*low), write(*high))
    })
}
