//! What a plan is based on, and what would make its intervals narrower.

use hemingway::{Explanation, MadePilot, Reused};

use crate::words;

/// So many runs are named.
const NAMED: usize = 3;

/// The prior, pilots and runs, then what is missing.
pub fn based_on(explanation: &Explanation) -> String {
    let mut parts = Vec::new();
    if explanation.pilots > 0 {
        let took = words::duration(explanation.pilot_seconds);
        parts.push(format!("{} that took {took}", words::counted(explanation.pilots, "pilot")));
    }
    parts.extend(explanation.sampled.iter().map(sampled));
    let reused = |what: &str, note: &str, of: fn(&Reused) -> bool| runs(&explanation.reused, what, note, of);
    parts.extend(reused("through fitted models", "", is_fitted));
    parts.extend(reused("on these machines", "", |run| here(run) && !is_fitted(run)));
    parts.extend(reused("on other machines", "; rounds only", |run| of_problem(run) && !here(run)));
    parts.extend(reused("of other classes of these rows", "", |run| run.other_labels));
    parts.extend(reused("on similar data", "; rounds only", |run| run.similar.is_some()));
    let known = if parts.is_empty() { "prior only".to_owned() } else { parts.join(", ") };
    let mut sentences = vec![known];
    sentences.extend(narrower(explanation));
    if !explanation.unmeasured.is_empty() {
        sentences.push(format!("only the family is known of {}", explanation.unmeasured.join(", ")));
    }
    sentences.extend(explanation.dropped.iter().map(|dropped| format!("not used: {dropped}")));
    sentences.join("; ")
}

/// `3 runs on these machines (k3f9q, x7p2m, b2c4d)`.
fn runs(reused: &[Reused], what: &str, note: &str, of: fn(&Reused) -> bool) -> Option<String> {
    let names: Vec<&str> = reused.iter().filter(|run| of(run)).map(|run| run.run.as_str()).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    let named = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    (!names.is_empty())
        .then(|| format!("{} {what} ({named}{more}{note})", words::counted(names.len(), "run")))
}

/// `a pilot of l-bfgs on 1,000 rows (12 rounds, 3.1 ms)`.
fn sampled(pilot: &MadePilot) -> String {
    let (rows, took) = (words::count(pilot.rows), words::duration(pilot.seconds));
    let rounds = words::counted(pilot.rounds as usize, "round");
    format!("a pilot of {} on {rows} rows ({rounds}, {took})", pilot.algorithm)
}

fn is_fitted(run: &Reused) -> bool {
    run.what == "fitted models"
}

fn here(run: &Reused) -> bool {
    of_problem(run) && run.what != "rounds"
}

/// Whether it had the same problem rather than one like it.
fn of_problem(run: &Reused) -> bool {
    run.similar.is_none() && !run.other_labels
}

/// What would narrow the intervals of the plan.
fn narrower(explanation: &Explanation) -> Option<String> {
    let plan =
        explanation.decision.plan.as_ref().filter(|plan| plan.seconds.is_some() || plan.error.is_some())?;
    let missing = |algorithm: &str, of: fn(&Reused) -> bool| {
        !explanation.reused.iter().any(|run| run.algorithm == algorithm && of(run))
    };
    let algorithms = || plan.stages.iter().map(|stage| stage.configuration.algorithm.as_str());
    let unknown = algorithms().find(|algorithm| missing(algorithm, of_problem));
    let elsewhere = algorithms().find(|algorithm| missing(algorithm, here));
    match (unknown, elsewhere) {
        (Some(name), _) => {
            Some(format!("a run of {name} on this problem, or --pilots, would narrow the intervals"))
        }
        (None, Some(name)) => Some(format!("a run of {name} on these machines would narrow the intervals")),
        (None, None) => None,
    }
}
