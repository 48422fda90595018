//! What commands print: for people, for programs, and for readers that leave early.

mod sandbox;

use std::process::Stdio;

use sandbox::{Sandbox, finish, read_json};

#[test]
fn the_report_has_every_field() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&["train", "data.libsvm", "--test", "data.libsvm", "--json"]);
    for field in [
        "algorithm",
        "parameters",
        "workers",
        "engine",
        "rounds",
        "iterations",
        "epochs",
        "bytes_per_worker",
        "seconds",
        "wall_seconds",
        "load_seconds",
        "scoring_seconds",
        "primal",
        "dual",
        "certified_error",
        "relative_to_start",
        "stop",
        "goal_reached",
        "model",
        "run",
        "seed",
        "loss",
        "lambda",
        "dataset",
        "train_accuracy",
        "test_accuracy",
    ] {
        assert!(!report[field].is_null(), "{field} is missing: {report}");
    }
    assert_eq!(report["stop"], "error");
    assert_eq!(report["loss"], "logistic");
    assert_eq!(report["train_accuracy"], report["test_accuracy"]);
    assert_eq!(report["dataset"]["rows"], 10);
    assert_eq!(report["dataset"]["labels"]["classes"]["positive"], "+1");
    assert!(report["certified_error"].as_f64().unwrap() <= 1e-3);
}

#[test]
fn a_newcomer_is_told_what_happened() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&["train", "data.libsvm"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    insta::with_settings!({ filters => [
        (r"/\S*/models/[0-9a-z]{5}\.json", "MODEL"),
        (r"/\S*/data\.libsvm", "data.libsvm"),
        (r"(run  +|show )[0-9a-z]{5}", "${1}RUN"),
        (r"[0-9.]+ (µs|ms|s)\b", "TIME"),
        (r"error [0-9.e-]+,", "error ERROR,"),
        (r"predicted = [0-9.,]+", "predicted = RATIO"),
        (r"0\.[0-9]{4,}", "NUMBER"),
        (r"[0-9]+ rounds?", "ROUNDS"),
        (r"[0-9.]+ epochs?", "EPOCHS"),
    ] }, {
        insta::assert_snapshot!(outcome.stdout, @r"
        Trained: the certified error reached the goal.

          data        data.libsvm: 10 rows, 4 features
          labels      +1 → +1, -1 → −1
          method      logistic loss, newton with 1 worker on the threads engine
          time        TIME training in ROUNDS
          effort      EPOCHS
          wall time   load TIME, train and score TIME
          predicted   TIME (TIME to TIME)
          actual      TIME; actual / predicted = RATIO
          overhead    profile and planning TIME
          objective   NUMBER; no model has less than NUMBER
          proved      error ERROR, relative to the best possible objective
          accuracy    100.00 % on the training data
          model       MODEL
          run         RUN

        Next:
          hemingway predict MODEL DATA
          hemingway show RUN
        ");
    });
}

#[test]
fn runs_and_show_print_tables() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&["train", "data.libsvm", "--json"]);
    let [id, algorithm] = ["run", "algorithm"].map(|name| report[name].as_str().unwrap().to_owned());
    let runs = sandbox.run(&["runs"]).stdout;
    assert_eq!(runs.lines().count(), 2, "{runs}");
    assert!(runs.contains(&id) && runs.contains("data.libsvm") && runs.contains(&algorithm), "{runs}");
    let shown = sandbox.run(&["show", &id]).stdout;
    for text in [
        &id,
        "10 rows, 4 features",
        "logistic loss, lambda 0.0001",
        "lower bound",
        "error",
        "predicted",
        "actual",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert_eq!(sandbox.run(&["show", "last"]).stdout, shown);
    assert_eq!(sandbox.json(&["show", &id, "--json"])["report"]["run"], id.as_str());
}

#[test]
fn what_a_run_has_taken_is_told_and_goes_on_being_counted() {
    let sandbox = Sandbox::new();
    let method = ["--algorithm", "cocoa-plus", "--workers", "2", "--engine", "simulated"];
    let stop = ["--rounds", "3", "--score-every", "1"];
    let outcome = sandbox.run(&[&["train", "data.libsvm"], &method[..], &stop].concat());
    // In each round a number for each of four features, and seven sums over the duals.
    let bytes = 3 * (4 + 7) * 8;
    assert!(
        outcome.stdout.contains(&format!("  effort      3 epochs, {bytes} bytes sent per worker\n")),
        "{}",
        outcome.stdout
    );
    let resumed = sandbox.json(&["train", "--resume", "last", "--rounds", "5", "--json"]);
    let effort = |value: &serde_json::Value| {
        ["iterations", "epochs", "bytes_per_worker"].map(|name| value[name].as_f64().unwrap())
    };
    let expected = |rounds: f64| [rounds, rounds, rounds * 88.0];
    assert_eq!(effort(&resumed), expected(5.0));
    let shown = sandbox.json(&["show", "last", "--json"]);
    let points: Vec<_> = shown["points"].as_array().unwrap().iter().map(effort).collect();
    assert_eq!(points, [1.0, 2.0, 3.0, 4.0, 5.0].map(expected));
    assert_eq!(effort(&sandbox.json(&["runs", "--json"])["runs"][0]), expected(5.0));
    let table = sandbox.run(&["show", "last"]).stdout;
    assert!(table.contains(" round  epochs  sent ") && table.contains("440 bytes"), "{table}");
    assert!(!table.contains("iterations"), "they are the rounds: {table}");
}

#[test]
fn iterations_that_are_no_rounds_are_told() {
    let sandbox = Sandbox::new();
    let method = ["--algorithm", "hogwild", "--workers", "2", "--engine", "simulated", "--rounds", "2"];
    let outcome = sandbox.run(&[&["train", "data.libsvm"], &method[..]].concat());
    assert!(outcome.stdout.contains("  effort      20 iterations, 9.2 epochs"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains(", found at the start\n"), "{}", outcome.stdout);
    assert!(sandbox.json(&["show", "last", "--json"])["report"]["step_size"].as_f64().unwrap() > 0.0);
    let table = sandbox.run(&["show", "last"]).stdout;
    assert!(table.contains(" round  iterations  epochs "), "{table}");
}

#[test]
fn no_runs_yet() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&["runs"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.starts_with("no runs yet"));
    assert_eq!(sandbox.json(&["runs", "--json"])["runs"].as_array().unwrap().len(), 0);
    assert!(sandbox.home_is_empty(), "reading writes nothing");
}

#[test]
fn predictions_come_back_in_the_words_of_the_data() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", "kind,a,b\nspam,1,0.1\nham,-1,0.2\nspam,0.9,-0.3\nham,-0.8,0\n");
    sandbox.write("new.csv", "a,b\n2,0\n-2,0\n");
    let options = ["--label", "kind", "--model", "model.json", "--json"];
    let report = sandbox.json(&[&["train", "train.csv"], options.as_slice()].concat());
    assert_eq!(report["train_accuracy"], 1.0);
    let predicted = sandbox.run(&["predict", "model.json", "train.csv", "--label", "kind"]);
    assert_eq!(predicted.stdout, "spam\nham\nspam\nham\n");
    assert!(predicted.stderr.contains("4 rows, 100.00 % right"), "{}", predicted.stderr);
    let predicted = sandbox.run(&["predict", "model.json", "new.csv", "--label", "none"]);
    assert_eq!(predicted.stdout, "spam\nham\n", "{}", predicted.stderr);
    let margins = sandbox.run(&["predict", "model.json", "new.csv", "--label", "none", "--margins"]).stdout;
    let signs: Vec<bool> = margins.lines().map(|line| line.parse::<f64>().unwrap() > 0.0).collect();
    assert_eq!(signs, [true, false]);
    let json = sandbox.json(&["predict", "model.json", "train.csv", "--label", "kind", "--json"]);
    assert_eq!(json["accuracy"], 1.0);
    assert_eq!(json["predictions"][1], "ham");
}

#[test]
fn regression_is_measured_by_its_error() {
    let sandbox = Sandbox::new();
    sandbox.write("line.csv", "x,y\n0,1\n1,3\n2,5\n3,7\n4,9\n");
    let arguments = ["train", "line.csv", "--label", "y", "--regression", "--lambda", "1e-6", "--json"];
    let report = sandbox.json(&[arguments.as_slice(), &["--test", "line.csv"]].concat());
    assert_eq!(report["loss"], "squared");
    assert!(report["test_rmse"].as_f64().unwrap() < 0.1, "{report}");
    assert!(report["train_accuracy"].is_null());
}

#[test]
fn the_model_says_what_it_is() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&["train", "data.libsvm", "--model", "m.json", "--json"]);
    let model = read_json(sandbox.work.path().join("m.json"));
    assert_eq!(model["format"], "hemingway-model");
    assert_eq!(model["version"], 1);
    assert_eq!(model["features"], 4);
    assert_eq!(model["weights"].as_array().unwrap().len(), 4);
    assert!(model["bias"].is_null());
    assert_eq!(model["run"], report["run"]);
}

#[test]
fn limits_that_come_before_the_goal_exit_with_3() {
    let sandbox = Sandbox::new();
    let outcome =
        sandbox.run(&["train", "data.libsvm", "--error", "1e-13", "--rounds", "1", "--local-steps", "1"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("Stopped before the goal: the rounds were used up"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("hemingway train --resume"), "{}", outcome.stdout);
    let alone = sandbox.run(&["train", "data.libsvm", "--rounds", "1"]);
    assert_eq!(alone.code, Some(0), "a limit on its own is a goal");
}

#[test]
fn text_is_plain_unless_it_is_for_a_terminal() {
    let sandbox = Sandbox::new();
    for (name, value) in [("CLICOLOR_FORCE", "0"), ("NO_COLOR", "1")] {
        for arguments in
            [&["train", "data.libsvm"][..], &["train", "missing"], &["algorithms"], &["show", "last"]]
        {
            let mut command = sandbox.command(arguments);
            command.env(name, value);
            let outcome = finish(command);
            assert!(!format!("{}{}", outcome.stdout, outcome.stderr).contains('\x1b'), "{arguments:?}");
        }
    }
}

#[test]
fn a_reader_may_leave_early() {
    let sandbox = Sandbox::new();
    let model = sandbox.json(&["train", "data.libsvm", "--json"])["model"].as_str().unwrap().to_owned();
    for arguments in [&["runs"][..], &["algorithms"], &["show", "last"], &["predict", &model, "data.libsvm"]]
    {
        let mut child =
            sandbox.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("error"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let sandbox = Sandbox::new();
    for command in ["train", "predict", "runs", "show", "algorithms"] {
        let outcome = sandbox.run(&[command, "--help"]);
        assert_eq!(outcome.code, Some(0));
        assert!(outcome.stdout.contains("Example"), "{command}");
        assert!(outcome.stdout.contains("--json"), "{command}");
    }
    assert!(sandbox.home_is_empty());
}

#[test]
fn the_catalogue_is_listed() {
    let sandbox = Sandbox::new();
    let json = sandbox.json(&["algorithms", "--json"]);
    let names: Vec<&str> =
        json["algorithms"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    let text = sandbox.run(&["algorithms"]).stdout;
    assert!(names.contains(&"cocoa") && names.contains(&"cocoa-plus"), "{names:?}");
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
}

#[test]
fn the_list_of_algorithms_fits_a_terminal() {
    let sandbox = Sandbox::new();
    let text = sandbox.run(&["algorithms"]).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for line in [
        "  hogwild *         shared memory  not mpi      steps    step size",
        "  async-sgd *       servers        not threads  batches  batch, step size,",
        "  l-bfgs            sums           all          rounds   memory",
        "Dual coordinate ascent",
    ] {
        assert!(text.lines().any(|printed| printed == line), "{line}: {text}");
    }
}

#[test]
fn every_algorithm_has_a_page() {
    let sandbox = Sandbox::new();
    let all = sandbox.json(&["algorithms", "--json"]);
    for entry in all["algorithms"].as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        assert_eq!(sandbox.json(&["algorithms", name, "--json"]), *entry);
        for field in
            ["family", "needs", "engines", "idea", "suits", "round", "counts", "noise_floor", "starts_from"]
        {
            assert!(!entry[field].is_null(), "{name} has no {field}");
        }
        let page = sandbox.run(&["algorithms", name]).stdout;
        assert!(page.lines().skip(1).all(|line| line.chars().count() <= 80), "{page}");
        let example = page.lines().last().unwrap().trim();
        let mut arguments: Vec<&str> = example.split(' ').skip(1).collect();
        arguments.extend(["--rounds", "1", "--json"]);
        assert_eq!(sandbox.run(&arguments).code, Some(0), "{example}");
    }
    let outcome = sandbox.run(&["algorithms", "hogwil"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("did you mean `hogwild`?"), "{}", outcome.stderr);
}

#[test]
fn a_page_says_what_one_wants_to_know() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["algorithms", "CoCoA"]).stdout, @r"
    cocoa: local dual coordinate ascent, averaged; on one worker plain SDCA

      idea        Each worker improves the duals of its own rows as if it were
                  alone, and the changes are averaged. Each dual is set to its best
                  value exactly, so there is no step size. Primal and dual objective
                  bracket the optimum, so the proof costs little. On one worker this
                  is SDCA.
      suits       Any loss, the hinge included, and any number of features; sparse
                  rows above all. Strong on one worker and on few. On many workers
                  averaging slows it down; cocoa-plus adds instead. Slow where
                  lambda is tiny.
      round       Local steps on the worker's rows, then a sum of one number for
                  each feature.
      counts      its iterations are rounds
      needs       sums over all workers; runs on threads, simulated and mpi
      begins      from the dual point of another algorithm
      noise       none: the error falls as far as numbers allow
      family      dual coordinate ascent
      also called sdca
      reference   Jaggi et al. 2014

    Parameters:
      --local-steps  local steps per worker and round [default: a pass over the
                     worker's rows]

    Example:
      hemingway train data.libsvm --algorithm cocoa --workers 4
    ");
}

#[test]
fn other_names_are_understood_and_recorded_by_their_own() {
    let sandbox = Sandbox::new();
    let short = ["train", "data.libsvm", "--rounds", "1", "--workers", "1", "--json", "--algorithm"];
    for (name, expected, note) in [
        ("SGD", "minibatch-sgd", true),
        ("sdca", "cocoa", true),
        ("LBFGS", "l-bfgs", false),
        ("CoCoA+", "cocoa-plus", false),
    ] {
        let outcome = sandbox.run(&[&short[..], &[name]].concat());
        assert_eq!(outcome.json()["algorithm"], expected, "{}", outcome.stderr);
        assert_eq!(outcome.stderr.contains(&format!("`{name}` is {expected}; ")), note, "{}", outcome.stderr);
        let stored = sandbox.json(&["show", "last", "--json"]);
        assert_eq!(
            (&stored["request"]["algorithm"], &stored["choice"]["algorithm"]),
            (&expected.into(), &expected.into())
        );
    }
    for (name, expected) in [("svm", "hinge"), ("logreg", "logistic"), ("ridge", "squared")] {
        assert_eq!(sandbox.json(&[&short[..6], &["--json", "--loss", name]].concat())["loss"], expected);
    }
    let explained =
        sandbox.json(&["explain", "data.libsvm", "--algorithms", "lbfgs,Cocoa", "--workers", "1", "--json"]);
    let text = explained.to_string();
    assert!(text.contains(r#""algorithm":"l-bfgs""#) && text.contains(r#""algorithm":"cocoa""#), "{text}");
    let measure =
        ["measure", "data.libsvm", "--algorithms", "bfgs", "--workers", "1", "--rounds", "2", "--json"];
    assert_eq!(sandbox.json(&measure)["experiments"][0]["algorithm"], "l-bfgs");
    let again = measure.map(|word| if word == "bfgs" { "L-BFGS" } else { word });
    assert_eq!(sandbox.json(&again)["experiments"][0]["outcome"], "known");
}

#[test]
fn flags_that_only_some_of_the_algorithms_have_choose_among_them() {
    let sandbox = Sandbox::new();
    let explained = sandbox.json(&[
        "explain",
        "data.libsvm",
        "--algorithms",
        "l-bfgs,dcd-psgd",
        "--bits",
        "4",
        "--engine",
        "simulated",
        "--json",
    ]);
    assert_eq!(explained["plan"]["stages"][0]["algorithm"], "dcd-psgd", "{explained}");
    assert_eq!(explained["rejected"][0]["reason"], "it has no --bits");
}

#[test]
fn a_mixing_matrix_says_how_many_workers() {
    let sandbox = Sandbox::new();
    sandbox.write("mixing", "1/2 1/2 0\n1/2 1/4 1/4\n0 1/4 3/4\n");
    let train = ["train", "data.libsvm", "--algorithm", "dcd-psgd", "--topology", "mixing", "--json"];
    for end in [["--rounds", "3"], ["--error", "0.5"]] {
        assert_eq!(sandbox.json(&[&train[..], &end].concat())["workers"], 3);
    }
    let other = sandbox.run(&[&train[..], &["--workers", "2"]].concat());
    assert!(other.stderr.contains("is for 3 workers, not for 2; use --workers 3"), "{}", other.stderr);
}

#[test]
fn nothing_but_the_result_with_quiet() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&["train", "data.libsvm", "--quiet", "--json"]);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn warnings_are_shown_however_quiet() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&["train", "data.libsvm", "--quiet", "--json", "--error", "1e-15"]);
    assert!(outcome.stderr.starts_with("Warning: an error of 1e-15 cannot be proved"), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "no progress: {}", outcome.stderr);
}

#[test]
fn an_objective_that_no_model_has_is_said_to_be_out_of_reach() {
    let sandbox = Sandbox::new();
    for more in [&[][..], &["--algorithm", "cocoa"], &["--engine", "simulated", "--workers", "2"]] {
        let outcome = sandbox.run(&[&["train", "data.libsvm", "--objective", "1e-5"], more].concat());
        assert_eq!(outcome.code, Some(3), "{more:?}: {}", outcome.stderr);
        let said = "Stopped: no model reaches this objective; every model has at least 0.";
        assert!(outcome.stdout.starts_with(said), "{more:?}: {}", outcome.stdout);
        assert!(!outcome.stdout.contains("--resume"), "{more:?}: {}", outcome.stdout);
    }
    let report = sandbox.run(&["train", "data.libsvm", "--objective", "1e-5", "--json"]).json();
    assert_eq!((&report["stop"], &report["goal_reached"]), (&"unreachable".into(), &false.into()));
    assert!(report["dual"].as_f64().unwrap() > 1e-5, "{report}");
}

/// Values of ordinary rows times a factor, and in one place another.
fn scaled(factor: f64, one: Option<f64>) -> String {
    let rows = (0..60_u32).map(|row| {
        let value = |column: u32| match (row, column) {
            (7, 2) => one.unwrap_or(0.3 * factor),
            _ => factor * (f64::from((row * 37 + column * 101) % 97) / 48.0 - 1.0),
        };
        let label = if (row * 37) % 97 > 48 || row % 11 == 0 { "+1" } else { "-1" };
        let values: Vec<String> =
            (1..=5).map(|column| format!("{column}:{:e}", value(column) as f32)).collect();
        format!("{label} {}\n", values.join(" "))
    });
    rows.collect()
}

#[test]
fn values_of_any_size_end_in_a_report() {
    let sandbox = Sandbox::new();
    let sizes = [(1e-45, None), (1e-30, None), (1e18, None), (1e20, None), (3e38, None), (1.0, Some(3e38))];
    for (factor, one) in sizes {
        sandbox.write("extreme.libsvm", &scaled(factor, one));
        for loss in ["hinge", "smoothed-hinge", "logistic", "squared"] {
            for more in [&[][..], &["--algorithm", "cocoa"], &["--standardise"], &["--lambda", "1e-300"]] {
                let plain = ["train", "extreme.libsvm", "--loss", loss, "--json", "--within", "0.2s"];
                let about = format!("values of {factor:e} and {one:?}, {loss}, {more:?}");
                let outcome = sandbox.run(&[&plain[..], more].concat());
                assert!(matches!(outcome.code, Some(0 | 3)), "{about}: {}", outcome.stderr);
                let report = outcome.json();
                assert!(report["primal"].as_f64().is_some_and(f64::is_finite), "{about}: {report}");
                assert!(!outcome.stdout.contains("NaN"), "{about}: {report}");
            }
        }
    }
}

#[test]
fn one_large_value_does_not_make_a_planned_run_give_up() {
    let sandbox = Sandbox::new();
    sandbox.write("one.libsvm", &scaled(1.0, Some(1e5)));
    for loss in ["smoothed-hinge", "logistic", "squared"] {
        let report = sandbox.json(&["train", "one.libsvm", "--loss", loss, "--json"]);
        assert_eq!(report["stop"], "error", "{loss}: {report}");
        assert_eq!(report["switches"], serde_json::json!([]), "{loss}: nothing fails meanwhile");
    }
}

#[test]
fn the_same_seed_gives_the_same_model() {
    let sandbox = Sandbox::new();
    let weights = |name: &str| {
        let engine = ["--engine", "simulated", "--workers", "3", "--seed", "5", "--model", name];
        sandbox.json(&[&["train", "data.libsvm", "--json"], engine.as_slice()].concat());
        read_json(sandbox.work.path().join(name))["weights"].clone()
    };
    assert_eq!(weights("a.json"), weights("b.json"));
}
