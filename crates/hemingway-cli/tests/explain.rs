//! `hemingway explain`: a plan with its reasons.

mod sandbox;

use sandbox::Sandbox;

const DATA: &str = "synthetic:separable,rows=2000,features=20";
const CLUSTER: &str = r#"
    [here]
    flops = 1e8
    bytes = 1e9
    [[machines]]
    name = "m"
    count = 16
    price = 3.6
"#;

fn explain<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["explain", DATA, "--cluster", "cluster.toml", "--workers", "1,2,4,8", "-q"];
    arguments.extend(rest);
    arguments
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("cluster.toml", CLUSTER);
    sandbox
}

#[test]
fn the_plan_is_the_best_of_all_ways_and_does_what_it_promises() {
    let sandbox = sandbox();
    let answer = sandbox.json(&explain(&["--error", "1e-3", "--json"]));
    let (plan, alternatives) = (&answer["plan"], answer["alternatives"].as_array().unwrap());
    let seconds = |way: &serde_json::Value, name: &str| way["predicted_seconds"][name].as_f64().unwrap();
    assert!(alternatives.iter().all(|way| seconds(way, "low") > 0.5 * seconds(plan, "low")), "{answer}");
    assert!(answer["rejected"].as_array().unwrap().iter().any(|lost| lost["name"] == "gradient-descent"));
    assert!(answer["pilots"].as_u64().unwrap() > 0 && answer["overhead_seconds"].as_f64().unwrap() > 0.0);

    let (algorithm, workers) = (plan["algorithm"].as_str().unwrap(), plan["workers"].to_string());
    let arguments = ["train", DATA, "--cluster", "cluster.toml", "--error", "1e-3", "--algorithm", algorithm];
    let rest = ["--workers", workers.as_str(), "--score-every", "1", "--json", "-q"];
    let run = sandbox.json(&[&arguments[..], &rest[..]].concat());
    let truth = run["seconds"].as_f64().unwrap();
    assert!(seconds(plan, "low") / 1.5 <= truth && truth <= seconds(plan, "high") * 1.5, "{truth}: {plan}");
}

#[test]
fn a_second_look_needs_no_pilots_and_answers_the_same() {
    let sandbox = sandbox();
    let first = sandbox.json(&explain(&["--error", "1e-3", "--json"]));
    let second = sandbox.json(&explain(&["--error", "1e-3", "--json"]));
    assert_eq!(second["pilots"], 0);
    assert!(!second["reused"].as_array().unwrap().is_empty(), "{second}");
    assert_eq!(first["plan"], second["plan"]);
    let cheap = sandbox.json(&explain(&["--error", "1e-3", "--cheapest", "--json"]));
    assert!(cheap["plan"]["price"].as_f64().unwrap() <= 1.01 * second["plan"]["price"].as_f64().unwrap());
}

#[test]
fn what_cannot_be_done_is_said_with_reasons() {
    let sandbox = sandbox();
    let late = sandbox.run(&explain(&["--error", "1e-3", "--within", "0.0001ms"]));
    assert_eq!(late.code, Some(3), "{}", late.stderr);
    assert!(
        late.stdout.contains("Plan: none") && late.stdout.contains("in time with a chance of"),
        "{}",
        late.stdout
    );
    for (flags, part) in [
        (["--error", "0"], "--error = 0"),
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
