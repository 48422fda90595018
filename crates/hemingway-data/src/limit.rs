//! How much memory this process may use, and sizes as people write them.
//!
//! Where nobody says so, the limit is a share of what the machine has available now, or of what the control group of
//! this process is given, whichever is less. Processes on one machine that load together divide that by their number.
//! A limit on the address space (`ulimit -v`) is the process's own, and holds whatever else is asked for, since beyond
//! it the system refuses memory.

use std::fmt;
use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use crate::cores;

/// The share of available memory that is used: the rest is for the program itself, buffers of the system, and others
/// who start something meanwhile. More risks swapping, less refuses what would fit.
const SHARE: f64 = 0.9;

/// The address space that the allocator sets aside for each thread that allocates, up to [`ARENAS_PER_CORE`] per core.
const ARENA_BYTES: u64 = 64 << 20;
const ARENAS_PER_CORE: usize = 8;

/// How much memory may be used, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLimit {
    /// Bytes, on top of what the process had when this was found out.
    pub bytes: u64,
    /// Where it comes from.
    pub set_by: SetBy,
}

/// Where a limit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// The user.
    Request,
    /// What the machine has available.
    Machine,
    /// The control group, as of a container or a batch job.
    ControlGroup,
    /// `ulimit -v`.
    AddressSpace,
}

impl fmt::Display for SetBy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            SetBy::Request => "set by --memory-limit",
            SetBy::Machine => "90 % of what this machine has available",
            SetBy::ControlGroup => "90 % of what the control group of this process may use",
            SetBy::AddressSpace => "set by ulimit -v",
        })
    }
}

impl MemoryLimit {
    /// The limit of this process, one of `processes` on this machine that share what is asked for, or what there is.
    pub fn new(asked: Option<u64>, processes: usize) -> MemoryLimit {
        let shared = match asked {
            Some(bytes) => Some(MemoryLimit { bytes, set_by: SetBy::Request }),
            None => [available(), control_group()].into_iter().flatten().min_by_key(|limit| limit.bytes),
        };
        let share =
            |limit: MemoryLimit| MemoryLimit { bytes: limit.bytes / processes.max(1) as u64, ..limit };
        let limits = [shared.map(share), address_space()];
        let none = MemoryLimit { bytes: u64::MAX, set_by: SetBy::Machine };
        limits.into_iter().flatten().min_by_key(|limit| limit.bytes).unwrap_or(none)
    }

    /// What is set aside of it for so many threads with stacks of this size, whether they use it or not.
    pub fn set_aside(&self, threads: usize, stack_bytes: u64) -> u64 {
        match self.set_by {
            SetBy::AddressSpace => {
                let arenas = threads.min(ARENAS_PER_CORE * cores()) as u64;
                (threads as u64).saturating_mul(stack_bytes).saturating_add(arenas * ARENA_BYTES)
            }
            _ => 0,
        }
    }
}

fn share(bytes: u64) -> u64 {
    (bytes as f64 * SHARE) as u64
}

/// What the machine has available, or all that it has where the system is too old to tell.
fn available() -> Option<MemoryLimit> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let bytes = meminfo(&text, "MemAvailable").or_else(|| meminfo(&text, "MemTotal"))?;
    Some(MemoryLimit { bytes: share(bytes), set_by: SetBy::Machine })
}

/// `NAME:   123 kB` in bytes.
fn meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

/// The least limit of the groups that this process is in, directly or through the groups above.
fn control_group() -> Option<MemoryLimit> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let files = limit_files(&text);
    let limits = files.iter().filter_map(|file| fs::read_to_string(file).ok());
    let bytes = limits.filter_map(|text| group_limit(&text)).min()?;
    Some(MemoryLimit { bytes: share(bytes), set_by: SetBy::ControlGroup })
}

/// Where the limits stand, from what /proc/self/cgroup says: lines of `HIERARCHY:CONTROLLERS:GROUP`, where version 2 has
/// hierarchy 0 and no controllers. In a container the group's own folder may be the root.
fn limit_files(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let groups = Path::new(group).ancestors().filter_map(|group| group.to_str());
        files.extend(groups.map(|group| match group.trim_matches('/') {
            "" => format!("{root}/{name}"),
            group => format!("{root}/{group}/{name}"),
        }));
    }
    files
}

/// The number in such a file. Version 2 says `max` for none, version 1 a number beyond all machines.
fn group_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < 1 << 60)
}

/// What is left of the address space when the threads that parse have theirs.
fn address_space() -> Option<MemoryLimit> {
    let most = getrlimit(Resource::As).current?;
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0);
    let taken = pages * rustix::param::page_size() as u64 + cores() as u64 * ARENA_BYTES;
    Some(MemoryLimit { bytes: share(most.saturating_sub(taken)), set_by: SetBy::AddressSpace })
}

const UNITS: [(&str, u64); 5] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("bytes", 1)];

/// Bytes in words: `1.5 GiB`.
pub fn size(bytes: u64) -> String {
    let (unit, scale) = UNITS.into_iter().find(|(_, scale)| bytes >= *scale).unwrap_or(("bytes", 1));
    let number = bytes as f64 / scale as f64;
    if number < 10.0 && scale > 1 { format!("{number:.1} {unit}") } else { format!("{number:.0} {unit}") }
}

/// A text that is no size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("“{text}” is not a size; write it like 8G, 500M or 1.5T (powers of 1024)")]
pub struct ParseSizeError {
    /// As written.
    pub text: String,
}

/// A size as people write it: `8G`, `500 MB`, `1.5TiB`, `1000000`; units are powers of 1024.
pub fn parse_size(text: &str) -> Result<u64, ParseSizeError> {
    let wrong = || ParseSizeError { text: text.to_string() };
    let trimmed = text.trim();
    let end = trimmed.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(trimmed.len());
    let number: f64 = trimmed[..end].parse().map_err(|_| wrong())?;
    let scale: u64 = match trimmed[end..].trim_start().to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        "T" | "TB" | "TIB" => 1 << 40,
        _ => return Err(wrong()),
    };
    let bytes = number * scale as f64;
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        let good = [
            ("8G", 8 << 30),
            ("500M", 500 << 20),
            ("1.5 GiB", 3 << 29),
            ("64kb", 64 << 10),
            ("2T", 2 << 40),
            ("1000000", 1_000_000),
            (" 7 B ", 7),
        ];
        for (text, bytes) in good {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in
            ["", "G", "8X", "-1G", "much", "1e9", "nan", "0", "0.1", "1.2.3M", "99999999999999999999T"]
        {
            let message = parse_size(text).unwrap_err().to_string();
            assert!(message.contains(&format!("“{text}” is not a size")), "{message}");
        }
    }

    #[test]
    fn sizes_in_words() {
        let words = [0, 1023, 1536, 8 << 30, 12_884_901_888, 1 << 50].map(size);
        assert_eq!(words, ["0 bytes", "1023 bytes", "1.5 KiB", "8.0 GiB", "12 GiB", "1024 TiB"]);
    }

    const MEMINFO: &str =
        "MemTotal:       16315908 kB\nMemFree:          532340 kB\nMemAvailable:   11003224 kB\n";

    #[test]
    fn what_the_machine_has() {
        assert_eq!(meminfo(MEMINFO, "MemAvailable"), Some(11_003_224 * 1024));
        assert_eq!(meminfo(MEMINFO, "MemTotal"), Some(16_315_908 * 1024));
        assert_eq!(meminfo("Mem: 12\nMemTotal: many kB\n", "MemTotal"), None);
    }

    #[test]
    fn limits_of_control_groups_of_version_2() {
        assert_eq!(
            limit_files("0::/user.slice/job-7.scope\n"),
            [
                "/sys/fs/cgroup/user.slice/job-7.scope/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        assert_eq!(limit_files("0::/\n"), ["/sys/fs/cgroup/memory.max"]);
        assert_eq!((group_limit("max\n"), group_limit("8589934592\n")), (None, Some(8 << 30)));
    }

    #[test]
    fn limits_of_control_groups_of_version_1() {
        let text = "12:cpu,cpuacct:/a\n5:hugetlb,memory:/slurm/job 9\n1:name=systemd:/x:y\nnonsense\n";
        assert_eq!(
            limit_files(text),
            [
                "/sys/fs/cgroup/memory/slurm/job 9/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes"
            ]
        );
        assert_eq!(group_limit("9223372036854771712\n"), None, "which means no limit");
    }

    #[test]
    fn processes_on_one_machine_share_what_is_asked_for() {
        let limit = |processes| MemoryLimit::new(Some(6000), processes);
        assert_eq!((limit(1).bytes, limit(3).bytes), (6000, 2000));
        assert!(MemoryLimit::new(None, 1).bytes > 1 << 20);
    }
}
