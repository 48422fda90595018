//! Models of training: how long an iteration takes on m workers, and how many iterations a target needs.
//!
//! Nothing here reads files, clocks or global randomness: observations come in, estimates with intervals come out.

mod combined;
mod convergence;
mod design;
mod distribution;
mod error;
pub mod evaluation;
mod lasso;
pub mod navigator;
mod nnls;
mod observation;
mod planner;
pub mod prior;
mod system;
mod traces;

pub use combined::{Combined, Progress};
pub use convergence::{Better, ConvergenceError, ConvergenceModel, SubsetModel, Target, forward};
pub use design::{About, Criterion, Experiment, Question, next_experiments};
pub use error::Error;
pub use lasso::{Lasso, LassoFit, Rule};
pub use navigator::{Leg, Lesson, Navigator, Plan, Seen, Switch, Way, Ways};
pub use nnls::nnls;
pub use observation::{Estimate, Observation};
pub use planner::{Candidate, Decision, Rejected, Requirement, Risk, decide};
pub use prior::Glance;
pub use system::{Ernest, FittedTerm, SystemModel};
pub use traces::{Query, parse_queries, parse_trace};
