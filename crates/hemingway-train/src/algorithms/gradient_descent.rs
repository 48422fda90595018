//! Gradient descent: the same steps on any number of workers.
//!
//! Every round computes the whole gradient, each worker on its rows, and moves against it by 1/L, with
//! L = λ + (largest curvature of the loss)·σ_max(XᵀCX)/n from a few power iterations, with C the weights of rows. Losses without curvature
//! (the hinge) get subgradient steps that shrink like 1/√t.

use super::{About, Entry, Family, Floor, Passes, TakeOver, suits_all};
use crate::footprint::{Leaves, Vectors};
use crate::{Algorithm, Error, Estimate, Loss, Model, Phase, Share, Solver, Worker};

/// Hyperparameters of gradient descent.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientDescent {
    /// Length of a step; 1/L if not given.
    pub step_size: Option<f64>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "gradient-descent",
    summary: "whole gradient, fixed step; the same on any number of workers",
    reference: "Cauchy 1847",
    about: About {
        idea: "Every round computes the gradient over all rows, each worker on its own, and moves against it by \
            1/L, with L from a few power iterations. The hinge has no curvature; there subgradient steps \
            shrink like 1/√t.",
        suits: "Well-conditioned problems: a smooth loss, a large lambda, scaled columns. Otherwise it takes \
            many rounds, and l-bfgs does the same work far better. On the hinge it is slow.",
        round: "A pass over the worker's rows, then a sum of one number for each feature. The number of workers \
            does not change what it achieves.",
        counts: "rounds",
        defaults: &["1/L"],
        floor: Floor::None,
    },
    parameters: &["step_size"],
    vectors: Vectors { weights: 5.0, rows: 3.0, leaves: Leaves::Gradient, ..Vectors::NONE },
    family: Family::Batch,
    depends_on_workers: false,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 0.67,
    takes_over: |loss| {
        if loss.smoothness().is_some() { TakeOver::After { rounds: 0.0 } } else { TakeOver::Never }
    },
    unsuited: suits_all,
    set_up,
    round: |share| vec![Phase::once(share.steps(share.rows, 2.0), share.dimension + 1)],
    build: |given| Box::new(GradientDescent { step_size: given.step_size }),
};

impl Algorithm for GradientDescent {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn goes_on_from_model(&self, loss: Loss) -> bool {
        loss.smoothness().is_some()
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let (step_size, round) = match (saved, self.step_size) {
            (Some([step_size, round]), _) => (*step_size, *round as u64),
            (Some(_), _) => return Err(Error::damaged_worker()),
            (None, Some(step_size)) => (step_size, 0),
            (None, None) => (1.0 / smoothness(worker)?, 0),
        };
        let passes = Passes::at(worker, from.weights.clone())?;
        Ok(Box::new(Descent { passes, step_size, round }))
    }
}

/// Power iterations, then a pass.
fn set_up(share: &Share) -> Vec<Phase> {
    let iteration = Phase::once(2.0 * share.half_pass(), share.dimension);
    let iterations = Phase { times: POWER_ITERATIONS as f64, ..iteration };
    vec![iterations, Phase::once(share.steps(share.rows, 2.0), share.dimension + 1)]
}

/// L: how fast the gradient can change. The hinge is treated as if it curved like the smoothed hinge.
pub(super) fn smoothness(worker: &mut Worker) -> Result<f64, Error> {
    let problem = worker.local.problem;
    let mut direction = vec![1.0; worker.local.dimension()];
    let mut products = vec![0.0; worker.local.rows()];
    let mut largest = 0.0;
    for _ in 0..POWER_ITERATIONS {
        let norm = crate::local::dot(&direction, &direction).sqrt();
        if norm == 0.0 {
            break;
        }
        direction.iter_mut().for_each(|value| *value /= norm);
        worker.local.predict(&direction, &mut products);
        worker.local.weigh(&mut products);
        direction.fill(0.0);
        worker.local.combine(&products, &mut direction);
        worker.sum(&mut direction)?;
        largest = crate::local::dot(&direction, &direction).sqrt();
    }
    let curvature = problem.loss.smoothness().unwrap_or(1.0);
    Ok(problem.lambda + SAFETY * curvature * largest / worker.local.total_rows as f64)
}

const POWER_ITERATIONS: usize = 10;
/// Power iterations approach the largest eigenvalue from below.
const SAFETY: f64 = 1.05;

struct Descent {
    passes: Passes,
    step_size: f64,
    round: u64,
}

impl Solver for Descent {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.round += 1;
        let smooth = worker.local.problem.loss.smoothness().is_some();
        let step = if smooth { self.step_size } else { self.step_size / (self.round as f64).sqrt() };
        let pairs = self.passes.weights.iter_mut().zip(&self.passes.gradient);
        pairs.for_each(|(weight, slope)| *weight -= step * slope);
        self.passes.pass(worker)
    }

    fn weights(&self) -> &[f64] {
        &self.passes.weights
    }

    fn predictions(&self) -> Option<&[f64]> {
        Some(&self.passes.predictions)
    }

    fn gradient(&self) -> Option<&[f64]> {
        Some(&self.passes.gradient)
    }

    fn estimate(&self) -> Option<Estimate> {
        self.passes.estimate()
    }

    fn save(&self) -> Vec<f64> {
        vec![self.step_size, self.round as f64]
    }
}
