//! What can go wrong, with the value and the next step.

use std::path::PathBuf;

/// The result of anything here.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cluster file cannot be opened.
    #[error("cannot read {}: {error}", path.display())]
    ClusterUnreadable { path: PathBuf, error: std::io::Error },
    /// The cluster file is not what it should be.
    #[error("{}: {reason}", path.display())]
    Cluster { path: PathBuf, reason: String },
    /// The standard input holds no configuration.
    #[error(
        "the configuration on the standard input cannot be read: {0}; it looks like \
         {{\"machines\": {{\"NAME\": {{\"worker\": true, \"ps\": true, \"loads\": {{\"cpu\": 100}}}}}}}}"
    )]
    Configuration(String),
    /// The configuration names a machine that is not in the cluster file.
    #[error("there is no machine `{name}` in the cluster file; it has {known}")]
    UnknownMachine { name: String, known: String },
    /// The configuration names a device that its machine does not have.
    #[error("machine {machine} has no device `{device}`; it has {known}")]
    UnknownDevice { machine: String, device: String, known: String },

    /// Nobody works.
    #[error("no machine is a worker with a load of at least 1 input")]
    NoWorker,
    /// Nobody serves.
    #[error("no machine is a parameter server; set \"ps\": true for at least one")]
    NoServer,
    /// The loads are more than can be counted.
    #[error("the batch, the sum of all loads, is too large; use at most {0} inputs")]
    BatchTooLarge(u64),
    /// As on a device whose memory is too small.
    #[error("out of memory on {machine}: device {device} holds at most {limit} inputs, not {load}")]
    OutOfMemory { machine: String, device: String, load: u64, limit: u64 },
    /// Weights cannot be divided any further.
    #[error("{servers} parameter servers cannot share {parameters} parameters; use at most {parameters}")]
    TooManyServers { servers: usize, parameters: usize },
    /// Control groups were asked for and cannot be used.
    #[error("cannot limit CPU time with control groups: {0}; use --throttle pace")]
    ControlGroup(String),
    /// Network namespaces were asked for and cannot be used.
    #[error("cannot make network namespaces: {0}; they need root, ip and tc; or use network = \"loopback\"")]
    Namespaces(String),
    /// A process could not be started.
    #[error("cannot start a process for machine {machine}: {error}")]
    Start { machine: String, error: std::io::Error },
    /// A machine said why it cannot go on.
    #[error("machine {machine}: {reason}")]
    Machine { machine: String, reason: String },
    /// A machine ended without a word.
    #[error("machine {machine} died: {status}")]
    Died { machine: String, status: String },
    /// The connection to another machine broke, most likely because that one has failed.
    #[error("the connection to machine {peer} broke: {reason}")]
    Peer { peer: String, reason: String },
    /// Something the operating system refused.
    #[error("cannot {what}: {error}")]
    System { what: &'static str, error: std::io::Error },
    /// The time is over.
    #[error("the run did not end within {0} s; raise --limit")]
    Limit(f64),
    /// The time is over before the loss was reached.
    #[error(
        "the loss is {loss:.4} after {iterations} iterations and {seconds:.1} s of training, above {goal}; \
         raise --limit or the loss"
    )]
    LossNotReached { loss: f64, goal: f64, iterations: u64, seconds: f64 },
    /// Not a number any more.
    #[error(
        "the loss diverged after {iterations} iterations; lower problem.learning_rate in the cluster file"
    )]
    Diverged { iterations: u64 },
    /// Ctrl-C or SIGTERM.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// 2 for input that no run could be made of, 130 for an interrupt, 1 for a run that failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::ClusterUnreadable { .. }
            | Error::Cluster { .. }
            | Error::Configuration(_)
            | Error::UnknownMachine { .. }
            | Error::UnknownDevice { .. } => 2,
            Error::Interrupted => 130,
            _ => 1,
        }
    }

    /// Whether another machine is the likely cause.
    pub fn is_consequence(&self) -> bool {
        matches!(self, Error::Peer { .. })
    }
}

/// Names what was tried when the operating system refuses it.
pub fn cannot(what: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    move |error| Error::System { what, error }
}
