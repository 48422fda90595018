//! What every algorithm of the catalogue promises, on every engine in this process that can run it and on any number of
//! workers. A new line in the catalogue is tested here without a line in this file.

mod reference;
mod trial;

use hemingway_data::{Dataset, LoadOptions, load};
use hemingway_train::{
    DataProfile, Engine, Entry, Error, Loss, Parameters, Scoring, Share, Start, Stop, StopRules, Threads,
    catalogue,
};
use reference::optimum;
use trial::{Outcome, Recipe, Trial, in_step, objective, offered, simulated};

const WORKERS: [usize; 5] = [1, 2, 3, 7, 16];

fn data() -> Dataset {
    Recipe { rows: 400, columns: 9, sparse: true, empty: 0.02, ..Recipe::default() }.cook()
}

fn trial(entry: &Entry, loss: Loss, workers: usize) -> Trial {
    Trial { workers, ..Trial::of(data(), loss, entry.name) }
}

/// The error that rounds come to. A floor that no number of rounds gets below is the higher, the fewer rows each worker has.
fn goal(entry: &Entry, trial: &Trial) -> f64 {
    let share = Share::new(&DataProfile::of(&trial.data), &trial.problem, trial.workers, 1.0);
    if entry.about.floor.lasting(&share) > 0.0 { 1e-2 * trial.workers as f64 } else { 1e-3 }
}

#[test]
fn the_optimum_or_a_named_floor_is_reached() {
    for engine in [&simulated() as &dyn Engine, &Threads] {
        for entry in offered(engine) {
            for workers in WORKERS {
                let trial = trial(entry, Loss::Logistic, workers);
                let error = goal(entry, &trial);
                let stop = StopRules { error: Some(error), rounds: Some(20_000), ..StopRules::default() };
                let trial = Trial { stop, scoring: Scoring::default(), ..trial };
                let run = trial.run(engine).unwrap().run;
                let about = format!("{} on {workers}, {}", entry.name, engine.name());
                assert_eq!(run.stop, Stop::Error, "{about}: {:e}", run.certified_error);
                let best = optimum(&trial.data, trial.problem);
                let reached = objective(&trial.data, trial.problem, &run.model.weights);
                assert!(reached <= best.upper * (1.0 + error), "{about}: {reached}");
                assert!(reached >= best.lower * (1.0 - 1e-9), "{about}: {reached}");
            }
        }
    }
}

/// Everything about a run, bit for bit.
fn numbers(outcome: &Outcome) -> Vec<u64> {
    let trace = outcome
        .points
        .iter()
        .flat_map(|point| [point.current, point.primal, point.dual, point.certified_error, point.seconds.0]);
    trace.chain(outcome.run.model.weights.iter().copied()).map(f64::to_bits).collect()
}

#[test]
fn seeds_repeat_where_time_is_virtual() {
    for entry in catalogue() {
        for workers in WORKERS {
            for (loss, bias) in [(Loss::Logistic, true), (Loss::Hinge, false), (Loss::Squared, false)] {
                let mut trial = trial(entry, loss, workers);
                trial.problem.bias = bias;
                let (first, second) = (trial.run(&simulated()).unwrap(), trial.run(&simulated()).unwrap());
                assert_eq!(numbers(&first), numbers(&second), "{} on {loss}, {workers} workers", entry.name);
            }
        }
    }
}

#[test]
fn more_workers_than_rows_are_refused() {
    let few = Recipe { rows: 12, ..Recipe::default() }.cook();
    for engine in [&simulated() as &dyn Engine, &Threads] {
        for entry in offered(engine) {
            let with = |workers| Trial { workers, ..Trial::of(few.clone(), Loss::Logistic, entry.name) };
            let about = format!("{} on {}", entry.name, engine.name());
            assert!(with(12).run(engine).unwrap().run.certified_error.is_finite(), "{about}");
            for workers in [13, 1000] {
                let refused = with(workers).run(engine);
                assert!(matches!(refused, Err(Error::TooManyWorkers { rows: 12, .. })), "{about}");
            }
        }
    }
}

#[test]
fn models_of_other_algorithms_are_gone_on_from() {
    for from in ["l-bfgs", "cocoa"] {
        let stop = StopRules { error: Some(1e-4), rounds: Some(2000), ..StopRules::default() };
        let good = Trial { stop, workers: 2, ..Trial::of(data(), Loss::Logistic, from) };
        let model = good.run(&simulated()).unwrap().run.model;
        let best = optimum(&good.data, good.problem).upper;
        for engine in [&simulated() as &dyn Engine, &Threads] {
            for entry in offered(engine) {
                // Weights alone say little to a dual method; when one hands over to it, it gets duals.
                if entry.with_defaults().starts_from_duals() && model.duals.is_none() {
                    continue;
                }
                // A search begins at zero, and noise of long steps would undo what was reached.
                let step_size = entry.parameters.contains(&"step_size").then_some(1e-4);
                for workers in WORKERS {
                    let parameters = Parameters { step_size, ..Parameters::default() };
                    let warm = Trial { parameters, ..trial(entry, Loss::Logistic, workers) };
                    let warm = warm.run_from(Start::Model(&model), engine).unwrap();
                    let error = warm.points[0].current / best - 1.0;
                    let about = format!("{} on {workers} after {from}, {}", entry.name, engine.name());
                    assert!(error <= 2e-3, "{about}: {error:e}");
                }
            }
        }
    }
}

/// Squares of dense rows pull on all weights at once: steps that are many steps late have to be shorter.
#[test]
fn a_search_finds_steps_that_late_gradients_bear() {
    for rows in [700, 3000] {
        let data = Recipe { rows, columns: 12, ..Recipe::default() }.cook();
        for entry in catalogue().iter().filter(|entry| entry.parameters.contains(&"step_size")) {
            for workers in [1, 4, 16, 64] {
                let stop = StopRules { rounds: Some(40), ..StopRules::default() };
                let trial = Trial { workers, stop, ..Trial::of(data.clone(), Loss::Squared, entry.name) };
                let run = trial.run(&simulated()).unwrap().run;
                let about = format!("{} on {workers}, {rows} rows", entry.name);
                assert!(run.stop != Stop::Diverged, "{about}: {run:?}");
            }
        }
    }
}

/// A single step from zero does best with a size that does not last. With one step in each trial all errors were above 0.8.
#[test]
fn a_search_finds_steps_that_last_where_a_batch_is_the_whole_sample() {
    let data = load("synthetic:separable,rows=240,features=12", &LoadOptions::default()).unwrap();
    let takes = |entry: &Entry, name| entry.parameters.contains(&name);
    for entry in in_step().filter(|entry| takes(entry, "batch") && takes(entry, "step_size")) {
        let stop = StopRules { rounds: Some(100), ..StopRules::default() };
        let parameters = Parameters { batch: Some(600), ..Parameters::default() };
        let of = Trial::of(data.clone(), Loss::Logistic, entry.name);
        let mut trial = Trial { workers: 4, seed: 0, stop, parameters, ..of };
        trial.problem.lambda = 1e-4;
        let run = trial.run(&simulated()).unwrap().run;
        let about = format!("{}: {:?} leads to {:e}", entry.name, run.step_size, run.certified_error);
        assert!(run.certified_error < 0.4, "{about}");
    }
}
