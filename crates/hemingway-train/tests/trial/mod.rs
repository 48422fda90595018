//! Small datasets and short runs, shared by the tests of this crate.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::sync::atomic::AtomicBool;

use hemingway_data::{Dataset, Dense, Labels, Matrix, Sparse};
use hemingway_train::{
    Checkpoint, Cluster, Engine, Entry, Error, Event, Job, Loss, Machine, Needs, Parameters, Point, Problem,
    Run, Scoring, Seconds, Simulated, Start, StopRules, algorithm, catalogue,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What an algorithm asks of an engine.
pub fn needs(name: &str) -> Needs {
    algorithm(name, &Parameters::default()).expect("in the catalogue").needs()
}

/// Methods whose workers wait for one another, so that no clock decides what they compute.
pub fn in_step() -> impl Iterator<Item = &'static Entry> {
    let waits = |entry: &&Entry| matches!(needs(entry.name), Needs::Collectives | Needs::Neighbours);
    catalogue().iter().copied().filter(waits)
}

/// Methods that an engine can run.
pub fn offered(engine: &dyn Engine) -> impl Iterator<Item = &'static Entry> {
    catalogue().iter().copied().filter(|entry| engine.offers(needs(entry.name)))
}

/// How a small dataset looks.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    pub rows: usize,
    pub columns: usize,
    pub sparse: bool,
    /// Chance that a label is turned over, or the size of the noise of real-valued targets.
    pub noise: f64,
    /// Whether targets are numbers instead of classes.
    pub numbers: bool,
    /// Size of the features.
    pub scale: f64,
    /// Chance that a row is empty, and that it repeats the one before.
    pub empty: f64,
    pub repeated: f64,
    /// Whether rows count 0 times, hardly, once, often, or anything between.
    pub weighted: bool,
    pub seed: u64,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            rows: 60,
            columns: 8,
            sparse: false,
            noise: 0.1,
            numbers: false,
            scale: 1.0,
            empty: 0.0,
            repeated: 0.0,
            weighted: false,
            seed: 1,
        }
    }
}

impl Recipe {
    /// Rows along a hidden direction; both classes occur.
    pub fn cook(&self) -> Dataset {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let hidden: Vec<f64> = (0..self.columns).map(|_| normal(&mut rng)).collect();
        let mut rows: Vec<Vec<f32>> = Vec::new();
        for _ in 0..self.rows {
            let row = self.row(&mut rng, rows.last());
            rows.push(row);
        }
        let mut targets: Vec<f32> = rows.iter().map(|row| self.target(&mut rng, row, &hidden)).collect();
        if !self.numbers {
            (targets[0], targets[1]) = (1.0, -1.0);
        }
        let data = dataset(self.sparse, self.columns, &rows, targets);
        if self.weighted { data.with_weights(self.weights(&mut rng)).expect("usable weights") } else { data }
    }

    /// The first two rows, which are of both classes, count in any case.
    fn weights(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<f32> {
        let any = |rng: &mut Xoshiro256PlusPlus| match rng.random_range(0..5) {
            0 => 0.0,
            1 => 1e-6,
            2 => 1.0,
            3 => 7.0,
            _ => 3.0 * rng.random::<f32>(),
        };
        (0..self.rows).map(|row| if row < 2 { 1.0 } else { any(rng) }).collect()
    }

    fn row(&self, rng: &mut Xoshiro256PlusPlus, before: Option<&Vec<f32>>) -> Vec<f32> {
        let kept = if self.sparse { 0.3 } else { 1.0 };
        let (kind, empty) = (rng.random::<f64>(), vec![0.0; self.columns]);
        match before {
            Some(before) if kind < self.repeated => before.clone(),
            _ if kind > 1.0 - self.empty => empty,
            _ => {
                let value = |rng: &mut Xoshiro256PlusPlus| {
                    if rng.random::<f64>() < kept { (self.scale * normal(rng)) as f32 } else { 0.0 }
                };
                (0..self.columns).map(|_| value(rng)).collect()
            }
        }
    }

    fn target(&self, rng: &mut Xoshiro256PlusPlus, row: &[f32], hidden: &[f64]) -> f32 {
        let score: f64 = row.iter().zip(hidden).map(|(value, weight)| f64::from(*value) * weight).sum();
        if self.numbers {
            return (score + self.noise * normal(rng)) as f32;
        }
        let turned = rng.random::<f64>() < self.noise;
        if (score > 0.0) != turned { 1.0 } else { -1.0 }
    }
}

/// About normal: a sum of uniform numbers.
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// A dataset from rows; zeros are left out of sparse ones.
pub fn dataset(sparse: bool, columns: usize, rows: &[Vec<f32>], targets: Vec<f32>) -> Dataset {
    let matrix = if sparse {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (index, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                indices.push(index as u32);
                values.push(*value);
            }
            offsets.push(indices.len());
        }
        Matrix::Sparse(Sparse::new(columns, offsets, indices, values))
    } else {
        Matrix::Dense(Dense::new(rows.len(), columns, rows.concat()))
    };
    Dataset::new("test", matrix, targets, Labels::Numbers)
}

/// The rows of a dataset, written out.
pub fn rows_of(data: &Dataset) -> Vec<Vec<f64>> {
    let columns = data.matrix.columns();
    let row = |row: usize| {
        let mut values = vec![0.0; columns];
        match &data.matrix {
            Matrix::Sparse(sparse) => {
                for at in sparse.offsets()[row]..sparse.offsets()[row + 1] {
                    values[sparse.indices()[at] as usize] = f64::from(sparse.values()[at]);
                }
            }
            Matrix::Dense(dense) => {
                let stored = &dense.values()[row * columns..(row + 1) * columns];
                values.iter_mut().zip(stored).for_each(|(value, stored)| *value = f64::from(*stored));
            }
        }
        values
    };
    (0..data.matrix.rows()).map(row).collect()
}

/// P(w) by the book.
pub fn objective(data: &Dataset, problem: Problem, weights: &[f64]) -> f64 {
    let columns = data.matrix.columns();
    let bias = if problem.bias { weights[columns] } else { 0.0 };
    let dot = |a: &[f64]| a.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>();
    let rows = rows_of(data);
    let losses = rows.iter().zip(&data.targets).enumerate().map(|(at, (row, y))| {
        f64::from(data.weight(at)) * loss(problem.loss, dot(row) + bias, f64::from(*y))
    });
    let squares: f64 = weights[..columns].iter().map(|weight| weight * weight).sum();
    losses.sum::<f64>() / rows.len() as f64 + problem.lambda / 2.0 * squares
}

/// φ(p, y) by the book.
fn loss(loss: Loss, p: f64, y: f64) -> f64 {
    let margin = y * p;
    match loss {
        Loss::Hinge => (1.0 - margin).max(0.0),
        Loss::SmoothedHinge if margin >= 1.0 => 0.0,
        Loss::SmoothedHinge if margin <= 0.0 => 0.5 - margin,
        Loss::SmoothedHinge => (1.0 - margin).powi(2) / 2.0,
        Loss::Logistic if margin > 0.0 => (-margin).exp().ln_1p(),
        Loss::Logistic => margin.exp().ln_1p() - margin,
        Loss::Squared => (p - y).powi(2) / 2.0,
    }
}

/// A job that owns what it needs.
#[derive(Clone)]
pub struct Trial {
    pub data: Dataset,
    pub problem: Problem,
    pub algorithm: &'static str,
    pub parameters: Parameters,
    pub workers: usize,
    pub seed: u64,
    pub stop: StopRules,
    pub scoring: Scoring,
    pub resume: Option<Checkpoint>,
    pub checkpoint_every: Option<Seconds>,
}

/// A run with everything it showed on the way.
#[derive(Debug)]
pub struct Outcome {
    pub run: Run,
    pub points: Vec<Point>,
    pub checkpoints: Vec<Checkpoint>,
}

impl Trial {
    /// A few rounds of an algorithm, scored after each.
    pub fn of(data: Dataset, loss: Loss, algorithm: &'static str) -> Trial {
        Trial {
            data,
            problem: Problem::new(loss, 1e-2).expect("λ is positive"),
            algorithm,
            parameters: Parameters::default(),
            workers: 1,
            seed: 7,
            stop: StopRules { rounds: Some(8), ..StopRules::default() },
            scoring: Scoring::Every(1),
            resume: None,
            checkpoint_every: None,
        }
    }

    /// Runs and keeps points and checkpoints.
    pub fn run(&self, engine: &dyn Engine) -> Result<Outcome, Error> {
        self.run_from(self.start(), engine)
    }

    fn start(&self) -> Start<'_> {
        self.resume.as_ref().map_or(Start::Zero, Start::Checkpoint)
    }

    /// The same from somewhere else.
    pub fn run_from(&self, start: Start, engine: &dyn Engine) -> Result<Outcome, Error> {
        let (mut points, mut checkpoints) = (Vec::new(), Vec::new());
        let run = self.run_watched_from(start, engine, None, &mut |event| {
            match event {
                Event::Point(point) => points.push(*point),
                Event::Checkpoint(checkpoint) => checkpoints.push(checkpoint.clone()),
            }
            Ok(())
        })?;
        Ok(Outcome { run, points, checkpoints })
    }

    /// Runs with an observer of one's own, and a flag that interrupts.
    pub fn run_watched(
        &self,
        engine: &dyn Engine,
        interrupt: Option<&AtomicBool>,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        self.run_watched_from(self.start(), engine, interrupt, observe)
    }

    fn run_watched_from(
        &self,
        start: Start,
        engine: &dyn Engine,
        interrupt: Option<&AtomicBool>,
        observe: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        let algorithm = algorithm(self.algorithm, &self.parameters)?;
        let job = Job {
            problem: self.problem,
            algorithm: algorithm.as_ref(),
            workers: self.workers,
            seed: self.seed,
            stop: self.stop,
            scoring: self.scoring,
            start,
            checkpoint_every: self.checkpoint_every,
            interrupt,
            hand_over: None,
        };
        engine.run(&self.data, &job, observe)
    }
}

/// A simulated cluster of default machines.
pub fn simulated() -> Simulated {
    Simulated::new(Cluster::of(Machine::default()))
}

/// Fails instead of waiting for ever when something hangs.
pub fn within_seconds<T: Send + 'static>(seconds: u64, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        let outcome = work();
        // Nobody listens any more once the time is up.
        let _ = done.send(());
        outcome
    });
    match wait.recv_timeout(std::time::Duration::from_secs(seconds)) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("still waiting after {seconds} s"),
        _ => worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}
