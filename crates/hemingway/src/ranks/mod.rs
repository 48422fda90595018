//! Training on ranks of another program: start them, listen to them, notice when they die.
//!
//! The ranks load the data themselves and train by themselves; what comes back are the lines of
//! [`hemingway_train::protocol`].

mod hosts;
mod launcher;
mod listener;
mod process;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hemingway_train::protocol::{ExternalJob, Loaded, Message, PROTOCOL, Profile, Source, Stage};
use hemingway_train::{Checkpoint, Cluster, Event, Problem, Quality, Run};

use self::hosts::Hosts;
use self::launcher::Launcher;
use self::listener::Listener;
use self::process::{Heard, Process};
use crate::{Choice, Error, RanksRequest, TrainRequest};

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
            scoring: choice.scoring,
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
