//! Runs `hemingway-ps` on three tiny machines.
#![allow(dead_code)] // each test file uses its own part of this

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub const CLUSTER: &str = r#"
    [problem]
    features = 16
    hidden = 8
    examples = 256

    [[machines]]
    name = "a"
    share = 0.3
    memory_limit = 500
    devices = { slow = { share = 0.1 } }

    [[machines]]
    name = "b"
    share = 0.3
    bandwidth = 100

    [[machines]]
    name = "c"
    share = 0.2
"#;

pub const CONFIGURATION: &str = r#"{"machines": {
    "a": {"worker": true, "ps": true, "loads": {"cpu": 200, "slow": 50}},
    "b": {"worker": true, "ps": false, "loads": {"cpu": 300}},
    "c": {"worker": false, "ps": true}
}}"#;

/// A job whose standard input was written.
pub struct Job {
    pub child: Child,
    _folder: tempfile::TempDir,
}

impl Job {
    pub fn start(cluster: &str, configuration: &str, arguments: &[&str]) -> Job {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cluster.toml");
        std::fs::write(&path, cluster).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_hemingway-ps"))
            .arg(&path)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A job that refuses its arguments does not read.
        let _ = child.stdin.take().unwrap().write_all(configuration.as_bytes());
        Job { child, _folder: folder }
    }

    /// A job that would run for hours, once all its machines have computed for a moment.
    pub fn endless() -> Job {
        let job = Job::start(CLUSTER, CONFIGURATION, &["--iterations", "1000000"]);
        wait_for("three machines", || job.machines().len() == 3);
        std::thread::sleep(Duration::from_millis(500));
        job
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The processes of its machines.
    pub fn machines(&self) -> Vec<u32> {
        processes().filter(|pid| parent(*pid) == Some(self.pid())).collect()
    }

    pub fn end(self) -> Outcome {
        Outcome::new(self.child.wait_with_output().unwrap())
    }
}

pub struct Outcome {
    pub code: Option<i32>,
    /// What it printed: exactly one JSON object.
    pub answer: Value,
}

impl Outcome {
    fn new(output: Output) -> Outcome {
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(text.lines().count(), 1, "{text}{error}");
        Outcome { code: output.status.code(), answer: serde_json::from_str(&text).unwrap() }
    }

    pub fn reason(&self) -> &str {
        assert_eq!(self.answer["status"], "failed", "{}", self.answer);
        self.answer["reason"].as_str().unwrap()
    }

    pub fn number(&self, pointer: &str) -> f64 {
        self.answer
            .pointer(pointer)
            .and_then(Value::as_f64)
            .unwrap_or_else(|| panic!("{pointer}: {}", self.answer))
    }
}

pub fn run(cluster: &str, configuration: &str, arguments: &[&str]) -> Outcome {
    Job::start(cluster, configuration, arguments).end()
}

pub fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Waits until something is true.
pub fn wait_for(what: &str, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(10), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until processes are gone; one that nobody has waited for yet has ended too.
pub fn wait_until_gone(pids: &[u32]) {
    wait_for("the end of all machines", || pids.iter().all(|pid| parent(*pid).is_none()));
}

fn processes() -> impl Iterator<Item = u32> {
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent of a process that has not ended: fields 3 and 4 of /proc/PID/stat.
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    fields.next()?.parse().ok().filter(|_| !matches!(state, "Z" | "X"))
}
