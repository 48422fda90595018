//! A run from its first stage to its last.

use std::sync::Arc;

use hemingway_data::Dataset;
use hemingway_train::{
    Algorithm, Checkpoint, Engine, Event, HandOver, Job, Model, Quality, Run, Start, warm_start,
};

use super::limits::Bill;
use super::{Progress, Watch};
use crate::adaptive::Adaptive;
use crate::prepare::{Ready, Trainer};
use crate::store::Recorder;
use crate::{Choice, Closer, Error, Place, Store, StoredRun, Straggler, TrainReport, TrainRequest};

/// A run that has been recorded and is about to be trained.
pub(super) struct Task<'a> {
    pub place: &'a Place,
    pub recorder: Recorder<'a>,
    pub run: &'a StoredRun,
    pub request: &'a TrainRequest,
    pub choice: Choice,
    pub ready: Ready,
    pub adaptive: Option<Adaptive>,
    pub bill: Bill,
    pub stragglers: Vec<Straggler>,
    pub closer: Option<Arc<Closer>>,
    /// What was noticed of the machine.
    pub notes: Vec<String>,
    /// Weights to begin with, if not at zero.
    pub weights: Option<Vec<f64>>,
}

/// Trains one stage, from a checkpoint if there is one.
pub(super) type OneStage<'a> =
    dyn FnMut(&mut Task, Option<&Checkpoint>, &mut Watch) -> Result<Run, Error> + 'a;

/// What training came to.
pub(super) struct Outcome {
    pub run: Run,
    /// How well its model predicts the training data; unknown where it was cut short.
    pub quality: Option<Quality>,
}

impl<'a> Task<'a> {
    pub(super) fn new(
        place: &'a Place,
        store: &'a Store,
        run: &'a StoredRun,
        request: &'a TrainRequest,
        choice: Choice,
        ready: Ready,
        adaptive: Option<Adaptive>,
    ) -> Task<'a> {
        let (recorder, bill) = (Recorder::new(store, run), Bill::default());
        let (stragglers, closer, notes, weights) = (Vec::new(), None, Vec::new(), None);
        Task {
            place,
            recorder,
            run,
            request,
            choice,
            ready,
            adaptive,
            bill,
            stragglers,
            closer,
            notes,
            weights,
        }
    }

    /// Trains, saves the model and closes the run, however it ends.
    pub(super) fn carry_out(
        mut self,
        trainer: Trainer,
        from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<TrainReport, Error> {
        (watch.observe)(Progress::Started(self.run));
        if let Trainer::Here { .. } = trainer {
            let closer = Arc::new(Closer::new(self.place, &self.run.id, self.request, &self.ready));
            self.closer = Some(Arc::clone(&closer));
            (watch.observe)(Progress::Closable(closer));
        }
        let outcome = self.train(trainer, from, watch);
        if let Some(closer) = &self.closer {
            closer.take()?;
        }
        self.conclude(outcome)
    }

    fn train(
        &mut self,
        trainer: Trainer,
        from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        match trainer {
            Trainer::Here { engine, data } => self.train_here(engine.as_ref(), &data, from, watch),
            Trainer::Ranks { started, setup } => self.train_on_ranks(*started, *setup, from, watch),
        }
    }

    fn train_here(
        &mut self,
        engine: &dyn Engine,
        data: &Dataset,
        from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        let mut stage = |task: &mut Task, from: Option<&Checkpoint>, watch: &mut Watch| {
            task.stage(engine, data, from, watch)
        };
        let run = self.stages(from, watch, &mut stage)?;
        let quality = Quality::of(&hemingway_train::predict(data, &run.model.weights), data);
        Ok(Outcome { run, quality: Some(quality) })
    }

    /// One stage after the other, as long as another configuration is better or the present one makes no progress.
    pub(super) fn stages(
        &mut self,
        mut from: Option<Checkpoint>,
        watch: &mut Watch,
        stage: &mut OneStage,
    ) -> Result<Run, Error> {
        let begun = from.as_ref().map_or(0.0, |from| from.seconds.0);
        self.bill.begin(begun);
        loop {
            let run = stage(self, from.as_ref(), watch)?;
            self.bill.pay(run.seconds.0, self.price());
            let Some(adaptive) = &mut self.adaptive else { return Ok(run) };
            if let Some(from) = from.as_ref().filter(|from| from.is_handed_over()) {
                adaptive.set_up(from, &run);
            }
            let Some((switched, checkpoint)) = adaptive.next(&run) else { return Ok(run) };
            self.choice.use_configuration(
                &switched.to,
                self.ready.summary.rows,
                self.request.parameters.clone(),
            );
            (watch.observe)(Progress::Switched(&switched));
            self.choice.switches.push(switched);
            notice(self.recorder.choice(&self.choice)?, watch.observe);
            from = Some(checkpoint);
        }
    }

    fn stage(
        &mut self,
        engine: &dyn Engine,
        data: &Dataset,
        from: Option<&Checkpoint>,
        watch: &mut Watch,
    ) -> Result<Run, Error> {
        let algorithm = hemingway_train::algorithm(&self.choice.algorithm, &self.choice.parameters)?;
        let stop = self.stop();
        let hand_over = self.hand_over();
        let start = self.start(data, algorithm.as_ref());
        let job = Job {
            problem: self.ready.problem,
            algorithm: algorithm.as_ref(),
            workers: self.choice.workers,
            seed: self.request.seed,
            stop,
            scoring: self.choice.scoring,
            start: from.map_or(start.as_ref().map_or(Start::Zero, Start::Model), Start::Checkpoint),
            checkpoint_every: Some(self.request.checkpoint_every),
            interrupt: Some(watch.interrupt),
            hand_over: hand_over.as_deref(),
        };
        let observe = &mut *watch.observe;
        Ok(engine.run(data, &job, &mut |event| self.record(event, observe).map_err(refuse))?)
    }

    /// The model that the first stage begins with, if it does not begin at zero.
    fn start(&mut self, data: &Dataset, algorithm: &dyn Algorithm) -> Option<Model> {
        let model = Model { weights: self.weights.take()?, duals: None };
        let (rows, problem) = (0..data.matrix.rows(), self.ready.problem);
        Some(warm_start(data, &rows, problem, algorithm, &model, problem.lambda))
    }

    /// How a stage is asked to end for another one.
    pub(super) fn hand_over(&self) -> Option<Arc<HandOver>> {
        self.adaptive.as_ref().map(|adaptive| Arc::clone(&adaptive.hand_over))
    }

    pub(super) fn record(&mut self, event: Event, observe: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        match event {
            Event::Point(point) => {
                let note = unless_closed(self.closer.as_deref(), || self.recorder.point(point))?;
                notice(note, observe);
                observe(Progress::Point(point));
                if let Some(adaptive) = &mut self.adaptive {
                    adaptive.observe(point);
                }
                Ok(())
            }
            Event::Checkpoint(checkpoint) => {
                if let Some(adaptive) = self.adaptive.as_mut().filter(|_| checkpoint.is_handed_over()) {
                    adaptive.handed = Some(checkpoint.clone());
                }
                let recorder = &mut self.recorder;
                let note = unless_closed(self.closer.as_deref(), || recorder.checkpoint(checkpoint))?;
                notice(note, observe);
                Ok(())
            }
        }
    }

    /// What the run had come to at its last checkpoint.
    pub(super) fn last_checkpoint(&self) -> Result<Outcome, Error> {
        let checkpoint = self.recorder.last_checkpoint()?.ok_or(Error::Interrupted)?;
        Ok(Outcome { run: checkpoint.interrupted(), quality: None })
    }

    /// Saves what came of it and closes the run.
    pub(super) fn conclude(self, outcome: Result<Outcome, Error>) -> Result<TrainReport, Error> {
        match outcome.and_then(|outcome| self.save(&outcome)) {
            Ok(report) => self.close(report),
            Err(error) => {
                self.recorder.fail(&error.to_string());
                Err(error)
            }
        }
    }
}

/// Says what the user should know, if there is anything.
pub(super) fn notice(note: Option<String>, observe: &mut dyn FnMut(Progress)) {
    if let Some(note) = note {
        observe(Progress::Noticed(&note));
    }
}

/// Records something, unless the run has been closed from outside.
fn unless_closed<T>(closer: Option<&Closer>, record: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    match closer {
        Some(closer) => closer.unless_closed(record),
        None => record(),
    }
}

/// Sends the library's own error through training and back.
fn refuse(error: Error) -> hemingway_train::Error {
    hemingway_train::Error::Observer(Box::new(error))
}
