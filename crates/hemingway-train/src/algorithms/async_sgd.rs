//! Asynchronous SGD with parameter servers: servers hold the weights, and every worker by itself asks for the weights that
//! its next few rows need and sends what the rows before have changed. Nobody waits for anybody but the servers, and the
//! weights that a gradient is taken at are as old as its computation and its way back and forth take.
//!
//! Only features of the rows travel, so the penalty is shared out among the rows that have a feature, as in Hogwild!.
//! Steps shrink like 1/t over the batches of all workers, which is what a search for a step size expects.
//!
//! Dean et al., Large scale distributed deep networks (Downpour SGD), 2012; Li et al., Scaling distributed machine learning
//! with the parameter server, 2014.

use super::hogwild::{self, penalty_shares};
use super::sgd::draw;
use super::step_size::StepSize;
use super::{About, Entry, Family, Floor, TakeOver, late, suits_all};
use crate::footprint::Vectors;
use crate::recent::Recent;
use crate::{Algorithm, Error, Exchange, Model, Needs, Phase, Request, Share, Solver, Worker};

/// Hyperparameters of asynchronous SGD.
#[derive(Debug, Clone, PartialEq)]
pub struct AsyncSgd {
    /// Rows between two questions to the servers.
    pub batch: usize,
    /// First step size (η); searched for if not given.
    pub step_size: Option<f64>,
    /// How many servers share the weights.
    pub servers: usize,
}

/// Rows of a batch unless the user says otherwise.
const DEFAULT_BATCH: usize = 32;

pub(super) static ENTRY: Entry = Entry {
    name: "async-sgd",
    summary: "asynchronous stochastic steps through parameter servers",
    reference: "Dean et al. 2012",
    about: About {
        idea: "Servers hold the weights. Every worker by itself asks for those that its next few rows need, and \
            sends what the rows before have changed. Nobody waits for other workers, so gradients are taken \
            at weights that are a little old.",
        suits: "Sparse rows with any loss, on machines of unequal speed, where a rough model is wanted soon. On \
            dense rows every message has all weights, and the servers' links decide.",
        round: "Batches until all workers together have seen as many rows as there are. For each, a question \
            with two numbers for each feature of its rows, and an answer with one.",
        counts: "batches",
        defaults: &["32", "searched for", "1"],
        floor: Floor::Falls,
    },
    parameters: &["batch", "step_size", "servers"],
    vectors: Vectors { weights: 5.0, rows: 0.5, saved_weights: 1.0, ..Vectors::NONE },
    family: Family::Stochastic,
    depends_on_workers: true,
    alone: None,
    settles_alone: false,
    late: false,
    on_cores: 1.00,
    takes_over: |_| TakeOver::Never,
    unsuited: suits_all,
    set_up: hogwild::set_up,
    round,
    build: |given| {
        Box::new(AsyncSgd {
            batch: given.batch.unwrap_or(DEFAULT_BATCH),
            step_size: given.step_size,
            servers: given.servers.unwrap_or(1),
        })
    },
};

impl Algorithm for AsyncSgd {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn needs(&self) -> Needs {
        Needs::Servers(self.servers)
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let given = saved.and_then(|saved| saved.first().copied()).or(self.step_size);
        let shares = penalty_shares(worker)?;
        let size = late::choose(worker, given, self.batch, &shares)?;
        let mut recent = Recent::new(&from.weights);
        let mut before = 0.0;
        if let Some(saved) = saved {
            before = saved.get(1).copied().ok_or_else(Error::damaged_worker)?;
            let rest = recent.restore(&saved[2..])?;
            rest.is_empty().then_some(()).ok_or_else(Error::damaged_worker)?;
        }
        worker.serve(&from.weights)?;
        Ok(Box::new(Asking {
            batch: self.batch.min(worker.local.total_rows),
            size,
            shares,
            before,
            rounds: 0,
            made: before,
            drawn: 0,
            next: None,
            weights: from.weights.clone(),
            change: vec![0.0; from.weights.len()],
            answer: Vec::new(),
            recent,
        }))
    }
}

/// A step on as many rows as there are, which all workers make together.
fn round(share: &Share) -> Vec<Phase> {
    let batch = (DEFAULT_BATCH as f64).min(share.total_rows);
    let features = share.features_of(batch);
    let exchange = Exchange::Servers { asked: 16.0 * features, answered: 8.0 * features, servers: 1.0 };
    let work = share.steps(batch, 2.0);
    vec![Phase { work, exchange, times: share.rows / batch }]
}

/// One worker that asks the servers.
struct Asking {
    batch: usize,
    size: StepSize,
    shares: Vec<f64>,
    /// Steps of all workers before this process.
    before: f64,
    /// Rounds of this process.
    rounds: u64,
    /// Steps of all workers when they last came together.
    made: f64,
    /// Batches drawn by this worker.
    drawn: u64,
    /// What comes next.
    next: Option<Batch>,
    /// The weights as this worker knows them: those it asked for last, and the snapshot it was given.
    weights: Vec<f64>,
    /// What a batch changes.
    change: Vec<f64>,
    answer: Vec<f64>,
    recent: Recent,
}

/// Rows that are due, and the question for what they need, sent along with what the rows before have changed.
struct Batch {
    rows: Vec<u32>,
    /// How often each feature that is asked for occurs in them.
    times: Vec<f64>,
    request: Request,
}

impl Solver for Asking {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.rounds += 1;
        let until = self.rounds * worker.local.total_rows as u64;
        loop {
            let batch = match self.next.take() {
                Some(batch) => batch,
                None => self.draw(worker, Request::default()),
            };
            if !worker.exchange(&batch.request, until, &mut self.answer)? {
                self.next = Some(batch);
                return Ok(());
            }
            for (at, weight) in batch.request.read_at.iter().zip(&self.answer) {
                self.weights[*at as usize] = *weight;
            }
            let update = self.step(worker, batch);
            self.next = Some(self.draw(worker, update));
        }
    }

    /// The first worker looks at what the servers have, and tells the others.
    fn bring_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.made = self.done(worker);
        if worker.rank() == 0 {
            worker.look(&mut self.weights)?;
            self.recent.add(&self.weights);
        }
        worker.broadcast(0, &mut self.weights)?;
        worker.broadcast(0, &mut self.recent.average)
    }

    fn iterations(&self) -> Option<u64> {
        Some((self.made / self.batch as f64) as u64)
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

impl Asking {
    /// Steps of all workers so far.
    fn done(&self, worker: &Worker) -> f64 {
        self.before + worker.steps() as f64
    }

    /// The next rows, with an update to send along.
    fn draw(&mut self, worker: &Worker, update: Request) -> Batch {
        let rows = draw(worker, self.drawn, self.batch);
        self.drawn += 1;
        let (read_at, times) = worker.local.features_of(&rows);
        Batch { rows, times, request: Request { read_at, ..update } }
    }

    /// What a step along the mean gradient of these rows changes.
    fn step(&mut self, worker: &mut Worker, batch: Batch) -> Request {
        let count = batch.rows.len() as f64;
        worker.local.gradient_of(&batch.rows, &self.weights, &mut self.change);
        let size = self.size.at(self.done(worker) / self.batch as f64);
        let change = |(at, times): (&u32, &f64)| {
            let at = *at as usize;
            // The bias has no penalty, and however rare a feature is, its penalty never turns it round.
            let share = self.shares.get(at).map_or(0.0, |share| share * times / count);
            let penalty = (size * self.size.lambda * share).min(1.0) * self.weights[at];
            -size * std::mem::take(&mut self.change[at]) / count - penalty
        };
        let add_at = batch.request.read_at;
        let add = add_at.iter().zip(&batch.times).map(change).collect();
        Request { add_at, add, steps: batch.rows.len() as u64, read_at: Vec::new() }
    }
}
