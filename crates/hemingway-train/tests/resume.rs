//! A run that was stopped and resumed ends where it would have ended.

mod trial;

use hemingway_data::Dataset;
use hemingway_train::{
    Checkpoint, Engine, Error, Loss, Point, Scoring, Seconds, Stop, StopRules, Threads, catalogue,
};
use proptest::prelude::*;
use trial::{Recipe, Trial, in_step, objective, simulated};

const ROUNDS: u64 = 12;

fn trial(algorithm: &'static str, loss: Loss, bias: bool, workers: usize) -> Trial {
    let recipe = Recipe { rows: 90, columns: 9, sparse: true, empty: 0.05, ..Recipe::default() };
    let mut trial = Trial::of(recipe.cook(), loss, algorithm);
    (trial.problem.bias, trial.workers) = (bias, workers);
    trial.stop = StopRules { rounds: Some(ROUNDS), ..StopRules::default() };
    trial
}

/// Every checkpoint that a run leaves behind, through bytes.
fn checkpoints(trial: &Trial, engine: &dyn Engine) -> Vec<Checkpoint> {
    let saving = Trial { checkpoint_every: Some(Seconds(0.0)), ..trial.clone() };
    let through_bytes = |checkpoint: Checkpoint| {
        let read = Checkpoint::from_bytes(&checkpoint.to_bytes()).unwrap();
        assert_eq!(read, checkpoint);
        read
    };
    saving.run(engine).unwrap().checkpoints.into_iter().map(through_bytes).collect()
}

/// The checkpoint after this round, of a run that is scored and saved after each.
fn checkpoint_at(trial: &Trial, round: u64) -> Checkpoint {
    let mut checkpoints = checkpoints(trial, &simulated()).into_iter();
    checkpoints.find(|checkpoint| checkpoint.round == round).expect("there is one after every round")
}

/// Resumes from the first, the middle and the last checkpoint before the end.
fn check_resume(trial: &Trial, engine: &dyn Engine) {
    let whole = trial.run(engine).unwrap();
    let mut checkpoints = checkpoints(trial, engine);
    checkpoints.retain(|checkpoint| checkpoint.round < whole.run.rounds);
    let last = checkpoints.len().checked_sub(1).expect("there is a checkpoint before the end");
    for at in [0, last / 2, last] {
        let checkpoint = checkpoints[at].clone();
        let round = checkpoint.round;
        let resumed = Trial { resume: Some(checkpoint), ..trial.clone() }.run(engine).unwrap();
        let about = format!(
            "{} on {}, bias {}, {} workers, {}, {:?}, from round {round}",
            trial.algorithm,
            trial.problem.loss,
            trial.problem.bias,
            trial.workers,
            engine.name(),
            trial.scoring
        );
        let later = |points: &[Point]| -> Vec<u64> {
            points.iter().map(|point| point.round).filter(|scored| *scored > round).collect()
        };
        assert_eq!(later(&resumed.points), later(&whole.points), "{about}");
        let bits = |weights: &[f64]| weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&resumed.run.model.weights), bits(&whole.run.model.weights), "{about}");
        assert_eq!(resumed.run.model.duals, whole.run.model.duals, "{about}");
        assert_eq!((resumed.run.rounds, resumed.run.stop), (whole.run.rounds, whole.run.stop), "{about}");
        assert_eq!((resumed.run.primal, resumed.run.dual), (whole.run.primal, whole.run.dual), "{about}");
    }
}

#[test]
fn simulated_runs_resume_to_the_bit() {
    for entry in in_step() {
        for loss in [Loss::Hinge, Loss::Logistic] {
            for bias in [false, true] {
                check_resume(&trial(entry.name, loss, bias, 3), &simulated());
            }
        }
        check_resume(&trial(entry.name, Loss::Squared, false, 1), &simulated());
    }
}

#[test]
fn threaded_runs_resume_to_the_bit() {
    for entry in in_step() {
        for loss in [Loss::Hinge, Loss::Logistic] {
            check_resume(&trial(entry.name, loss, false, 2), &Threads);
        }
    }
}

#[test]
fn runs_that_decide_themselves_when_to_score_resume_to_the_bit() {
    for entry in in_step() {
        for loss in [Loss::Hinge, Loss::Logistic] {
            let mut trial = trial(entry.name, loss, false, 2);
            trial.data = Recipe { rows: 600, columns: 40, ..Recipe::default() }.cook();
            trial.scoring = Scoring::Share(0.3);
            trial.stop = StopRules { error: Some(1e-7), rounds: Some(60), ..StopRules::default() };
            check_resume(&trial, &simulated());
        }
    }
}

/// What was on its way when a run of theirs ended is not in its checkpoint, so they do not go on to the bit.
#[test]
fn methods_that_wait_for_nobody_go_on_as_well() {
    for entry in catalogue().iter().filter(|entry| in_step().all(|other| other.name != entry.name)) {
        let whole = trial(entry.name, Loss::Logistic, false, 3);
        let points = whole.run(&simulated()).unwrap().points;
        // What was lost is less than a round.
        let error = points[points.len() - 2].certified_error;
        let from = checkpoint_at(&whole, ROUNDS / 2);
        let resumed = Trial { resume: Some(from), ..whole }.run(&simulated()).unwrap();
        assert_eq!((resumed.run.rounds, resumed.points[0].round), (ROUNDS, ROUNDS / 2 + 1), "{}", entry.name);
        let again = resumed.run.certified_error;
        assert!(again < 2.0 * error, "{}: {again:e} instead of {error:e}", entry.name);
        let effort = resumed.run.effort;
        assert!(effort.epochs > 0.9 * ROUNDS as f64, "{}: {effort:?}", entry.name);
    }
}

#[test]
fn a_finished_run_can_be_carried_on() {
    for entry in in_step() {
        let short = trial(entry.name, Loss::Hinge, false, 2);
        let last = checkpoints(&short, &simulated()).pop().expect("there is one at the end");
        assert_eq!(last.round, ROUNDS, "{}", entry.name);
        let stop = StopRules { rounds: Some(2 * ROUNDS), ..StopRules::default() };
        let long = Trial { stop, ..short };
        let whole = long.run(&simulated()).unwrap().run;
        let carried_on = Trial { resume: Some(last), ..long }.run(&simulated()).unwrap().run;
        assert_eq!((carried_on.model, carried_on.rounds), (whole.model, whole.rounds), "{}", entry.name);
    }
}

#[test]
fn a_resumed_simulation_keeps_its_clock() {
    // A resumed run may set itself up again, which costs about a round; it never goes back in time.
    for entry in catalogue() {
        let trial = trial(entry.name, Loss::Logistic, false, 3);
        let whole = trial.run(&simulated()).unwrap();
        let checkpoint = checkpoint_at(&trial, 5);
        assert_eq!(checkpoint.seconds, whole.points[4].seconds, "{}", entry.name);
        let resumed = Trial { resume: Some(checkpoint), ..trial }.run(&simulated()).unwrap();
        assert!(resumed.points[0].seconds > whole.points[4].seconds, "{}", entry.name);
    }
}

#[test]
fn other_numbers_of_workers_keep_the_model_and_the_proof() {
    for (entry, loss) in catalogue().iter().flat_map(|entry| [(entry, Loss::Logistic), (entry, Loss::Hinge)])
    {
        let trial = trial(entry.name, loss, false, 3);
        let whole = trial.run(&simulated()).unwrap();
        let checkpoint = checkpoint_at(&trial, 5);
        for workers in [1, 2, 5] {
            let resume = Some(checkpoint.clone());
            let resumed = Trial { workers, resume, ..trial.clone() }.run(&simulated()).unwrap();
            let what = format!("{} on {workers} workers, {loss}", entry.name);
            assert!(resumed.run.rounds == ROUNDS || resumed.run.stop == Stop::NoProgress, "{what}");
            let (before, first) = (&whole.points[4], &resumed.points[0]);
            assert!(
                first.primal <= before.primal && first.dual >= before.dual,
                "{what}: {before:?} {first:?}"
            );
            let truth = objective(&trial.data, trial.problem, &resumed.run.model.weights);
            assert!((truth - resumed.run.primal).abs() <= 1e-9 * truth, "{what}: {truth}");
        }
    }
}

fn refused(trial: &Trial) -> String {
    match trial.run(&simulated()) {
        Err(error @ (Error::Checkpoint(_) | Error::OtherData(_))) => error.to_string(),
        other => panic!("not refused as a checkpoint: {:?}", other.map(|outcome| outcome.run.stop)),
    }
}

#[test]
fn checkpoints_of_other_jobs_are_refused() {
    let other_rows = Recipe { rows: 91, columns: 9, sparse: true, ..Recipe::default() }.cook();
    let other_columns = Recipe { rows: 90, columns: 10, sparse: true, ..Recipe::default() }.cook();
    for entry in catalogue() {
        let trial = trial(entry.name, Loss::Hinge, false, 3);
        let resume = Some(checkpoint_at(&trial, 5));
        let resumed = Trial { resume, ..trial };
        refused(&Trial { data: other_rows.clone(), ..resumed.clone() });
        refused(&Trial { data: other_columns.clone(), ..resumed.clone() });
        let mut biased = resumed.clone();
        biased.problem.bias = true;
        refused(&biased);
    }
}

#[test]
fn a_proof_holds_for_no_other_data_of_the_same_size() {
    for entry in catalogue() {
        let trial = trial(entry.name, Loss::Hinge, false, 3);
        let resumed = Trial { resume: Some(checkpoint_at(&trial, 5)), ..trial };
        let Dataset { name, matrix, targets, labels, .. } = resumed.data.clone();
        let mut swapped = targets.clone();
        let other = targets.iter().position(|target| *target != targets[0]).unwrap();
        swapped.swap(0, other);
        let data = Dataset::new(name, matrix, swapped, labels);
        // As many workers go on with their own state, others begin anew from the proof.
        for workers in [3, 2] {
            let reason = refused(&Trial { workers, data: data.clone(), ..resumed.clone() });
            let expected = "this checkpoint was made on other data: labels or weights differ, feature values are the same";
            assert_eq!(reason, expected, "{} on {workers} workers", entry.name);
        }
    }
}

#[test]
fn checkpoints_of_another_kind_of_algorithm_are_refused() {
    let checkpoint = |algorithm| Some(checkpoint_at(&trial(algorithm, Loss::Hinge, false, 3), 5));
    for (from, to) in [
        ("cocoa", "gradient-descent"),
        ("cocoa", "local-sgd"),
        ("gradient-descent", "cocoa"),
        ("gradient-descent", "l-bfgs"),
        ("l-bfgs", "gradient-descent"),
        ("local-sgd", "cocoa-plus"),
        ("minibatch-sgd", "gradient-descent"),
    ] {
        let other = Trial { resume: checkpoint(from), ..trial(to, Loss::Hinge, false, 3) };
        let run = other.run(&simulated());
        assert!(matches!(run, Err(Error::Checkpoint(_))), "{from} as {to}");
    }
}

#[test]
fn cut_bytes_are_refused() {
    let bytes = checkpoint_at(&trial("cocoa", Loss::Hinge, true, 2), 5).to_bytes();
    for length in 0..bytes.len() {
        let read = Checkpoint::from_bytes(&bytes[..length]);
        assert!(matches!(read, Err(Error::Checkpoint(_))), "{length} of {} bytes", bytes.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_bytes_are_refused(which in 0usize..6, at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let trial = trial(catalogue()[which].name, Loss::Hinge, true, 2);
        let mut bytes = checkpoint_at(&trial, 5).to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(matches!(Checkpoint::from_bytes(&bytes), Err(Error::Checkpoint(_))), "byte {at}");
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(matches!(Checkpoint::from_bytes(&bytes), Err(Error::Checkpoint(_))));
    }
}
