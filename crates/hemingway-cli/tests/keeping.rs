//! What is kept and where: models of every kind of place, runs that are removed, stores that are damaged, locked or
//! someone else's.

mod sandbox;

use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sandbox::{Sandbox, finish, read_json, wait};

const TRAIN: &[&str] = &["train", "data.libsvm", "--algorithm=cocoa", "--workers=1", "--json"];

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn store(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.path().join(".local/share/hemingway/store.sqlite")
}

fn sqlite(sandbox: &Sandbox, statements: &str) {
    rusqlite::Connection::open(store(sandbox)).unwrap().execute_batch(statements).unwrap();
}

#[test]
fn a_model_goes_where_a_link_leads() {
    let sandbox = Sandbox::new();
    let at = |name: &str| sandbox.work.path().join(name);
    std::fs::create_dir(at("there")).unwrap();
    symlink("there/model.json", at("link.json")).unwrap();
    for _ in 0..2 {
        sandbox.json(&[TRAIN, &["--model=link.json"]].concat());
        assert!(at("link.json").is_symlink());
        assert_eq!(read_json(at("there/model.json"))["format"], "hemingway-model");
    }
    assert_eq!(names(&at("there")), ["model.json"]);
}

#[test]
fn a_model_goes_into_a_pipe_or_a_device() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.work.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    sandbox.json(&[TRAIN, &["--model=pipe"]].concat());
    let model: serde_json::Value = serde_json::from_str(&wait_for(reader)).unwrap();
    assert_eq!(model["format"], "hemingway-model");
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());

    sandbox.json(&[TRAIN, &["--model=/dev/null"]].concat());
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    let printed = sandbox.run(&[TRAIN, &["--model=/dev/stdout"]].concat());
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert_eq!(printed.stdout.lines().count(), 2, "the model and the report: {}", printed.stdout);
    assert!(printed.stdout.starts_with("{\"format\":\"hemingway-model\""), "{}", printed.stdout);

    let file = std::fs::File::create(sandbox.work.path().join("both.json")).unwrap();
    let mut command = sandbox.command(&[TRAIN, &["--model=/dev/stdout", "--quiet"]].concat());
    assert!(command.stdout(file).status().unwrap().success());
    let both = std::fs::read_to_string(sandbox.work.path().join("both.json")).unwrap();
    assert!(both.starts_with("{\"format\":\"hemingway-model\"") && both.lines().count() == 2, "{both}");
}

fn wait_for(child: std::process::Child) -> String {
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_training() {
    let sandbox = Sandbox::new();
    let _socket = UnixListener::bind(sandbox.work.path().join("socket")).unwrap();
    symlink("circle", sandbox.work.path().join("circle")).unwrap();
    symlink("no/such/folder/model.json", sandbox.work.path().join("nowhere")).unwrap();
    let before = names(sandbox.work.path());
    for (place, text) in [
        ("socket", "it is a socket"),
        ("circle", "symbolic links"),
        ("nowhere", "No such file"),
        ("/proc/model", ""),
    ] {
        let outcome = sandbox.run(&["train", "data.libsvm", "--model", place]);
        assert_eq!(outcome.code, Some(2), "{place}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(place) && outcome.stderr.contains(text),
            "{place}: {}",
            outcome.stderr
        );
        assert!(outcome.stderr.contains("hint: "), "{place}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("--resume"), "there is nothing to resume: {}", outcome.stderr);
        assert!(sandbox.home_is_empty(), "{place}");
    }
    assert_eq!(names(sandbox.work.path()), before);
}

/// A folder that even root cannot write to.
struct ReadOnly(PathBuf);

impl ReadOnly {
    /// `None`, said aloud, where the system does not allow it.
    fn mount(folder: PathBuf) -> Option<ReadOnly> {
        std::fs::create_dir(&folder).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "ro", "tmpfs"]).arg(&folder).output();
        if !mount.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: a read-only file system needs root");
            return None;
        }
        Some(ReadOnly(folder))
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_read_only_file_system_is_found_before_training() {
    let sandbox = Sandbox::new();
    let Some(_mounted) = ReadOnly::mount(sandbox.work.path().join("frozen")) else { return };
    let outcome = sandbox.run(&["train", "data.libsvm", "--model", "frozen/model.json"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("frozen/model.json: Read-only file system"), "{}", outcome.stderr);
    assert!(sandbox.home_is_empty());
    // The models beside the store, too.
    let home = sandbox.home.path().join(".local/share/hemingway");
    std::fs::create_dir_all(&home).unwrap();
    symlink(sandbox.work.path().join("frozen"), home.join("models")).unwrap();
    let outcome = sandbox.run(&["train", "data.libsvm"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert_eq!(names(&home), ["models"], "nothing was begun");
}

#[test]
fn a_damaged_run_does_not_stand_in_the_way_of_others() {
    let sandbox = Sandbox::new();
    let broken = sandbox.json(TRAIN)["run"].as_str().unwrap().to_owned();
    let sound = sandbox.json(TRAIN)["run"].as_str().unwrap().to_owned();
    sqlite(&sandbox, "UPDATE runs SET choice = '{' WHERE number = 1");
    for arguments in [&["runs"][..], &["fit"], &["train", "data.libsvm"], &["explain", "data.libsvm"]] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
        let named = format!("run {broken} cannot be read");
        assert!(outcome.stderr.contains(&named), "{arguments:?}: {}", outcome.stderr);
    }
    let listed = sandbox.json(&["runs", "--json"]);
    assert_eq!(listed["warnings"].as_array().unwrap().len(), 1);
    assert!(listed["runs"].as_array().unwrap().iter().any(|run| run["run"] == sound.as_str()));
    let shown = sandbox.run(&["show", &broken]);
    assert_eq!(shown.code, Some(1));
    assert!(shown.stderr.contains("hint: `hemingway runs repair`"), "{}", shown.stderr);
    let repaired = sandbox.run(&["runs", "repair"]);
    assert!(repaired.stdout.starts_with(&format!("removed run {broken}: its choice")), "{}", repaired.stdout);
    assert_eq!(sandbox.run(&["runs", "repair"]).stdout, "nothing to repair\n");
    assert_eq!(sandbox.run(&["show", &broken]).code, Some(2), "there is no such run any more");
}

#[test]
fn a_store_with_an_absurd_version_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.json(TRAIN);
    sqlite(&sandbox, "PRAGMA user_version = -1");
    for arguments in [&["runs"][..], &["train", "data.libsvm"]] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("is damaged: its version is -1\nhint: "), "{}", outcome.stderr);
    }
}

#[test]
fn a_run_of_another_machine_is_taken_over_with_a_flag() {
    let sandbox = Sandbox::new();
    let run = sandbox.json(TRAIN)["run"].as_str().unwrap().to_owned();
    sqlite(&sandbox, "UPDATE runs SET status = 'running', host = 'elsewhere'");
    let refused = sandbox.run(&["train", "--resume", "last", "--error=1e-4"]);
    assert_eq!(refused.code, Some(2));
    let advice =
        format!("hint: if that process is gone, go on with `hemingway train --resume {run} --take-over`");
    assert!(refused.stderr.contains(&advice), "{}", refused.stderr);
    let report = sandbox.json(&["train", "--resume", &run, "--take-over", "--error=1e-4", "--json"]);
    assert_eq!(report["run"], run.as_str());
    assert_eq!(sandbox.run(&["train", "data.libsvm", "--take-over"]).code, Some(2), "only with --resume");
}

#[test]
fn a_locked_store_costs_the_exit_code_but_not_the_model() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&[
        "train",
        "synthetic:text,rows=2000,features=500",
        "--lambda=1e-7",
        "--local-steps=20",
        "--score-every=10",
        "--rounds=20000",
        "--model=model.json",
        "--json",
    ]);
    command.env("HEMINGWAY_STORE_PATIENCE", "100ms").stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    sandbox.wait_for_run(|run| run["points"].as_array().is_some_and(|points| !points.is_empty()));
    let other = rusqlite::Connection::open(store(&sandbox)).unwrap();
    other.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let outcome = wait(child);
    drop(other);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the run goes on and is recorded once"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("error: the store"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint: the model is complete in"), "{}", outcome.stderr);
    assert!(outcome.json()["unrecorded"].as_str().unwrap().contains("locked"));
    assert_eq!(read_json(sandbox.work.path().join("model.json"))["run"], outcome.json()["run"]);
    assert_eq!(sandbox.json(&["show", "last", "--json"])["status"], "died", "it can be resumed");
}

#[test]
fn a_store_that_is_locked_from_the_start_is_said_to_be() {
    let sandbox = Sandbox::new();
    sandbox.json(TRAIN);
    let other = rusqlite::Connection::open(store(&sandbox)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut command = sandbox.command(TRAIN);
    command.env("HEMINGWAY_STORE_PATIENCE", "100ms");
    let outcome = finish(command);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("is locked by another program\nhint: "), "{}", outcome.stderr);
    let mut command = sandbox.command(&["runs"]);
    command.env("HEMINGWAY_STORE_PATIENCE", "soon");
    let outcome = finish(command);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("HEMINGWAY_STORE_PATIENCE is `soon`"), "{}", outcome.stderr);
}

#[test]
fn runs_are_removed_and_say_their_size() {
    let sandbox = Sandbox::new();
    let runs: Vec<String> = (0..4).map(|_| sandbox.json(TRAIN)["run"].as_str().unwrap().to_owned()).collect();
    let listed = sandbox.json(&["runs", "--json"]);
    assert!(listed["bytes"].as_u64().unwrap() > 0);
    assert!(listed["runs"].as_array().unwrap().iter().all(|run| run["bytes"].as_u64().unwrap() > 0));
    let listed = sandbox.run(&["runs"]);
    let lines = || listed.stdout.lines().map(|line| line.chars().count());
    assert!(lines().count() == 5 && lines().all(|width| width <= 80), "{}", listed.stdout);
    assert!(listed.stderr.starts_with("4 runs, ") && listed.stderr.contains("kB in "), "{}", listed.stderr);

    let removed = sandbox.run(&["runs", "rm", &runs[0], "last"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    assert!(
        removed.stdout.starts_with(&format!("removed 2 runs: {}, {}\n", runs[0], runs[3])),
        "{}",
        removed.stdout
    );
    assert!(removed.stderr.contains("2 models of these runs are still there"), "{}", removed.stderr);
    let pruned = sandbox.json(&["runs", "prune", "--keep", "1", "--models", "--json"]);
    assert_eq!(pruned["runs"], serde_json::json!([runs[1]]));
    assert_eq!(pruned["removed_models"].as_array().unwrap().len(), 1);
    assert_eq!(names(&store(&sandbox).with_file_name("models")).len(), 3);
    let kept = sandbox.json(&["runs", "prune", "--keep", "30d", "--json"]);
    assert_eq!(
        (&kept["runs"], sandbox.json(&["runs", "--json"])["runs"][0]["run"].as_str()),
        (&serde_json::json!([]), Some(runs[2].as_str()))
    );
    for arguments in [
        &["runs", "rm"][..],
        &["runs", "rm", "zzzzz"],
        &["runs", "prune", "--keep", "often"],
        &["runs", "prune"],
    ] {
        assert_eq!(sandbox.run(arguments).code, Some(2), "{arguments:?}");
    }
    for command in ["rm", "prune", "repair"] {
        let help = sandbox.run(&["runs", command, "--help"]).stdout;
        assert!(help.contains("Example") && help.contains("--json"), "{command}");
    }
}

#[test]
fn experiments_are_not_the_last_run() {
    let sandbox = Sandbox::new();
    let run = sandbox.json(TRAIN)["run"].clone();
    let grid = ["--algorithms=cocoa", "--workers=1", "--rounds=3", "--engine=simulated", "--json"];
    sandbox.json(&[&["measure", "data.libsvm"], grid.as_slice()].concat());
    let runs = sandbox.json(&["runs", "--json"]);
    assert_eq!(
        (&runs["runs"][0]["purpose"], &runs["runs"][1]["purpose"]),
        (&"experiment".into(), &"train".into())
    );
    assert_eq!(sandbox.json(&["show", "last", "--json"])["run"], run);
}

#[test]
fn many_runs_take_little_space() {
    let sandbox = Sandbox::new();
    let arguments = |seed: &str| {
        let data = ["train", "synthetic:text,rows=2000,features=200", "--algorithm=cocoa", "--workers=2"];
        sandbox.json(&[data.as_slice(), &["--json", "--seed", seed]].concat());
    };
    ["1", "2", "3", "4", "5"].into_iter().for_each(arguments);
    // A dual variable is 8 bytes, and there are 2,000 of them.
    let each = sandbox.json(&["runs", "--json"])["bytes"].as_u64().unwrap() / 5;
    assert!(each < 40_000, "{each} bytes for each run");
}
