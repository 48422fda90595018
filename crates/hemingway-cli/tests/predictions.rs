//! What comes out of a model: predictions in several forms, figures of how good they are, coefficients, exports.

mod sandbox;

use sandbox::{Outcome, Sandbox, read_json};
use serde_json::Value;

/// A table of mails with their ids, and a model of it.
fn mails(more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "mails.csv",
        "kind,links,words\nspam,9,120\nham,1,80\nspam,7,60\nham,0,200\nspam,3,90\nham,4,70\n",
    );
    let train = ["train", "mails.csv", "--label", "kind", "--positive", "spam", "--bias", "--standardise"];
    let outcome = sandbox.run(&[&train[..], &["--model", "m.json", "--quiet"], more].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    sandbox
}

fn predict(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.run(&[&["predict", "m.json", "mails.csv", "--label", "kind"], more].concat())
}

fn evaluate(sandbox: &Sandbox, data: &str) -> Value {
    sandbox.json(&["evaluate", "m.json", data, "--label", "kind", "--json"])
}

/// A refusal: exit code 2, and these words on standard error.
fn check_refused(outcome: &Outcome, words: &[&str]) {
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    for word in words {
        assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
    }
}

#[test]
fn probabilities_are_those_of_the_margins() {
    let sandbox = mails(&[]);
    let margins = predict(&sandbox, &["--margins"]).stdout;
    let probabilities = predict(&sandbox, &["--probabilities"]).stdout;
    assert_eq!(probabilities.lines().count(), 6);
    for (margin, probability) in margins.lines().zip(probabilities.lines()) {
        let [margin, probability] = [margin, probability].map(|text| text.parse::<f64>().unwrap());
        assert!((probability - 1.0 / (1.0 + (-margin).exp())).abs() < 1e-12, "{margin} {probability}");
    }
    let json = predict(&sandbox, &["--probabilities", "--json"]).json();
    let of = |class: &str| json["probabilities"][class][0].as_f64().unwrap();
    assert!((of("spam") + of("ham") - 1.0).abs() < 1e-12);
    assert_eq!(of("spam").to_string(), probabilities.lines().next().unwrap());
    assert!(predict(&sandbox, &["--json"]).json().get("probabilities").is_none(), "only where asked for");
}

#[test]
fn tables_have_a_header_and_lines_of_json_have_names() {
    let sandbox = mails(&[]);
    let table = predict(&sandbox, &["--output-format", "csv", "--margins", "--probabilities"]).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!((lines[0], lines.len()), ("prediction,margin,probability ham,probability spam", 7));
    assert!(lines[1].starts_with("spam,") && lines[1].split(',').count() == 4, "{}", lines[1]);
    assert_eq!(predict(&sandbox, &["--output-format", "csv"]).stdout.lines().nth(1), Some("spam"));

    let written = predict(&sandbox, &["--output-format", "jsonl", "--output", "out.jsonl"]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""));
    let text = std::fs::read_to_string(sandbox.work.path().join("out.jsonl")).unwrap();
    assert_eq!(text.lines().next(), Some(r#"{"prediction":"spam"}"#));
    assert_eq!(predict(&sandbox, &["--output", "out.txt"]).code, Some(0));
    let text = std::fs::read_to_string(sandbox.work.path().join("out.txt")).unwrap();
    assert_eq!(text, predict(&sandbox, &[]).stdout);
}

#[test]
fn rows_are_named_by_a_column() {
    let sandbox = Sandbox::new();
    let rows = "name,kind,links\n\"a, b\",spam,9\nc,ham,1\nd,spam,7\ne,ham,0\n";
    sandbox.write("mails.csv", rows);
    let trained =
        sandbox.run(&["train", "mails.csv", "--label", "kind", "--positive", "spam", "--model", "m.json"]);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let table = predict(&sandbox, &["--id", "name"]);
    assert_eq!(table.stdout, "name,prediction\n\"a, b\",spam\nc,ham\nd,spam\ne,ham\n", "{}", table.stderr);
    let lines = predict(&sandbox, &["--id", "name", "--output-format", "jsonl"]).stdout;
    assert_eq!(lines.lines().next(), Some(r#"{"id":"a, b","prediction":"spam"}"#));
    assert_eq!(predict(&sandbox, &["--id", "name", "--json"]).json()["ids"][1], "c");
    check_refused(&predict(&sandbox, &["--id", "name", "--output-format", "lines"]), &["leave out --id"]);
    check_refused(&predict(&sandbox, &["--id", "nam"]), &["nam"]);
    let libsvm = sandbox.run(&["train", "data.libsvm", "--model", "l.json"]);
    assert_eq!(libsvm.code, Some(0), "{}", libsvm.stderr);
    let refused = sandbox.run(&["predict", "l.json", "data.libsvm", "--id", "name"]);
    check_refused(&refused, &["data.libsvm", "no columns with names"]);
    let generated = "synthetic:separable,rows=5,features=4";
    let refused = sandbox.run(&["predict", "l.json", generated, "--id", "name"]);
    check_refused(&refused, &["is no table, so no column can name its rows", "hint: leave out --id"]);
}

#[test]
fn what_cannot_be_printed_is_refused() {
    let sandbox = mails(&["--loss", "hinge"]);
    check_refused(
        &predict(&sandbox, &["--probabilities"]),
        &["the hinge loss gives no probabilities", "hint: `hemingway platt MODEL DATA`"],
    );
    check_refused(&predict(&sandbox, &["--probabilities", "--margins"]), &["--output-format csv"]);
    check_refused(&predict(&sandbox, &["--output", "no/such/place"]), &["no/such/place"]);
    check_refused(&predict(&sandbox, &["--output-format", "xml"]), &["choose lines, csv or jsonl"]);
    let refused = sandbox.run(&["evaluate", "m.json", "mails.csv", "--label", "none"]);
    check_refused(&refused, &["has no labels to compare with", "--label COLUMN"]);
    check_refused(&sandbox.run(&["export", "m.json", "model.xml"]), &["model.xml", ".csv and .onnx"]);
}

#[test]
fn test_data_is_measured_in_every_figure_and_evaluate_agrees() {
    let sandbox = mails(&[]);
    let train = ["train", "mails.csv", "--label", "kind", "--positive", "spam", "--bias", "--standardise"];
    let more = ["--test", "mails.csv", "--model", "m.json"];
    let report = sandbox.json(&[&train[..], &more, &["--json"]].concat());
    let metrics = &report["test_metrics"];
    assert_eq!(metrics["accuracy"], report["test_accuracy"]);
    assert_eq!(metrics["confusion"]["classes"], serde_json::json!(["ham", "spam"]));
    let mut evaluated = evaluate(&sandbox, "mails.csv");
    assert_eq!(evaluated.as_object_mut().unwrap().remove("dropped_values"), Some(0.into()));
    assert_eq!(evaluated, *metrics);
    for figure in ["log_loss", "auc", "f1"] {
        assert!(metrics[figure].is_f64(), "{figure}: {metrics}");
    }
    let text = sandbox.run(&[&train[..], &more].concat()).stdout;
    for part in ["On the test data:\n", "  log-loss", "  AUC", "of the class spam", "actual ham"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let evaluated = sandbox.run(&["evaluate", "m.json", "mails.csv", "--label", "kind"]).stdout;
    assert!(evaluated.starts_with("  accuracy"), "{evaluated}");
    let block = evaluated.split_once('\n').unwrap().1;
    assert!(text.contains(block), "{block} in {text}");
}

#[test]
fn rows_of_one_class_say_what_cannot_be_computed() {
    let sandbox = mails(&["--loss", "hinge"]);
    sandbox.write("ham.csv", "kind,links,words\nham,0,200\nham,1,90\n");
    let metrics = evaluate(&sandbox, "ham.csv");
    for figure in ["log_loss", "auc", "f1"] {
        assert!(metrics[figure].is_null(), "{metrics}");
    }
    let text = sandbox.run(&["evaluate", "m.json", "ham.csv", "--label", "kind"]).stdout;
    assert!(!text.contains("NaN"), "{text}");
    assert!(text.contains("-, no row is of the class spam"), "{text}");
    assert!(text.contains("-, the model gives no probabilities"), "{text}");
}

#[test]
fn regression_has_figures_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.write("line.csv", "x,y\n0,1\n1,3\n2,5\n3,7\n4,9.5\n");
    let train = ["train", "line.csv", "--label", "y", "--regression", "--bias", "--model", "m.json"];
    let report = sandbox.json(&[&train[..], &["--test", "line.csv", "--json"]].concat());
    let metrics = &report["test_metrics"];
    assert_eq!(metrics["rmse"], report["test_rmse"]);
    assert!(metrics["mae"].as_f64().unwrap() <= metrics["rmse"].as_f64().unwrap());
    assert!(metrics["r_squared"].as_f64().unwrap() > 0.95, "{metrics}");
    let text = sandbox.run(&["evaluate", "m.json", "line.csv", "--label", "y"]).stdout;
    assert!(text.contains("  rms error") && text.contains("  R²"), "{text}");
    let refused = sandbox.run(&["predict", "m.json", "line.csv", "--label", "y", "--probabilities"]);
    check_refused(&refused, &["predicts numbers, which have no probabilities"]);
    let line =
        sandbox.run(&["predict", "m.json", "line.csv", "--label", "y", "--output-format", "jsonl"]).stdout;
    let first: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert!(first["prediction"].is_f64(), "{first}");
}

#[test]
fn a_hinge_model_gets_probabilities_from_other_rows() {
    let sandbox = mails(&["--loss", "hinge"]);
    let more = "kind,links,words\nspam,8,100\nspam,6,90\nham,2,100\nham,3,60\nham,6,80\nspam,2,90\n";
    sandbox.write("more.csv", more);
    let fitted = sandbox.json(&["platt", "m.json", "more.csv", "--label", "kind", "--json"]);
    assert!(fitted["platt"]["slope"].as_f64().unwrap() > 0.0, "{fitted}");
    assert_eq!(read_json(sandbox.work.path().join("m.json"))["platt"], fitted["platt"]);
    let told =
        sandbox.run(&["platt", "m.json", "more.csv", "--label", "kind", "--output", "other.json"]).stdout;
    assert!(told.starts_with("probability 1/(1 + exp(−(") && !told.contains("+ -"), "{told}");
    assert_eq!(read_json(sandbox.work.path().join("other.json"))["platt"], fitted["platt"]);
    let probabilities = predict(&sandbox, &["--probabilities"]);
    assert_eq!(probabilities.code, Some(0), "{}", probabilities.stderr);
    let between = |line: &str| (0.0..=1.0).contains(&line.parse::<f64>().unwrap());
    assert!(probabilities.stdout.lines().all(between), "{}", probabilities.stdout);
    assert!(evaluate(&sandbox, "more.csv")["log_loss"].as_f64().unwrap() < 2f64.ln(), "better than a coin");

    sandbox.write("ham.csv", "kind,links,words\nham,0,200\nham,1,90\n");
    let platt = |data: &str| sandbox.run(&["platt", "m.json", data, "--label", "kind"]);
    check_refused(&platt("ham.csv"), &["of one class", "hint: use rows of both classes"]);
    sandbox.write("swapped.csv", &more.replace("spam", "x").replace("ham", "spam").replace('x', "ham"));
    check_refused(&platt("swapped.csv"), &["larger margins go with the negative class"]);
    assert_eq!(
        read_json(sandbox.work.path().join("m.json"))["platt"],
        fitted["platt"],
        "a refusal changes nothing"
    );
}

#[test]
fn coefficients_are_sorted_and_in_the_units_of_the_data() {
    let sandbox = mails(&[]);
    let json = sandbox.json(&["show", "m.json", "--coefficients", "--json"]);
    let list = json["coefficients"].as_array().unwrap();
    let importance: Vec<f64> = list.iter().map(|one| one["importance"].as_f64().unwrap()).collect();
    assert!(list.len() == 2 && importance[0] >= importance[1], "{json}");
    // By hand: the margin of the first row.
    let row = [9.0, 120.0];
    let terms = list
        .iter()
        .map(|one| one["coefficient"].as_f64().unwrap() * row[one["index"].as_u64().unwrap() as usize]);
    let by_hand = json["intercept"].as_f64().unwrap() + terms.sum::<f64>();
    let margin: f64 = predict(&sandbox, &["--margins"]).stdout.lines().next().unwrap().parse().unwrap();
    assert!((by_hand - margin).abs() < 1e-4 * margin.abs(), "{by_hand} {margin}");

    let text = sandbox.run(&["show", "last", "--coefficients", "1"]).stdout;
    assert!(text.contains("the 1 most important of 2"), "{text}");
    let list: Vec<&str> =
        text.lines().skip_while(|line| !line.trim_start().starts_with("feature ")).collect();
    assert!(list.len() == 3 && list[2].contains("links "), "a header, the intercept and a name: {text}");

    assert_eq!(sandbox.run(&["export", "m.json", "c.csv"]).code, Some(0));
    let table = std::fs::read_to_string(sandbox.work.path().join("c.csv")).unwrap();
    assert!(table.starts_with("class,name,index,coefficient,importance\nspam,intercept,,"), "{table}");
    assert_eq!(table.lines().count(), 4);
}

#[test]
fn several_classes_have_a_column_each() {
    let sandbox = Sandbox::new();
    let rows = ["a,5,0", "b,0,5", "c,-5,-5", "a,6,1", "b,1,7", "c,-6,-4", "a,4,1", "b,1,4", "c,-4,-5"];
    sandbox.write("three.csv", &format!("kind,x,z\n{}\n", rows.join("\n")));
    let train =
        ["train", "three.csv", "--label", "kind", "--test", "three.csv", "--model", "m.json", "--json"];
    let metrics = &sandbox.json(&train)["test_metrics"];
    assert_eq!(metrics["confusion"]["counts"], serde_json::json!([[3, 0, 0], [0, 3, 0], [0, 0, 3]]));
    assert_eq!((&metrics["f1"], &metrics["auc"]), (&1.0.into(), &1.0.into()));
    let data = ["predict", "m.json", "three.csv", "--label", "kind", "--probabilities", "--output-format"];
    let table = sandbox.run(&[&data[..], &["csv"]].concat()).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "prediction,probability a,probability b,probability c");
    let first: Vec<&str> = lines[1].split(',').collect();
    let sum: f64 = first[1..].iter().map(|share| share.parse::<f64>().unwrap()).sum();
    assert!(first[0] == "a" && (sum - 1.0).abs() < 1e-12, "{first:?}");
    let shown = sandbox.json(&["show", "m.json", "--json"]);
    assert_eq!(shown["classes"][2]["class"], "c");
    assert_eq!(shown["classes"][2]["coefficients"].as_array().unwrap().len(), 2);
    let refused = sandbox.run(&["platt", "m.json", "three.csv", "--label", "kind"]);
    check_refused(&refused, &["of two classes, but the model has 3", "hint: train with --loss logistic"]);
}

#[test]
fn a_model_is_written_as_onnx() {
    let sandbox = mails(&[]);
    let told = sandbox.json(&["export", "m.json", "m.onnx", "--json"]);
    assert_eq!((&told["what"], &told["file"]), (&"model".into(), &"m.onnx".into()));
    let bytes = std::fs::read(sandbox.work.path().join("m.onnx")).unwrap();
    assert_eq!(bytes[..2], [0x08, 7], "its first field is the version of the format");
    for name in ["links", "words", "label", "probabilities", "spam"] {
        assert!(bytes.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let sandbox = Sandbox::new();
    for command in ["evaluate", "platt", "export"] {
        let outcome = sandbox.run(&[command, "--help"]);
        assert_eq!(outcome.code, Some(0));
        assert!(outcome.stdout.contains("Example") && outcome.stdout.contains("--json"), "{command}");
    }
}
