//! The seam between algorithms and the one loop that drives them.

use std::fmt;

use crate::{Error, Loss, Model, Topology, Worker};

/// Hyperparameters: plain data one can print, store and sweep.
pub trait Algorithm: fmt::Debug + Send + Sync {
    /// The name in the catalogue.
    fn name(&self) -> &'static str;

    /// What it asks of an engine.
    fn needs(&self) -> Needs {
        Needs::Collectives
    }

    /// Whether it can run on so many workers.
    fn check(&self, _workers: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Whether it goes on from a dual point rather than from weights.
    fn starts_from_duals(&self) -> bool {
        false
    }

    /// Whether the best weights, or the duals of a method that starts from them, are all it takes to go on about as fast
    /// as if it had not stopped.
    fn goes_on_from_model(&self, _loss: Loss) -> bool {
        self.starts_from_duals()
    }

    /// Sets up one worker. `saved` is what this worker's solver saved at a checkpoint; empty where another solver's dual
    /// point is handed over, whose weights then need not be computed again.
    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error>;
}

/// Running state on one worker.
pub trait Solver {
    /// One round of this worker, with its collectives.
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error>;

    /// Brings together what workers hold apart, so that what follows is the same on every worker: the average of
    /// different weights, or a copy of what changes all the time. Called off the training clock, before a round is scored
    /// or saved; training must go on as if it had not been.
    fn bring_together(&mut self, _worker: &mut Worker) -> Result<(), Error> {
        Ok(())
    }

    /// Forms the [`estimate`](Solver::estimate) from what each worker knows, where rounds have no sums that could carry it.
    /// Called off the training clock after every round that workers confer about.
    fn estimate_together(&mut self, _worker: &mut Worker) -> Result<(), Error> {
        Ok(())
    }

    /// Iterations as the method's authors count them, where these are not rounds: steps that changed what workers share.
    fn iterations(&self) -> Option<u64> {
        None
    }

    /// The first step size, given or found, where there is one.
    fn step_size(&self) -> Option<f64> {
        None
    }

    /// The weights after the last round, the same on every worker.
    fn weights(&self) -> &[f64];

    /// The duals of this worker's rows, for dual methods.
    fn duals(&self) -> Option<Vec<f64>> {
        None
    }

    /// Whether these duals give exactly the weights; else the weights become theirs in the end.
    fn weights_belong_to_duals(&self) -> bool {
        true
    }

    /// The weights it would have scored and returned: the iterate itself, or something better made from it.
    fn proposal(&self) -> &[f64] {
        self.weights()
    }

    /// Predictions x_i·w of this worker's rows for the proposal, if the round left them behind.
    fn predictions(&self) -> Option<&[f64]> {
        None
    }

    /// ∇P at the proposal, if the round left it behind, the same on every worker.
    fn gradient(&self) -> Option<&[f64]> {
        None
    }

    /// A free estimate of objective and gap from what the last round computed anyway, the same on every worker.
    fn estimate(&self) -> Option<Estimate> {
        None
    }

    /// Whether further rounds would change nothing, the same on every worker.
    fn stuck(&self) -> bool {
        false
    }

    /// All further state that the next round depends on.
    fn save(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// Where a run seems to stand. It decides when to score, never what is reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// P at about the present weights.
    pub primal: f64,
    /// P − D at about the present state.
    pub gap: f64,
}

/// What an algorithm asks of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Sums and broadcasts over all workers.
    Collectives,
    /// Messages between neighbours.
    Neighbours,
    /// Memory that all workers read and write without waiting.
    SharedMemory,
    /// So many servers that hold the weights and answer whoever asks.
    Servers(usize),
}

impl Needs {
    /// How many processes beside the workers.
    pub fn servers(self) -> usize {
        match self {
            Needs::Servers(servers) => servers,
            Needs::Collectives | Needs::Neighbours | Needs::SharedMemory => 0,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Needs::Collectives => "sums over all workers",
            Needs::Neighbours => "messages between neighbours",
            Needs::SharedMemory => "memory that all workers share",
            Needs::Servers(_) => "parameter servers",
        }
    }

    /// The same in a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Needs::Collectives => "sums",
            Needs::Neighbours => "neighbours",
            Needs::SharedMemory => "shared memory",
            Needs::Servers(_) => "servers",
        }
    }

    /// What such a method is called, where it is not the usual one whose workers all wait for one another.
    pub fn manner(self) -> Option<&'static str> {
        match self {
            Needs::Collectives => None,
            Needs::Neighbours => Some("decentralised"),
            Needs::SharedMemory | Needs::Servers(_) => Some("asynchronous"),
        }
    }
}

/// Every hyperparameter there is; an algorithm takes the ones it knows and has defaults for the rest.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Parameters {
    /// Local steps per worker and round (H in the CoCoA papers).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub local_steps: Option<usize>,
    /// Rows per round over all workers (b).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub batch: Option<usize>,
    /// Step size at the start (η).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step_size: Option<f64>,
    /// Curvature pairs kept by quasi-Newton methods.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<usize>,
    /// Servers that hold the weights.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub servers: Option<usize>,
    /// Bits per number in compressed messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bits: Option<usize>,
    /// Who talks to whom, where workers only know neighbours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topology: Option<Topology>,
}

/// What each hyperparameter is, by its name in [`Parameters`].
const MEANINGS: [(&str, &str); 7] = [
    ("local_steps", "local steps per worker and round"),
    ("batch", "rows that are taken together"),
    ("step_size", "step size at the start"),
    ("memory", "curvature pairs that are kept"),
    ("servers", "servers that hold the weights"),
    ("bits", "bits per number in compressed messages"),
    ("topology", "who talks to whom: ring, torus or complete"),
];

impl Parameters {
    /// What a hyperparameter is.
    pub fn meaning(name: &str) -> Option<&'static str> {
        MEANINGS.iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning)
    }

    /// The parameters that were given: name, and how users write it.
    pub fn given(&self) -> Vec<(&'static str, &'static str)> {
        let all = [
            (self.local_steps.is_some(), "local_steps", "--local-steps"),
            (self.batch.is_some(), "batch", "--batch"),
            (self.step_size.is_some(), "step_size", "--step-size"),
            (self.memory.is_some(), "memory", "--memory"),
            (self.servers.is_some(), "servers", "--servers"),
            (self.bits.is_some(), "bits", "--bits"),
            (self.topology.is_some(), "topology", "--topology"),
        ];
        all.into_iter().filter(|(given, ..)| *given).map(|(_, name, flag)| (name, flag)).collect()
    }
}
