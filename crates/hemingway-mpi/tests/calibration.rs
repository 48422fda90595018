//! Ranks that have not enough cores. `taskset` makes a small machine of this one.

mod cluster;

use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use cluster::{command, text};
use serde_json::Value;

/// `hemingway` with nothing but the first core that this test may use.
fn on_one_core(words: &[&str]) -> Output {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    let first = allowed.split([',', '-']).next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let alone = command(folder.path());
    let mut pinned = Command::new("taskset");
    pinned.envs(alone.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // Open MPI would give each rank a core of its own, whatever it may use itself.
    pinned.env("OMPI_MCA_hwloc_base_binding_policy", "none");
    pinned.args(["-c", first]).arg(alone.get_program()).args(words).output().unwrap()
}

/// Tests on one core would disturb one another.
static ALONE: Mutex<()> = Mutex::new(());

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_shared_core_is_no_property_of_algorithms() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let calibrate = ["calibrate", "synthetic:separable,rows=4000,features=200", "--workers", "2", "--json"];
    let folder = tempfile::tempdir().unwrap();
    let in_the_open = || json(&command(folder.path()).args(calibrate).output().unwrap());
    let flops = |calibration: &Value| calibration["here"]["flops"].as_f64().unwrap();
    // Whatever else runs on the machine makes a core slower for a while, never faster: the faster of two is closer.
    let (first, second) = (in_the_open(), in_the_open());
    let quiet = if flops(&first) > flops(&second) { first } else { second };
    let outputs = [on_one_core(&calibrate), on_one_core(&calibrate)];
    let output = outputs.into_iter().max_by(|a, b| flops(&json(a)).total_cmp(&flops(&json(b)))).unwrap();
    let crowded = json(&output);

    let ratio =
        |part: &str, name: &str| crowded[part][name].as_f64().unwrap() / quiet[part][name].as_f64().unwrap();
    for name in quiet["algorithms"].as_object().unwrap().keys() {
        let ratio = ratio("algorithms", name);
        assert!((0.4..2.5).contains(&ratio), "{name}: {ratio}\n{crowded}\n{quiet}");
    }
    let speed = ratio("here", "flops");
    assert!(
        (0.6..1.6).contains(&speed),
        "a core is as fast whoever else has it: {speed}\n{crowded}\n{quiet}"
    );
    // What a rank lost of its core is in its speed or in its pauses.
    let figure = |part: &str, name: &str| crowded[part][name].as_f64().unwrap_or(0.0);
    let pauses = figure("jitter", "pauses_per_second") * figure("jitter", "pause_seconds");
    let left = crowded["machines"][0]["speed"].as_f64().unwrap() * (1.0 - pauses);
    assert!(left < 0.75, "each rank has about half of a core: {left}\n{crowded}");
    let warning = "2 ranks share the one core of this machine";
    assert!(crowded["warnings"][0].as_str().unwrap().starts_with(warning), "{crowded}");
    assert!(text(&output.stderr).contains(&format!("Warning: {warning}")), "{}", text(&output.stderr));
}

#[test]
fn training_on_all_cores_is_warned_of() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = "synthetic:separable,rows=200,features=20";
    let train = ["train", data, "--engine", "mpi", "--rounds", "3", "--algorithm", "cocoa", "--json"];
    let output = on_one_core(&[&train[..], &["--workers", "2"]].concat());
    let warning = "2 ranks share the one core of this machine";
    assert!(json(&output)["warnings"][0].as_str().unwrap().starts_with(warning));
    assert!(text(&output.stderr).contains(&format!("Noticed: {warning}")), "{}", text(&output.stderr));
    let alone = on_one_core(&[&train[..], &["--workers", "1"]].concat());
    assert_eq!(json(&alone)["warnings"], serde_json::json!([]), "one rank waits for nobody");
}
