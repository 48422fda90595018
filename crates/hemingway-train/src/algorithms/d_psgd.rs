//! Decentralised parallel SGD: workers know neighbours only. Every round each worker takes a mini-batch gradient on its own
//! rows at its own weights, and goes on from the weighted mean of its own weights and its neighbours':
//!
//!   x_i' = Σ_j W_ij x_j - η∇F_i(x_i)
//!
//! A worker sends as much as it has neighbours, however many workers there are, and waits for nobody else. Differences
//! between workers fade with the steps, the more slowly, the longer the way across the network is. What is returned is the
//! mean of all workers' weights.
//!
//! Lian, Zhang, Zhang, Hsieh, Zhang, Liu, Can decentralized algorithms outperform centralized algorithms?, 2017.

use super::gossip::{self, Given, Gossip};
use super::sgd::Move;
use super::step_size::StepSize;
use super::{About, Entry, Family, Floor, TakeOver, apart, suits_all};
use crate::footprint::Vectors;
use crate::{Algorithm, Error, Model, Needs, Parameters, Solver, Worker};

/// Hyperparameters of decentralised parallel SGD.
#[derive(Debug, Clone, PartialEq)]
pub struct DPsgd(Given);

pub(super) static ENTRY: Entry = Entry {
    name: "d-psgd",
    summary: "mini-batch steps, averaged with those of neighbours only",
    reference: "Lian et al. 2017",
    about: About {
        idea: "Every worker takes a mini-batch step on its own rows and averages its weights with \
            those of its neighbours only. What is returned is the mean of all workers' weights.",
        suits: "Many workers whose sums are slow because latency is high, where a rough model is \
            enough. Fewer neighbours mean shorter rounds and more of them.",
        round: "A batch of rows, then one message to each neighbour with one number for each feature.",
        counts: "rounds",
        defaults: &["256 rows over all workers, at least one each", "searched for", "ring"],
        floor: Floor::Falls,
    },
    parameters: &["batch", "step_size", "topology"],
    vectors: Vectors { weights: 9.0, rows: 0.5, saved_weights: 2.0, ..Vectors::NONE },
    family: Family::Decentralised,
    depends_on_workers: true,
    alone: Some("minibatch-sgd"),
    settles_alone: false,
    late: false,
    on_cores: 3.58,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up: gossip::set_up,
    round: gossip::round,
    build: |given| Box::new(DPsgd::new(given)),
};

impl DPsgd {
    /// With these hyperparameters.
    pub fn new(given: &Parameters) -> DPsgd {
        DPsgd(Given::of(given))
    }
}

impl Algorithm for DPsgd {
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
        let build = |gossip: Gossip, from: &[f64]| Averaging { gossip, mixed: vec![0.0; from.len()] };
        let (size, step) = self.0.set_up(worker, &from.weights, saved, build)?;
        apart::start(from, saved, size, step)
    }
}

/// Each worker tells its weights.
struct Averaging {
    gossip: Gossip,
    mixed: Vec<f64>,
}

impl Move for Averaging {
    fn round(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        weights: &mut [f64],
    ) -> Result<(), Error> {
        let mut rng = worker.rng(round);
        self.gossip.step(worker, size, round, (weights, &mut rng));
        self.gossip.mix(worker, weights, &mut rng, (0.0, 1.0), &mut self.mixed, |_, _| {})?;
        self.gossip.move_from(&self.mixed, weights);
        Ok(())
    }
}
