//! Everything a user can get wrong: the message says what, the exit code is 2, and nothing at all is written.

mod sandbox;

use sandbox::Sandbox;

fn check(arguments: &[&str], expected: &[&str]) {
    check_in(&Sandbox::new(), arguments, expected);
}

fn check_in(sandbox: &Sandbox, arguments: &[&str], expected: &[&str]) {
    let outcome = sandbox.run(arguments);
    for text in expected {
        assert!(outcome.stderr.contains(text), "{arguments:?} should say `{text}`:\n{}", outcome.stderr);
    }
    assert_eq!(outcome.code, Some(2), "{arguments:?}:\n{}", outcome.stderr);
    assert_eq!(outcome.stdout, "", "{arguments:?}");
    assert!(sandbox.home_is_empty(), "{arguments:?} wrote something");
}

#[test]
fn usage() {
    check(&[], &["Usage"]);
    check(&["trian"], &["trian", "train"]);
    check(&["train", "--no-such-flag"], &["--no-such-flag"]);
    check(&["train", "data.libsvm", "--within", "soon"], &["soon", "500ms"]);
    check(&["train", "data.libsvm", "--within", "0"], &["positive time"]);
    check(&["train", "data.libsvm", "--workers", "-1"], &["-1"]);
    check(&["train", "data.libsvm", "--normalise", "columns"], &["columns", "rows"]);
    check(&["predict"], &["MODEL", "DATA"]);
}

#[test]
fn flags_of_other_algorithms() {
    let needs = |flag: &str, takers: &str| {
        format!("{flag} needs an algorithm that has it; use --algorithm {takers}, or leave it out")
    };
    check(&["train", "data.libsvm", "--bits", "4"], &[&needs("--bits", "dcd-psgd or ecd-psgd")]);
    check(&["explain", "data.libsvm", "--servers", "2"], &[&needs("--servers", "async-sgd")]);
    check(&["train", "--memory", "5", "--workers", "2"], &[&needs("--memory", "l-bfgs")]);
    check(
        &["train", "data.libsvm", "--topology", "ring"],
        &[&needs("--topology", "d-psgd, dcd-psgd or ecd-psgd")],
    );
    check(
        &["train", "data.libsvm", "--batch", "4"],
        &["async-sgd, dadm", " or minibatch-sgd, or leave it out"],
    );
    check(
        &["train", "data.libsvm", "--algorithm", "newton", "--bits", "4"],
        &["newton has no --bits; leave it out, or use --algorithm dcd-psgd or ecd-psgd"],
    );
    // Losses that are taken for algorithms.
    for command in [&["train", "data.libsvm", "--algorithm", "svm"][..], &["algorithms", "svm"]] {
        check(command, &["`svm` is a loss, not an algorithm; use --loss hinge"]);
    }
}

#[test]
fn settings_out_of_range() {
    check(&["train", "data.libsvm", "--lambda", "0"], &["lambda", "positive", "0"]);
    check(&["train", "data.libsvm", "--lambda", "-1"], &["lambda", "-1"]);
    check(&["train", "data.libsvm", "--lambda", "nan"], &["lambda", "NaN"]);
    check(&["train", "data.libsvm", "--workers", "0"], &["at least one worker"]);
    check(&["train", "data.libsvm", "--workers", "11"], &["11 workers", "10 rows"]);
    check(&["train", "data.libsvm", "--error", "nan"], &["--error = NaN", "positive"]);
    check(&["train", "data.libsvm", "--budget", "0"], &["--budget = 0"]);
    check(&["train", "data.libsvm", "--risk", "1"], &["--risk = 1"]);
    check(&["train", "data.libsvm", "--max-workers", "0"], &["--max-workers = 0"]);
    check(&["train", "data.libsvm", "--hysteresis", "-1"], &["--hysteresis = -1"]);
    check(
        &["train", "data.libsvm", "--engine", "mpi", "--patience", "1s"],
        &["--patience = 1", "at least 5 s"],
    );
    check(&["train", "data.libsvm", "--engine", "mpi", "--patience", "much"], &["--patience", "much"]);
    check(&["train", "data.libsvm", "--adapt", "perhaps"], &["--adapt", "perhaps"]);
    check(&["train", "data.libsvm", "--error", "-1"], &["--error = -1"]);
    check(&["train", "data.libsvm", "--rounds", "0"], &["--rounds = 0"]);
    check(&["train", "data.libsvm", "--score-every", "0"], &["--score-every = 0"]);
    check(&["train", "data.libsvm", "--objective", "inf"], &["--objective = inf"]);
    check(&["train", "data.libsvm", "--local-steps", "0"], &["--local-steps = 0"]);
    let sgd = |flag, value| ["train", "data.libsvm", "--algorithm", "minibatch-sgd", flag, value];
    check(&sgd("--batch", "0"), &["--batch = 0"]);
    check(&sgd("--step-size", "-1"), &["--step-size = -1"]);
    check(&["train", "data.libsvm", "--algorithm", "l-bfgs", "--memory", "0"], &["--memory = 0"]);
}

#[test]
fn names_that_do_not_exist() {
    check(
        &["train", "data.libsvm", "--algorithm", "coco"],
        &["coco", "did you mean `cocoa`?", "hemingway algorithms"],
    );
    check(&["train", "data.libsvm", "--loss", "hing"], &["hing", "hinge", "logistic"]);
    check(
        &["train", "data.libsvm", "--engine", "thread"],
        &["there is no engine `thread`", "threads or simulated"],
    );
    check(&["train", "embedded:iris"], &["iris", "embedded:mnist"]);
    check(&["train", "synthetic:nothing"], &["nothing"]);
    check(&["train", "data.libsvm", "--format", "arff"], &["arff", "libsvm"]);
}

#[test]
fn parameters_of_another_algorithm() {
    check(&["train", "data.libsvm", "--algorithm", "cocoa", "--memory", "5"], &["cocoa has no", "memory"]);
}

#[test]
fn files_that_are_missing_or_broken() {
    check(&["train", "missing.libsvm"], &["missing.libsvm", "no such file", "hint:"]);
    check(&["train", "data.libsvm", "--test", "missing.libsvm"], &["missing.libsvm"]);
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.work.path().join("empty")).unwrap();
    check_in(&sandbox, &["train", "empty"], &["empty: this is a folder", "no data files"]);
    check(&["train", "*.csv"], &["*.csv: no file matches"]);
    check(&["train", "data.libsvm", "missing.libsvm"], &["missing.libsvm: no such file"]);
    check(&["train", "data.libsvm", "--delimiter", "ab"], &["“ab” cannot stand between fields"]);
    check(
        &["train", "data.libsvm", "--format", "libsvm", "--delimiter", ";"],
        &["libsvm data has no delimiter"],
    );
    check(&["train", "-", "--engine", "mpi"], &["standard input does not work with --engine mpi", "hint:"]);
    let sandbox = Sandbox::new();
    sandbox.write("empty.csv", "");
    sandbox.write("broken.libsvm", "+1 1:1\n-1 2:x\n");
    sandbox.write("one.libsvm", "1 1:1\n1 2:1\n");
    sandbox.write("many.csv", "label,a\n1,2\n2,3\n3,4\n");
    check_in(&sandbox, &["train", "empty.csv"], &["empty.csv"]);
    check_in(&sandbox, &["train", "broken.libsvm"], &["broken.libsvm:2", "x"]);
    check_in(&sandbox, &["train", "one.libsvm"], &["one.libsvm", "two classes"]);
    check_in(&sandbox, &["measure", "many.csv"], &["3 classes", "--positive"]);
    let quantities: String = (0..101).map(|label| format!("{label},1\n")).collect();
    sandbox.write("quantities.csv", &format!("label,a\n{quantities}"));
    check_in(&sandbox, &["train", "quantities.csv"], &["101 classes", "at most 100", "--regression"]);
    check_in(&sandbox, &["train", "data.libsvm", "--positive", "7"], &["7"]);
    check_in(&sandbox, &["train", "data.libsvm", "--label", "none"], &["training needs labels"]);
    check_in(
        &sandbox,
        &["train", "data.libsvm", "--loss", "hinge", "--regression"],
        &["hinge", "--loss squared"],
    );
}

#[test]
fn cluster_files() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", "machines = 3");
    sandbox.write("small.toml", "[[machines]]\nname = \"one\"\ncount = 2\n");
    check_in(
        &sandbox,
        &["train", "data.libsvm", "--cluster", "missing.toml"],
        &["missing.toml", "cannot read"],
    );
    check_in(
        &sandbox,
        &["train", "data.libsvm", "--cluster", "bad.toml"],
        &["cluster file", "bad.toml", "machines"],
    );
    check_in(&sandbox, &["train", "data.libsvm", "--cluster", "small.toml", "--workers", "3"], &["3"]);
    let threads = ["train", "data.libsvm", "--cluster", "small.toml", "--engine", "threads"];
    check_in(&sandbox, &threads, &["simulated machines", "hint:"]);
}

#[test]
fn places_to_write_to() {
    check(&["train", "data.libsvm", "--model", "no/such/model.json"], &["no directory", "no/such", "hint:"]);
    check(&["train", "data.libsvm", "--model", "."], &["is a directory"]);
    check(&["train", "data.libsvm", "--store", "no/such/store.sqlite"], &["no directory", "no/such"]);
    check(&["train", "data.libsvm", "--store", "."], &["is a directory"]);
    check(
        &["train", "data.libsvm", "--store", "data.libsvm"],
        &["data.libsvm is not a Hemingway store", "--store FILE"],
    );
}

#[test]
fn runs_and_models() {
    check(&["show", "abc"], &["there is no store", "hemingway train"]);
    check(&["train", "--resume", "abc"], &["there is no store"]);
    check(&["train", "--resume", "abc", "--lambda", "1"], &["--resume", "--lambda"]);
    check(&["train", "data.libsvm", "--resume", "abc"], &["--resume"]);
    check(&["predict", "missing.json", "data.libsvm"], &["cannot read missing.json"]);
    check(&["predict", "data.libsvm", "data.libsvm"], &["data.libsvm is not a model", "hint:"]);
}

#[test]
fn a_home_that_is_not_there() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["train", "data.libsvm"]);
    command.env_remove("HOME");
    let outcome = sandbox::finish(command);
    assert!(outcome.stderr.contains("neither XDG_DATA_HOME nor HOME is set"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint: choose a place with --store FILE"), "{}", outcome.stderr);
    assert_eq!(outcome.code, Some(2));
}

#[test]
fn an_unknown_run_in_a_store_that_exists() {
    let sandbox = Sandbox::new();
    sandbox.json(&["train", "data.libsvm", "--json"]);
    for arguments in [["show", "zzzzz"].as_slice(), &["train", "--resume", "zzzzz"]] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains("there is no run `zzzzz`"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("\nhint: `hemingway runs` lists them"), "{}", outcome.stderr);
    }
}

#[test]
fn an_algorithm_that_the_engine_cannot_run_is_refused_with_the_engines_that_can() {
    let sandbox = Sandbox::new();
    let expected = "the threads engine cannot run async-sgd: it offers no parameter servers; use --engine simulated or mpi";
    for arguments in [
        &["train", "data.libsvm", "--algorithm", "async-sgd", "--workers", "2"][..],
        &["explain", "data.libsvm", "--algorithm", "async-sgd"],
        &["explain", "data.libsvm", "--algorithms", "cocoa,async-sgd"],
        &["measure", "data.libsvm", "--algorithms", "async-sgd"],
        &["measure", "data.libsvm", "--algorithms", "async-sgd", "--budget", "1s"],
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{arguments:?}: {}", outcome.stderr);
    }
}
