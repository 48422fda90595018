//! The certificate never claims too much, and it does come down.

mod reference;
mod trial;

use hemingway_data::Dataset;
use hemingway_train::{Error, Loss, Problem, Stop, StopRules, Threads, catalogue};
use proptest::prelude::*;
use reference::{Optimum, cholesky_solve, optimum};
use trial::{Outcome, Recipe, Trial, dataset, objective, rows_of, simulated};

/// A random problem and how it is run.
#[derive(Debug, Clone)]
struct Case {
    recipe: Recipe,
    lambda: f64,
    bias: bool,
    workers: usize,
    rounds: u64,
    seed: u64,
}

fn recipes(numbers: BoxedStrategy<bool>) -> impl Strategy<Value = Recipe> {
    let share = || prop_oneof![Just(0.0), 0.0..0.3f64];
    let shape = (20usize..=150, 2usize..=12, any::<bool>(), any::<bool>(), any::<u64>());
    (shape, share(), share(), share(), -1.0..1.0f64, numbers).prop_map(
        |((rows, columns, sparse, weighted, seed), noise, empty, repeated, scale, numbers)| Recipe {
            rows,
            columns,
            sparse,
            noise,
            numbers,
            scale: 10f64.powf(scale),
            empty,
            repeated,
            weighted,
            seed,
        },
    )
}

fn cases(numbers: impl Strategy<Value = bool> + 'static) -> impl Strategy<Value = Case> {
    let rest = (-6.0..-1.0f64, any::<bool>(), 1usize..=16, 1u64..=40, any::<u64>());
    (recipes(numbers.boxed()), rest).prop_map(|(recipe, (lambda, bias, workers, rounds, seed))| Case {
        recipe,
        lambda: 10f64.powf(lambda),
        bias,
        workers,
        rounds,
        seed,
    })
}

impl Case {
    /// Every algorithm on this problem, each checked against the optimum.
    fn check(&self, loss: Loss) -> Result<(), TestCaseError> {
        let data = self.recipe.cook();
        let problem = Problem { loss, lambda: self.lambda, bias: self.bias };
        let optimum = optimum(&data, problem);
        let sharp = optimum.upper - optimum.lower <= 1e-7 * optimum.upper;
        prop_assert!(sharp, "the reference is not good enough to test anything: {optimum:?}");
        for entry in catalogue() {
            let outcome = self.run(&data, problem, entry.name);
            check_claims(&data, problem, optimum, &outcome)
                .map_err(|error| TestCaseError::fail(format!("{}: {error}", entry.name)))?;
        }
        Ok(())
    }

    fn run(&self, data: &Dataset, problem: Problem, algorithm: &'static str) -> Outcome {
        let stop = StopRules { rounds: Some(self.rounds), ..StopRules::default() };
        let trial = Trial {
            problem,
            workers: self.workers,
            seed: self.seed,
            stop,
            ..Trial::of(data.clone(), problem.loss, algorithm)
        };
        trial.run(&simulated()).unwrap_or_else(|error| panic!("{algorithm}: {error}"))
    }
}

/// Rounding of sums of a hundred terms, relative to the objective.
const ROUNDING: f64 = 1e-13;

fn check_claims(
    data: &Dataset,
    problem: Problem,
    optimum: Optimum,
    outcome: &Outcome,
) -> Result<(), TestCaseError> {
    let run = &outcome.run;
    let primal = objective(data, problem, &run.model.weights);
    let at_zero = objective(data, problem, &vec![0.0; run.model.weights.len()]);
    prop_assert!(
        (run.primal - primal).abs() <= 1e-9 * primal,
        "the reported objective {} is not that of the weights, {primal}",
        run.primal
    );
    prop_assert_eq!(run.relative_to_start, run.dual <= 0.0);
    prop_assert!(
        run.dual <= optimum.upper * (1.0 + ROUNDING),
        "the lower bound {} is above P* = {}",
        run.dual,
        optimum.upper
    );
    let scale = if run.relative_to_start { at_zero } else { optimum.upper };
    // `upper` is not below P*, so this is at most the true error.
    let error = (primal - optimum.upper) / scale;
    prop_assert!(run.certified_error >= error, "certified {}, true {error}", run.certified_error);
    check_trace(outcome)
}

fn check_trace(outcome: &Outcome) -> Result<(), TestCaseError> {
    for pair in outcome.points.windows(2) {
        prop_assert!(
            pair[1].primal <= pair[0].primal,
            "P rose from {} to {}",
            pair[0].primal,
            pair[1].primal
        );
        prop_assert!(
            pair[1].dual >= pair[0].dual,
            "the bound fell from {} to {}",
            pair[0].dual,
            pair[1].dual
        );
        prop_assert!(pair[1].round > pair[0].round);
    }
    let last = outcome.points.last().expect("the last round is scored");
    let run = &outcome.run;
    prop_assert_eq!((last.primal, last.dual), (run.primal, run.dual));
    prop_assert_eq!((last.certified_error, last.round), (run.certified_error, run.rounds));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hinge_claims_hold(case in cases(Just(false))) {
        case.check(Loss::Hinge)?;
    }

    #[test]
    fn smoothed_hinge_claims_hold(case in cases(Just(false))) {
        case.check(Loss::SmoothedHinge)?;
    }

    #[test]
    fn logistic_claims_hold(case in cases(Just(false))) {
        case.check(Loss::Logistic)?;
    }

    #[test]
    fn squared_claims_hold(case in cases(any::<bool>())) {
        case.check(Loss::Squared)?;
    }
}

#[test]
fn one_class_with_a_bias_claims_nothing_relative_to_zero() {
    // The bias alone brings P as near to 0 as one likes, so no positive lower bound exists.
    let mut data = Recipe { rows: 30, ..Recipe::default() }.cook();
    data.targets.fill(1.0);
    for loss in [Loss::Hinge, Loss::SmoothedHinge, Loss::Logistic] {
        for entry in catalogue() {
            let mut trial = Trial::of(data.clone(), loss, entry.name);
            trial.problem.bias = true;
            let run = trial.run(&simulated()).unwrap().run;
            assert!(run.dual <= 0.0 && run.relative_to_start, "{} on {loss}: dual {}", entry.name, run.dual);
        }
    }
}

/// Runs CoCoA to a certified 1e-6 and checks that it gets there and is right.
fn reaches_a_millionth(recipe: Recipe, loss: Loss, lambda: f64, bias: bool) {
    let data = recipe.cook();
    let problem = Problem { loss, lambda, bias };
    for workers in [1, 4] {
        let mut trial = Trial::of(data.clone(), loss, "cocoa");
        (trial.problem, trial.workers) = (problem, workers);
        trial.scoring = hemingway_train::Scoring::default();
        trial.stop = StopRules { error: Some(1e-6), rounds: Some(60_000), ..StopRules::default() };
        let run = trial.run(&simulated()).unwrap().run;
        let (rounds, error) = (run.rounds, run.certified_error);
        assert_eq!(run.stop, Stop::Error, "{loss} on {workers}, {rounds} rounds, {error:e} certified");
        assert!(error <= 1e-6);
        let optimum = optimum(&data, problem);
        let true_error = (objective(&data, problem, &run.model.weights) - optimum.lower) / optimum.lower;
        assert!(true_error <= 1e-6 + 1e-7, "{workers} workers: {true_error:e}");
    }
}

#[test]
fn a_millionth_is_reached_on_dense_rows() {
    let recipe = Recipe { rows: 300, columns: 10, ..Recipe::default() };
    reaches_a_millionth(recipe, Loss::Logistic, 1e-3, false);
    reaches_a_millionth(recipe, Loss::Hinge, 1e-2, false);
}

#[test]
fn a_millionth_is_reached_on_sparse_rows_with_gaps_and_repeats() {
    let recipe =
        Recipe { rows: 300, columns: 30, sparse: true, empty: 0.1, repeated: 0.1, ..Recipe::default() };
    reaches_a_millionth(recipe, Loss::Logistic, 1e-3, false);
    reaches_a_millionth(recipe, Loss::Hinge, 1e-2, false);
}

#[test]
fn a_millionth_is_reached_with_a_bias() {
    let recipe = Recipe { rows: 200, columns: 6, ..Recipe::default() };
    reaches_a_millionth(recipe, Loss::Logistic, 1e-2, true);
    reaches_a_millionth(recipe, Loss::Hinge, 1e-2, true);
}

#[test]
fn a_millionth_is_reached_on_two_thousand_rows() {
    let recipe = Recipe { rows: 2000, columns: 50, ..Recipe::default() };
    reaches_a_millionth(recipe, Loss::Logistic, 1e-4, false);
    reaches_a_millionth(recipe, Loss::Hinge, 1e-2, false);
}

#[test]
fn squared_loss_ends_at_the_solution_of_the_normal_equations() -> Result<(), Error> {
    let data = Recipe { rows: 80, columns: 5, numbers: true, ..Recipe::default() }.cook();
    let lambda = 1e-2;
    let (rows, n) = (rows_of(&data), 80.0);
    let mut matrix = vec![vec![0.0; 5]; 5];
    let mut right = vec![0.0; 5];
    for (row, y) in rows.iter().zip(&data.targets) {
        for i in 0..5 {
            right[i] += row[i] * f64::from(*y) / n;
            (0..5).for_each(|j| matrix[i][j] += row[i] * row[j] / n);
        }
    }
    (0..5).for_each(|i| matrix[i][i] += lambda);
    let exact = cholesky_solve(matrix, &right);
    for algorithm in ["cocoa", "cocoa-plus", "gradient-descent", "l-bfgs"] {
        let mut trial = Trial::of(data.clone(), Loss::Squared, algorithm);
        trial.workers = 3;
        trial.stop = StopRules { error: Some(1e-11), rounds: Some(20_000), ..StopRules::default() };
        let run = trial.run(&simulated())?.run;
        assert_eq!(run.stop, Stop::Error, "{algorithm}: {:e}", run.certified_error);
        let distance = run.model.weights.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance <= 1e-5, "{algorithm} is {distance:e} away");
    }
    Ok(())
}

#[test]
fn a_hinge_problem_solved_by_hand() -> Result<(), Error> {
    // Rows 1 and 2 with labels +1, row 1 with label -1, λ = ½. For 0 ≤ w ≤ ½ the mean loss is
    // ((1 - w) + (1 - 2w) + (1 + w))/3 = 1 - 2w/3; at w = ½ the row 2 leaves and the loss is flat from then on,
    // so P(w) = 1 - 2w/3 + w²/4 up to ½, where it falls still, and rises after: w* = ½, P* = 2/3 + 1/16.
    let data = dataset(false, 1, &[vec![1.0], vec![2.0], vec![1.0]], vec![1.0, 1.0, -1.0]);
    for algorithm in ["cocoa", "cocoa-plus"] {
        for workers in 1..=3 {
            let mut trial = Trial::of(data.clone(), Loss::Hinge, algorithm);
            trial.problem.lambda = 0.5;
            trial.workers = workers;
            trial.stop = StopRules { error: Some(1e-6), rounds: Some(5000), ..StopRules::default() };
            let run = trial.run(&Threads)?.run;
            let (rounds, error) = (run.rounds, run.certified_error);
            assert_eq!(run.stop, Stop::Error, "{algorithm} on {workers}: {error:e} after {rounds} rounds");
            assert!((run.model.weights[0] - 0.5).abs() <= 1e-5, "w = {}", run.model.weights[0]);
            let primal = 2.0 / 3.0 + 1.0 / 16.0;
            assert!((run.primal - primal).abs() <= 1e-6, "P = {}", run.primal);
            assert!(run.dual <= primal * (1.0 + ROUNDING), "D = {}", run.dual);
        }
    }
    Ok(())
}
