//! The machines that ranks may run on.

use std::path::{Path, PathBuf};

use crate::Error;

/// A hosts file: one machine per line, as `mpirun --hostfile` reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hosts {
    file: PathBuf,
    /// Names with the number of ranks each takes, and the line as written.
    hosts: Vec<Host>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub name: String,
    pub slots: usize,
}

impl Hosts {
    pub(super) fn read(file: &Path) -> Result<Hosts, Error> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| Error::Read { file: file.to_path_buf(), source })?;
        let mut hosts = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let mut words = content.split_whitespace();
            if let Some(name) = words.next() {
                let slots = words.find_map(|word| word.strip_prefix("slots=")).unwrap_or("1");
                let bad = || Error::Hosts {
                    file: file.to_path_buf(),
                    line: number + 1,
                    problem: format!("`slots={slots}` is not a positive number"),
                };
                let slots = slots.parse().ok().filter(|slots| *slots > 0).ok_or_else(bad)?;
                hosts.push(Host { name: name.to_owned(), slots });
            }
        }
        if hosts.is_empty() {
            let problem = "it names no host".to_owned();
            return Err(Error::Hosts { file: file.to_path_buf(), line: 1, problem });
        }
        Ok(Hosts { file: file.to_path_buf(), hosts })
    }

    /// How many ranks they take.
    pub(super) fn slots(&self) -> usize {
        self.hosts.iter().map(|host| host.slots).sum()
    }

    pub(super) fn check(&self, workers: usize, servers: usize) -> Result<(), Error> {
        let (ranks, slots) = (workers + servers, self.slots());
        if ranks > slots {
            let counted =
                |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
            let workers = counted(workers, "worker");
            let wanted = match servers {
                0 => format!("{workers} are wanted"),
                _ => format!("{workers} and {} are wanted, {ranks} ranks", counted(servers, "server")),
            };
            let problem = format!("its hosts take {slots} ranks in all, but {wanted}");
            return Err(Error::Hosts { file: self.file.clone(), line: self.hosts.len(), problem });
        }
        Ok(())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.name.as_str())
    }

    /// Without the hosts that are gone.
    pub(super) fn without(&self, gone: &[String]) -> Hosts {
        let hosts = self.hosts.iter().filter(|host| !gone.contains(&host.name)).cloned().collect();
        Hosts { file: self.file.clone(), hosts }
    }

    /// As `mpirun --host` takes them.
    pub(super) fn list(&self) -> String {
        let hosts: Vec<String> =
            self.hosts.iter().map(|host| format!("{}:{}", host.name, host.slots)).collect();
        hosts.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Hosts, Error> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hosts");
        std::fs::write(&file, text).unwrap();
        Hosts::read(&file)
    }

    #[test]
    fn names_and_slots() {
        let hosts = read("# mine\none slots=2\n\ntwo   # with a remark\n").unwrap();
        assert_eq!((hosts.slots(), hosts.list().as_str()), (3, "one:2,two:1"));
        assert!(hosts.check(3, 0).is_ok() && hosts.check(2, 1).is_ok());
        let message = hosts.check(3, 1).unwrap_err().to_string();
        assert!(message.contains("3 workers and 1 server are wanted, 4 ranks"), "{message}");
        let message = hosts.check(4, 0).unwrap_err().to_string();
        assert!(message.contains("3 ranks") && message.contains("4 workers"), "{message}");
        assert_eq!(hosts.without(&["one".to_owned()]).list(), "two:1");
    }

    #[test]
    fn mistakes_name_their_line() {
        let message = read("one\ntwo slots=many\n").unwrap_err().to_string();
        assert!(message.contains(":2:") && message.contains("slots=many"), "{message}");
        let message = read("# nobody\n").unwrap_err().to_string();
        assert!(message.contains("names no host"), "{message}");
    }
}
