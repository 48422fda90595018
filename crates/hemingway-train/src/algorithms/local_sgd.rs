//! Local SGD: each worker takes stochastic steps on its own rows, then all weights are averaged.
//!
//! Fewer sums than mini-batch SGD for the same rows; the averages drift apart the more, the longer a round is.
//!
//! Stich, Local SGD converges fast and communicates little, 2019.

use super::sgd::{self, Move, draw, known, local_steps};
use super::step_size::StepSize;
use super::{About, Entry, Family, Floor, TakeOver, suits_all};
use crate::footprint::Vectors;
use crate::{Algorithm, Error, Model, Phase, Share, Solver, Worker};

/// Hyperparameters of local SGD.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalSgd {
    /// Steps of each worker per round (H); as many as it has rows if not given.
    pub local_steps: Option<usize>,
    /// First step size (η); searched for if not given.
    pub step_size: Option<f64>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "local-sgd",
    summary: "local stochastic steps, then averaging",
    reference: "Stich 2019",
    about: About {
        idea: "Each worker takes stochastic steps on its own rows, then the weights of all are averaged. Steps \
            shrink with time; what is scored is an average over recent rounds.",
        suits: "Any loss and any number of features, where a rough model is wanted soon and sums are slow. For \
            errors below about 1e-3 other methods are faster. The more workers and the longer a round, the \
            more the local weights drift apart.",
        round: "Local steps on the worker's rows, then a sum of one number for each feature.",
        counts: "rounds",
        defaults: &["a pass over the worker's rows", "searched for"],
        floor: Floor::Falls,
    },
    parameters: &["local_steps", "step_size"],
    vectors: Vectors { weights: 3.0, rows: 0.5, saved_weights: 1.0, ..Vectors::NONE },
    family: Family::Stochastic,
    depends_on_workers: true,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 0.63,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up: |share| sgd::set_up(share, 1.0),
    round,
    build: |given| Box::new(LocalSgd { local_steps: given.local_steps, step_size: given.step_size }),
};

impl Algorithm for LocalSgd {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let steps = self.local_steps.unwrap_or(worker.local.rows());
        let size = StepSize::choose(worker, known(saved, self.step_size), 1)?;
        sgd::start(worker, from, saved, size, LocalSteps(steps))
    }
}

fn round(share: &Share) -> Vec<Phase> {
    let steps = share.steps(share.passes * share.rows, 2.0);
    vec![Phase::once(steps + sgd::averaging(share), share.dimension)]
}

/// So many steps on the worker's own rows, then the mean over the workers.
struct LocalSteps(usize);

impl Move for LocalSteps {
    fn round(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        weights: &mut [f64],
    ) -> Result<(), Error> {
        let rows = draw(worker, round, self.0);
        let done = (round * self.0 as u64) as f64;
        local_steps(worker, size, done, &rows, weights);
        sgd::average(worker, weights)
    }
}
