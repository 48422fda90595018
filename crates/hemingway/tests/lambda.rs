//! Choosing λ through the library: every model against one that is trained by hand, and what the run knows of the choice.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use hemingway::data::{Dataset, LoadOptions, load};
use hemingway::{
    Changes, DataRequest, Error, LambdaError, LambdaGrid, LambdaReport, LambdaRequest, Loss, ModelFile,
    Place, Progress, Select, StopRules, Store, TrainReport, TrainRequest, Watch, resume,
    train_choosing_lambda,
};
use hemingway_train::{Engine, HeldOut, Job, Parameters, Problem, Threads};

const SPEC: &str = "synthetic:text,rows=400,features=200";

fn request() -> TrainRequest {
    TrainRequest { data: DataRequest { spec: SPEC.into(), ..Default::default() }, ..Default::default() }
}

fn of(lambdas: &[f64]) -> LambdaRequest {
    LambdaRequest { grid: LambdaGrid::List(lambdas.to_vec()), ..Default::default() }
}

fn run(request: TrainRequest, how: &LambdaRequest, place: &Place) -> Result<TrainReport, Error> {
    let interrupt = AtomicBool::new(false);
    train_choosing_lambda(request, how, place, &mut Watch { interrupt: &interrupt, observe: &mut |_| {} })
}

/// In a place that is gone afterwards.
fn report(request: TrainRequest, how: &LambdaRequest) -> Result<LambdaReport, Error> {
    let folder = tempfile::tempdir().unwrap();
    let report = run(request, how, &Place::at(folder.path().join("store.sqlite")))?;
    Ok(report.lambda_choice.unwrap())
}

/// A model of these rows, from zero and much closer to the best one.
fn by_hand(data: &Dataset, problem: Problem) -> Vec<f64> {
    let algorithm = hemingway_train::algorithm("newton", &Parameters::default()).unwrap();
    let job = Job {
        problem,
        algorithm: algorithm.as_ref(),
        workers: 1,
        seed: 0,
        stop: StopRules { error: Some(1e-8), ..Default::default() },
        scoring: Default::default(),
        start: Default::default(),
        checkpoint_every: None,
        interrupt: None,
        hand_over: None,
    };
    Threads.run(data, &job, &mut |_| Ok(())).unwrap().model.weights
}

/// Folds of every fifth row, as a file.
fn every_fifth(folder: &tempfile::TempDir, rows: usize) -> PathBuf {
    let file = folder.path().join("folds");
    let lines: String = (0..rows).map(|row| format!("fold{}\n", row % 5)).collect();
    std::fs::write(&file, lines).unwrap();
    file
}

#[test]
fn every_score_is_that_of_a_model_trained_on_the_other_folds() {
    let folder = tempfile::tempdir().unwrap();
    let lambdas = [1e-1, 1e-2, 1e-3, 1e-4];
    let data = load(SPEC, &LoadOptions::default()).unwrap();
    for bias in [false, true] {
        let how = LambdaRequest { fold_file: Some(every_fifth(&folder, 400)), error: 1e-6, ..of(&lambdas) };
        let report = report(TrainRequest { bias, ..request() }, &how).unwrap();
        for (lambda, point) in lambdas.into_iter().zip(&report.points) {
            assert!(point.certified_error <= 1e-6, "{point:?}");
            let problem = Problem::new(Loss::Logistic, lambda).unwrap();
            let problem = if bias { problem.with_bias() } else { problem };
            for (number, fold) in point.folds.iter().enumerate() {
                let [held, rest]: [Vec<usize>; 2] =
                    [true, false].map(|held| (0..400).filter(|row| (row % 5 == number) == held).collect());
                let weights = by_hand(&data.rows_at(&rest), problem);
                let held = HeldOut::of(&data.rows_at(&held), &(0..80), problem, &weights);
                let difference = fold.loss - held.loss.mean;
                assert!(difference.abs() < 2e-3, "λ = {lambda:e}, fold {number}: {difference:e}");
                let accuracy = fold.accuracy.unwrap() - held.accuracy.unwrap().mean;
                assert!(accuracy.abs() <= 2.0 / 80.0, "λ = {lambda:e}, fold {number}: {accuracy}");
            }
        }
        let losses: Vec<f64> = report.points.iter().map(|point| point.loss.mean).collect();
        let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let at = losses.iter().position(|loss| *loss == best).unwrap();
        assert_eq!(report.choice.lambda, lambdas[at]);
    }
}

#[test]
fn the_run_on_all_rows_has_the_lambda_and_can_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::at(folder.path().join("store.sqlite"));
    let report = run(request(), &of(&[1e-1, 1e-2, 1e-3]), &place).unwrap();
    let chosen = report.lambda_choice.clone().unwrap();
    assert_eq!(report.lambda, chosen.choice.lambda);
    assert!(report.certified_error.unwrap() <= 1e-3);
    assert_eq!(chosen.choice.folds, Some(5));

    let model = ModelFile::read(&report.model).unwrap();
    assert_eq!((model.lambda, model.lambda_choice), (chosen.choice.lambda, Some(chosen.choice.clone())));

    let stored = Store::open_existing(&place).unwrap().run(&report.run).unwrap();
    assert_eq!(stored.request.lambda, chosen.choice.lambda);
    let changes =
        Changes { stop: StopRules { error: Some(1e-6), ..Default::default() }, ..Default::default() };
    let interrupt = AtomicBool::new(false);
    let mut watch = Watch { interrupt: &interrupt, observe: &mut |_| {} };
    let further = resume(&report.run, &changes, &place, &mut watch).unwrap();
    assert!(further.certified_error.unwrap() <= 1e-6);
    assert_eq!(further.lambda_choice, Some(chosen));
}

#[test]
fn validation_data_takes_the_place_of_folds() {
    let validation = "synthetic:text,rows=300,features=200,seed=5";
    let how = LambdaRequest { validation: Some(validation.into()), error: 1e-6, ..of(&[1e-1, 1e-3]) };
    let report = report(request(), &how).unwrap();
    assert_eq!((report.choice.folds, report.choice.validation.as_deref()), (None, Some(validation)));
    let [train, held] = [SPEC, validation].map(|spec| load(spec, &LoadOptions::default()).unwrap());
    for point in &report.points {
        let problem = Problem::new(Loss::Logistic, point.lambda).unwrap();
        let expected = HeldOut::of(&held, &(0..300), problem, &by_hand(&train, problem)).loss;
        assert!((point.loss.mean - expected.mean).abs() < 2e-3, "{point:?}");
        assert!((point.loss.standard_error / expected.standard_error - 1.0).abs() < 0.05, "{point:?}");
    }
}

#[test]
fn the_same_folds_from_the_same_seed() {
    let seeded = |seed: u64| {
        let request = TrainRequest { seed, algorithm: Some("newton".into()), ..request() };
        let report = report(request, &LambdaRequest { folds: 3, ..of(&[1e-1, 1e-3]) }).unwrap();
        report.points.into_iter().map(|point| point.loss).collect::<Vec<_>>()
    };
    assert_eq!(seeded(1), seeded(1));
    assert_ne!(seeded(1), seeded(2));
}

#[test]
fn regression_and_accuracy_have_their_own_scores() {
    let regression = TrainRequest { loss: Loss::Squared, ..request() };
    let chosen = report(regression.clone(), &of(&[1e-1, 1e-3])).unwrap();
    assert_eq!(chosen.choice.score, "rmse");
    assert!(chosen.points.iter().all(|point| point.rmse.is_some() && point.accuracy.is_none()));
    let hinge = TrainRequest { loss: Loss::Hinge, ..request() };
    let by_accuracy = LambdaRequest { select: Select::Accuracy, ..of(&[1e-1, 1e-3]) };
    assert_eq!(report(hinge, &by_accuracy).unwrap().choice.score, "accuracy");
    let refused = report(regression, &by_accuracy).unwrap_err();
    assert!(matches!(refused, Error::Lambda(LambdaError::NoClasses)), "{refused}");
}

#[test]
fn an_interrupted_choice_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::at(folder.path().join("store.sqlite"));
    let interrupt = AtomicBool::new(false);
    let observe = &mut |progress: Progress| {
        if matches!(progress, Progress::LambdaModels { .. }) {
            interrupt.store(true, Ordering::Relaxed);
        }
    };
    let how = of(&[1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5]);
    let result =
        train_choosing_lambda(request(), &how, &place, &mut Watch { interrupt: &interrupt, observe });
    assert!(matches!(result, Err(Error::Lambda(LambdaError::Interrupted))));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn other_engines_and_too_little_memory_are_refused() {
    let simulated = TrainRequest { engine: Some("simulated".into()), ..request() };
    let refused = report(simulated, &of(&[1.0, 0.1])).unwrap_err();
    assert!(matches!(refused, Error::Lambda(LambdaError::Engine { .. })), "{refused}");
    let data = load(SPEC, &LoadOptions::default()).unwrap();
    let bytes = 2 * hemingway_train::data_bytes(&data);
    let refused =
        report(TrainRequest { memory_limit: Some(bytes), ..request() }, &of(&[1.0, 0.1])).unwrap_err();
    assert!(refused.to_string().contains("in the order of the folds"), "{refused}");
}
