//! Runs that do not end by themselves: killed, interrupted, resumed, two at once.

mod sandbox;

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sandbox::{Sandbox, read_json, wait};
use serde_json::Value;

/// Goes on until it is stopped: tiny steps on a problem that needs many.
const ENDLESS: &[&str] = &[
    "train",
    "synthetic:text,rows=2000,features=500",
    "--lambda=1e-7",
    "--error=1e-14",
    "--local-steps=20",
    "--checkpoint-every=1ms",
    "--score-every=10",
];

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

fn scored(run: &Value) -> bool {
    run["points"].as_array().is_some_and(|points| !points.is_empty())
}

fn can_resume(run: &Value) -> bool {
    scored(run) && run["checkpoint_round"].is_u64()
}

#[test]
fn a_killed_run_is_seen_shown_and_resumed() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.start(ENDLESS);
    let before = sandbox.wait_for_run(can_resume);
    assert_eq!(before["status"], "running");
    let id = before["run"].as_str().unwrap();
    let refused = sandbox.run(&["train", "--resume", id]);
    assert!(refused.stderr.contains("is still being trained by process"), "{}", refused.stderr);
    assert_eq!(refused.code, Some(2));

    child.kill().unwrap();
    child.wait().unwrap();
    let runs = sandbox.json(&["runs", "--json"]);
    assert_eq!(runs["runs"][0]["status"], "died");
    assert!(sandbox.run(&["runs"]).stdout.contains("  died  "));
    let shown = sandbox.run(&["show", id]);
    assert_eq!(shown.code, Some(0));
    assert!(shown.stdout.contains(&format!("hemingway train --resume {id}")), "{}", shown.stdout);

    let reached = sandbox.json(&["show", id, "--json"])["checkpoint_round"].as_u64().unwrap();
    let rounds = (reached + 10).to_string();
    let report = sandbox.json(&["train", "--resume", id, "--rounds", &rounds, "--json"]);
    assert_eq!(report["run"], id);
    assert_eq!(report["rounds"], reached + 10);
    let after = sandbox.json(&["show", id, "--json"]);
    assert_eq!(after["status"], "done");
    let rounds: Vec<u64> =
        after["points"].as_array().unwrap().iter().map(|p| p["round"].as_u64().unwrap()).collect();
    assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]), "{rounds:?}");
    assert_eq!(rounds.last(), Some(&(reached + 10)));
}

#[test]
fn a_run_that_is_killed_again_has_not_lost_what_it_saw() {
    let sandbox = Sandbox::new();
    // Without a checkpoint it begins from nothing again.
    let settings: Vec<&str> =
        ENDLESS.iter().copied().filter(|flag| !flag.starts_with("--checkpoint-every")).collect();
    let count = |run: &Value| run["points"].as_array().map_or(0, Vec::len);
    let mut child = sandbox.start(&[settings.as_slice(), &["--checkpoint-every=1h"]].concat());
    sandbox.wait_for_run(|run| count(run) >= 100);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = sandbox.json(&["show", "last", "--json"]);
    let mut child = sandbox.start(&["train", "--resume", "last"]);
    let seconds = |run: &Value| run["points"][0]["seconds"].clone();
    sandbox.wait_for_run(|run| seconds(run) != seconds(&before));
    child.kill().unwrap();
    child.wait().unwrap();
    let after = sandbox.json(&["show", "last", "--json"]);
    assert!(count(&after) >= count(&before), "{} points became {}", count(&before), count(&after));
    let rising = |name: &str| {
        let values: Vec<f64> =
            after["points"].as_array().unwrap().iter().map(|point| point[name].as_f64().unwrap()).collect();
        values.windows(2).all(|pair| pair[0] < pair[1])
    };
    assert!(rising("round") && rising("seconds"));
}

#[test]
fn a_killed_simulation_resumes_to_the_same_bits() {
    let settings = [
        "train",
        "synthetic:text,rows=2000,features=500",
        "--engine=simulated",
        "--workers=4",
        "--lambda=1e-7",
        "--local-steps=20",
        "--score-every=100",
        "--seed=7",
        "--checkpoint-every=1ms",
        "--json",
        "--model=model.json",
    ];
    let killed = Sandbox::new();
    let mut child = killed.start(&[settings.as_slice(), &["--rounds=1000000000"]].concat());
    killed.wait_for_run(can_resume);
    child.kill().unwrap();
    child.wait().unwrap();
    let reached = killed.json(&["show", "last", "--json"])["checkpoint_round"].as_u64().unwrap();
    let rounds = format!("--rounds={}", reached + 350);
    let resumed = killed.json(&["train", "--resume=last", "--json", &rounds]);

    let whole = Sandbox::new();
    let uninterrupted = whole.json(&[settings.as_slice(), &[&rounds]].concat());
    let weights = |sandbox: &Sandbox| read_json(sandbox.work.path().join("model.json"))["weights"].clone();
    assert!(weights(&killed) == weights(&whole), "the weights differ");
    for field in ["rounds", "primal", "dual", "certified_error", "stop"] {
        assert_eq!(resumed[field], uninterrupted[field], "{field}");
    }
}

#[test]
fn an_interrupted_run_saves_its_model() {
    for name in [Signal::INT, Signal::TERM] {
        let sandbox = Sandbox::new();
        let child = sandbox.start(&[ENDLESS, &["--json"]].concat());
        sandbox.wait_for_run(scored);
        signal(&child, name);
        let outcome = wait(child);
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        let report = outcome.json();
        assert_eq!(report["stop"], "interrupted");
        assert_eq!(report["goal_reached"], false);
        let model = report["model"].as_str().unwrap();
        assert_eq!(read_json(model)["format"], "hemingway-model");
        let predicted = sandbox.run(&["predict", model, "synthetic:text,rows=5,features=500"]);
        assert_eq!(predicted.stdout.lines().count(), 5, "{}", predicted.stderr);
        assert!(sandbox.run(&["runs"]).stdout.contains("interrupted"));
    }
}

#[test]
fn an_interrupted_run_of_several_classes_says_what_is_missing() {
    let sandbox = Sandbox::new();
    let value =
        |at: usize, j: usize| format!(" {}:0.{}", 50 * j + at * (j + 7) % 50 + 1, at * 31 * (j + 1) % 97 + 1);
    let row =
        |at: usize| format!("{}{}\n", at * at % 7 % 3, (0..10).map(|j| value(at, j)).collect::<String>());
    sandbox.write("three.libsvm", &(0..2000).map(row).collect::<String>());
    let fixed = ["train", "three.libsvm", "--algorithm=cocoa", "--workers=1"];
    let child = sandbox.start(&[&fixed, &ENDLESS[2..]].concat());
    sandbox.wait_for_run(|run| run["classes"].as_array().is_some_and(|classes| !classes.is_empty()));
    signal(&child, Signal::INT);
    let outcome = wait(child);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("interrupted with 0 of 3 classes done"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hemingway train --resume last"), "{}", outcome.stderr);
    assert!(sandbox.run(&["show", "last"]).stdout.contains("1 of 3 classes begun"));
    let report = sandbox.run(&["train", "--resume", "last", "--within", "100ms", "--json"]).json();
    assert_eq!(report["classes"].as_array().unwrap().len(), 3);
    assert_eq!(read_json(report["model"].as_str().unwrap())["classes"].as_array().unwrap().len(), 3);
}

#[test]
fn two_runs_share_one_store() {
    let sandbox = Sandbox::new();
    let arguments =
        |seed| ["train", "data.libsvm", "--json", "--score-every=1", "--error=1e-6", "--seed", seed];
    let children: Vec<Child> = ["1", "2", "3", "4"].map(|seed| sandbox.start(&arguments(seed))).into();
    for child in children {
        let outcome = wait(child);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    let runs = sandbox.json(&["runs", "--json"]);
    let runs = runs["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().all(|run| run["status"] == "done" && run["goal_reached"] == true));
}

#[test]
fn changed_data_is_not_resumed() {
    let sandbox = Sandbox::new();
    sandbox.json(&["train", "data.libsvm", "--json"]);
    sandbox.write("data.libsvm", &format!("{}+1 1:1\n", sandbox::DATA));
    let outcome = sandbox.run(&["train", "--resume", "last", "--error", "1e-9"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("has changed: it had 10 rows"), "{}", outcome.stderr);
}

/// Rounds of some seconds: the first makes a checkpoint, and the next is cut short.
#[test]
fn a_long_round_is_cut_short() {
    for engine in ["--engine=threads", "--engine=simulated"] {
        let sandbox = Sandbox::new();
        let data = "synthetic:separable,rows=100,features=2";
        let long =
            [engine, "--workers=2", "--algorithm=cocoa", "--local-steps=100000000", "--checkpoint-every=1ms"];
        let child = sandbox.start(&[&["train", data, "--error=1e-15", "--json"], &long[..]].concat());
        let before = sandbox.wait_for_run(can_resume);
        // Anywhere in the round that follows.
        std::thread::sleep(Duration::from_millis(200));
        signal(&child, Signal::TERM);
        let begun = Instant::now();
        let outcome = wait(child);
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        let report = outcome.json();
        assert_eq!(report["stop"], "interrupted");
        assert!(report["rounds"].as_u64() >= before["checkpoint_round"].as_u64(), "{report}");
        assert_eq!(read_json(report["model"].as_str().unwrap())["format"], "hemingway-model");
        let after = sandbox.json(&["show", "last", "--json"]);
        assert_eq!(after["status"], "done");
        assert_eq!(after["points"].as_array().unwrap().last().unwrap()["round"], report["rounds"]);
    }
}

#[test]
fn a_first_round_without_end_is_told_apart() {
    let sandbox = Sandbox::new();
    let child = sandbox.start(&["train", "data.libsvm", "--rounds", "1", "--local-steps", "100000000000"]);
    sandbox.wait_for_run(|_| true);
    signal(&child, Signal::TERM);
    let begun = Instant::now();
    let outcome = wait(child);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("interrupted before the first checkpoint"), "{}", outcome.stderr);
    assert_eq!(sandbox.json(&["runs", "--json"])["runs"][0]["status"], "failed");
}

#[test]
fn a_second_signal_ends_at_once() {
    let sandbox = Sandbox::new();
    // One round of it takes minutes.
    let child = sandbox.start(&["train", "data.libsvm", "--rounds", "1", "--local-steps", "100000000000"]);
    sandbox.wait_for_run(|_| true);
    signal(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, Signal::INT);
    let begun = Instant::now();
    let outcome = wait(child);
    assert_eq!(outcome.code, Some(130), "{}", outcome.stderr);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(outcome.stderr.contains("once more to stop at once"), "{}", outcome.stderr);
}
