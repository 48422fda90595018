//! A program at work, the launcher of ranks or an evaluation: what it says, and how it ends.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Lines of the launcher's own words that are kept for a message.
const KEPT: usize = 12;
/// Once the launcher has ended, its last words are waited for no longer than this.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How often the end of a stream is looked for once the program has ended: both ends come within microseconds.
const BETWEEN_ENDS: Duration = Duration::from_millis(1);
/// How often someone who waits looks up.
const LOOK_UP: Duration = Duration::from_millis(50);

/// A running program. Dropping it ends the program and everything in its process group: a launcher with every rank.
pub(crate) struct Process {
    child: Child,
    guard: Option<Child>,
    commands: Option<ChildStdin>,
    output: Receiver<String>,
    errors: Receiver<String>,
    readers: Vec<JoinHandle<()>>,
    said: VecDeque<String>,
    ended: Option<(ExitStatus, Instant)>,
}

/// What there is to hear.
pub(crate) enum Heard {
    /// A line of output.
    Line(String),
    /// Nothing for now.
    Silence,
    /// Nothing more, ever.
    End(ExitStatus),
}

impl Process {
    pub(crate) fn start(command: Command) -> std::io::Result<Process> {
        Process::start_with_lines(command, u64::MAX)
    }

    /// The same where lines may be endless: longer ones than this come in pieces.
    pub(crate) fn start_with_lines(mut command: Command, longest: u64) -> std::io::Result<Process> {
        // A group of its own: Ctrl-C is for us, and the ranks then end in good order.
        let command = command.process_group(0);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let ((send_output, output), (send_errors, errors)) = (channel(), channel());
        let readers = [
            child.stdout.take().map(|output| pass_on(output, longest, send_output)),
            child.stderr.take().map(|errors| pass_on(errors, longest, send_errors)),
        ];
        let commands = child.stdin.take();
        let readers = readers.into_iter().flatten().collect();
        let (guard, said) = (None, VecDeque::new());
        Ok(Process { child, guard, commands, output, errors, readers, said, ended: None })
    }

    /// From here on the program and everything in its process group end with this process, however it ends: another program in
    /// the group waits for the end of its input, which nobody but this process can write to, and then kills the group.
    pub(crate) fn end_with_us(&mut self) {
        let mut guard = Command::new("sh");
        guard.args(["-c", "read -r nothing; kill -KILL 0"]);
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.guard = i32::try_from(self.child.id()).ok().and_then(|id| guard.process_group(id).spawn().ok());
    }

    /// Writes all that the program will ever be told. It may be long, and the program may read none of it.
    pub(crate) fn tell_all(&mut self, text: String) {
        if let Some(mut commands) = self.commands.take() {
            std::thread::spawn(move || commands.write_all(text.as_bytes()));
        }
    }

    /// Writes a line to rank 0. A launcher that is gone is noticed by whoever listens.
    pub(crate) fn tell(&mut self, line: &str) {
        if let Some(commands) = &mut self.commands {
            let _ = commands.write_all(line.as_bytes()).and_then(|()| commands.write_all(b"\n"));
            let _ = commands.flush();
        }
    }

    /// The next line of output, for a little while.
    pub(crate) fn listen(&mut self) -> Heard {
        match self.output.recv_timeout(LOOK_UP) {
            Ok(line) => Heard::Line(line),
            Err(problem) => {
                if self.ended.is_none()
                    && let Ok(Some(status)) = self.child.try_wait()
                {
                    self.ended = Some((status, Instant::now()));
                }
                // Both streams are read to their ends: why it failed may be on the other one.
                let read = self.readers.iter().all(JoinHandle::is_finished);
                match self.ended {
                    Some((status, since)) if read || since.elapsed() > LAST_WORDS => return Heard::End(status),
                    Some(_) => std::thread::sleep(BETWEEN_ENDS),
                    None if problem == RecvTimeoutError::Disconnected => std::thread::sleep(LOOK_UP),
                    None => {}
                }
                Heard::Silence
            }
        }
    }

    /// Lines on standard error since the last call.
    pub(crate) fn errors(&mut self) -> Vec<String> {
        self.errors.try_iter().collect()
    }

    /// Keeps a line for a message.
    pub(crate) fn keep(&mut self, line: &str) {
        if self.said.len() == KEPT {
            self.said.pop_front();
        }
        self.said.push_back(line.to_owned());
    }

    /// The last of what was kept.
    pub(crate) fn last_words(&self) -> Vec<String> {
        self.said.iter().cloned().collect()
    }
}

impl Drop for Process {
    /// Ends whatever is left: politely, so that the launcher can end its ranks elsewhere, then not.
    fn drop(&mut self) {
        drop(self.commands.take());
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let signal = |signal: Signal| group.map(|group| kill_process_group(group, signal));
        if self.ended.is_none() {
            let _ = signal(Signal::TERM);
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(3) && matches!(self.child.try_wait(), Ok(None)) {
                std::thread::sleep(LOOK_UP);
            }
        }
        let _ = signal(Signal::KILL);
        let _ = self.child.wait();
        if let Some(mut guard) = self.guard.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
        for reader in self.readers.drain(..) {
            // A rank that still holds the pipe would hold us as well.
            if reader.is_finished() {
                let _ = reader.join();
            }
        }
    }
}

fn pass_on(from: impl Read + Send + 'static, longest: u64, to: Sender<String>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        loop {
            let mut line = Vec::new();
            match from.by_ref().take(longest).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => line.pop_if(|last| *last == b'\n'),
            };
            if to.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    })
}

/// How a process ended, in words.
pub(crate) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
