//! Ranks on this machine, shared by the tests of this crate.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use hemingway_train::protocol::{ExternalJob, Message};

/// The program under test.
pub fn worker() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hemingway-worker"))
}

/// `mpirun` with what a test machine needs: root, and more ranks than cores.
pub fn mpirun(ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()]);
    command.arg(worker());
    command
}

/// Runs a job from a file and returns everything that was said.
pub fn run(ranks: usize, job: &ExternalJob) -> Vec<Message> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("job.json");
    std::fs::write(&file, serde_json::to_vec(job).expect("plain data")).expect("a file");
    let output = mpirun(ranks).arg(&file).output().expect("mpirun");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The same with the job on the standard input, and whatever comes of it.
pub fn tell(ranks: usize, job: &str) -> Output {
    let mut child = mpirun(ranks)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mpirun");
    let mut input = child.stdin.take().expect("a pipe");
    // A program that refuses the job may be gone before it is written.
    let _ = input.write_all(job.as_bytes()).and_then(|()| input.write_all(b"\n"));
    let output = child.wait_with_output().expect("an end");
    drop(input);
    output
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `hemingway` itself. Testing the whole workspace builds it beside the worker; alone, these tests have to ask for it.
pub fn hemingway() -> PathBuf {
    let program = worker().with_file_name("hemingway");
    assert!(program.is_file(), "{} is missing: test with `cargo test --workspace`", program.display());
    program
}

/// The head, with a store of its own.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(hemingway());
    command.env("HEMINGWAY_WORKER", worker()).env("XDG_DATA_HOME", folder);
    command
}

/// What the store has of its last run.
pub fn show(folder: &Path) -> serde_json::Value {
    let output = command(folder).args(["show", "last", "--json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Everything has to be over by then.
pub const PATIENCE: Duration = Duration::from_secs(10);

pub fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < 3 * PATIENCE, "still waiting for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
