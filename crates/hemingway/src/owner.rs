//! Which process works on a run, and whether it still does.
//!
//! A process that is killed cannot say so. Its number alone is not enough to tell, because numbers are used again;
//! where the system shows when a process started, that is compared too. A process on another machine cannot be
//! looked at, and counts as alive.

use std::fs;

/// A process on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The process.
    pub pid: u32,
    /// Its machine.
    pub host: String,
    /// When it started, in the system's own ticks; empty where the system does not show it.
    pub started: String,
}

impl Owner {
    /// This process.
    pub fn me() -> Owner {
        let pid = std::process::id();
        Owner { pid, host: host(), started: started(pid).unwrap_or_default() }
    }

    /// Whether it is on a machine that cannot be looked at from here.
    pub fn is_elsewhere(&self) -> bool {
        self.host != host()
    }

    /// Whether it is certain that the process is gone.
    pub fn is_dead(&self) -> bool {
        if self.is_elsewhere() {
            return false;
        }
        match started(self.pid) {
            Some(now) => now != self.started,
            None => !process_exists(self.pid),
        }
    }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Field 22 of `/proc/PID/stat`, counted after the command's name, which may itself contain spaces. A zombie has
/// ended; only its parent does not know yet.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?;
    Some(if matches!(state, "Z" | "X") { "ended".to_owned() } else { started.to_owned() })
}

fn process_exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_am_alive() {
        assert!(!Owner::me().is_dead());
    }

    #[test]
    fn a_reused_number_is_someone_else() {
        assert!(Owner { started: "another time".into(), ..Owner::me() }.is_dead());
    }

    #[test]
    fn other_machines_are_left_alone() {
        assert!(!Owner { host: "elsewhere".into(), started: String::new(), pid: 1 }.is_dead());
    }

    #[test]
    fn a_killed_child_is_dead() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = Owner { pid: child.id(), host: host(), started: started(child.id()).unwrap_or_default() };
        assert!(!owner.is_dead());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(owner.is_dead());
    }
}
