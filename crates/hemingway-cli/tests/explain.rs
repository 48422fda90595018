//! `hemingway explain`: a plan with its reasons, and `train`, which does what it says.

mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;

const DATA: &str = "synthetic:separable,rows=2000,features=20";
const CLUSTER: &str = r#"
    [network]
    latency = 1e-3
    [here]
    flops = 1e7
    bytes = 1e8
    [[machines]]
    name = "m"
    count = 16
    price = 3.6
"#;

fn with<'a>(command: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![command, DATA, "--cluster", "cluster.toml", "-q"];
    arguments.extend(rest);
    arguments
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("cluster.toml", CLUSTER);
    sandbox
}

fn seconds(candidate: &Value, name: &str) -> f64 {
    candidate["predicted_seconds"][name].as_f64().unwrap_or_else(|| panic!("{candidate}"))
}

/// The configuration that comes first.
fn first(candidate: &Value) -> &Value {
    &candidate["stages"][0]
}

fn workers(candidate: &Value) -> u64 {
    first(candidate)["workers"].as_u64().unwrap_or_else(|| panic!("{candidate}"))
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name}: {value}"))
}

#[test]
fn the_plan_is_what_train_begins_with() {
    let sandbox = sandbox();
    let answer = sandbox.json(&with("explain", &["--error", "1e-3", "--json"]));
    let plan = &answer["plan"];
    assert!(seconds(plan, "low") < seconds(plan, "mean") && seconds(plan, "mean") < seconds(plan, "high"));
    assert!(plan["cost"].as_f64().unwrap() > 0.0);
    assert!(!list(&answer, "alternatives").is_empty());

    let run = sandbox.json(&with("train", &["--error", "1e-3", "--json"]));
    assert_eq!(run["plan"], *plan);
    assert_eq!(run["goal_reached"], true);
    let truth = run["seconds"].as_f64().unwrap();
    assert!(seconds(plan, "low") / 1.5 <= truth && truth <= seconds(plan, "high") * 1.5, "{truth}: {plan}");
    let switches = list(&run, "switches");
    let began = switches.first().map_or(&run, |switch| &switch["from"]);
    assert_eq!(began["algorithm"], first(plan)["algorithm"]);
    assert_eq!(began["workers"], first(plan)["workers"]);
    let number = |name: &str| run[name].as_f64().unwrap();
    assert!(number("total_seconds") >= number("seconds") && number("overhead_seconds") > 0.0);
    assert_eq!(run["before_seconds"], answer["overhead_seconds"]);
    for switch in switches {
        assert!(switch["at_seconds"].as_f64().unwrap() > 0.0 && switch["reason"] != "", "{switch}");
    }
}

#[test]
fn explain_takes_the_flags_of_train_and_makes_its_plan() {
    let sandbox = sandbox();
    for flags in [
        &["--error", "1e-3"][..],
        &["--error", "1e-3", "--algorithm", "cocoa"],
        &["--error", "1e-3", "--workers", "4"],
        &["--within", "0.5s"],
        &["--error", "1e-2", "--within", "10s"],
        &["--error", "1e-3", "--cheapest", "--max-workers", "1"],
        &["--error", "1e-3", "--budget", "1"],
        &["--error", "1e-3", "--fraction", "0.5", "--seed", "3"],
        &["--error", "1e-3", "--local-steps", "100"],
        &["--error", "1e-2", "--algorithm", "minibatch-sgd", "--batch", "50", "--step-size", "0.1"],
        &["--error", "1e-3", "--test", DATA, "--standardise", "--bias", "--loss", "hinge"],
        &[
            "--error",
            "1e-2",
            "--risk",
            "0.9",
            "--score-every",
            "2",
            "--checkpoint-every",
            "1s",
            "--model",
            "m",
        ],
        &["--error", "1e-2", "--adapt", "off", "--hysteresis", "0.1", "--patience", "60s"],
    ] {
        let [explained, run] =
            ["explain", "train"].map(|command| sandbox.run(&with(command, &[flags, &["--json"]].concat())));
        assert!(matches!(explained.code, Some(0)), "{flags:?}: {}{}", explained.stdout, explained.stderr);
        assert!(matches!(run.code, Some(0 | 3)), "{flags:?}: {}", run.stderr);
        let (explained, run) = (explained.json(), run.json());
        assert!(explained["plan"].is_object(), "{flags:?}: {explained}");
        assert_eq!(explained["plan"], run["plan"], "{flags:?}");
        assert_eq!(explained["alternatives"], run["alternatives"], "{flags:?}");
    }
}

#[test]
fn nothing_is_better_than_the_plan_by_its_criterion() {
    let sandbox = sandbox();
    for flags in [
        &["--error", "1e-3"][..],
        &["--error", "1e-4", "--loss", "hinge"],
        &["--error", "1e-3", "--cheapest"],
        &["--error", "1e-3", "--risk", "0.95"],
        &["--within", "0.5s"],
        &["--within", "0.5s", "--risk", "0.9"],
    ] {
        let answer = sandbox.json(&with("explain", &[flags, &["--json"]].concat()));
        let candidates = [&answer["plan"]].into_iter().chain(list(&answer, "alternatives"));
        let order: Vec<f64> = candidates.map(|of| of["criterion"].as_f64().unwrap()).collect();
        assert!(order.is_sorted(), "{flags:?}: {order:?}");
    }
}

#[test]
fn what_is_fixed_is_predicted_too() {
    let sandbox = sandbox();
    let rest = ["--error", "1e-3", "--algorithm", "cocoa", "--workers", "4", "--json"];
    let fixed = sandbox.json(&with("explain", &rest));
    assert_eq!((first(&fixed["plan"])["algorithm"].as_str(), workers(&fixed["plan"])), (Some("cocoa"), 4));
    assert!(list(&fixed, "alternatives").is_empty(), "{fixed}");
    let rounds = sandbox.json(&with("explain", &["--rounds", "5", "--workers", "4", "--json"]));
    assert_eq!(
        (first(&rounds["plan"])["algorithm"].as_str(), workers(&rounds["plan"])),
        (Some("cocoa-plus"), 4)
    );
    assert!(rounds["reason"].as_str().unwrap().contains("only rounds are asked for"), "{rounds}");
}

#[test]
fn earlier_runs_are_reused_and_named() {
    let sandbox = sandbox();
    let explain = || sandbox.json(&with("explain", &["--error", "1e-3", "--json"]));
    let before = explain();
    assert!(list(&before, "reused").is_empty());
    let run = sandbox.json(&with("train", &["--error", "1e-3", "--json"]));
    let after = explain();
    assert_eq!(after["reused"][0]["run"], run["run"]);
    assert_eq!(after["reused"][0]["what"], "rounds and seconds");
    // What has run is known within a narrower interval.
    let width = |answer: &Value| {
        let all = list(answer, "alternatives").iter().chain([&answer["plan"]]);
        let same = |of: &&Value| {
            let of = first(of);
            of["algorithm"] == run["algorithm"] && of["workers"] == run["workers"] && of["passes"] == 1.0
        };
        let found = all.filter(|of| list(of, "stages").len() == 1).find(same).unwrap();
        seconds(found, "high") / seconds(found, "low")
    };
    assert!(width(&after) < 0.8 * width(&before), "{} after {}", width(&after), width(&before));

    // On other machines only the rounds hold.
    sandbox.write("cluster.toml", &CLUSTER.replace("1e7", "2e7"));
    assert_eq!(explain()["reused"][0]["what"], "rounds");
    // Similar data is said to be that, and other data is not reused.
    let explain = |data: &str| {
        sandbox.json(&["explain", data, "--cluster", "cluster.toml", "--error", "1e-3", "--json", "-q"])
    };
    let similar = explain("synthetic:separable,rows=2200,features=20");
    assert_eq!(similar["reused"][0]["similar"], DATA);
    assert!(list(&explain("synthetic:separable,rows=4000,features=20"), "reused").is_empty());
}

#[test]
fn data_that_has_changed_is_noticed() {
    let sandbox = sandbox();
    let lines = |count: usize| {
        let line = |row: usize| {
            format!("{} 1:{} 2:{}\n", if row.is_multiple_of(3) { "-1" } else { "+1" }, row % 7, row % 5)
        };
        (0..count).map(line).collect::<String>()
    };
    sandbox.write("mine.libsvm", &lines(200));
    sandbox.json(&["train", "mine.libsvm", "--cluster", "cluster.toml", "--json", "-q"]);
    sandbox.write("mine.libsvm", &lines(210));
    let answer = sandbox.json(&["explain", "mine.libsvm", "--cluster", "cluster.toml", "--json", "-q"]);
    assert!(answer["dropped"][0].as_str().unwrap().contains("200 rows"), "{answer}");
    assert_eq!(answer["reused"].as_array().unwrap().len(), 0);
}

#[test]
fn pilots_sharpen_the_plan_and_stay() {
    let sandbox = sandbox();
    let rest = ["--error", "1e-3", "--algorithms", "cocoa,l-bfgs", "--workers", "1,4", "--json"];
    let before = sandbox.json(&with("explain", &rest));
    let piloted = sandbox.json(&with("explain", &[&rest[..], &["--pilots"]].concat()));
    assert_eq!(piloted["pilots"], 4);
    assert!(piloted["overhead_seconds"].as_f64().unwrap() > before["overhead_seconds"].as_f64().unwrap());
    assert!(piloted["pilot_seconds"].as_f64().unwrap() > 0.0);
    let width = |answer: &Value| seconds(&answer["plan"], "high") / seconds(&answer["plan"], "low");
    assert!(width(&piloted) < width(&before));
    let after = sandbox.json(&with("explain", &rest));
    assert_eq!(after["plan"], piloted["plan"]);
    assert!(after["reused"].as_array().unwrap().len() >= 4);
}

#[test]
fn less_money_or_less_time() {
    let sandbox = sandbox();
    let ask =
        |rest: &[&str]| sandbox.json(&with("explain", &[&["--error", "1e-3", "--json"], rest].concat()));
    let (fast, cheap) = (ask(&["--adapt", "off"]), ask(&["--cheapest"]));
    let cost = |answer: &Value| answer["plan"]["cost"].as_f64().unwrap();
    assert!(cost(&cheap) <= cost(&fast) && workers(&cheap["plan"]) == 1, "{cheap}");
    let few = ask(&["--max-workers", "2"]);
    assert!(workers(&few["plan"]) <= 2);
    assert!(list(&few, "alternatives").iter().all(|candidate| workers(candidate) <= 2));
    let careful = ask(&["--risk", "0.95", "--adapt", "off"]);
    assert!(seconds(&careful["plan"], "high") <= seconds(&fast["plan"], "high") * 1.001);

    let run = sandbox.json(&with("train", &["--error", "1e-3", "--cheapest", "--adapt", "off", "--json"]));
    let rate = 3.6 / 3600.0 * run["workers"].as_f64().unwrap();
    let paid = run["cost"].as_f64().unwrap();
    assert!((paid / (run["seconds"].as_f64().unwrap() * rate) - 1.0).abs() < 1e-6, "{run}");
}

#[test]
fn what_is_fixed_stays_fixed() {
    let sandbox = sandbox();
    let rest = ["--error", "1e-3", "--algorithm", "l-bfgs", "--workers", "4", "--json"];
    let fixed = sandbox.json(&with("train", &rest));
    assert!(fixed["plan"].is_null() && fixed["switches"].as_array().unwrap().is_empty());
    assert_eq!((&fixed["algorithm"], &fixed["workers"]), (&"l-bfgs".into(), &4.into()));
    let half = sandbox.json(&with("train", &["--error", "1e-3", "--algorithm", "l-bfgs", "--json"]));
    assert_eq!((&half["algorithm"], half["plan"].is_null()), (&"l-bfgs".into(), false));
    let steady = sandbox.json(&with("train", &["--error", "1e-3", "--adapt", "off", "--json"]));
    assert!(steady["switches"].as_array().unwrap().is_empty() && !steady["plan"].is_null());
    assert_eq!(first(&steady["plan"])["algorithm"], steady["algorithm"]);
}

#[test]
fn a_deadline_is_kept() {
    let sandbox = sandbox();
    for within in [0.2, 0.5] {
        let run = sandbox.json(&with("train", &["--within", &format!("{within}s"), "--json"]));
        assert!(run["total_seconds"].as_f64().unwrap() <= within, "{run}");
        assert_eq!(run["goal_reached"], true);
        assert!(run["plan"]["predicted_error"]["mean"].as_f64().unwrap() < 1.0);
    }
}

#[test]
fn what_cannot_be_done_is_said_before_the_run() {
    let sandbox = sandbox();
    let check = |command: &str, rest: &[&str], parts: &[&str]| {
        let outcome = sandbox.run(&[&[command, DATA, "--cluster", "cluster.toml"], rest].concat());
        assert_eq!(outcome.code, Some(3), "{rest:?}: {}{}", outcome.stdout, outcome.stderr);
        let said = if command == "explain" { &outcome.stdout } else { &outcome.stderr };
        for part in parts {
            assert!(format!("{said}{}", outcome.stderr).contains(part), "{rest:?}: `{part}` in {said}");
        }
    };
    for command in ["explain", "train"] {
        check(command, &["--error", "0"], &["cannot be proved", "1e-13"]);
        check(command, &["--error", "1e-18"], &["cannot be proved", "as far as it can"]);
        check(command, &["--error", "1e-4", "--within", "1ms"], &["no plan is predicted", "the fastest"]);
        check(command, &["--within", "0.01ms"], &["no plan is predicted"]);
        check(
            command,
            &["--error", "1e-4", "--budget", "1e-9"],
            &["not possible", "the cheapest plan", "cost"],
        );
    }
}

#[test]
fn a_budget_that_ends_a_run_is_named() {
    let sandbox = sandbox();
    let fixed = ["--algorithm", "cocoa", "--workers", "2", "--json"];
    let whole: Value = sandbox.json(&with("train", &[&fixed[..], &["--error", "1e-3"]].concat()));
    let half = whole["cost"].as_f64().unwrap() / 2.0;
    let asked = ["--error", "1e-12", "--budget", &half.to_string()];
    let outcome = sandbox.run(&with("train", &[&fixed[..], &asked].concat()));
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    let ended: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(ended["stop"], "budget", "{ended}");
    assert!(ended["cost"].as_f64().unwrap() <= 1.001 * half, "{ended}");
}

#[test]
fn questions_that_make_no_sense() {
    let sandbox = Sandbox::new();
    for (flags, part) in [
        (["--error", "-1"], "--error = -1"),
        (["--error", "nan"], "--error"),
        (["--risk", "1"], "--risk = 1"),
        (["--budget", "0"], "--budget = 0"),
        (["--algorithms", "nonsense"], "nonsense"),
        (["--workers", "0"], "worker"),
        (["--workers", "5000"], "2000 rows"),
    ] {
        let outcome = sandbox.run(&["explain", DATA, "--engine", "simulated", flags[0], flags[1]]);
        assert_eq!(outcome.code, Some(2), "{flags:?}: {}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stderr.contains(part), "{flags:?}: {}", outcome.stderr);
    }
}

/// Names and reasons are exact; figures come from a prior that may be fitted anew.
#[test]
fn explain_and_train_in_words() {
    let sandbox = sandbox();
    let explained = sandbox.run(&with("explain", &["--error", "1e-3", "--max-workers", "2", "--cheapest"]));
    let widest = explained.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{}", explained.stdout);
    insta::with_settings!({ filters => [
        (r"[0-9][0-9.,]*(e-?[0-9]+)?( (µs|ms|s|min|%)\b)?", "N"),
        (r" {2,}", "  "),
        (r"N \(N to N\)", "N"),
        (r"and N more\n", ""),
    ] }, {
        insta::assert_snapshot!("explain", explained.stdout);
    });
    let trained =
        sandbox.run(&["train", DATA, "--cluster", "cluster.toml", "--error", "1e-3", "--algorithm", "cocoa"]);
    insta::with_settings!({ filters => [
        (r"/\S*/models/[0-9a-z]{5}\.json", "MODEL"),
        (r"(run  +|show )[0-9a-z]{5}", "${1}RUN"),
        (r"[0-9][0-9.,]*(e-?[0-9]+)?( (µs|ms|s|min|%)\b)?", "N"),
    ] }, {
        insta::assert_snapshot!("train", trained.stdout);
        insta::assert_snapshot!("train_before", trained.stderr);
    });
}

/// A pilot that is worth its time is made by `explain` and by `train` alike, and what it takes counts.
#[test]
fn pilots_on_samples_are_made_where_they_pay() {
    let sandbox = sandbox();
    let problems = ["1e-3", "1e-4", "1e-5"]
        .into_iter()
        .flat_map(|lambda| ["squared", "logistic", "smoothed-hinge", "hinge"].map(|loss| (lambda, loss)));
    let data = "synthetic:separable,rows=100000,features=10";
    let arguments = |command, lambda, loss| {
        let mut arguments =
            vec![command, data, "--cluster", "cluster.toml", "-q", "--json", "--error", "1e-4"];
        arguments.extend(["--lambda", lambda, "--loss", loss, "--max-workers", "1"]);
        arguments
    };
    let piloted = problems.into_iter().find_map(|(lambda, loss)| {
        let explained = sandbox.json(&arguments("explain", lambda, loss));
        let made = !explained["sampled"].as_array().unwrap().is_empty();
        made.then_some((lambda, loss, explained))
    });
    let (lambda, loss, explained) = piloted.expect("a pilot on one of these problems");
    let pilot = &explained["sampled"][0];
    assert_eq!(pilot["rows"], 1000);
    assert!(pilot["rounds"].as_u64().unwrap() > 0 && pilot["error"].as_f64().unwrap() < 1.0);
    let seconds = pilot["seconds"].as_f64().unwrap();
    assert!(seconds > 0.0 && explained["overhead_seconds"].as_f64().unwrap() >= seconds);
    let mut in_words = arguments("explain", lambda, loss);
    in_words.retain(|argument| *argument != "--json");
    let text = sandbox.run(&in_words).stdout;
    assert!(text.contains("a pilot of"), "{text}");
    let report = sandbox.json(&arguments("train", lambda, loss));
    assert!(report["before_seconds"].as_f64().unwrap() >= seconds);
}

/// With runs on several numbers of workers the plan is based on models fitted to them.
#[test]
fn a_grid_of_runs_counts_through_fitted_models() {
    let sandbox = sandbox();
    // Slow enough for fitting to take little beside it.
    sandbox.write("cluster.toml", &CLUSTER.replace("1e7", "1e4").replace("1e8", "1e5"));
    let goal = ["--json", "--error", "1e-3", "--algorithms", "l-bfgs"];
    let before = sandbox.json(&with("explain", &goal));
    let measured = ["--algorithms", "l-bfgs", "--workers", "1,2,4,8", "--error", "1e-4", "--json"];
    sandbox.json(&with("measure", &measured));
    let after = sandbox.json(&with("explain", &goal));
    let reused = after["reused"].as_array().unwrap();
    assert_eq!(reused.len(), 4);
    let width = |of: &Value| {
        let seconds = &of["plan"]["predicted_seconds"];
        seconds["high"].as_f64().unwrap() / seconds["low"].as_f64().unwrap()
    };
    assert!(width(&after) < width(&before), "{} {}", width(&after), width(&before));
    assert!(reused.iter().all(|run| run["what"] == "fitted models"), "{reused:?}");
    // What happens then is what the models say.
    let report = sandbox.json(&with("train", &["--json", "--error", "1e-3", "--algorithm", "l-bfgs"]));
    let (actual, predicted) = (report["seconds"].as_f64().unwrap(), &after["plan"]["predicted_seconds"]);
    let (low, high) = (predicted["low"].as_f64().unwrap(), predicted["high"].as_f64().unwrap());
    assert!((0.8 * low..1.25 * high).contains(&actual), "{actual}, predicted {low} to {high}");
}

#[test]
fn every_algorithm_is_considered_or_rejected_with_a_reason() {
    let sandbox = Sandbox::new();
    let catalogue = sandbox.json(&["algorithms", "--json"]);
    for more in [&[][..], &["--workers", "1"], &["--engine", "simulated"], &["--local-steps", "5"]] {
        let explained = sandbox.json(&[&["explain", "data.libsvm", "--all", "--json"], more].concat());
        let considered = |name: &str| {
            let is = |candidate: &serde_json::Value| {
                candidate["stages"].as_array().unwrap().iter().any(|stage| stage["algorithm"] == name)
            };
            is(&explained["plan"]) || explained["alternatives"].as_array().unwrap().iter().any(is)
        };
        let rejected = |name: &str| {
            let lost =
                |lost: &serde_json::Value| lost["name"].as_str().unwrap().split(' ').next() == Some(name);
            explained["rejected"].as_array().unwrap().iter().any(lost)
        };
        for entry in catalogue["algorithms"].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            assert!(considered(name) || rejected(name), "{more:?}: nothing is said of {name}: {explained}");
        }
    }
    let threads = sandbox.run(&["explain", "data.libsvm"]).stdout;
    assert!(threads.contains("async-sgd: the threads engine offers no parameter servers"), "{threads}");
    let alone = sandbox.run(&["explain", "data.libsvm", "--workers", "1"]).stdout;
    assert!(alone.contains("cocoa-plus: on one worker it is the same as cocoa"), "{alone}");
}
