//! Training on ranks of another program: start them, listen to them, notice when they die.
//!
//! The ranks load the data themselves and train by themselves; what comes back are the lines of
//! [`hemingway_train::protocol`].

mod hosts;
mod launcher;
mod process;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hemingway_train::protocol::{
    Command, ExternalJob, Failure, Loaded, Message, PROTOCOL, Profile, Rank, Source, Stage,
};
use hemingway_train::{Checkpoint, Cluster, Event, Problem, Quality, Run};

use self::hosts::Hosts;
use self::launcher::Launcher;
use self::process::{Heard, Process, describe};
use crate::{Choice, Error, RanksRequest, TrainRequest};

/// Ranks that have not all said hello after this long will not.
const START: Duration = Duration::from_secs(60);
/// A host that does not answer within this time is gone.
const ANSWER: Duration = Duration::from_secs(8);

/// What to start, and where.
pub(crate) struct Setup {
    launcher: Launcher,
    hosts: Option<Hosts>,
    job: ExternalJob,
}

/// Ranks that have loaded their data.
pub(crate) struct Ranks {
    listener: Listener,
    pub loaded: Loaded,
}

impl Setup {
    /// Checks what can be checked without starting anything.
    pub(crate) fn new(
        request: &TrainRequest,
        choice: &Choice,
        problem: Problem,
        data: Source,
    ) -> Result<Setup, Error> {
        let (launcher, hosts) = place(&request.ranks, choice.workers)?;
        let stage = Stage {
            algorithm: choice.algorithm.clone(),
            parameters: choice.parameters,
            workers: choice.workers,
            stop: choice.stop,
        };
        let job = ExternalJob {
            protocol: PROTOCOL,
            data,
            problem,
            seed: request.seed,
            scoring: request.scoring,
            checkpoint_every: Some(request.checkpoint_every),
            stages: vec![stage],
            checkpoint: None,
        };
        Ok(Setup { launcher, hosts, job })
    }

    /// Other stages on the same ranks.
    pub(crate) fn with_stages(mut self, stages: Vec<Stage>) -> Setup {
        self.job.stages = stages;
        self
    }

    /// How many ranks will be started.
    pub(crate) fn workers(&self) -> usize {
        self.job.stages[0].workers
    }

    /// Starts the ranks and waits until they have loaded their data.
    pub(crate) fn start(&self, checkpoint: Option<&Checkpoint>) -> Result<Ranks, Error> {
        let command = self.launcher.ranks(self.workers(), self.hosts.as_ref(), &["-"])?;
        let mut listener = Listener::start(&self.launcher, command)?;
        let checkpoint = checkpoint.map(|checkpoint| BASE64.encode(checkpoint.to_bytes()));
        let job = ExternalJob { checkpoint, ..self.job.clone() };
        listener.process.tell(&serde_json::to_string(&job).expect("a job is plain data"));
        listener.greet()?;
        match listener.next(None)? {
            Message::Loaded(loaded) => Ok(Ranks { listener, loaded }),
            other => Err(listener.unexpected(&other)),
        }
    }

    /// Leaves out the hosts that no longer answer; says which.
    pub(crate) fn drop_lost_hosts(&mut self) -> Result<Vec<String>, Error> {
        let Some(hosts) = &self.hosts else { return Ok(Vec::new()) };
        let launcher = &self.launcher;
        let gone: Vec<String> = std::thread::scope(|scope| {
            let probes: Vec<_> =
                hosts.names().map(|host| (host, scope.spawn(move || answers(launcher, host)))).collect();
            let silent = probes.into_iter().filter_map(|(host, probe)| match probe.join() {
                Ok(true) => None,
                _ => Some(host.to_owned()),
            });
            silent.collect()
        });
        let left = hosts.without(&gone);
        if left.slots() == 0 {
            return Err(Error::NoHostLeft { gone });
        }
        self.job.stages[0].workers = self.workers().min(left.slots());
        self.hosts = Some(left);
        Ok(gone)
    }
}

/// Has the ranks measure their machines and their network, with sums of this length among others.
pub(crate) fn measure(request: &RanksRequest, workers: usize, length: usize) -> Result<Cluster, Error> {
    let (launcher, hosts) = place(request, workers)?;
    let command = launcher.ranks(workers, hosts.as_ref(), &["--measure", &length.to_string()])?;
    let mut listener = Listener::start(&launcher, command)?;
    listener.greet()?;
    match listener.next(None)? {
        Message::Measured(measurement) => {
            listener.wait_for_the_end();
            Ok(Cluster::measured(&listener.ranks, &measurement))
        }
        other => Err(listener.unexpected(&other)),
    }
}

fn place(request: &RanksRequest, workers: usize) -> Result<(Launcher, Option<Hosts>), Error> {
    let launcher = Launcher::new(request.launcher.as_deref())?;
    let hosts = request.hosts.as_deref().map(Hosts::read).transpose()?;
    hosts.as_ref().map_or(Ok(()), |hosts| hosts.check(workers))?;
    Ok((launcher, hosts))
}

/// Whether a process can be started on a host.
fn answers(launcher: &Launcher, host: &str) -> bool {
    let Ok(mut process) = Process::start(launcher.probe(host)) else { return false };
    let begun = Instant::now();
    while begun.elapsed() < ANSWER {
        if let Heard::End(status) = process.listen() {
            return status.success();
        }
    }
    false
}

impl Ranks {
    /// Listens until the run has ended.
    pub(crate) fn run(
        mut self,
        interrupt: &AtomicBool,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(Run, Quality), Error> {
        loop {
            match self.listener.next(Some(interrupt))? {
                Message::Point(point) => observe(Event::Point(&point))?,
                Message::Checkpoint { state, .. } => {
                    let bytes = BASE64.decode(&state).map_err(|error| self.listener.garbled(&error))?;
                    observe(Event::Checkpoint(&Checkpoint::from_bytes(&bytes)?))?;
                }
                Message::Finished { run, quality, .. } => {
                    self.listener.wait_for_the_end();
                    return Ok((run, quality));
                }
                other => return Err(self.listener.unexpected(&other)),
            }
        }
    }
}

impl Ranks {
    /// Listens through so many stages; where the time of each went.
    pub(crate) fn profiles(mut self, stages: usize) -> Result<Vec<Profile>, Error> {
        let mut profiles = Vec::new();
        while profiles.len() < stages {
            if let Message::Finished { profile, .. } = self.listener.next(None)? {
                profiles.push(profile.unwrap_or_default());
            }
        }
        self.listener.wait_for_the_end();
        Ok(profiles)
    }
}

/// What the ranks say, and what it means when they no longer do.
struct Listener {
    process: Process,
    program: String,
    begun: Instant,
    ranks: Vec<Rank>,
    failure: Option<Failure>,
    stopping: bool,
}

impl Listener {
    fn start(launcher: &Launcher, command: std::process::Command) -> Result<Listener, Error> {
        let program = launcher.program().to_owned();
        let process = Process::start(command)
            .map_err(|source| Error::NoLauncher { program: program.clone(), source })?;
        let begun = Instant::now();
        Ok(Listener { process, program, begun, ranks: Vec::new(), failure: None, stopping: false })
    }

    fn greet(&mut self) -> Result<(), Error> {
        match self.next(None)? {
            Message::Hello { protocol, version, ranks } => {
                self.check_version(protocol, &version)?;
                self.ranks = ranks;
                Ok(())
            }
            other => Err(self.unexpected(&other)),
        }
    }

    fn check_version(&self, protocol: u32, version: &str) -> Result<(), Error> {
        let ours = env!("CARGO_PKG_VERSION");
        if protocol == PROTOCOL && version == ours {
            return Ok(());
        }
        Err(Error::WorkerVersion {
            theirs: format!("{version} (protocol {protocol})"),
            ours: format!("{ours} (protocol {PROTOCOL})"),
        })
    }

    /// The next message; while there is none, an interruption is passed on.
    fn next(&mut self, interrupt: Option<&AtomicBool>) -> Result<Message, Error> {
        loop {
            if !self.stopping && interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                self.stopping = true;
                let command = serde_json::to_string(&Command::Stop).expect("a command is plain data");
                self.process.tell(&command);
            }
            match self.process.listen() {
                Heard::Line(line) => {
                    return serde_json::from_str(&line).map_err(|error| match self.version_in(&line) {
                        Some(wrong) => wrong,
                        None => self.garbled(&error),
                    });
                }
                Heard::Silence => self.look_at_errors(),
                Heard::End(status) => return Err(self.ended(&describe(status))),
            }
            if self.ranks.is_empty() && self.begun.elapsed() > START {
                let words = self.process.last_words();
                return Err(Error::RanksDoNotStart {
                    program: self.program.clone(),
                    seconds: START.as_secs(),
                    words,
                });
            }
        }
    }

    /// A line that cannot be read may be of another version.
    fn version_in(&self, line: &str) -> Option<Error> {
        #[derive(serde::Deserialize)]
        struct Version {
            protocol: u32,
            version: String,
        }
        let Version { protocol, version } = serde_json::from_str(line).ok()?;
        self.check_version(protocol, &version).err()
    }

    fn look_at_errors(&mut self) {
        for line in self.process.errors() {
            // Several ranks may fail of the same cause; the first rank has read the earliest line.
            if let Ok(failure) = serde_json::from_str::<Failure>(&line)
                && self.failure.as_ref().is_none_or(|known| failure.rank < known.rank)
            {
                self.failure = Some(failure);
            }
        }
    }

    /// Why the launcher has ended before its time.
    fn ended(&mut self, how: &str) -> Error {
        self.look_at_errors();
        let words = self.process.last_words();
        if let Some(failure) = self.failure.take() {
            return Error::RankFailed(failure);
        }
        let how = format!("{} {how}", self.program);
        match lost_rank(&words) {
            Some(Lost::Rank(rank)) => {
                let host = self
                    .ranks
                    .get(rank)
                    .map_or_else(|| "an unknown host".to_owned(), |rank| rank.host.clone());
                Error::RankLost { rank, host, how }
            }
            Some(Lost::Host(host)) => Error::HostLost { host, how },
            None if self.ranks.is_empty() => Error::RanksNotStarted { how, words },
            None => Error::RanksLost { how, words },
        }
    }

    fn garbled(&self, error: &dyn std::fmt::Display) -> Error {
        Error::Garbled { program: self.program.clone(), problem: error.to_string() }
    }

    fn unexpected(&self, message: &Message) -> Error {
        let text = format!("{message:?}");
        let start: String = text.chars().take(40).collect();
        self.garbled(&format!("`{start}…` is out of order"))
    }

    /// The launcher still has to put things away.
    fn wait_for_the_end(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < ANSWER && !matches!(self.process.listen(), Heard::End(_)) {}
    }
}

/// Who is gone, as far as launchers tell.
#[derive(Debug, PartialEq, Eq)]
enum Lost {
    Rank(usize),
    Host(String),
}

/// Finds it in the last words of `mpirun` (“process rank 2 with PID …”, “lost communication with … on node x”) and
/// `srun` (“task 2: Killed”).
fn lost_rank(words: &[String]) -> Option<Lost> {
    let after = |marker: &str| {
        let text = words.join(" ");
        let rest = text.split_once(marker)?.1.trim_start();
        Some(rest.split(|end: char| end.is_whitespace() || ",:.".contains(end)).next()?.to_owned())
    };
    let rank = |marker: &str| after(marker)?.parse().ok().map(Lost::Rank);
    let host = || words.iter().any(|line| line.contains("lost communication")).then(|| after("on node"))?;
    rank("process rank").or_else(|| rank(" task ")).or_else(|| host().map(Lost::Host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_launchers_tell_who_is_gone() {
        let lost = |text: &str| lost_rank(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        let mpirun =
            "--------\nmpirun noticed that process rank 2 with PID 0 on node h3 exited on signal 9 (Killed).";
        assert_eq!(lost(mpirun), Some(Lost::Rank(2)));
        assert_eq!(lost("srun: error: node7: task 3: Killed"), Some(Lost::Rank(3)));
        let daemon = "ORTE has lost communication with a remote daemon.\n  HNP daemon   : [[1,0],0] on node h1\n  Remote daemon: [[1,0],2] on node h3";
        assert!(matches!(lost(daemon), Some(Lost::Host(_))));
        assert_eq!(lost("something else"), None);
    }
}
