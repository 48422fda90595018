//! Stochastic methods in rounds: those whose workers know neighbours only, those that average seldom, and the step sizes of
//! all.

mod reference;
mod trial;

use hemingway_data::Dataset;
use hemingway_train::{
    Engine, Entry, Error, Family, Job, Loss, Model, Parameters, Scoring, Seconds, Start, StopRules, Threads,
    Topology, algorithm, catalogue,
};
use reference::optimum;
use trial::{Outcome, Recipe, Trial, objective, simulated};

const METHODS: [&str; 5] = ["d-psgd", "dcd-psgd", "ecd-psgd", "one-shot-sgd", "splash"];
const NEIGHBOURLY: [&str; 3] = ["d-psgd", "dcd-psgd", "ecd-psgd"];
const WORKERS: [usize; 5] = [1, 2, 3, 7, 16];

fn data() -> Dataset {
    Recipe { rows: 400, columns: 9, sparse: true, empty: 0.02, ..Recipe::default() }.cook()
}

fn trial(algorithm: &'static str, loss: Loss, workers: usize) -> Trial {
    Trial { workers, ..Trial::of(data(), loss, algorithm) }
}

fn with_bits(bits: usize, trial: Trial) -> Trial {
    Trial { parameters: Parameters { bits: Some(bits), ..trial.parameters.clone() }, ..trial }
}

/// Everything about a run but its clocks, bit for bit.
fn numbers(outcome: &Outcome) -> Vec<u64> {
    let trace = outcome.points.iter().flat_map(|point| [point.current, point.primal, point.dual]);
    trace.chain(outcome.run.model.weights.iter().copied()).map(f64::to_bits).collect()
}

#[test]
fn they_come_to_the_optimum() {
    for (method, error) in METHODS.map(|method| (method, if method == "one-shot-sgd" { 3e-2 } else { 1e-3 }))
    {
        for loss in [Loss::Logistic, Loss::SmoothedHinge] {
            for engine in [&simulated() as &dyn Engine, &Threads] {
                let stop = StopRules { error: Some(error), rounds: Some(20_000), ..StopRules::default() };
                let trial = Trial { stop, scoring: Scoring::default(), ..trial(method, loss, 4) };
                let run = trial.run(engine).unwrap().run;
                let what = format!("{method} on {loss}, {}: {}", engine.name(), run.certified_error);
                assert!(run.certified_error <= error, "{what}");
                let (best, reached) = (
                    optimum(&trial.data, trial.problem).upper,
                    objective(&trial.data, trial.problem, &run.model.weights),
                );
                assert!(reached <= best * (1.0 + error) && reached >= best * (1.0 - 1e-9), "{what}");
            }
        }
    }
}

#[test]
fn one_shot_has_a_floor_that_rounds_do_not_lower() {
    let reached = |rounds| {
        let stop = StopRules { rounds: Some(rounds), ..StopRules::default() };
        let trial = Trial { stop, scoring: Scoring::Every(50), ..trial("one-shot-sgd", Loss::Logistic, 16) };
        let best = optimum(&trial.data, trial.problem).upper;
        let points = trial.run(&simulated()).unwrap().points;
        points.last().unwrap().current / best - 1.0
    };
    let (early, late) = (reached(200), reached(1000));
    assert!(late > 1e-3 && late > early / 2.0, "{early:e}, then {late:e}");
}

#[test]
fn threads_and_simulation_agree_to_the_bit_and_seeds_repeat() {
    for workers in WORKERS {
        for method in METHODS {
            for (loss, bias) in [(Loss::Logistic, false), (Loss::Hinge, true)] {
                let mut trial = trial(method, loss, workers);
                trial.problem.bias = bias;
                let what = format!("{method} on {loss}, {workers} workers");
                let first = trial.run(&simulated()).unwrap();
                assert_eq!(numbers(&first), numbers(&trial.run(&Threads).unwrap()), "{what}");
                let again = trial.run(&simulated()).unwrap();
                assert_eq!(first.run.seconds, again.run.seconds, "{what}");
                assert_eq!(numbers(&first), numbers(&again), "{what}");
                let other = Trial { seed: trial.seed + 1, ..trial }.run(&simulated()).unwrap();
                assert_ne!(numbers(&first), numbers(&other), "{what}");
            }
        }
        for method in ["dcd-psgd", "ecd-psgd"] {
            let trial = with_bits(4, trial(method, Loss::Logistic, workers));
            let (simulated, threads) = (trial.run(&simulated()).unwrap(), trial.run(&Threads).unwrap());
            assert_eq!(numbers(&simulated), numbers(&threads), "{method} with 4 bits, {workers} workers");
        }
    }
}

#[test]
fn more_workers_than_rows_are_refused() {
    for method in METHODS {
        let few = Recipe { rows: 12, ..Recipe::default() }.cook();
        let with = |workers| Trial { workers, ..Trial::of(few.clone(), Loss::Logistic, method) };
        assert!(with(12).run(&simulated()).unwrap().run.certified_error.is_finite(), "{method}");
        let refused = with(13).run(&simulated());
        assert!(matches!(refused, Err(Error::TooManyWorkers { workers: 13, rows: 12 })), "{method}");
    }
}

#[test]
fn a_run_goes_on_as_if_it_had_not_stopped() {
    let saved = METHODS.map(|method| trial(method, Loss::Logistic, 3));
    let rounded = ["dcd-psgd", "ecd-psgd"].map(|method| with_bits(4, trial(method, Loss::Hinge, 3)));
    for trial in saved.into_iter().chain(rounded) {
        for engine in [&simulated() as &dyn Engine, &Threads] {
            let saving = Trial { checkpoint_every: Some(Seconds(0.0)), ..trial.clone() };
            let whole = saving.run(engine).unwrap();
            for checkpoint in &whole.checkpoints[..6] {
                let resumed =
                    Trial { resume: Some(checkpoint.clone()), ..trial.clone() }.run(engine).unwrap();
                let what = format!("{} from round {}", trial.algorithm, checkpoint.round);
                assert_eq!(resumed.run.model, whole.run.model, "{what}");
                assert_eq!(resumed.run.primal, whole.run.primal, "{what}");
                assert_eq!(resumed.run.step_size, whole.run.step_size, "{what}");
            }
        }
    }
}

#[test]
fn scoring_changes_nothing() {
    for method in METHODS {
        let stop = StopRules { rounds: Some(21), ..StopRules::default() };
        let often = Trial { stop, ..trial(method, Loss::Logistic, 3) };
        let seldom = Trial { scoring: Scoring::Every(7), ..often.clone() };
        let (often, seldom) = (often.run(&simulated()).unwrap(), seldom.run(&simulated()).unwrap());
        assert_eq!(often.run.seconds, seldom.run.seconds, "{method}");
        let last = |outcome: &Outcome| outcome.points.last().map(|point| (point.round, point.current));
        assert_eq!(last(&often), last(&seldom), "{method}");
    }
}

#[test]
fn they_go_on_from_a_model() {
    let data = data();
    for method in METHODS {
        for workers in [1, 4] {
            let of = trial(method, Loss::Logistic, workers);
            let good = Trial {
                stop: StopRules { error: Some(1e-4), ..StopRules::default() },
                ..Trial::of(data.clone(), Loss::Logistic, "l-bfgs")
            };
            let good = good.run(&simulated()).unwrap().run;
            let model = Model { weights: good.model.weights, duals: None };
            let parameters = Parameters { step_size: Some(1e-4), ..Parameters::default() };
            let algorithm = algorithm(method, &parameters).unwrap();
            let job = Job {
                problem: of.problem,
                algorithm: algorithm.as_ref(),
                workers,
                seed: 1,
                stop: StopRules { rounds: Some(1), ..StopRules::default() },
                scoring: Scoring::Every(1),
                start: Start::Model(&model),
                checkpoint_every: None,
                interrupt: None,
                hand_over: None,
            };
            let run = simulated().run(&data, &job, &mut |_| Ok(())).unwrap();
            assert!(run.primal <= good.primal * 1.001, "{method}: {} after {}", run.primal, good.primal);
            assert_eq!(run.step_size, Some(1e-4), "{method}");
        }
    }
}

#[test]
fn methods_with_different_names_make_different_curves() {
    let currents = |method| -> Vec<f64> {
        let outcome = trial(method, Loss::Logistic, 4).run(&simulated()).unwrap();
        outcome.points.iter().map(|point| point.current).collect()
    };
    let curves = ["local-sgd", "splash", "one-shot-sgd", "minibatch-sgd", "d-psgd"].map(currents);
    for (at, curve) in curves.iter().enumerate() {
        for other in &curves[..at] {
            let apart = curve.iter().zip(other).any(|(a, b)| (a / b - 1.0).abs() > 1e-3);
            assert!(apart, "{curve:?} and {other:?}");
        }
    }
}

/// Bytes that a worker sends in so many rounds, beyond what it does in none.
fn bytes(trial: &Trial, rounds: u64) -> f64 {
    let sent = |rounds| {
        let stop = StopRules { rounds: Some(rounds), ..StopRules::default() };
        Trial { stop, ..trial.clone() }.run(&simulated()).unwrap().run.effort.bytes_per_worker
    };
    sent(1 + rounds) - sent(1)
}

#[test]
fn workers_tell_their_neighbours_and_nobody_else() {
    for method in NEIGHBOURLY {
        for (topology, workers, neighbours) in [
            (Topology::Ring, 2, 1.0),
            (Topology::Ring, 7, 2.0),
            (Topology::Torus, 9, 4.0),
            (Topology::Complete, 5, 4.0),
        ] {
            let parameters = Parameters { topology: Some(topology), ..Parameters::default() };
            let trial = Trial { parameters, ..trial(method, Loss::Logistic, workers) };
            assert_eq!(bytes(&trial, 5), 5.0 * neighbours * 8.0 * 9.0, "{method} on {workers} workers");
        }
    }
    assert_eq!(bytes(&trial("one-shot-sgd", Loss::Logistic, 4), 5), 0.0);
}

#[test]
fn bytes_fall_by_what_bits_promise() {
    let wide = Recipe { rows: 40, columns: 4096, sparse: true, ..Recipe::default() }.cook();
    for method in ["dcd-psgd", "ecd-psgd"] {
        let trial = Trial { workers: 3, ..Trial::of(wide.clone(), Loss::Logistic, method) };
        let exact = bytes(&trial, 3);
        for (bits, promised) in [(2, 64.0 / 2.5), (4, 64.0 / 4.5), (8, 64.0 / 8.5)] {
            assert_eq!(exact / bytes(&with_bits(bits, trial.clone()), 3), promised, "{method}, {bits} bits");
        }
    }
}

#[test]
fn with_three_levels_differences_converge_and_extrapolations_do_not() {
    let reached = |method, bits| {
        let stop = StopRules { rounds: Some(6000), ..StopRules::default() };
        let parameters = Parameters { batch: Some(64), bits, ..Parameters::default() };
        let scoring = Scoring::Every(500);
        let trial = Trial { stop, parameters, scoring, ..trial(method, Loss::Logistic, 4) };
        let best = optimum(&trial.data, trial.problem).upper;
        trial.run(&simulated()).unwrap().points.last().unwrap().current / best - 1.0
    };
    let (differences, extrapolations) = (reached("dcd-psgd", Some(2)), reached("ecd-psgd", Some(2)));
    assert!(differences < 5e-3, "dcd-psgd with 3 levels is at {differences:e}");
    assert!(extrapolations > 5e-2, "ecd-psgd with 3 levels is at {extrapolations:e}");
    assert!(reached("ecd-psgd", Some(16)) < 5e-3 && reached("ecd-psgd", None) < 5e-3);
}

#[test]
fn a_mixing_matrix_travels_with_the_parameters() {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), "2/3 1/3 0\n1/3 1/3 1/3\n0 1/3 2/3\n").unwrap();
    let name = path.path().to_str().unwrap();
    let parameters = Parameters { topology: Some(Topology::read(name).unwrap()), ..Parameters::default() };
    let written = serde_json::to_string(&parameters).unwrap();
    assert!(!written.contains(name), "{written}");
    drop(path);
    let parameters: Parameters = serde_json::from_str(&written).unwrap();
    for method in NEIGHBOURLY {
        let trial = Trial { parameters: parameters.clone(), ..trial(method, Loss::Logistic, 3) };
        assert!(trial.run(&simulated()).unwrap().run.primal < 2f64.ln(), "{method}");
        let refused = Trial { workers: 4, ..trial }.run(&simulated());
        assert!(matches!(refused, Err(Error::TopologySize { rows: 3, workers: 4 })), "{method}");
    }
    assert!(matches!(Topology::read("no-such-file"), Err(Error::Topology { .. })));
    let ring = Parameters { topology: Some(Topology::Ring), ..Parameters::default() };
    assert_eq!(serde_json::to_string(&ring).unwrap(), r#"{"topology":"ring"}"#);
}

#[test]
fn what_a_method_does_not_take_is_refused() {
    let refused = |method, parameters| algorithm(method, &parameters).unwrap_err().to_string();
    let bits = |bits| Parameters { bits: Some(bits), ..Parameters::default() };
    let or_use = "leave it out, or use --algorithm dcd-psgd or ecd-psgd";
    assert_eq!(refused("d-psgd", bits(8)), format!("d-psgd has no --bits; {or_use}"));
    assert_eq!(refused("dcd-psgd", bits(1)), "--bits = 1 is out of range: from 2 to 32");
    let ring = Parameters { topology: Some(Topology::Ring), ..Parameters::default() };
    let or_use = "leave it out, or use --algorithm d-psgd, dcd-psgd or ecd-psgd";
    assert_eq!(refused("local-sgd", ring), format!("local-sgd has no --topology; {or_use}"));
    let small = Parameters { batch: Some(3), ..Parameters::default() };
    let trial = Trial { parameters: small, ..trial("d-psgd", Loss::Logistic, 4) };
    assert!(matches!(trial.run(&simulated()), Err(Error::Parameter { parameter: "--batch", .. })));
}

#[test]
fn every_method_with_a_step_size_tells_it_and_spends_alike_on_it() {
    let data = Recipe { rows: 6000, columns: 9, ..Recipe::default() }.cook();
    let stochastic = |entry: &&&Entry| matches!(entry.family, Family::Stochastic | Family::Decentralised);
    for entry in catalogue().iter().filter(stochastic) {
        let run = |step_size| {
            let parameters = Parameters { step_size, ..Parameters::default() };
            let stop = StopRules { rounds: Some(1), ..StopRules::default() };
            let trial =
                Trial { workers: 3, stop, parameters, ..Trial::of(data.clone(), Loss::Logistic, entry.name) };
            trial.run(&simulated()).unwrap().run
        };
        let (found, given) = (run(None), run(Some(0.01)));
        assert_eq!(given.step_size, Some(0.01), "{}", entry.name);
        let size = found.step_size.unwrap();
        assert!(size > 0.0 && size.is_finite(), "{}: {size}", entry.name);
        assert!(found.set_up > given.set_up, "{}", entry.name);
        let written = serde_json::to_value(&found).unwrap();
        assert_eq!(written["step_size"], size, "{}", entry.name);
        let mut defaults = entry.parameters.iter().zip(entry.about.defaults);
        if !defaults.any(|(name, default)| (*name, *default) == ("step_size", "searched for")) {
            continue;
        }
        // Seven trials over a sample of 1000 rows on each worker, or as many whole steps as that makes.
        let epochs = found.effort.epochs - given.effort.epochs;
        assert!((3.2..=3.6).contains(&epochs), "{}: {epochs} epochs", entry.name);
    }
    let steps = ["local-sgd", "minibatch-sgd"].map(|name| {
        Trial { workers: 3, ..Trial::of(data.clone(), Loss::Logistic, name) }
            .run(&simulated())
            .unwrap()
            .run
            .step_size
    });
    assert!(steps[1] > steps[0], "the mean of many rows allows longer steps: {steps:?}");
}
