//! What ranks say, until they have ended or died.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hemingway_train::Seconds;
use hemingway_train::protocol::{Beat, Command, Failure, Message, PROTOCOL, Rank};

use super::launcher::Launcher;
use super::pulse::{Pulse, Trouble};
use crate::process::{Heard, Process, describe};
use crate::{Error, GRACE};

/// Ranks that have not all said hello after this long will not.
const START: Duration = Duration::from_secs(60);
/// A launcher that is done takes no longer than this to put things away.
const PUT_AWAY: Duration = Duration::from_secs(8);

/// What the ranks say, and what it means when they no longer do.
pub(super) struct Listener {
    pub process: Process,
    program: String,
    begun: Instant,
    /// Where they are, once they have said hello.
    pub ranks: Vec<Rank>,
    /// Those who are servers in the present stage; the others are workers, whether they take part in it or not.
    pub servers: Vec<usize>,
    pub pulse: Pulse,
    failure: Option<Failure>,
    /// When the ranks were asked to end, or last said something after that.
    stopping: Option<Instant>,
}

impl Listener {
    pub(super) fn start(
        launcher: &Launcher,
        command: std::process::Command,
        patience: Option<Seconds>,
    ) -> Result<Listener, Error> {
        let program = launcher.program().to_owned();
        let process = Process::start(command)
            .map_err(|source| Error::NoLauncher { program: program.clone(), source })?;
        let begun = Instant::now();
        let pulse = Pulse::new(patience);
        let (ranks, servers) = (Vec::new(), Vec::new());
        Ok(Listener { process, program, begun, ranks, servers, pulse, failure: None, stopping: None })
    }

    pub(super) fn greet(&mut self, interrupt: Option<&AtomicBool>) -> Result<(), Error> {
        match self.next(interrupt)? {
            Message::Hello { protocol, version, ranks } => {
                self.check_version(protocol, &version)?;
                self.pulse.expect(ranks.len());
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

    /// Tells rank 0 what to do.
    pub(super) fn tell(&mut self, command: &Command) {
        self.process.tell(&serde_json::to_string(command).expect("a command is plain data"));
    }

    /// The next message; while there is none, an interruption is passed on, and ranks are watched.
    pub(super) fn next(&mut self, interrupt: Option<&AtomicBool>) -> Result<Message, Error> {
        loop {
            self.stop_if_asked(interrupt)?;
            let heard = self.process.listen();
            self.look_at_errors();
            match heard {
                Heard::Line(line) => match serde_json::from_str(&line) {
                    Ok(message) => {
                        self.note(&message);
                        return Ok(message);
                    }
                    // Half a line: whoever wrote it died meanwhile, as will be seen.
                    Err(error) if error.is_eof() && !line.is_empty() => {}
                    Err(error) => return Err(self.version_in(&line).unwrap_or_else(|| self.garbled(&error))),
                },
                Heard::Silence => self.check_life()?,
                Heard::End(status) => return Err(self.ended(&describe(status))),
            }
        }
    }

    /// Asks the ranks to end once the user wants that, and does not wait for them for long.
    fn stop_if_asked(&mut self, interrupt: Option<&AtomicBool>) -> Result<(), Error> {
        match self.stopping {
            None if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) => {
                self.stopping = Some(Instant::now());
                self.tell(&Command::Stop);
            }
            Some(since) if since.elapsed() > GRACE => return Err(Error::Interrupted),
            _ => {}
        }
        Ok(())
    }

    fn note(&mut self, message: &Message) {
        match message {
            Message::Point(_) => self.pulse.score(),
            // What follows may be of another kind, and take longer.
            Message::Loaded(_) | Message::Finished { .. } => self.pulse.begin_stage(),
            _ => self.pulse.go_forward(),
        }
        self.stopping = self.stopping.map(|_| Instant::now());
    }

    fn check_life(&mut self) -> Result<(), Error> {
        if self.ranks.is_empty() {
            return if self.begun.elapsed() > START { Err(self.do_not_start()) } else { Ok(()) };
        }
        match self.pulse.look() {
            Some(trouble) => Err(self.troubled(trouble)),
            None => Ok(()),
        }
    }

    fn do_not_start(&self) -> Error {
        let (program, words) = (self.program.clone(), self.process.last_words());
        Error::RanksDoNotStart { program, seconds: START.as_secs(), words }
    }

    fn troubled(&self, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Silent { ranks, seconds } => {
                let (who, note) = (self.named(&ranks), self.note_on_own_network(&ranks));
                Error::RanksSilent { who, seconds, note }
            }
            Trouble::Standstill { behind, seconds } => {
                let (hosts, suspects) = (hosts_of(&self.ranks), self.hosts(&behind));
                let behind = (!behind.is_empty()).then(|| self.named(&behind));
                Error::Standstill { hosts, behind, suspects, seconds }
            }
            Trouble::Endless { ranks, seconds } => Error::RoundTooLong { who: self.named(&ranks), seconds },
        }
    }

    /// Ranks with their hosts, in words.
    fn named(&self, ranks: &[usize]) -> String {
        let name = |rank: &usize| match self.ranks.get(*rank) {
            Some(Rank { host, .. }) => format!("{} on {host}", self.role(*rank)),
            None => self.role(*rank),
        };
        ranks.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// What a rank is in the present stage.
    fn role(&self, rank: usize) -> String {
        match self.servers.iter().position(|server| *server == rank) {
            Some(server) => format!("server {server}"),
            None => format!("worker {rank}"),
        }
    }

    /// The hosts on which all ranks are among these.
    fn hosts(&self, ranks: &[usize]) -> Vec<String> {
        let others = (0..self.ranks.len()).filter(|rank| !ranks.contains(rank));
        let others: Vec<&str> = others.map(|rank| self.ranks[rank].host.as_str()).collect();
        let mut hosts = hosts_of(ranks.iter().filter_map(|rank| self.ranks.get(*rank)));
        hosts.retain(|host| !others.contains(&host.as_str()));
        hosts
    }

    /// Whoever hears nothing from anywhere else may be the one that is cut off.
    fn note_on_own_network(&self, silent: &[usize]) -> String {
        let here = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let elsewhere = |rank: &usize| self.ranks.get(*rank).is_some_and(|rank| rank.host != here);
        let all_elsewhere = (0..self.ranks.len()).filter(elsewhere).all(|rank| silent.contains(&rank));
        match all_elsewhere && silent.iter().all(elsewhere) {
            true => {
                format!("; nothing is heard from any other host, so the network of {here} itself may be down")
            }
            false => String::new(),
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
            // Launchers pass on pieces, so that a line of one rank may follow half a line of another.
            let (before, event) = line.split_at(line.find(EVENT).unwrap_or(line.len()));
            if let Ok(beat) = serde_json::from_str::<Beat>(event) {
                self.pulse.hear(beat);
                if !before.is_empty() {
                    self.process.keep(before);
                }
                continue;
            }
            self.process.keep(&line);
            // Several ranks may fail of the same cause; the first rank has read the earliest line.
            if let Ok(failure) = serde_json::from_str::<Failure>(event)
                && self.failure.as_ref().is_none_or(|known| failure.rank < known.rank)
            {
                self.failure = Some(failure);
            }
        }
    }

    /// Why the launcher has ended before its time.
    fn ended(&mut self, how: &str) -> Error {
        let suspects = self.pulse.suspects();
        self.look_at_errors();
        let words = self.process.last_words();
        if let Some(failure) = self.failure.take() {
            return Error::RankFailed { who: self.role(failure.rank), failure };
        }
        let how = format!("{} {how}", self.program);
        match lost_rank(&words) {
            Some(Lost::Rank(rank)) => Error::RankLost { who: self.named(&[rank]), how },
            Some(Lost::Host(host)) => {
                let mut hosts = self.hosts(&suspects);
                if !hosts.contains(&host) {
                    hosts.insert(0, host);
                }
                Error::HostLost { hosts, how, note: self.note_on_own_network(&suspects) }
            }
            None if self.ranks.is_empty() => Error::RanksNotStarted { how, words },
            None => Error::RanksLost { how, words },
        }
    }

    pub(super) fn garbled(&self, error: &dyn std::fmt::Display) -> Error {
        Error::Garbled { program: self.program.clone(), problem: error.to_string() }
    }

    pub(super) fn unexpected(&self, message: &Message) -> Error {
        let text = format!("{message:?}");
        let start: String = text.chars().take(40).collect();
        self.garbled(&format!("`{start}…` is out of order"))
    }

    /// The launcher still has to put things away.
    pub(super) fn wait_for_the_end(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < PUT_AWAY && !matches!(self.process.listen(), Heard::End(_)) {}
    }
}

/// How what ranks say on standard error begins, other than words for people.
const EVENT: &str = "{\"event\":";

/// Their names, each once.
fn hosts_of<'a>(ranks: impl IntoIterator<Item = &'a Rank>) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for rank in ranks {
        if !hosts.contains(&rank.host) {
            hosts.push(rank.host.clone());
        }
    }
    hosts
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
    // The daemon of the launcher itself is named first.
    let host = || {
        words.iter().find(|line| line.contains("lost communication"))?;
        let remote = words.iter().position(|line| line.contains("Remote daemon"))?;
        words[remote..].iter().find_map(|line| Some(line.split_once("on node")?.1.trim().to_owned()))
    };
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
        assert_eq!(lost(daemon), Some(Lost::Host("h3".to_owned())));
        assert_eq!(lost("something else"), None);
    }
}
