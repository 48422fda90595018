//! The catalogue of algorithms: one file each, one line each in [`CATALOGUE`].

mod about;
mod acc_dadm;
mod aliases;
mod apart;
mod async_sgd;
mod cholesky;
mod cocoa;
mod cocoa_plus;
mod curvature;
mod d_psgd;
mod dadm;
mod dcd_psgd;
mod drift;
mod ecd_psgd;
mod gossip;
mod gradient_descent;
mod hogwild;
mod interior_point;
mod late;
mod lbfgs;
mod line_search;
mod local_dual;
mod local_sgd;
mod minibatch_sgd;
mod newton;
mod newton_cg;
mod one_shot_sgd;
mod passcode;
mod passes;
mod quantiser;
mod sgd;
mod splash;
mod step_size;
mod svrg;
mod vain;

use crate::footprint::Vectors;
use crate::{Algorithm, Error, Loss, Needs, Parameters, Phase, Share};

pub use about::{About, Floor};
pub use acc_dadm::AccDadm;
pub use aliases::{aliases, canonical, stands_for};
pub use async_sgd::AsyncSgd;
pub use cocoa::Cocoa;
pub use cocoa_plus::CocoaPlus;
pub use d_psgd::DPsgd;
pub use dadm::Dadm;
pub use dcd_psgd::DcdPsgd;
pub use ecd_psgd::EcdPsgd;
pub use gradient_descent::GradientDescent;
pub use hogwild::Hogwild;
pub use lbfgs::Lbfgs;
pub use local_sgd::LocalSgd;
pub use minibatch_sgd::MinibatchSgd;
pub use newton::Newton;
pub use newton_cg::NewtonCg;
pub use one_shot_sgd::OneShotSgd;
pub use passcode::Passcode;
use passes::Passes;
pub(crate) use quantiser::Quantiser;
pub use splash::Splash;
pub use svrg::Svrg;

/// What is known of an algorithm without running it. Help texts, the planner and the memory estimate all read this.
pub struct Entry {
    /// The name users write.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// What is said of it at length.
    pub about: About,
    /// The hyperparameters it takes, by their names in [`Parameters`].
    pub parameters: &'static [&'static str],
    /// What one worker of it holds in memory.
    pub vectors: Vectors,
    /// What it resembles.
    pub family: Family,
    /// Whether the number of workers changes what a round achieves, and not only how long it takes.
    pub depends_on_workers: bool,
    /// What it is the same as on one worker.
    pub alone: Option<&'static str>,
    /// Whether on one worker its rounds become shorter as rows settle.
    pub settles_alone: bool,
    /// Whether its error hardly falls before the goal is near.
    pub late: bool,
    /// Seconds of its rounds on the cores of a usual machine over those that are metered, as they were measured
    /// (docs/decisions/017-what-rounds-take-on-cores.md); 1 where they were not.
    pub on_cores: f64,
    /// How it goes on from a model that another algorithm has reached.
    pub takes_over: fn(Loss) -> TakeOver,
    /// Why it does not suit a problem of this many weights with this loss, if it does not.
    pub unsuited: fn(usize, Loss) -> Option<String>,
    /// What setting it up costs before the first round.
    pub set_up: fn(&Share) -> Vec<Phase>,
    /// What a round costs.
    pub round: fn(&Share) -> Vec<Phase>,
    build: fn(&Parameters) -> Box<dyn Algorithm>,
}

impl Entry {
    /// What it asks of an engine.
    pub fn needs(&self) -> Needs {
        self.with_defaults().needs()
    }

    /// The engines that can run it.
    pub fn engines(&self) -> Vec<&'static str> {
        crate::engines_for(self.needs())
    }

    /// The algorithm with its defaults.
    pub fn with_defaults(&self) -> Box<dyn Algorithm> {
        (self.build)(&Parameters::default())
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(to, "{}", self.name)
    }
}

/// Algorithms whose rounds depend on the data in about the same manner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Coordinate ascent on the dual.
    Dual,
    /// Whole gradients.
    Batch,
    /// Whole Hessians.
    SecondOrder,
    /// Gradients of a few rows at a time.
    Stochastic,
    /// The same, and workers that know neighbours only.
    Decentralised,
}

impl Family {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Family::Dual => "dual coordinate ascent",
            Family::Batch => "whole gradients",
            Family::SecondOrder => "second order",
            Family::Stochastic => "stochastic",
            Family::Decentralised => "decentralised",
        }
    }
}

/// How an algorithm goes on from a model that another one has reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TakeOver {
    /// From there, after about as many rounds to find its feet.
    After {
        /// Rounds without progress.
        rounds: f64,
    },
    /// It makes nothing of the model and starts anew.
    Anew,
    /// Its first steps would undo what was reached.
    Never,
}

impl TakeOver {
    /// Rounds to find its feet; nothing if it never takes over.
    pub fn rounds(self) -> Option<f64> {
        match self {
            TakeOver::After { rounds } => Some(rounds),
            TakeOver::Anew => Some(0.0),
            TakeOver::Never => None,
        }
    }
}

/// Nothing is held against it.
fn suits_all(_: usize, _: Loss) -> Option<String> {
    None
}

/// Whole gradients say nothing of what a step does where a loss has corners.
fn unsuited_for_corners(_: usize, loss: Loss) -> Option<String> {
    loss.smoothness().is_none().then(|| format!("the {loss} has corners, where its slopes jump"))
}

/// Every algorithm there is.
static CATALOGUE: &[&Entry] = &[
    &async_sgd::ENTRY,
    &cocoa::ENTRY,
    &cocoa_plus::ENTRY,
    &dadm::ENTRY,
    &acc_dadm::ENTRY,
    &d_psgd::ENTRY,
    &dcd_psgd::ENTRY,
    &ecd_psgd::ENTRY,
    &gradient_descent::ENTRY,
    &hogwild::ENTRY,
    &lbfgs::ENTRY,
    &local_sgd::ENTRY,
    &minibatch_sgd::ENTRY,
    &newton::ENTRY,
    &one_shot_sgd::ENTRY,
    &passcode::ENTRY,
    &newton_cg::ENTRY,
    &svrg::ENTRY,
    &splash::ENTRY,
];

/// Every algorithm, by name.
pub fn catalogue() -> &'static [&'static Entry] {
    CATALOGUE
}

/// The entry of an algorithm, by its name or another one that people know it by.
pub fn entry(name: &str) -> Option<&'static Entry> {
    let name = canonical(name)?;
    CATALOGUE.iter().copied().find(|entry| entry.name == name)
}

/// The same, or an error that suggests the nearest name.
pub fn named(name: &str) -> Result<&'static Entry, Error> {
    entry(name).ok_or_else(|| match name.parse::<Loss>() {
        Ok(loss) => Error::LossForAlgorithm { name: name.to_owned(), loss: loss.name() },
        Err(_) => Error::UnknownAlgorithm {
            name: name.to_owned(),
            suggestion: crate::suggest::nearest(name, CATALOGUE.iter().map(|entry| entry.name)),
        },
    })
}

/// An algorithm with these hyperparameters; one that it does not have is an error.
pub fn algorithm(name: &str, parameters: &Parameters) -> Result<Box<dyn Algorithm>, Error> {
    let entry = named(name)?;
    for (parameter, flag) in parameters.given() {
        if !entry.parameters.contains(&parameter) {
            let takers = takers(parameter);
            return Err(Error::UnusedParameter { algorithm: entry.name, parameter: flag, takers });
        }
    }
    check(parameters)?;
    Ok((entry.build)(parameters))
}

/// The algorithms that have a hyperparameter, by its name in [`Parameters`].
fn takers(parameter: &str) -> Vec<&'static str> {
    CATALOGUE.iter().filter(|entry| entry.parameters.contains(&parameter)).map(|entry| entry.name).collect()
}

/// Where no algorithm is named and this one stands in, hyperparameters that it does not have are an error.
pub fn check_unnamed(stand_in: &str, parameters: &Parameters) -> Result<(), Error> {
    let entry = named(stand_in)?;
    let foreign = parameters.given().into_iter().find(|(name, _)| !entry.parameters.contains(name));
    foreign
        .map_or(Ok(()), |(name, parameter)| Err(Error::UnnamedAlgorithm { parameter, takers: takers(name) }))
}

/// Whether every hyperparameter lies in its range.
fn check(parameters: &Parameters) -> Result<(), Error> {
    let counts = [
        ("--local-steps", parameters.local_steps),
        ("--batch", parameters.batch),
        ("--memory", parameters.memory),
        ("--servers", parameters.servers),
    ];
    for (parameter, value) in counts {
        if value == Some(0) {
            return Err(Error::Parameter { parameter, value: 0.0, expected: "at least 1" });
        }
    }
    if let Some(bits) = parameters.bits.filter(|bits| !(2..=32).contains(bits)) {
        let expected = "from 2 to 32";
        return Err(Error::Parameter { parameter: "--bits", value: bits as f64, expected });
    }
    match parameters.step_size {
        Some(value) if !(value > 0.0 && value.is_finite()) => {
            Err(Error::Parameter { parameter: "--step-size", value, expected: "a positive number" })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_a_meaning_and_a_default() {
        for entry in CATALOGUE {
            assert_eq!(entry.about.defaults.len(), entry.parameters.len(), "{entry:?}");
            for parameter in entry.parameters {
                assert!(Parameters::meaning(parameter).is_some(), "{entry:?}: {parameter}");
            }
        }
    }

    #[test]
    fn every_algorithm_is_described_in_whole_sentences() {
        for entry in CATALOGUE {
            let About { idea, suits, round, counts, .. } = entry.about;
            for text in [idea, suits, round] {
                assert!(text.ends_with('.') && !text.contains("  "), "{entry:?}: {text}");
            }
            assert!((4..=8).contains(&counts.len()), "{entry:?}: {counts}");
            assert!(!entry.engines().is_empty(), "no engine runs {entry:?}");
        }
    }
}
