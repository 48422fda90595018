//! Training through the library: what the caller sees, how it ends early, and what is left when the store fails.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use hemingway::{
    Changes, DataRequest, Error, ModelFile, Place, Progress, Scoring, Seconds, Status, Stop, StopRules,
    Store, TrainReport, TrainRequest, Watch, predict, resume, train,
};

fn request(error: f64) -> TrainRequest {
    TrainRequest {
        data: DataRequest { spec: "synthetic:text,rows=500,features=100".into(), ..Default::default() },
        stop: StopRules { error: Some(error), ..Default::default() },
        scoring: Some(Scoring::Every(1)),
        checkpoint_every: Seconds(1e-9),
        ..Default::default()
    }
}

/// Trains with an observer that may also interrupt.
fn watched(
    place: &Place,
    request: TrainRequest,
    mut observe: impl FnMut(Progress, &AtomicBool),
) -> Result<TrainReport, Error> {
    let interrupt = AtomicBool::new(false);
    train(
        request,
        place,
        &mut Watch { interrupt: &interrupt, observe: &mut |progress| observe(progress, &interrupt) },
    )
}

fn in_folder(folder: &tempfile::TempDir) -> Place {
    Place::at(folder.path().join("store.sqlite"))
}

#[test]
fn everything_is_seen_in_order_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let mut seen = Vec::new();
    let report = watched(&place, request(1e-3), |progress, _| {
        seen.push(match progress {
            Progress::Loading(spec) => spec.to_owned(),
            Progress::Planned(explanation) => explanation.asked.error.unwrap_or(0.0).to_string(),
            Progress::Started(run) => run.id.clone(),
            Progress::Closable(_) => return,
            Progress::Switched(switched) => switched.reason.clone(),
            Progress::Noticed(note) => note.to_owned(),
            Progress::Point(point) => point.round.to_string(),
            Progress::Restarting { reason, .. } => reason.to_string(),
        });
    })
    .unwrap();
    let began = ["synthetic:text,rows=500,features=100".to_owned(), "0.001".to_owned(), report.run.clone()];
    assert_eq!(seen[..3], began);
    let store = Store::open_existing(&place).unwrap();
    let run = store.run(&report.run).unwrap();
    let rounds: Vec<String> =
        store.points(&run).unwrap().iter().map(|point| point.round.to_string()).collect();
    assert_eq!(seen[3..], rounds);
    assert_eq!(run.report.unwrap(), report);
    assert_eq!((report.stop, report.goal_reached), (Stop::Error, true));
    assert!(report.certified_error.unwrap() <= 1e-3);
}

/// Whoever cannot wait for the round to end closes the run with its last checkpoint; training then leaves it alone.
#[test]
fn a_run_is_closed_from_outside_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let (mut closer, mut closed) = (None, None);
    let result = watched(&place, request(1e-12), |progress, _| match progress {
        Progress::Closable(this) => closer = Some(this),
        // The checkpoint of a round comes after its score.
        Progress::Point(point) if point.round == 4 => {
            closed = closer.as_ref().and_then(|closer| closer.close())
        }
        _ => {}
    });
    assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
    assert!(closer.unwrap().close().is_none(), "it is closed already");
    let report = closed.unwrap().unwrap();
    assert_eq!((report.stop, report.rounds, report.goal_reached), (Stop::Interrupted, 3, false));
    assert_eq!(ModelFile::read(&report.model).unwrap().primal, report.primal);
    let store = Store::open_existing(&place).unwrap();
    let run = store.run(&report.run).unwrap();
    assert_eq!(store.points(&run).unwrap().last().unwrap().round, 3);
    assert_eq!(run.report.unwrap(), report);
}

/// The rounds that were scored, and the weights in the end.
fn scored(engine: &str, scoring: Option<Scoring>) -> (Vec<u64>, Vec<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let mut rounds = Vec::new();
    let fixed = TrainRequest {
        algorithm: Some("cocoa-plus".into()),
        workers: Some(2),
        engine: Some(engine.into()),
        scoring,
        ..request(1e-3)
    };
    let report = watched(&in_folder(&folder), fixed, |progress, _| {
        if let Progress::Point(point) = progress {
            rounds.push(point.round);
        }
    });
    (rounds, ModelFile::read(&report.unwrap().model).unwrap().weights)
}

#[test]
fn threads_and_simulation_score_the_same_rounds_where_they_score_as_often() {
    for scoring in [Scoring::Every(1), Scoring::Every(3), Scoring::default()] {
        assert_eq!(scored("threads", Some(scoring)), scored("simulated", Some(scoring)), "{scoring:?}");
    }
}

#[test]
fn by_default_simulation_scores_more_often_than_threads() {
    let (threads, _) = scored("threads", None);
    let (simulated, _) = scored("simulated", None);
    assert_eq!(scored("threads", None), scored("simulated", Some(Scoring::default())));
    assert!(simulated.len() > threads.len(), "{simulated:?}, {threads:?}");
}

#[test]
fn the_saved_model_predicts_as_well_as_the_report_says() {
    let folder = tempfile::tempdir().unwrap();
    let request = request(1e-3);
    let report = watched(&in_folder(&folder), request.clone(), |_, _| {}).unwrap();
    let model = ModelFile::read(&report.model).unwrap();
    let predictions = predict(&model, &request.data).unwrap();
    assert_eq!(predictions.quality.unwrap().accuracy(), report.train_accuracy);
    assert_eq!(model.certified_error, report.certified_error);
}

#[test]
fn an_interrupted_run_is_saved_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let interrupted = watched(&place, request(1e-5), |progress, interrupt| {
        if let Progress::Point(point) = progress {
            interrupt.store(point.round >= 3, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!((interrupted.stop, interrupted.goal_reached), (Stop::Interrupted, false));
    assert!(ModelFile::read(&interrupted.model).is_ok());

    let interrupt = AtomicBool::new(false);
    let mut watch = Watch { interrupt: &interrupt, observe: &mut |_| {} };
    let resumed = resume("last", &Changes::default(), &place, &mut watch).unwrap();
    assert_eq!((&resumed.run, resumed.stop), (&interrupted.run, Stop::Error));
    assert!(resumed.rounds > interrupted.rounds);
    let store = Store::open_existing(&place).unwrap();
    let points = store.points(&store.run("last").unwrap()).unwrap();
    assert!(points.windows(2).all(|pair| pair[0].round < pair[1].round));
    assert_eq!(points.last().unwrap().round, resumed.rounds);
}

#[test]
fn resuming_can_ask_for_more_and_move_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let first = watched(&place, request(1e-2), |_, _| {}).unwrap();
    let model: PathBuf = folder.path().join("better.json");
    let changes = Changes {
        stop: StopRules { error: Some(1e-4), ..Default::default() },
        model: Some(model.clone()),
        memory_limit: None,
    };
    let interrupt = AtomicBool::new(false);
    let mut watch = Watch { interrupt: &interrupt, observe: &mut |_| {} };
    let second = resume(&first.run, &changes, &place, &mut watch).unwrap();
    assert!(second.certified_error.unwrap() <= 1e-4);
    assert_eq!(second.model, model);
    assert!(model.exists());
}

#[test]
fn a_store_that_fails_on_the_way_ends_the_run_with_its_own_error() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let error = watched(&place, request(1e-9), |progress, _| {
        if let Progress::Started(_) = progress {
            let other = rusqlite::Connection::open(place.store()).unwrap();
            other.execute_batch("DROP TABLE points").unwrap();
        }
    })
    .unwrap_err();
    assert!(matches!(error, Error::Store { .. }), "{error}");
    assert!(error.to_string().contains("store.sqlite"), "{error}");
    assert!(!error.is_bad_input());
    let run = Store::open_existing(&place).unwrap().run("last").unwrap();
    assert_eq!(run.status, Status::Failed);
    assert!(run.failure.unwrap().contains("points"));
}

#[test]
fn bad_requests_leave_no_store_behind() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    for request in [
        TrainRequest { lambda: 0.0, ..request(1e-3) },
        TrainRequest { workers: Some(501), ..request(1e-3) },
        TrainRequest { test: Some("synthetic:nothing".into()), ..request(1e-3) },
        TrainRequest { engine: Some("cloud".into()), ..request(1e-3) },
    ] {
        let error = watched(&place, request, |_, _| {}).unwrap_err();
        assert!(error.is_bad_input(), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{error}");
    }
}
