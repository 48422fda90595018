//! Models of training: how long an iteration takes on m workers, and how many iterations a target needs.
//!
//! Nothing here reads files, clocks or global randomness: observations come in, estimates with intervals come out.

mod candidate;
mod distribution;
mod error;
mod forecast;
mod goal;
mod models;
mod observation;
mod planner;
mod posterior;
pub mod prior;
mod profile;
pub mod scaling;
mod settings;
pub mod words;

pub use candidate::{Candidate, Configuration, Decision, Rejected, Stage, Unit};
pub use error::Error;
pub use goal::{Goal, Risk};
pub use models::{
    About, Better, Combined, ConvergenceError, ConvergenceModel, Criterion, Ernest, Experiment, FittedTerm,
    Progress, Query, Question, SubsetModel, SystemModel, Target, evaluation, forward, next_experiments,
    parse_queries, parse_trace,
};
pub use observation::{Estimate, Observation};
pub use planner::{HandOver, Inputs, Next, PastScore, PastStage, Pilot, Planner, Score};
pub use profile::Profile;
pub use settings::Settings;
