//! Classes that count more or less than once, on the command line.

mod sandbox;

use sandbox::{Sandbox, read_json};
use serde_json::json;

/// One row in five is spam.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let line = |row: usize| {
        let spam = row.is_multiple_of(5);
        let (exclamations, links) = (row % 7 + if spam { 3 } else { 0 }, (row * 3) % 5);
        format!("{},{exclamations},{links}\n", if spam { "spam" } else { "ham" })
    };
    let rows: String = (0..200).map(line).collect();
    sandbox.write("mail.csv", &format!("kind,exclamations,links\n{rows}"));
    sandbox
}

const TRAIN: &[&str] = &["train", "mail.csv", "--label", "kind", "--workers", "1", "--algorithm", "newton"];

#[test]
fn the_report_and_the_model_say_how_often_classes_count() {
    let sandbox = sandbox();
    let with = |weights: &[&str]| {
        sandbox.json(&[TRAIN, weights, &["--error", "1e-6", "--model", "model.json", "--json"]].concat())
    };
    let plain = with(&[]);
    assert_eq!(plain["dataset"].get("class_weights"), None);
    assert_eq!(read_json(sandbox.work.path().join("model.json")).get("class_weights"), None);

    let named = with(&["--class-weight", "spam=3"]);
    let counted = json!([{"class": "ham", "weight": 1.0}, {"class": "spam", "weight": 3.0}]);
    assert_eq!(named["dataset"]["class_weights"], counted);
    assert_eq!(read_json(sandbox.work.path().join("model.json"))["class_weights"], counted);
    assert_ne!(named["dataset"]["fingerprint"], plain["dataset"]["fingerprint"]);
    assert_eq!(named["dataset"]["source"], plain["dataset"]["source"]);
    assert!(named["primal"].as_f64() > plain["primal"].as_f64(), "some rows count more, none less");

    let balanced = with(&["--class-weight", "balanced"]);
    let counted = json!([{"class": "ham", "weight": 0.625}, {"class": "spam", "weight": 2.5}]);
    assert_eq!(balanced["dataset"]["class_weights"], counted);
}

#[test]
fn the_summary_says_it_and_a_resumed_run_keeps_it() {
    let sandbox = sandbox();
    let weights = ["--class-weight", "spam=3,ham=0.5"];
    let said = sandbox.run(&[TRAIN, &weights, &["--rounds", "1", "--error", "1e-9"]].concat()).stdout;
    assert!(said.contains("rows count by class: ham 0.5, spam 3"), "{said}");
    let resumed = sandbox.json(&["train", "--resume", "last", "--error", "1e-6", "--json"]);
    assert_eq!(resumed["dataset"]["class_weights"][0], json!({"class": "ham", "weight": 0.5}));
    assert!(sandbox.run(&["show", "last"]).stdout.contains("rows count by class: ham 0.5, spam 3"));
}

#[test]
fn plans_and_profiles_see_weights() {
    let sandbox = sandbox();
    let norm = |weights: &[&str]| {
        let arguments = [&["explain", "mail.csv", "--label", "kind", "--json"], weights].concat();
        let explained = sandbox.json(&arguments);
        explained["profile"]["mean_squared_norm"].as_f64().unwrap()
    };
    let [once, twice] = [norm(&[]), norm(&["--class-weight", "spam=2,ham=2"])];
    assert!((twice / once - 2.0).abs() < 1e-6, "{once} and {twice}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let refused = |arguments: &[&str], expected: &[&str]| {
        let sandbox = sandbox();
        let outcome = sandbox.run(&[&["train", "mail.csv", "--label", "kind"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        for text in expected {
            assert!(outcome.stderr.contains(text), "{arguments:?} should say `{text}`: {}", outcome.stderr);
        }
        assert!(sandbox.home_is_empty(), "{arguments:?} wrote something");
    };
    refused(
        &["--class-weight", "spma=3"],
        &["no class “spma”", "hint: did you mean spam? the classes are ham, spam"],
    );
    refused(&["--class-weight", "spam=-1"], &["“-1”", "finite number of 0 or more"]);
    refused(&["--class-weight", "spam"], &["no NAME=WEIGHT"]);
    refused(&["--class-weight", "spam=0,ham=0"], &["all rows have weight 0", "hint:"]);
    refused(&["--class-weight", "balanced", "--loss", "squared"], &["class weights need classes", "hint:"]);
}
