//! Finite numbers of any size: every algorithm on every loss ends in an outcome, with a certificate that holds.

mod trial;

use hemingway_data::Dataset;
use hemingway_train::{LOSSES, Loss, Run, Scoring, Stop, StopRules, catalogue};
use trial::{Recipe, Trial, dataset, objective, rows_of, simulated, within_seconds};

/// How values of ordinary data become extreme ones.
type Change = fn(row: usize, column: usize, value: f64) -> f64;

/// The largest 32-bit number is 3.4e38, the smallest positive one 1.4e-45.
const EXTREMES: [(&str, Change); 11] = [
    ("all values about 1e-45", |_, _, value| if value > 0.0 { 1.4e-45 } else { -1.4e-45 }),
    ("all values about 1e-30", |_, _, value| 1e-30 * value),
    ("all values about 1e10", |_, _, value| 1e10 * value),
    ("all values about 1e18", |_, _, value| 1e18 * value),
    ("all values about 1e20", |_, _, value| 1e20 * value),
    ("all values about 1e30", |_, _, value| 1e30 * value),
    ("all values 3e38", |_, _, value| if value > 0.0 { 3e38 } else { -3e38 }),
    ("columns from 1e-45 to 3e38", |_, column, value| [1e-45, 1e-20, 1.0, 1e20, 3e37][column % 5] * value),
    ("rows from 1e-45 to 3e38", |row, _, value| [1.0, 1e-45, 1e-20, 1e20, 3e37][row % 5] * value),
    ("one value of 1e5", |row, column, value| if (row, column) == (7, 2) { 1e5 } else { value }),
    ("one value of 3e38", |row, column, value| if (row, column) == (7, 2) { 3e38 } else { value }),
];

fn extreme(change: Change, sparse: bool, targets: Option<f64>) -> Dataset {
    let plain =
        Recipe { rows: 40, columns: 6, sparse, numbers: targets.is_some(), ..Recipe::default() }.cook();
    let rows = rows_of(&plain);
    let changed = rows.iter().enumerate().map(|(row, values)| {
        let number = |(column, value): (usize, &f64)| match *value {
            0.0 => 0.0,
            value => change(row, column, value).clamp(f32::MIN.into(), f32::MAX.into()) as f32,
        };
        values.iter().enumerate().map(number).collect()
    });
    let changed: Vec<Vec<f32>> = changed.collect();
    let size = targets.unwrap_or(1.0);
    let targets = plain.targets.iter().map(|target| (size * f64::from(*target)).clamp(-3e38, 3e38) as f32);
    let targets = targets.collect();
    dataset(sparse, 6, &changed, targets)
}

/// Runs, and checks that what it says of itself is so.
fn outcome(about: &str, trial: Trial) -> Run {
    let (again, about) = (trial.clone(), about.to_owned());
    let named = about.clone();
    let outcome =
        within_seconds(120, move || trial.run(&simulated()).unwrap_or_else(|e| panic!("{named}: {e}")));
    let run = outcome.run;
    for point in &outcome.points {
        assert!(point.primal.is_finite() && point.dual.is_finite(), "{about}: {point:?}");
        assert!(!point.certified_error.is_nan(), "{about}: {point:?}");
        assert!(!point.current.is_nan() || run.stop == Stop::Diverged, "{about}: {point:?}");
    }
    assert!(run.primal.is_finite() && run.dual.is_finite() && run.certified_error >= 0.0, "{about}: {run:?}");
    assert!(run.model.weights.iter().all(|weight| weight.is_finite()), "{about}: {:?}", run.model.weights);
    let by_the_book = objective(&again.data, again.problem, &run.model.weights);
    let at_zero = objective(&again.data, again.problem, &vec![0.0; run.model.weights.len()]);
    let off = (run.primal - by_the_book).abs();
    assert!(
        off <= 1e-6 * by_the_book + 1e-12 * at_zero,
        "{about}: P is {by_the_book:e}, not {:e}",
        run.primal
    );
    assert!(run.primal <= at_zero * (1.0 + 1e-12), "{about}: worse than the empty model");
    run
}

/// All algorithms on one problem: no lower bound that one proved is above what another reached.
fn check(about: &str, data: &Dataset, loss: Loss, lambda: f64, bias: bool) {
    let (mut lowest, mut highest) = ((f64::INFINITY, String::new()), (0.0, String::new()));
    for entry in catalogue() {
        for workers in [1, 3] {
            let stop = StopRules { error: Some(1e-3), rounds: Some(60), ..StopRules::default() };
            let scoring = Scoring::Every(if workers == 1 { 1 } else { 7 });
            let mut trial = Trial { workers, stop, scoring, ..Trial::of(data.clone(), loss, entry.name) };
            (trial.problem.lambda, trial.problem.bias) = (lambda, bias);
            let who =
                format!("{} on {loss}, λ = {lambda:e}, bias {bias}, {workers} workers, {about}", entry.name);
            let run = outcome(&who, trial);
            if run.primal < lowest.0 {
                lowest = (run.primal, who.clone());
            }
            if run.dual > highest.0 {
                highest = (run.dual, who);
            }
        }
    }
    assert!(highest.0 <= lowest.0 * (1.0 + 1e-9), "bound {highest:?} above objective {lowest:?}");
}

#[test]
fn values_of_any_size_end_in_an_outcome() {
    for (about, change) in EXTREMES {
        for loss in LOSSES {
            for sparse in [false, true] {
                let about = format!("{about}, {}", if sparse { "sparse" } else { "dense" });
                check(&about, &extreme(change, sparse, None), loss, 1e-2, sparse);
            }
        }
    }
}

#[test]
fn targets_of_any_size_end_in_an_outcome() {
    let plain: Change = |_, _, value| value;
    for size in [1e-45, 1e-30, 1e20, 3e37] {
        for (values, change) in [("ordinary values", plain), EXTREMES[4], EXTREMES[6], EXTREMES[8]] {
            let about = format!("targets about {size:e}, {values}");
            check(&about, &extreme(change, false, Some(size)), Loss::Squared, 1e-2, true);
            check(&about, &extreme(change, false, Some(size)), Loss::Squared, 1e-2, false);
        }
    }
}

#[test]
fn penalties_of_any_size_end_in_an_outcome() {
    let plain: Change = |_, _, value| value;
    for lambda in [f64::MIN_POSITIVE, 1e-300, 1e-100, 1e-30, 1e30, 1e100, 1e300, f64::MAX] {
        for loss in LOSSES {
            for (values, change) in [("ordinary values", plain), EXTREMES[0], EXTREMES[6]] {
                check(values, &extreme(change, false, None), loss, lambda, false);
            }
        }
    }
}

/// The extreme of this name.
fn named(name: &str) -> Change {
    EXTREMES.iter().find(|(about, _)| *about == name).expect("one of the table").1
}

fn solves(algorithm: &'static str, loss: Loss, extreme_name: &str, rounds: u64) {
    for workers in [1, 3] {
        let stop = StopRules { error: Some(1e-3), rounds: Some(rounds), ..StopRules::default() };
        let data = extreme(named(extreme_name), false, None);
        let about = format!("{algorithm} on {loss}, {workers} workers, {extreme_name}");
        let run = outcome(&about, Trial { workers, stop, ..Trial::of(data, loss, algorithm) });
        assert_eq!(run.stop, Stop::Error, "{about}: {} after {} rounds", run.certified_error, run.rounds);
    }
}

#[test]
fn one_large_value_is_no_reason_to_give_up() {
    for loss in LOSSES {
        solves("newton", loss, "one value of 1e5", 20);
    }
    for loss in [Loss::SmoothedHinge, Loss::Logistic, Loss::Squared] {
        solves("l-bfgs", loss, "one value of 1e5", 40);
    }
    solves("newton", Loss::SmoothedHinge, "one value of 3e38", 20);
    solves("cocoa", Loss::Logistic, "one value of 3e38", 100);
    solves("cocoa", Loss::Hinge, "one value of 3e38", 200);
}

#[test]
fn large_values_are_solved_by_methods_that_know_curvature() {
    for loss in [Loss::SmoothedHinge, Loss::Logistic, Loss::Squared] {
        solves("newton", loss, "all values about 1e10", 20);
    }
    // Nothing is proved of values beyond about 1e15: the weights of a dual point are rounding. The objective is as low.
    for (algorithm, name) in [("newton", "all values about 1e20"), ("l-bfgs", "all values about 1e30")] {
        for loss in [Loss::SmoothedHinge, Loss::Logistic, Loss::Squared] {
            let reached = |name: &str, rounds: u64| {
                let stop = StopRules { rounds: Some(rounds), ..StopRules::default() };
                let data = extreme(named(name), false, None);
                outcome(name, Trial { stop, ..Trial::of(data, loss, algorithm) }).primal
            };
            let (here, there) = (reached(name, 60), reached("all values about 1e10", 60));
            assert!(here <= there * (1.0 + 1e-4), "{algorithm} on {loss}, {name}: {here}, not {there}");
        }
    }
}
