//! Tables as people have them, from the file to the prediction.

mod sandbox;

use sandbox::{Sandbox, read_json};

/// Passengers of whom women, children and the first class survive more often.
fn passengers(rows: std::ops::Range<usize>) -> Vec<[String; 7]> {
    let passenger = |row: usize| {
        let (male, class, age) = (!(row * 7).is_multiple_of(3), row * 5 % 3 + 1, row * 13 % 60 + 1);
        let luck = row * row * 31 % 10;
        let survived = usize::from(!male) * 6 + (3 - class) * 2 + usize::from(age < 12) * 4 + luck > 9;
        let age = if row.is_multiple_of(11) { String::new() } else { age.to_string() };
        [
            usize::from(male).to_string(),
            (row + 1).to_string(),
            age,
            ["S", "C", "Q", ""][row % 4].to_owned(),
            ["first", "second", "third"][class - 1].to_owned(),
            format!("1912-04-{:02}", 10 + row % 5),
            usize::from(survived).to_string(),
        ]
    };
    rows.map(passenger).collect()
}

const NAMES: [&str; 7] = ["is_male", "PassengerId", "age", "port", "cabin", "boarded", "survived"];

/// A table with these columns, in this order.
fn table(rows: &[[String; 7]], columns: &[usize]) -> String {
    let line = |cells: Vec<&str>| cells.join(",") + "\n";
    let header = line(columns.iter().map(|at| NAMES[*at]).collect());
    header
        + &rows
            .iter()
            .map(|row| line(columns.iter().map(|at| row[*at].as_str()).collect()))
            .collect::<String>()
}

const ALL: [usize; 7] = [0, 1, 2, 3, 4, 5, 6];

/// A sandbox with training and test data, and a model in model.json.
fn trained() -> (Sandbox, serde_json::Value) {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", &table(&passengers(0..400), &ALL));
    sandbox.write("test.csv", &table(&passengers(400..600), &ALL));
    let arguments =
        ["train", "train.csv", "--label", "survived", "--test", "test.csv", "--model", "model.json"];
    let report = sandbox.json(&[&arguments[..], &["--json"]].concat());
    (sandbox, report)
}

#[test]
fn a_label_is_not_guessed_where_another_column_could_be_it() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", &table(&passengers(0..100), &ALL));
    let outcome = sandbox.run(&["train", "train.csv"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stdout);
    for part in ["is_male (2 values)", "survived (2 values)", "--label survived"] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    assert!(sandbox.home_is_empty(), "nothing is written");
    let outcome = sandbox.run(&["train", "train.csv", "--label", "survivd"]);
    assert!(outcome.stderr.contains("did you mean survived?"), "{}", outcome.stderr);
}

#[test]
fn the_report_says_what_was_done_to_the_columns() {
    let (sandbox, report) = trained();
    let table = &report["dataset"]["table"];
    assert_eq!((&table["label"], &table["columns"][1]["kind"]), (&"survived".into(), &"left_out".into()));
    assert_eq!((&report["bias"], &report["standardise"]), (&true.into(), &true.into()));
    let outcome = sandbox.run(&["train", "train.csv", "--label", "survived", "--verbose"]);
    let text = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "survived: 1 → +1, 0 → −1",
        "2 numbers, 1 date, 2 texts",
        "left out: PassengerId (identifier)",
        "columns standardised, with an intercept",
        "boarded date, as days since 1970-01-01; missing counts as 1912-04-",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn predictions_do_not_depend_on_the_order_of_columns() {
    let (sandbox, report) = trained();
    let right = report["test_accuracy"].as_f64().unwrap();
    assert!(right > 0.8, "{report}");
    let plain = sandbox.json(&["predict", "model.json", "test.csv", "--json"]);
    assert_eq!(plain["accuracy"].as_f64(), Some(right), "the label is found by its name");
    let rows = passengers(400..600);
    for columns in [[6, 5, 4, 3, 2, 1, 0], [3, 0, 6, 1, 5, 2, 4]] {
        sandbox.write("turned.csv", &table(&rows, &columns));
        let turned = sandbox.json(&["predict", "model.json", "turned.csv", "--json"]);
        assert_eq!(turned["margins"], plain["margins"]);
        assert_eq!(turned["accuracy"], plain["accuracy"]);
    }
    sandbox.write("unlabelled.csv", &table(&rows, &[5, 4, 3, 2, 0]));
    let unlabelled = sandbox.json(&["predict", "model.json", "unlabelled.csv", "--json"]);
    assert_eq!(unlabelled["margins"], plain["margins"]);
    assert!(unlabelled["accuracy"].is_null());
}

#[test]
fn columns_beyond_the_known_are_noted_and_missing_ones_named() {
    let (sandbox, _) = trained();
    let more = table(&passengers(0..9), &ALL).replace('\n', ",7\n").replacen(",7\n", ",extra\n", 1);
    sandbox.write("more.csv", &more);
    let outcome = sandbox.run(&["predict", "model.json", "more.csv"]);
    assert_eq!(outcome.stdout.lines().count(), 9, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("passed over: extra"), "{}", outcome.stderr);
    sandbox.write("fewer.csv", &table(&passengers(0..9), &[0, 1, 2, 5]));
    let outcome = sandbox.run(&["predict", "model.json", "fewer.csv"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("the model needs port, cabin"), "{}", outcome.stderr);
    let outcome = sandbox.run(&["predict", "model.json", "data.libsvm"]);
    assert!(outcome.stderr.contains("trained on a table"), "{}", outcome.stderr);
}

#[test]
fn a_missing_label_is_a_mistake_or_left_out() {
    let sandbox = Sandbox::new();
    let text = table(&passengers(0..100), &ALL) + "1,101,30,S,first,1912-04-10,\n";
    sandbox.write("train.csv", &text);
    let arguments = ["train", "train.csv", "--label", "survived"];
    let outcome = sandbox.run(&arguments);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("train.csv:102: the label is missing"), "{}", outcome.stderr);
    let report = sandbox.json(&[&arguments[..], &["--drop-unlabelled", "--json"]].concat());
    assert_eq!(
        (&report["dataset"]["rows"], &report["dataset"]["table"]["unlabelled_rows"]),
        (&100.into(), &1.into())
    );
}

#[test]
fn the_model_knows_its_columns() {
    let (sandbox, report) = trained();
    let model = read_json(sandbox.work.path().join("model.json"));
    assert_eq!((&model["version"], &model["table"]["label"]["name"]), (&3.into(), &"survived".into()));
    assert_eq!(model["table"]["columns"].as_array().unwrap().len(), 6);
    assert!(!model["bias"].is_null());
    assert_eq!(model["features"], report["dataset"]["features"]);
}

#[test]
fn defaults_for_tables_can_be_taken_back() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", &table(&passengers(0..100), &ALL));
    let arguments = ["train", "train.csv", "--label", "survived", "--json", "--no-bias", "--no-standardise"];
    let report = sandbox.json(&arguments);
    assert_eq!((&report["bias"], &report["standardise"]), (&false.into(), &false.into()));
    let libsvm = sandbox.json(&["train", "data.libsvm", "--json"]);
    assert_eq!((&libsvm["bias"], &libsvm["standardise"]), (&false.into(), &false.into()));
}

#[test]
fn a_share_of_the_rows_and_a_run_that_is_resumed() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", &table(&passengers(0..400), &ALL));
    let arguments = ["train", "train.csv", "--label", "survived", "--fraction", "0.5", "--shuffle"];
    let short = ["--rounds", "1", "--engine", "simulated", "--json"];
    let report = sandbox.run(&[&arguments[..], &short].concat()).json();
    let rows = report["dataset"]["rows"].as_u64().unwrap();
    assert!(rows.abs_diff(200) <= 1, "half of each class, {rows} rows");
    let resumed = sandbox.json(&["train", "--resume", "last", "--error", "1e-3", "--json"]);
    assert_eq!(resumed["dataset"]["fingerprint"], report["dataset"]["fingerprint"]);
}
