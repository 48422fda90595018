//! Structured Bayesian optimisation: what is known of a system becomes a model, and the model finds good configurations within
//! a few evaluations.
//!
//! - [`model`]: a probabilistic model declared as ordinary code; [`posterior`]: what measurements say about it;
//! - [`gp`] and [`smc`]: Gaussian processes and sequential Monte Carlo, from which both are made;
//! - [`schedule`]: the model of distributed SGD with parameter servers, and its tuner;
//! - [`simulator`]: clusters on which all of it can be tried in milliseconds.
//!
//! Knows nothing of training, of files or of clocks.

mod cholesky;
pub mod gp;
pub mod model;
pub mod posterior;
pub mod prior;
pub mod random;
pub mod schedule;
pub mod simulator;
pub mod smc;
