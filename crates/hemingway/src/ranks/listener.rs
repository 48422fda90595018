//! What ranks say, until they have ended or died.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hemingway_train::protocol::{Command, Failure, Message, PROTOCOL, Rank};

use super::launcher::Launcher;
use super::process::{Heard, Process, describe};
use crate::Error;

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
    failure: Option<Failure>,
    stopping: bool,
}

impl Listener {
    pub(super) fn start(launcher: &Launcher, command: std::process::Command) -> Result<Listener, Error> {
        let program = launcher.program().to_owned();
        let process = Process::start(command)
            .map_err(|source| Error::NoLauncher { program: program.clone(), source })?;
        let begun = Instant::now();
        Ok(Listener { process, program, begun, ranks: Vec::new(), failure: None, stopping: false })
    }

    pub(super) fn greet(&mut self) -> Result<(), Error> {
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

    /// Tells rank 0 what to do.
    pub(super) fn tell(&mut self, command: &Command) {
        self.process.tell(&serde_json::to_string(command).expect("a command is plain data"));
    }

    /// The next message; while there is none, an interruption is passed on.
    pub(super) fn next(&mut self, interrupt: Option<&AtomicBool>) -> Result<Message, Error> {
        loop {
            if !self.stopping && interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                self.stopping = true;
                self.tell(&Command::Stop);
            }
            match self.process.listen() {
                Heard::Line(line) => match serde_json::from_str(&line) {
                    Ok(message) => return Ok(message),
                    // Half a line: whoever wrote it died meanwhile, as will be seen.
                    Err(error) if error.is_eof() && !line.is_empty() => {}
                    Err(error) => return Err(self.version_in(&line).unwrap_or_else(|| self.garbled(&error))),
                },
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
