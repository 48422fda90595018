//! A proof is about the data it was made on, and about no other.

mod sandbox;

use sandbox::{DATA, Sandbox, read_json};
use serde_json::Value;

/// As many rows, values and labels of each kind as before; two labels have changed places.
fn with_swapped_labels() -> String {
    let swapped = DATA.replacen("+1 1:1 ", "-1 1:1 ", 1).replacen("-1 1:-1 ", "+1 1:-1 ", 1);
    assert_ne!(swapped, DATA);
    swapped
}

fn fingerprint(report: &Value) -> &str {
    report["dataset"]["fingerprint"].as_str().unwrap()
}

#[test]
fn swapped_labels_are_not_resumed() {
    let sandbox = Sandbox::new();
    let before = sandbox.json(&["train", "data.libsvm", "--json"]);
    sandbox.write("data.libsvm", &with_swapped_labels());
    let outcome = sandbox.run(&["train", "--resume", "last", "--error", "1e-9"]);
    assert_eq!(outcome.code, Some(2), "{}{}", outcome.stdout, outcome.stderr);
    let run = before["run"].as_str().unwrap();
    let expected =
        format!("the data of run {run} has changed: labels or weights differ, feature values are the same");
    assert!(outcome.stderr.contains(&expected), "{}", outcome.stderr);
    let after = sandbox.json(&["show", "last", "--json"]);
    assert_eq!((&after["status"], &after["report"]["primal"]), (&"done".into(), &before["primal"]));
}

#[test]
fn a_changed_value_is_not_resumed() {
    let sandbox = Sandbox::new();
    sandbox.json(&["train", "data.libsvm", "--json"]);
    sandbox.write("data.libsvm", &DATA.replace("4:0.7", "4:0.70001"));
    let outcome = sandbox.run(&["train", "--resume", "last", "--error", "1e-9"]);
    assert_eq!(outcome.code, Some(2), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stderr.contains("feature values differ, labels are the same"), "{}", outcome.stderr);
}

#[test]
fn data_is_known_by_its_content_not_by_its_name() {
    let sandbox = Sandbox::new();
    let first = sandbox.json(&["train", "data.libsvm", "--json", "--model", "model.json"]);
    let model = read_json(sandbox.work.path().join("model.json"));
    assert_eq!(model["fingerprint"], fingerprint(&first));

    sandbox.write("copy.libsvm", &DATA.replace(" 3:0.2\n", "   3:2e-1 4:0\n"));
    let again = sandbox.json(&["train", "copy.libsvm", "--json"]);
    assert_eq!(fingerprint(&again), fingerprint(&first));
    assert_eq!(again["reused"][0]["run"], first["run"]);
    assert_eq!(again["reused"][0].get("similar"), None, "it is the same, not one like it");

    let scaled = sandbox.json(&["train", "data.libsvm", "--json", "--standardise"]);
    assert_ne!(fingerprint(&scaled), fingerprint(&first), "what was done to it counts");
}

#[test]
fn runs_on_data_that_has_changed_since_are_not_reused() {
    let sandbox = Sandbox::new();
    let first = sandbox.json(&["train", "data.libsvm", "--json"]);
    sandbox.write("data.libsvm", &with_swapped_labels());
    let second = sandbox.json(&["train", "data.libsvm", "--json"]);
    assert_eq!(second["reused"], Value::Array(Vec::new()));
    let explained = sandbox.json(&["explain", "data.libsvm", "--json"]);
    let dropped = explained["dropped"].to_string();
    assert!(
        dropped.contains(first["run"].as_str().unwrap()) && dropped.contains("labels or weights differ"),
        "{dropped}"
    );
}

#[test]
fn experiments_on_data_that_has_changed_since_are_made_again() {
    let sandbox = Sandbox::new();
    let measure =
        ["measure", "data.libsvm", "--engine", "simulated", "--algorithms", "cocoa", "--workers", "1,2"];
    let measure = [&measure[..], &["--rounds", "4", "--json", "-q"]].concat();
    let outcomes = |answer: &Value| -> Vec<String> {
        let experiments = answer["experiments"].as_array().unwrap();
        experiments.iter().map(|experiment| experiment["outcome"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(outcomes(&sandbox.json(&measure)), ["made"; 2]);
    assert_eq!(outcomes(&sandbox.json(&measure)), ["known"; 2]);
    sandbox.write("data.libsvm", &with_swapped_labels());
    assert_eq!(outcomes(&sandbox.json(&measure)), ["made"; 2]);
    let fit = sandbox.json(&["fit", "--json"]);
    assert_eq!(fit["families"].as_array().map(Vec::len), Some(1), "that of the present content: {fit}");
    assert_eq!(fit["other_problems"].as_array().map(Vec::len), Some(1), "that of the other: {fit}");
}
