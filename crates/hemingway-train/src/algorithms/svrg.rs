//! SVRG: stochastic steps without noise, from a whole gradient now and then.
//!
//! A round begins where objective and gradient are known. Each worker takes stochastic steps on its own rows, each
//! corrected by what the same row said there:
//!
//! ```text
//! w ← w − η((φ'_i(w) − φ'_i(w̃)) x_i + λ(w − w̃) + ∇P(w̃)),
//! ```
//!
//! so that at the optimum all of them vanish. Then the weights are averaged and the whole gradient is taken at the average:
//! two sums per round, however many steps. The steps of the paper, each of which would need a sum, are out of the question
//! where a sum costs as much as thousands of them. What averaging may spoil, if the workers' rows differ too much for so many
//! steps, the objective shows, which comes with the gradient: a round that raises it is taken back, and the steps become
//! half as long. So nothing diverges, and no noise is left.
//!
//! On the hinge, whose slopes do not become equal as weights do, there is no such correction: the objective still never
//! rises, but need not come to the optimum.
//!
//! Johnson and Zhang, Accelerating stochastic gradient descent using predictive variance reduction, 2013; local steps and
//! averaging: Konečný et al., Federated optimization, 2016.

use super::line_search::{ROUNDING, add};
use super::sgd::draw;
use super::vain::Vain;
use super::{About, Entry, Family, Floor, Passes, TakeOver, unsuited_for_corners};
use crate::footprint::{Leaves, Vectors};
use crate::kernels::{Rows, Task, fastest, with_rows};
use crate::loss::{Losses, Shape, with_losses};
use crate::{Algorithm, Error, Estimate, Loss, Model, Phase, Share, Solver, Work, Worker};

/// Hyperparameters of SVRG.
#[derive(Debug, Clone, PartialEq)]
pub struct Svrg {
    /// Steps of each worker per round; as many as it has rows if not given.
    pub local_steps: Option<usize>,
    /// First step size (η); from the longest row if not given.
    pub step_size: Option<f64>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "svrg",
    summary: "local stochastic steps corrected by whole gradients, then averaging; no noise is left",
    reference: "Johnson and Zhang 2013",
    about: About {
        idea: "Stochastic steps on each worker's own rows, each corrected by what the same row said \
            at a point where the whole gradient is known, so that the noise vanishes at the optimum. \
            Then the weights are averaged. A round that raises the objective is taken back with half \
            the step.",
        suits: "Smooth losses, many rows and a lambda that is not small. On the hinge the correction \
            does not work.",
        round: "Local steps on the worker's rows and a whole gradient: two sums of one number for \
            each feature.",
        counts: "rounds",
        defaults: &["a pass over the worker's rows", "one over the largest curvature of a row"],
        floor: Floor::None,
    },
    parameters: &["local_steps", "step_size"],
    vectors: Vectors { weights: 9.0, rows: 6.5, leaves: Leaves::Gradient, ..Vectors::NONE },
    family: Family::Stochastic,
    depends_on_workers: true,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 0.46,
    takes_over: |_| TakeOver::After { rounds: 0.0 },
    unsuited: unsuited_for_corners,
    set_up,
    round,
    build: |given| Box::new(Svrg { local_steps: given.local_steps, step_size: given.step_size }),
};

/// Steps are as long as this over the largest curvature of a row. Half of it takes up to twice as many rounds where λ is small
/// (a9a to 1e-3 on 8 workers, λ = 1e-5: 31 for 16; λ = 1e-3: 3 for 4), twice as much fewer there and more where λ is large
/// (13 and 8): `cargo run --release -p hemingway-train --example rounds -- a9a.libsvm.gz --algorithms svrg --step-size 0.286
/// --lambdas 1e-3,1e-5 --workers 8`, where 1/L is 0.286.
const LENGTH: f64 = 1.0;

impl Algorithm for Svrg {
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
        let (first_size, step_size, round, vain) = match (saved, self.step_size) {
            (Some([first_size, step_size, round, vain]), _) => {
                (*first_size, *step_size, *round as u64, Vain::restore(*vain))
            }
            (Some(_), _) => return Err(Error::damaged_worker()),
            (None, Some(size)) => (size, size, 0, Vain::default()),
            (None, None) => {
                let size = LENGTH / largest_curvature(worker)?;
                (size, size, 0, Vain::default())
            }
        };
        let passes = Passes::at(worker, from.weights.clone())?;
        let steps = self.local_steps.unwrap_or(worker.local.rows());
        Ok(Box::new(Reduced { passes, steps, first_size, step_size, round, vain }))
    }
}

/// The longest row of each worker, then a pass.
fn set_up(share: &Share) -> Vec<Phase> {
    let longest = Phase::once(share.squares(), share.workers as usize);
    vec![longest, Phase::once(share.steps(share.rows, 2.0), share.dimension + 1)]
}

fn round(share: &Share) -> Vec<Phase> {
    let known = share.half_pass() + share.losses();
    let steps = share.steps(share.passes * share.rows, 2.0) + vector_work(share.dimension);
    vec![
        Phase::once(known + steps, share.dimension),
        Phase::once(share.steps(share.rows, 2.0), share.dimension + 1),
    ]
}

/// Putting weights together and taking them apart.
fn vector_work(dimension: usize) -> Work {
    Work::flops(4.0 * dimension as f64)
}

/// λ + (largest curvature of the loss)·max c_i‖x_i‖², which no row exceeds.
fn largest_curvature(worker: &mut Worker) -> Result<f64, Error> {
    let (matrix, range) = worker.local.matrix();
    let mut longest = vec![0.0; worker.size()];
    let constant = f64::from(u8::from(worker.local.problem.bias));
    longest[worker.rank()] = with_rows!(matrix, rows => {
        let curvature = |(row, at)| worker.local.weight(row) * (rows.squared_norm(at) + constant);
        range.enumerate().map(curvature).fold(0.0, f64::max)
    });
    worker.local.meter(worker.local.stored() as f64);
    worker.sum(&mut longest)?;
    let problem = worker.local.problem;
    let longest = longest.into_iter().fold(0.0, f64::max);
    Ok((problem.lambda + problem.loss.smoothness().unwrap_or(1.0) * longest).min(f64::MAX))
}

struct Reduced {
    /// Objective and gradient where the steps begin.
    passes: Passes,
    steps: usize,
    first_size: f64,
    /// Half of it for each round that was taken back.
    step_size: f64,
    round: u64,
    vain: Vain,
}

impl Solver for Reduced {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let order = draw(worker, self.round, self.steps);
        self.round += 1;
        let mut weights = corrected_steps(worker, &self.passes, self.step_size, &order);
        let share = 1.0 / worker.size() as f64;
        weights.iter_mut().for_each(|weight| *weight *= share);
        worker.sum(&mut weights)?;
        let after = Passes::at(worker, weights)?;
        let limit = self.passes.objective;
        if after.objective <= limit {
            self.passes = after;
            return Ok(());
        }
        let rounding = after.objective <= limit * (1.0 + ROUNDING);
        self.vain.count(rounding, false);
        self.step_size /= 2.0;
        Ok(())
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

    fn stuck(&self) -> bool {
        self.vain.enough()
    }

    fn step_size(&self) -> Option<f64> {
        Some(self.first_size)
    }

    fn save(&self) -> Vec<f64> {
        vec![self.first_size, self.step_size, self.round as f64, self.vain.save()]
    }
}

/// A step on each row of `order`, begun where objective and gradient are known.
fn corrected_steps(worker: &mut Worker, passes: &Passes, step_size: f64, order: &[u32]) -> Vec<f64> {
    let (features, lambda) = (worker.local.features(), worker.local.problem.lambda);
    // What is the same in every step, without the penalty: it goes along with the weights.
    let mut drift = passes.gradient.clone();
    add(&mut drift[..features], -lambda, &passes.weights[..features]);
    let bias_drift = drift.get_mut(features).map_or(0.0, std::mem::take);
    let mut along = vec![0.0; worker.local.rows()];
    worker.local.predict(&drift, &mut along);
    let slopes = worker.local.slopes(&passes.predictions);
    worker.local.meter_losses(worker.local.rows() as f64);
    let mut weights = passes.weights.clone();
    let (matrix, range) = worker.local.matrix();
    let (first, targets) = (range.start, worker.local.targets());
    let (linear, bias) = weights.split_at_mut(features);
    let bias = bias.first_mut().map(|bias| (bias, bias_drift));
    let drift = &drift[..features];
    let (loss, row_weights) = (worker.local.problem.loss, worker.local.weights());
    let values = with_rows!(matrix, rows => with_losses!(loss, row_weights, losses => fastest(Steps {
        rows, losses, first, targets, step_size, lambda, order, drift, along: &along, slopes: &slopes, weights: linear, bias,
    })));
    worker.local.meter(2.0 * values);
    worker.local.meter_visits(order.len() as f64);
    worker.local.meter_flops(vector_work(worker.local.dimension()).flops);
    weights
}

/// Corrected steps. The weights are kept as `scale`·`weights` + `drifted`·`drift`, so that a step touches the values of
/// its row only.
struct Steps<'a, R, L> {
    rows: R,
    losses: L,
    first: usize,
    targets: &'a [f32],
    step_size: f64,
    lambda: f64,
    order: &'a [u32],
    /// The mean of φ'_i(w̃) x_i over all rows,
    drift: &'a [f64],
    /// its products with this worker's rows,
    along: &'a [f64],
    /// and the slopes φ'_i(w̃).
    slopes: &'a [f64],
    weights: &'a mut [f64],
    /// With its own drift.
    bias: Option<(&'a mut f64, f64)>,
}

impl<R: Rows, L: Losses> Task for Steps<'_, R, L> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let Steps { rows, losses, first, targets, step_size, lambda, order, .. } = self;
        let Steps { drift, along, slopes, weights, mut bias, .. } = self;
        let shrink = (1.0 - step_size * lambda).max(SMALLEST_SCALE);
        let (mut scale, mut drifted, mut values) = (1.0, 0.0, 0.0);
        for (at, row) in order.iter().enumerate() {
            if let Some(soon) = order.get(at + 3) {
                rows.prefetch(first + *soon as usize);
            }
            let row = *row as usize;
            let constant = bias.as_ref().map_or(0.0, |(bias, _)| **bias);
            let prediction = scale * rows.dot::<FMA>(first + row, weights) + drifted * along[row] + constant;
            let slope = losses.of(row).slope(prediction, f64::from(targets[row])) - slopes[row];
            scale *= shrink;
            drifted = shrink * drifted - step_size;
            if scale < SMALLEST_SCALE {
                together(weights, scale, drifted, drift);
                (scale, drifted) = (1.0, 0.0);
            }
            if slope != 0.0 {
                rows.add::<FMA>(first + row, -step_size * slope / scale, weights);
            }
            if let Some((bias, drift)) = bias.as_mut() {
                **bias -= step_size * (slope + *drift);
            }
            values += rows.length(first + row) as f64;
        }
        together(weights, scale, drifted, drift);
        values
    }
}

/// weights = scale·weights + drifted·drift.
#[inline(always)]
fn together(weights: &mut [f64], scale: f64, drifted: f64, drift: &[f64]) {
    for (weight, drift) in weights.iter_mut().zip(drift) {
        *weight = scale * *weight + drifted * drift;
    }
}

const SMALLEST_SCALE: f64 = 1e-6;
