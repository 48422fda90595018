//! `hemingway measure`: experiments into the store, and what `fit` makes of them.

mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;

const DATA: &str = "synthetic:separable,rows=400,features=10";

/// Experiments on simulated workers.
fn measure<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["measure", DATA, "--engine", "simulated", "--algorithms", "cocoa,l-bfgs"];
    arguments.extend(["--error", "1e-9", "--json", "-q"]);
    arguments.extend(rest);
    arguments
}

fn outcomes(answer: &Value) -> Vec<&str> {
    let experiments = answer["experiments"].as_array().unwrap();
    experiments.iter().map(|experiment| experiment["outcome"].as_str().unwrap()).collect()
}

#[test]
fn experiments_are_made_once_and_go_on_from_where_they_were() {
    let sandbox = Sandbox::new();
    let first = sandbox.json(&measure(&["--workers", "1,2,4", "--rounds", "8"]));
    assert_eq!(outcomes(&first), ["made"; 6]);
    assert_eq!(outcomes(&sandbox.json(&measure(&["--workers", "1,2,4", "--rounds", "8"]))), ["known"; 6]);

    let longer = sandbox.json(&measure(&["--workers", "2,8", "--rounds", "12"]));
    assert_eq!(longer["experiments"][0]["run"], first["experiments"][1]["run"]);
    assert_eq!(longer["experiments"][0]["rounds"], 12);
    let runs = sandbox.json(&["runs", "--json"]);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 8);
}

#[test]
fn samples_have_their_share_of_the_rows_and_impossible_experiments_are_left_out() {
    let sandbox = Sandbox::new();
    let answer = sandbox.json(&measure(&["--workers", "1,50", "--fractions", "0.1,1", "--rounds", "3"]));
    assert_eq!(outcomes(&answer)[..4], ["made", "impossible", "made", "made"]);
    assert!(answer["experiments"][1]["reason"].as_str().unwrap().contains("41 rows"), "{answer}");
    let run = answer["experiments"][0]["run"].as_str().unwrap();
    assert_eq!(sandbox.json(&["show", run, "--json"])["dataset"]["rows"], 41, "each class is rounded");
}

#[test]
fn mistakes_are_found_before_the_first_run() {
    let sandbox = Sandbox::new();
    for (flags, part) in [
        (["--algorithms", "cocoa,nonsense"], "nonsense"),
        (["--fractions", "1,0"], "--fraction = 0"),
        (["--fractions", "1.5"], "1.5"),
        (["--workers", "1,0"], "worker"),
        (["--rounds", "0"], "--rounds"),
        (["--error", "-1"], "--error"),
    ] {
        let outcome = sandbox.run(&["measure", flags[0], flags[1]]);
        assert_eq!(outcome.code, Some(2), "{flags:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "{flags:?}: {}", outcome.stderr);
    }
    assert!(sandbox.home_is_empty());
}

#[test]
fn models_of_stored_runs_look_ahead() {
    let sandbox = Sandbox::new();
    let none = sandbox.run(&["fit"]);
    assert_eq!(none.code, Some(2), "{}", none.stdout);
    assert!(none.stderr.contains("hint"), "{}", none.stderr);

    sandbox.json(&measure(&["--workers", "1,2,4,8", "--rounds", "40"]));
    let answer = sandbox.json(&["fit", "--goal", "1e-2", "--workers", "3,16", "--json"]);
    let families = answer["families"].as_array().unwrap();
    assert_eq!(families.len(), 2);
    for family in families {
        let [between, beyond] = [0, 1].map(|k| &family["forecasts"][k]);
        for forecast in [between, beyond] {
            let [low, mean, high] =
                ["low", "mean", "high"].map(|name| forecast["seconds"][name].as_f64().unwrap());
            assert!(0.0 < low && low <= mean && mean <= high, "{forecast}");
        }
        assert!(beyond["warning"].as_str().unwrap().contains("2.0"), "{beyond}");
    }
    let quality = sandbox.json(&["fit", "--json"]);
    let errors = quality["errors"].as_array().unwrap();
    let asked = |question: &str, method: &str| {
        errors.iter().any(|error| error["question"] == question && error["method"] == method)
    };
    assert!(asked("seconds_held_out", "model") && asked("seconds_held_out", "ernest"), "{quality}");
    assert!(asked("rounds_inside", "model") && asked("rounds_inside", "lasso"), "{quality}");
    let text = sandbox.run(&["fit", "--within", "1s"]).stdout;
    assert!(text.contains("cocoa") && text.contains("value"), "{text}");
}

#[test]
fn an_interrupted_run_of_experiments_says_how_to_go_on() {
    let sandbox = Sandbox::new();
    let arguments =
        ["measure", "--algorithms", "minibatch-sgd", "--workers", "1", "--rounds", "100000000", "--json"];
    let child = sandbox.start(&arguments);
    // An experiment is not the last run that was asked for, so it goes by its name.
    let begun = |sandbox: &Sandbox| {
        let runs = sandbox.run(&["runs", "--json"]);
        let name =
            (runs.code == Some(0)).then(|| runs.json()["runs"][0]["run"].as_str().map(str::to_owned))??;
        let points = sandbox.json(&["show", &name, "--json"])["points"].as_array().map_or(0, Vec::len);
        (points > 2).then_some(())
    };
    while begun(&sandbox).is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let outcome = sandbox::wait(child);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the same command goes on"), "{}", outcome.stderr);
    assert_eq!(outcome.json()["experiments"][0]["stop"], "interrupted");
}
