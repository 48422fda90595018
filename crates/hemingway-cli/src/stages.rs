//! What each stage of a run took, beside what the plan predicted of it.

use hemingway::{Candidate, Configuration, Point, Stage, StoredRun, Switched};

use crate::{output, plan, words};

/// A stage as it went.
struct Actual<'a> {
    configuration: Configuration,
    rounds: u64,
    seconds: f64,
    /// The last point so far when it ended.
    last: Option<&'a Point>,
    /// What it began with, unless it is the first.
    switch: Option<&'a Switched>,
}

/// The stages with the reasons of the switches, and a table of their figures; nothing of a run that was not planned.
pub fn beside_the_plan(run: &StoredRun, points: &[Point]) -> String {
    let Some(explanation) = &run.choice.explanation else { return String::new() };
    let Some(plan) = &explanation.decision.plan else { return String::new() };
    let actual = stages(run, points);
    let names: String = actual.iter().enumerate().map(|(at, stage)| heading(at, stage, plan)).collect();
    let rows = actual.iter().enumerate().flat_map(|(at, stage)| {
        [predicted_of(at, planned(plan, &actual, at)), actual_of(stage.rounds, stage.seconds, stage.last)]
    });
    let before = explanation.before_seconds();
    let whole = [whole(plan, before), actual_whole(points.last(), before)];
    let table = output::table(&["stage", "", "length", "time", "error"], rows.chain(whole));
    let before = words::duration(before);
    format!("{names}\n{table}  The whole run has {before} for profile and planning in its time.\n")
}

/// Switches divide a run into stages.
fn stages<'a>(run: &'a StoredRun, points: &'a [Point]) -> Vec<Actual<'a>> {
    let switches = &run.choice.switches;
    let end = points.last().map_or((0, 0.0), |point| (point.round, point.seconds.0));
    let at = |switch: &Switched| (switch.at_round, switch.at_seconds);
    (0..=switches.len())
        .map(|stage| {
            let (switch, next) = (stage.checked_sub(1).map(|before| &switches[before]), switches.get(stage));
            let (begin, end) = (switch.map_or((0, 0.0), at), next.map_or(end, at));
            Actual {
                configuration: next
                    .map_or_else(|| run.choice.configuration(run.dataset.rows), |next| next.from.clone()),
                rounds: end.0.saturating_sub(begin.0),
                seconds: (end.1 - begin.1).max(0.0),
                last: points.iter().rev().find(|point| point.round <= end.0),
                switch,
            }
        })
        .collect()
}

/// What the plan says of a stage, as long as the run goes as it was planned.
fn planned<'a>(plan: &'a Candidate, actual: &[Actual], at: usize) -> Option<&'a Stage> {
    let same = |(stage, actual): (&Stage, &Actual)| stage.configuration == actual.configuration;
    let stage = plan.stages.get(at)?;
    plan.stages.iter().zip(actual).take(at + 1).all(same).then_some(stage)
}

/// `2. cocoa on 1 worker, after round 40 (1.20 s): it diverged`.
fn heading(at: usize, stage: &Actual, plan: &Candidate) -> String {
    let warm_up = if at + 1 < plan.stages.len() { "warm-up stage: " } else { "" };
    let switch = stage.switch.map(|Switched { at_round, at_seconds, reason, .. }| {
        let round = words::count(*at_round as usize);
        format!(", after round {round} ({}): {reason}", words::duration(*at_seconds))
    });
    let text = format!("{}. {warm_up}{}{}", at + 1, stage.configuration.name(), switch.unwrap_or_default());
    format!("  {}\n", output::wrapped(&text, 5).trim_start())
}

fn predicted_of(at: usize, stage: Option<&Stage>) -> Vec<String> {
    let time = |stage: &Stage| {
        stage.seconds.as_ref().map(|seconds| words::interval(seconds, words::predicted_duration))
    };
    vec![
        (at + 1).to_string(),
        "predicted".to_owned(),
        or_none(stage.and_then(plan::length)),
        or_none(stage.and_then(time)),
        or_none(stage.and_then(|stage| stage.until_error).map(words::error)),
    ]
}

fn actual_of(rounds: u64, seconds: f64, last: Option<&Point>) -> Vec<String> {
    let (rounds, time) = (words::counted(rounds as usize, "round"), words::duration(seconds));
    vec![String::new(), "actual".to_owned(), rounds, time, or_none(last.map(words::certified))]
}

fn whole(plan: &Candidate, before: f64) -> Vec<String> {
    let seconds = plan::predicted_seconds(plan, before);
    let goal = plan.stages.last().and_then(|stage| stage.until_error).map(words::error);
    vec![
        "run".to_owned(),
        "predicted".to_owned(),
        String::new(),
        or_none(seconds.map(|seconds| words::interval(&seconds, words::predicted_duration))),
        or_none(plan::predicted_error(plan).or(goal)),
    ]
}

fn actual_whole(last: Option<&Point>, before: f64) -> Vec<String> {
    let (round, seconds) = last.map_or((0, 0.0), |point| (point.round, point.seconds.0));
    actual_of(round, seconds + before, last)
}

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| words::NONE.to_owned())
}
