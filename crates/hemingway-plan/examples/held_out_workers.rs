//! How well a convergence model predicts numbers of workers that it has not seen.
//!
//!     cargo run --release -p hemingway-plan --example held_out_workers TRACE.csv…
//!
//! Each trace is one algorithm on several m, its values sub-optimalities. Each inner m is held out in turn; the largest
//! is predicted from the smaller ones. Errors are those of the rounds to ε, for the model, for the paper's Lasso alone
//! and for each other form alone.

use hemingway_plan::{ConvergenceModel, Observation, Target, parse_trace};

const GOALS: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// One prediction beside what happened: relative errors of the model and of each form, and whether the truth was
/// inside the interval.
struct Row {
    last: bool,
    model: f64,
    forms: Vec<f64>,
    covered: bool,
}

fn main() {
    let mut rows = Vec::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let trace = parse_trace(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        println!("{path}");
        rows.extend(held_out(&trace));
    }
    for (name, last) in [("inner m", false), ("largest m", true)] {
        summary(name, &rows.iter().filter(|row| row.last == last).collect::<Vec<_>>());
    }
}

fn held_out(trace: &[Observation]) -> Vec<Row> {
    let mut workers: Vec<usize> = trace.iter().map(|o| o.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    let mut rows = Vec::new();
    for (k, &m) in workers.iter().enumerate().skip(1) {
        let known: Vec<Observation> = trace.iter().filter(|o| o.workers != m).cloned().collect();
        let model = match ConvergenceModel::fit(&known, Target::SubOptimality) {
            Ok(model) => model,
            Err(error) => {
                println!("  m = {m}: {error}");
                continue;
            }
        };
        for goal in GOALS {
            let Some(truth) = rounds_to(trace, m, goal) else { continue };
            let error = |found: Option<f64>| found.map_or(f64::INFINITY, |found| (found / truth - 1.0).abs());
            let found = model.iterations_to(m, goal);
            let covered = found.as_ref().is_some_and(|e| e.low <= truth && truth <= e.high);
            let text =
                found.as_ref().map_or("never".into(), |e| format!("{} ({} to {})", e.mean, e.low, e.high));
            println!("  m = {m:3} ε = {goal:.0e}: {truth:4} rounds, predicted {text}");
            rows.push(Row {
                last: k + 1 == workers.len(),
                model: error(found.map(|e| e.mean)),
                forms: ConvergenceModel::forms()
                    .map(|f| error(model.iterations_by_form(f, m, goal)))
                    .collect(),
                covered,
            });
        }
    }
    rows
}

/// The first round on m workers whose value is at most ε; nothing if there is none, or if it is the very first.
fn rounds_to(trace: &[Observation], workers: usize, goal: f64) -> Option<f64> {
    let reached = |o: &&Observation| o.workers == workers && o.value.is_some_and(|v| v <= goal);
    let round = trace.iter().filter(reached).map(|o| o.iteration).min()?;
    (round > 1).then_some(round as f64)
}

fn summary(name: &str, rows: &[&Row]) {
    if rows.is_empty() {
        return;
    }
    let covered = rows.iter().filter(|row| row.covered).count() as f64 / rows.len() as f64;
    println!("\n{name}: {} predictions, {:.0} % inside their intervals", rows.len(), 100.0 * covered);
    println!("  {:20} {:>8} {:>8}", "error of rounds to ε", "median", "90 %");
    line("model", rows.iter().map(|row| row.model).collect());
    for (k, form) in ConvergenceModel::forms().enumerate() {
        line(form, rows.iter().map(|row| row.forms[k]).collect());
    }
}

fn line(name: &str, mut errors: Vec<f64>) {
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| 100.0 * errors[((errors.len() - 1) as f64 * share).round() as usize];
    println!("  {name:20} {:7.1}% {:7.1}%", at(0.5), at(0.9));
}
