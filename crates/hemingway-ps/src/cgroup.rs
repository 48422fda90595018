//! Control groups that limit the CPU time of devices, versions 1 and 2.
//!
//! The folders are `hemingway-ps-PID/MACHINE/DEVICE` in the control group that this process is in. They are removed at the
//! end of the run; what a killed run left behind is removed by the next one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

const PREFIX: &str = "hemingway-ps-";

/// Microseconds of a period. The kernel's default of 100 ms is as long as an iteration.
const PERIOD: f64 = 10_000.0;
/// The least quota that the kernel accepts.
const LEAST_QUOTA: f64 = 1_000.0;

/// The control groups of a run; dropping it removes them.
pub struct Groups {
    version: Version,
    folder: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Version {
    One,
    Two,
}

/// The control group of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    version: Version,
    folder: PathBuf,
}

impl Groups {
    /// Makes the folder of this run, where control groups can be written.
    pub fn create() -> Result<Groups> {
        let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let (version, parent) = parent(&memberships)
            .ok_or_else(|| Error::ControlGroup("there is no cpu controller under /sys/fs/cgroup".into()))?;
        remove_abandoned(&parent);
        let folder = parent.join(format!("{PREFIX}{}", std::process::id()));
        let groups = Groups { version, folder };
        let made = || {
            groups.pass_on(&parent)?;
            fs::create_dir(&groups.folder)?;
            groups.pass_on(&groups.folder)
        };
        made().map_err(|error| refused(&groups.folder, &error))?;
        Ok(groups)
    }

    /// A group with a share of a core for a device of a machine.
    pub fn add(&self, machine: usize, device: &str, share: f64) -> Result<Group> {
        let machine = self.folder.join(machine.to_string());
        let folder = machine.join(device);
        let made = || {
            fs::create_dir_all(&machine)?;
            self.pass_on(&machine)?;
            fs::create_dir(&folder)?;
            self.limit(&folder, share)
        };
        made().map_err(|error| refused(&folder, &error))?;
        Ok(Group { version: self.version, folder })
    }

    /// Version 2 hands the controller down folder by folder.
    fn pass_on(&self, folder: &Path) -> io::Result<()> {
        match self.version {
            Version::One => Ok(()),
            Version::Two => fs::write(folder.join("cgroup.subtree_control"), "+cpu"),
        }
    }

    fn limit(&self, folder: &Path, share: f64) -> io::Result<()> {
        let (quota, period) = quota(share);
        match self.version {
            Version::One => {
                fs::write(folder.join("cpu.cfs_period_us"), period.to_string())?;
                fs::write(folder.join("cpu.cfs_quota_us"), quota.to_string())
            }
            Version::Two => {
                fs::write(folder.join("cgroup.type"), "threaded")?;
                fs::write(folder.join("cpu.max"), format!("{quota} {period}"))
            }
        }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        // A group can be removed once the kernel has buried its last thread.
        for _ in 0..100 {
            if remove(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        eprintln!("warning: cannot remove {}; the next run will try again", self.folder.display());
    }
}

impl Group {
    /// Prepares for threads of this process: in version 2 they can only be moved below the group of their process.
    pub fn admit_this_process(&self) -> Result<()> {
        let machine = self.folder.parent().expect("a device is below its machine");
        match self.version {
            Version::One => Ok(()),
            Version::Two => fs::write(machine.join("cgroup.procs"), std::process::id().to_string())
                .map_err(|error| refused(machine, &error)),
        }
    }

    /// Moves the calling thread into the group.
    pub fn admit_this_thread(&self) -> Result<()> {
        let file = match self.version {
            Version::One => self.folder.join("tasks"),
            Version::Two => self.folder.join("cgroup.threads"),
        };
        let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
        fs::write(&file, thread).map_err(|error| refused(&file, &error))
    }
}

/// Quota and period in microseconds.
fn quota(share: f64) -> (u64, u64) {
    let quota = (share * PERIOD).max(LEAST_QUOTA);
    (quota.round() as u64, (quota / share).round() as u64)
}

/// The group that this process is in, from /proc/self/cgroup: lines of ID:CONTROLLERS:PATH, where version 2 names no
/// controllers.
fn parent(memberships: &str) -> Option<(Version, PathBuf)> {
    let mut lines = memberships.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?.trim_start_matches('/')))
    });
    if let Some((controllers, path)) =
        lines.clone().find(|(names, _)| names.split(',').any(|name| name == "cpu"))
    {
        let mounts = [controllers, "cpu", "cpu,cpuacct"].map(|mount| Path::new("/sys/fs/cgroup").join(mount));
        let mount = mounts.into_iter().find(|mount| mount.is_dir())?;
        return Some((Version::One, mount.join(path)));
    }
    let (_, path) = lines.find(|(names, _)| names.is_empty())?;
    Some((Version::Two, Path::new("/sys/fs/cgroup").join(path)))
}

fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            // If somebody is still in it, the next run tries again.
            let _ = remove(&entry.path());
        }
    }
}

/// Control groups are removed one folder at a time; the files in them are not real.
fn remove(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(folder)
}

fn refused(folder: &Path, error: &io::Error) -> Error {
    Error::ControlGroup(format!("{}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_keep_the_share() {
        assert_eq!(quota(0.25), (2500, 10_000));
        assert_eq!(quota(0.05), (1000, 20_000));
    }

    #[test]
    fn the_parent_is_found_in_both_versions() {
        let two = parent("0::/user.slice/session.scope\n").unwrap();
        assert_eq!(two, (Version::Two, "/sys/fs/cgroup/user.slice/session.scope".into()));
        assert_eq!(parent("3:memory:/\n"), None);
    }

    #[test]
    fn version_two_hands_the_controller_down() {
        let root = tempfile::tempdir().unwrap();
        let groups = Groups { version: Version::Two, folder: root.path().join("run") };
        fs::create_dir(&groups.folder).unwrap();
        let group = groups.add(3, "cpu", 0.2).unwrap();
        let read = |file: &Path| fs::read_to_string(file).unwrap();
        assert_eq!(read(&group.folder.join("cpu.max")), "2000 10000");
        assert_eq!(read(&group.folder.join("cgroup.type")), "threaded");
        assert_eq!(read(&root.path().join("run/3/cgroup.subtree_control")), "+cpu");
        // Here the files are real, so nothing but the test itself can remove them.
        std::mem::forget(groups);
    }
}
