//! The priors against what theory says and against runs on real data, none of which taught them.

use std::collections::BTreeMap;

use hemingway_data::{Dataset, LoadOptions, load};
use hemingway_train::{
    Cluster, Engine, Event, Job, Loss, Machine, Parameters, Problem, Scoring, Simulated, Start, StopRules,
};

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
            unevenness: 1.0,
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
        unevenness: 1.0,
        rare_share: 0.4,
        loss,
        lambda: 1e-4,
    }
}

fn rounds_to(glance: &Glance, algorithm: &str, workers: usize, passes: f64, error: f64) -> Option<Estimate> {
    Rounds::of(glance, algorithm, workers, passes)?.to(error)
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
    assert!(inside as f64 >= 0.9 * errors.len() as f64, "{inside} of {}", errors.len());
    let factor = middle(&mut errors).exp();
    assert!(factor < 1.8, "median factor {factor}");
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
fn predictions_stay_numbers_whatever_the_condition() {
    for (squared_norm, lambda) in
        [(1e77, 1e-300), (1e77, f64::MIN_POSITIVE), (1e-90, f64::MAX), (1e-90, 1e-300)]
    {
        let glance = Glance { mean_squared_norm: squared_norm, lambda, ..example(Loss::Logistic) };
        for algorithm in ["cocoa", "cocoa-plus", "l-bfgs", "newton"] {
            let rounds = Rounds::of(&glance, algorithm, 4, 1.0).and_then(|rounds| rounds.to(1e-3));
            let Some(Estimate { low, mean, high }) = rounds else { continue };
            let about = format!("{algorithm}, R² = {squared_norm:e}, λ = {lambda:e}");
            assert!([low, mean, high].into_iter().all(f64::is_finite), "{about}: {low} {mean} {high}");
        }
    }
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
fn rounds_on_real_data_take_as_long_as_foretold() {
    let cluster = Cluster::of(Machine::default());
    let mut errors: Vec<f64> = seen()
        .filter(|seen| seen.seconds.is_finite())
        .map(|seen| {
            let foretold =
                seconds_per_round(&seen.glance, seen.algorithm, seen.workers, 1.0, seen.error, &cluster)
                    .unwrap();
            (foretold / seen.seconds).ln().abs()
        })
        .collect();
    let factor = middle(&mut errors).exp();
    assert!(factor < 1.1, "median factor {factor}");
}

const CLUSTERS: [&str; 3] = [
    "",
    "[network]\nlatency = 5e-3\nbandwidth = 1.25e8\n[stragglers]\nprobability = 0.05\nslowdown = 3.0\nnoise = 0.2\n[here]\nflops = 2e7\nbytes = 4e7",
    "[network]\nlatency = 2e-6\nbandwidth = 1.2e10\ncollective = \"ring\"\n[[machines]]\nname = \"fast\"\ncount = 4\nspeed = 2.0\n[[machines]]\nname = \"slow\"\ncount = 12",
];

/// Seconds of a round after the first, on a simulated cluster.
fn simulated(data: &Dataset, problem: Problem, algorithm: &str, workers: usize, cluster: &Cluster) -> f64 {
    let algorithm = hemingway_train::algorithm(algorithm, &Parameters::default()).unwrap();
    let job = Job {
        problem,
        algorithm: &*algorithm,
        workers,
        seed: 1,
        stop: StopRules { rounds: Some(12), ..StopRules::default() },
        scoring: Scoring::Every(1),
        start: Start::Zero,
        checkpoint_every: None,
        interrupt: None,
        hand_over: None,
    };
    let mut points = Vec::new();
    let mut observe = |event: Event| {
        if let Event::Point(point) = event {
            points.push((point.round as f64, point.seconds.0));
        }
        Ok(())
    };
    Simulated::new(cluster.clone()).run(data, &job, &mut observe).unwrap();
    let (first, last) = (points.iter().find(|point| point.0 == 1.0).unwrap(), points.last().unwrap());
    (last.1 - first.1) / (last.0 - first.0)
}

#[test]
fn simulated_clusters_take_as_long_as_foretold() {
    let specs =
        ["synthetic:text,rows=2000,features=500,density=0.05", "synthetic:separable,rows=2000,features=40"];
    let mut errors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (spec, loss, text) in every(&specs, &[Loss::Hinge, Loss::Logistic], &CLUSTERS) {
        let data = load(spec, &LoadOptions::default()).unwrap();
        let problem = Problem::new(*loss, 1e-3).unwrap();
        let (glance, cluster) = (Glance::of(&data, &problem), Cluster::from_toml("test", text).unwrap());
        for algorithm in hemingway_train::catalogue().iter().map(|entry| entry.name) {
            for workers in [1, 5, 16] {
                let foretold = seconds_per_round(&glance, algorithm, workers, 1.0, 1e-3, &cluster).unwrap();
                let seconds = simulated(&data, problem, algorithm, workers, &cluster);
                errors.entry(algorithm).or_default().push((foretold / seconds).ln().abs());
            }
        }
    }
    for (algorithm, errors) in &mut errors {
        let (factor, worst) = (middle(errors).exp(), errors[errors.len() - 1].exp());
        println!("{algorithm}: median factor {factor:.3}, worst {worst:.2}");
        assert!(factor < 1.25 && worst < 4.0, "{algorithm}: median factor {factor}, worst {worst}");
    }
}

/// Every combination of three lists.
fn every<'a, A, B, C>(a: &'a [A], b: &'a [B], c: &'a [C]) -> impl Iterator<Item = (&'a A, &'a B, &'a C)> {
    a.iter().flat_map(move |a| b.iter().flat_map(move |b| c.iter().map(move |c| (a, b, c))))
}

#[test]
fn reasons_are_given() {
    let wide = Glance { features: 31_257, ..example(Loss::Logistic) };
    assert!(unsuited(&wide, "newton", None).unwrap().contains("31257 features"));
    assert_eq!(unsuited(&example(Loss::Logistic), "newton", None), None);
    assert!(unsuited(&example(Loss::Hinge), "l-bfgs", Some(1e-4)).unwrap().contains("hinge"));
    assert_eq!(unsuited(&example(Loss::Hinge), "l-bfgs", Some(1e-2)), None);
    assert_eq!(unsuited(&example(Loss::Hinge), "cocoa", None), None);
}
