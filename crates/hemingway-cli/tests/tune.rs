//! `hemingway tune` among bad commands, bad files and bad moments.

mod sandbox;

use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use sandbox::{Outcome, Sandbox, wait};
use serde_json::Value;

const JOB: &str = r#"
name = "small"
batch = 64
parameters = "1 MB"
command = "sh job.sh"
evaluations = 4

[types.big]
devices = { cpu = {}, gpu = { speed = 4 } }
[types.small]
devices = { cpu = {} }
[types.server]

[[machines]]
name = "big"
type = "big"
count = 2
[[machines]]
name = "small"
type = "small"
[[machines]]
name = "server"
type = "server"
"#;

/// A job that works: each evaluation a little slower than the one before.
const WORKS: &str = "cat > /dev/null\necho '{\"time\": 1.'$HEMINGWAY_EVALUATION'}'\n";

fn job(script: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("job.toml", JOB);
    sandbox.write("job.sh", script);
    sandbox
}

fn store(sandbox: &Sandbox) -> PathBuf {
    sandbox.home.path().join(".local/share/hemingway/store.sqlite")
}

/// What every outcome of the command has in common: no panic, no figure that is none.
fn decent(outcome: &Outcome) {
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(!text.contains("panicked") && !text.contains("NaN") && !text.contains("inf "), "{text}");
    }
}

fn check(sandbox: &Sandbox, arguments: &[&str], code: i32, said: &str) -> Outcome {
    let outcome = sandbox.run(&[&["tune"], arguments].concat());
    decent(&outcome);
    assert_eq!(outcome.code, Some(code), "{arguments:?}: {}", outcome.stderr);
    assert!(
        outcome.stderr.contains(said) || outcome.stdout.contains(said),
        "{arguments:?}: {}",
        outcome.stderr
    );
    outcome
}

fn numbers(report: &Value) -> Vec<u64> {
    let evaluations = report["evaluations"].as_array().unwrap();
    evaluations.iter().map(|step| step["number"].as_u64().unwrap()).collect()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

/// Until a file is there that some evaluation writes; gives its first word.
fn written(sandbox: &Sandbox, name: &str) -> String {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let text = std::fs::read_to_string(sandbox.work.path().join(name)).unwrap_or_default();
        if text.ends_with('\n') {
            return text.split_whitespace().next().unwrap_or("").to_owned();
        }
        assert!(Instant::now() < end, "{name} was never written");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a process is gone.
fn gone(pid: &str) {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    let end = Instant::now() + Duration::from_secs(6);
    let zombie = || {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        stat.contains(") Z ")
    };
    while test_kill_process(pid).is_ok() && !zombie() {
        assert!(Instant::now() < end, "process {pid:?} was left behind");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_job_is_tuned_and_told() {
    let sandbox = job(WORKS);
    let report = sandbox.json(&["tune", "job.toml", "--json", "--quiet", "--stop-below=0", "--plots=plots"]);
    assert_eq!((&report["stop"], numbers(&report)), (&Value::from("evaluations"), vec![1, 2, 3, 4]));
    assert_eq!((&report["best"], &report["time"]), (&Value::from(1), &Value::from(1.1)));
    let machines = report["configuration"]["machines"].as_object().unwrap();
    let loads = machines.values().flat_map(|machine| machine["loads"].as_object().unwrap().values());
    assert_eq!(loads.map(|load| load.as_u64().unwrap()).sum::<u64>(), 64);
    assert!(sandbox.work.path().join("plots/best-so-far.png").is_file());
    assert!(sandbox.run(&["tune", "--studies"]).stdout.contains("4 of 4"));
}

#[test]
fn the_simulator_evaluates_for_a_job_file() {
    let sandbox = Sandbox::new();
    let described = sandbox.json(&["tune", "--simulate=a-googlenet-64", "--describe"]);
    let mut file = format!("batch = {}\nparameters = \"50 MB\"\n", described["batch"]);
    let mut types = std::collections::BTreeMap::new();
    for machine in described["machines"].as_array().unwrap() {
        types.insert(machine["type"].to_string(), machine["speeds"].clone());
        file += &format!("[[machines]]\nname = {}\ntype = {}\n", machine["name"], machine["type"]);
    }
    for (name, speeds) in types {
        let devices = speeds
            .as_object()
            .unwrap()
            .iter()
            .map(|(device, speed)| format!("{device} = {{ speed = {speed} }}"));
        file += &format!("[types.{name}]\ndevices = {{ {} }}\n", devices.collect::<Vec<_>>().join(", "));
    }
    sandbox.write("job.toml", &file);
    let command = format!("{} tune --simulate a-googlenet-64 --serve", env!("CARGO_BIN_EXE_hemingway"));
    let report = sandbox.json(&["tune", "job.toml", "--json", "--evaluations=6", "--command", &command]);
    let (time, optimum) = (report["time"].as_f64().unwrap(), described["optimum"].as_f64().unwrap());
    let uniform = described["uniform"].as_f64().unwrap();
    assert!(time < uniform && time < 1.5 * optimum, "{time} of {optimum}, uniform {uniform}");
}

#[test]
fn answers_that_are_none_end_the_study_and_lose_nothing() {
    for (script, said) in [
        ("echo hello", "it printed no JSON object but “hello”"),
        ("true", "it printed nothing"),
        ("head -c 20000000 /dev/zero | tr '\\0' x", "more than 16 MB"),
        ("yes", "more than 16 MB"),
        ("echo '{\"time\": -1}'", "time is -1"),
        ("echo '{\"time\": 0}'", "time is 0"),
        ("echo '{\"time\": NaN}'", "it printed no JSON object"),
        ("echo '{\"time\": 1e999}'", "it printed no JSON object"),
        ("echo '{\"time\": 1e300}'", "1e300 is no time"),
        ("echo '{\"communication_time\": 1}'", "missing field `time`"),
        ("echo '{\"time\": 1, \"gradient_noise_scale\": 0}'", "gradient_noise_scale is 0"),
    ] {
        let sandbox = job(&format!("test -e broken || {{ {WORKS} exit; }}\n{script}\n"));
        sandbox.json(&["tune", "job.toml", "--json", "--evaluations=1", "--stop-below=0"]);
        sandbox.write("broken", "");
        let outcome = sandbox.run(&["tune", "--resume=last", "--evaluations=2"]);
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        assert_eq!(outcome.code, Some(2), "{script}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains("evaluation 2 has no usable answer") && outcome.stderr.contains(said)
        );
        std::fs::remove_file(sandbox.work.path().join("broken")).unwrap();
        let report = sandbox.json(&["tune", "--resume=last", "--json", "--quiet"]);
        assert_eq!(numbers(&report), [1, 2], "{script}");
    }
}

#[test]
fn any_part_of_an_answer_may_be_missing() {
    for answer in [
        r#"{"time": 1, "communication_time": 0}"#,
        r#"{"time": 1, "communication_time": 30}"#,
        r#"{"time": 1, "machines": {"big-1": {"time": 0.5}, "small": {"time": 0.4}}}"#,
        r#"{"time": 1, "machines": {"big-1": {"devices": {"gpu": {"time": 0.5}}}, "server": {}}}"#,
        r#"{"status": "ok", "time": 1e-9, "machines": {"small": {"devices": {"cpu": {"load": 0, "time": 0}}}}}"#,
    ] {
        let sandbox = job(&format!("echo '{answer}'\n"));
        let outcome = check(&sandbox, &["job.toml", "--json", "--stop-below=0", "--evaluations=3"], 0, "");
        assert_eq!(numbers(&outcome.json()), [1, 2, 3], "{answer}");
        assert!(!outcome.stdout.contains("null,null"), "{answer}: {}", outcome.stdout);
    }
    let sandbox = job("echo '{\"time\": 1, \"machines\": {\"bigg\": {\"time\": 1}}}'");
    let outcome =
        check(&sandbox, &["job.toml"], 0, "the answer names machine bigg, which is not in the job file");
    assert_eq!(outcome.stderr.matches("bigg").count(), 1, "said once: {}", outcome.stderr);
}

#[test]
fn failures_count_until_there_are_only_failures() {
    let sandbox = job("echo no memory >&2\nexit 7\n");
    check(
        &sandbox,
        &["job.toml"],
        1,
        "all 4 evaluations failed; the last: the command ended with exit code 7: no memory",
    );
    check(&sandbox, &["--resume=last"], 1, "all 4 evaluations failed");
    sandbox.write("job.sh", WORKS);
    let report = sandbox.json(&["tune", "--resume=last", "--evaluations=6", "--stop-below=0", "--json"]);
    assert_eq!((numbers(&report), &report["best"]), (vec![1, 2, 3, 4, 5, 6], &Value::from(5)));
    assert_eq!(report["evaluations"][0]["failure"], "the command ended with exit code 7: no memory");

    let sometimes = "test $((HEMINGWAY_EVALUATION % 2)) = 0 && { echo '{\"status\": \"failed\"}'; exit; }\n";
    let sandbox = job(&format!("{sometimes}{WORKS}"));
    let report = sandbox.json(&["tune", "job.toml", "--stop-below=0", "--json"]);
    assert_eq!((numbers(&report).len(), &report["evaluations"][1]["time"]), (4, &Value::Null));
}

#[test]
fn an_evaluation_that_hangs_has_failed_and_is_gone() {
    let stubborn = "trap '' TERM\n(trap '' TERM; echo $$ > outer; sleep 60 & echo $! > inner; wait; sleep 60) &\nwait\nsleep 60\n";
    let sandbox = job(stubborn);
    let begun = Instant::now();
    check(&sandbox, &["job.toml", "--timeout=300ms", "--evaluations=1"], 1, "it took longer than 0.3 s");
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    gone(&written(&sandbox, "inner"));
    gone(&written(&sandbox, "outer"));
    // One that leaves a process behind which holds its output does not hold the study up.
    let sandbox = job(&format!("sleep 60 & echo $! > inner\n{WORKS}"));
    check(&sandbox, &["job.toml", "--evaluations=1"], 0, "");
    gone(&written(&sandbox, "inner"));
    // Nor is one that does not read a long configuration.
    let sandbox = job("sleep 60\n");
    let long = format!("name = \"{}\"", "big".repeat(200));
    sandbox.write("job.toml", &JOB.replace("count = 2", "count = 150").replace("name = \"big\"", &long));
    check(&sandbox, &["job.toml", "--timeout=300ms", "--evaluations=1"], 1, "it took longer than 0.3 s");
}

#[test]
fn a_killed_study_goes_on_and_leaves_nobody_behind() {
    let waits = "test -e quick || { echo $$ > outer; sleep 60 & echo $! > inner; wait; }\n";
    let sandbox = job(&format!("test $HEMINGWAY_EVALUATION = 1 || {{\n{waits}}}\n{WORKS}"));
    let mut child = sandbox.start(&["tune", "job.toml", "--stop-below=0"]);
    let (inner, outer) = (written(&sandbox, "inner"), written(&sandbox, "outer"));
    for command in [["tune", "--resume=last"], ["tune", "--remove=last"]] {
        let refused = sandbox.run(&command);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains("is being worked on by process"), "{}", refused.stderr);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    gone(&inner);
    gone(&outer);
    assert!(sandbox.run(&["tune", "--studies"]).stdout.contains("1 of 4"));
    sandbox.write("quick", "");
    let report = sandbox.json(&["tune", "--resume=last", "--json"]);
    assert_eq!(numbers(&report), [1, 2, 3, 4], "--stop-below=0 is kept");
    assert_eq!(report["evaluations"][0]["time"], 1.1);
}

#[test]
fn an_interrupted_study_says_what_it_has() {
    for name in [Signal::INT, Signal::TERM] {
        let slow = "test $HEMINGWAY_EVALUATION -lt 3 || { test -e quick || { echo $$ > pid; sleep 60; }; }\n";
        let sandbox = job(&format!("{slow}{WORKS}"));
        let child = sandbox.start(&["tune", "job.toml", "--json", "--stop-below=0"]);
        let pid = written(&sandbox, "pid");
        signal(&child, name);
        let outcome = wait(child);
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        gone(&pid);
        let report = outcome.json();
        assert_eq!((&report["stop"], numbers(&report)), (&Value::from("interrupted"), vec![1, 2]));
        sandbox.write("quick", "");
        assert_eq!(numbers(&sandbox.json(&["tune", "--resume=last", "--json"])), [1, 2, 3, 4]);
    }
}

#[test]
fn evaluations_at_the_same_time_keep_their_numbers() {
    // The first takes longest, so the others end before it.
    let sandbox = job(&format!("test $HEMINGWAY_EVALUATION != 1 || sleep 1\n{WORKS}"));
    let arguments = ["tune", "job.toml", "--json", "--stop-below=0", "--parallel=3", "--evaluations=6"];
    let report = sandbox.json(&arguments);
    let mut all = numbers(&report);
    assert_ne!(all[0], 1, "{all:?}");
    all.sort_unstable();
    assert_eq!((all, report["best"].as_u64()), (vec![1, 2, 3, 4, 5, 6], Some(1)));
    assert_eq!(report["time"], 1.1);
}

#[test]
fn two_resume_one_study_and_one_does() {
    let sandbox = job(&format!("sleep 0.2\n{WORKS}"));
    sandbox.json(&["tune", "job.toml", "--json", "--evaluations=1"]);
    let again = ["tune", "--resume=last", "--json", "--evaluations=4", "--stop-below=0"];
    let outcomes = [sandbox.start(&again), sandbox.start(&again)].map(wait);
    let mut codes = outcomes.each_ref().map(|outcome| outcome.code);
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(2)], "{} {}", outcomes[0].stderr, outcomes[1].stderr);
    let done = outcomes.iter().find(|outcome| outcome.code == Some(0)).unwrap();
    assert_eq!(numbers(&done.json()), [1, 2, 3, 4]);
}

#[test]
fn another_study_is_conditioned_on_if_it_can_be() {
    let sandbox = job(WORKS);
    let first = sandbox.json(&["tune", "job.toml", "--json"]);
    sandbox.write("batch.toml", &JOB.replace("batch = 64", "batch = 128"));
    sandbox.write("more.toml", &JOB.replace("count = 2", "count = 3"));
    for file in ["batch.toml", "more.toml"] {
        let id = first["study"].as_str().unwrap();
        let report = sandbox.json(&["tune", file, "--earlier", id, "--json", "--evaluations=2"]);
        assert_eq!(report["earlier"], first["study"]);
        assert!(
            report["evaluations"][0]["predicted"].is_array(),
            "{file}: it knows something from the start"
        );
    }
    sandbox.write("devices.toml", &JOB.replace("gpu =", "tpu ="));
    check(
        &sandbox,
        &["devices.toml", "--earlier=last"],
        2,
        "its type big has the devices `cpu, gpu`, here it has `cpu, tpu`",
    );
    let other = JOB.replace("big", "x").replace("small", "y").replace("server", "z");
    sandbox.write("other.toml", &other);
    check(&sandbox, &["other.toml", "--earlier=last"], 2, "has none of these types of machines");
    check(&sandbox, &["job.toml", "--earlier=zzzzz"], 2, "there is no study `zzzzz`");
}

#[test]
fn an_open_batch_needs_a_noise_scale() {
    let open = JOB.replace("batch = 64", "batch = { from = 16, to = 256 }");
    let sandbox = job(WORKS);
    sandbox.write("job.toml", &open);
    check(&sandbox, &["job.toml"], 2, "the batch is open, but the answer has no gradient_noise_scale");
    sandbox.write("job.sh", "echo '{\"time\": 1, \"gradient_noise_scale\": 100}'");
    let outcome = check(&sandbox, &["--resume=last", "--json"], 0, "");
    assert_eq!(outcome.json()["finding"]["noise_scale"].as_f64().unwrap().round(), 100.0);
    sandbox.write("job.toml", &open.replace("to = 256", "to = 256, noise_scale = 500"));
    sandbox.write("job.sh", WORKS);
    check(&sandbox, &["job.toml"], 0, "gradient noise scale 500");
}

#[test]
fn clusters_of_every_size() {
    let one = "batch = 1\nparameters = 0\n[types.a]\ndevices = { cpu = {} }\n[[machines]]\nname = \"x\"\ntype = \"a\"\n";
    let tight = JOB
        .replace("cpu = {}, gpu = { speed = 4 }", "cpu = { most = 8 }, gpu = { most = 20 }")
        .replace("{ cpu = {} }", "{ cpu = { most = 8 } }");
    let few = JOB.replace("batch = 64", "batch = 2");
    for text in [one, &tight, &few] {
        let sandbox = job(WORKS);
        sandbox.write("job.toml", text);
        let outcome = check(
            &sandbox,
            &["job.toml", "--command=sh job.sh", "--json", "--evaluations=3", "--stop-below=0"],
            0,
            "",
        );
        assert_eq!(numbers(&outcome.json()), [1, 2, 3]);
    }
}

#[test]
fn bad_files_and_bad_flags_are_named_before_anything_is_made() {
    let sandbox = job(WORKS);
    for (from, to, said) in [
        ("batch = 64", "batch = 0", "bad.toml: line 3: batch = 0: at least one input"),
        ("batch = 64", "batch = [1]", "bad.toml: TOML parse error at line 3"),
        ("batch = 64", "batch = 64\nbatches = 3", "unknown field `batches`"),
        ("type = \"small\"", "type = \"smal\"", "line 18: machine small: there is no type `smal`"),
        ("evaluations = 4", "evaluations = 1000000", "line 6: evaluations = 1000000 is more than 10000"),
        ("evaluations = 4", "timeout = 1e300", "line 6: timeout"),
        ("\"1 MB\"", "\"much\"", "line 4: parameters"),
        ("gpu = { speed = 4 }", "gpu = { speed = 0 }", "line 8: types.big.devices.gpu: speed = 0"),
        ("command = \"sh job.sh\"", "", "the job has no command"),
        ("gpu = { speed = 4 }", "gpu = { speed = ", "bad.toml: TOML parse error at line 10"),
    ] {
        let text = JOB.replace(from, to);
        assert_ne!(text, JOB, "{from}");
        sandbox.write("bad.toml", &text);
        check(&sandbox, &["bad.toml"], 2, said);
    }
    let small = JOB.replace("{}", "{ most = 1 }").replace("speed = 4", "most = 1");
    sandbox.write("small.toml", &small);
    for (arguments, said) in [
        (&["small.toml"][..], "hold 5 inputs (`most`), the batch is 64"),
        (&["missing.toml"], "missing.toml"),
        (&["job.toml", "--parallel=0"], "--parallel"),
        (&["job.toml", "--evaluations=0"], "--evaluations"),
        (&["job.toml", "--stop-below=2"], "--stop-below"),
        (&["job.toml", "--stop-below=NaN"], "--stop-below"),
        (&["job.toml", "--timeout=0"], "--timeout"),
        (&["job.toml", "--resume=last"], "cannot be used with"),
        (&["--simulate=list", "--command=true"], "cannot be used with"),
        (&["--command=true"], "--command needs a job file"),
        (&["--simulate=nothing"], "there is no experiment `nothing`"),
        (&["job.toml", "--plots=/proc/plots"], "/proc/plots"),
        (&["job.toml", "--plots=job.sh"], "job.sh"),
        (&["--init=job.toml"], "job.toml is there already"),
    ] {
        let outcome = sandbox.run(&[&["tune"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{arguments:?}: {}", outcome.stderr);
    }
    assert!(sandbox.home_is_empty());
    check(&sandbox, &["--init=new.toml"], 0, "hemingway tune new.toml");
}

#[test]
fn a_store_that_is_locked_meanwhile_costs_nothing() {
    let sandbox = job(&format!("echo $HEMINGWAY_EVALUATION > seen\nsleep 0.4\n{WORKS}"));
    let mut command = sandbox.command(&["tune", "job.toml", "--json", "--stop-below=0"]);
    command.env("HEMINGWAY_STORE_PATIENCE", "100ms");
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    written(&sandbox, "seen");
    let lock = rusqlite::Connection::open(store(&sandbox)).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    while written(&sandbox, "seen") == "1" {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(lock);
    let outcome = wait(child);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("is recorded once that is possible"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing is missing"), "{}", outcome.stderr);
    assert_eq!(numbers(&sandbox.json(&["tune", "--resume=last", "--json"])), [1, 2, 3, 4]);
}

#[test]
fn a_store_that_stays_locked_costs_no_report() {
    let sandbox = job(&format!("echo $HEMINGWAY_EVALUATION > seen\nsleep 0.2\n{WORKS}"));
    let mut command = sandbox.command(&["tune", "job.toml", "--json", "--stop-below=0", "--evaluations=2"]);
    command.env("HEMINGWAY_STORE_PATIENCE", "50ms");
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    written(&sandbox, "seen");
    let lock = rusqlite::Connection::open(store(&sandbox)).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = wait(child);
    drop(lock);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("2 evaluations are not in the store"), "{}", outcome.stderr);
    assert_eq!(numbers(&outcome.json()), [1, 2]);
}

#[test]
fn studies_are_removed() {
    let sandbox = job(WORKS);
    let make = || {
        sandbox.json(&["tune", "job.toml", "--json", "--evaluations=1"])["study"].as_str().unwrap().to_owned()
    };
    let [first, second, third] = [make(), make(), make()];
    let removed = sandbox.json(&["tune", "--remove", &first, "--json"]);
    assert_eq!(removed["studies"], Value::from(vec![first.clone()]));
    check(&sandbox, &["--remove", &first], 2, "there is no study");
    let pruned = sandbox.json(&["runs", "prune", "--keep=1", "--json"]);
    assert_eq!(pruned["studies"], Value::from(vec![second]));
    let left = sandbox.json(&["tune", "--studies", "--json"]);
    assert_eq!(
        (left["studies"].as_array().unwrap().len(), &left["studies"][0]["study"]),
        (1, &Value::from(third))
    );
    check(&sandbox, &["--remove=last"], 0, "removed ");
    check(&sandbox, &["--studies"], 0, "no studies yet");
}
