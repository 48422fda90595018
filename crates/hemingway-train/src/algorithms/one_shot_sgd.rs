//! One-shot SGD: each worker takes stochastic steps on its own rows and talks to nobody; the weights of all workers are
//! averaged once, at the end. Nothing is cheaper in messages. Each worker comes to the optimum of its own rows, and the
//! average of these is not the optimum of all: that sets a floor under the error, which is lower the more rows each
//! worker has, and no number of rounds gets below it.
//!
//! A round is a pass over the worker's rows, so that the run can be looked at and stopped. The one average is charged
//! while setting up: the seconds of every scored round are those of a run that ends there.
//!
//! Zinkevich, Weimer, Smola, Li, Parallelized stochastic gradient descent, 2010.

use super::sgd::{self, Move, Reach, draw, known, local_steps};
use super::step_size::StepSize;
use super::{About, Entry, Family, Floor, TakeOver, apart, suits_all};
use crate::footprint::Vectors;
use crate::{Algorithm, Error, Model, Phase, Share, Solver, Work, Worker};

/// Hyperparameters of one-shot SGD.
#[derive(Debug, Clone, PartialEq)]
pub struct OneShotSgd {
    /// Steps of each worker per round; as many as it has rows if not given.
    pub local_steps: Option<usize>,
    /// First step size (η); searched for if not given.
    pub step_size: Option<f64>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "one-shot-sgd",
    summary: "stochastic steps without any exchange, one average at the end; its error has a floor",
    reference: "Zinkevich et al. 2010",
    about: About {
        idea: "Each worker takes stochastic steps on its own rows and talks to nobody; the weights \
            are averaged once, at the end. The average of the workers' optima is not the optimum of \
            all, which sets a floor under the error.",
        suits: "Networks that are hardly there, many rows for each worker, and a rough model.",
        round: "Local steps on the worker's rows. Nothing is sent.",
        counts: "rounds",
        defaults: &["a pass over the worker's rows", "searched for"],
        floor: Floor::Stays(floor),
    },
    parameters: &["local_steps", "step_size"],
    vectors: Vectors { weights: 5.0, rows: 0.5, saved_weights: 2.0, ..Vectors::NONE },
    family: Family::Stochastic,
    depends_on_workers: true,
    alone: Some("local-sgd"),
    settles_alone: false,
    late: false,
    on_cores: 0.63,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up: |share| {
        let mut phases = sgd::set_up(share, 1.0);
        phases.push(Phase::once(Work::default(), share.dimension));
        phases
    },
    round: |share| {
        let steps = share.steps(share.passes * share.rows, 2.0);
        vec![Phase::apart(steps + sgd::averaging(share))]
    },
    build: |given| Box::new(OneShotSgd { local_steps: given.local_steps, step_size: given.step_size }),
};

/// How far workers are from the optimum of all rows cancels out in their average to the first order. What is left is of the
/// second: the square of how badly a worker's rows determine the directions that the penalty leaves free. A part of it is the
/// same for all workers, and a part is averaged over them; this is half-way between. Measured floors are in
/// `docs/decisions/012-planner-constants.md`.
fn floor(share: &Share) -> f64 {
    let undetermined = (share.directions / share.rows).powi(2);
    if share.workers > 1.0 { (undetermined / share.workers.sqrt()).min(1.0) } else { 0.0 }
}

impl Algorithm for OneShotSgd {
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
        let reach = Reach::find(worker)?;
        if saved.is_none() {
            worker.sum(&mut vec![0.0; from.weights.len()])?;
        }
        apart::start(from, saved, size, Alone { steps, reach })
    }
}

/// So many steps on the worker's own rows.
struct Alone {
    steps: usize,
    reach: Reach,
}

impl Move for Alone {
    fn round(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        weights: &mut [f64],
    ) -> Result<(), Error> {
        let rows = draw(worker, round, self.steps);
        local_steps(worker, size, (round * self.steps as u64) as f64, &rows, weights);
        self.reach.keep(weights);
        Ok(())
    }
}
