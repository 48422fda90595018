//! What else could be done: the best configuration of each algorithm, or every one, in the order of the criterion.

use std::collections::BTreeSet;

use hemingway::{Candidate, Decision};

use super::criterion::Criterion;
use super::stages::{median_length, predicted_error, predicted_seconds};
use crate::{output, words};

/// A table with what it is ordered by.
pub fn table(decision: &Decision, criterion: &Criterion, all: bool) -> String {
    let alternatives = &decision.alternatives;
    if alternatives.is_empty() {
        return String::new();
    }
    let shown = if all { alternatives.iter().collect() } else { best_of_each(alternatives) };
    let what = if all { "all" } else { "best of each algorithm" };
    let title = format!("Alternatives by {}, {what}\n\n", criterion.name());
    let more = match alternatives.len() - shown.len() {
        0 => String::new(),
        more => format!("  and {} configurations more; --all shows them\n", words::count(more)),
    };
    let rows = shown.into_iter().map(|candidate| row(candidate, criterion)).collect();
    format!("\n{title}{}{more}", filled(&header(criterion), rows))
}

/// The first of each algorithm.
fn best_of_each(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut seen = BTreeSet::new();
    candidates.iter().filter(|candidate| seen.insert(&candidate.first().algorithm)).collect()
}

fn header(criterion: &Criterion) -> [String; 7] {
    let by = criterion.column().unwrap_or_default();
    let names = [
        "algorithm",
        "workers",
        &by,
        "median time (90 % interval)",
        "median error (90 % interval)",
        "length",
        "cost",
    ];
    names.map(str::to_owned)
}

fn row(candidate: &Candidate, criterion: &Criterion) -> Vec<String> {
    let first = candidate.first();
    let passes = if first.passes == 1.0 {
        String::new()
    } else {
        format!(", {} passes", words::rounded(first.passes))
    };
    let seconds = predicted_seconds(candidate, criterion.before);
    vec![
        format!("{}{passes}", first.algorithm),
        words::count(first.workers),
        criterion.column().map(|_| criterion.write(candidate)).unwrap_or_default(),
        seconds.map(|seconds| words::interval(&seconds, words::predicted_duration)).unwrap_or_default(),
        predicted_error(candidate).unwrap_or_default(),
        median_length(&candidate.stages[0]).unwrap_or_default(),
        criterion.cost_of(candidate).unwrap_or_default(),
    ]
}

/// A table without its empty columns.
fn filled(header: &[String], rows: Vec<Vec<String>>) -> String {
    let used: Vec<usize> =
        (0..header.len()).filter(|&column| rows.iter().any(|row| !row[column].is_empty())).collect();
    let header: Vec<&str> = used.iter().map(|&column| header[column].as_str()).collect();
    let kept =
        |row: &Vec<String>| -> Vec<String> { used.iter().map(|&column| row[column].clone()).collect() };
    output::table(&header, rows.iter().map(kept))
}
