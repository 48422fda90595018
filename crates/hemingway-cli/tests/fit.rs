//! `hemingway fit` on traces of other programs.

mod sandbox;

use sandbox::Sandbox;

/// 2 s + 8 s / m an iteration, on 1, 2, 4 and 8 workers; values fall the more slowly the more workers there are.
fn traces() -> String {
    let mut text = "run,algorithm,workers,fraction,iteration,seconds,value\n".to_owned();
    for workers in [1, 2, 4, 8] {
        for iteration in 1..=20 {
            let seconds = f64::from(iteration) * (2.0 + 8.0 / f64::from(workers));
            let value = (-f64::from(iteration) / (3.0 + f64::from(workers))).exp();
            text += &format!("r{workers},ours,{workers},1,{iteration},{seconds},{value}\n");
        }
    }
    text + "t,times only,4,1,1,7,\n"
}

#[test]
fn runs_that_nobody_made_are_predicted() {
    let sandbox = Sandbox::new();
    sandbox.write("runs.csv", &traces());
    let queries = "algorithm,workers,fraction,iteration\nours,3,1,10\ntimes only,4,1,1\nunknown,1,1,1\n";
    sandbox.write("wanted.csv", queries);
    let answer = sandbox.json(&["fit", "--traces", "runs.csv", "--predict", "wanted.csv", "--json"]);
    let predictions = answer["predictions"].as_array().unwrap();
    assert_eq!(predictions.len(), 3);
    let near = |what: &serde_json::Value, truth: f64, within: f64| {
        let [low, mean, high] = ["low", "mean", "high"].map(|name| what[name].as_f64().unwrap());
        assert!((mean / truth - 1.0).abs() < within, "{mean} for {truth}");
        assert!(low <= mean && mean <= high, "{what}");
    };
    near(&predictions[0]["seconds"], 10.0 * (2.0 + 8.0 / 3.0), 0.02);
    near(&predictions[0]["value"], (-10.0_f64 / 6.0).exp(), 0.2);
    near(&predictions[1]["seconds"], 7.0, 0.2);
    assert!(predictions[1]["value"].is_null(), "{answer}");
    assert!(predictions[2]["seconds"].is_null() && predictions[2]["value"].is_null(), "{answer}");
    let models = sandbox.run(&["fit", "--traces", "runs.csv"]);
    assert!(models.stdout.contains("s/m"), "{}", models.stdout);
}

#[test]
fn mistakes_in_traces_are_named() {
    let sandbox = Sandbox::new();
    let header = "run,algorithm,workers,fraction,iteration,seconds,value";
    for (line, part) in [
        ("a,x,0,1,1,3,", "workers"),
        ("a,x,1,1,1,-3,", "-3"),
        ("a,x,1,2,1,3,", "fraction"),
        ("a,x,1", "line 2"),
    ] {
        sandbox.write("runs.csv", &format!("{header}\n{line}\n"));
        let outcome = sandbox.run(&["fit", "--traces", "runs.csv"]);
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains("runs.csv, line 2") && outcome.stderr.contains(part),
            "{line}: {}",
            outcome.stderr
        );
    }
}
