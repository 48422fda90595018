//! Real traces, with some numbers of workers held out.

use hemingway_plan::{ConvergenceModel, Estimate, Observation, Target, parse_trace};

const TRACES: [&str; 4] = [
    include_str!("traces/mnist-hinge-cocoa-plus.csv"),
    include_str!("traces/mnist-logistic-cocoa.csv"),
    include_str!("traces/mnist-logistic-local-sgd.csv"),
    include_str!("traces/dense-logistic-cocoa-plus.csv"),
];
const GOALS: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// What was predicted on m workers from the others, beside what happened.
fn held_out(trace: &[Observation], workers: usize) -> Vec<(Option<Estimate>, f64)> {
    let known: Vec<Observation> = trace.iter().filter(|o| o.workers != workers).cloned().collect();
    let model = ConvergenceModel::fit(&known, Target::SubOptimality).expect("a trace of several workers");
    let rounds_to = |goal: f64| {
        let reached = |o: &&Observation| o.workers == workers && o.value.is_some_and(|v| v <= goal);
        trace.iter().filter(reached).map(|o| o.iteration).min().filter(|round| *round > 1)
    };
    GOALS
        .iter()
        .filter_map(|&goal| Some((model.iterations_to(workers, goal), rounds_to(goal)? as f64)))
        .collect()
}

/// Errors on one trace are all alike, so few predictions may miss their intervals together.
fn check(workers: &[usize], median: f64, covered: f64) {
    let (mut errors, mut inside) = (Vec::new(), 0);
    for trace in TRACES {
        let trace = parse_trace(trace).expect("a trace that can be read");
        for (found, truth) in workers.iter().flat_map(|&m| held_out(&trace, m)) {
            let found = found.expect("a goal that is reached");
            errors.push((found.mean / truth - 1.0).abs());
            inside += i32::from(found.low <= truth && truth <= found.high);
        }
    }
    errors.sort_by(f64::total_cmp);
    let middle = errors[errors.len() / 2];
    assert!(middle <= median, "a median error of {middle}");
    assert!(
        f64::from(inside) >= covered * errors.len() as f64,
        "{inside} of {} inside their intervals",
        errors.len()
    );
}

#[test]
fn inner_numbers_of_workers_are_predicted_within_15_percent() {
    check(&[4, 8, 16, 32], 0.15, 0.85);
}

#[test]
fn twice_the_largest_number_of_workers_is_predicted_within_30_percent() {
    check(&[128], 0.30, 0.85);
}
