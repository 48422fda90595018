//! The processes of the machines, as the head sees them: starts them, talks to them, notices who died, ends them.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::arguments::AS_MACHINE;
use crate::error::{Error, Result, cannot};
use crate::protocol::{Order, Reply};

/// How long to listen for the cause after a machine has lost a connection, which a failure elsewhere may explain.
const POST_MORTEM: Duration = Duration::from_millis(500);

/// All machines of a run; dropping it ends them.
pub struct Fleet {
    members: Vec<Member>,
    events: Receiver<Event>,
    limit: Option<Limit>,
}

/// The process of a machine.
struct Member {
    name: String,
    child: Child,
    orders: ChildStdin,
}

enum Event {
    /// From the member with this index.
    Reply(usize, Reply),
    /// It closed its standard output.
    End(usize),
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

/// When the time is over.
#[derive(Clone, Copy)]
struct Limit {
    seconds: f64,
    at: Instant,
}

impl Fleet {
    /// Starts a process for each name. Interrupts are noticed from now on.
    pub fn start(names: &[&str], limit: Option<f64>) -> Result<Fleet> {
        let (sender, events) = channel();
        let interrupts = sender.clone();
        ctrlc::set_handler(move || drop(interrupts.send(Event::Interrupted)))
            .map_err(|error| cannot("listen for interrupts")(std::io::Error::other(error)))?;
        let limit =
            limit.map(|seconds| Limit { seconds, at: Instant::now() + Duration::from_secs_f64(seconds) });
        let mut fleet = Fleet { members: Vec::new(), events, limit };
        for name in names {
            fleet.members.push(Member::start(name, fleet.members.len(), &sender)?);
        }
        Ok(fleet)
    }

    /// The process numbers.
    pub fn pids(&self) -> Vec<u32> {
        self.members.iter().map(|member| member.child.id()).collect()
    }

    /// Orders one machine.
    pub fn order(&mut self, member: usize, order: &Order) {
        let mut line = serde_json::to_vec(order).expect("orders are plain data");
        line.push(b'\n');
        // A machine that does not listen is dead, and its end is an event.
        let _ = self.members[member].orders.write_all(&line);
    }

    /// Orders all machines.
    pub fn order_all(&mut self, order: &Order) {
        (0..self.members.len()).for_each(|member| self.order(member, order));
    }

    /// Waits for a reply from each machine.
    pub fn gather<T>(&mut self, expected: impl Fn(Reply) -> Option<T>) -> Result<Vec<T>> {
        let mut replies: Vec<Option<T>> = self.members.iter().map(|_| None).collect();
        while replies.iter().any(Option::is_none) {
            match self.next_event(None)? {
                Event::Reply(member, reply @ Reply::Failed { .. }) => {
                    return Err(self.cause(member, Some(reply)));
                }
                Event::Reply(member, reply) => {
                    replies[member] =
                        Some(expected(reply).expect("replies come in the order of the protocol"));
                }
                Event::End(member) => return Err(self.cause(member, None)),
                Event::Interrupted => return Err(Error::Interrupted),
            }
        }
        Ok(replies.into_iter().flatten().collect())
    }

    /// The next event; an error when the time is over, or the run's time.
    fn next_event(&self, until: Option<Instant>) -> Result<Event> {
        let limit = self.limit.map(|limit| limit.at);
        let Some(until) = until.or(limit) else {
            return self
                .events
                .recv()
                .map_err(|_| unreachable!("the interrupt handler keeps the channel open"));
        };
        match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(event) => Ok(event),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(Error::Limit(self.limit.map_or(0.0, |limit| limit.seconds)))
            }
        }
    }

    /// Why a machine failed. If it only lost a connection, others are listened to for a while: one of them may know better.
    fn cause(&mut self, member: usize, reply: Option<Reply>) -> Error {
        let mut error = self.failure(member, reply.as_ref());
        let until = Instant::now() + POST_MORTEM;
        let mut consequence = matches!(reply, Some(Reply::Failed { consequence: true, .. }));
        let mut spoke = vec![member];
        while consequence {
            match self.next_event(Some(until)) {
                Ok(Event::Reply(member, reply @ Reply::Failed { .. })) => {
                    spoke.push(member);
                    if let Reply::Failed { consequence: false, .. } = reply {
                        (error, consequence) = (self.failure(member, Some(&reply)), false);
                    }
                }
                // Those that told of a failure end after it.
                Ok(Event::End(member)) if !spoke.contains(&member) => {
                    (error, consequence) = (self.failure(member, None), false);
                }
                Ok(Event::Interrupted) => return Error::Interrupted,
                Ok(_) => {}
                Err(_) => break,
            }
        }
        error
    }

    fn failure(&mut self, member: usize, reply: Option<&Reply>) -> Error {
        let Member { name, child, .. } = &mut self.members[member];
        let machine = name.clone();
        match reply {
            Some(Reply::Failed { reason, .. }) => Error::Machine { machine, reason: reason.clone() },
            _ => {
                // It closed its output, so it has ended, or is about to.
                let _ = child.kill();
                Error::Died { machine, status: child.wait().map_or_else(|error| error.to_string(), describe) }
            }
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for member in &mut self.members {
            let _ = member.child.kill();
        }
        for member in &mut self.members {
            let _ = member.child.wait();
        }
    }
}

impl Member {
    fn start(name: &str, at: usize, events: &Sender<Event>) -> Result<Member> {
        let start = || {
            Command::new(std::env::current_exe()?)
                .arg(format!("--{AS_MACHINE}"))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                // Ctrl-C on a terminal is for the head, which ends the others.
                .process_group(0)
                .spawn()
        };
        let mut child = start().map_err(|error| Error::Start { machine: name.to_owned(), error })?;
        let orders = child.stdin.take().expect("it was asked for");
        let output = child.stdout.take().expect("it was asked for");
        let events = events.clone();
        std::thread::spawn(move || listen(at, output, &events));
        Ok(Member { name: name.to_owned(), child, orders })
    }
}

/// Passes on what a machine says until it ends. If nobody listens, the run is over.
fn listen(member: usize, output: ChildStdout, events: &Sender<Event>) {
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { break };
        // A machine that is killed may stop in the middle of a line.
        let Ok(reply) = serde_json::from_str(&line) else { break };
        if events.send(Event::Reply(member, reply)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::End(member));
}

fn describe(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("its process was ended by signal {signal}"),
        None => format!("its process ended with exit code {}", status.code().unwrap_or_default()),
    }
}
