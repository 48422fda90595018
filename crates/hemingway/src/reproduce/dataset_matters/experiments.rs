//! How a panel is run: an algorithm of the paper on a dataset, on all numbers of workers, with several seeds.

use std::sync::atomic::AtomicBool;

use hemingway_train::{Loss, Parameters, Problem, algorithm};
use rayon::prelude::*;

use super::curves::Curves;
use super::data::{Data, Rows, Split};
use super::perfect::Run;
use crate::Error;

/// Numbers of workers; the paper's table has those from 2 on.
pub(super) const WORKERS: [usize; 6] = [1, 2, 4, 8, 16, 24];
/// The paper's penalty.
pub(super) const LAMBDA: f64 = 0.01;
/// Points of a curve.
const POINTS: u64 = 100;
/// A multiple of every number of workers, so that asynchronous ones stop when all have had as many turns.
const TURNS: u64 = 48;

/// The paper's algorithms, and one beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    MiniBatch,
    Ecd,
    /// The paper's Algorithm 1, on so many rows an iteration.
    Hogwild {
        rows: usize,
    },
    /// Ours, whose workers step on copies of their own.
    OwnCopies,
    Dadm,
}

/// One chart: an algorithm on a dataset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    /// Names its files: `3a`.
    pub name: &'static str,
    pub title: &'static str,
    pub rows: Rows,
    pub method: Method,
    /// The first step size; nothing where there are no steps of a size.
    pub step: Option<f64>,
    /// Iterations, unless more are asked for.
    pub iterations: u64,
    /// Times the seeds.
    pub times: u64,
    /// Whether rows come in their order.
    pub in_order: bool,
}

impl Method {
    /// Its name in the catalogue, and its parameters but for the step size.
    pub fn algorithm(self, workers: usize) -> (&'static str, Parameters) {
        let batch = |rows| Parameters { batch: Some(rows), ..Parameters::default() };
        match self {
            Method::MiniBatch => ("minibatch-sgd", batch(workers)),
            Method::Ecd => ("ecd-psgd", batch(workers)),
            Method::Hogwild { rows } => ("async-sgd", batch(rows)),
            Method::OwnCopies => ("hogwild", Parameters::default()),
            Method::Dadm => ("dadm", batch(workers)),
        }
    }

    /// Whether an iteration is one step of one worker rather than one of each.
    pub fn is_asynchronous(self) -> bool {
        matches!(self, Method::Hogwild { .. } | Method::OwnCopies)
    }

    fn rows(self) -> u64 {
        match self {
            Method::Hogwild { rows } => rows as u64,
            _ => 1,
        }
    }
}

/// How much is run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    pub seeds: u64,
    /// Times the iterations of a panel.
    pub stretch: u64,
}

impl Panel {
    /// The runs of all numbers of workers and seeds; nothing if interrupted.
    pub fn run(&self, data: &Data, effort: Effort, interrupt: &AtomicBool) -> Result<Option<Curves>, Error> {
        let (stops, seeds) = (self.stops(effort.stretch), self.times * effort.seeds);
        let splits: Vec<Split> =
            (1..=seeds).map(|seed| data.split(self.rows, seed)).collect::<Result<_, _>>()?;
        let one = |(workers, seed): (usize, u64)| {
            let split = &splits[seed as usize - 1];
            let (name, given) = self.method.algorithm(workers);
            let algorithm = algorithm(name, &Parameters { step_size: self.step, ..given })?;
            let run = Run {
                training: split.training.clone(),
                heldout: split.heldout.clone(),
                problem: Problem::new(Loss::Logistic, LAMBDA)?,
                algorithm,
                rows: self.method.rows(),
                workers,
                seed,
                in_order: self.in_order,
                stops: stops.clone(),
            };
            Ok::<_, Error>(run.losses(interrupt)?)
        };
        // The longest first, one at a time to whoever is idle.
        let all: Vec<(usize, u64)> = WORKERS
            .into_iter()
            .rev()
            .flat_map(|workers| (1..=seeds).map(move |seed| (workers, seed)))
            .collect();
        let losses: Result<Option<Vec<Vec<f64>>>, Error> = all
            .into_par_iter()
            .with_max_len(1)
            .map(|run| one(run).transpose())
            .collect::<Option<Result<_, _>>>()
            .transpose();
        let Some(losses) = losses? else { return Ok(None) };
        let by_workers = losses.chunks(seeds as usize).rev().map(<[_]>::to_vec).collect();
        let iterations = [0].into_iter().chain(stops).collect();
        Ok(Some(Curves { workers: WORKERS.to_vec(), iterations, losses: by_workers }))
    }

    /// Evenly spaced.
    fn stops(&self, stretch: u64) -> Vec<u64> {
        let unit = if self.method.is_asynchronous() { TURNS } else { 1 };
        let step = (stretch * self.iterations / POINTS / unit).max(1) * unit;
        (1..=POINTS).map(|at| at * step).collect()
    }
}
