//! Which command starts the ranks.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::hosts::Hosts;
use crate::Error;

/// A rank that waits for others offers its core to whoever needs it, at each look whether they have come. Where all cores
/// are taken this is whoever the others wait for; where one is free it makes short sums a little slower.
const YIELD: &str = "OMPI_MCA_mpi_yield_when_idle";

/// The worker's program, beside this one or on the path.
const WORKER: &str = "hemingway-worker";

/// How ranks are started: by the user's own words, by what the allocation offers, or by `mpirun`.
#[derive(Debug, Clone)]
pub(super) struct Launcher {
    words: Vec<String>,
    chosen: bool,
    worker: PathBuf,
}

impl Launcher {
    pub(super) fn new(asked: Option<&str>) -> Result<Launcher, Error> {
        let words = match asked {
            Some(text) => shlex::split(text)
                .filter(|words| !words.is_empty())
                .ok_or_else(|| Error::LauncherWords { text: text.to_owned() })?,
            // Inside a Slurm allocation srun knows the nodes; mpirun finds those of other schedulers by itself.
            None if env::var_os("SLURM_JOB_ID").is_some() && on_path("srun").is_some() => {
                vec!["srun".to_owned()]
            }
            None => vec!["mpirun".to_owned()],
        };
        Ok(Launcher { words, chosen: asked.is_some(), worker: worker()? })
    }

    /// The program that is run.
    pub(super) fn program(&self) -> &str {
        &self.words[0]
    }

    fn is_srun(&self) -> bool {
        Path::new(self.program()).file_name().is_some_and(|name| name == "srun")
    }

    /// The command that starts so many ranks of the worker.
    pub(super) fn ranks(
        &self,
        workers: usize,
        hosts: Option<&Hosts>,
        words: &[&str],
    ) -> Result<Command, Error> {
        let mut command = self.on(hosts)?;
        if self.may_fill_cores(workers, hosts) && env::var_os(YIELD).is_none() {
            command.env(YIELD, "1");
        }
        command.arg("-n").arg(workers.to_string()).arg(&self.worker).args(words);
        Ok(command)
    }

    /// How many cores of this machine the ranks may use, if they are started here and nowhere else.
    pub(super) fn cores_here(&self, hosts: Option<&Hosts>) -> Option<usize> {
        let here = hosts.is_none() && !self.chosen && !self.is_srun();
        here.then(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Whether a host may have no core left but those of the ranks. What is elsewhere is not known, and as many slots as
    /// cores are usual.
    fn may_fill_cores(&self, workers: usize, hosts: Option<&Hosts>) -> bool {
        self.cores_here(hosts).is_none_or(|cores| workers >= cores)
    }

    /// The command that tells whether hosts can be reached, and several whether they reach one another.
    pub(super) fn probe(&self, hosts: &[String]) -> Command {
        let mut command = self.begin();
        command.args(["--host", &hosts.join(","), "-n", &hosts.len().to_string()]);
        match hosts.len() {
            1 => command.arg("true"),
            _ => command.arg(&self.worker).arg("--check"),
        };
        command
    }

    fn on(&self, hosts: Option<&Hosts>) -> Result<Command, Error> {
        let mut command = self.begin();
        match hosts {
            Some(_) if self.is_srun() => return Err(Error::HostsWithSrun),
            Some(hosts) => {
                command.arg("--host").arg(hosts.list());
            }
            // More ranks than cores is slow, but it is what was asked for.
            None => {
                command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
                if self.stays_here() {
                    set(&mut command, "OMPI_MCA_btl", "self,vader");
                    set(&mut command, "OMPI_MCA_oob_tcp_if_include", "127.0.0.0/8");
                }
            }
        }
        Ok(command)
    }

    /// Whether ranks without hosts are all on this machine: the user names no launcher of their own, and nothing around us
    /// tells `mpirun` of other machines. Then ranks share memory, and none of them listens to the network.
    fn stays_here(&self) -> bool {
        !self.chosen && !self.is_srun() && !ALLOCATIONS.iter().any(|name| env::var_os(name).is_some())
    }

    /// Settings go into the environment, which every MPI but the one they are meant for ignores.
    fn begin(&self) -> Command {
        let mut command = Command::new(self.program());
        command.args(&self.words[1..]);
        let mut set = |name: &str, value: &str| set(&mut command, name, value);
        // Containers know no other user than root.
        set("OMPI_ALLOW_RUN_AS_ROOT", "1");
        set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        // A host that has vanished is noticed within seconds.
        set("OMPI_MCA_oob_tcp_keepalive_time", "3");
        set("OMPI_MCA_oob_tcp_keepalive_intvl", "1");
        set("OMPI_MCA_oob_tcp_keepalive_probes", "3");
        if !self.chosen {
            // ssh asks nobody for a password, and does not wait for hosts that are not there.
            set("OMPI_MCA_plm_rsh_args", "-o BatchMode=yes -o ConnectTimeout=5");
        }
        command
    }
}

/// Where `mpirun` finds machines by itself: hosts files, and the allocations of Slurm, PBS, LSF and Grid Engine.
const ALLOCATIONS: [&str; 6] = [
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_hostfile",
    "SLURM_JOB_ID",
    "PBS_NODEFILE",
    "LSB_HOSTS",
    "PE_HOSTFILE",
];

/// A setting, unless the user has another one.
fn set(command: &mut Command, name: &str, value: &str) {
    if env::var_os(name).is_none() {
        command.env(name, value);
    }
}

/// `HEMINGWAY_WORKER`, beside this program, or on the path.
fn worker() -> Result<PathBuf, Error> {
    if let Some(named) = env::var_os("HEMINGWAY_WORKER").map(PathBuf::from) {
        return if named.is_file() { Ok(named) } else { Err(Error::NoWorkerProgram { tried: named }) };
    }
    let beside = env::current_exe().ok().map(|program| program.with_file_name(WORKER));
    beside
        .filter(|program| program.is_file())
        .or_else(|| on_path(WORKER))
        .ok_or_else(|| Error::NoWorkerProgram { tried: PathBuf::from(WORKER) })
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher(words: &[&str], chosen: bool) -> Launcher {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Launcher { words, chosen, worker: PathBuf::from("worker") }
    }

    fn yields(launcher: &Launcher, workers: usize, hosts: Option<&Hosts>) -> bool {
        let command = launcher.ranks(workers, hosts, &[]).unwrap();
        command.get_envs().any(|(name, value)| name == YIELD && value.is_some_and(|value| value == "1"))
    }

    #[test]
    fn ranks_spin_only_where_a_core_is_known_to_be_left() {
        let cores = std::thread::available_parallelism().unwrap().get();
        let mpirun = launcher(&["mpirun"], false);
        assert!(yields(&mpirun, cores, None) && yields(&mpirun, 2 * cores, None));
        assert!(cores == 1 || !yields(&mpirun, cores - 1, None));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hosts");
        std::fs::write(&file, "other slots=1\n").unwrap();
        assert!(yields(&mpirun, 1, Some(&Hosts::read(&file).unwrap())), "cores elsewhere are not known");
        assert!(yields(&launcher(&["mpirun", "--hostfile", "all"], true), 1, None));
        assert!(yields(&launcher(&["srun"], false), 1, None));
    }
}
