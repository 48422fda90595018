//! Ranks on this machine, shared by the tests of this crate.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use hemingway_train::protocol::{self, ExternalJob, Message};
use rustix::process::{Pid, test_kill_process};

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

/// Ranks that are told what to do while they run.
pub struct Conversation {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Conversation {
    pub fn begin(ranks: usize, job: &ExternalJob) -> Conversation {
        let mut child =
            mpirun(ranks).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("mpirun");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut conversation = Conversation { child, input, output: BufReader::new(output) };
        conversation.write(&serde_json::to_string(job).expect("plain data"));
        conversation
    }

    pub fn tell(&mut self, command: &protocol::Command) {
        self.write(&serde_json::to_string(command).expect("plain data"));
    }

    fn write(&mut self, line: &str) {
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).expect("somebody listens");
    }

    /// Waits for the next message; none when all has been said.
    pub fn hear(&mut self) -> Option<Message> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("text");
        (!line.is_empty())
            .then(|| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// Waits for the end.
    pub fn end(mut self) -> ExitStatus {
        while let Some(message) = self.hear() {
            eprintln!("{message:?}");
        }
        self.child.wait().expect("an end")
    }
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number as i32).expect("a process")
}

/// Zombies whose parent does not look do not count.
pub fn is_alive(number: u32) -> bool {
    test_kill_process(pid(number)).is_ok() && stat(number).is_some_and(|(_, fields)| fields[0] != "Z")
}

/// Seconds that a process has computed.
pub fn computed(number: u32) -> f64 {
    let (_, fields) = stat(number).expect("a process");
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / 100.0
}

/// The name of a process, then what the system tells of it, from its state on.
pub fn stat(number: u32) -> Option<(String, Vec<String>)> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let (start, rest) = stat.rsplit_once(')')?;
    Some((start.split_once('(')?.1.to_owned(), rest.split_whitespace().map(str::to_owned).collect()))
}

pub fn children(parent: u32) -> Vec<u32> {
    let parent = parent.to_string();
    let numbers = std::fs::read_dir("/proc").expect("processes").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| stat(*number).is_some_and(|(_, fields)| fields[1] == parent)).collect()
}

/// The ranks of a head on this machine, in the order in which they were started.
pub fn ranks_of(head: u32) -> Vec<u32> {
    let launchers = children(head);
    let mut ranks: Vec<u32> = launchers.into_iter().flat_map(children).collect();
    ranks.retain(|rank| stat(*rank).is_some_and(|(name, _)| name.starts_with("hemingway-work")));
    ranks.sort_unstable();
    ranks
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
