//! Hogwild!: stochastic gradient descent by all cores at once, on weights in memory that they share.
//!
//! Every worker draws its own rows and steps along their gradients without locks and without waiting. Only the features of
//! the row are touched, so the penalty is shared out among the rows that have a feature: λ n/n_j for a feature that n_j
//! rows have, which in the mean is λ. Two updates of one feature at the same moment may cost one of them; on sparse rows
//! that is rare, and the gradients are noisy anyway. Steps shrink like 1/t over the steps of all workers. The noise of
//! single rows, and of weights that are some steps old, sets a floor under the error, which falls as steps shrink.
//!
//! Recht, Ré, Wright, Niu, Hogwild!: a lock-free approach to parallelizing stochastic gradient descent, 2011.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::sgd::draw;
use super::step_size::StepSize;
use super::{About, Entry, Family, TakeOver, late, suits_all};
use crate::engines::shared_memory::{change_racing, load};
use crate::footprint::Vectors;
use crate::kernels::{Rows, Task, fastest, with_rows};
use crate::loss::{Shape, with_loss};
use crate::recent::Recent;
use crate::{Algorithm, Error, Model, Needs, Phase, Share, SharedMemory, Solver, Worker};

/// Hyperparameters of Hogwild!.
#[derive(Debug, Clone, PartialEq)]
pub struct Hogwild {
    /// First step size (η); searched for if not given.
    pub step_size: Option<f64>,
}

pub(super) static ENTRY: Entry = Entry {
    name: "hogwild",
    summary: "asynchronous stochastic steps in shared memory",
    reference: "Recht et al. 2011",
    about: About {
        idea: "Every worker draws its own rows and steps along their gradients, on weights in memory that all \
            share, without locks and without waiting. Two updates of one feature at the same moment may cost \
            one of them; on sparse rows that is rare. Steps shrink with time.",
        suits: "Sparse rows with any loss, on the cores of one machine, where a rough model is wanted soon. On \
            dense rows all workers write to the same features, and more of them hardly help.",
        round: "As many steps of all workers together as there are rows. Nothing is sent; a fast worker makes \
            more of the steps.",
        counts: "steps",
        defaults: &["searched for"],
        floor: true,
    },
    parameters: &["step_size"],
    vectors: Vectors { weights: 4.0, rows: 0.5, saved_weights: 1.0, ..Vectors::NONE },
    family: Family::Stochastic,
    depends_on_workers: true,
    alone: None,
    settles_alone: false,
    late: false,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up,
    round,
    build: |given| Box::new(Hogwild { step_size: given.step_size }),
};

impl Algorithm for Hogwild {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn needs(&self) -> Needs {
        Needs::SharedMemory
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let given = saved.and_then(|saved| saved.first().copied()).or(self.step_size);
        let shares = penalty_shares(worker)?;
        let size = late::choose(worker, given, 1, &shares)?;
        let mut recent = Recent::new(&from.weights);
        let mut before = 0.0;
        if let Some(saved) = saved {
            before = saved.get(1).copied().ok_or_else(Error::damaged_worker)?;
            let rest = recent.restore(&saved[2..])?;
            rest.is_empty().then_some(()).ok_or_else(Error::damaged_worker)?;
        }
        let memory = worker.share(&from.weights)?;
        Ok(Box::new(InMemory {
            size,
            shares,
            memory,
            held: None,
            before,
            rounds: 0,
            made: before,
            recent,
            weights: from.weights.clone(),
        }))
    }
}

/// The search for a step size, and the rows that have each feature.
pub(super) fn set_up(share: &Share) -> Vec<Phase> {
    let mut phases = late::search_cost(share).to_vec();
    phases.push(Phase::once(share.squares(), share.dimension));
    phases
}

/// A step on as many rows as there are, which all workers make together.
fn round(share: &Share) -> Vec<Phase> {
    vec![Phase::apart(share.steps(share.rows, 2.0))]
}

/// For each feature all rows over those that have it.
pub(super) fn penalty_shares(worker: &mut Worker) -> Result<Vec<f64>, Error> {
    let mut rows = vec![0.0; worker.local.features()];
    worker.local.count_features(&mut rows);
    worker.sum(&mut rows)?;
    let n = worker.local.total_rows as f64;
    rows.iter_mut().for_each(|rows| *rows = n / rows.max(1.0));
    Ok(rows)
}

/// Stochastic steps on memory that is shared.
struct InMemory {
    size: StepSize,
    shares: Vec<f64>,
    memory: Arc<SharedMemory>,
    held: Option<Step>,
    /// Steps of all workers before this process.
    before: f64,
    /// Rounds of this process.
    rounds: u64,
    /// Steps of all workers when they last came together.
    made: f64,
    recent: Recent,
    /// As they were at the end of the last round.
    weights: Vec<f64>,
}

/// A step that is known and has not been made yet.
#[derive(Clone, Copy)]
struct Step {
    row: usize,
    slope: f64,
    size: f64,
}

impl Solver for InMemory {
    /// As many steps of all workers together as there are rows.
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let mut rng = worker.rng(self.recent.rounds);
        self.rounds += 1;
        let until = self.rounds * worker.local.total_rows as u64;
        while let Some(steps) = worker.turn(until)? {
            let rows = draw(&mut rng, worker.local.rows(), steps);
            let made = self.steps(worker, &rows);
            worker.made(made);
        }
        self.memory.read(&mut self.weights);
        if worker.rank() == 0 {
            self.recent.add(&self.weights);
        } else {
            self.recent.rounds += 1;
        }
        Ok(())
    }

    /// The first worker's weights and average are everyone's.
    fn bring_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.made = self.done(worker);
        worker.broadcast(0, &mut self.weights)?;
        worker.broadcast(0, &mut self.recent.average)
    }

    fn iterations(&self) -> Option<u64> {
        Some(self.made as u64)
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn proposal(&self) -> &[f64] {
        &self.recent.average
    }

    fn step_size(&self) -> Option<f64> {
        Some(self.size.first)
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.size.first, self.made];
        saved.extend(self.recent.save());
        saved
    }
}

impl InMemory {
    /// Steps of all workers so far.
    fn done(&self, worker: &Worker) -> f64 {
        self.before + worker.steps() as f64
    }

    /// Makes the step that was held back, then one for each row but the last, which is held back in turn. Returns how
    /// many were made.
    fn steps(&mut self, worker: &mut Worker, rows: &[u32]) -> u64 {
        let (matrix, range) = worker.local.matrix();
        let done = self.done(worker);
        let weights = self.memory.cells();
        let before = self.held.take();
        let (made, held, values) = with_rows!(matrix, matrix => with_loss!(worker.local.problem.loss, loss => {
            fastest(Steps {
                matrix, loss, first: range.start, targets: worker.local.targets(), size: self.size, done,
                workers: worker.size() as f64, rows, weights, shares: &self.shares, held: before,
            })
        }));
        self.held = held;
        worker.local.meter(2.0 * values);
        worker.local.meter_visits(rows.len() as f64);
        made
    }
}

struct Steps<'a, R, S> {
    matrix: R,
    loss: S,
    first: usize,
    targets: &'a [f32],
    size: StepSize,
    /// Steps of all workers so far; while this worker makes one, so does each of the others.
    done: f64,
    workers: f64,
    rows: &'a [u32],
    weights: &'a [AtomicU64],
    shares: &'a [f64],
    held: Option<Step>,
}

impl<R: Rows, S: Shape> Task for Steps<'_, R, S> {
    type Output = (u64, Option<Step>, f64);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> (u64, Option<Step>, f64) {
        let (weights, bias) = self.weights.split_at(self.shares.len());
        let (mut held, mut made, mut values) = (self.held, 0, 0.0);
        for (at, row) in self.rows.iter().enumerate() {
            if let Some(step) = held {
                self.make(step, weights, bias);
                made += 1;
            }
            if let Some(soon) = self.rows.get(at + 3) {
                self.matrix.prefetch(self.first + *soon as usize);
            }
            let row = *row as usize;
            let constant = bias.first().map_or(0.0, load);
            let prediction = self.matrix.dot_shared(self.first + row, weights) + constant;
            let slope = self.loss.slope(prediction, f64::from(self.targets[row]));
            held = Some(Step { row, slope, size: self.size.at(self.done + at as f64 * self.workers) });
            values += self.matrix.length(self.first + row) as f64;
        }
        (made, held, values)
    }
}

impl<R: Rows, S: Shape> Steps<'_, R, S> {
    /// Every feature of the row moves along the loss and shrinks by its share of the penalty.
    #[inline(always)]
    fn make(&self, Step { row, slope, size }: Step, weights: &[AtomicU64], bias: &[AtomicU64]) {
        for (feature, value) in self.matrix.entries(self.first + row) {
            let shrink = (1.0 - size * self.size.lambda * self.shares[feature]).max(0.0);
            change_racing(&weights[feature], |weight| weight * shrink - size * slope * f64::from(value));
        }
        if let Some(bias) = bias.first() {
            change_racing(bias, |bias| bias - size * slope);
        }
    }
}
