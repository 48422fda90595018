//! Rows that have weights: one that counts three times is as good as three rows, and one that counts 0 times as none.

mod reference;
mod trial;

use hemingway_data::Dataset;
use hemingway_train::{
    DataProfile, Engine, Error, LOSSES, Loss, Problem, Scoring, StopRules, Threads, catalogue,
};
use reference::{Optimum, optimum};
use trial::{Recipe, Trial, objective, offered, rows_of, simulated};

/// How often each row counts, from 0 to 3 times.
fn counts(rows: usize) -> Vec<usize> {
    (0..rows).map(|row| (row * 7 + row / 5) % 4).collect()
}

fn weighted(data: &Dataset) -> Dataset {
    let weights = counts(data.matrix.rows()).into_iter().map(|count| count as f32);
    data.clone().with_weights(weights.collect()).expect("usable weights")
}

/// As many copies of each row as it counts times.
fn repeated(data: &Dataset) -> Dataset {
    let counts = counts(data.matrix.rows());
    let rows: Vec<usize> = (0..counts.len()).flat_map(|row| vec![row; counts[row]]).collect();
    data.rows_at(&rows)
}

/// (1/n) Σ c φ + (λ/2)‖w‖² is N/n times (1/N) Σ φ + (λn/N/2)‖w‖² over the N copies.
fn optimum_of_copies(data: &Dataset, problem: Problem) -> Optimum {
    let copies = repeated(data);
    let ratio = copies.matrix.rows() as f64 / data.matrix.rows() as f64;
    let Optimum { lower, upper } = optimum(&copies, Problem { lambda: problem.lambda / ratio, ..problem });
    Optimum { lower: ratio * lower, upper: ratio * upper }
}

fn plain(loss: Loss) -> Dataset {
    let numbers = loss == Loss::Squared;
    Recipe { rows: 240, columns: 7, sparse: loss == Loss::Hinge, numbers, ..Recipe::default() }.cook()
}

/// What rounds come to where some rows count more than others: noise of steps on single rows takes longest to die down.
fn goal(name: &str, loss: Loss, workers: usize) -> f64 {
    match name {
        "one-shot-sgd" if workers > 1 => 5e-2,
        "gradient-descent" | "svrg" | "l-bfgs" | "newton-cg" if loss == Loss::Hinge => 5e-2,
        _ => 1e-3,
    }
}

#[test]
fn all_algorithms_reach_the_optimum_of_as_many_copies() {
    for loss in LOSSES {
        let data = plain(loss);
        for bias in [false, true] {
            let problem = Problem { bias, ..Problem::new(loss, 1e-2).unwrap() };
            let best = optimum_of_copies(&data, problem);
            assert!(best.upper - best.lower <= 1e-7 * best.upper, "{loss}: {best:?}");
            for engine in [&simulated() as &dyn Engine, &Threads] {
                for entry in offered(engine) {
                    for workers in [1, 3] {
                        let error = goal(entry.name, loss, workers);
                        let stop =
                            StopRules { error: Some(error), rounds: Some(20_000), ..StopRules::default() };
                        let trial = Trial {
                            problem,
                            workers,
                            stop,
                            scoring: Scoring::default(),
                            ..Trial::of(weighted(&data), loss, entry.name)
                        };
                        let run = trial.run(engine).unwrap().run;
                        let reached = objective(&trial.data, problem, &run.model.weights);
                        let about = format!(
                            "{} on {loss}, bias {bias}, {workers} workers, {}: {reached} after {} rounds, best is {}, \
                             certified {:e}",
                            entry.name,
                            engine.name(),
                            run.rounds,
                            best.upper,
                            run.certified_error
                        );
                        assert!(reached <= best.upper * (1.0 + error), "{about}");
                        assert!(reached >= best.lower * (1.0 - 1e-9), "{about}");
                        assert!(run.dual <= best.upper * (1.0 + 1e-12), "{about}: a bound of {}", run.dual);
                    }
                }
            }
        }
    }
}

#[test]
fn primal_and_dual_methods_agree_to_the_seventh_digit() {
    for loss in LOSSES {
        let data = plain(loss);
        let problem = Problem::new(loss, 1e-2).unwrap();
        let best = optimum_of_copies(&data, problem);
        for algorithm in ["cocoa", "cocoa-plus", "dadm", "acc-dadm", "passcode", "newton", "l-bfgs"] {
            if loss == Loss::Hinge && algorithm == "l-bfgs" {
                continue; // it has no guarantee there
            }
            let stop = StopRules { error: Some(1e-7), rounds: Some(50_000), ..StopRules::default() };
            let trial = Trial {
                problem,
                workers: 2,
                stop,
                scoring: Scoring::default(),
                ..Trial::of(weighted(&data), loss, algorithm)
            };
            let run = trial.run(&simulated()).unwrap().run;
            let about = format!("{algorithm} on {loss}: {} to {}, best is {best:?}", run.dual, run.primal);
            assert!(run.certified_error <= 1e-7, "{about}");
            assert!(
                run.primal >= best.lower * (1.0 - 1e-9) && run.dual <= best.upper * (1.0 + 1e-9),
                "{about}"
            );
        }
    }
}

#[test]
fn rows_that_count_no_times_are_not_there() {
    let data = weighted(&plain(Loss::Logistic));
    let mut other = data.clone();
    for (row, weight) in data.weights.iter().flatten().enumerate() {
        if *weight == 0.0 {
            other.targets[row] = -other.targets[row];
        }
    }
    for entry in catalogue() {
        let weights = |data: &Dataset| {
            let trial = Trial { workers: 2, ..Trial::of(data.clone(), Loss::Logistic, entry.name) };
            trial.run(&simulated()).unwrap().run.model.weights
        };
        assert_eq!(weights(&data), weights(&other), "{}", entry.name);
    }
}

#[test]
fn the_profile_sees_weights() {
    let data = Recipe { rows: 100, columns: 5, ..Recipe::default() }.cook();
    let (plain, twice) = (data.clone(), data.with_weights(vec![2.0; 100]).unwrap());
    let [plain, twice] = [plain, twice].map(|data| DataProfile::of(&data));
    assert!((twice.mean_squared_norm / plain.mean_squared_norm - 2.0).abs() < 1e-12);
    assert!((twice.largest_eigenvalue() / plain.largest_eigenvalue() - 2.0).abs() < 1e-9);
    assert_eq!((plain.rows, plain.nonzeros), (twice.rows, twice.nonzeros));
}

#[test]
fn weights_of_one_change_nothing_but_the_last_bits() {
    for loss in LOSSES {
        let data = plain(loss);
        let ones = data.clone().with_weights(vec![1.0; data.matrix.rows()]).unwrap();
        for entry in catalogue() {
            let primal = |data: &Dataset| {
                let trial = Trial { workers: 2, ..Trial::of(data.clone(), loss, entry.name) };
                trial.run(&simulated()).unwrap().run.primal
            };
            let (plain, ones) = (primal(&data), primal(&ones));
            assert!((plain / ones - 1.0).abs() < 1e-6, "{} on {loss}: {plain}, {ones}", entry.name);
        }
    }
}

#[test]
fn weights_of_nothing_but_zero_are_refused() {
    let mut data = Recipe::default().cook();
    data.weights = Some(vec![0.0; data.matrix.rows()]);
    for engine in [&simulated() as &dyn Engine, &Threads] {
        for workers in [1, 3] {
            let trial = Trial { workers, ..Trial::of(data.clone(), Loss::Hinge, "cocoa") };
            assert!(matches!(trial.run(engine), Err(Error::NoWeight)), "{workers} workers");
        }
    }
}

/// Ridge regression with weights: (XᵀCX/n + λ) w = XᵀCy/n.
#[test]
fn the_squared_loss_ends_at_the_weighted_normal_equations() {
    let data = Recipe { rows: 80, columns: 5, numbers: true, weighted: true, ..Recipe::default() }.cook();
    let (rows, n, lambda) = (rows_of(&data), 80.0, 1e-2);
    let mut matrix = vec![vec![0.0; 5]; 5];
    let mut right = vec![0.0; 5];
    for (at, row) in rows.iter().enumerate() {
        let count = f64::from(data.weight(at)) / n;
        for i in 0..5 {
            right[i] += count * row[i] * f64::from(data.targets[at]);
            (0..5).for_each(|j| matrix[i][j] += count * row[i] * row[j]);
        }
    }
    (0..5).for_each(|i| matrix[i][i] += lambda);
    let exact = reference::cholesky_solve(matrix, &right);
    for algorithm in ["cocoa", "cocoa-plus", "gradient-descent", "l-bfgs", "newton", "newton-cg", "svrg"] {
        let mut trial = Trial::of(data.clone(), Loss::Squared, algorithm);
        (trial.problem.lambda, trial.workers, trial.scoring) = (lambda, 3, Scoring::default());
        trial.stop = StopRules { error: Some(1e-12), rounds: Some(20_000), ..StopRules::default() };
        let weights = trial.run(&simulated()).unwrap().run.model.weights;
        for (weight, exact) in weights.iter().zip(&exact) {
            assert!((weight - exact).abs() < 1e-4, "{algorithm}: {weights:?} for {exact:?}");
        }
    }
}
