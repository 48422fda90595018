//! What the perfect computer computes, and when it stops.

use hemingway_data::{LoadOptions, load};
use hemingway_train::{
    Cluster, Engine, Event, Job, Loss, Machine, Parameters, Scoring, Simulated, Start, StopRules,
};

use super::*;

const STOPS: [u64; 2] = [48, 96];

fn run(name: &str, workers: usize, in_order: bool) -> Run {
    let data = Arc::new(load("synthetic:separable,rows=96,features=5", &LoadOptions::default()).unwrap());
    let given = Parameters { batch: Some(workers), step_size: Some(0.1), ..Parameters::default() };
    let given = if name == "async-sgd" { Parameters { batch: Some(1), ..given } } else { given };
    let given = if ["dadm", "hogwild"].contains(&name) { only(name, &given) } else { given };
    Run {
        heldout: data.clone(),
        training: data,
        problem: Problem::new(Loss::Logistic, 0.01).unwrap(),
        algorithm: hemingway_train::algorithm(name, &given).unwrap(),
        rows: 1,
        workers,
        seed: 3,
        in_order,
        stops: STOPS.to_vec(),
    }
}

fn only(name: &str, given: &Parameters) -> Parameters {
    match name {
        "dadm" => Parameters { batch: given.batch, ..Parameters::default() },
        _ => Parameters { step_size: given.step_size, ..Parameters::default() },
    }
}

fn losses(run: Run) -> Vec<f64> {
    run.losses(&AtomicBool::new(false)).unwrap().unwrap()
}

#[test]
fn what_is_computed_is_what_the_simulated_engine_computes() {
    for (name, workers) in [("minibatch-sgd", 4), ("ecd-psgd", 3), ("dadm", 4), ("dadm", 1)] {
        let here = run(name, workers, false);
        let job = Job {
            problem: here.problem,
            algorithm: here.algorithm.as_ref(),
            workers,
            seed: here.seed,
            stop: StopRules { rounds: Some(STOPS[1]), ..StopRules::default() },
            scoring: Scoring::Every(STOPS[1]),
            start: Start::Zero,
            checkpoint_every: Some(Seconds(0.0)),
            interrupt: None,
            hand_over: None,
        };
        let mut weights = Vec::new();
        let mut observe = |event: Event| {
            if let Event::Checkpoint(checkpoint) = event {
                weights.clone_from(&checkpoint.model.weights);
            }
            Ok(())
        };
        Simulated::new(Cluster::of(Machine::default())).run(&here.training, &job, &mut observe).unwrap();
        let expected: f64 = predict(&here.heldout, &weights)
            .iter()
            .zip(&here.heldout.targets)
            .map(|(p, y)| Loss::Logistic.value(*p, f64::from(*y)))
            .sum::<f64>()
            / 96.0;
        let found = losses(here);
        assert_eq!(found.len(), 3);
        assert!((found[0] - 2f64.ln()).abs() < 1e-12);
        assert!((found[2] - expected).abs() < 1e-12, "{name}: {found:?}, expected {expected}");
    }
}

#[test]
fn asynchronous_workers_stop_on_time_and_alone_make_the_steps_of_one() {
    for workers in [1, 4] {
        let found = losses(run("async-sgd", workers, false));
        assert!(found[0] > found[1] && found[1] > found[2], "{found:?}");
    }
    // One row after the other, by one worker or in batches of one: the same, but for how the penalty is applied.
    let (alone, batches) = (losses(run("async-sgd", 1, true)), losses(run("minibatch-sgd", 1, true)));
    assert!((alone[2] - batches[2]).abs() < 1e-3, "{alone:?}, {batches:?}");
}

#[test]
fn rows_in_order_are_dealt_so_that_a_round_has_consecutive_ones() {
    // A round of four has the rows of four rounds of one: all rows are visited after 24 and 96 rounds.
    let data = run("minibatch-sgd", 4, true).training;
    let rows = dealt(&data, 4);
    assert_eq!(rows.rows_at(&[0, 24, 48, 72]).matrix, data.rows_at(&[0, 1, 2, 3]).matrix);
    for name in ["minibatch-sgd", "ecd-psgd", "async-sgd", "hogwild", "dadm"] {
        let [one, other] = [3, 4].map(|seed| losses(Run { seed, ..run(name, 4, true) }));
        assert_eq!(one, other, "{name} in order depends on no seed");
    }
}

#[test]
fn an_interrupted_run_says_nothing() {
    for name in ["minibatch-sgd", "async-sgd", "ecd-psgd"] {
        assert!(run(name, 4, false).losses(&AtomicBool::new(true)).unwrap().is_none(), "{name}");
    }
}
