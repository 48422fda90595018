//! Ranks that get one stage after the other, and what the planner makes of them.

mod cluster;

use std::process::Stdio;
use std::time::Duration;

use cluster::{Conversation, command, computed, is_alive, text};
use hemingway_data::{LoadOptions, load};
use hemingway_train::protocol::{Command, ExternalJob, Loaded, Message, PROTOCOL, Source, Stage};
use hemingway_train::{
    CloserLook, DataProfile, Loss, Parameters, Point, Problem, Run, Scoring, Seconds, Stop, StopRules,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const DATA: &str = "synthetic:text,rows=3000,features=100,seed=3";

fn job(workers: usize) -> ExternalJob {
    ExternalJob {
        protocol: PROTOCOL,
        data: Source {
            spec: DATA.to_owned(),
            options: LoadOptions::default(),
            class_weight: None,
            normalise_rows: false,
            standardise: false,
        },
        problem: Problem::new(Loss::Logistic, 1e-6).unwrap(),
        seed: 5,
        scoring: Scoring::Every(2),
        checkpoint_every: Some(Seconds(0.1)),
        stages: Vec::new(),
        workers: Some(workers),
        closer_look: false,
        checkpoint: None,
        heartbeat: None,
    }
}

/// What was said in one stage.
#[derive(Default)]
struct Told {
    loads: usize,
    begun: Option<f64>,
    points: Vec<Point>,
    run: Option<Run>,
}

impl Told {
    fn last(&self) -> &Point {
        self.points.last().expect("every stage scores")
    }

    fn stop(&self) -> Stop {
        self.run.as_ref().expect("every stage ends").stop
    }
}

/// Has a stage trained that would never end, and handed over after a few scores.
fn hand_over(ranks: &mut Conversation, algorithm: &str, workers: usize, duals_next: bool) -> Told {
    let stop = StopRules::default();
    let stage = Stage { algorithm: algorithm.to_owned(), parameters: Parameters::default(), workers, stop };
    ranks.tell(&Command::Stage { stage: Box::new(stage), ranks: Vec::new() });
    let mut told = Told::default();
    while told.run.is_none() {
        match ranks.hear().expect("the stage has not ended") {
            Message::Loaded(_) => told.loads += 1,
            Message::Begun { seconds } => told.begun = Some(seconds.0),
            Message::Point(point) => told.points.push(point),
            Message::Checkpoint { .. } => {}
            Message::Finished { run, .. } => told.run = Some(run),
            other => panic!("{other:?}"),
        }
        // Also when it is too late: that does no harm.
        if told.points.len() >= 3 {
            ranks.tell(&Command::HandOver { duals: duals_next });
        }
    }
    told
}

fn greeted(ranks: &mut Conversation) -> Vec<u32> {
    match ranks.hear() {
        Some(Message::Hello { ranks, .. }) => ranks.iter().map(|rank| rank.pid).collect(),
        other => panic!("{other:?}"),
    }
}

fn loaded(ranks: &mut Conversation) -> Loaded {
    match ranks.hear() {
        Some(Message::Loaded(loaded)) => loaded,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_same_processes_go_on_with_another_configuration() {
    let mut ranks = Conversation::begin(3, &job(3));
    let pids = greeted(&mut ranks);
    loaded(&mut ranks);
    let stages = [("cocoa", 3, false), ("l-bfgs", 2, true), ("cocoa", 1, false), ("l-bfgs", 2, true)];
    let told: Vec<Told> = stages
        .iter()
        .map(|(algorithm, workers, duals_next)| {
            let told = hand_over(&mut ranks, algorithm, *workers, *duals_next);
            // On a busy machine it may get as far as it can before it hears the request.
            assert!(told.stop().hands_over(), "{algorithm} on {workers}: {:?}", told.stop());
            assert!(pids.iter().all(|pid| is_alive(*pid)), "{algorithm} on {workers}");
            told
        })
        .collect();
    let loads: Vec<usize> = told.iter().map(|told| told.loads).collect();
    assert_eq!(loads, [0, 1, 1, 0], "rows are read once for a number of workers that comes again");
    for pair in told.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let (reached, next) = (before.last(), &after.points[0]);
        let begun = after.begun.expect("it took over");
        assert!(next.round > reached.round && next.round <= reached.round + 2, "{reached:?} then {next:?}");
        assert!(begun > before.run.as_ref().unwrap().seconds.0 && next.seconds.0 >= begun);
        assert!(next.wall_seconds.0 > reached.wall_seconds.0);
        assert!(next.primal <= reached.primal && next.dual >= reached.dual, "{reached:?} then {next:?}");
    }
    let points: Vec<&Point> =
        told.iter().flat_map(|told| &told.points).filter(|point| point.dual > 0.0).collect();
    assert!(points.len() > 4, "{points:?}");
    assert!(points.is_sorted_by(|a, b| a.certified_error >= b.certified_error), "{points:?}");

    ranks.tell(&Command::Done);
    assert!(ranks.end().success());
    cluster::wait_for("the ranks to end", || !pids.iter().any(|pid| is_alive(*pid)));
}

/// Ranks 0 and 2 train while rank 1 waits; the rows are those of two workers, whoever they are.
#[test]
fn a_stage_takes_the_ranks_it_is_told() {
    let on = |chosen: Vec<usize>| {
        let mut ranks = Conversation::begin(3, &job(3));
        let pids = greeted(&mut ranks);
        loaded(&mut ranks);
        let stop = StopRules { rounds: Some(200), ..StopRules::default() };
        let (algorithm, parameters) = ("cocoa".to_owned(), Parameters::default());
        let idle = (1..3).find(|rank| !chosen.contains(rank)).expect("one is left out");
        let before = computed(pids[idle]);
        ranks.tell(&Command::Stage {
            stage: Box::new(Stage { algorithm, parameters, workers: 2, stop }),
            ranks: chosen,
        });
        loop {
            if let Some(Message::Finished { run, profile, .. }) = ranks.hear() {
                let burnt = computed(pids[idle]) - before;
                assert_eq!(profile.expect("a profile").rates.len(), 2);
                return (run.primal, burnt);
            }
        }
    };
    let ((first, _), (chosen, burnt)) = (on(vec![0, 1]), on(vec![0, 2]));
    assert!((first - chosen).abs() <= 1e-9 * first, "{first} and {chosen}");
    assert!(burnt < 0.5, "rank 1 computed {burnt} s");
}

#[test]
fn ranks_that_make_no_sense_are_refused() {
    for chosen in [vec![0], vec![1, 2], vec![0, 3], vec![0, 0]] {
        let mut ranks = Conversation::begin(3, &job(3));
        greeted(&mut ranks);
        loaded(&mut ranks);
        let (algorithm, parameters, stop) = ("cocoa".to_owned(), Parameters::default(), StopRules::default());
        ranks.tell(&Command::Stage {
            stage: Box::new(Stage { algorithm, parameters, workers: 2, stop }),
            ranks: chosen,
        });
        assert_eq!(ranks.end().code(), Some(2));
    }
}

#[test]
fn who_waits_burns_no_core() {
    let mut ranks = Conversation::begin(3, &job(3));
    let pids = greeted(&mut ranks);
    loaded(&mut ranks);
    hand_over(&mut ranks, "cocoa", 2, true);
    let total = || pids.iter().map(|pid| computed(*pid)).sum::<f64>();
    let before = total();
    std::thread::sleep(Duration::from_secs(2));
    let burnt = total() - before;
    assert!(burnt < 0.5, "{burnt} s in 2 s");
    ranks.tell(&Command::Done);
    assert!(ranks.end().success());
}

#[test]
fn ranks_see_together_what_one_process_sees() {
    let data = load(DATA, &LoadOptions::default()).unwrap();
    let alone = DataProfile::of(&data);
    for workers in [1, 2, 3] {
        let mut ranks = Conversation::begin(3, &job(workers));
        greeted(&mut ranks);
        let profile = loaded(&mut ranks).profile.expect("a profile");
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs();
        assert!(near(profile.mean_squared_norm, alone.mean_squared_norm), "{profile:?} for {alone:?}");
        assert!(near(profile.largest_eigenvalue(), alone.largest_eigenvalue()), "{profile:?} for {alone:?}");
        assert_eq!((profile.nonzeros, profile.unevenness), (alone.nonzeros, alone.unevenness));
        ranks.tell(&Command::Done);
        assert!(ranks.end().success());
    }
}

#[test]
fn ranks_look_closely_at_data_as_one_process_does() {
    let data = load(DATA, &LoadOptions::default()).unwrap();
    let job = ExternalJob { closer_look: true, ..job(3) };
    let alone = CloserLook::at(&data, &job.problem);
    let mut ranks = Conversation::begin(3, &job);
    greeted(&mut ranks);
    let look = loaded(&mut ranks).closer_look.expect("a closer look was asked for");
    let (found, expected) = (&look.characters, &alone.characters);
    assert_eq!((found.rows, found.nonzeros, found.delta), (expected.rows, expected.nonzeros, expected.delta));
    assert_eq!(
        (&found.order, found.rho, found.diversity),
        (&expected.order, expected.rho, expected.diversity)
    );
    assert_eq!((&found.labels, &found.findings), (&expected.labels, &expected.findings));
    assert!((found.total_variance / expected.total_variance - 1.0).abs() < 1e-9);
    assert_eq!(look.sample, alone.sample, "the same rows are sampled");
    ranks.tell(&Command::Done);
    assert!(ranks.end().success());
}

#[test]
fn a_goal_ends_the_job() {
    let mut ranks = Conversation::begin(2, &job(2));
    greeted(&mut ranks);
    loaded(&mut ranks);
    let stop = StopRules { rounds: Some(4), ..StopRules::default() };
    let (algorithm, parameters) = ("cocoa".to_owned(), Parameters::default());
    let stage = Stage { algorithm, parameters, workers: 2, stop };
    ranks.tell(&Command::Stage { stage: Box::new(stage), ranks: Vec::new() });
    loop {
        if let Some(Message::Finished { run, .. }) = ranks.hear() {
            assert_eq!(run.stop, Stop::Rounds);
            break;
        }
    }
    assert!(ranks.end().success());
}

/// A rank that is stopped half of the time takes twice as long for its work, and the report says so.
#[test]
fn a_slow_rank_is_named_in_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command.args([
        "train",
        "synthetic:separable,rows=100000,features=50",
        "--engine",
        "mpi",
        "--workers",
        "3",
    ]);
    command.args(["--algorithm", "gradient-descent", "--lambda", "1e-8", "--within", "4s", "--json"]);
    let head = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    cluster::wait_for("the run", || cluster::show(folder.path())["status"] == "running");
    let slow = cluster::ranks_of(head.id())[1];
    while is_alive(slow) {
        for (signal, time) in [(Signal::STOP, 60), (Signal::CONT, 20)] {
            let _ = kill_process(Pid::from_raw(slow as i32).unwrap(), signal);
            std::thread::sleep(Duration::from_millis(time));
        }
    }
    let output = head.wait_with_output().unwrap();
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let stragglers = report["stragglers"].as_array().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(stragglers[0]["worker"], 1, "{report}");
    assert!(stragglers[0]["factor"].as_f64().unwrap() > 1.5 && stragglers[0]["host"].is_string(), "{report}");
}

/// `hemingway train` on ranks of this machine; its report.
fn train(words: &[&str], code: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output =
        command(folder.path()).args(["train", "--engine", "mpi", "--json"]).args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_is_left_open_is_planned() {
    let report =
        train(&["synthetic:separable,rows=5000,features=30", "--max-workers", "2", "--error", "1e-4"], 0);
    assert_eq!(report["goal_reached"], true);
    assert!(
        report["plan"]["stages"][0]["algorithm"].is_string() && report["switches"].is_array(),
        "{report}"
    );
    assert!(report["workers"].as_u64().is_some_and(|workers| workers <= 2), "{report}");
    let seconds = |name: &str| report[name].as_f64().unwrap();
    assert!(seconds("total_seconds") >= seconds("wall_seconds") + seconds("load_seconds"), "{report}");
    assert!(seconds("overhead_seconds") > 0.0, "{report}");
}

/// On the hinge L-BFGS gets stuck, and its rounds are the same on any number of workers: where it is the only algorithm
/// allowed there is nothing left to try.
#[test]
fn what_got_stuck_is_not_tried_again_on_other_workers() {
    let data = "synthetic:separable,rows=2000,features=20";
    let report = train(
        &[data, "--loss", "hinge", "--algorithm", "l-bfgs", "--max-workers", "2", "--error", "1e-4"],
        3,
    );
    assert_eq!(
        (&report["stop"], &report["switches"]),
        (&"no_progress".into(), &serde_json::json!([])),
        "{report}"
    );
}

#[test]
fn more_ranks_than_rows_are_no_harm() {
    let report =
        train(&["synthetic:separable,rows=3,features=2", "--max-workers", "5", "--error", "1e-2"], 0);
    assert!(report["workers"].as_u64().is_some_and(|workers| workers <= 3), "{report}");
}

#[test]
fn what_is_given_is_not_planned() {
    let data = "synthetic:separable,rows=2000,features=20";
    let report = train(&[data, "--algorithm", "cocoa", "--workers", "2", "--error", "1e-4"], 0);
    assert!(report["plan"].is_null() && report["switches"].as_array().is_some_and(Vec::is_empty), "{report}");
    assert_eq!((report["workers"].as_u64(), report["reason"].as_str()), (Some(2), Some("as asked")));
}
