//! Why no convergence model could be fitted.

/// What is wrong with the observations or with the target.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvergenceError {
    /// Too few usable points.
    #[error(
        "{usable} of {given} observations have a usable value; at least {needed} are needed\nhint: a value must be finite, after iteration 1 or later, and above the optimum"
    )]
    TooFew {
        /// Observations given.
        given: usize,
        /// Of these, with a value that can be used.
        usable: usize,
        /// How many are needed.
        needed: usize,
    },
    /// Observations of several algorithms where one is expected.
    #[error("observations of {first} and of {second} together\nhint: fit one model for each algorithm")]
    SeveralAlgorithms {
        /// The first algorithm met.
        first: String,
        /// Another one.
        second: String,
    },
    /// Values that never change.
    #[error(
        "all values are {value}\nhint: a run that makes no progress says nothing about when a goal is reached"
    )]
    Constant {
        /// The value.
        value: f64,
    },
    /// A bracket that cannot hold the optimum.
    #[error(
        "the optimum cannot lie between {lower} and {upper}\nhint: the lower end must be finite and below both the upper end and every loss"
    )]
    Bracket {
        /// Its lower end.
        lower: f64,
        /// Its upper end.
        upper: f64,
    },
}
