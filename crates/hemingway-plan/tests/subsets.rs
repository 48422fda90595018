//! Real traces on parts of two datasets, and all of each predicted from a quarter and less.

use hemingway_plan::{Combined, Observation, SubsetModel, SystemModel, parse_trace};

const TRACES: [&str; 2] = [
    include_str!("traces/subsets-a9a-logistic-local-sgd.csv"),
    include_str!("traces/subsets-mnist-logistic-cocoa-plus.csv"),
];
const GOALS: [f64; 2] = [1e-2, 1e-3];
const WORKERS: [usize; 6] = [1, 2, 4, 8, 16, 32];

fn known(trace: &[Observation]) -> Vec<Observation> {
    trace.iter().filter(|o| o.fraction <= 0.25).cloned().collect()
}

/// The first observation of a run on m workers whose value is at most ε.
fn reached(trace: &[Observation], workers: usize, fraction: f64, goal: f64) -> Option<&Observation> {
    let here = |o: &&Observation| o.workers == workers && o.fraction == fraction;
    trace.iter().filter(here).find(|o| o.value.is_some_and(|value| value <= goal))
}

fn median(mut errors: Vec<f64>) -> f64 {
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

#[test]
fn rounds_on_all_of_the_data_are_predicted_from_a_quarter() {
    let (mut errors, mut same, mut inside) = (Vec::new(), Vec::new(), 0);
    for trace in TRACES {
        let trace = parse_trace(trace).expect("a trace that can be read");
        let model = SubsetModel::fit(&known(&trace)).expect("runs on three fractions");
        for (m, goal) in WORKERS.iter().flat_map(|&m| GOALS.map(|goal| (m, goal))) {
            let truth = reached(&trace, m, 1.0, goal).expect("a goal that is reached").iteration as f64;
            let found = model.iterations_to(m, 1.0, goal).expect("a goal that is reached");
            errors.push((found.mean / truth - 1.0).abs());
            inside += usize::from(found.low <= truth && truth <= found.high);
            if let Some(quarter) = reached(&trace, m, 0.25, goal) {
                same.push((quarter.iteration as f64 / truth - 1.0).abs());
            }
        }
    }
    assert!(inside * 10 >= errors.len() * 8, "{inside} of {} inside", errors.len());
    let (ours, same) = (median(errors), median(same));
    assert!(ours < 0.3 && ours < 0.3 * same, "{ours}, and {same} when taken to be as on a quarter");
}

#[test]
fn seconds_on_all_of_the_data_are_predicted_from_a_quarter() {
    for trace in &TRACES[..1] {
        let trace = parse_trace(trace).expect("a trace that can be read");
        let known = known(&trace);
        let times = SystemModel::fit(&known).expect("times");
        let progress = SubsetModel::fit(&known).expect("runs on three fractions");
        let model = Combined::new(&times, &progress);
        for m in [4, 8, 16] {
            let truth =
                reached(&trace, m, 1.0, 1e-3).and_then(|o| o.seconds).expect("a goal that is reached");
            let found = model.seconds_to(m, 1e-3).expect("a goal that is reached");
            assert!(found.low <= truth && truth <= found.high, "m = {m}: {found:?}, {truth}");
            assert!(model.value_at(m, truth).is_some_and(|value| value.low <= 1e-3));
            assert!(model.extrapolation(m, 10).is_some_and(|said| said.contains("fraction 1 is 4")));
        }
    }
}
