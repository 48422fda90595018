//! How good all models are on traces, beside baselines: `judge TRACE.csv…`, one algorithm with sub-optimalities each.
//!
//! Prints one table over all traces and one for each algorithm: errors in per cent (ahead: of the gap, from its
//! logarithm), the share of truths inside 90 % intervals, and predictions that a run has shown to be too small.

use std::collections::BTreeMap;
use std::error::Error;

use hemingway_plan::evaluation::{Case, evaluate, summarise};
use hemingway_plan::{Target, parse_trace};

fn main() -> Result<(), Box<dyn Error>> {
    let mut by_algorithm: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for path in std::env::args().skip(1) {
        let trace = parse_trace(&std::fs::read_to_string(&path)?)?;
        let Some(first) = trace.first() else { continue };
        let cases = evaluate(&trace, Target::SubOptimality);
        by_algorithm.entry(first.algorithm.clone()).or_default().extend(cases);
    }
    let all: Vec<Case> = by_algorithm.values().flatten().cloned().collect();
    print("all", &all, true);
    by_algorithm.iter().for_each(|(name, cases)| print(name, cases, false));
    Ok(())
}

/// For single algorithms the model and the baselines, without each form alone.
fn print(name: &str, cases: &[Case], forms: bool) {
    println!(
        "\n{name}\n| question | method | cases | median | p90 | inside 90 % | censored, of these too small |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|");
    let shown = |method: &str| forms || !FORMS.contains(&method);
    for s in summarise(cases).iter().filter(|s| shown(s.method)) {
        let covered = s.covered.map_or("–".into(), |share| format!("{:.0} %", 100.0 * share));
        let censored = if s.censored > 0 { format!("{}, {}", s.censored, s.missed) } else { "–".into() };
        println!(
            "| {} | {} | {} | {:.1} % | {:.1} % | {covered} | {censored} |",
            s.question,
            s.method,
            s.cases,
            100.0 * s.median,
            100.0 * s.p90,
        );
    }
}

const FORMS: [&str; 6] = ["linear", "inverse", "root", "power", "stretched", "stretched by stage"];
