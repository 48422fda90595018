//! A made-up cluster and algorithm whose truth is known, with runs that differ in speed and in convergence.

use super::*;
use crate::{Observation, Target};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const START: f64 = 3.0;

/// f(m) in the paper.
fn each(m: f64) -> f64 {
    0.05 + 2.0 / m + 0.02 * m
}

/// How much slower a run is than usual, in seconds per iteration and in iterations.
#[derive(Clone, Copy)]
struct Luck {
    time: f64,
    rounds: f64,
}

const USUAL: Luck = Luck { time: 1.0, rounds: 1.0 };

impl Luck {
    fn drawn(random: &mut Xoshiro256PlusPlus, spread: f64) -> Luck {
        // The sum of twelve uniform draws is nearly normal, with variance one.
        let mut draw = || {
            let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            (spread * normal).exp()
        };
        Luck { time: draw(), rounds: draw() }
    }

    fn gap(self, m: f64, i: f64) -> f64 {
        0.5 * (-i / (self.rounds * (3.0 + 1.5 * m.sqrt()))).exp()
    }

    fn seconds_to(self, m: f64, gap: f64) -> f64 {
        let rounds = (self.rounds * (3.0 + 1.5 * m.sqrt()) * (0.5 / gap).ln()).ceil();
        START + rounds * self.time * each(m)
    }

    fn run(self, name: String, workers: usize, rounds: u64) -> Vec<Observation> {
        let m = workers as f64;
        let point = |iteration: u64| Observation {
            run: name.clone(),
            algorithm: "made up".into(),
            workers,
            fraction: 1.0,
            iteration,
            seconds: Some(START + iteration as f64 * self.time * each(m)),
            value: Some(self.gap(m, iteration as f64)),
        };
        (1..=rounds).map(point).collect()
    }
}

fn fitted(runs: &[Observation]) -> (SystemModel, ConvergenceModel) {
    let convergence = ConvergenceModel::fit(runs, Target::SubOptimality).unwrap();
    (SystemModel::fit(runs).unwrap(), convergence)
}

fn usual() -> (SystemModel, ConvergenceModel) {
    let runs = [1, 2, 4, 8, 16].iter().flat_map(|&m| USUAL.run(m.to_string(), m, 60));
    fitted(&runs.collect::<Vec<_>>())
}

#[test]
fn times_to_goals_are_those_of_the_truth() {
    let (system, convergence) = usual();
    let model = Combined::new(&system, &convergence);
    for (m, goal, within) in [(4, 1e-2, 0.03), (6, 1e-2, 0.06), (12, 1e-3, 0.1), (24, 1e-2, 0.25)] {
        let (found, truth) = (model.seconds_to(m, goal).unwrap(), USUAL.seconds_to(m as f64, goal));
        assert!((found.mean / truth - 1.0).abs() < within, "{m}: {found:?}, {truth}");
        assert!(found.low <= truth && truth <= found.high, "{m}: {found:?}, {truth}");
    }
}

#[test]
fn values_fall_with_time_and_are_those_of_the_truth() {
    let (system, convergence) = usual();
    let model = Combined::new(&system, &convergence);
    for m in [4usize, 6, 24] {
        let mut before = f64::INFINITY;
        for k in 1..40 {
            let seconds = 3.0 + 0.5 * k as f64;
            let Some(found) = model.value_at(m, seconds) else { continue };
            assert!(found.low <= found.mean && found.mean <= found.high);
            assert!(found.mean <= before && found.low > 0.0, "{found:?} after {before}");
            before = found.mean;
        }
        let seconds = START + 30.5 * each(m as f64);
        let (found, truth) = (model.value_at(m, seconds).unwrap(), USUAL.gap(m as f64, 30.0));
        assert!(found.low <= truth && truth <= found.high, "{m}: {found:?}, {truth}");
    }
}

#[test]
fn nothing_is_known_before_the_first_iteration_is_over() {
    let (system, convergence) = usual();
    let model = Combined::new(&system, &convergence);
    assert_eq!(model.value_at(4, START), None);
    assert_eq!(model.value_at(4, -1.0), None);
    assert_eq!(model.value_at(4, f64::NAN), None);
    assert!(model.value_at(4, START + 1.5 * each(4.0)).is_some());
    assert!(model.value_at(4, f64::INFINITY).is_some_and(|value| value.mean.is_finite()));
}

#[test]
fn time_and_goal_agree() {
    let (system, convergence) = usual();
    let model = Combined::new(&system, &convergence);
    for (m, goal) in [(4, 1e-2), (10, 1e-3)] {
        let seconds = model.seconds_to(m, goal).unwrap().mean;
        let value = model.value_at(m, seconds * (1.0 + 1e-9)).unwrap().mean;
        assert!(value <= goal * 1.02, "{m}: {value} after {seconds}, not {goal}");
    }
}

#[test]
fn intervals_hold_new_runs_about_as_often_as_promised() {
    let (mut times, mut values, mut all) = (0, 0, 0);
    for seed in 0..12 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let runs: Vec<Observation> = [1, 2, 4, 8, 16, 32]
            .iter()
            .flat_map(|&m| Luck::drawn(&mut random, 0.08).run(format!("{m}"), m, 60))
            .collect();
        let (system, convergence) = fitted(&runs);
        let model = Combined::new(&system, &convergence);
        for m in [3usize, 6, 12, 24] {
            let luck = Luck::drawn(&mut random, 0.08);
            let found = model.seconds_to(m, 1e-2).unwrap();
            let truth = luck.seconds_to(m as f64, 1e-2);
            times += usize::from(found.low <= truth && truth <= found.high);
            let iteration = ((20.0 - START) / (luck.time * each(m as f64))).floor();
            let (found, truth) = (model.value_at(m, 20.0).unwrap(), luck.gap(m as f64, iteration));
            values += usize::from(found.low <= truth && truth <= found.high);
            all += 1;
        }
    }
    for inside in [times, values] {
        let share = inside as f64 / all as f64;
        assert!(share >= 0.8, "{share} of {all} inside: times {times}, values {values}");
    }
}

#[test]
fn extrapolation_names_its_distance() {
    let (system, convergence) = usual();
    let model = Combined::new(&system, &convergence);
    assert_eq!(model.extrapolation(8, 60), None);
    assert_eq!(
        model.extrapolation(32, 120).unwrap(),
        "times: workers 32 is 2.00 times the largest measured, 16; \
         convergence: 32 workers are 2.0 times the most measured, 16; iteration 120 is 2.0 times the longest run, 60"
    );
    let small = Combined { fraction: 0.5, ..model };
    assert!(small.extrapolation(8, 60).unwrap().contains("fraction 0.5 is 0.50 times the smallest measured"));
}
