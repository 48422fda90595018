//! Several classes: a run for each of them against the rest, one after the other, over rows that are read once.
//!
//! Each is an ordinary run, the same as one with that class picked: it is planned, recorded, shown and resumed like one, and
//! the plans of later classes know what the earlier ones showed. The run of all classes holds them together; its model has a
//! block for each. There is no such model before every class has one: it could not predict those that are missing.

mod report;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hemingway_data::{Dataset, Labels};
use hemingway_train::{Machine, Seconds, Stop, StopRules};

use super::task::Task;
use super::{Progress, Watch, check_same_data, decide, go_on, measure_if_needed, opened};
use crate::adaptive::Adaptive;
use crate::default_choice::choose;
use crate::prepare::{ManyClasses, Ready, Trainer, engine, prepare};
use crate::store::Recorder;
use crate::{
    Changes, Choice, Error, ModelFile, Place, Purpose, Status, Store, StoredRun, TrainReport, TrainRequest,
};

/// A deadline that has passed leaves each class that is still to do this share of what it would have had: enough for a first
/// round of small problems, so that there is a model, and too little to notice.
const LEAST_SHARE: f64 = 1e-3;

/// Several classes that are to be trained.
pub(super) struct Classes<'a> {
    place: &'a Place,
    request: TrainRequest,
    choice: Choice,
    ready: Ready,
    rows: Rows,
    trained: Vec<Trained>,
}

/// Where the rows are.
enum Rows {
    /// In this process, with one class after the other as +1.
    Here(Arc<Dataset>),
    /// Ranks read them again for each class.
    OnRanks,
}

/// What came of a class.
struct Trained {
    report: TrainReport,
    model: ModelFile,
}

/// The run of a class that is about to begin.
struct Next {
    request: TrainRequest,
    choice: Choice,
    ready: Ready,
    trainer: Trainer,
    adaptive: Option<Adaptive>,
}

/// Goes on with a run of several classes: with those that were not finished, or with all of them where the goal is another.
pub(super) fn resume(
    store: &Store,
    before: &StoredRun,
    changes: &Changes,
    place: &Place,
    watch: &mut Watch,
) -> Result<TrainReport, Error> {
    let run = store.claim_run(before, changes.take_over)?;
    let prepared = prepare_again(store, &run, changes, place, watch);
    let classes = prepared.inspect_err(|_| {
        // If the store is what failed, this fails too, and the claim ends with this process.
        let _ = store.release_run(&run, before);
    })?;
    classes.carry_out(store, &run, None, changes, watch)
}

fn prepare_again<'a>(
    store: &Store,
    run: &StoredRun,
    changes: &Changes,
    place: &'a Place,
    watch: &mut Watch,
) -> Result<Classes<'a>, Error> {
    let request = run.request.clone().with(changes);
    place.check_model(&request)?;
    let mut choice = choose(&request)?;
    measure_if_needed(&mut choice, Some(store))?;
    (watch.observe)(Progress::Loading(&request.data.spec));
    let (ready, trainer) = prepare(&request, &choice, None, ManyClasses::Kept)?;
    check_same_data(run, &ready)?;
    store.go_on(run, &request, &choice, 0)?;
    Classes::new(place, request, choice, ready, trainer)
}

impl<'a> Classes<'a> {
    /// From a request for data that turned out to have several.
    pub(super) fn new(
        place: &'a Place,
        request: TrainRequest,
        choice: Choice,
        ready: Ready,
        trainer: Trainer,
    ) -> Result<Classes<'a>, Error> {
        let rows = match trainer {
            Trainer::Here { data, .. } => Rows::Here(data),
            Trainer::Ranks { started, .. } => {
                started.dismiss();
                Rows::OnRanks
            }
        };
        let classes = Classes { place, request, choice, ready, rows, trained: Vec::new() };
        match &classes.rows {
            Rows::OnRanks if classes.request.data.class_weight.is_some() => {
                Err(Error::ClassWeightsOnRanks(classes.names().len()))
            }
            _ => Ok(classes),
        }
    }

    /// Trains all of them. The first is planned before anything is written.
    pub(super) fn train(
        mut self,
        store: Option<Store>,
        measured: Option<Machine>,
        watch: &mut Watch,
    ) -> Result<TrainReport, Error> {
        self.announce(0, watch);
        let first = self.next(0, store.as_ref(), watch)?;
        let store = opened(store, measured, self.place)?;
        let run = store.create_run(&self.request, &self.choice, &self.ready.summary, Purpose::Train)?;
        self.carry_out(&store, &run, Some(first), &Changes::default(), watch)
    }

    /// Trains what is not trained yet, saves the model and closes the run, however it ends.
    fn carry_out(
        mut self,
        store: &Store,
        run: &StoredRun,
        first: Option<Next>,
        changes: &Changes,
        watch: &mut Watch,
    ) -> Result<TrainReport, Error> {
        let saved = self.train_each(store, run, first, changes, watch).and_then(|()| self.save(run));
        let recorder = Recorder::new(store, run);
        match saved {
            Ok(report) => {
                let unrecorded = recorder.finish(&report)?;
                Ok(TrainReport { unrecorded, ..report })
            }
            Err(error) => {
                recorder.fail(&error.to_string());
                Err(error)
            }
        }
    }

    fn train_each(
        &mut self,
        store: &Store,
        run: &StoredRun,
        mut first: Option<Next>,
        changes: &Changes,
        watch: &mut Watch,
    ) -> Result<(), Error> {
        let earlier = store.classes_of(&run.id)?;
        for class in 0..self.names().len() {
            let name = self.names()[class].clone();
            let before = earlier.iter().find(|run| run.request.data.positive.as_ref() == Some(&name));
            let report = match (before, first.take()) {
                (Some(before), _) => self.train_further(class, store, before, changes, watch),
                (None, Some(first)) => self.begin(first, store, run, watch),
                (None, None) => {
                    self.announce(class, watch);
                    let next = self.next(class, Some(store), watch)?;
                    self.begin(next, store, run, watch)
                }
            };
            let interrupted = watch.interrupt.load(Ordering::Relaxed);
            match report {
                Ok(report) => self.trained.push(Trained { model: ModelFile::read(&report.model)?, report }),
                Err(Error::Interrupted) => {}
                Err(error) => return Err(error),
            }
            if self.trained.len() <= class || (interrupted && class + 1 < self.names().len()) {
                return Err(self.missing(run));
            }
        }
        Ok(())
    }

    /// The classes that have a model as good as was asked for, when an interruption leaves others without.
    fn missing(&self, run: &StoredRun) -> Error {
        let done = self.trained.iter().filter(|trained| trained.report.stop != Stop::Interrupted).count();
        Error::ClassesMissing { run: run.id.clone(), done, of: self.names().len() }
    }

    /// What is needed to begin with a class, planned.
    fn next(&mut self, class: usize, store: Option<&Store>, watch: &mut Watch) -> Result<Next, Error> {
        let request = self.request_of(class);
        let mut choice = Choice { stop: choose(&request)?.stop, ..self.choice.clone() };
        let (ready, trainer) = self.prepared(class, &request, &choice)?;
        let adaptive = decide(&request, &mut choice, &ready, &trainer, store, watch)?;
        Ok(Next { request, choice, ready, trainer, adaptive })
    }

    fn begin(
        &mut self,
        next: Next,
        store: &Store,
        all: &StoredRun,
        watch: &mut Watch,
    ) -> Result<TrainReport, Error> {
        let Next { request, choice, ready, trainer, adaptive } = next;
        let request = TrainRequest { class_of: Some(all.id.clone()), ..request };
        let run = store.create_run(&request, &choice, &ready.summary, Purpose::Class)?;
        let task = Task::new(self.place, store, &run, &request, choice, ready, adaptive);
        task.carry_out(trainer, None, watch)
    }

    /// Goes on with a class that was begun earlier, unless it is finished.
    fn train_further(
        &mut self,
        class: usize,
        store: &Store,
        before: &StoredRun,
        changes: &Changes,
        watch: &mut Watch,
    ) -> Result<TrainReport, Error> {
        let finished = before.report.as_ref().filter(|report| {
            before.status == Status::Done && report.stop != Stop::Interrupted && report.model.exists()
        });
        let same_goal = changes.stop == StopRules::default();
        if let Some(report) = finished.filter(|_| same_goal) {
            return Ok(report.clone());
        }
        self.announce(class, watch);
        let stop = if same_goal { StopRules::default() } else { self.request_of(class).stop };
        let changes = Changes { stop, model: None, ..changes.clone() };
        let (place, observe) = (self.place, &mut *watch.observe);
        let mut quietly = |progress: Progress| {
            // All classes were said to be read when they were.
            if !matches!(progress, Progress::Loading(_)) {
                observe(progress);
            }
        };
        let mut watch = Watch { interrupt: watch.interrupt, observe: &mut quietly };
        go_on(store, before, &changes, place, &mut watch, |request, choice, from| match &self.rows {
            Rows::Here(_) => self.prepared(class, request, choice),
            Rows::OnRanks => prepare(request, choice, from, ManyClasses::Refused),
        })
    }

    /// The rows with a class against the rest.
    fn prepared(
        &mut self,
        class: usize,
        request: &TrainRequest,
        choice: &Choice,
    ) -> Result<(Ready, Trainer), Error> {
        let Rows::Here(data) = &mut self.rows else {
            return prepare(request, choice, None, ManyClasses::Refused);
        };
        let ready = self.ready.tell_apart(class, Arc::get_mut(data).expect("no class is being trained"));
        Ok((ready, Trainer::Here { engine: engine(choice)?, data: Arc::clone(data) }))
    }

    /// What is asked for one class: its share of the time and the money that are left.
    fn request_of(&self, class: usize) -> TrainRequest {
        let mut request = TrainRequest { test: None, model: None, ..self.request.clone() };
        request.data.positive = Some(self.names()[class].clone());
        let to_do = (self.names().len() - class) as f64;
        let spent =
            |of: fn(&TrainReport) -> f64| self.trained.iter().map(|done| of(&done.report)).sum::<f64>();
        let share = |whole: f64, spent: f64| {
            let least = LEAST_SHARE * whole / self.names().len() as f64;
            ((whole - spent) / to_do).max(least)
        };
        let seconds = spent(|report| report.seconds + report.before_seconds);
        request.stop.within = request.stop.within.map(|within| Seconds(share(within.0, seconds)));
        let cost = spent(|report| report.cost.unwrap_or(0.0));
        request.planning.budget = request.planning.budget.map(|budget| share(budget, cost));
        request
    }

    fn announce(&self, class: usize, watch: &mut Watch) {
        let names = self.names();
        (watch.observe)(Progress::Class { name: &names[class], number: class + 1, of: names.len() });
    }

    fn names(&self) -> &[String] {
        match &self.ready.summary.labels {
            Labels::Several(names) => names,
            Labels::Classes { .. } | Labels::Numbers => &[],
        }
    }
}
