//! How well convergence on all of the data is predicted from runs on a quarter of it and less.
//!
//!     cargo run --release -p hemingway-plan --example subsets TRACE.csv…
//!
//! Each trace is one algorithm on several fractions of the data and several m, its values relative sub-optimalities, each
//! fraction with its own optimum. Errors are those of the rounds to ε on all of the data, beside those of taking the
//! rounds on the largest fraction known, at the same m.

use hemingway_plan::{ConvergenceModel, Observation, SubsetModel, Target, parse_trace};

const GOALS: [f64; 2] = [1e-2, 1e-3];
const KNOWN: f64 = 0.25;

/// One prediction beside what happened.
struct Row {
    algorithm: String,
    model: f64,
    naive: f64,
    covered: bool,
    /// Half the interval, as a factor.
    width: f64,
}

fn main() {
    let mut rows = Vec::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let trace = parse_trace(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        println!("{path}");
        rows.extend(predicted(&trace));
    }
    println!("\nmedian error of rounds to ε on all of the data, from at most {KNOWN} of it");
    println!(
        "{:16} {:>11} {:>8} {:>8} {:>8} {:>12}",
        "", "predictions", "model", "same", "inside", "of a factor"
    );
    let mut algorithms: Vec<String> = rows.iter().map(|row| row.algorithm.clone()).collect();
    algorithms.sort();
    algorithms.dedup();
    for algorithm in &algorithms {
        summary(algorithm, &rows.iter().filter(|row| row.algorithm == *algorithm).collect::<Vec<_>>());
    }
    summary("all", &rows.iter().collect::<Vec<_>>());
}

fn predicted(trace: &[Observation]) -> Vec<Row> {
    let known: Vec<Observation> = trace.iter().filter(|o| o.fraction <= KNOWN).cloned().collect();
    let fitted = (SubsetModel::fit(&known), ConvergenceModel::fit(&known, Target::SubOptimality));
    let (Ok(model), Ok(same)) = fitted else {
        println!("  cannot be fitted");
        return Vec::new();
    };
    println!("  {}", model.description());
    let mut workers: Vec<usize> = trace.iter().map(|o| o.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    let mut rows = Vec::new();
    for (&m, goal) in workers.iter().flat_map(|m| GOALS.map(|goal| (m, goal))) {
        let Some(truth) = rounds_to(trace, m, 1.0, goal) else { continue };
        let error = |found: Option<f64>| found.map_or(f64::INFINITY, |found| (found / truth - 1.0).abs());
        let naive = rounds_to(trace, m, KNOWN, goal).or(same.iterations_to(m, goal).map(|e| e.mean));
        let found = model.iterations_to(m, 1.0, goal);
        let text = found.as_ref().map_or("never".into(), |e| format!("{} ({} to {})", e.mean, e.low, e.high));
        println!("  m = {m:3} ε = {goal:.0e}: {truth:4} rounds, predicted {text}, as on {KNOWN}: {naive:?}");
        rows.push(Row {
            algorithm: trace[0].algorithm.clone(),
            covered: found.as_ref().is_some_and(|e| e.low <= truth && truth <= e.high),
            width: found.as_ref().map_or(f64::INFINITY, |e| (e.high / e.low).sqrt()),
            model: error(found.map(|e| e.mean)),
            naive: error(naive),
        });
    }
    rows
}

/// The first round whose value is at most ε; nothing if there is none.
fn rounds_to(trace: &[Observation], workers: usize, fraction: f64, goal: f64) -> Option<f64> {
    let here = |o: &&Observation| o.workers == workers && o.fraction == fraction;
    let reached = trace.iter().filter(here).filter(|o| o.value.is_some_and(|v| v <= goal));
    reached.map(|o| o.iteration as f64).min_by(f64::total_cmp)
}

fn summary(name: &str, rows: &[&Row]) {
    if rows.is_empty() {
        return;
    }
    let median = |pick: fn(&Row) -> f64| {
        let mut errors: Vec<f64> = rows.iter().map(|row| pick(row)).collect();
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    };
    let inside = 100.0 * rows.iter().filter(|row| row.covered).count() as f64 / rows.len() as f64;
    let [model, naive, width] =
        [median(|row| 100.0 * row.model), median(|row| 100.0 * row.naive), median(|row| row.width)];
    println!("{name:16} {:11} {model:7.0}% {naive:7.0}% {inside:7.0}% {width:12.1}", rows.len());
}
