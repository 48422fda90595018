//! The store on its own: made by many at once, refused when it is something else, quick, and honest about the dead.

use std::path::Path;
use std::time::Instant;

use hemingway::data::Labels;
use hemingway::{
    Choice, DatasetSummary, Error, Parameters, Place, Point, Seconds, Status, StopRules, Store, TrainRequest,
    choose,
};

fn dataset() -> DatasetSummary {
    let labels = Labels::Classes { negative: "0".into(), positive: "1".into() };
    DatasetSummary {
        name: "some data".into(),
        rows: 10,
        features: 3,
        occurring: None,
        nonzeros: 20,
        labels,
        fingerprint: None,
        source: None,
    }
}

fn choice() -> Choice {
    choose(&TrainRequest::default()).unwrap()
}

fn point(round: u64) -> Point {
    let seconds = Seconds(round as f64);
    Point {
        round,
        seconds,
        wall_seconds: seconds,
        current: 0.5,
        primal: 0.5,
        dual: 0.25,
        certified_error: 1.0,
    }
}

fn in_folder(folder: &tempfile::TempDir) -> Place {
    Place::at(folder.path().join("store.sqlite"))
}

fn sqlite(file: &Path, statements: &str) {
    rusqlite::Connection::open(file).unwrap().execute_batch(statements).unwrap();
}

#[test]
fn a_run_comes_back_as_it_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&in_folder(&folder)).unwrap();
    let request = TrainRequest { lambda: 0.1 + 0.2, workers: Some(3), ..Default::default() };
    let made = store.create_run(&request, &choice(), &dataset()).unwrap();
    let found = store.run(&made.id).unwrap();
    assert_eq!(found, made);
    assert_eq!((&found.request, &found.choice, &found.dataset), (&request, &choice(), &dataset()));
    assert_eq!(found.status, Status::Running);
    assert_eq!(store.run("last").unwrap(), made);
    assert_eq!(store.run(&made.id[..4]).unwrap(), made);
    assert_eq!(store.runs().unwrap(), [made]);
}

#[test]
fn points_come_back_in_order_even_if_they_are_no_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&in_folder(&folder)).unwrap();
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset()).unwrap();
    let unproved = Point { certified_error: f64::INFINITY, dual: f64::NEG_INFINITY, ..point(1) };
    for point in [point(7), unproved, Point { current: f64::NAN, ..point(9) }] {
        store.add_point(&run, &point).unwrap();
    }
    let points = store.points(&run).unwrap();
    assert_eq!(points[..2], [unproved, point(7)]);
    assert!(points[2].current.is_nan());
    assert_eq!(store.last_point(&run).unwrap().unwrap().round, 9);
    store.forget_points_after(&run, 1).unwrap();
    assert_eq!(store.points(&run).unwrap(), [unproved]);
}

#[test]
fn many_can_make_the_same_store_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let store = Store::open(&place).unwrap();
                let run = store.create_run(&TrainRequest::default(), &choice(), &dataset()).unwrap();
                (1..=50).for_each(|round| store.add_point(&run, &point(round)).unwrap());
            });
        }
    });
    let store = Store::open_existing(&place).unwrap();
    let runs = store.runs().unwrap();
    assert_eq!(runs.len(), 16);
    assert!(runs.iter().all(|run| store.points(run).unwrap().len() == 50));
}

#[test]
fn a_point_costs_little() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&in_folder(&folder)).unwrap();
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset()).unwrap();
    let rounds = 1000;
    let begin = Instant::now();
    (1..=rounds).for_each(|round| store.add_point(&run, &point(round)).unwrap());
    let each = begin.elapsed() / rounds as u32;
    println!("{each:?} per point");
    // A loaded machine is slow; what must not happen is waiting for the disk at each point.
    assert!(each.as_micros() < 2000, "{each:?} per point");
}

#[test]
fn other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    for content in ["this is some text that is no database at all, and it is long enough for a header", "x"] {
        std::fs::write(place.store(), content).unwrap();
        assert!(matches!(Store::open(&place), Err(Error::NotAStore { .. })), "{content}");
        assert_eq!(std::fs::read_to_string(place.store()).unwrap(), content);
    }
}

#[test]
fn other_databases_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    sqlite(place.store(), "CREATE TABLE recipes (name TEXT)");
    let before = std::fs::read(place.store()).unwrap();
    assert!(matches!(Store::open(&place), Err(Error::NotAStore { .. })));
    assert_eq!(std::fs::read(place.store()).unwrap(), before);
}

#[test]
fn a_newer_store_is_refused_with_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    drop(Store::open(&place).unwrap());
    sqlite(place.store(), "PRAGMA user_version = 99");
    let error = Store::open(&place).err().unwrap();
    assert!(matches!(error, Error::NewerStore { found: 99, .. }));
    assert!(error.to_string().contains("version 99"), "{error}");
    assert!(error.is_bad_input());
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    std::fs::write(place.store(), "").unwrap();
    assert_eq!(Store::open(&place).unwrap().runs().unwrap(), []);
}

#[test]
fn a_store_that_is_not_there_is_not_made_by_looking() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    assert!(Store::open_if_there(&place).unwrap().is_none());
    assert!(matches!(Store::open_existing(&place), Err(Error::NoStore { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn places_that_cannot_be_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Place::at(folder.path().join("missing/store.sqlite"));
    assert!(matches!(Store::open(&missing), Err(Error::NoDirectory { .. })));
    assert!(matches!(Store::open(&Place::at(folder.path())), Err(Error::IsDirectory { .. })));
}

#[test]
fn a_dead_process_is_noticed_and_its_run_can_be_claimed_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let store = Store::open(&place).unwrap();
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset()).unwrap();
    let claim = |run| store.claim_run(run, &TrainRequest::default(), &choice());
    assert!(matches!(claim(&run), Err(Error::StillRunning { .. })));

    sqlite(place.store(), "UPDATE runs SET process_started = 'long ago'");
    let dead = store.run(&run.id).unwrap();
    assert_eq!(dead.status, Status::Died);
    claim(&dead).unwrap();
    assert_eq!(store.run(&run.id).unwrap().status, Status::Running);
    assert!(matches!(claim(&dead), Err(Error::StillRunning { .. })));
}

#[test]
fn names_that_fit_none_or_several_runs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let store = Store::open(&place).unwrap();
    assert!(matches!(store.run("last"), Err(Error::NoRun { .. })));
    for _ in 0..2 {
        store.create_run(&TrainRequest::default(), &choice(), &dataset()).unwrap();
    }
    sqlite(place.store(), "UPDATE runs SET id = 'abcd' || number");
    assert!(matches!(store.run("abc"), Err(Error::AmbiguousRun { .. })));
    assert!(matches!(store.run("zz"), Err(Error::NoRun { .. })));
    assert!(matches!(store.run(""), Err(Error::NoRun { .. })));
    assert_eq!(store.run("ABCD2").unwrap().id, "abcd2");
}

#[test]
fn requests_of_earlier_versions_are_completed_with_defaults() {
    let request: TrainRequest = serde_json::from_str(r#"{ "lambda": 0.5 }"#).unwrap();
    assert_eq!(request, TrainRequest { lambda: 0.5, ..Default::default() });
    let text = serde_json::to_string(&TrainRequest {
        stop: StopRules { within: Some(Seconds(1.5)), ..Default::default() },
        parameters: Parameters { local_steps: Some(7), ..Default::default() },
        ..Default::default()
    });
    let again: TrainRequest = serde_json::from_str(&text.unwrap()).unwrap();
    assert_eq!((again.stop.within, again.parameters.local_steps), (Some(Seconds(1.5)), Some(7)));
}
