//! Models of training: how long an iteration takes on m workers, and how many iterations a target needs.
//!
//! Nothing here reads files, clocks or global randomness: observations come in, estimates with intervals come out.

mod candidate;
mod combined;
mod convergence;
mod design;
mod distribution;
mod error;
pub mod evaluation;
mod forecast;
mod goal;
mod lasso;
mod nnls;
mod observation;
mod planner;
mod posterior;
pub mod prior;
mod profile;
mod settings;
mod system;
mod traces;
pub mod words;

pub use candidate::{Candidate, Configuration, Decision, Rejected, Stage, Unit};
pub use combined::{Combined, Progress};
pub use convergence::{Better, ConvergenceError, ConvergenceModel, SubsetModel, Target, forward};
pub use design::{About, Criterion, Experiment, Question, next_experiments};
pub use error::Error;
pub use goal::{Goal, Risk};
pub use lasso::{Lasso, LassoFit, Rule};
pub use nnls::nnls;
pub use observation::{Estimate, Observation};
pub use planner::{HandOver, Inputs, Next, PastScore, PastStage, Planner, Score};
pub use profile::Profile;
pub use settings::Settings;
pub use system::{Ernest, FittedTerm, SystemModel};
pub use traces::{Query, parse_queries, parse_trace};
