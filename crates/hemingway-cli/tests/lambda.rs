//! `train --lambda auto`: what is said of the choice, what is drawn, and what is refused.

mod sandbox;

use sandbox::Sandbox;

const DATA: &str = "synthetic:text,rows=400,features=200";

#[test]
fn plan_choice_and_curve_are_shown() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&["train", DATA, "--lambda", "auto,points=5,from=1,to=1e-4"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for text in ["Lambda    5 lambdas from 1 to 1e-4, each on 5 folds, models to error 1e-3", "Chosen    "] {
        assert!(outcome.stderr.contains(text), "no `{text}` in {}", outcome.stderr);
    }
    for text in ["the best of 5 by log-loss on 5", "accuracy", "proved", "chosen"] {
        assert!(outcome.stdout.contains(text), "no `{text}` in {}", outcome.stdout);
    }
    let lines = outcome.stdout.lines().filter(|line| line.contains(" ± ") && line.contains('*'));
    assert_eq!(lines.count(), 5, "{}", outcome.stdout);
}

#[test]
fn json_has_every_point() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&["train", DATA, "--lambda", "1e-1,1e-2,1e-3", "--folds", "4", "--json"]);
    let choice = &report["lambda_choice"];
    assert_eq!(choice["lambda"], report["lambda"]);
    assert_eq!(choice["points"].as_array().unwrap().len(), 3);
    assert_eq!(choice["points"][0]["folds"].as_array().unwrap().len(), 4);
    assert_eq!(choice["points"][0]["lambda"], 0.1, "the largest first");
    let show = sandbox.json(&["show", "last", "--json"]);
    assert_eq!(show["request"]["lambda"], report["lambda"]);
}

#[test]
fn the_largest_lambda_within_one_standard_error() {
    let sandbox = Sandbox::new();
    let lambdas = |more: &[&str]| {
        let arguments = ["train", DATA, "--lambda", "auto,from=1,to=1e-4", "--json"];
        let report = sandbox.json(&[&arguments[..], more].concat());
        let choice = report["lambda_choice"].clone();
        ["lambda", "best"].map(|name| choice[name].as_f64().unwrap())
    };
    let [chosen, best] = lambdas(&["--one-standard-error"]);
    assert!(chosen > best);
    assert_eq!(lambdas(&[]), [best, best]);
}

#[test]
fn the_curve_is_drawn() {
    let sandbox = Sandbox::new();
    for (file, begins) in [("path.png", &b"\x89PNG"[..]), ("path.svg", b"<svg")] {
        let arguments = ["train", DATA, "--lambda", "1e-1,1e-3", "--path-plot", file];
        assert_eq!(sandbox.run(&arguments).code, Some(0));
        let bytes = std::fs::read(sandbox.work.path().join(file)).unwrap();
        assert!(bytes.starts_with(begins), "{file}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_writes_nothing() {
    let auto = ["--lambda", "auto"];
    for (more, expected) in [
        (&["--folds", "3"][..], &["--folds", "hint: add --lambda auto"][..]),
        (&["--lambda", "1e-3,x"], &["`x` is no number", "auto,points=20"]),
        (&["--lambda", "auto,points=1"], &["from 2 to 1000"]),
        (&["--lambda", "auto", "--folds", "1"], &["--folds 1", "--validation"]),
        (&["--lambda", "auto", "--folds", "6"], &["has 5 rows, fewer than the 6 folds"]),
        (&["--lambda", "auto", "--folds", "2", "--validation", "data.libsvm"], &["cannot be used with"]),
        (&["--lambda", "auto", "--fold-file", "folds"], &["folds: it has 2 lines", "10 rows"]),
        (&["--lambda", "auto", "--fold-file", "nowhere"], &["nowhere"]),
        (&["--lambda", "auto", "--path-error", "0"], &["--path-error"]),
        (&["--lambda", "auto", "--path-plot", "path.txt"], &["path.txt", ".png or .svg"]),
        (&["--lambda", "auto", "--engine", "simulated"], &["simulated engine", "--fraction"]),
        (&["--lambda", "auto", "--engine", "mpi"], &["mpi engine"]),
        (&["--lambda", "auto", "--regression", "--select", "accuracy"], &["needs classes"]),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("folds", "1\n2\n");
        let outcome = sandbox.run(&[&["train", "data.libsvm"], more].concat());
        assert_eq!(outcome.code, Some(2), "{more:?}: {}", outcome.stderr);
        for text in expected {
            assert!(outcome.stderr.contains(text), "{more:?} should say `{text}`: {}", outcome.stderr);
        }
        assert!(sandbox.home_is_empty(), "{more:?} wrote something");
    }
    for command in ["explain", "measure", "profile"] {
        let outcome = Sandbox::new().run(&[&[command, "data.libsvm"], &auto[..]].concat());
        assert_eq!(outcome.code, Some(2), "{command}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("hemingway train --lambda auto"), "{}", outcome.stderr);
    }
    let resumed = Sandbox::new().run(&["train", "--resume", "last", "--lambda", "auto"]);
    assert_eq!(resumed.code, Some(2), "{}", resumed.stderr);
}
