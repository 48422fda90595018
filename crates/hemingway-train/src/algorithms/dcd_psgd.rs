//! Decentralised SGD with compressed differences. Every worker keeps the sum of its neighbours' weights as they have told
//! them; a round tells how one's own weights change, in a few bits:
//!
//!   x_i' = x_i + C(Σ_j W_ij x_j - η∇F_i(x_i) - x_i)
//!
//! The worker itself goes on from what the others have heard, so that no error adds up, and as differences shrink, so does
//! what rounding them costs. Three levels, 2 bits, are enough on many problems. Without a number of bits the differences
//! are exact, and this is d-psgd.
//!
//! Tang, Gan, Zhang, Zhang, Liu, Communication compression for decentralized training, 2018.

use super::gossip::{self, Given, Gossip};
use super::sgd::Move;
use super::step_size::StepSize;
use super::{About, Entry, Family, Floor, TakeOver, apart, suits_all};
use crate::footprint::Vectors;
use crate::{Algorithm, Error, Model, Needs, Parameters, Solver, Worker};

/// Hyperparameters of decentralised SGD with compressed differences.
#[derive(Debug, Clone, PartialEq)]
pub struct DcdPsgd(Given);

pub(super) static ENTRY: Entry = Entry {
    name: "dcd-psgd",
    summary: "d-psgd that sends differences, rounded to a few bits",
    reference: "Tang et al. 2018",
    about: About {
        idea: "Decentralised SGD in which workers tell their neighbours how their weights change, \
            rounded to a few bits without bias. As changes shrink, so does what rounding costs: \
            three levels, 2 bits, are often enough.",
        suits: "Slow links. Without --bits it is d-psgd.",
        round: "A batch of rows, then one compressed message to each neighbour.",
        counts: "rounds",
        defaults: &["256 rows over all workers, at least one each", "searched for", "exact numbers", "ring"],
        floor: Floor::Falls,
    },
    parameters: &["batch", "step_size", "bits", "topology"],
    vectors: Vectors { weights: 10.0, rows: 0.5, saved_weights: 3.0, ..Vectors::NONE },
    family: Family::Decentralised,
    depends_on_workers: true,
    alone: Some("minibatch-sgd"),
    settles_alone: false,
    late: false,
    on_cores: 3.68,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up: gossip::set_up,
    round: gossip::round,
    build: |given| Box::new(DcdPsgd::new(given)),
};

impl DcdPsgd {
    /// With these hyperparameters.
    pub fn new(given: &Parameters) -> DcdPsgd {
        DcdPsgd(Given::of(given))
    }
}

impl Algorithm for DcdPsgd {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn needs(&self) -> Needs {
        Needs::Neighbours
    }

    fn check(&self, workers: usize) -> Result<(), Error> {
        self.0.topology.check(workers)
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let build = |gossip: Gossip, from: &[f64]| Differences {
            gossip,
            mixed: from.to_vec(),
            difference: vec![0.0; from.len()],
        };
        let (size, step) = self.0.set_up(worker, &from.weights, saved, build)?;
        apart::start(from, saved, size, step)
    }
}

/// Each worker tells the change of its weights.
struct Differences {
    gossip: Gossip,
    /// Σ_j W_ij x_j.
    mixed: Vec<f64>,
    difference: Vec<f64>,
}

impl Move for Differences {
    fn round(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        weights: &mut [f64],
    ) -> Result<(), Error> {
        let mut rng = worker.rng(round);
        self.gossip.step(worker, size, round, (weights, &mut rng));
        self.gossip.move_from(&self.mixed, &mut self.difference);
        self.difference.iter_mut().zip(&*weights).for_each(|(next, weight)| *next -= weight);
        let Differences { gossip, mixed, difference } = self;
        gossip.mix(worker, difference, &mut rng, (1.0, 1.0), mixed, |at, change| weights[at] += change)
    }

    fn kept(&mut self) -> Option<&mut Vec<f64>> {
        Some(&mut self.mixed)
    }

    fn save(&self) -> Vec<f64> {
        self.mixed.clone()
    }
}
