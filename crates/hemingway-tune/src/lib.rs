//! Structured Bayesian optimisation: what is known of a system becomes a model, and the model finds good configurations within
//! a few evaluations.
//!
//! - [`model`]: a probabilistic model declared as ordinary code; [`posterior`]: what measurements say about it;
//! - [`gp`] and [`smc`]: Gaussian processes and sequential Monte Carlo, from which both are made;
//! - [`schedule`]: the model of distributed SGD with parameter servers, and its tuner;
//! - [`plain`]: a Gaussian process over settings, for what has no known structure;
//! - [`simulator`]: clusters on which all of it can be tried in milliseconds.
//!
//! Knows nothing of training, of files or of clocks.

mod cholesky;
pub mod gp;
pub mod model;
pub mod plain;
pub mod posterior;
pub mod prior;
pub mod random;
pub mod schedule;
pub mod simulator;
pub mod smc;

/// The normal distribution function, to 1e-7 (Abramowitz and Stegun 26.2.17).
fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt() * series;
    if x > 0.0 { 1.0 - tail } else { tail }
}
