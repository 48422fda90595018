//! Training through the library: what the caller sees, how it ends early, and what is left when the store fails.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use hemingway::{
    Changes, DataRequest, Error, Keep, Loss, ModelFile, Place, Progress, Scoring, Seconds, Status, Stop,
    StopRules, Store, TrainReport, TrainRequest, Watch, predict, resume, train,
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
            Progress::Planned(explanation) => explanation.goal.error.unwrap_or(0.0).to_string(),
            Progress::Started(run) => run.id.clone(),
            Progress::ChoosingLambda(..) | Progress::LambdaModels { .. } | Progress::ChosenLambda(_) => {
                unreachable!("one lambda was given")
            }
            Progress::Class { .. } | Progress::Closable(_) => return,
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
    assert_eq!(store.points(&run).unwrap().last().unwrap().round, 4, "what was seen stays");
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
        ..Default::default()
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
    let error = Store::open_existing(&place).err().unwrap();
    assert!(error.to_string().contains("it has no table `points`"), "{error}");
    let sqlite = rusqlite::Connection::open(place.store()).unwrap();
    let failure: String =
        sqlite.query_row("SELECT failure FROM runs WHERE status = 'failed'", [], |row| row.get(0)).unwrap();
    assert!(failure.contains("points"), "{failure}");
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

fn go_on(place: &Place, run: &str, changes: &Changes) -> Result<TrainReport, Error> {
    let interrupt = AtomicBool::new(false);
    resume(run, changes, place, &mut Watch { interrupt: &interrupt, observe: &mut |_| {} })
}

fn to_error(error: f64) -> Changes {
    Changes { stop: StopRules { error: Some(error), ..Default::default() }, ..Default::default() }
}

#[test]
fn a_run_is_claimed_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let first = watched(&place, request(1e-2), |_, _| {}).unwrap();
    let interrupt = AtomicBool::new(false);
    let mut second = None;
    let mut observe = |progress: Progress| {
        if let Progress::Loading(_) = progress {
            second = Some(go_on(&place, &first.run, &to_error(1e-5)));
        }
    };
    let mut watch = Watch { interrupt: &interrupt, observe: &mut observe };
    let report = resume(&first.run, &to_error(1e-4), &place, &mut watch).unwrap();
    assert!(matches!(second, Some(Err(Error::StillRunning { .. }))), "two at once");
    assert!(report.certified_error.unwrap() <= 1e-4);
}

#[test]
fn a_resume_that_fails_leaves_the_run_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let data = folder.path().join("data.libsvm");
    std::fs::write(&data, "+1 1:1\n-1 1:-1 2:1\n+1 2:0.5\n-1 2:-1\n").unwrap();
    let spec = DataRequest { spec: data.to_string_lossy().into_owned(), ..Default::default() };
    let report = watched(&place, TrainRequest { data: spec, ..request(1e-2) }, |_, _| {}).unwrap();
    let store = Store::open_existing(&place).unwrap();
    let (before, points) = (store.run("last").unwrap(), store.points(&store.run("last").unwrap()).unwrap());
    std::fs::remove_file(&data).unwrap();
    assert!(matches!(go_on(&place, "last", &to_error(1e-4)), Err(Error::Data(_))));
    let after = store.run("last").unwrap();
    assert_eq!((after.status, after.report.as_ref()), (Status::Done, Some(&report)));
    assert_eq!((after.request, after.choice, after.owner), (before.request, before.choice, before.owner));
    assert_eq!(store.points(&store.run("last").unwrap()).unwrap(), points);
}

#[test]
fn the_state_of_an_ended_run_is_small_and_can_be_gone_on_from() {
    for (algorithm, loss) in [
        ("cocoa", Loss::Logistic),
        ("cocoa-plus", Loss::Hinge),
        ("newton", Loss::Logistic),
        ("l-bfgs", Loss::Logistic),
        ("newton", Loss::Hinge),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let place = in_folder(&folder);
        let asked =
            TrainRequest { algorithm: Some(algorithm.into()), workers: Some(2), loss, ..request(1e-2) };
        let first = watched(&place, asked, |_, _| {}).unwrap();
        let store = Store::open_existing(&place).unwrap();
        let run = store.run("last").unwrap();
        let state = store.checkpoint(&run).unwrap().unwrap();
        let whole = matches!((algorithm, loss), ("l-bfgs", _) | ("newton", Loss::Hinge));
        assert_eq!(state.is_handed_over(), !whole, "{algorithm} keeps what it cannot go on without");
        let sqlite = rusqlite::Connection::open(place.store()).unwrap();
        let kept = || -> u32 {
            sqlite.query_row("SELECT length(state) FROM checkpoints", [], |row| row.get(0)).unwrap()
        };
        let bytes = state.to_bytes().len();
        assert_eq!(kept() as usize, bytes, "{algorithm}");
        store.prune(Keep::Latest(9), &place, false).unwrap();
        assert!((kept() as usize) < bytes, "{algorithm}: cleaning up compresses it");
        let second = go_on(&place, "last", &to_error(1e-6)).unwrap();
        assert!(second.rounds > first.rounds && second.certified_error.unwrap() <= 1e-6, "{algorithm}");
        let states: i64 = sqlite.query_row("SELECT count(*) FROM checkpoints", [], |row| row.get(0)).unwrap();
        assert_eq!(states, 1);
        let points = store.points(&run).unwrap();
        assert!(
            points.windows(2).all(|two| two[0].round < two[1].round && two[0].seconds.0 <= two[1].seconds.0)
        );
    }
}

/// Another program that holds the store.
struct Holder {
    _connection: rusqlite::Connection,
}

impl Holder {
    fn new(place: &Place) -> Holder {
        let other = rusqlite::Connection::open(place.store()).unwrap();
        other.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        Holder { _connection: other }
    }
}

#[test]
fn a_locked_store_is_caught_up_with_later() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder).with_patience(std::time::Duration::from_millis(50));
    let (mut held, mut notes, mut seen) = (None, Vec::new(), 0);
    let report = watched(&place, fixed(1e-5), |progress, _| match progress {
        Progress::Point(point) => {
            seen += 1;
            match point.round {
                2 => held = Some(Holder::new(&place)),
                6 => held = None,
                _ => {}
            }
        }
        Progress::Noticed(note) => notes.push(note.to_owned()),
        _ => {}
    })
    .unwrap();
    assert!(report.rounds > 6 && report.unrecorded.is_none(), "{report:?}");
    assert!(notes[0].contains("is locked by another program") && notes[1].contains("again"), "{notes:?}");
    let store = Store::open_existing(&place).unwrap();
    let run = store.run("last").unwrap();
    assert_eq!((run.status, store.points(&run).unwrap().len()), (Status::Done, seen));
    assert_eq!(store.checkpoint_round(&run).unwrap(), Some(report.rounds));
}

#[test]
fn a_store_that_stays_locked_does_not_cost_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder).with_patience(std::time::Duration::from_millis(50));
    let mut held = None;
    let report = watched(&place, fixed(1e-5), |progress, _| {
        if matches!(progress, Progress::Point(point) if point.round == 2) {
            held = Some(Holder::new(&place));
        }
    })
    .unwrap();
    let unrecorded = report.unrecorded.unwrap();
    assert!(unrecorded.contains("locked") && unrecorded.contains(&report.run), "{unrecorded}");
    assert!(unrecorded.contains("scored rounds and the result"), "{unrecorded}");
    assert_eq!(ModelFile::read(&report.model).unwrap().certified_error, report.certified_error);
    drop(held);
    let store = Store::open_existing(&place).unwrap();
    let run = store.run(&report.run).unwrap();
    assert_eq!(
        (run.status, store.points(&run).unwrap().len()),
        (Status::Running, 2),
        "until this process ends"
    );
}

/// Without a plan, which may change the configuration.
fn fixed(error: f64) -> TrainRequest {
    TrainRequest { algorithm: Some("cocoa".into()), workers: Some(2), ..request(error) }
}

/// A small disk of its own, where the system allows that.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None`, said aloud, where it does not.
    fn new(size: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .output();
        if !mount.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: a small disk needs root");
            return None;
        }
        Some(SmallDisk(folder))
    }

    fn fill(&self) {
        use std::io::Write;
        let mut file = std::fs::File::create(self.0.path().join("filler")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }

    fn free(&self) {
        std::fs::remove_file(self.0.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_does_not_cost_the_model_and_is_caught_up_with() {
    let Some(disk) = SmallDisk::new("16M") else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = Place::at(disk.0.path().join("store.sqlite"));
    let asked = TrainRequest { model: Some(folder.path().join("model.json")), ..fixed(1e-5) };
    for until in [Some(6), None] {
        let report = watched(&place, asked.clone(), |progress, _| match progress {
            Progress::Point(point) if point.round == 2 => disk.fill(),
            Progress::Point(point) if Some(point.round) == until => disk.free(),
            _ => {}
        })
        .unwrap();
        assert!(ModelFile::read(&report.model).is_ok());
        assert_eq!(report.unrecorded.is_none(), until.is_some(), "{:?}", report.unrecorded);
        assert!(report.unrecorded.is_none_or(|text| text.contains("the disk is full")));
    }
}

#[test]
fn a_disk_that_is_full_from_the_start_is_said_to_be() {
    let Some(disk) = SmallDisk::new("64k") else { return };
    let folder = tempfile::tempdir().unwrap();
    let asked = TrainRequest { model: Some(folder.path().join("model.json")), ..fixed(1e-2) };
    disk.fill();
    let error = watched(&Place::at(disk.0.path().join("store.sqlite")), asked, |_, _| {}).unwrap_err();
    assert!(matches!(error, Error::StoreFull { .. } | Error::StoreUnwritable { .. }), "{error}");
    assert!(
        !error.is_bad_input() && !error.hint().unwrap().contains("--resume"),
        "there is nothing to resume"
    );
}
