//! Training on ranks of another program: start them, listen to them, notice when they die.
//!
//! The ranks load the data themselves and train by themselves; what comes back are the lines of
//! [`hemingway_train::protocol`]. Where the whole run is known in advance they get it with the job; where it was planned
//! they wait for one stage after the other, and as many of them as a stage wants take part in it.

mod hosts;
mod launcher;
mod listener;
mod pulse;
mod speeds;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hemingway_train::protocol::{Command, ExternalJob, Loaded, Message, PROTOCOL, Profile, Source, Stage};
use hemingway_train::{Checkpoint, Cluster, Event, HandOver, Problem, Quality, Run, Seconds};

use self::hosts::Hosts;
use self::launcher::Launcher;
use self::listener::Listener;
use self::pulse::HEARTBEAT;
use self::speeds::Speeds;
use crate::process::{Heard, Process};
use crate::{Choice, Error, RanksRequest, Straggler, TrainRequest};

/// A host that does not answer within this time is gone.
const ANSWER: Duration = Duration::from_secs(8);
/// At most so many pairs of hosts are tried, all at the same time: eight hosts with one another.
const MOST_PAIRS: usize = 28;

/// What to start, and where.
pub(crate) struct Setup {
    launcher: Launcher,
    hosts: Option<Hosts>,
    /// How many ranks,
    ranks: usize,
    /// and how many of them are servers where the algorithm was chosen in advance.
    servers: usize,
    /// How long they may be silent or stand still, where the user says so.
    patience: Option<Seconds>,
    job: ExternalJob,
}

/// Ranks that have loaded their data.
pub(crate) struct Ranks {
    listener: Listener,
    pub loaded: Loaded,
    /// On how many of them it was loaded.
    pub loaded_on: usize,
    /// Whether they wait for a command for each stage.
    wait: bool,
    speeds: Speeds,
}

/// What ranks say while they train.
pub(crate) enum Said<'a> {
    /// What every engine says.
    Event(Event<'a>),
    /// The data has been divided anew.
    Loaded(&'a Loaded),
    /// The stage took over from another; the training clock before its first round.
    Begun(Seconds),
}

impl Setup {
    /// Checks what can be checked without starting anything. A run that is planned may use all ranks there are.
    pub(crate) fn new(
        request: &TrainRequest,
        choice: &Choice,
        problem: Problem,
        data: Source,
    ) -> Result<Setup, Error> {
        let (launcher, hosts) = place(&request.ranks)?;
        let planned = choice.explanation.is_some() || request.is_planned(&choice.stop);
        let servers = choice.servers();
        let workers = if planned { most_workers(request, hosts.as_ref(), servers) } else { choice.workers };
        let workers = workers.max(choice.workers);
        check_slots(hosts.as_ref(), workers, servers)?;
        // A run that goes on knows how many it goes on with.
        let first = if choice.explanation.is_some() { choice.workers } else { workers };
        let job = ExternalJob {
            protocol: PROTOCOL,
            data,
            problem,
            seed: request.seed,
            scoring: choice.scoring,
            checkpoint_every: Some(request.checkpoint_every),
            stages: if planned { Vec::new() } else { vec![choice.stage(choice.stop)] },
            workers: planned.then_some(first),
            closer_look: false,
            checkpoint: None,
            heartbeat: Some(HEARTBEAT),
        };
        let (ranks, patience) = (workers + servers, request.ranks.patience);
        Ok(Setup { launcher, hosts, ranks, servers, patience, job })
    }

    /// The whole run in advance, on as many ranks as it needs.
    pub(crate) fn with_stages(mut self, stages: Vec<Stage>) -> Setup {
        let ranks = stages.iter().map(|stage| stage.workers + stage.servers());
        self.ranks = ranks.max().unwrap_or(self.ranks);
        (self.job.stages, self.job.workers) = (stages, None);
        self
    }

    /// The same, to look closely at the data rather than to train.
    pub(crate) fn with_closer_look(mut self) -> Setup {
        self.job.closer_look = true;
        self
    }

    /// How many workers there may be.
    pub(crate) fn most_workers(&self) -> usize {
        self.workers_beside(self.servers)
    }

    /// How many workers there may be beside so many servers.
    pub(crate) fn workers_beside(&self, servers: usize) -> usize {
        self.ranks.saturating_sub(servers)
    }

    /// What to say of so many workers and servers that leave no core of this machine to others, where that is known.
    pub(crate) fn full_cores(&self, workers: usize, servers: usize) -> Option<String> {
        let cores = self.launcher.cores_here(self.hosts.as_ref())?;
        full_cores(workers, servers, cores)
    }

    /// Starts the ranks and waits until they have loaded their data, or until the user has had enough.
    pub(crate) fn start(
        &self,
        checkpoint: Option<&Checkpoint>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Ranks, Error> {
        let command = self.launcher.ranks(self.ranks, self.hosts.as_ref(), &["-"])?;
        let mut listener = Listener::start(&self.launcher, command, self.patience)?;
        let checkpoint = checkpoint.map(|checkpoint| BASE64.encode(checkpoint.to_bytes()));
        let job = ExternalJob { checkpoint, ..self.job.clone() };
        listener.process.tell(&serde_json::to_string(&job).expect("a job is plain data"));
        listener.greet(interrupt)?;
        let wait = job.stages.is_empty();
        let loaded_on = job.workers.or(job.stages.first().map(|stage| stage.workers)).unwrap_or(self.ranks);
        match listener.next(interrupt)? {
            Message::Loaded(loaded) => {
                let speeds = Speeds::of(&listener.ranks);
                Ok(Ranks { listener, loaded_on: loaded_on.min(loaded.rows), loaded, wait, speeds })
            }
            other => Err(listener.unexpected(&other)),
        }
    }

    /// Leaves out the hosts that no longer answer, and where the ranks stood still also those that the others do not
    /// reach; says which. What is left has to have room for one worker and so many servers.
    pub(crate) fn drop_lost_hosts(
        &mut self,
        reason: &Error,
        servers: usize,
        interrupt: &AtomicBool,
    ) -> Result<Vec<String>, Error> {
        let Some(hosts) = &self.hosts else { return Ok(Vec::new()) };
        let alone: Vec<Vec<String>> = hosts.names().map(|host| vec![host.to_owned()]).collect();
        let silent = self.those_who_do_not_answer(&alone, interrupt);
        // One that was only too busy to answer does so the second time.
        let silent = self.those_who_do_not_answer(&silent, interrupt);
        let mut gone: Vec<String> = silent.into_iter().flatten().collect();
        if let Error::Standstill { suspects, .. } = reason {
            let answering = hosts.without(&gone);
            let names: Vec<&str> = answering.names().collect();
            gone.extend(fewest_to_leave_out(
                &self.those_who_do_not_answer(&pairs(&names, suspects), interrupt),
            ));
        }
        if interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let left = hosts.without(&gone);
        if left.slots() == 0 {
            return Err(Error::NoHostLeft { gone });
        }
        left.check(1, servers)?;
        self.ranks = self.ranks.min(left.slots());
        self.hosts = Some(left);
        Ok(gone)
    }

    /// Of groups of hosts, those in which ranks do not come to talk to one another.
    fn those_who_do_not_answer(&self, groups: &[Vec<String>], interrupt: &AtomicBool) -> Vec<Vec<String>> {
        let launcher = &self.launcher;
        std::thread::scope(|scope| {
            let probe = |group: &Vec<String>| {
                let group = group.clone();
                scope.spawn(move || (!answers(launcher, &group, interrupt)).then_some(group))
            };
            let probes: Vec<_> = groups.iter().map(probe).collect();
            probes.into_iter().filter_map(|probe| probe.join().ok().flatten()).collect()
        })
    }
}

/// The pairs of hosts in which there is a suspect, or all if none of them is; none if they are too many to try.
fn pairs(hosts: &[&str], suspects: &[String]) -> Vec<Vec<String>> {
    let suspected = |host: &&str| suspects.iter().any(|suspect| suspect == host);
    let all = !hosts.iter().any(suspected);
    let mut pairs = Vec::new();
    for (at, one) in hosts.iter().enumerate() {
        let others = hosts[at + 1..].iter().filter(|other| all || suspected(one) || suspected(other));
        pairs.extend(others.map(|other| vec![(*one).to_owned(), (*other).to_owned()]));
    }
    if pairs.len() > MOST_PAIRS { Vec::new() } else { pairs }
}

/// Hosts without which no pair is left that cannot talk: each time the one in most pairs, of several the last.
fn fewest_to_leave_out(pairs: &[Vec<String>]) -> Vec<String> {
    let mut pairs = pairs.to_vec();
    let mut gone = Vec::new();
    while !pairs.is_empty() {
        let count = |host: &String| pairs.iter().filter(|pair| pair.contains(host)).count();
        let Some(worst) = pairs.iter().flatten().max_by_key(|host| count(host)).cloned() else { break };
        pairs.retain(|pair| !pair.contains(&worst));
        gone.push(worst);
    }
    gone
}

/// Has the ranks measure their machines and their network, with sums of this length among others.
pub(crate) fn measure(request: &RanksRequest, workers: usize, length: usize) -> Result<Cluster, Error> {
    let (launcher, hosts) = place(request)?;
    check_slots(hosts.as_ref(), workers, 0)?;
    let command = launcher.ranks(workers, hosts.as_ref(), &["--measure", &length.to_string()])?;
    let mut listener = Listener::start(&launcher, command, None)?;
    listener.greet(None)?;
    match listener.next(None)? {
        Message::Measured(measurement) => {
            listener.wait_for_the_end();
            Ok(Cluster::measured(&listener.ranks, &measurement))
        }
        other => Err(listener.unexpected(&other)),
    }
}

/// One rank alone waits for nobody.
fn full_cores(workers: usize, servers: usize, cores: usize) -> Option<String> {
    let ranks = workers + servers;
    let taken = if ranks > cores { "share" } else { "take" };
    (workers > 1 && ranks >= cores).then(|| {
        let all = if cores == 1 { "the one core".to_owned() } else { format!("all {cores} cores") };
        let fewer = cores.saturating_sub(1 + servers).max(1);
        format!(
            "{ranks} ranks {taken} {all} of this machine, so every round waits for what the operating system does \
             meanwhile; --workers {fewer} leaves it a core"
        )
    })
}

fn place(request: &RanksRequest) -> Result<(Launcher, Option<Hosts>), Error> {
    let launcher = Launcher::new(request.launcher.as_deref())?;
    Ok((launcher, request.hosts.as_deref().map(Hosts::read).transpose()?))
}

fn check_slots(hosts: Option<&Hosts>, workers: usize, servers: usize) -> Result<(), Error> {
    hosts.map_or(Ok(()), |hosts| hosts.check(workers, servers))
}

/// The most workers that a planned run may use: what was asked for, or what the slots of the hosts, the tasks of a Slurm job
/// or the cores of this machine leave beside its servers.
fn most_workers(request: &TrainRequest, hosts: Option<&Hosts>, servers: usize) -> usize {
    let limit = request.planning.max_workers;
    let beside = |ranks: usize| ranks.saturating_sub(servers);
    let most = match (request.workers, hosts) {
        (Some(workers), _) => workers,
        (None, Some(hosts)) => beside(hosts.slots()).min(limit.unwrap_or(usize::MAX)),
        (None, None) => {
            limit.unwrap_or_else(|| beside(tasks_of_slurm().unwrap_or_else(hemingway_data::cores)))
        }
    };
    most.max(1)
}

/// How many tasks a Slurm job has, inside of one.
fn tasks_of_slurm() -> Option<usize> {
    std::env::var_os("SLURM_JOB_ID")?;
    std::env::var("SLURM_NTASKS").ok()?.parse().ok()
}

/// Whether a process can be started on each of these hosts, and they reach one another.
fn answers(launcher: &Launcher, hosts: &[String], interrupt: &AtomicBool) -> bool {
    let Ok(mut process) = Process::start(launcher.probe(hosts)) else { return false };
    let begun = Instant::now();
    while begun.elapsed() < ANSWER && !interrupt.load(Ordering::Relaxed) {
        if let Heard::End(status) = process.listen() {
            return status.success();
        }
    }
    false
}

impl Ranks {
    /// Has a stage trained, and listens until it has ended. Ranks that do not wait for commands have begun already.
    pub(crate) fn stage(
        &mut self,
        stage: Stage,
        hand_over: Option<&HandOver>,
        interrupt: &AtomicBool,
        observe: &mut dyn FnMut(Said) -> Result<(), Error>,
    ) -> Result<(Run, Quality), Error> {
        let (workers, servers) = (stage.workers, stage.servers());
        let ranks = if self.wait { self.speeds.choose(workers) } else { (0..workers).collect() };
        self.listener.servers = self.speeds.others(&ranks, servers);
        if self.wait {
            let all = ranks.iter().chain(&self.listener.servers).copied().collect();
            self.listener.tell(&Command::Stage { stage: Box::new(stage), ranks: all });
        }
        let mut asked = None;
        loop {
            match self.listener.next(Some(interrupt))? {
                Message::Point(point) => observe(Said::Event(Event::Point(&point)))?,
                Message::Checkpoint { state, .. } => {
                    let bytes = BASE64.decode(&state).map_err(|error| self.listener.garbled(&error))?;
                    observe(Said::Event(Event::Checkpoint(&Checkpoint::from_bytes(&bytes)?)))?;
                }
                Message::Loaded(loaded) => observe(Said::Loaded(&loaded))?,
                Message::Begun { seconds } => observe(Said::Begun(seconds))?,
                Message::Finished { run, quality, profile } => {
                    self.speeds.see(&ranks, &profile.unwrap_or_default().rates);
                    return Ok((run, quality));
                }
                other => return Err(self.listener.unexpected(&other)),
            }
            let asks = hand_over.and_then(HandOver::asked);
            if asked != asks {
                asks.iter().for_each(|&duals| self.listener.tell(&Command::HandOver { duals }));
                asked = asks;
            }
        }
    }

    /// Ranks that are notably slower than the others.
    pub(crate) fn stragglers(&self) -> Vec<Straggler> {
        self.speeds.stragglers()
    }

    /// Lets the ranks go, and waits until they have put things away.
    pub(crate) fn dismiss(mut self) {
        if self.wait {
            self.listener.tell(&Command::Done);
        }
        self.listener.wait_for_the_end();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_few_hosts_as_possible_are_left_out() {
        let check = |pairs: &[[&str; 2]], expected: &[&str]| {
            let pairs: Vec<Vec<String>> = pairs.iter().map(|pair| pair.map(str::to_owned).to_vec()).collect();
            assert_eq!(fewest_to_leave_out(&pairs), expected);
        };
        check(&[], &[]);
        check(&[["b", "c"]], &["c"]);
        check(&[["a", "b"], ["b", "c"], ["b", "d"]], &["b"]);
        check(&[["a", "b"], ["c", "d"]], &["d", "b"]);
    }

    #[test]
    fn pairs_with_a_suspect_are_tried() {
        assert_eq!(pairs(&["a", "b", "c"], &[]), [["a", "b"], ["a", "c"], ["b", "c"]]);
        assert_eq!(pairs(&["a", "b", "c"], &["c".to_owned()]), [["a", "c"], ["b", "c"]]);
        assert_eq!(pairs(&["a", "b"], &["10.0.0.1".to_owned()]), [["a", "b"]], "known by another name");
        assert!(pairs(&["a"], &[]).is_empty());
        assert!(pairs(&["a"; 9], &[]).is_empty());
    }

    #[test]
    fn ranks_on_all_cores_are_warned_of() {
        let said = full_cores(16, 0, 16).unwrap();
        assert!(said.starts_with("16 ranks take all 16 cores") && said.contains("--workers 15"), "{said}");
        let said = full_cores(4, 0, 2).unwrap();
        assert!(said.starts_with("4 ranks share all 2 cores") && said.contains("--workers 1 "), "{said}");
        assert!(full_cores(2, 0, 1).unwrap().starts_with("2 ranks share the one core"));
        assert_eq!([full_cores(15, 0, 16), full_cores(1, 0, 1), full_cores(8, 0, 16)], [None, None, None]);
    }
}
