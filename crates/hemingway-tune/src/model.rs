//! A probabilistic model, declared as ordinary code.
//!
//! A model consists of parts: positive quantities, each a function of some inputs. Its `run` computes what a configuration leads
//! to, with ordinary statements, and asks the mode for each quantity on the way:
//!
//! ```
//! use hemingway_tune::model::{Mode, Model, Part};
//! # use hemingway_tune::{gp::{KernelPrior, Point}, prior::Prior};
//!
//! /// Seconds of a computation that grows with its load, followed by a transfer.
//! struct Job { parts: Vec<Box<dyn Part>> }
//!
//! impl Model for Job {
//!     type Configuration = f64; // the load
//!     type Measured = Option<f64>; // the seconds of the computation
//!
//!     fn parts(&self) -> &[Box<dyn Part>] { &self.parts }
//!
//!     fn run(&self, load: &f64, measured: Option<&Option<f64>>, mode: &mut dyn Mode) -> f64 {
//!         let computed = mode.quantity(0, &[*load], measured.copied().flatten());
//!         computed + mode.quantity(1, &[*load], None)
//!     }
//! }
//! ```
//!
//! The same statements predict, draw from the posterior, or collect what was measured; who runs them says which (`Observe`,
//! [`crate::posterior::Draw`]). A part whose inputs and value were measured is learnt by itself. Where something was not
//! measured, the mode answers NaN, NaN spreads to what follows from it, and the parts in between are learnt together.

use crate::gp::{KernelPrior, Point};
use crate::prior::Prior;

/// A positive quantity as a function of its inputs: e to the power of (a parametric mean + a Gaussian process).
pub trait Part: Send + Sync {
    /// What to call it.
    fn name(&self) -> String;

    /// What is believed of its parameters.
    fn priors(&self) -> Vec<Prior>;

    /// The logarithm of the quantity, as far as the parameters explain it.
    fn mean(&self, parameters: &[f64], input: &[f64]) -> f64;

    /// Where the Gaussian process looks for the rest.
    fn point(&self, input: &[f64]) -> Point;

    /// What is believed of that process and of the noise.
    fn kernel(&self) -> KernelPrior;

    /// How many individuals it has.
    fn individuals(&self) -> usize {
        0
    }
}

/// Who runs a model decides what a quantity is.
pub trait Mode {
    /// The quantity of a part, given what was measured of it.
    fn quantity(&mut self, part: usize, input: &[f64], measured: Option<f64>) -> f64;
}

/// What a configuration leads to.
pub trait Model: Sync {
    /// What is chosen.
    type Configuration;
    /// What was seen of it.
    type Measured;

    /// Its parts; `run` names them by their place here.
    fn parts(&self) -> &[Box<dyn Part>];

    /// The figure to be minimised.
    fn run(
        &self,
        configuration: &Self::Configuration,
        measured: Option<&Self::Measured>,
        mode: &mut dyn Mode,
    ) -> f64;
}

/// The largest, or NaN if one is.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most: f64, value| if value.is_nan() || value > most { value } else { most })
}

/// A quantity that was measured, with its inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The inputs.
    pub input: Vec<f64>,
    /// The logarithm of the value.
    pub log: f64,
}

/// Collects what was measured.
#[derive(Debug, Default)]
pub struct Observe {
    /// For each part, what was measured together with its inputs.
    pub direct: Vec<Vec<Observation>>,
    /// Parts that were not measured since the run began.
    open: Vec<usize>,
    /// Parts that were measured after some that were not: to be learnt together.
    pub joint: Vec<Vec<usize>>,
}

impl Observe {
    /// For so many parts.
    pub fn new(parts: usize) -> Observe {
        Observe { direct: vec![Vec::new(); parts], ..Observe::default() }
    }

    /// A new run begins. Returns whether the last one has something to be learnt jointly.
    pub fn next(&mut self) {
        self.open.clear();
    }
}

impl Mode for Observe {
    fn quantity(&mut self, part: usize, input: &[f64], measured: Option<f64>) -> f64 {
        match measured {
            Some(value) if input.iter().all(|number| !number.is_nan()) => {
                self.direct[part].push(Observation { input: input.to_vec(), log: value.ln() });
                value
            }
            Some(value) => {
                self.joint.push([&self.open[..], &[part]].concat());
                value
            }
            None => {
                self.open.push(part);
                f64::NAN
            }
        }
    }
}
