//! Data from several files and from standard input, through the real binary.

mod sandbox;

use std::io::Write;
use std::process::Stdio;

use sandbox::{DATA, Outcome, Sandbox, wait};

/// Runs a command with this on standard input.
fn with_input(sandbox: &Sandbox, input: &[u8], arguments: &[&str]) -> Outcome {
    let mut command = sandbox.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    wait(child)
}

/// All that a report says of the result.
fn result(outcome: &Outcome) -> (serde_json::Value, serde_json::Value) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let report = outcome.json();
    (report["dataset"]["rows"].clone(), report["primal"].clone())
}

#[test]
fn standard_input_is_a_file() {
    let sandbox = Sandbox::new();
    let fixed = ["--algorithm", "cocoa", "--workers", "1", "--error", "1e-3", "--json", "-q"];
    let arguments = |data| [&["train", data], &fixed[..]].concat();
    let expected = result(&sandbox.run(&arguments("data.libsvm")));
    let piped = with_input(&sandbox, DATA.as_bytes(), &arguments("-"));
    assert_eq!(result(&piped), expected);
    assert_eq!(piped.json()["dataset"]["name"], "-");
    let run = piped.json()["run"].as_str().unwrap().to_string();
    let resumed = with_input(&sandbox, DATA.as_bytes(), &["train", "--resume", &run, "--error", "1e-6"]);
    assert_eq!(resumed.code, Some(2));
    let message = format!("run {run} read data from standard input, so it cannot be resumed");
    assert!(resumed.stderr.contains(&message) && resumed.stderr.contains("hint:"), "{}", resumed.stderr);
}

#[test]
fn standard_input_may_be_packed_and_is_predicted_from() {
    let sandbox = Sandbox::new();
    let trained = sandbox.run(&["train", "data.libsvm", "--model", "model.json", "-q"]);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let expected = sandbox.run(&["predict", "model.json", "data.libsvm"]).stdout;
    assert_eq!(expected.lines().count(), 10);
    let packed = zstd::encode_all(DATA.as_bytes(), 1).unwrap();
    for input in [DATA.as_bytes(), &packed] {
        assert_eq!(with_input(&sandbox, input, &["predict", "model.json", "-"]).stdout, expected);
    }
}

#[test]
fn mistakes_in_standard_input_have_their_line() {
    let sandbox = Sandbox::new();
    let outcome = with_input(&sandbox, b"1 1:1\n0 1:x\n", &["train", "-"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("standard input:2: the value of index 1 is “x”"), "{}", outcome.stderr);
    assert!(with_input(&sandbox, b"", &["train", "-"]).stderr.contains("no rows"));
}

#[test]
fn several_files_are_one_dataset_and_can_be_resumed() {
    let sandbox = Sandbox::new();
    let (first, second) = DATA.split_at(DATA.find("+1 1:0.3").unwrap());
    sandbox.write("part-1", first);
    sandbox.write("part-2", second);
    let fixed = ["--algorithm", "cocoa", "--workers", "1", "--rounds", "2", "--json", "-q"];
    let train = |data: &[&str]| sandbox.run(&[&["train"], data, &fixed].concat()).json()["primal"].clone();
    let expected = train(&["data.libsvm"]);
    for data in [&["part-1", "part-2"][..], &["part-*"], &["part-1 + part-2"]] {
        assert_eq!(train(data), expected, "{data:?}");
        let elsewhere = tempfile::tempdir().unwrap();
        let mut resume = sandbox.command(&["train", "--resume", "last", "--rounds", "4", "--json", "-q"]);
        let resumed = resume.current_dir(elsewhere.path()).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&resumed.stdout).unwrap();
        assert_eq!(report["dataset"]["rows"], 10, "{}", String::from_utf8_lossy(&resumed.stderr));
    }
}

#[test]
fn tables_with_other_delimiters() {
    let sandbox = Sandbox::new();
    let rows: Vec<String> = (0..20).map(|row| format!("{}~{}~{}", row % 2, row, row * row % 7)).collect();
    let text = format!("label~a~b\n{}\n", rows.join("\n"));
    for (delimiter, flag) in
        [("~", Some("~")), ("|", None), (" ", None), ("   ", Some("space")), ("\t", Some("tab"))]
    {
        sandbox.write("table", &text.replace('~', delimiter));
        let mut arguments = vec!["train", "table", "--json", "-q"];
        arguments.extend(flag.map(|flag| ["--delimiter", flag]).into_iter().flatten());
        let outcome = sandbox.run(&arguments);
        assert_eq!(outcome.code, Some(0), "{delimiter:?}: {}", outcome.stderr);
        assert_eq!(
            (&outcome.json()["dataset"]["rows"], &outcome.json()["dataset"]["features"]),
            (&20.into(), &2.into())
        );
    }
}
