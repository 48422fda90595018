//! Splash: each worker takes stochastic steps on its own rows as if it had all of them, and the workers' changes are put
//! together.
//!
//! A sample counts m times on each of m workers, so that a worker's pass over its rows weighs as much as a pass over all
//! rows; at the end of a round each worker ships a share 1/m of what it has changed, and the shares are added. The steps
//! are AdaGrad's: a feature's step is α m g/√s, where s sums m g² over its gradients so far and is put together like the
//! weights, to the sum over all samples. (With steps η/(1 + ηλt), a weight of m would be nothing but m times the η.)
//! Only features of the row are touched, so the penalty is shared out among the rows that have a feature, as in Hogwild!.
//! Steps shrink like 1/√t.
//!
//! Zhang, Jordan, Splash: user-friendly programming interface for parallelizing stochastic algorithms, 2015; Duchi, Hazan,
//! Singer, Adaptive subgradient methods, 2011.

use super::hogwild::penalty_shares;
use super::sgd::{self, Move, draw, known};
use super::step_size::{self, StepSize};
use super::{About, Entry, Family, Floor, TakeOver, suits_all};
use crate::footprint::Vectors;
use crate::kernels::{Rows, Task, fastest, with_rows};
use crate::loss::{Losses, Shape, with_losses};
use crate::{Algorithm, Error, Model, Phase, Solver, Work, Worker};

/// Hyperparameters of Splash.
#[derive(Debug, Clone, PartialEq)]
pub struct Splash {
    /// Steps of each worker per round; as many as it has rows if not given.
    pub local_steps: Option<usize>,
    /// How far a weight goes in its first step (α); searched for if not given.
    pub step_size: Option<f64>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "splash",
    summary: "local stochastic steps on reweighted rows, then averaging",
    reference: "Zhang and Jordan 2015",
    about: About {
        idea: "Each worker takes AdaGrad's steps on its own rows as if it had all of them: every \
            sample counts as often as there are workers. The workers' changes are put together at \
            the end of a round.",
        suits: "Sparse rows with features of very different frequency, where a rough model is wanted \
            after few sums.",
        round: "Local steps on the worker's rows, then a sum of two numbers for each feature.",
        counts: "rounds",
        defaults: &["a pass over the worker's rows", "searched for"],
        floor: Floor::Falls,
    },
    parameters: &["local_steps", "step_size"],
    vectors: Vectors { weights: 7.0, rows: 0.5, saved_weights: 2.0, ..Vectors::NONE },
    family: Family::Stochastic,
    depends_on_workers: true,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 1.05,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up: |share| {
        let mut phases = vec![Phase::once(share.squares(), share.dimension - usize::from(share.bias))];
        phases.extend(step_size::trials_cost(share, share.steps(step_size::sample_of(share), READS)));
        phases.push(Phase::once(Work::default(), 1));
        phases
    },
    round: |share| {
        let steps = share.steps(share.passes * share.rows, READS);
        vec![Phase::once(steps + sgd::averaging(share), 2 * share.dimension)]
    },
    build: |given| Box::new(Splash { local_steps: given.local_steps, step_size: given.step_size }),
};

/// How often a step reads the values of its row, or as much: a root and a quotient are worth two times.
const READS: f64 = 4.0;

impl Algorithm for Splash {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let shares = penalty_shares(worker)?;
        let given = known(saved, self.step_size);
        // A weight is about as large as one over a value.
        let size = |relative: f64, norm: f64| relative / norm.sqrt();
        let size = StepSize::search(worker, given, size, |worker, size, sample| {
            let order: Vec<u32> = (0..sample as u32).collect();
            let mut weights = vec![0.0; worker.local.dimension()];
            let mut squares = vec![0.0; weights.len()];
            steps(worker, (size, 1.0), &shares, &order, &mut weights, &mut squares);
            Ok(weights)
        })?;
        let count = self.local_steps.unwrap_or(worker.local.rows());
        let squares = vec![0.0; from.weights.len()];
        let both = Vec::with_capacity(2 * squares.len());
        sgd::start(worker, from, saved, size, Weighted { count, shares, squares, both })
    }
}

/// So many weighted steps on the worker's own rows, then the mean over the workers.
struct Weighted {
    count: usize,
    shares: Vec<f64>,
    /// Sums of squared gradients, s.
    squares: Vec<f64>,
    /// What is sent: the weights, and these sums.
    both: Vec<f64>,
}

impl Move for Weighted {
    fn round(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        weights: &mut [f64],
    ) -> Result<(), Error> {
        let rows = draw(worker, round, self.count);
        let weight = worker.size() as f64;
        steps(worker, (size, weight), &self.shares, &rows, weights, &mut self.squares);
        self.both.clear();
        self.both.extend_from_slice(weights);
        self.both.extend_from_slice(&self.squares);
        sgd::average(worker, &mut self.both)?;
        let (all, squares) = self.both.split_at(weights.len());
        weights.copy_from_slice(all);
        self.squares.copy_from_slice(squares);
        Ok(())
    }

    fn kept(&mut self) -> Option<&mut Vec<f64>> {
        Some(&mut self.squares)
    }

    fn save(&self) -> Vec<f64> {
        self.squares.clone()
    }
}

/// One step per row of `order`, each of them counting so many times.
fn steps(
    worker: &mut Worker,
    (size, weight): (StepSize, f64),
    shares: &[f64],
    order: &[u32],
    weights: &mut [f64],
    squares: &mut [f64],
) {
    let (matrix, range) = worker.local.matrix();
    let (targets, first) = (worker.local.targets(), range.start);
    let (loss, row_weights) = (worker.local.problem.loss, worker.local.weights());
    let values = with_rows!(matrix, rows => with_losses!(loss, row_weights, losses => {
        fastest(Steps { rows, losses, first, targets, size, weight, shares, order, weights, squares })
    }));
    worker.local.meter(READS * values);
    worker.local.meter_visits(order.len() as f64);
}

struct Steps<'a, R, L> {
    rows: R,
    losses: L,
    first: usize,
    targets: &'a [f32],
    size: StepSize,
    weight: f64,
    shares: &'a [f64],
    order: &'a [u32],
    weights: &'a mut [f64],
    squares: &'a mut [f64],
}

impl<R: Rows, L: Losses> Task for Steps<'_, R, L> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let Steps { rows, losses, first, targets, size, weight, shares, order, weights, squares } = self;
        let features = shares.len();
        let mut values = 0.0;
        let mut step = |gradient: f64, at: usize, weights: &mut [f64]| {
            // Nothing is divided by nothing: squares of the smallest numbers are nothing, those of the largest no numbers.
            let sum = squares[at] + weight * gradient * gradient;
            if sum > 0.0 && sum.is_finite() {
                squares[at] = sum;
                weights[at] -= size.first * weight * gradient / sum.sqrt();
            }
        };
        for (at, row) in order.iter().enumerate() {
            if let Some(soon) = order.get(at + 3) {
                rows.prefetch(first + *soon as usize);
            }
            let row = *row as usize;
            let constant = weights.get(features).copied().unwrap_or(0.0);
            let prediction = rows.dot::<FMA>(first + row, &weights[..features]) + constant;
            let slope = losses.of(row).slope(prediction, f64::from(targets[row]));
            for (feature, value) in rows.entries(first + row) {
                let penalty = size.lambda * shares[feature] * weights[feature];
                step(slope * f64::from(value) + penalty, feature, weights);
            }
            if weights.len() > features {
                step(slope, features, weights);
            }
            values += rows.length(first + row) as f64;
        }
        values
    }
}
