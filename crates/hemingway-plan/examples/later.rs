//! How well rounds to a goal are predicted from the first part of runs: `later TRACE.csv…`.
//!
//! All runs of a trace are cut after 10, 20 and 50 rounds, and asked for goals that they reach later. Printed are the
//! errors in log rounds beside how far beyond the cut the truth was, and how many intervals held it.

use hemingway_plan::{ConvergenceModel, Observation, Target, parse_trace};

fn main() {
    let mut rows: Vec<(f64, Option<f64>, bool)> = Vec::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let trace = parse_trace(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        for cut in [10, 20, 50] {
            let first: Vec<Observation> = trace.iter().filter(|o| o.iteration <= cut).cloned().collect();
            let Ok(model) = ConvergenceModel::fit(&first, Target::SubOptimality) else { continue };
            let mut workers: Vec<usize> = trace.iter().map(|o| o.workers).collect();
            workers.sort_unstable();
            workers.dedup();
            for m in workers {
                for goal in [1e-2, 1e-3, 1e-4] {
                    let reached = |o: &&Observation| o.workers == m && o.value.is_some_and(|v| v <= goal);
                    let Some(truth) = trace.iter().filter(reached).map(|o| o.iteration).min() else {
                        continue;
                    };
                    if truth <= cut {
                        continue;
                    }
                    let found = model.iterations_to(m, goal);
                    let inside =
                        found.as_ref().is_some_and(|e| e.low <= truth as f64 && truth as f64 <= e.high);
                    let error = found.map(|e| (e.mean / truth as f64).ln());
                    rows.push(((truth as f64 / cut as f64).ln(), error, inside));
                }
            }
        }
    }
    for (from, to) in [(0.0, 0.7), (0.7, 1.4), (1.4, 2.1), (2.1, 3.0), (3.0, 9.0)] {
        let here: Vec<_> = rows.iter().filter(|r| r.0 > from && r.0 <= to).collect();
        let never = here.iter().filter(|r| r.1.is_none()).count();
        let mut errors: Vec<f64> = here.iter().filter_map(|r| r.1).map(f64::abs).collect();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| {
            errors.get(((errors.len().max(1) - 1) as f64 * share) as usize).copied().unwrap_or(f64::NAN)
        };
        let inside = here.iter().filter(|r| r.2).count() as f64 / here.len().max(1) as f64;
        println!(
            "{from}..{to}: {} cases, {never} never, median {:.2}, 90 % {:.2}, inside {:.0} %",
            here.len(),
            at(0.5),
            at(0.9),
            100.0 * inside
        );
    }
}
