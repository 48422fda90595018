//! The store on its own: made by many at once, refused when it is something else, quick, and honest about the dead.

use std::path::Path;
use std::time::Instant;

use hemingway::data::Labels;
use hemingway::{
    Choice, DatasetSummary, Effort, Error, Keep, Parameters, Place, Point, Purpose, Seconds, Status,
    StopRules, Store, TrainRequest, choose,
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
        table: None,
        class_weights: Vec::new(),
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
        effort: Effort { iterations: 10 * round, epochs: 0.5 * round as f64, bytes_per_worker: 800.0 },
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
    let made = store.create_run(&request, &choice(), &dataset(), Purpose::Train).unwrap();
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
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
    let unproved = Point { certified_error: f64::INFINITY, dual: f64::NEG_INFINITY, ..point(1) };
    for point in [point(7), unproved, Point { current: f64::NAN, ..point(9) }] {
        store.add_point(&run, &point).unwrap();
    }
    let points = store.points(&run).unwrap();
    assert_eq!(points[..2], [unproved, point(7)], "also what they had taken");
    assert!(points[2].current.is_nan());
    assert_eq!(store.last_point(&run).unwrap().unwrap().round, 9);
}

#[test]
fn many_can_make_the_same_store_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let store = Store::open(&place).unwrap();
                let run = store
                    .create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train)
                    .unwrap();
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
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
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
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
    let claim = |run| store.claim_run(run, false);
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
        store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
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

/// Points of some rounds, a second each.
fn seen(store: &Store, run: &hemingway::StoredRun, rounds: std::ops::RangeInclusive<u64>) {
    rounds.for_each(|round| store.add_point(run, &point(round)).unwrap());
}

fn rises(points: &[Point]) -> bool {
    points.windows(2).all(|two| two[0].round < two[1].round && two[0].seconds.0 < two[1].seconds.0)
}

#[test]
fn what_was_seen_before_a_restart_stays_until_it_is_overtaken() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&in_folder(&folder)).unwrap();
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
    seen(&store, &run, 1..=21);
    store.begin_again(&run, 3).unwrap();
    assert_eq!(store.points(&run).unwrap().len(), 21);
    // Slower this time, so the later rounds are later, too.
    store.add_point(&run, &Point { seconds: Seconds(50.0), ..point(4) }).unwrap();
    let points = store.points(&run).unwrap();
    assert_eq!((points.len(), points[3].seconds.0, points[4].seconds.0), (21, 50.0, 51.0));
    assert!(rises(&points), "{points:?}");
    assert_eq!(store.last_point(&run).unwrap().unwrap(), points[20]);
    store.begin_again(&run, 3).unwrap();
    seen(&store, &run, 4..=25);
    let points = store.points(&run).unwrap();
    assert!(points.len() == 25 && rises(&points), "{points:?}");
}

#[test]
fn a_claim_that_comes_to_nothing_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let store = Store::open(&place).unwrap();
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
    store.fail_run(&run, "the roof fell in").unwrap();
    let before = store.run(&run.id).unwrap();
    let claimed = store.claim_run(&before, false).unwrap();
    assert_eq!(store.run(&run.id).unwrap().status, Status::Running);
    assert!(matches!(store.claim_run(&before, false), Err(Error::StillRunning { .. })));
    // Killed while it prepared.
    sqlite(place.store(), "UPDATE runs SET process_started = 'long ago'");
    let left = store.run(&run.id).unwrap();
    assert_eq!((left.status, left.failure.as_deref()), (Status::Failed, Some("the roof fell in")));
    sqlite(place.store(), &format!("UPDATE runs SET process_started = '{}'", claimed.owner.started));
    store.release_run(&claimed, &before).unwrap();
    assert_eq!(store.run(&run.id).unwrap().status, Status::Failed);
    store.claim_run(&before, false).unwrap();
}

#[test]
fn a_run_on_another_machine_can_be_taken_over_and_is_then_lost_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let store = Store::open(&place).unwrap();
    let theirs = store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
    sqlite(place.store(), "UPDATE runs SET host = 'elsewhere'");
    let error = store.claim_run(&theirs, false).unwrap_err();
    assert!(matches!(error, Error::RunsElsewhere { .. }));
    let flag = format!("--resume {} --take-over", theirs.id);
    assert!(error.to_string().contains(&flag) && error.is_bad_input(), "{error}");
    let ours = store.claim_run(&theirs, true).unwrap();
    store.add_point(&ours, &point(1)).unwrap();
    let lost = store.add_point(&theirs, &point(2)).unwrap_err();
    assert!(matches!(lost, Error::TakenOver { .. }), "{lost}");
    assert!(
        matches!(store.claim_run(&theirs, true), Err(Error::StillRunning { .. })),
        "it is here and alive"
    );
    assert_eq!(store.points(&ours).unwrap().len(), 1);
}

#[test]
fn damaged_runs_are_left_out_named_and_removed() {
    for (damage, problem) in [
        ("request = '{'", "its request is damaged"),
        ("request = x'00ff'", "its request is of the type Blob"),
        ("request = '[]'", "its request is damaged"),
        ("choice = ''", "its choice is damaged"),
        ("dataset = '{}'", "missing field"),
        ("report = 'null and void'", "its report is damaged"),
        ("report = 7.5", "its report is damaged"),
        ("pid = 'many'", "its pid is of the type Text"),
        ("pid = -1", "its pid is damaged"),
        ("created = 'yesterday'", "its created is of the type Text"),
        ("failure = x'ff'", "its failure is of the type Blob"),
        ("id = x'ff'", "its id is of the type Blob"),
        ("process_started = x'ff'", "its process_started is of the type Blob"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let place = in_folder(&folder);
        let store = Store::open(&place).unwrap();
        let make =
            || store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
        let (broken, sound) = (make(), make());
        seen(&store, &broken, 1..=3);
        sqlite(place.store(), &format!("UPDATE runs SET {damage} WHERE number = 1"));
        assert_eq!(store.runs().unwrap(), std::slice::from_ref(&sound), "{damage}");
        assert_eq!(
            store.latest_runs_on(&TrainRequest::default(), 20).unwrap(),
            std::slice::from_ref(&sound),
            "{damage}"
        );
        let warnings = store.warnings();
        assert_eq!(warnings.len(), 1, "{damage}: {warnings:?}");
        assert!(
            warnings[0].contains(problem) && warnings[0].contains("runs repair"),
            "{damage}: {warnings:?}"
        );
        assert!(hemingway::families(&store).is_ok(), "{damage}");
        if !damage.starts_with("id") {
            assert!(warnings[0].contains(&broken.id));
            assert!(matches!(store.run(&broken.id), Err(Error::DamagedRun { .. })), "{damage}");
        }
        let repaired = store.repair().unwrap();
        assert_eq!((repaired.removed.len(), repaired.left.len()), (1, 0), "{repaired:?}");
        assert!(repaired.removed[0].contains(problem), "{repaired:?}");
        let again = Store::open(&place).unwrap();
        assert_eq!((again.runs().unwrap().len(), again.warnings().len()), (1, 0));
    }
}

#[test]
fn what_a_newer_version_wrote_is_left_out_and_not_removed() {
    for damage in [
        "request = replace(request, '\"logistic\"', '\"quantile\"')",
        "status = 'paused'",
        "purpose = 'rehearsal'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let place = in_folder(&folder);
        let store = Store::open(&place).unwrap();
        store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
        sqlite(place.store(), &format!("UPDATE runs SET {damage}"));
        assert_eq!(store.runs().unwrap(), [], "{damage}");
        assert!(
            store.warnings()[0].contains("a newer hemingway may have written it"),
            "{:?}",
            store.warnings()
        );
        let repaired = store.repair().unwrap();
        assert_eq!((repaired.removed.len(), repaired.left.len()), (0, 1), "{damage}: {repaired:?}");
    }
}

#[test]
fn damaged_points_and_states_are_left_out_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let store = Store::open(&place).unwrap();
    let run = store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
    seen(&store, &run, 1..=5);
    store.fail_run(&run, "for the test").unwrap();
    sqlite(
        place.store(),
        "PRAGMA foreign_keys = OFF;
         UPDATE points SET seconds = 'late' WHERE round = 2; UPDATE points SET primal = x'00' WHERE round = 4;
         INSERT INTO checkpoints (run, round, state) VALUES (1, 5, x'0102030405060708090a');
         INSERT INTO points (run, attempt, round, seconds, wall_seconds) VALUES (99, 0, 1, 1, 1);",
    );
    let rounds =
        |store: &Store| store.points(&run).unwrap().iter().map(|point| point.round).collect::<Vec<_>>();
    assert_eq!(rounds(&store), [1, 3, 5]);
    assert!(store.warnings()[0].contains("2 of the points of run"), "{:?}", store.warnings());
    let error = store.checkpoint(&run).unwrap_err();
    assert!(error.to_string().contains(&run.id) && error.to_string().contains("round 5"), "{error}");
    let removed = store.repair().unwrap().removed.join("; ");
    for part in ["2 points of run", "the state of run", "1 points of runs that are not there"] {
        assert!(removed.contains(part), "{part}: {removed}");
    }
    assert_eq!((rounds(&store), store.checkpoint(&run).unwrap()), (vec![1, 3, 5], None));
}

#[test]
fn versions_that_cannot_be_are_refused() {
    for (damage, text) in [
        ("PRAGMA user_version = -1", "its version is -1"),
        ("PRAGMA user_version = -2147483648", "its version is -2147483648"),
        ("PRAGMA user_version = 0", "its version is 0"),
        ("PRAGMA user_version = 2147483647", "version 2147483647"),
        ("DROP TABLE attempts", "it has no table `attempts`"),
        ("PRAGMA application_id = -5", "is not a Hemingway store"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let place = in_folder(&folder);
        drop(Store::open(&place).unwrap());
        sqlite(place.store(), damage);
        let error = Store::open(&place).err().unwrap();
        assert!(error.to_string().contains(text) && error.hint().is_some(), "{damage}: {error}");
    }
}

#[test]
fn a_store_of_version_1_becomes_current_with_all_that_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    sqlite(place.store(), include_str!("stores/version-1.sql"));
    let store = Store::open(&place).unwrap();
    let runs = store.runs().unwrap();
    assert_eq!((runs.len(), store.warnings()), (2, Vec::new()));
    assert!(runs.iter().all(|run| run.purpose == Purpose::Train && run.used == run.created));
    let run = store.run("e22nb").unwrap();
    let points = store.points(&run).unwrap();
    let rounds: Vec<u64> = points.iter().map(|point| point.round).collect();
    assert_eq!((rounds, store.checkpoint_round(&run).unwrap()), (vec![3, 6], Some(6)));
    let effort = Effort { iterations: 6, ..Effort::unknown() };
    assert_eq!(points[1].effort, effort, "rounds were the iterations, the rest was not counted");
    let again = store.claim_run(&run, false).unwrap();
    store.go_on(&again, &run.request, &run.choice, 6).unwrap();
    store.add_point(&again, &point(7)).unwrap();
    assert_eq!(store.points(&run).unwrap().len(), 3);
    assert_eq!(
        store.run("e22nb").unwrap().report,
        run.report,
        "the old result stays until there is a new one"
    );
}

#[test]
fn a_store_of_version_2_gets_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let store = Store::open(&place).unwrap();
    store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
    drop(store);
    sqlite(place.store(), "DROP TABLE evaluations; DROP TABLE studies");
    for column in ["iterations", "epochs", "bytes_per_worker"] {
        sqlite(place.store(), &format!("ALTER TABLE points DROP COLUMN {column}"));
    }
    sqlite(place.store(), "PRAGMA user_version = 2");
    let store = Store::open(&place).unwrap();
    assert_eq!((store.runs().unwrap().len(), store.studies().unwrap().len()), (1, 0));
    assert!(matches!(store.study("last"), Err(Error::NoStudy { .. })));
}

#[test]
fn a_run_of_version_1_is_not_resumed_since_its_data_may_have_changed() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    sqlite(place.store(), include_str!("stores/version-1.sql"));
    let interrupt = std::sync::atomic::AtomicBool::new(false);
    let mut watch = hemingway::Watch { interrupt: &interrupt, observe: &mut |_| {} };
    let error = hemingway::resume("e22nb", &hemingway::Changes::default(), &place, &mut watch).unwrap_err();
    let expected = "the data of run e22nb has changed: it was recorded by a version that did not remember";
    assert!(error.to_string().starts_with(expected), "{error}");
    let store = Store::open(&place).unwrap();
    assert_eq!(store.run("e22nb").unwrap().status, Status::Done);
}

#[test]
fn the_last_run_is_the_last_one_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&in_folder(&folder)).unwrap();
    let make = |purpose| store.create_run(&TrainRequest::default(), &choice(), &dataset(), purpose).unwrap();
    make(Purpose::Experiment);
    assert!(matches!(store.run("last"), Err(Error::NoRun { .. })));
    let asked = make(Purpose::Train);
    make(Purpose::Experiment);
    assert_eq!(store.run("last").unwrap(), asked);
}

#[test]
fn pruning_keeps_what_is_wanted_and_what_is_running() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let store = Store::open(&place).unwrap();
    let make = || store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
    let runs: Vec<_> = (0..6).map(|_| make()).collect();
    for run in &runs[1..] {
        seen(&store, run, 1..=2000);
        store.fail_run(run, "for the test").unwrap();
    }
    // The first still runs; the second was used last, though it is the oldest of those that ended.
    sqlite(place.store(), "UPDATE runs SET used = number; UPDATE runs SET used = 100 WHERE number = 2");
    let full = store.bytes();
    assert!(store.bytes_of(&runs[1]).unwrap() > 100_000);
    let removed = store.prune(Keep::Latest(2), &place, false).unwrap();
    let mut gone: Vec<&String> = removed.runs.iter().collect();
    let mut expected: Vec<&String> = runs[2..5].iter().map(|run| &run.id).collect();
    gone.sort();
    expected.sort();
    assert_eq!(gone, expected);
    assert!(
        removed.freed_bytes > full / 3 && store.bytes() + removed.freed_bytes == full,
        "{removed:?} of {full}"
    );
    assert_eq!(store.prune(Keep::Seconds(3600.0), &place, false).unwrap().runs.len(), 2);
    assert_eq!(store.runs().unwrap(), [store.run(&runs[0].id).unwrap()]);
    let still = store.remove_runs(&[runs[0].id.clone()], true, &place, false);
    assert!(matches!(still, Err(Error::StillRunning { .. })));
}

#[test]
fn removing_is_all_or_nothing_and_takes_models_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let place = in_folder(&folder);
    let store = Store::open(&place).unwrap();
    std::fs::create_dir(folder.path().join("models")).unwrap();
    let make = || {
        let run = store.create_run(&TrainRequest::default(), &choice(), &dataset(), Purpose::Train).unwrap();
        store.fail_run(&run, "for the test").unwrap();
        std::fs::write(place.model(&run.id), "a model").unwrap();
        run.id
    };
    let (first, second) = (make(), make());
    assert!(store.remove_runs(&[first.clone(), "zzzzz".into()], false, &place, true).is_err());
    assert_eq!(store.runs().unwrap().len(), 2);
    let removed = store.remove_runs(std::slice::from_ref(&first), false, &place, false).unwrap();
    assert_eq!((removed.kept_models.len(), place.model(&first).exists()), (1, true));
    sqlite(place.store(), "UPDATE runs SET request = '{'");
    let removed = store.remove_runs(std::slice::from_ref(&second), false, &place, true).unwrap();
    assert_eq!((removed.removed_models.len(), place.model(&second).exists()), (1, false));
    assert_eq!(store.runs().unwrap(), []);
}
