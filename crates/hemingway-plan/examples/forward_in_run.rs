//! How well the next values of a run are predicted from its last ones, beside "the next value is the last one".
//!
//!     cargo run --release -p hemingway-plan --example forward_in_run TRACE.csv…

use std::collections::BTreeMap;
use std::time::Instant;

use hemingway_plan::{ConvergenceModel, Observation, Target, forward, parse_trace};

const WINDOW: usize = 50;

fn main() {
    println!(
        "{:>6} {:>10} {:>22} {:>8} {:>8}",
        "ahead", "forecasts", "error over last value", "better", "inside"
    );
    let runs: Vec<Vec<(f64, f64)>> = std::env::args().skip(1).flat_map(|path| runs_in(&path)).collect();
    for ahead in [1.0, 10.0, 50.0] {
        let (mut ratios, mut better, mut inside, mut count) = (Vec::new(), 0, 0, 0);
        for run in &runs {
            let (mut ours, mut persistence) = (0.0, 0.0);
            for origin in (20..run.len()).step_by(7) {
                let window = &run[origin.saturating_sub(WINDOW)..origin];
                let (x, last) = window[window.len() - 1];
                let Some(&(_, truth)) = run[origin..].iter().find(|p| p.0 >= x + ahead) else { break };
                let found = forward(window, ahead);
                ours += (found.mean - truth).abs();
                persistence += (last - truth).abs();
                inside += usize::from(found.low <= truth && truth <= found.high);
                count += 1;
            }
            if persistence > 0.0 {
                ratios.push(ours / persistence);
                better += usize::from(ours < persistence);
            }
        }
        if ratios.is_empty() {
            continue;
        }
        ratios.sort_by(f64::total_cmp);
        println!(
            "{ahead:6} {count:10} {:22.2} {better:4}/{:3} {:7.0}%",
            ratios[ratios.len() / 2],
            ratios.len(),
            100.0 * inside as f64 / count as f64
        );
    }
    for path in std::env::args().skip(1) {
        time_of_a_refit(&path);
    }
}

/// How long a model of the longest run of a trace takes to fit, which is what a run does after each of its points.
fn time_of_a_refit(path: &str) {
    let trace = parse_trace(&std::fs::read_to_string(path).unwrap_or_default()).unwrap_or_default();
    let Some(longest) = trace.iter().filter(|row| row.value.is_some()).max_by_key(|row| row.iteration) else {
        return;
    };
    let run: Vec<Observation> = trace.iter().filter(|row| row.run == longest.run).cloned().collect();
    let mut times: Vec<f64> = (0..21)
        .map(|_| {
            let begin = Instant::now();
            let fitted = ConvergenceModel::fit(&run, Target::SubOptimality);
            let took = begin.elapsed().as_secs_f64();
            std::hint::black_box(fitted.is_ok());
            took
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{path}: refit of {} points in {:.1} ms", run.len(), 1e3 * times[times.len() / 2]);
}

/// The runs of a trace, each in order.
fn runs_in(path: &str) -> Vec<Vec<(f64, f64)>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut runs: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for row in parse_trace(&text).unwrap_or_else(|error| panic!("{path}: {error}")) {
        let Some(value) = row.value else { continue };
        runs.entry(row.run).or_default().push((row.iteration as f64, value));
    }
    runs.into_values().collect()
}
