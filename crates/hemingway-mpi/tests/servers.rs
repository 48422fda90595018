//! Ranks that hold the weights, and workers that ask them.

mod cluster;

use cluster::{Conversation, command, text};
use hemingway_data::{LoadOptions, Transform, load};
use hemingway_train::protocol::{Command, ExternalJob, Message, PROTOCOL, Source, Stage};
use hemingway_train::{
    Cluster, Engine, Job, Loss, Machine, Parameters, Point, Problem, Run, Scoring, Seconds, Simulated, Start,
    Stop, StopRules, algorithm,
};

const ROWS: u64 = 403;
const FEATURES: f64 = 12.0;
const BATCH: usize = 4;
const DATA: &str = "synthetic:separable,rows=403,features=12,seed=3";

fn job(stages: Vec<Stage>) -> ExternalJob {
    ExternalJob {
        protocol: PROTOCOL,
        data: Source {
            spec: DATA.to_owned(),
            options: LoadOptions::default(),
            class_weight: None,
            normalise_rows: false,
            standardise: true,
        },
        problem: Problem::new(Loss::Logistic, 1e-2).unwrap(),
        seed: 5,
        scoring: Scoring::Every(5),
        checkpoint_every: Some(Seconds(0.1)),
        stages,
        workers: None,
        closer_look: false,
        checkpoint: None,
        heartbeat: None,
    }
}

fn stage(name: &str, workers: usize, servers: Option<usize>, stop: StopRules) -> Stage {
    let batch = (name == "async-sgd").then_some(BATCH);
    let parameters = Parameters { servers, batch, ..Parameters::default() };
    Stage { algorithm: name.to_owned(), parameters, workers, stop }
}

fn rounds(rounds: u64) -> StopRules {
    StopRules { rounds: Some(rounds), ..StopRules::default() }
}

fn finished(messages: &[Message]) -> &Run {
    match messages.last() {
        Some(Message::Finished { run, .. }) => run,
        other => panic!("{other:?}"),
    }
}

/// Each step is asked for with a number and two places for each feature. Rounds are passes of all workers together.
#[test]
fn workers_reach_a_certified_error_through_servers() {
    for servers in [1, 2] {
        for workers in [1, 2, 3] {
            let stop = StopRules { error: Some(1e-2), rounds: Some(2000), ..StopRules::default() };
            let job = job(vec![stage("async-sgd", workers, Some(servers), stop)]);
            let run = finished(&cluster::run(workers + servers, &job)).clone();
            let what = format!("{workers} workers, {servers} servers: {run:?}");
            assert!(run.stop == Stop::Error && run.certified_error <= 1e-2, "{what}");
            let steps = run.effort.iterations as f64;
            let least = (run.rounds * ROWS) as f64 / BATCH as f64;
            assert!(
                steps >= least - 1.0 && steps <= least + (run.rounds as usize * workers) as f64,
                "{what}"
            );
            let bytes = run.effort.bytes_per_worker * workers as f64;
            let expected = steps * 16.0 * FEATURES;
            assert!(bytes >= 0.99 * expected && bytes <= 1.1 * expected + 10_000.0, "{bytes}, {what}");
        }
    }
}

/// With one worker nobody comes in between, so it does not matter where the servers are.
#[test]
fn one_worker_gets_the_weights_of_the_simulation() {
    let mut data = load(DATA, &LoadOptions::default()).unwrap();
    Transform::fit(&data, false, true).apply(&mut data);
    for servers in [1, 3] {
        let stages = vec![stage("async-sgd", 1, Some(servers), rounds(20))];
        let job = ExternalJob { checkpoint_every: None, ..job(stages) };
        let messages = cluster::run(1 + servers, &job);
        let ranks = finished(&messages);
        let Stage { algorithm: name, parameters, stop, .. } = &job.stages[0];
        let algorithm = algorithm(name, parameters).unwrap();
        let simulated = Job {
            problem: job.problem,
            algorithm: algorithm.as_ref(),
            workers: 1,
            seed: job.seed,
            stop: *stop,
            scoring: job.scoring,
            start: Start::Zero,
            checkpoint_every: None,
            interrupt: None,
            hand_over: None,
        };
        let engine = Simulated::new(Cluster::of(Machine::default()));
        let simulated = engine.run(&data, &simulated, &mut |_| Ok(())).unwrap();
        assert_eq!((ranks.rounds, ranks.effort), (simulated.rounds, simulated.effort), "{servers} servers");
        for (ours, theirs) in ranks.model.weights.iter().zip(&simulated.model.weights) {
            assert!((ours - theirs).abs() <= 1e-12, "{servers} servers: {ours} for {theirs}");
        }
    }
}

/// A stage that would never end, handed over after a few scores: its points.
fn hand_over(ranks: &mut Conversation, stage: Stage, chosen: &[usize]) -> Vec<Point> {
    ranks.tell(&Command::Stage { stage: Box::new(stage), ranks: chosen.to_vec() });
    let mut points = Vec::new();
    loop {
        match ranks.hear().expect("the stage has not ended") {
            Message::Point(point) => points.push(point),
            Message::Finished { run, .. } => {
                assert!(run.stop.hands_over(), "{:?}", run.stop);
                return points;
            }
            Message::Loaded(_) | Message::Begun { .. } | Message::Checkpoint { .. } => {}
            other => panic!("{other:?}"),
        }
        if points.len() >= 3 {
            ranks.tell(&Command::HandOver { duals: true });
        }
    }
}

#[test]
fn servers_come_and_go_between_stages() {
    let mut ranks = Conversation::begin(3, &ExternalJob { workers: Some(3), ..job(Vec::new()) });
    let forever = StopRules::default();
    let stages = [
        (stage("async-sgd", 2, Some(1), forever), vec![]),
        (stage("cocoa", 3, None, forever), vec![]),
        (stage("async-sgd", 1, Some(2), forever), vec![]),
        (stage("l-bfgs", 2, None, rounds(10_000)), vec![]),
        (stage("async-sgd", 2, Some(1), forever), vec![0, 2, 1]),
    ];
    assert!(matches!(ranks.hear(), Some(Message::Hello { .. })));
    assert!(matches!(ranks.hear(), Some(Message::Loaded(_))));
    let mut points = Vec::new();
    for (stage, chosen) in stages {
        points.extend(hand_over(&mut ranks, stage, &chosen));
    }
    assert!(points.is_sorted_by(|a, b| a.round < b.round), "{points:?}");
    assert!(points.is_sorted_by(|a, b| a.certified_error >= b.certified_error), "{points:?}");
    ranks.tell(&Command::Done);
    assert!(ranks.end().success());
}

#[test]
fn stages_in_advance_have_servers_too() {
    let stages = vec![
        stage("async-sgd", 2, Some(2), rounds(10)),
        stage("cocoa-plus", 4, None, rounds(10)),
        stage("async-sgd", 3, None, rounds(10)),
    ];
    let messages = cluster::run(4, &job(stages));
    let errors: Vec<f64> = messages
        .iter()
        .filter_map(|message| if let Message::Finished { run, .. } = message { Some(run) } else { None })
        .map(|run| run.primal)
        .collect();
    assert_eq!(errors.len(), 3);
    // CoCoA+ comes to the optimum; stochastic steps before and after it stay near.
    assert!(errors.iter().all(|error| *error >= errors[1] && *error < 1.02 * errors[1]), "{errors:?}");
}

#[test]
fn ranks_that_are_too_few_for_servers_are_refused() {
    let refused = |stage: Stage, ranks: usize, part: &str| {
        let output = cluster::tell(ranks, &serde_json::to_string(&job(vec![stage])).unwrap());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{part}\nnot in\n{said}");
    };
    let wanted = "2 workers and 1 server, but 2 were started";
    refused(stage("async-sgd", 2, None, rounds(1)), 2, wanted);
    refused(stage("hogwild", 2, None, rounds(1)), 2, "offers no memory that all workers share");
}

/// A part of the vector that does not fit beside nothing else.
#[test]
fn a_server_without_room_says_so() {
    let mut job = job(vec![stage("async-sgd", 1, Some(1), rounds(1))]);
    let mut limit = |rows_and_features: &str, limit: u64| {
        job.data.spec = format!("synthetic:text,{rows_and_features},seed=3");
        job.data.standardise = false;
        job.data.options.memory_limit = Some(limit);
        cluster::tell(2, &serde_json::to_string(&job).unwrap())
    };
    let fits = limit("rows=300,features=1000", 400 << 20);
    assert!(fits.status.success(), "{}", text(&fits.stderr));
    let refused = limit("rows=300,features=1000", 4000);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

/// `hemingway train` with a server beside its workers, as many of them as are asked for or as there may be.
#[test]
fn a_run_is_planned_around_its_servers() {
    for workers in [["--workers", "2"], ["--max-workers", "2"]] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(folder.path());
        command.args(["train", DATA, "--standardise", "--lambda", "1e-2", "--engine", "mpi", "--json"]);
        command.args(["--algorithm", "async-sgd", "--batch", "4", "--error", "1e-2"]).args(workers);
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&report["algorithm"], &report["goal_reached"]), (&"async-sgd".into(), &true.into()));
        assert!(report["workers"].as_u64().is_some_and(|workers| workers <= 2), "{report}");
    }
}
