//! The paper's models, fitted to observations of runs: seconds per iteration f(m) in `system`, the value after i
//! iterations g(i, m) in `convergence`, the value after a time h(t, m) in `combined`.
//!
//! `design` chooses the experiments that they need, `evaluation` says how wrong they are on runs held out, and `traces`
//! reads runs that were made elsewhere.

mod combined;
mod convergence;
mod design;
pub mod evaluation;
mod lasso;
mod nnls;
mod system;
mod traces;

pub use combined::{Combined, Progress};
pub use convergence::{Better, ConvergenceError, ConvergenceModel, SubsetModel, Target, forward};
pub use design::{About, Criterion, Experiment, Question, next_experiments};
pub use system::{Ernest, FittedTerm, SystemModel};
pub use traces::{Query, parse_queries, parse_trace};
