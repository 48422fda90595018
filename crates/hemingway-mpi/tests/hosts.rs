//! Several hosts on one machine, made by `bench/hosts/hosts`. Needs root and iproute2.

mod cluster;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cluster::{command, show, text, wait_for};

/// Hosts that go away with the test.
struct Hosts {
    name: &'static str,
    count: usize,
    folder: tempfile::TempDir,
}

impl Hosts {
    /// `None`, said aloud, where the system does not allow it.
    fn up(name: &'static str, count: usize) -> Option<Hosts> {
        let hosts = Hosts { name, count, folder: tempfile::tempdir().unwrap() };
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: pretending hosts needs root");
            return None;
        }
        hosts.say(&["up", &count.to_string(), "1gbit"]);
        std::fs::write(hosts.file(), hosts.say(&["file", &count.to_string()])).unwrap();
        Some(hosts)
    }

    fn script(&self) -> Command {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/hosts/hosts");
        let mut command = Command::new(script);
        command.env("HEMINGWAY_HOSTS", self.name);
        command
    }

    fn say(&self, words: &[&str]) -> String {
        let output = self.script().args(words).output().unwrap();
        assert!(output.status.success(), "hosts {words:?}: {}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("hosts")
    }

    /// `hemingway` on the first host, with ranks on all of them.
    fn hemingway(&self, words: &[&str]) -> Command {
        let mut command = self.script();
        let head = command_of(&cluster::command(self.folder.path()), &mut command);
        command.arg("exec").arg(format!("{}1", self.name)).arg(head).args(words);
        command.args(["--workers", &self.count.to_string(), "--launcher", &self.say(&["launcher"])]);
        command.arg("--hosts").arg(self.file());
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let _ = self.script().arg("down").status();
    }
}

/// The program of one command; its environment goes to the other.
fn command_of(from: &Command, to: &mut Command) -> PathBuf {
    to.envs(from.get_envs().filter_map(|(name, value)| Some((name, value?))));
    PathBuf::from(from.get_program())
}

#[test]
fn a_measured_cluster_can_be_simulated() {
    let Some(hosts) = Hosts::up("hwa", 4) else { return };
    let cluster = hosts.folder.path().join("cluster.toml");
    let data = "synthetic:separable,rows=2000,features=200";
    let output =
        hosts.hemingway(&["calibrate", data, "--output", cluster.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let toml = std::fs::read_to_string(&cluster).unwrap();
    assert!(toml.contains("name = \"hwa4\"") && toml.contains("[network.measured]"), "{toml}");
    assert!(toml.contains("cocoa-plus = ") && toml.contains(" 200,"), "{toml}");

    for algorithm in ["cocoa-plus", "minibatch-sgd"] {
        let train =
            ["train", data, "--algorithm", algorithm, "--rounds", "20", "--score-every", "20", "--json"];
        let real = hosts.hemingway(&train).args(["--engine", "mpi"]).output().unwrap();
        assert!(real.status.success(), "{}", text(&real.stderr));
        let mut simulated = command(hosts.folder.path());
        let simulated =
            simulated.args(train).args(["--workers", "4", "--cluster"]).arg(&cluster).output().unwrap();
        assert!(simulated.status.success(), "{}", text(&simulated.stderr));
        let primal = |output: &[u8]| {
            let report: serde_json::Value = serde_json::from_slice(output).unwrap();
            report["primal"].as_f64().unwrap()
        };
        let (real, simulated) = (primal(&real.stdout), primal(&simulated.stdout));
        assert!((real - simulated).abs() <= 1e-9 * simulated, "{algorithm}: {real} for {simulated}");
    }
}

#[test]
fn a_lost_host_is_left_out() {
    let Some(hosts) = Hosts::up("hwb", 3) else { return };
    let train = [
        "train",
        "synthetic:separable,rows=3000,features=30",
        "--engine",
        "mpi",
        "--algorithm",
        "minibatch-sgd",
        "--step-size",
        "1e-3",
        "--rounds",
        "50000",
        "--checkpoint-every",
        "200ms",
        "--restarts",
        "1",
    ];
    let mut head = hosts.hemingway(&train).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("points", || {
        show(hosts.folder.path())["points"].as_array().is_some_and(|points| points.len() > 3)
    });
    hosts.say(&["kill", "hwb3"]);
    wait_for("the end", || head.try_wait().unwrap().is_some());
    let output = head.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("with 2 workers without hwb3"), "{said}");
    let points = show(hosts.folder.path());
    assert_eq!(points["points"].as_array().unwrap().last().unwrap()["round"].as_u64(), Some(50_000));
}

/// A run on all hosts that goes on until something happens to it.
fn endless(hosts: &Hosts, extra: &[&str]) -> std::process::Child {
    let train = [
        "train",
        "synthetic:separable,rows=3000,features=30",
        "--engine",
        "mpi",
        "--algorithm",
        "minibatch-sgd",
        "--step-size",
        "1e-3",
        "--checkpoint-every",
        "200ms",
    ];
    let mut command = hosts.hemingway(&[&train[..], extra].concat());
    let head = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("points", || {
        show(hosts.folder.path())["points"].as_array().is_some_and(|points| points.len() > 3)
    });
    head
}

fn end(mut head: std::process::Child) -> (Option<i32>, String) {
    wait_for("the end", || head.try_wait().unwrap().is_some());
    let output = head.wait_with_output().unwrap();
    (output.status.code(), text(&output.stderr))
}

fn ip(words: &[&str]) {
    assert!(Command::new("ip").args(words).status().unwrap().success(), "ip {words:?}");
}

#[test]
fn a_host_whose_link_is_down_is_named() {
    let Some(hosts) = Hosts::up("hwc", 3) else { return };
    let head = endless(&hosts, &["--within", "10m", "--patience", "6s"]);
    ip(&["-n", "hwc3", "link", "set", "eth0", "down"]);
    let (code, said) = end(head);
    assert_eq!(code, Some(1), "{said}");
    let error = said.lines().find(|line| line.contains("error:")).unwrap();
    assert!(error.contains("hwc3") && !error.contains("hwc1"), "{said}");
    assert!(said.contains("--resume last"), "{said}");
}

/// Who hears nothing from anywhere says so; the other hosts are named, not the one that still works.
#[test]
fn a_head_whose_link_is_down_says_so() {
    let Some(hosts) = Hosts::up("hwd", 3) else { return };
    let head = endless(&hosts, &["--within", "10m", "--patience", "6s"]);
    ip(&["-n", "hwd1", "link", "set", "eth0", "down"]);
    let (code, said) = end(head);
    assert_eq!(code, Some(1), "{said}");
    let named = said.contains("hwd2") && said.contains("hwd3");
    assert!(named && said.contains("the network of hwd1 itself may be down"), "{said}");
}

/// Two hosts no longer reach each other while the head reaches both: everyone waits, and nobody is silent.
#[test]
fn hosts_that_are_cut_off_from_each_other_are_found_and_one_is_left_out() {
    let Some(hosts) = Hosts::up("hwe", 3) else { return };
    let head = endless(&hosts, &["--rounds", "60000", "--patience", "6s", "--restarts", "1"]);
    for (here, there) in [("hwe2", "10.77.0.3"), ("hwe3", "10.77.0.2")] {
        let nobody = "02:00:00:00:00:99";
        ip(&["-n", here, "neigh", "replace", there, "lladdr", nobody, "dev", "eth0", "nud", "permanent"]);
    }
    let (code, said) = end(head);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("all workers have waited for one another") && said.contains("hwe2, hwe3"),
        "{said}"
    );
    assert!(said.contains("with 2 workers without hwe"), "{said}");
    let points = show(hosts.folder.path());
    assert_eq!(points["points"].as_array().unwrap().last().unwrap()["round"].as_u64(), Some(60_000));
}
