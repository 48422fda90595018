//! More than two classes on the command line.

mod sandbox;

use sandbox::{Sandbox, read_json};

const FRUIT: &str = "\
kind,weight,length
apple,1.0,0.2
banana,0.4,1.2
cherry,0.1,0.1
apple,0.9,0.3
banana,0.5,1.1
cherry,0.2,0.1
apple,1.1,0.1
banana,0.3,1.4
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("fruit.csv", FRUIT);
    sandbox
}

const TRAIN: &[&str] = &["train", "fruit.csv", "--label", "kind", "--bias"];

#[test]
fn several_classes_become_one_model() {
    let sandbox = sandbox();
    let report = sandbox.json(&[TRAIN, &["--model", "model.json", "--json", "--test", "fruit.csv"]].concat());
    assert_eq!(report["dataset"]["labels"]["several"], serde_json::json!(["apple", "banana", "cherry"]));
    let classes = report["classes"].as_array().unwrap();
    assert_eq!(classes.len(), 3);
    for class in classes {
        for field in
            ["name", "run", "rows", "algorithm", "rounds", "seconds", "primal", "dual", "certified_error"]
        {
            assert!(!class[field].is_null(), "{field} is missing: {class}");
        }
        assert!(class["certified_error"].as_f64().unwrap() <= report["certified_error"].as_f64().unwrap());
    }
    assert_eq!(report["test_accuracy"], report["train_accuracy"]);
    let model = read_json(sandbox.work.path().join("model.json"));
    assert_eq!((&model["version"], model["classes"].as_array().unwrap().len()), (&3.into(), 3));

    let predicted = sandbox.run(&["predict", "model.json", "fruit.csv"]);
    assert_eq!(predicted.code, Some(0), "{}", predicted.stderr);
    assert!(predicted.stdout.starts_with("apple\nbanana\n"), "{}", predicted.stdout);
    assert!(
        predicted.stderr.contains("8 rows") && predicted.stderr.contains("right"),
        "{}",
        predicted.stderr
    );
    let json = sandbox.json(&["predict", "model.json", "fruit.csv", "--json"]);
    assert_eq!(json["margins"][7].as_array().unwrap().len(), 3);
    let margins = sandbox.run(&["predict", "model.json", "fruit.csv", "--margins"]);
    assert_eq!(margins.stdout.lines().next().unwrap().split(' ').count(), 3);
}

#[test]
fn classes_are_named_and_listed() {
    let sandbox = sandbox();
    let outcome = sandbox.run(TRAIN);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("class banana against the rest (2 of 3)"), "{}", outcome.stderr);
    let said = |text: &str| assert!(outcome.stdout.contains(text), "{text}: {}", outcome.stdout);
    said("3 classes, each against the rest: apple, banana, cherry");
    said("in the worst class");
    said("class   rows  algorithm");
    let runs = sandbox.json(&["runs", "--json"]);
    let runs = runs["runs"].as_array().unwrap();
    let classes: Vec<&serde_json::Value> = runs.iter().map(|run| &run["class"]).collect();
    assert_eq!(classes, [&serde_json::Value::Null, &"apple".into(), &"banana".into(), &"cherry".into()]);
    assert!(runs[1..].iter().all(|run| run["class_of"] == runs[0]["run"]));
    let rounds: u64 = runs[1..].iter().map(|run| run["rounds"].as_u64().unwrap()).sum();
    assert_eq!(runs[0]["rounds"], rounds);
    assert!(
        runs[1..].iter().all(|run| run["certified_error"].as_f64() <= runs[0]["certified_error"].as_f64())
    );
    assert!(sandbox.run(&["runs"]).stdout.contains("class cherry"));

    let shown = sandbox.run(&["show", "last"]);
    assert!(shown.stdout.contains("banana") && !shown.stdout.contains("parameters"), "{}", shown.stdout);
    let shown = sandbox.json(&["show", "last", "--json"]);
    assert_eq!(shown["classes"][2]["class"], "cherry");
    let of_class = sandbox.run(&["show", runs[2]["run"].as_str().unwrap()]);
    assert!(of_class.stdout.contains(&format!("run {}, of all classes", runs[0]["run"].as_str().unwrap())));
}

#[test]
fn the_plan_that_is_explained_is_that_of_the_first_class() {
    let explained = sandbox().json(&["explain", "fruit.csv", "--label", "kind", "--json"]);
    assert_eq!(explained["dataset"]["labels"]["classes"]["positive"], "apple");
}
