//! The real binary in a home of its own.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A small problem with two classes that no plane separates.
pub const DATA: &str = "\
+1 1:1 2:0.5 3:0.2
-1 1:-1 2:0.3 4:0.7
+1 1:0.8 3:-0.4
-1 2:-0.9 4:0.1
+1 1:0.3 2:0.8 4:-0.5
-1 1:-0.2 3:0.9
+1 2:0.4 3:0.1
-1 1:0.6 2:-0.3 4:0.2
+1 1:-0.1 2:0.2 3:-0.3
-1 1:0.2 2:0.1 3:0.4
";

/// What of the environment would change what commands do.
const INHERITED: [&str; 7] = [
    "XDG_DATA_HOME",
    "NO_COLOR",
    "HEMINGWAY_DATA",
    "HEMINGWAY_STORE",
    "HEMINGWAY_MODELS",
    "HEMINGWAY_CLUSTER",
    "HEMINGWAY_HOSTS",
];

/// A home directory that goes away with the test.
pub struct Sandbox {
    pub home: TempDir,
    pub work: TempDir,
}

/// What a command left behind.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        let sandbox = Sandbox { home: tempfile::tempdir().unwrap(), work: tempfile::tempdir().unwrap() };
        sandbox.write("data.libsvm", DATA);
        sandbox
    }

    /// A file in the working directory.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let file = self.work.path().join(name);
        std::fs::write(&file, content).unwrap();
        file
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hemingway"));
        command.args(arguments).current_dir(self.work.path()).stdin(Stdio::null());
        command.env("HOME", self.home.path());
        for inherited in INHERITED {
            command.env_remove(inherited);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        finish(self.command(arguments))
    }

    /// Runs a command that has to succeed and gives its JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
        outcome.json()
    }

    /// Starts a command and leaves it running.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The last run, once it is there and fulfils a condition.
    pub fn wait_for_run(&self, condition: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            let outcome = self.run(&["show", "last", "--json"]);
            if outcome.code == Some(0) && condition(&outcome.json()) {
                return outcome.json();
            }
            assert!(Instant::now() < end, "too late; the last answer: {}{}", outcome.stdout, outcome.stderr);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn home_is_empty(&self) -> bool {
        std::fs::read_dir(self.home.path()).unwrap().next().is_none()
    }
}

impl Outcome {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

pub fn finish(mut command: Command) -> Outcome {
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn wait(child: Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn read_json(file: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}
