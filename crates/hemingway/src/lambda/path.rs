//! The path of each fold: from the largest λ to the smallest, each model from the one before.
//!
//! Folds do not wait for one another. A thread that is free takes the next λ of the fold that has come least far, so all
//! threads have work to the end, and a λ is done in all folds soon after it is done in the first.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hemingway_data::Dataset;
use hemingway_train::{
    Engine, HeldOut, Job, Model, Problem, Run, Scoring, Start, StopRules, ThreadsOn, warm_start,
};

use super::{LambdaError, LambdaFold, LambdaPlan, LambdaPoint, LambdaRequest};
use crate::{Choice, Error};

/// Rows to train on and rows that are held out.
pub(super) struct Fold<'a> {
    pub training: (&'a Dataset, Range<usize>),
    pub held_out: (&'a Dataset, Range<usize>),
}

/// Models to train.
pub(super) struct Path<'a> {
    pub folds: Vec<Fold<'a>>,
    pub plan: &'a LambdaPlan,
    pub problem: Problem,
    pub choice: &'a Choice,
    pub how: &'a LambdaRequest,
    pub seed: u64,
    pub interrupt: &'a AtomicBool,
}

/// What a path leaves behind.
pub(super) struct Walked {
    pub points: Vec<LambdaPoint>,
    /// The mean over folds of the weights with the best score: where training on all rows begins.
    pub weights: Option<Vec<f64>>,
}

/// What a λ has come to in a fold.
type Outcome = (LambdaFold, HeldOut);

/// How far all folds have come.
struct State {
    folds: Vec<Standing>,
    points: Vec<Point>,
    best: Option<Best>,
    failure: Option<Error>,
}

/// How far a fold has come.
#[derive(Default)]
struct Standing {
    done: usize,
    busy: bool,
    last: Option<Model>,
}

/// How far a λ has come.
struct Point {
    outcomes: Vec<Option<Outcome>>,
    /// The sum of the weights so far; nobody keeps them of all λ at the same time.
    weights: Vec<f64>,
    done: Option<LambdaPoint>,
}

/// The best score so far.
struct Best {
    badness: f64,
    weights: Vec<f64>,
}

/// The next λ of a fold, and the model of the one before.
struct Step {
    fold: usize,
    at: usize,
    from: Option<Model>,
}

impl Path<'_> {
    /// Every λ on every fold; `observe` hears how many models are done.
    pub(super) fn walk(&self, observe: &mut dyn FnMut(usize)) -> Result<Walked, Error> {
        let nothing = || Point { outcomes: vec![None; self.folds.len()], weights: Vec::new(), done: None };
        let state = Mutex::new(State {
            folds: self.folds.iter().map(|_| Standing::default()).collect(),
            points: self.plan.lambdas.iter().map(|_| nothing()).collect(),
            best: None,
            failure: None,
        });
        let turn = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 1..self.plan.side_by_side {
                scope.spawn(|| self.work(&state, &turn, &mut |_| ()));
            }
            self.work(&state, &turn, observe);
        });
        let State { points, best, failure, .. } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let points: Option<Vec<LambdaPoint>> = points.into_iter().map(|point| point.done).collect();
        match (failure, points) {
            (Some(error), _) => Err(error),
            (None, Some(points)) => Ok(Walked { points, weights: best.map(|best| best.weights) }),
            (None, None) => Err(LambdaError::Interrupted.into()),
        }
    }

    /// One thread: takes steps until there are none.
    fn work(&self, state: &Mutex<State>, turn: &Condvar, observe: &mut dyn FnMut(usize)) {
        while let Some(step) = self.next(state, turn) {
            let (fold, at) = (step.fold, step.at);
            let given_up = GivenUp { state, turn };
            let outcome = self.train(step);
            std::mem::forget(given_up);
            let mut state = lock(state);
            match outcome {
                Ok((outcome, model)) => {
                    state.add(at, fold, outcome, &model, self);
                    state.folds[fold] = Standing { done: at + 1, busy: false, last: Some(model) };
                }
                Err(error) => state.failure = state.failure.take().or(Some(error)),
            }
            let done = state.folds.iter().map(|fold| fold.done).sum();
            drop(state);
            turn.notify_all();
            observe(done);
        }
    }

    /// The next step of the fold that has come least far; waits while all that is left is being worked on.
    fn next(&self, state: &Mutex<State>, turn: &Condvar) -> Option<Step> {
        let last = self.plan.lambdas.len();
        let mut state = lock(state);
        loop {
            if state.failure.is_some() || self.interrupt.load(Ordering::Relaxed) {
                return None;
            }
            let left = || state.folds.iter().enumerate().filter(|(_, fold)| fold.done < last);
            let free = left().filter(|(_, fold)| !fold.busy).min_by_key(|(_, fold)| fold.done);
            if let Some((fold, _)) = free {
                let standing = &mut state.folds[fold];
                standing.busy = true;
                return Some(Step { fold, at: standing.done, from: standing.last.take() });
            }
            left().next()?;
            state = turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn train(&self, step: Step) -> Result<(Outcome, Model), Error> {
        let begun = Instant::now();
        let fold = &self.folds[step.fold];
        let lambdas = &self.plan.lambdas;
        let (data, rows) = &fold.training;
        let problem = Problem { lambda: lambdas[step.at], ..self.problem };
        let configuration = &self.plan.configurations[step.at];
        let mut choice = self.choice.clone();
        choice.use_configuration(configuration, rows.len(), self.choice.parameters.clone());
        let algorithm = hemingway_train::algorithm(&choice.algorithm, &choice.parameters)?;
        let warm = step
            .from
            .map(|model| warm_start(data, rows, problem, algorithm.as_ref(), &model, lambdas[step.at - 1]));
        let job = Job {
            problem,
            algorithm: algorithm.as_ref(),
            workers: choice.workers,
            seed: self.seed,
            stop: StopRules { error: Some(self.how.error), ..StopRules::default() },
            scoring: Scoring::default(),
            start: warm.as_ref().map_or(Start::Zero, Start::Model),
            checkpoint_every: None,
            interrupt: Some(self.interrupt),
            hand_over: None,
        };
        let run = ThreadsOn { rows: rows.clone() }.run(data, &job, &mut |_| Ok(()))?;
        let (others, held_out) = &fold.held_out;
        let held = HeldOut::of(others, held_out, problem, &run.model.weights);
        let outcome = outcome(&choice.algorithm, &run, &held, begun.elapsed().as_secs_f64());
        Ok(((outcome, held), run.model))
    }
}

fn outcome(algorithm: &str, run: &Run, held: &HeldOut, seconds: f64) -> LambdaFold {
    LambdaFold {
        algorithm: algorithm.to_owned(),
        rounds: run.rounds,
        seconds,
        stop: run.stop,
        certified_error: run.certified_error,
        loss: held.loss.mean,
        accuracy: held.accuracy.map(|accuracy| accuracy.mean),
        rmse: held.rmse.map(|rmse| rmse.mean),
    }
}

impl State {
    /// A model is done; with the last fold its λ is.
    fn add(&mut self, at: usize, fold: usize, outcome: Outcome, model: &Model, path: &Path) {
        let point = &mut self.points[at];
        point.outcomes[fold] = Some(outcome);
        point.weights.resize(model.weights.len(), 0.0);
        point.weights.iter_mut().zip(&model.weights).for_each(|(sum, weight)| *sum += weight);
        let Some(outcomes) = point.outcomes.iter().cloned().collect::<Option<Vec<_>>>() else { return };
        let mut weights = std::mem::take(&mut point.weights);
        weights.iter_mut().for_each(|weight| *weight /= outcomes.len() as f64);
        let done = LambdaPoint::of(path.plan.lambdas[at], outcomes);
        let badness = path.how.select.badness(done.score(path.how.select));
        point.done = Some(done);
        if self.best.as_ref().is_none_or(|best| badness < best.badness) {
            self.best = Some(Best { badness, weights });
        }
    }
}

/// A thread that panics in the middle of a step ends the others too: they would wait for it for ever.
struct GivenUp<'a> {
    state: &'a Mutex<State>,
    turn: &'a Condvar,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        lock(self.state).failure = Some(hemingway_train::Error::WorkerLost.into());
        self.turn.notify_all();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
