//! `hemingway reproduce` on little data and few experiments, from runs to the page.

mod sandbox;

use rustix::process::{Pid, Signal, kill_process};
use sandbox::{Sandbox, wait};
use serde_json::Value;

const SHORT: [&str; 5] = ["reproduce", "hemingway", "--rounds", "6", "--json"];

#[test]
fn every_figure_and_the_page_are_made_and_runs_are_made_once() {
    let sandbox = Sandbox::new();
    let made = sandbox.run(&SHORT);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stderr.contains("HEMINGWAY_DATA"), "{}", made.stderr);
    let out = sandbox.work.path().join("reproduce/hemingway");
    let names = ["1a", "1b", "1c", "3a", "3b", "4a", "4b", "5a", "5b", "6a", "6b", "7a", "7b", "8a", "8b"];
    let page = std::fs::read_to_string(out.join("hemingway.md")).unwrap();
    for name in names.into_iter().chain(["9a", "9b", "10a", "10b", "1b-averaging", "1c-others"]) {
        let png = std::fs::read(out.join(format!("figures/figure-{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5000, "{name}: {} bytes", png.len());
        let svg = std::fs::read_to_string(out.join(format!("figures/figure-{name}.svg"))).unwrap();
        assert!(svg.contains("Figure"), "{name}");
        let csv = std::fs::read_to_string(out.join(format!("data/figure-{name}.csv"))).unwrap();
        assert!(csv.starts_with("series,mark,x,y\n"), "{name}");
        assert!(page.contains(&format!("(figures/figure-{name}.png)")), "{name}");
    }
    assert!(page.contains("embedded:mnist") && page.contains("10,000 rows"), "{page}");
    let compared = std::fs::read_to_string(out.join("data/figure-1c.csv")).unwrap();
    for name in ["cocoa", "cocoa-plus", "splash", "local-sgd", "local-sgd, 1/(λt)", "local-sgd, 1/10 pass"] {
        assert!(compared.lines().any(|line| line.contains(name)), "{name}: {compared}");
    }
    let report = made.json();
    assert_eq!(report["figures"].as_array().unwrap().len(), 21);
    assert!(report["errors"]["suboptimality"]["median_error"].as_f64().unwrap() < 1.0, "{report}");

    let runs = |sandbox: &Sandbox| sandbox.json(&["runs", "--json"])["runs"].as_array().unwrap().len();
    let before = runs(&sandbox);
    let elsewhere = sandbox.json(&[&SHORT[..], &["--quiet", "--out", "elsewhere"]].concat());
    assert_eq!(elsewhere["errors"], report["errors"]);
    assert_eq!(runs(&sandbox), before);
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_written() {
    let sandbox = Sandbox::new();
    for (arguments, part) in [
        (["--out", "data.libsvm/figures"], "data.libsvm: it is not a directory"),
        (["--lambda", "-1"], "-1"),
        (["--rounds", "0"], "--rounds"),
        (["--data", "missing.libsvm"], "missing.libsvm"),
        (["--positive", "11"], "11"),
    ] {
        let outcome = sandbox.run(&[&["reproduce", "hemingway"][..], &arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "{arguments:?}: {}", outcome.stderr);
        assert!(!sandbox.work.path().join("reproduce").exists(), "{arguments:?}");
    }
    assert!(sandbox.home_is_empty());
}

/// The experiment of Figure 2, which is always made, and one other.
const FEW: [&str; 6] = ["reproduce", "bespoke", "--experiments", "b-googlenet-64", "--seeds", "1"];

#[test]
fn the_figures_on_tuning_are_made_and_studies_are_those_of_tune() {
    let sandbox = Sandbox::new();
    let optimum = sandbox.json(&["tune", "--simulate", "c-speechnet-65536", "--describe"])["optimum"].clone();
    let line = format!(
        r#"{{"tuner": "opentuner", "experiment": "c-speechnet-65536", "run": 1, "optimum": {optimum}, "ratios": [2.5, 2.0]}}"#
    );
    sandbox.write("results.jsonl", &line);
    let made = sandbox.run(&[&FEW[..], &["--rivals", "results.jsonl", "--json"]].concat());
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stderr.contains("2 of 2: "), "{}", made.stderr);
    let (out, report) = (sandbox.work.path().join("reproduce/bespoke"), made.json());
    let page = std::fs::read_to_string(out.join("bespoke.md")).unwrap();
    for name in ["bespoke-1-googlenet-b", "bespoke-1-speechnet-c", "bespoke-2"] {
        let png = std::fs::read(out.join(format!("figures/{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5000, "{name}: {} bytes", png.len());
        let csv = std::fs::read_to_string(out.join(format!("data/{name}.csv"))).unwrap();
        assert!(csv.starts_with("series,mark,x,y\n"), "{name}");
        assert!(page.contains(&format!("(figures/{name}.png)")), "{name}");
    }
    assert!(page.contains("| opentuner | 1 |") && page.contains("--rivals results.jsonl"), "{page}");
    assert_eq!(std::fs::read_to_string(out.join("data/bespoke.csv")).unwrap().lines().count(), 3);
    let names: Vec<&Value> =
        report["convergence"].as_array().unwrap().iter().map(|runs| &runs["name"]).collect();
    assert_eq!(names, ["hemingway", "random search", "opentuner"]);

    let alone = ["tune", "--simulate", "b-googlenet-64", "--seed", "1", "--stop-below", "0", "--json", "-q"];
    let alone = sandbox.json(&alone);
    let chosen: Vec<&Value> =
        alone["evaluations"].as_array().unwrap().iter().map(|step| &step["best_exact"]).collect();
    assert_eq!(report["experiments"][0]["experiment"], "b-googlenet-64");
    assert_eq!(report["experiments"][0]["studies"][0]["seconds"], serde_json::json!(chosen));
}

#[test]
fn without_rivals_the_page_says_so_and_an_interruption_writes_nothing() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.start(&["reproduce", "bespoke", "--seeds", "50"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    assert!(child.try_wait().unwrap().is_none(), "it was too fast to be interrupted");
    let outcome = wait(child);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing was written"), "{}", outcome.stderr);
    assert!(!sandbox.work.path().join("reproduce").exists());

    let made =
        sandbox.run(&[&FEW[..2], &["--experiments", "c-speechnet-65536", "--seeds", "1", "-q"]].concat());
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""));
    let page = std::fs::read_to_string(sandbox.work.path().join("reproduce/bespoke/bespoke.md")).unwrap();
    assert!(page.contains("Other tuners are left out") && page.contains("**Left out:**"), "{page}");
}

#[test]
fn what_makes_no_sense_for_a_paper_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "old.jsonl",
        r#"{"tuner":"optuna","experiment":"c-speechnet-65536","optimum":1.0,"ratios":[1.0]}"#,
    );
    for (arguments, part) in [
        (["--lambda", "1"], "--lambda"),
        (["--seeds", "0"], "--seeds = 0 is out of range"),
        (["--experiments", "d"], "there is no experiment `d`"),
        (["--rivals", "missing.jsonl"], "missing.jsonl"),
        (["--rivals", "data.libsvm"], "data.libsvm: line 1"),
        (["--rivals", "old.jsonl"], "old.jsonl: it is of another simulator"),
        (["--out", "data.libsvm/figures"], "data.libsvm: it is not a directory"),
    ] {
        let outcome = sandbox.run(&[&["reproduce", "bespoke"][..], &arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "{arguments:?}: {}", outcome.stderr);
        assert!(!sandbox.work.path().join("reproduce").exists(), "{arguments:?}");
    }
    let seeds = sandbox.run(&["reproduce", "hemingway", "--seeds", "2"]);
    assert_eq!(seeds.code, Some(2), "{}", seeds.stderr);
}

/// Experiments on small dense rows, which are generated.
const SMALL: [&str; 6] = ["reproduce", "dataset-matters", "--experiments", "figure-7", "--seeds", "2"];

#[test]
fn the_experiments_on_datasets_are_made_and_claims_get_verdicts() {
    let sandbox = Sandbox::new();
    let made = sandbox.run(&[&SMALL[..], &["--json"]].concat());
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stderr.contains("HEMINGWAY_DATA") && made.stderr.contains("2 of 2: "), "{}", made.stderr);
    let (out, report) = (sandbox.work.path().join("reproduce/dataset-matters"), made.json());
    let page = std::fs::read_to_string(out.join("dataset-matters.md")).unwrap();
    for name in ["dataset-matters-7a", "dataset-matters-7b"] {
        let png = std::fs::read(out.join(format!("figures/{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5000, "{name}: {} bytes", png.len());
        let csv = std::fs::read_to_string(out.join(format!("data/{name}.csv"))).unwrap();
        assert_eq!(csv.lines().count(), 1 + 6 * 101, "{name}");
        assert!(page.contains(&format!("(figures/{name}.png)")), "{name}");
    }
    let gaps = std::fs::read_to_string(out.join("data/dataset-matters-gaps.csv")).unwrap();
    assert_eq!(gaps.lines().count(), 1 + 2 * 2, "{gaps}");
    assert_eq!(report["claims"][0]["experiment"], "figure-7");
    let verdict = report["claims"][0]["verdict"].as_str().unwrap();
    let words = match verdict {
        "confirmed" => "**confirmed**",
        "restricted" => "**confirmed with a restriction**",
        "not_confirmed" => "**not confirmed**",
        other => panic!("{other}"),
    };
    assert!(page.contains(words) && page.contains("**They are generated."), "{page}");
    let first = &report["gaps"][0]["gaps"];
    // One row at a time is far too noisy for steps of this size, as in the paper.
    assert!(first["early"]["median"].as_f64().unwrap() > 0.3, "{first}");
}

#[test]
fn experiments_on_datasets_that_are_interrupted_or_unknown_write_nothing() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.start(&["reproduce", "dataset-matters"]);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    assert!(child.try_wait().unwrap().is_none(), "it was too fast to be interrupted");
    let outcome = wait(child);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing was written"), "{}", outcome.stderr);
    for (arguments, part) in [
        (["--experiments", "figure-11"], "there is no experiment `figure-11`: there are figure-3, "),
        (["--seeds", "0"], "--seeds = 0 is out of range"),
        (["--out", "data.libsvm/figures"], "data.libsvm: it is not a directory"),
    ] {
        let outcome = sandbox.run(&[&["reproduce", "dataset-matters"][..], &arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "{arguments:?}: {}", outcome.stderr);
    }
    assert!(!sandbox.work.path().join("reproduce").exists());
}
