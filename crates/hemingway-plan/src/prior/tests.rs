//! The priors against what theory says and against runs on real data, none of which taught them.

use hemingway_train::{Cluster, Loss, Machine};

use super::*;
use crate::Estimate;

const REAL: &str = include_str!("../../tests/traces/prior-real.csv");

struct Seen<'a> {
    glance: Glance,
    algorithm: &'a str,
    workers: usize,
    error: f64,
    rounds: f64,
    seconds: f64,
}

fn seen() -> impl Iterator<Item = Seen<'static>> {
    REAL.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().unwrap();
        let glance = Glance {
            loss: cells[1].parse().unwrap(),
            lambda: number(2),
            rows: number(3) as usize,
            features: number(4) as usize,
            nonzeros: number(5) as usize,
            mean_squared_norm: number(6),
            largest_squared_norm: number(7),
            common: number(8),
            rare_share: number(9),
        };
        let (workers, error, rounds, seconds) = (number(11) as usize, number(12), number(13), number(14));
        Seen { glance, algorithm: cells[10], workers, error, rounds, seconds }
    })
}

fn example(loss: Loss) -> Glance {
    Glance {
        rows: 10_000,
        features: 100,
        nonzeros: 1_000_000,
        mean_squared_norm: 10.0,
        largest_squared_norm: 30.0,
        common: 0.1,
        rare_share: 0.4,
        loss,
        lambda: 1e-4,
    }
}

fn middle(sizes: &mut [f64]) -> f64 {
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2]
}

#[test]
fn rounds_on_real_data_are_near_and_inside() {
    let (mut errors, mut inside) = (Vec::new(), 0);
    for Seen { glance, algorithm, workers, error, rounds, .. } in seen() {
        let Estimate { low, mean, high } = rounds_to(&glance, algorithm, workers, 1.0, error).unwrap();
        errors.push((rounds / mean).ln().abs());
        inside += usize::from((low..=high).contains(&rounds));
    }
    assert!(inside as f64 >= 0.85 * errors.len() as f64, "{inside} of {}", errors.len());
    let factor = middle(&mut errors).exp();
    assert!(factor < 2.5, "median factor {factor}");
}

#[test]
fn smaller_errors_take_more_rounds() {
    for loss in [Loss::Hinge, Loss::Logistic, Loss::Squared] {
        for algorithm in ["cocoa", "cocoa-plus", "l-bfgs", "local-sgd", "minibatch-sgd", "newton"] {
            for workers in [1, 8, 64, 1000] {
                let rounds =
                    |error| rounds_to(&example(loss), algorithm, workers, 1.0, error).map(|e| e.mean);
                let found: Vec<f64> = [0.1, 1e-2, 1e-3, 1e-4].into_iter().filter_map(rounds).collect();
                assert!(
                    found.is_sorted() && found[found.len() - 1] > found[0],
                    "{algorithm} {loss}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn averaging_pays_for_workers_and_whole_gradients_do_not() {
    for loss in [Loss::Hinge, Loss::Logistic] {
        let rounds =
            |algorithm, workers| rounds_to(&example(loss), algorithm, workers, 1.0, 1e-3).unwrap().mean;
        assert!(rounds("cocoa", 64) > 4.0 * rounds("cocoa", 2), "{loss}");
        assert_eq!(rounds("l-bfgs", 64), rounds("l-bfgs", 1));
    }
}

#[test]
fn what_was_not_tried_is_less_certain() {
    let width = |workers, error| {
        let Estimate { low, high, .. } =
            rounds_to(&example(Loss::Logistic), "cocoa", workers, 1.0, error).unwrap();
        high / low
    };
    assert!(width(1000, 1e-3) > 1.5 * width(32, 1e-3));
    assert!(width(32, 1e-9) > 1.5 * width(32, 1e-3));
}

#[test]
fn senseless_questions_have_no_answer() {
    let glance = example(Loss::Hinge);
    for (algorithm, workers, passes, error) in [
        ("simplex", 1, 1.0, 0.1),
        ("cocoa", 0, 1.0, 0.1),
        ("cocoa", 20_000, 1.0, 0.1),
        ("cocoa", 1, 0.0, 0.1),
        ("cocoa", 1, f64::NAN, 0.1),
        ("cocoa", 1, 1.0, 0.0),
        ("cocoa", 1, 1.0, -1.0),
    ] {
        assert_eq!(rounds_to(&glance, algorithm, workers, passes, error), None, "{algorithm} {workers}");
    }
}

#[test]
fn rounds_take_as_long_as_foretold() {
    let cluster = Cluster::of(Machine::default());
    let mut errors: Vec<f64> = seen()
        .filter(|seen| seen.seconds.is_finite())
        .map(|seen| {
            let foretold =
                seconds_per_round(&seen.glance, seen.algorithm, seen.workers, 1.0, &cluster).unwrap();
            (foretold / seen.seconds).ln().abs()
        })
        .collect();
    let (factor, worst) = (middle(&mut errors).exp(), errors[errors.len() - 1].exp());
    assert!(factor < 1.1 && worst < 3.0, "median factor {factor}, worst {worst}");
}

#[test]
fn reasons_are_given() {
    let wide = Glance { features: 31_257, ..example(Loss::Logistic) };
    assert!(unsuited(&wide, "newton").unwrap().contains("31257 features"));
    assert_eq!(unsuited(&example(Loss::Logistic), "newton"), None);
    assert!(unsuited(&example(Loss::Hinge), "newton").unwrap().contains("hinge"));
    assert_eq!(unsuited(&example(Loss::Hinge), "cocoa"), None);
}
