//! What happens when a rank, the launcher or the head is killed.

mod cluster;

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use cluster::{PATIENCE, children, command, is_alive, show, wait_for};

/// A run of `hemingway train` on three ranks of this machine.
struct Run {
    head: Child,
    folder: tempfile::TempDir,
}

impl Run {
    /// Starts a run that takes long, and waits until its ranks are at work.
    fn start(extra: &[&str]) -> Run {
        Run::start_on(&["--workers", "3"], extra)
    }

    fn start_on(workers: &[&str], extra: &[&str]) -> Run {
        Run::start_with(&[workers, &["--algorithm", "minibatch-sgd"], &SLOWLY, extra].concat())
    }

    /// Two workers, and a server beside them.
    fn start_with_a_server(extra: &[&str]) -> Run {
        Run::start_with(
            &[&["--workers", "2", "--algorithm", "async-sgd", "--score-every", "5"], &SLOWLY[..], extra]
                .concat(),
        )
    }

    fn start_with(words: &[&str]) -> Run {
        let run = Run::begin(words);
        wait_for("a checkpoint", || {
            let run = show(run.folder.path());
            let points = run["points"].as_array().map_or(0, Vec::len);
            points > 3 && run["checkpoint_round"].is_u64()
        });
        run
    }

    /// Starts a run, whatever becomes of it.
    fn begin(extra: &[&str]) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(folder.path());
        command.args(["train", "synthetic:separable,rows=3000,features=30", "--engine", "mpi"]);
        command.args(["--checkpoint-every", "200ms"]).args(extra);
        let head = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Run { head, folder }
    }

    fn launcher(&self) -> u32 {
        let children = children(self.head.id());
        assert_eq!(children.len(), 1, "{children:?}");
        children[0]
    }

    fn ranks(&self) -> Vec<u32> {
        let ranks = cluster::ranks_of(self.head.id());
        assert_eq!(ranks.len(), 3, "{ranks:?}");
        ranks
    }

    /// Waits for the end; the exit code and what was said on standard error.
    fn end(mut self) -> (Option<i32>, String, tempfile::TempDir) {
        wait_for("the end of the head", || self.head.try_wait().unwrap().is_some());
        let code = self.head.wait().unwrap().code();
        let mut said = String::new();
        self.head.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (code, said, self.folder)
    }
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number as i32).unwrap()
}

fn kill(number: u32) -> Instant {
    kill_process(pid(number), Signal::KILL).unwrap();
    Instant::now()
}

fn assert_all_gone(since: Instant, processes: &[u32]) {
    wait_for("the ranks to end", || !processes.iter().any(|number| is_alive(*number)));
    assert!(since.elapsed() < PATIENCE, "it took {:?}", since.elapsed());
}

/// Steps so short that a run goes on for minutes before there is no more progress.
const SLOWLY: [&str; 2] = ["--step-size", "1e-3"];

const FOREVER: [&str; 2] = ["--within", "10m"];

#[test]
fn a_dead_rank_is_named() {
    let run = Run::start(&FOREVER);
    let (launcher, ranks) = (run.launcher(), run.ranks());
    let since = kill(ranks[1]);
    let (code, said, folder) = run.end();
    assert_all_gone(since, &[&ranks[..], &[launcher]].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("worker 1 on ") && said.contains("died"), "{said}");
    assert!(said.contains("--resume last"), "{said}");
    resumes(&folder);
}

#[test]
fn a_dead_launcher_is_named() {
    let run = Run::start(&FOREVER);
    let (launcher, ranks) = (run.launcher(), run.ranks());
    let since = kill(launcher);
    let (code, said, folder) = run.end();
    assert_all_gone(since, &ranks);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("mpirun was killed by signal 9"), "{said}");
    resumes(&folder);
}

#[test]
fn nobody_outlives_the_head() {
    let run = Run::start(&FOREVER);
    let (launcher, ranks) = (run.launcher(), run.ranks());
    let since = kill(run.head.id());
    let (code, _, folder) = run.end();
    assert_eq!(code, None);
    assert_all_gone(since, &[&ranks[..], &[launcher]].concat());
    resumes(&folder);
}

/// In the work of a rank, on a thread beside it, and in the rank that speaks for all.
#[test]
fn a_rank_that_panics_is_named_with_its_words() {
    for (asked, words) in [("1", "worker 1 on "), ("2,thread", "worker 2 on "), ("0", "worker 0 on ")] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(folder.path());
        command.env("HEMINGWAY_TEST_PANIC", asked);
        command.args(["train", "synthetic:separable,rows=3000,features=30", "--engine", "mpi"]);
        let begun = Instant::now();
        let output = command.args(["--workers", "3", "--algorithm", "cocoa"]).args(FOREVER).output().unwrap();
        let said = cluster::text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(words) && said.contains("failed: panicked at") && said.contains("to panic"),
            "{said}"
        );
        assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
    }
}

/// Stops a rank for so long.
fn stop_for(rank: u32, time: Duration) {
    kill_process(pid(rank), Signal::STOP).unwrap();
    std::thread::sleep(time);
    kill_process(pid(rank), Signal::CONT).unwrap();
}

#[test]
fn a_rank_that_stops_for_a_while_is_waited_for() {
    let run = Run::start(&["--rounds", "100000"]);
    stop_for(run.ranks()[1], Duration::from_secs(20));
    let (code, said, _folder) = run.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_rank_that_stops_for_longer_than_patience_is_named() {
    let run = Run::start(&[&FOREVER[..], &["--patience", "5s"]].concat());
    let (launcher, ranks) = (run.launcher(), run.ranks());
    kill_process(pid(ranks[1]), Signal::STOP).unwrap();
    let since = Instant::now();
    let (code, said, folder) = run.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no sign of life from worker 1 on "), "{said}");
    assert_all_gone(since + Duration::from_secs(5), &[&ranks[..], &[launcher]].concat());
    resumes(&folder);
}

/// One round takes hours: there is no checkpoint yet, and no model to save.
#[test]
fn a_round_without_end_is_interrupted() {
    let run = Run::begin(&["--workers", "3", "--algorithm", "cocoa", "--local-steps", "100000000000"]);
    wait_for("the ranks", || show(run.folder.path())["status"] == "running");
    let (launcher, ranks) = (run.launcher(), run.ranks());
    kill_process(pid(run.head.id()), Signal::TERM).unwrap();
    let since = Instant::now();
    let (code, said, _folder) = run.end();
    assert!(since.elapsed() < PATIENCE, "it took {:?}", since.elapsed());
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("interrupted before the first checkpoint"), "{said}");
    assert_all_gone(since, &[&ranks[..], &[launcher]].concat());
}

/// A rank that is stopped keeps the round from ending, but the last checkpoint is there.
#[test]
fn a_stuck_run_that_is_interrupted_saves_its_last_checkpoint() {
    let run = Run::start(&FOREVER);
    let (launcher, ranks) = (run.launcher(), run.ranks());
    kill_process(pid(ranks[1]), Signal::STOP).unwrap();
    kill_process(pid(run.head.id()), Signal::TERM).unwrap();
    let since = Instant::now();
    let (code, said, folder) = run.end();
    assert_eq!(code, Some(3), "{said}");
    assert_all_gone(since, &[&ranks[..], &[launcher]].concat());
    let report = &show(folder.path())["report"];
    assert_eq!(report["stop"], "interrupted", "{report} {said}");
    let models = folder.path().join("hemingway").join("models");
    assert_eq!(std::fs::read_dir(models).unwrap().count(), 1);
    resumes(&folder);
}

/// On one machine ranks share memory. What `mpirun` itself listens on cannot be chosen.
#[test]
fn ranks_of_one_machine_listen_to_nobody() {
    let run = Run::start(&FOREVER);
    for rank in run.ranks() {
        let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{rank}/fd"))
            .unwrap()
            .flatten()
            .filter_map(|entry| std::fs::read_link(entry.path()).ok())
            .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
            .collect();
        for table in ["tcp", "tcp6"] {
            let table = std::fs::read_to_string(format!("/proc/{rank}/net/{table}")).unwrap();
            let listens = |line: &&str| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                fields.get(3) == Some(&"0A")
                    && fields.get(9).is_some_and(|inode| sockets.iter().any(|s| s == inode))
            };
            let listening: Vec<&str> = table.lines().filter(listens).collect();
            assert!(listening.is_empty(), "rank {rank}: {listening:?}");
        }
    }
    kill(run.head.id());
    run.end();
}

#[test]
fn an_interrupted_run_saves_its_model() {
    let run = Run::start(&FOREVER);
    let (launcher, ranks) = (run.launcher(), run.ranks());
    kill_process(pid(run.head.id()), Signal::INT).unwrap();
    let since = Instant::now();
    let (code, said, folder) = run.end();
    assert_eq!(code, Some(3), "{said}");
    assert_all_gone(since, &[&ranks[..], &[launcher]].concat());
    let models = folder.path().join("hemingway").join("models");
    assert_eq!(std::fs::read_dir(models).unwrap().count(), 1);
    resumes(&folder);
}

/// The store is as it should be, and the run goes on.
fn resumes(folder: &tempfile::TempDir) {
    let store = folder.path();
    let shown = show(store);
    // The last checkpoint may be later than the last score.
    let scored = shown["points"].as_array().unwrap().last().unwrap()["round"].as_u64();
    let round = scored.max(shown["checkpoint_round"].as_u64()).unwrap();
    let more = (round + 50).to_string();
    let output =
        command(store).args(["train", "--resume", "last", "--rounds", &more, "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", cluster::text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["rounds"].as_u64(), Some(round + 50));
}

#[test]
fn a_run_with_restarts_reaches_its_goal() {
    let run = Run::start(&["--rounds", "100000", "--restarts", "1"]);
    kill(run.ranks()[2]);
    let (code, said, folder) = run.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("going on from the last checkpoint with 3 workers"), "{said}");
    let rounds: Vec<u64> = show(folder.path())["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["round"].as_u64().unwrap())
        .collect();
    assert!(rounds.is_sorted_by(|a, b| a < b) && rounds.last() == Some(&100_000), "{rounds:?}");
}

#[test]
fn a_run_with_servers_goes_on_whoever_dies() {
    for (dies, who) in [(1, "worker 1 on "), (2, "server 0 on ")] {
        let run = Run::start_with_a_server(&["--within", "4s", "--restarts", "1"]);
        let before = show(run.folder.path())["points"].as_array().unwrap().len();
        kill(run.ranks()[dies]);
        let (code, said, folder) = run.end();
        assert!(matches!(code, Some(0 | 3)), "{said}");
        assert!(said.contains(who) && said.contains("from the last checkpoint with 2 workers"), "{said}");
        let shown = show(folder.path());
        let rounds = shown["points"].as_array().unwrap().iter().map(|point| point["round"].as_u64().unwrap());
        let rounds: Vec<u64> = rounds.collect();
        assert!(rounds.is_sorted_by(|a, b| a < b) && rounds.len() > before, "{before}, {rounds:?}");
    }
}

#[test]
fn an_interrupted_run_with_servers_saves_its_model() {
    let run = Run::start_with_a_server(&FOREVER);
    let (launcher, ranks) = (run.launcher(), run.ranks());
    kill_process(pid(run.head.id()), Signal::INT).unwrap();
    let since = Instant::now();
    let (code, said, folder) = run.end();
    assert_eq!(code, Some(3), "{said}");
    assert_all_gone(since, &[&ranks[..], &[launcher]].concat());
    let models = folder.path().join("hemingway").join("models");
    assert_eq!(std::fs::read_dir(models).unwrap().count(), 1);
    resumes(&folder);
}

/// The run that waits for it is interrupted, and has its last checkpoint.
#[test]
fn a_server_that_stops_is_named() {
    let run = Run::start_with_a_server(&[&FOREVER[..], &["--patience", "5s"]].concat());
    kill_process(pid(run.ranks()[2]), Signal::STOP).unwrap();
    let (code, said, folder) = run.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no sign of life from server 0 on "), "{said}");
    resumes(&folder);
}

/// The number of workers is left open, so all three ranks wait to be told what to do.
const PLANNED: [&str; 2] = ["--max-workers", "3"];

#[test]
fn a_planned_run_with_restarts_goes_on() {
    let run = Run::start_on(&PLANNED, &["--within", "6s", "--restarts", "1"]);
    let scored = |folder: &tempfile::TempDir| -> Vec<u64> {
        let shown = show(folder.path());
        shown["points"].as_array().unwrap().iter().map(|point| point["round"].as_u64().unwrap()).collect()
    };
    let before = scored(&run.folder);
    kill(run.ranks()[2]);
    let (code, said, folder) = run.end();
    // The time may be up, or the method may have got as far as it can before that.
    assert!(matches!(code, Some(0 | 3)), "{said}");
    assert!(said.contains("going on from the last checkpoint with "), "{said}");
    let after = scored(&folder);
    assert!(after.is_sorted_by(|a, b| a < b) && after.last() > before.last(), "{before:?}, {after:?}");
}

#[test]
fn a_planned_run_that_is_interrupted_is_resumed() {
    let run = Run::start_on(&PLANNED, &FOREVER);
    let (launcher, ranks) = (run.launcher(), run.ranks());
    kill_process(pid(run.head.id()), Signal::INT).unwrap();
    let since = Instant::now();
    let (code, said, folder) = run.end();
    assert_eq!(code, Some(3), "{said}");
    assert_all_gone(since, &[&ranks[..], &[launcher]].concat());
    resumes(&folder);
    // And by the clock, as it was planned.
    let reached =
        show(folder.path())["points"].as_array().unwrap().last().unwrap()["seconds"].as_f64().unwrap();
    let within = format!("{}s", reached + 2.0);
    let output = command(folder.path())
        .args(["train", "--resume", "last", "--within", &within, "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", cluster::text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["seconds"].as_f64().unwrap() > reached + 1.0, "{report}");
}

#[test]
fn what_cannot_start_is_told() {
    let check = |extra: &[&str], code: i32, parts: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let hosts = folder.path().join("hosts");
        std::fs::write(&hosts, "nowhere.invalid slots=4\n").unwrap();
        let old = r#"{"event":"hello","protocol":7,"version":"0.0.1","ranks":[]}"#;
        std::fs::write(folder.path().join("old"), format!("{old}\n")).unwrap();
        let mut command = command(folder.path());
        command.args(["train", "--positive", "5", "--engine", "mpi", "--rounds", "3"]);
        let extra = extra.iter().map(|word| word.replace("FOLDER", folder.path().to_str().unwrap()));
        let begun = Instant::now();
        let output = command.args(extra).output().unwrap();
        let said = cluster::text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{said}");
        parts.iter().for_each(|part| assert!(said.contains(part), "{part}\nnot in\n{said}"));
        assert!(!folder.path().join("hemingway").exists(), "nothing is written");
    };
    check(&["--launcher", "/nowhere/mpirun"], 2, &["cannot start `/nowhere/mpirun`", "--launcher"]);
    check(&["--launcher", "'mpirun"], 2, &["not a command"]);
    check(&["--hosts", "FOLDER/hosts"], 1, &["could not be started", "hemingway-worker --check"]);
    check(&["--hosts", "FOLDER/hosts", "--workers", "5"], 2, &["hosts:1", "4 ranks", "5 workers"]);
    let asks = ["--hosts", "FOLDER/hosts", "--workers", "4", "--algorithm", "async-sgd"];
    check(&asks, 2, &["4 ranks", "4 workers and 1 server are wanted, 5 ranks"]);
    check(&["--hosts", "/nowhere/hosts"], 2, &["/nowhere/hosts"]);
    check(&["--launcher", "sh -c 'cat FOLDER/old'"], 2, &["0.0.1 (protocol 7)", "same release"]);
    check(&["--launcher", "echo rubbish"], 1, &["not what hemingway-worker says"]);
    check(&["--launcher", "printf '{\"event'"], 1, &["printf ended with exit code 0"]);
    check(&["--launcher", "false"], 1, &["false ended with exit code 1"]);
}

#[test]
fn another_program_in_place_of_the_worker_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command.env("HEMINGWAY_WORKER", PathBuf::from("/nowhere/hemingway-worker"));
    let output =
        command.args(["train", "--positive", "5", "--engine", "mpi", "--rounds", "3"]).output().unwrap();
    let said = cluster::text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("/nowhere/hemingway-worker") && said.contains("cargo build"), "{said}");
}

/// Inside a Slurm allocation srun starts the ranks; here it is a stand-in that hands them to mpirun.
#[test]
fn an_allocation_is_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let srun = folder.path().join("srun");
    let script = "#!/bin/sh\ntouch \"$XDG_DATA_HOME/srun-was-used\"\nunset SLURM_JOB_ID\nexec mpirun --oversubscribe \"$@\"\n";
    std::fs::write(&srun, script).unwrap();
    std::fs::set_permissions(&srun, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let train = |extra: &[&str]| {
        let mut command = command(folder.path());
        command.env("PATH", &path).env("SLURM_JOB_ID", "1").env("SLURM_NTASKS", "3");
        command.args(["train", "--engine", "mpi", "--json"]);
        command.args(extra).output().unwrap()
    };
    let fixed = ["--workers", "2", "--rounds", "3"];
    let output = train(&fixed);
    assert!(output.status.success(), "{}", cluster::text(&output.stderr));
    assert!(folder.path().join("srun-was-used").exists());
    let hosts = folder.path().join("hosts");
    std::fs::write(&hosts, "somewhere slots=2\n").unwrap();
    let planned = train(&["--error", "1e-2"]);
    let report: serde_json::Value = serde_json::from_slice(&planned.stdout).unwrap();
    let workers = |plan: &serde_json::Value| plan["stages"][0]["workers"].as_u64();
    let most = report["alternatives"].as_array().unwrap().iter().map(workers).max();
    assert_eq!(most, Some(Some(3)), "as many as the job has tasks: {report}");
    let refused = train(&[&fixed[..], &["--hosts", hosts.to_str().unwrap()]].concat());
    let said = cluster::text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("srun starts its ranks on the nodes of its allocation"), "{said}");
}
