//! Training from request to report: check, load, record, run, save.
//!
//! Nothing is written before every argument has been checked and all data has been read. From then on everything is
//! written the moment it is known, so that a run that is killed can be looked at and resumed.

use std::sync::atomic::AtomicBool;

use hemingway_data::Dataset;
use hemingway_train::{Checkpoint, Cluster, Engine, Event, Job, Machine, Point, Quality, Run, Start};

use crate::default_choice::choose;
use crate::prepare::{Means, Ready, prepare};
use crate::ranks::{Ranks, Setup};
use crate::{
    Changes, Choice, Error, FORMAT, ModelFile, Place, Store, StoredRun, TrainReport, TrainRequest, VERSION,
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
    /// Workers were lost, and the run goes on from its last checkpoint.
    Restarting {
        /// What happened.
        reason: &'a Error,
        /// Hosts that no longer answer.
        gone: &'a [String],
        /// With how many workers it goes on.
        workers: usize,
    },
}

/// Trains a model and records the run.
pub fn train(request: TrainRequest, place: &Place, watch: &mut Watch) -> Result<TrainReport, Error> {
    let request = request.with_absolute_paths();
    place.check()?;
    let store = Store::open_if_there(place)?;
    let mut choice = choose(&request)?;
    let measured = measure_if_needed(&mut choice, store.as_ref())?;
    (watch.observe)(Progress::Loading(&request.data.spec));
    let (ready, means) = prepare(&request, &choice, None)?;

    let store = store.map_or_else(|| Store::open(place), Ok)?;
    if let Some(machine) = measured {
        store.save_calibration(&machine)?;
    }
    let run = store.create_run(&request, &choice, &ready.summary)?;
    Task { place, store: &store, run: &run, request: &request, choice, ready }.carry_out(means, None, watch)
}

/// Goes on with a run that was interrupted, or that should go further than it did.
pub fn resume(run: &str, changes: &Changes, place: &Place, watch: &mut Watch) -> Result<TrainReport, Error> {
    let store = Store::open_existing(place)?;
    let run = store.run(run)?;
    run.check_idle()?;
    let request = run.request.clone().with(changes);
    let choice = Choice { stop: choose(&request)?.stop, ..run.choice.clone() };
    (watch.observe)(Progress::Loading(&request.data.spec));
    let from = store.checkpoint(&run)?;
    let (ready, means) = prepare(&request, &choice, from.as_ref())?;
    check_same_data(&run, &ready)?;

    store.claim_run(&run, &request, &choice)?;
    store.forget_points_after(&run, from.as_ref().map_or(0, |checkpoint| checkpoint.round))?;
    Task { place, store: &store, run: &run, request: &request, choice, ready }.carry_out(means, from, watch)
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
    choice: Choice,
    ready: Ready,
}

/// What training came to.
struct Outcome {
    run: Run,
    quality: Quality,
}

impl Task<'_> {
    /// Trains, saves the model and closes the run, whichever way it ends.
    fn carry_out(
        mut self,
        means: Means,
        from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<TrainReport, Error> {
        (watch.observe)(Progress::Started(self.run));
        let result = self.train(means, from, watch).and_then(|outcome| self.save(&outcome));
        if let Err(error) = &result {
            // If the store is what failed, this fails too; the first error is the one to report.
            let _ = self.store.fail_run(self.run, &error.to_string());
        }
        result
    }

    fn train(&mut self, means: Means, from: Option<Checkpoint>, watch: &mut Watch) -> Result<Outcome, Error> {
        match means {
            Means::Here { engine, data } => self.train_here(engine.as_ref(), &data, from.as_ref(), watch),
            Means::Ranks { started, setup } => self.train_on_ranks(*started, *setup, watch),
        }
    }

    fn train_here(
        &self,
        engine: &dyn Engine,
        data: &Dataset,
        from: Option<&Checkpoint>,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        let job = Job {
            problem: self.ready.problem,
            algorithm: self.ready.algorithm.as_ref(),
            workers: self.choice.workers,
            seed: self.request.seed,
            stop: self.choice.stop,
            scoring: self.request.scoring,
            start: from.map_or(Start::Zero, Start::Checkpoint),
            checkpoint_every: Some(self.request.checkpoint_every),
            interrupt: Some(watch.interrupt),
            hand_over: None,
        };
        let observe = &mut *watch.observe;
        let run = engine.run(data, &job, &mut |event| self.record(event, observe).map_err(refuse))?;
        let quality = Quality::of(&hemingway_train::predict(data, &run.model.weights), data);
        Ok(Outcome { run, quality })
    }

    /// Starts again from the last checkpoint when ranks are lost, as often as the user allows.
    fn train_on_ranks(
        &mut self,
        started: Ranks,
        mut setup: Setup,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        let mut started = Ok(started);
        let mut restarts = self.request.ranks.restarts;
        loop {
            let observe = &mut *watch.observe;
            let result = started
                .and_then(|ranks| ranks.run(watch.interrupt, &mut |event| self.record(event, observe)));
            let reason = match result {
                Err(error) if error.is_loss() && restarts > 0 => error,
                result => return result.map(|(run, quality)| Outcome { run, quality }),
            };
            restarts -= 1;
            let gone = setup.drop_lost_hosts()?;
            self.choice.workers = setup.workers();
            let from = self.store.checkpoint(self.run)?;
            self.store.forget_points_after(self.run, from.as_ref().map_or(0, |from| from.round))?;
            (watch.observe)(Progress::Restarting { reason: &reason, gone: &gone, workers: setup.workers() });
            started = setup.start(from.as_ref());
        }
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

    fn save(&self, outcome: &Outcome) -> Result<TrainReport, Error> {
        let report = self.report(outcome);
        if self.request.model.is_none() {
            self.place.make_model_folder(&report.model)?;
        }
        self.model(&outcome.run).write(&report.model)?;
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

    fn report(&self, outcome: &Outcome) -> TrainReport {
        let Outcome { run: outcome, quality: train } = outcome;
        let weights = &outcome.model.weights;
        let quality = |data: &Dataset| Quality::of(&hemingway_train::predict(data, weights), data);
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
