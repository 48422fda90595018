//! What can go wrong in training, with the value and the next step.

use hemingway_data::Difference;

/// An error of training.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// λ makes no strongly convex problem.
    #[error("lambda has to be a positive number, not {0}; try 1e-4")]
    Lambda(f64),
    /// No workers.
    #[error("at least one worker is needed, not {0}")]
    NoWorkers(usize),
    /// A worker without rows has nothing to do.
    #[error("{workers} workers are more than the {rows} rows of the data; use at most {rows}")]
    TooManyWorkers {
        /// Asked for.
        workers: usize,
        /// Rows there are.
        rows: usize,
    },
    /// No row counts.
    #[error("all rows have weight 0, so there is nothing to learn; give at least one row a positive weight")]
    NoWeight,
    /// Not in the catalogue.
    #[error("there is no algorithm `{name}`{}; `hemingway algorithms` lists them", nearest(.suggestion))]
    UnknownAlgorithm {
        /// As written.
        name: String,
        /// The nearest name there is.
        suggestion: Option<&'static str>,
    },
    /// A loss where an algorithm should be.
    #[error("`{name}` is a loss, not an algorithm; use --loss {loss}, with any algorithm or none named")]
    LossForAlgorithm {
        /// As written.
        name: String,
        /// The loss.
        loss: &'static str,
    },
    /// Not a loss.
    #[error("there is no loss `{name}`{}; choose hinge, smoothed-hinge, logistic or squared", nearest(.suggestion))]
    UnknownLoss {
        /// As written.
        name: String,
        /// The nearest name there is.
        suggestion: Option<&'static str>,
    },
    /// A hyperparameter outside its range.
    #[error("{parameter} = {value} is out of range: {expected}")]
    Parameter {
        /// Its name on the command line.
        parameter: &'static str,
        /// As given.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// A hyperparameter that the algorithm does not have.
    #[error("{algorithm} has no {parameter}; leave it out, or use --algorithm {}", any_of(takers))]
    UnusedParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter's name on the command line.
        parameter: &'static str,
        /// The algorithms that have it.
        takers: Vec<&'static str>,
    },
    /// A hyperparameter that only some algorithms have, and none of them is named.
    #[error(
        "{parameter} needs an algorithm that has it; use --algorithm {}, or leave it out",
        any_of(takers)
    )]
    UnnamedAlgorithm {
        /// The parameter's name on the command line.
        parameter: &'static str,
        /// The algorithms that have it.
        takers: Vec<&'static str>,
    },
    /// An algorithm whose cost grows too fast with the features.
    #[error("{algorithm} takes at most {most} features, not {features}; use l-bfgs")]
    TooManyFeatures {
        /// The algorithm.
        algorithm: &'static str,
        /// Features there are, with the bias.
        features: usize,
        /// Features it takes.
        most: usize,
    },
    /// The engine lacks something.
    #[error("the {engine} engine cannot run {algorithm}: it offers no {needs}; use --engine {}", can.join(" or "))]
    Unsupported {
        /// The engine.
        engine: String,
        /// The algorithm.
        algorithm: &'static str,
        /// What is missing.
        needs: &'static str,
        /// The engines that can.
        can: Vec<&'static str>,
    },
    /// A method without rounds on an engine for rounds.
    #[error("this engine has nothing that workers share without waiting")]
    NothingShared,
    /// A cluster file that cannot be used.
    #[error("cluster file {file}: {message}")]
    Cluster {
        /// Where it is.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// A mixing matrix that cannot be used.
    #[error("mixing matrix {file}: {message}")]
    Topology {
        /// Where it is.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// A mixing matrix for another number of workers.
    #[error("the mixing matrix is for {rows} workers, not for {workers}; use --workers {rows}")]
    TopologySize {
        /// Rows it has.
        rows: usize,
        /// Workers there are.
        workers: usize,
    },
    /// More workers than the simulated cluster has places for.
    #[error("{workers} workers do not fit on the cluster: its machines have {places} cores in all")]
    ClusterTooSmall {
        /// Asked for.
        workers: usize,
        /// Cores there are.
        places: usize,
    },
    /// More memory than there is.
    #[error("{0}: use fewer workers, another algorithm, or another --memory-limit")]
    Memory(String),
    /// The system would not start a thread.
    #[error("the thread of worker {rank} could not be started: {error}; use fewer workers")]
    Spawn {
        /// Which worker.
        rank: usize,
        /// What the system said.
        error: std::io::Error,
    },
    /// A checkpoint of another job.
    #[error("this checkpoint does not fit the job: {0}")]
    Checkpoint(String),
    /// A checkpoint of other data.
    #[error("this checkpoint was made on other data: {0}")]
    OtherData(Difference),
    /// A proof that cannot be one.
    #[error(
        "internal error: the lower bound {dual} is above the objective {primal} that was reached, so one of them is \
         wrong and nothing is proved; please report it with the command and the data"
    )]
    Crossed {
        /// The objective.
        primal: f64,
        /// What no objective should be below.
        dual: f64,
    },
    /// Another worker failed first.
    #[error("another worker stopped")]
    WorkerLost,
    /// Whoever watched the run could not go on (a full disk, say).
    #[error("{0}")]
    Observer(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Whether what was asked for cannot be done as written, rather than something failing on the way.
    pub fn is_bad_input(&self) -> bool {
        !matches!(
            self,
            Error::Spawn { .. }
                | Error::Checkpoint(_)
                | Error::Crossed { .. }
                | Error::WorkerLost
                | Error::Observer(_)
        )
    }

    /// A worker's part of a checkpoint that cannot be from this algorithm.
    pub(crate) fn damaged_worker() -> Error {
        Error::Checkpoint("a worker's part has the wrong length".to_owned())
    }
}

/// `a, b or c`.
fn any_of(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        names => names.concat(),
    }
}

fn nearest(suggestion: &Option<&'static str>) -> String {
    suggestion.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}
