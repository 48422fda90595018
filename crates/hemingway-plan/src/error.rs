//! What can go wrong with traces and models, said so that the reader can act on it.

/// Why a trace could not be read or a model not be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of CSV text that cannot be used.
    #[error("line {line}: {problem}")]
    Line {
        /// Counted from one, the header included.
        line: usize,
        /// What is wrong with it, and the next step.
        problem: String,
    },
    /// Nothing to fit.
    #[error("no observation has a time\nhint: fill the column `seconds` with the time since each run began")]
    NoTimes,
    /// A figure outside its domain.
    #[error("run {run}, iteration {iteration}: {name} is {value}\nhint: it must be {domain}")]
    Outside {
        /// The run it came with.
        run: String,
        /// The iteration it came with.
        iteration: u64,
        /// Which figure.
        name: &'static str,
        /// As given.
        value: f64,
        /// What is allowed.
        domain: &'static str,
    },
    /// Time runs backwards.
    #[error(
        "run {run}: {later} s after iteration {iteration}, but {earlier} s before it\nhint: `seconds` counts from the start of the run; add up the times of single iterations, and give each run its own name"
    )]
    NotCumulative {
        /// The run.
        run: String,
        /// The iteration at which time fell.
        iteration: u64,
        /// Seconds at the iteration before.
        earlier: f64,
        /// Seconds at this iteration.
        later: f64,
    },
    /// A run that took no time.
    #[error("run {run}: its iterations took no time\nhint: measure with a finer clock, or leave the run out")]
    NoDuration {
        /// The run.
        run: String,
    },
    /// Observations of several algorithms where one is expected.
    #[error("observations of {first} and of {second} together\nhint: fit one model for each algorithm")]
    SeveralAlgorithms {
        /// The first algorithm met.
        first: String,
        /// Another one.
        second: String,
    },
}
