//! What single algorithms promise beyond what all of them do: equalities, optima, and parameters that are refused.

mod reference;
mod trial;

use hemingway_train::{Error, LOSSES, Loss, Parameters, Start, Stop, StopRules, Threads, catalogue};
use reference::optimum;
use trial::{Recipe, Trial, objective, rows_of, simulated};

const WORKERS: [usize; 5] = [1, 2, 3, 7, 16];

fn trial(algorithm: &'static str, loss: Loss, workers: usize) -> Trial {
    let data =
        Recipe { rows: 160, columns: 9, sparse: true, empty: 0.03, repeated: 0.05, ..Recipe::default() };
    Trial { workers, ..Trial::of(data.cook(), loss, algorithm) }
}

fn batch(rows: usize) -> Parameters {
    Parameters { batch: Some(rows), ..Parameters::default() }
}

#[test]
fn dadm_on_all_rows_is_cocoa_plus() {
    for loss in LOSSES {
        for bias in [false, true] {
            for workers in [2, 3, 7, 16] {
                let run = |algorithm, parameters: Parameters| {
                    let mut trial = Trial { parameters, ..trial(algorithm, loss, workers) };
                    (trial.problem.bias, trial.stop.rounds) = (bias, Some(20));
                    trial.run(&simulated()).unwrap().run.model
                };
                let (dadm, cocoa_plus) = (run("dadm", batch(160)), run("cocoa-plus", Parameters::default()));
                let pairs = dadm.weights.iter().zip(&cocoa_plus.weights);
                let furthest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(furthest <= 1e-12, "{loss}, bias {bias}, {workers} workers: {furthest:e}");
                assert_eq!(dadm.duals, cocoa_plus.duals, "{loss}, bias {bias}, {workers} workers");
            }
        }
    }
}

/// D(α) by the book.
fn dual_objective(trial: &Trial, duals: &[f64]) -> f64 {
    let (rows, lambda) = (rows_of(&trial.data), trial.problem.lambda);
    let (n, columns) = (rows.len() as f64, rows[0].len());
    let mut weights = vec![0.0; columns];
    for (row, dual) in rows.iter().zip(duals) {
        weights.iter_mut().zip(row).for_each(|(weight, value)| *weight += dual * value / (lambda * n));
    }
    let entropy = |a: f64| if a > 0.0 { a * a.ln() } else { 0.0 };
    let conjugate = |(dual, y): (&f64, &f32)| {
        let (alpha, y) = (*dual, f64::from(*y));
        let a = alpha * y;
        match trial.problem.loss {
            Loss::Hinge => -a,
            Loss::SmoothedHinge => a * a / 2.0 - a,
            Loss::Logistic => entropy(a) + entropy(1.0 - a),
            Loss::Squared => alpha * alpha / 2.0 - alpha * y,
        }
    };
    let conjugates: f64 = duals.iter().zip(&trial.data.targets).map(conjugate).sum();
    -conjugates / n - lambda / 2.0 * weights.iter().map(|weight| weight * weight).sum::<f64>()
}

#[test]
fn added_changes_never_lower_the_dual() {
    for (algorithm, parameters) in [("cocoa-plus", Parameters::default()), ("dadm", batch(32))] {
        for loss in LOSSES {
            for workers in WORKERS {
                let mut before = 0.0;
                for rounds in 1..=12 {
                    let mut trial =
                        Trial { parameters: parameters.clone(), ..trial(algorithm, loss, workers) };
                    (trial.problem.lambda, trial.stop.rounds) = (1e-3, Some(rounds));
                    let model = trial.run(&simulated()).unwrap().run.model;
                    let dual = dual_objective(&trial, &model.duals.unwrap());
                    let about = format!("{algorithm} on {loss}, {workers} workers, round {rounds}");
                    assert!(dual >= before - 1e-13, "{about}: {dual} after {before}");
                    before = dual;
                }
            }
        }
    }
}

/// Runs to a certified error and compares with the optimum.
fn reaches(mut trial: Trial, error: f64) {
    trial.stop = StopRules { error: Some(error), rounds: Some(20_000), ..StopRules::default() };
    let run = trial.run(&simulated()).unwrap().run;
    let about = format!(
        "{} on {}, λ {}, bias {}, {} workers, {} rounds",
        trial.algorithm,
        trial.problem.loss,
        trial.problem.lambda,
        trial.problem.bias,
        trial.workers,
        run.rounds
    );
    assert_eq!(run.stop, Stop::Error, "{about}: {:e}", run.certified_error);
    let optimum = optimum(&trial.data, trial.problem);
    let true_error =
        (objective(&trial.data, trial.problem, &run.model.weights) - optimum.lower) / optimum.lower;
    assert!(true_error <= 1.1 * error + 1e-7, "{about}: {true_error:e}");
}

#[test]
fn certified_optima_are_reached_on_any_number_of_workers() {
    for workers in WORKERS {
        for loss in [Loss::Logistic, Loss::SmoothedHinge, Loss::Squared] {
            for algorithm in ["dadm", "acc-dadm", "svrg", "newton-cg"] {
                reaches(trial(algorithm, loss, workers), 1e-6);
                let mut biased = trial(algorithm, loss, workers);
                biased.problem.bias = true;
                reaches(biased, 1e-4);
            }
        }
        for algorithm in ["dadm", "acc-dadm"] {
            reaches(trial(algorithm, Loss::Hinge, workers), 1e-3);
        }
    }
}

/// One exchange of weights at the end: the mean of four local optima is not the optimum.
const FLOORS: [(&str, f64); 1] = [("one-shot-sgd", 3e-2)];

#[test]
fn every_algorithm_certifies_a_thousandth_on_four_workers() {
    for entry in catalogue() {
        let data = Recipe { rows: 400, columns: 9, sparse: true, empty: 0.02, ..Recipe::default() };
        let mut trial = Trial { workers: 4, ..Trial::of(data.cook(), Loss::Logistic, entry.name) };
        trial.problem.lambda = 1e-3;
        let error = FLOORS.iter().find(|(name, _)| *name == entry.name).map_or(1e-3, |(_, error)| *error);
        reaches(trial, error);
    }
}

#[test]
fn steps_of_batches_shrink_with_batches() {
    // Rows of length one and a large penalty: steps that shrank with rows would hardly move after a few batches.
    let data = Recipe { rows: 2000, columns: 40, sparse: true, scale: 0.3, ..Recipe::default() }.cook();
    let rounds = |algorithm| {
        let mut trial = Trial { parameters: batch(32), ..Trial::of(data.clone(), Loss::Logistic, algorithm) };
        trial.problem.lambda = 3e-2;
        trial.stop = StopRules { error: Some(1e-3), rounds: Some(5000), ..StopRules::default() };
        let run = trial.run(&simulated()).unwrap().run;
        assert_eq!(run.stop, Stop::Error, "{algorithm}: {:e}", run.certified_error);
        run.effort.iterations
    };
    let (asked, summed) = (rounds("async-sgd"), rounds("minibatch-sgd"));
    assert!(asked < 4 * summed, "{asked} batches through servers, {summed} by sums");
}

/// Each worker sums up the changes of all duals for itself. Had it missed one, its weights would not be those of the duals,
/// and the gap between both would not close.
#[test]
fn workers_that_wait_for_nobody_miss_no_change_of_a_dual() {
    for workers in [2, 4] {
        for loss in [Loss::Logistic, Loss::Squared] {
            let mut trial = trial("passcode", loss, workers);
            trial.stop = StopRules { error: Some(1e-9), rounds: Some(5_000), ..StopRules::default() };
            let run = trial.run(&Threads).unwrap().run;
            assert_eq!(run.stop, Stop::Error, "{loss}, {workers} workers: {:e}", run.certified_error);
        }
    }
}

#[test]
fn no_noise_is_left_of_corrected_steps() {
    for workers in [1, 4] {
        reaches(trial("svrg", Loss::Logistic, workers), 1e-9);
    }
}

#[test]
fn momentum_pays_where_the_penalty_is_small() {
    let rounds = |algorithm| {
        let data = Recipe { rows: 400, columns: 30, ..Recipe::default() };
        let mut trial = Trial { workers: 4, ..Trial::of(data.cook(), Loss::Logistic, algorithm) };
        trial.problem.lambda = 1e-6;
        trial.stop = StopRules { error: Some(1e-3), rounds: Some(20_000), ..StopRules::default() };
        trial.run(&simulated()).unwrap().run.rounds
    };
    let (plain, accelerated) = (rounds("dadm"), rounds("acc-dadm"));
    assert!(2 * accelerated < plain, "{accelerated} rounds with momentum, {plain} without");
}

#[test]
fn steps_that_are_too_long_become_shorter() {
    for engine in [&Threads as &dyn hemingway_train::Engine, &simulated()] {
        let mut trial = trial("svrg", Loss::Logistic, 3);
        trial.parameters.step_size = Some(1e9);
        trial.stop = StopRules { error: Some(1e-6), rounds: Some(1000), ..StopRules::default() };
        assert_eq!(trial.run(engine).unwrap().run.stop, Stop::Error);
    }
}

#[test]
fn batches_without_a_row_for_each_worker_are_refused() {
    for algorithm in ["dadm", "acc-dadm"] {
        let few = Trial { parameters: batch(6), ..trial(algorithm, Loss::Logistic, 7) };
        let refused = few.run(&simulated());
        assert!(
            matches!(refused, Err(Error::Parameter { parameter: "--batch", value: 6.0, .. })),
            "{algorithm}"
        );
        let all = Trial { parameters: batch(1_000_000), ..trial(algorithm, Loss::Logistic, 7) };
        assert_eq!(all.run(&simulated()).unwrap().run.rounds, 8, "{algorithm}");
    }
}

#[test]
fn models_of_other_algorithms_are_gone_on_from() {
    for algorithm in ["dadm", "acc-dadm", "svrg", "newton-cg"] {
        for workers in [1, 3] {
            let mut first = trial("cocoa", Loss::Logistic, 2);
            first.stop = StopRules { error: Some(1e-4), rounds: Some(2000), ..StopRules::default() };
            let model = first.run(&simulated()).unwrap().run.model;
            let warm = Trial { workers, ..trial(algorithm, Loss::Logistic, workers) };
            let warm = warm.run_from(Start::Model(&model), &simulated()).unwrap();
            let current = objective(&first.data, first.problem, &model.weights);
            // The first round neither undoes what was reached nor starts anew.
            let optimum = optimum(&first.data, first.problem).upper;
            let error = (warm.points[0].current - optimum) / optimum;
            assert!(error <= 1e-3, "{algorithm} on {workers}: {error:e} after {:e}", current / optimum - 1.0);
        }
    }
}

#[test]
fn the_bias_that_all_rows_share_does_not_crowd_workers_out() {
    let data = Recipe { rows: 300, columns: 60, sparse: true, ..Recipe::default() }.cook();
    let mut trial = Trial { workers: 16, ..Trial::of(data, Loss::Logistic, "passcode") };
    (trial.problem.bias, trial.problem.lambda) = (true, 1e-4);
    trial.stop = StopRules { rounds: Some(40), ..StopRules::default() };
    let run = trial.run(&simulated()).unwrap().run;
    assert!(run.primal < 0.4, "an objective of {}, where zero weights have 0.69", run.primal);
}
