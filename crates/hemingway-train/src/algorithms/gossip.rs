//! What decentralised SGD methods share: a step along the mean gradient of a few of the worker's own rows, and the weighted
//! sum of what the worker and its neighbours have. No sum over all workers is made after setting up.

use hemingway_data::shard;

use super::quantiser::Quantiser;
use super::sgd::{self, Move, Reach, descend, known};
use super::step_size::{self, StepSize, TURNS};
use crate::topology::Neighbours;
use crate::{Error, Exchange, Parameters, Phase, Rng, Share, Topology, Work, Worker};

/// What all of them take.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given {
    pub batch: Option<usize>,
    pub step_size: Option<f64>,
    pub topology: Topology,
    pub quantiser: Quantiser,
}

impl Given {
    pub(super) fn of(parameters: &Parameters) -> Given {
        Given {
            batch: parameters.batch,
            step_size: parameters.step_size,
            topology: parameters.topology.clone().unwrap_or(Topology::Ring),
            quantiser: Quantiser::new(parameters.bits),
        }
    }

    /// The step size that was saved, given or found, and the method among its neighbours. It is tried by the method itself
    /// without neighbours, from zero, so that what rounding costs is seen too.
    pub(super) fn set_up<M: Move>(
        &self,
        worker: &mut Worker,
        from: &[f64],
        saved: Option<&[f64]>,
        build: impl Fn(Gossip, &[f64]) -> M,
    ) -> Result<(StepSize, M), Error> {
        self.topology.check(worker.size())?;
        let batch = sgd::batch(self.batch, worker)?;
        let rows = shard(batch, worker.size(), worker.rank()).len();
        let reach = Reach::find(worker)?;
        let (known, lambda) = (known(saved, self.step_size), worker.local.problem.lambda);
        let size = |relative: f64, norm: f64| step_size::usual(relative, norm, lambda);
        let size = StepSize::search(worker, known, size, |worker, size, sample| {
            let mut weights = vec![0.0; worker.local.dimension()];
            let mut alone = build(self.among(worker, Alone(sample), rows, reach), &weights);
            for step in 0..(sample / rows).max(TURNS) {
                alone.round(worker, size, step as u64, &mut weights)?;
            }
            Ok(weights)
        })?;
        let gossip = self.among(worker, Neighbourly, rows, reach);
        Ok((size, build(gossip, from)))
    }

    fn among(&self, worker: &Worker, company: Company, rows: usize, reach: Reach) -> Gossip {
        let (rank, workers, dimension) = (worker.rank(), worker.size(), worker.local.dimension());
        let (from_rows, (weight, mut to)) = match company {
            Neighbourly => (worker.local.rows(), self.topology.neighbours(rank, workers)),
            Alone(sample) => (sample, (1.0, Neighbours::new())),
        };
        let mut from = to.clone();
        // Where everyone is alike, the first message that is sent is the first that is waited for.
        to.sort_by_key(|(other, _)| (other + workers - rank) % workers);
        from.sort_by_key(|(other, _)| (rank + workers - other) % workers);
        let to = to.into_iter().map(|(other, _)| other).collect();
        let (gradient, change) = (vec![0.0; dimension], vec![0.0; dimension]);
        Gossip { rows, from_rows, weight, to, from, quantiser: self.quantiser, reach, gradient, change }
    }
}

/// Whom a worker has round it.
enum Company {
    Neighbourly,
    /// Nobody, and only its first so many rows.
    Alone(usize),
}
use Company::{Alone, Neighbourly};

/// A worker among its neighbours.
pub(super) struct Gossip {
    /// Of each of its batches.
    rows: usize,
    /// They are among its first so many.
    from_rows: usize,
    /// W_ii, who is told, and who is heard with which W_ij.
    weight: f64,
    to: Vec<usize>,
    from: Neighbours,
    quantiser: Quantiser,
    reach: Reach,
    gradient: Vec<f64>,
    change: Vec<f64>,
}

impl Gossip {
    /// Finds the change -η∇F(x) of a step on the worker's own rows, from its own weights.
    pub(super) fn step(
        &mut self,
        worker: &mut Worker,
        size: StepSize,
        round: u64,
        (own, rng): (&[f64], &mut Rng),
    ) {
        let rows = worker.pick(rng, self.from_rows, round * self.rows as u64, self.rows);
        self.gradient.fill(0.0);
        worker.local.gradient_of(&rows, own, &mut self.gradient);
        self.change.copy_from_slice(own);
        descend(worker, size, round as f64, &self.gradient, self.rows, &mut self.change);
        self.change.iter_mut().zip(own).for_each(|(change, own)| *change -= own);
        worker.local.meter_flops(MOVING_FLOPS * own.len() as f64);
    }

    /// Where the step leads from what was mixed, within reach of the optimum.
    pub(super) fn move_from(&self, mixed: &[f64], into: &mut [f64]) {
        for ((into, mixed), change) in into.iter_mut().zip(mixed).zip(&self.change) {
            *into = mixed + change;
        }
        self.reach.keep(into);
    }

    /// mixed = keep·mixed + add·Σ_j W_ij C(x_j) over the worker and its neighbours, all of whom call this; what it says of
    /// its own is taken as the others hear it, and handed on.
    pub(super) fn mix(
        &mut self,
        worker: &mut Worker,
        own: &[f64],
        rng: &mut Rng,
        (keep, add): (f64, f64),
        mixed: &mut [f64],
        mut heard: impl FnMut(usize, f64),
    ) -> Result<(), Error> {
        let message = self.quantiser.encode(own, rng);
        for neighbour in &self.to {
            worker.send(*neighbour, &message)?;
        }
        mixed.iter_mut().for_each(|mixed| *mixed *= keep);
        self.quantiser.decode(&message, own.len(), |at, value| {
            mixed[at] += add * self.weight * value;
            heard(at, value);
        });
        for (neighbour, weight) in &self.from {
            let message = worker.receive(*neighbour)?;
            self.quantiser.decode(&message, own.len(), |at, value| mixed[at] += add * weight * value);
        }
        let heard = self.from.len() + 1;
        let mixing = MIXING_FLOPS * (heard * own.len()) as f64;
        worker.local.meter_flops(mixing + self.quantiser.flops(own.len(), heard));
        Ok(())
    }
}

/// What a step of a worker costs for each weight besides its descent,
const MOVING_FLOPS: f64 = 6.0;
/// and what each of the vectors that are mixed costs.
const MIXING_FLOPS: f64 = 2.0;

/// P(0), and the search for a step size by the method itself without neighbours.
pub(super) fn set_up(share: &Share) -> Vec<Phase> {
    let rows = sgd::batch_each(share);
    let steps = (step_size::sample_of(share) / rows).floor().max(TURNS as f64);
    let mut phases = vec![Phase::once(Work::default(), 1)];
    phases.extend(step_size::trials_cost(share, steps * step(share, rows, 0.0)));
    phases
}

/// One step, and messages to the neighbours on a ring, exact ones.
pub(super) fn round(share: &Share) -> Vec<Phase> {
    let neighbours = (share.workers - 1.0).min(2.0);
    let work = step(share, sgd::batch_each(share), neighbours) + sgd::averaging(share);
    let bytes = Quantiser::Exact.bytes(share.dimension) as f64;
    vec![Phase { work, exchange: Exchange::Neighbours { messages: neighbours, bytes }, times: 1.0 }]
}

/// A step on so many rows, and mixing with so many neighbours.
fn step(share: &Share, rows: f64, neighbours: f64) -> Work {
    let vectors = MOVING_FLOPS + MIXING_FLOPS * (neighbours + 1.0);
    share.steps(rows, 2.0) + sgd::descent(share) + Work::flops(vectors * share.dimension as f64)
}
