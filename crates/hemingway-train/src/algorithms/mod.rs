//! The catalogue of algorithms: one file each, one line each in [`CATALOGUE`].

mod cholesky;
mod cocoa;
mod cocoa_plus;
mod curvature;
mod drift;
mod gradient_descent;
mod interior_point;
mod lbfgs;
mod line_search;
mod local_dual;
mod local_sgd;
mod minibatch_sgd;
mod newton;
mod passes;
mod sgd;
mod step_size;
mod vain;

use crate::footprint::{Leaves, Vectors};
use crate::{Algorithm, Error, Parameters};

pub use cocoa::Cocoa;
pub use cocoa_plus::CocoaPlus;
pub use gradient_descent::GradientDescent;
pub use lbfgs::Lbfgs;
pub use local_sgd::LocalSgd;
pub use minibatch_sgd::MinibatchSgd;
pub use newton::Newton;
use passes::Passes;

/// An algorithm as help texts show it.
pub struct Entry {
    /// The name users write.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// The hyperparameters it takes, by their names in [`Parameters`].
    pub parameters: &'static [&'static str],
    /// What one worker of it holds in memory.
    pub vectors: Vectors,
    build: fn(&Parameters) -> Box<dyn Algorithm>,
}

/// Every algorithm there is.
#[rustfmt::skip]
static CATALOGUE: [Entry; 7] = [
    Entry { name: "cocoa", summary: "local dual coordinate ascent, averaged; on one worker plain SDCA", reference: "Jaggi et al. 2014", parameters: &["local_steps"], vectors: Vectors { weights: 4.0, rows: 6.0, saved_weights: 1.0, saved_rows: 2.0, leaves: Leaves::Duals, ..Vectors::NONE }, build: |given| Box::new(Cocoa { local_steps: given.local_steps }) },
    Entry { name: "cocoa-plus", summary: "local dual coordinate ascent, added; scales better on smooth losses", reference: "Ma et al. 2015", parameters: &["local_steps"], vectors: Vectors { weights: 4.0, rows: 5.0, saved_weights: 1.0, saved_rows: 2.0, leaves: Leaves::Duals, ..Vectors::NONE }, build: |given| Box::new(CocoaPlus { local_steps: given.local_steps }) },
    Entry { name: "gradient-descent", summary: "whole gradient, fixed step; the same on any number of workers", reference: "Cauchy 1847", parameters: &["step_size"], vectors: Vectors { weights: 5.0, rows: 3.0, leaves: Leaves::Gradient, ..Vectors::NONE }, build: |given| Box::new(GradientDescent { step_size: given.step_size }) },
    Entry { name: "l-bfgs", summary: "quasi-Newton steps with whole gradients; strong on smooth losses", reference: "Nocedal 1980", parameters: &["memory"], vectors: Vectors { weights: 8.0, rows: 3.0, pairs: lbfgs::DEFAULT_MEMORY, saved_rows: 1.0, leaves: Leaves::Gradient, ..Vectors::NONE }, build: |given| Box::new(Lbfgs { memory: given.memory }) },
    Entry { name: "local-sgd", summary: "local stochastic steps, then averaging", reference: "Zinkevich et al. 2010", parameters: &["local_steps", "step_size"], vectors: Vectors { weights: 3.0, rows: 0.5, saved_weights: 1.0, ..Vectors::NONE }, build: |given| Box::new(LocalSgd { local_steps: given.local_steps, step_size: given.step_size }) },
    Entry { name: "minibatch-sgd", summary: "one stochastic step per round from a batch over all workers", reference: "Dekel et al. 2012", parameters: &["batch", "step_size"], vectors: Vectors { weights: 4.0, rows: 0.5, saved_weights: 1.0, ..Vectors::NONE }, build: |given| Box::new(MinibatchSgd { batch: given.batch, step_size: given.step_size }) },
    Entry { name: "newton", summary: "whole Hessian, for few features: few rounds whatever the data; on the hinge an interior point method", reference: "Newton 1669", parameters: &[], vectors: Vectors { weights: 9.0, rows: 4.0, squares: 3.0, saved_rows: 1.0, hinge_rows: 12.0, leaves: Leaves::Gradient, ..Vectors::NONE }, build: |_| Box::new(Newton) },
];

/// Every algorithm, by name.
pub fn catalogue() -> &'static [Entry] {
    &CATALOGUE
}

/// An algorithm with these hyperparameters; one that it does not have is an error.
pub fn algorithm(name: &str, parameters: &Parameters) -> Result<Box<dyn Algorithm>, Error> {
    let entry = CATALOGUE.iter().find(|entry| entry.name == name).ok_or_else(|| Error::UnknownAlgorithm {
        name: name.to_owned(),
        suggestion: crate::suggest::nearest(name, CATALOGUE.iter().map(|entry| entry.name)),
    })?;
    for (parameter, flag) in parameters.given() {
        if !entry.parameters.contains(&parameter) {
            return Err(Error::UnusedParameter { algorithm: entry.name, parameter: flag });
        }
    }
    check(parameters)?;
    Ok((entry.build)(parameters))
}

/// Whether every hyperparameter lies in its range.
fn check(parameters: &Parameters) -> Result<(), Error> {
    let counts = [
        ("--local-steps", parameters.local_steps),
        ("--batch", parameters.batch),
        ("--memory", parameters.memory),
    ];
    for (parameter, value) in counts {
        if value == Some(0) {
            return Err(Error::Parameter { parameter, value: 0.0, expected: "at least 1" });
        }
    }
    match parameters.step_size {
        Some(value) if !(value > 0.0 && value.is_finite()) => {
            Err(Error::Parameter { parameter: "--step-size", value, expected: "a positive number" })
        }
        _ => Ok(()),
    }
}
