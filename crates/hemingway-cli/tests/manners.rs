//! What makes a command line easy to use: completions, man pages, variables, pictures, tables that fit, near misses.

mod sandbox;

use sandbox::{Sandbox, finish};

#[test]
fn every_shell_has_completions() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.run(&["completions", shell]);
        assert_eq!(script.code, Some(0), "{shell}: {}", script.stderr);
        for word in ["hemingway", "explain", "dataset-matters", "cluster"] {
            assert!(script.stdout.contains(word), "{shell} does not know {word}");
        }
    }
    let unknown = sandbox.run(&["completions", "bsh"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("bash"), "{}", unknown.stderr);
}

#[test]
fn bash_can_read_its_completions() {
    let sandbox = Sandbox::new();
    let script = sandbox.run(&["completions", "bash"]).stdout;
    let file = sandbox.write("completions", &script);
    let complete = "source \"$0\"; COMP_WORDS=(hemingway expl); COMP_CWORD=1; _hemingway hemingway expl hemingway; \
        echo \"${COMPREPLY[@]}\"";
    let Ok(output) = std::process::Command::new("bash").args(["-c", complete]).arg(&file).output() else {
        eprintln!("not tested: there is no bash here");
        return;
    };
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "explain\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn there_is_a_man_page_for_every_command() {
    let sandbox = Sandbox::new();
    let page = sandbox.run(&["man"]);
    assert!(
        page.stdout.contains(".TH hemingway 1") && page.stdout.contains("HEMINGWAY_STORE"),
        "{}",
        page.stdout
    );
    let written = sandbox.run(&["man", "share/man1"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    let folder = sandbox.work.path().join("share/man1");
    let count = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(written.stdout, format!("{count} pages in share/man1\n"));
    for (name, text) in [
        ("hemingway.1", "Trains linear models"),
        ("hemingway-train.1", "\\-\\-lambda"),
        ("hemingway-runs-prune.1", "hemingway runs prune"),
        ("hemingway-reproduce-bespoke.1", "Dalibard"),
    ] {
        let page = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(page.contains(text), "{name}: {page}");
    }
    sandbox.write("file", "");
    let refused = sandbox.run(&["man", "file"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("file"), "{}", refused.stderr);
}

#[test]
fn variables_say_where_things_are() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.work.path().join("kept")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.env("HEMINGWAY_STORE", "kept/runs.sqlite").env("HEMINGWAY_MODELS", "kept/weights");
        finish(command)
    };
    let report = run(&["train", "data.libsvm", "--json"]);
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    let model = report.json()["model"].as_str().unwrap().to_owned();
    assert!(model.contains("/kept/weights/"), "{model}");
    assert!(std::path::Path::new(&model).is_file(), "{model}");
    assert!(sandbox.work.path().join("kept/runs.sqlite").is_file());
    assert!(sandbox.home_is_empty());
    assert_eq!(run(&["runs", "--json"]).json()["runs"].as_array().unwrap().len(), 1);
    let elsewhere = run(&["runs", "--store", "other.sqlite", "--json"]).json();
    assert_eq!(elsewhere["runs"].as_array().unwrap().len(), 0, "a flag comes first");
    let removed = run(&["runs", "rm", "last", "--models", "--json"]).json();
    assert_eq!(removed["removed_models"][0], model.as_str(), "{removed}");
}

#[test]
fn a_cluster_in_the_environment_is_for_the_simulated_engine_alone() {
    let sandbox = Sandbox::new();
    let run = |engine: &[&str]| {
        let mut command = sandbox.command(&[&["train", "data.libsvm", "--json"], engine].concat());
        command.env("HEMINGWAY_CLUSTER", "missing.toml");
        finish(command)
    };
    assert_eq!(run(&[]).json()["engine"], "threads");
    let simulated = run(&["--engine", "simulated"]);
    assert!(simulated.code == Some(2) && simulated.stderr.contains("missing.toml"), "{}", simulated.stderr);
}

#[test]
fn help_names_the_variables() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["--help"]).stdout;
    for name in
        ["HEMINGWAY_STORE", "HEMINGWAY_MODELS", "HEMINGWAY_DATA", "HEMINGWAY_CLUSTER", "HEMINGWAY_HOSTS"]
    {
        assert!(help.contains(name), "{name}: {help}");
    }
    assert!(sandbox.run(&["runs", "--help"]).stdout.contains("[env: HEMINGWAY_STORE]"));
}

const SIMULATED: [&str; 8] =
    ["--engine", "simulated", "--workers", "2", "--algorithm", "cocoa", "--score-every", "1"];

#[test]
fn runs_are_drawn_as_their_file_is_called() {
    let sandbox = Sandbox::new();
    let id = sandbox.json(&[&["train", "data.libsvm", "--json"], &SIMULATED[..]].concat())["run"].clone();
    let id = id.as_str().unwrap();
    let other = sandbox.json(&["train", "data.libsvm", "--json"])["run"].as_str().unwrap().to_owned();
    assert_eq!(
        sandbox.run(&["plot", id]).stdout,
        format!("{id}.png: error of 1 run against seconds and rounds\n")
    );
    let png = std::fs::read(sandbox.work.path().join(format!("{id}.png"))).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    let said = sandbox.run(&["plot", id, &other, "-o", "both.svg"]);
    assert_eq!(said.stdout, "both.svg: error of 2 runs against seconds and rounds\n", "{}", said.stderr);
    let svg = std::fs::read_to_string(sandbox.work.path().join("both.svg")).unwrap();
    for word in [
        id,
        &other,
        "cocoa",
        "2 workers",
        "rounds",
        "relative error",
        "data.libsvm, logistic loss",
        "known by now",
    ] {
        assert!(svg.contains(word), "{word}");
    }
    assert!(svg.contains("some of them simulated"));
    let json = sandbox.json(&["plot", id, "--against", "epochs", "-o", "epochs.svg", "--json"]);
    let svg = std::fs::read_to_string(sandbox.work.path().join("epochs.svg")).unwrap();
    assert!(svg.contains("epochs") && !svg.contains("seconds"), "one panel");
    let points = json["runs"][0]["points"].as_array().unwrap();
    let last = points.last().unwrap();
    let [low, high] = [0, 1].map(|at| last["error"][at].as_f64().unwrap());
    assert!(0.0 <= low && low <= high && high <= last["certified_error"].as_f64().unwrap() * 1.001, "{last}");
}

#[test]
fn a_run_of_several_classes_is_drawn_class_by_class() {
    let sandbox = Sandbox::new();
    let rows = (0..30)
        .map(|row| format!("{},{}\n", ["ant", "bee", "cat"][row % 3], (row % 3) as f64 + (row as f64).sin()));
    sandbox.write("kinds.csv", &format!("kind,x\n{}", rows.collect::<String>()));
    sandbox.json(&["train", "kinds.csv", "--label", "kind", "--json"]);
    let plot = sandbox.json(&["plot", "last", "-o", "kinds.svg", "--json"]);
    let classes: Vec<&str> =
        plot["runs"].as_array().unwrap().iter().map(|run| run["class"].as_str().unwrap()).collect();
    assert_eq!(classes, ["ant", "bee", "cat"]);
    let svg = std::fs::read_to_string(sandbox.work.path().join("kinds.svg")).unwrap();
    assert!(classes.iter().all(|class| svg.contains(&format!("class {class}"))));
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let sandbox = Sandbox::new();
    sandbox.json(&["train", "data.libsvm", "--json"]);
    for (arguments, code, part) in [
        (&["plot", "last", "-o", "error.pdf"][..], 2, "write it like --output error.svg"),
        (&["plot", "last", "-o", "missing/error.png"], 2, "there is no directory missing"),
        (&["plot", "lst"], 2, "did you mean `last`?"),
        (&["plot", "last", "--against", "epoch"], 2, "epochs"),
        (&["plot"], 2, "RUN"),
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn near_misses_are_named() {
    let sandbox = Sandbox::new();
    let id = sandbox.json(&["train", "data.libsvm", "--json"])["run"].as_str().unwrap().to_owned();
    let mistyped = format!("{}{}", &id[..4], if id.ends_with('0') { '1' } else { '0' });
    for (arguments, part) in [
        (&["show", mistyped.as_str()][..], format!("did you mean `{id}`?")),
        (&["trian"], "'train'".to_owned()),
        (&["train", "--algoritm", "cocoa"], "'--algorithm'".to_owned()),
        (&["runs", "prun", "--keep", "3"], "prune".to_owned()),
        (&["train", "data.libsvm", "--loss", "logistc"], "logistic".to_owned()),
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(&part), "{arguments:?}: {}", outcome.stderr);
    }
    let far = sandbox.run(&["show", "zzzzzzzzz"]);
    assert!(!far.stderr.contains("did you mean"), "{}", far.stderr);
}

#[test]
fn tables_of_runs_fit_80_columns() {
    let sandbox = Sandbox::new();
    std::fs::copy(
        sandbox.work.path().join("data.libsvm"),
        sandbox.work.path().join("a-file-with-a-name-that-goes-on-and-on.libsvm"),
    )
    .unwrap();
    let long = ["train", "a-file-with-a-name-that-goes-on-and-on.libsvm", "--loss", "smoothed-hinge"];
    let method =
        ["--algorithm", "minibatch-sgd", "--engine", "simulated", "--workers", "8", "--rounds", "20"];
    let stopped = sandbox.run(&[&long[..], &method, &["--error", "1e-9", "--score-every", "1"]].concat());
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    for arguments in [&["runs"][..], &["show", "last"]] {
        let text = sandbox.run(arguments).stdout;
        let tables = text.lines().filter(|line| !line.contains('/'));
        for line in tables {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
    let runs = sandbox.run(&["runs"]);
    assert!(runs.stdout.contains('…') && runs.stdout.contains("a-file"), "{}", runs.stdout);
    assert!(runs.stderr.contains("--json also shows"), "{}", runs.stderr);
}

#[test]
fn fit_is_about_one_problem() {
    let sandbox = Sandbox::new();
    sandbox.write("other.libsvm", sandbox::DATA);
    for (data, loss) in [("data.libsvm", "hinge"), ("data.libsvm", "logistic"), ("other.libsvm", "logistic")]
    {
        sandbox.json(&[&["train", data, "--loss", loss, "--json"], &SIMULATED[..]].concat());
    }
    let latest = sandbox.run(&["fit"]);
    assert!(latest.stdout.starts_with("cocoa on other.libsvm, logistic"), "{}", latest.stdout);
    let note = "note: these are the runs on other.libsvm, logistic loss, lambda 1e-4; DATA, --loss and --lambda choose \
        among the other problems:\n  data.libsvm, logistic loss, lambda 1e-4\n  data.libsvm, hinge loss, lambda 1e-4\n";
    assert_eq!(latest.stderr, note);
    let asked = sandbox.json(&["fit", "data.libsvm", "--json"]);
    assert_eq!(asked["problem"], "data.libsvm, logistic loss, lambda 1e-4");
    assert_eq!(asked["families"].as_array().unwrap().len(), 1);
    let hinge = sandbox.json(&["fit", "data.libsvm", "--loss", "svm", "--json"]);
    assert_eq!(hinge["problem"], "data.libsvm, hinge loss, lambda 1e-4");
    let none = sandbox.run(&["fit", "data.libsvm", "--lambda", "0.5"]);
    assert_eq!(none.code, Some(2));
    assert!(
        none.stderr.contains("is on data.libsvm and has lambda 5e-1; there are runs on"),
        "{}",
        none.stderr
    );
}
