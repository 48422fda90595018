//! Plans in words: EXPLAIN, and what `train` says of its plan.

mod alternatives;
mod basis;
mod criterion;
mod goal;
mod rejected;
mod stages;

use hemingway::{DatasetSummary, Explanation, Profile, Switched};

pub use goal::goal;
pub use stages::{length, predicted_error, predicted_seconds};

use self::criterion::Criterion;
use crate::{output, words};

/// Names stand in this many columns.
const NAMES: usize = 10;

/// All of it; of the alternatives the best of each algorithm, or every one.
pub fn in_full(explanation: &Explanation, all: bool) -> String {
    let Explanation { decision, dataset, .. } = explanation;
    let criterion = Criterion::of(explanation);
    let mut text = named("Goal", &goal(&explanation.goal));
    text += &named("Data", &format!("{}: {}", dataset.name, described(dataset, &explanation.profile)));
    text += &named("Based on", &basis::based_on(explanation));
    text.extend(explanation.notes.iter().map(|note| named("Note", note)));
    text.extend(explanation.warnings.iter().map(|warning| named("Warning", warning)));
    text += "\n";
    text += &match &decision.plan {
        Some(plan) => named("Plan", &stages::in_lines(plan, &criterion)),
        None => named("Plan", "none"),
    };
    text.extend(decision.why().map(|why| named("", &why)));
    text += &alternatives::table(decision, &criterion, all);
    text += &rejected::list(&decision.rejected, all);
    text
}

/// What is said before a run.
pub fn in_short(explanation: &Explanation) -> String {
    let Some(plan) = &explanation.decision.plan else { return String::new() };
    let text = named("Plan", &stages::in_lines(plan, &Criterion::of(explanation)));
    let basis = named("Based on", &basis::based_on(explanation));
    format!("{text}{basis}").trim_end().to_owned()
}

/// What is said of a change.
pub fn switched(switched: &Switched) -> String {
    let Switched { at_seconds, from, to, reason, .. } = switched;
    let at = words::duration(*at_seconds);
    let text = format!("at {at} from {} to {}: {reason}", from.name(), to.name());
    named("Switched", &text).trim_end().to_owned()
}

/// A name on the left, lines on the right.
fn named(name: &str, text: &str) -> String {
    let lines = text.lines().map(|line| output::wrapped(line, NAMES));
    let lines: Vec<String> = lines.collect();
    format!("{name:<NAMES$}{}\n", lines.join(&format!("\n{:NAMES$}", "")))
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
