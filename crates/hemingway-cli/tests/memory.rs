//! Memory is a budget: features that occur nowhere cost nothing, and a run that cannot fit says so before it begins.

mod sandbox;

use std::process::Command;

use sandbox::{Outcome, Sandbox, finish, read_json};
use serde_json::Value;

/// Four lines with features of the largest numbers there are.
const GAPPED: &str = "\
+1 3:1 100000000:0.5
-1 3:-1 4000000000:0.25
+1 100000000:1
-1 4000000000:1 4294967295:0.5
";

/// The same with the features renumbered.
const RENUMBERED: &str = "\
+1 1:1 2:0.5
-1 1:-1 3:0.25
+1 2:1
-1 3:1 4:0.5
";

/// Runs the command with an address space of so many kilobytes, as `ulimit -v` sets it.
fn within(sandbox: &Sandbox, kilobytes: u64, arguments: &[&str]) -> Outcome {
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\""));
    let inner = sandbox.command(arguments);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(sandbox.work.path());
    command.stdin(std::process::Stdio::null());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    finish(command)
}

fn gapped() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("gapped.libsvm", GAPPED);
    sandbox.write("renumbered.libsvm", RENUMBERED);
    sandbox.write("test.libsvm", "+1 5:1 100000000:2\n-1 99999999:3 4000000000:1 4294967295:1\n");
    sandbox
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn four_lines_with_huge_indices_train_test_and_predict_in_little_memory() {
    let sandbox = gapped();
    let train = ["train", "gapped.libsvm", "--test", "test.libsvm", "--model", "model.json", "--json"];
    let outcome = within(&sandbox, 1_000_000, &train);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let report = outcome.json();
    assert_eq!(report["dataset"]["features"], 4_294_967_295u64);
    assert_eq!(report["dataset"]["occurring"], 4);
    assert_eq!((&report["test_accuracy"], &report["test_dropped_values"]), (&1.0.into(), &2.into()));

    let model = read_json(sandbox.work.path().join("model.json"));
    assert_eq!((&model["version"], &model["features"]), (&2.into(), &4_294_967_295u64.into()));
    assert_eq!(model["indices"], serde_json::json!([2, 99_999_999, 3_999_999_999u32, 4_294_967_294u32]));

    let predict = within(&sandbox, 1_000_000, &["predict", "model.json", "test.libsvm", "--json"]);
    assert_eq!(predict.code, Some(0), "{}", predict.stderr);
    let predicted = predict.json();
    assert_eq!(predicted["predictions"], serde_json::json!(["+1", "-1"]));
    assert_eq!(predicted["dropped_values"], 2);
}

#[test]
fn gaps_change_nothing_but_the_numbers_of_features() {
    let sandbox = gapped();
    let settings: [&[&str]; 5] = [
        &["--error", "1e-6"],
        &["--algorithm", "l-bfgs", "--workers", "2", "--standardise"],
        &["--engine", "simulated", "--workers", "3", "--bias", "--normalise", "rows"],
        &["--algorithm", "newton", "--loss", "hinge"],
        &["--fraction", "0.5", "--rounds", "3", "--algorithm", "local-sgd"],
    ];
    for extra in settings {
        let model = |data: &str| {
            let outcome = sandbox.run(&[&["train", data, "--model", "model.json", "--json"], extra].concat());
            assert!(matches!(outcome.code, Some(0 | 3)), "{extra:?}: {}", outcome.stderr);
            read_json(sandbox.work.path().join("model.json"))
        };
        let (gapped, renumbered) = (model("gapped.libsvm"), model("renumbered.libsvm"));
        assert_eq!(renumbered["version"], 1);
        for field in ["weights", "bias", "transform", "primal", "dual"] {
            assert_eq!(gapped[field], renumbered[field], "{field} with {extra:?}");
        }
    }
}

#[test]
fn an_interrupted_run_on_data_with_gaps_goes_on() {
    let sandbox = gapped();
    let train =
        ["train", "gapped.libsvm", "--algorithm", "cocoa", "--workers", "2", "--rounds", "3", "--json"];
    let begun = sandbox.json(&train);
    let resume = ["train", "--resume", "last", "--rounds", "6", "--model", "on.json", "--json"];
    assert_eq!(sandbox.json(&resume)["rounds"], 6);
    let whole: Vec<&str> = train.iter().map(|word| if *word == "3" { "6" } else { word }).collect();
    let through = sandbox.json(&whole);
    let weights = |file: &str| numbers(&read_json(sandbox.work.path().join(file))["weights"]);
    assert_eq!(weights("on.json"), weights(through["model"].as_str().unwrap()));
    assert_ne!(begun["primal"], through["primal"]);
}

#[test]
fn features_are_reported_as_the_user_counts_them() {
    let sandbox = gapped();
    let expected = "4 rows, 4,294,967,295 features, 4 of which occur";
    for arguments in [&["train", "gapped.libsvm"][..], &["show", "last"], &["explain", "gapped.libsvm"]] {
        let text = sandbox.run(arguments).stdout;
        // Lines are wrapped.
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(expected), "{text}");
    }
}

/// Every other of 200,000 features occurs, which is too many to leave the others out.
fn wide() -> Sandbox {
    let sandbox = Sandbox::new();
    let row = |first: usize| (0..50_000).map(|at| format!(" {}:1", first + 2 * at)).collect::<String>();
    let text: String = [1, 2, 100_001, 100_002]
        .iter()
        .enumerate()
        .map(|(at, first)| format!("{}{}\n", at % 2, row(*first)))
        .collect();
    sandbox.write("wide.libsvm", &text);
    sandbox
}

fn check_refused(sandbox: &Sandbox, outcome: &Outcome, expected: &[&str]) {
    for text in expected {
        assert!(outcome.stderr.contains(text), "should say `{text}`:\n{}", outcome.stderr);
    }
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(sandbox.home_is_empty(), "something was written");
}

#[test]
fn a_run_beyond_the_limit_is_refused_in_one_sentence() {
    let sandbox = wide();
    let lbfgs = ["train", "wide.libsvm", "--algorithm", "l-bfgs", "--workers", "4"];
    let outcome = sandbox.run(&[&lbfgs[..], &["--memory-limit", "200M"]].concat());
    let sentence = [
        "error: this run needs about",
        "4 workers of l-bfgs",
        "the limit is 200 MiB (set by --memory-limit)",
    ];
    check_refused(&sandbox, &outcome, &sentence);
    assert_eq!(outcome.stderr.trim().lines().count(), 1, "{}", outcome.stderr);
    let outcome = within(&sandbox, 700_000, &lbfgs);
    check_refused(&sandbox, &outcome, &["this run needs about", "set by ulimit -v"]);
    let outcome = within(&sandbox, 700_000, &[&lbfgs[..], &["--memory-limit", "64G"]].concat());
    check_refused(&sandbox, &outcome, &["set by ulimit -v"]);
}

#[test]
fn a_plan_leaves_out_what_does_not_fit_and_says_why() {
    let sandbox = wide();
    let explain = ["explain", "wide.libsvm", "--error", "1e-3", "--memory-limit", "80M", "--json"];
    let outcome = sandbox.run(&explain);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let plan = outcome.json();
    let rejected = plan["rejected"].as_array().unwrap();
    let lbfgs = rejected.iter().find(|lost| lost["name"] == "l-bfgs").expect("l-bfgs is rejected");
    assert!(lbfgs["reason"].as_str().unwrap().starts_with("it needs about"), "{lbfgs}");
    assert_ne!(plan["plan"]["algorithm"], "l-bfgs");

    let outcome = sandbox.run(&["train", "wide.libsvm", "--error", "1e-3", "--memory-limit", "10M"]);
    check_refused(&sandbox, &outcome, &["this run needs about", "the limit is 10 MiB"]);
}

#[test]
fn data_beyond_the_limit_is_refused_with_its_name_and_figures() {
    let sandbox = wide();
    let check = |arguments: &[&str], expected: &[&str]| {
        check_refused(&sandbox, &sandbox.run(arguments), expected);
    };
    sandbox.write("long.libsvm", &"1 1:1\n0 2:1\n".repeat(100_000));
    check(
        &["train", "long.libsvm", "--memory-limit", "1M"],
        &["long.libsvm: its first", "limit is 1.0 MiB", "hint:"],
    );
    check(
        &["train", "wide.libsvm", "--memory-limit", "1M"],
        &["wide.libsvm: a line of more than", "1.0 MiB"],
    );
    let large = "synthetic:separable,rows=1000000,features=2000";
    check(&["train", large, "--memory-limit", "1G"], &["1000000 rows take about 7.5 GiB", "1.0 GiB"]);
    check(&["explain", large, "--error", "1e-3", "--memory-limit", "1G"], &["7.5 GiB"]);
    check(&["train", "wide.libsvm", "--memory-limit", "much"], &["“much” is not a size", "8G"]);
    check(&["train", "wide.libsvm", "--workers", "1000000000"], &["1000000000 workers", "4 rows"]);
    let lbfgs =
        ["train", "data.libsvm", "--algorithm", "l-bfgs", "--memory", "1000000000000", "--error", "1e-3"];
    check(&lbfgs, &["this run needs about"]);
    let batch = ["train", "data.libsvm", "--algorithm", "minibatch-sgd", "--batch", "1000000000000"];
    check(&batch, &["this run needs about"]);
    let outcome = within(&sandbox, 600_000, &["train", large]);
    check_refused(&sandbox, &outcome, &["1000000 rows take about 7.5 GiB"]);
}

#[test]
fn a_run_may_get_more_memory_when_it_goes_on() {
    let sandbox = wide();
    let train = [
        "train",
        "wide.libsvm",
        "--algorithm",
        "l-bfgs",
        "--rounds",
        "2",
        "--memory-limit",
        "400M",
        "--json",
    ];
    assert_eq!(sandbox.json(&train)["rounds"], 2);
    let refused = sandbox.run(&["train", "--resume", "last", "--rounds", "30", "--memory-limit", "40M"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("the limit is 40 MiB"), "{}", refused.stderr);
    let on = sandbox.json(&["train", "--resume", "last", "--rounds", "4", "--memory-limit", "1G", "--json"]);
    assert_eq!(on["rounds"], 4);
}
