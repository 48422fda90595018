//! Training from request to report: check, load, record, run, save.
//!
//! Nothing is written before every argument has been checked and all data has been read. From then on everything is
//! written the moment it is known, so that a run that is killed can be looked at and resumed.

use std::sync::atomic::AtomicBool;

use hemingway_data::Dataset;
use hemingway_train::{Checkpoint, Cluster, Event, Job, Machine, Point, Run};

use crate::default_choice::choose;
use crate::prepare::{Ready, prepare};
use crate::{
    Changes, Choice, Error, FORMAT, ModelFile, Place, Quality, Store, StoredRun, TrainReport, TrainRequest,
    VERSION,
};

/// How the caller follows a run and ends it early.
pub struct Watch<'a> {
    /// Set it, and the run ends after its round with its model saved.
    pub interrupt: &'a AtomicBool,
    /// Called with everything that happens.
    pub observe: &'a mut dyn FnMut(Progress),
}

/// What happens, in order.
pub enum Progress<'a> {
    /// The data is being read.
    Loading(&'a str),
    /// Training begins.
    Started(&'a StoredRun),
    /// A round was scored.
    Point(&'a Point),
}

/// Trains a model and records the run.
pub fn train(request: TrainRequest, place: &Place, watch: &mut Watch) -> Result<TrainReport, Error> {
    let request = request.with_absolute_paths();
    place.check()?;
    let store = Store::open_if_there(place)?;
    let mut choice = choose(&request)?;
    let measured = measure_if_needed(&mut choice, store.as_ref())?;
    (watch.observe)(Progress::Loading(&request.data.spec));
    let ready = prepare(&request, &choice)?;

    let store = store.map_or_else(|| Store::open(place), Ok)?;
    if let Some(machine) = measured {
        store.save_calibration(&machine)?;
    }
    let run = store.create_run(&request, &choice, &ready.summary)?;
    Task { place, store: &store, run: &run, request: &request, choice: &choice, ready: &ready, from: None }
        .carry_out(watch)
}

/// Goes on with a run that was interrupted, or that should go further than it did.
pub fn resume(run: &str, changes: &Changes, place: &Place, watch: &mut Watch) -> Result<TrainReport, Error> {
    let store = Store::open_existing(place)?;
    let run = store.run(run)?;
    run.check_idle()?;
    let request = run.request.clone().with(changes);
    let choice = Choice { stop: choose(&request)?.stop, ..run.choice.clone() };
    (watch.observe)(Progress::Loading(&request.data.spec));
    let ready = prepare(&request, &choice)?;
    check_same_data(&run, &ready)?;

    let from = store.checkpoint(&run)?;
    store.claim_run(&run, &request, &choice)?;
    store.forget_points_after(&run, from.as_ref().map_or(0, |checkpoint| checkpoint.round))?;
    let from = from.as_ref();
    Task { place, store: &store, run: &run, request: &request, choice: &choice, ready: &ready, from }
        .carry_out(watch)
}

/// A simulated run without a cluster file simulates machines like this one, measured once.
fn measure_if_needed(choice: &mut Choice, store: Option<&Store>) -> Result<Option<Machine>, Error> {
    if choice.engine != "simulated" || choice.cluster.is_some() {
        return Ok(None);
    }
    let known = store.map(Store::calibration).transpose()?.flatten();
    let machine = known.unwrap_or_else(hemingway_train::calibrate);
    choice.cluster = Some(Cluster::of(machine));
    Ok(known.is_none().then_some(machine))
}

fn check_same_data(run: &StoredRun, ready: &Ready) -> Result<(), Error> {
    if run.dataset == ready.summary {
        return Ok(());
    }
    let (before, now) = (run.dataset.size(), ready.summary.size());
    Err(Error::DataChanged { run: run.id.clone(), before, now })
}

/// A run that has been recorded and is about to be trained.
struct Task<'a> {
    place: &'a Place,
    store: &'a Store,
    run: &'a StoredRun,
    request: &'a TrainRequest,
    choice: &'a Choice,
    ready: &'a Ready,
    from: Option<&'a Checkpoint>,
}

impl Task<'_> {
    /// Trains, saves the model and closes the run, whichever way it ends.
    fn carry_out(&self, watch: &mut Watch) -> Result<TrainReport, Error> {
        (watch.observe)(Progress::Started(self.run));
        let result = self.train(watch).and_then(|outcome| self.save(&outcome));
        if let Err(error) = &result {
            // If the store is what failed, this fails too; the first error is the one to report.
            let _ = self.store.fail_run(self.run, &error.to_string());
        }
        result
    }

    fn train(&self, watch: &mut Watch) -> Result<Run, Error> {
        let job = Job {
            data: &self.ready.data,
            problem: self.ready.problem,
            algorithm: self.ready.algorithm.as_ref(),
            workers: self.choice.workers,
            seed: self.request.seed,
            stop: self.choice.stop,
            scoring: self.request.scoring,
            resume: self.from,
            checkpoint_every: Some(self.request.checkpoint_every),
            interrupt: Some(watch.interrupt),
        };
        let observe = &mut *watch.observe;
        let outcome =
            self.ready.engine.run(&job, &mut |event| self.record(event, observe).map_err(refuse))?;
        Ok(outcome)
    }

    fn record(&self, event: Event, observe: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        match event {
            Event::Point(point) => {
                self.store.add_point(self.run, point)?;
                observe(Progress::Point(point));
                Ok(())
            }
            Event::Checkpoint(checkpoint) => self.store.save_checkpoint(self.run, checkpoint),
        }
    }

    fn save(&self, outcome: &Run) -> Result<TrainReport, Error> {
        let report = self.report(outcome);
        if self.request.model.is_none() {
            self.place.make_model_folder(&report.model)?;
        }
        self.model(outcome).write(&report.model)?;
        self.store.finish_run(self.run, &report)?;
        Ok(report)
    }

    fn model(&self, outcome: &Run) -> ModelFile {
        let features = self.ready.summary.features;
        let (weights, bias) = outcome.model.weights.split_at(features);
        ModelFile {
            format: FORMAT.to_owned(),
            version: VERSION,
            loss: self.request.loss,
            lambda: self.request.lambda,
            labels: self.ready.summary.labels.clone(),
            features,
            weights: weights.to_vec(),
            bias: bias.first().copied(),
            transform: self.ready.transform.clone(),
            primal: outcome.primal,
            dual: finite(outcome.dual),
            certified_error: finite(outcome.certified_error),
            run: self.run.id.clone(),
            dataset: self.ready.summary.name.clone(),
        }
    }

    fn report(&self, outcome: &Run) -> TrainReport {
        let quality =
            |data: &Dataset| Quality::of(&hemingway_train::predict(data, &outcome.model.weights), data);
        let train = quality(&self.ready.data);
        let test = self.ready.test.as_ref().map(|test| quality(&test.dataset));
        TrainReport {
            run: self.run.id.clone(),
            model: self.request.model.clone().unwrap_or_else(|| self.place.model(&self.run.id)),
            dataset: self.ready.summary.clone(),
            loss: self.request.loss,
            lambda: self.request.lambda,
            bias: self.request.bias,
            algorithm: self.choice.algorithm.clone(),
            parameters: self.ready.algorithm.parameters(),
            workers: self.choice.workers,
            engine: self.choice.engine.clone(),
            reason: self.choice.reason.clone(),
            seed: self.request.seed,
            rounds: outcome.rounds,
            seconds: outcome.seconds.0,
            wall_seconds: self.ready.transform_seconds + outcome.wall_seconds.0,
            load_seconds: self.ready.load_seconds,
            scoring_seconds: outcome.scoring_seconds.0,
            primal: outcome.primal,
            dual: finite(outcome.dual),
            certified_error: finite(outcome.certified_error),
            relative_to_start: outcome.relative_to_start,
            stop: outcome.stop,
            goal_reached: outcome.stop.is_goal(&self.choice.stop),
            train_accuracy: train.accuracy(),
            train_rmse: train.rmse(),
            test_accuracy: test.and_then(Quality::accuracy),
            test_rmse: test.and_then(Quality::rmse),
            test_dropped_values: self.ready.test.as_ref().map(|test| test.dropped_values),
        }
    }
}

/// Sends the library's own error through training and back.
fn refuse(error: Error) -> hemingway_train::Error {
    hemingway_train::Error::Observer(Box::new(error))
}

/// Bounds that prove nothing are left out.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
