//! The stages of a plan with what is predicted of them.

use hemingway::{Candidate, Estimate, Stage, Unit};

use super::criterion::Criterion;
use crate::words;

/// A plan of one stage in two lines, of several in numbered ones.
pub fn in_lines(plan: &Candidate, criterion: &Criterion) -> String {
    let whole = in_figures(plan, criterion);
    match plan.stages.as_slice() {
        [only] => format!("{}\n{whole}", only.configuration.name()).trim_end().to_owned(),
        stages => {
            let last = stages.len() - 1;
            let numbered = stages.iter().enumerate().map(|(at, stage)| numbered(at, at < last, stage));
            format!("{whole}\n{}", numbered.collect::<String>())
        }
    }
}

/// `1. warm-up stage: l-bfgs on 32 workers to error 1e-2`, and its figures in the next line.
fn numbered(at: usize, warm_up: bool, stage: &Stage) -> String {
    let name = stage.configuration.name();
    let warm_up = if warm_up { "warm-up stage: " } else { "" };
    let until = stage.until_error.map(|error| format!(" to error {}", words::error(error)));
    let time = stage.seconds.as_ref().map(|seconds| words::interval(seconds, words::predicted_duration));
    let cost = stage.cost.map(|cost| format!("cost {}", words::cost(cost)));
    let figures = listed([length(stage), time, cost]);
    format!("{}. {warm_up}{name}{}\n   {figures}\n", at + 1, until.unwrap_or_default())
}

/// What is predicted of a whole plan: time or error, then what goes with it.
fn in_figures(plan: &Candidate, criterion: &Criterion) -> String {
    let seconds = predicted_seconds(plan, criterion.before);
    let time = seconds.map(|seconds| {
        format!("{} {}", criterion.median_time(), words::interval(&seconds, words::predicted_duration))
    });
    let error = predicted_error(plan).map(|error| format!("median error {error}"));
    let rounds = plan.stages.first().filter(|_| plan.stages.len() == 1).and_then(length);
    let cost = criterion.cost_of(plan).map(|cost| format!("cost {cost}"));
    let before = plan.seconds.as_ref().filter(|_| criterion.before > 0.0);
    let before = before
        .map(|_| format!("time includes {} for profile and planning", words::duration(criterion.before)));
    let lines = [listed([criterion.said_of(plan), time, error]), listed([rounds, cost]), listed([before])];
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn listed<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Seconds to the goal, with what comes before the first round.
pub fn predicted_seconds(plan: &Candidate, before: f64) -> Option<Estimate> {
    let Estimate { low, mean, high } = plan.seconds.as_ref()?;
    Some(Estimate { low: low + before, mean: mean + before, high: high + before })
}

/// The error at the deadline.
pub fn predicted_error(plan: &Candidate) -> Option<String> {
    plan.error.as_ref().map(|error| words::interval(error, words::predicted_error))
}

/// `12 rounds (8 to 20)`.
pub fn length(stage: &Stage) -> Option<String> {
    let Estimate { low, mean, high } = stage.rounds.as_ref()?;
    let [low, mean, high] = [low, mean, high].map(|count| words::rough_count(*count));
    let unit = unit(stage);
    Some(if low == high { format!("{mean} {unit}") } else { format!("{mean} {unit} ({low} to {high})") })
}

/// `12 rounds`.
pub fn median_length(stage: &Stage) -> Option<String> {
    let rounds = stage.rounds.as_ref()?;
    Some(format!("{} {}", words::rough_count(rounds.mean), unit(stage)))
}

fn unit(stage: &Stage) -> &'static str {
    match stage.unit {
        Unit::Rounds => "rounds",
        Unit::Passes => "passes",
    }
}
