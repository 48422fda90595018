//! Runs that fail: what they say, and that nothing is left of them.

mod job;

use std::io::Write;
use std::process::{Command, Stdio};

use job::{CLUSTER, CONFIGURATION, Job, kill, run, wait_until_gone};
use rustix::process::Signal;

#[test]
fn the_death_of_a_machine_ends_the_run() {
    let job = Job::endless();
    let machines = job.machines();
    kill(machines[1], Signal::KILL);
    let outcome = job.end();
    assert_eq!(outcome.code, Some(1));
    let reason = outcome.reason();
    assert!(reason.contains("died: its process was ended by signal 9"), "{reason}");
    wait_until_gone(&machines);
}

#[test]
fn an_interrupt_ends_all_machines() {
    for signal in [Signal::INT, Signal::TERM] {
        let job = Job::endless();
        let machines = job.machines();
        kill(job.pid(), signal);
        let outcome = job.end();
        assert_eq!((outcome.code, outcome.reason()), (Some(130), "interrupted"));
        wait_until_gone(&machines);
    }
}

#[test]
fn machines_end_when_the_head_is_killed() {
    let mut job = Job::endless();
    let machines = job.machines();
    kill(job.pid(), Signal::KILL);
    job.child.wait().unwrap();
    wait_until_gone(&machines);
}

#[test]
fn a_panic_is_told() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hemingway-ps"))
        .arg("--as-machine")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"no order\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains(r#"{"failed":{"reason":"panicked at"#), "{said}");
}

#[test]
fn the_limit_ends_a_run() {
    let outcome = run(CLUSTER, CONFIGURATION, &["--iterations", "1000000", "--limit", "1"]);
    assert_eq!((outcome.code, outcome.reason()), (Some(1), "the run did not end within 1 s; raise --limit"));
    let outcome = run(CLUSTER, CONFIGURATION, &["--until-loss", "1e-9", "--limit", "2"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.reason().contains("above 0.000000001"), "{}", outcome.reason());
}

#[test]
fn a_load_above_the_memory_limit_fails() {
    let outcome = run(CLUSTER, &CONFIGURATION.replace("200", "501"), &[]);
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.reason(), "out of memory on a: device cpu holds at most 500 inputs, not 501");
}

#[test]
fn bad_input_is_named() {
    let check = |cluster: &str, configuration: &str, expected: &str| {
        let outcome = run(cluster, configuration, &[]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.answer);
        assert!(outcome.reason().contains(expected), "{}", outcome.reason());
    };
    check(CLUSTER, "", "the configuration on the standard input cannot be read");
    check(CLUSTER, &CONFIGURATION.replace("\"c\"", "\"d\""), "there is no machine `d`");
    check(CLUSTER, &CONFIGURATION.replace("slow", "gpu"), "machine a has no device `gpu`; it has cpu, slow");
    check(&CLUSTER.replace("share = 0.2", "share = 20"), CONFIGURATION, "device cpu has a share of 20");
    check("machines = 3", CONFIGURATION, "cluster.toml");
}

#[test]
fn bad_arguments_are_refused() {
    for arguments in [&["--iterations", "0"][..], &["--until-loss", "-1"], &["--model", "tree"]] {
        let mut job = Job::start(CLUSTER, CONFIGURATION, arguments);
        assert_eq!(job.child.wait().unwrap().code(), Some(2), "{arguments:?}");
    }
}
