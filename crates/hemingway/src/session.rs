//! Training from request to report: check, load, plan, record, run in one stage or several, save.
//!
//! Nothing is written before every argument has been checked and all data has been read. From then on everything is
//! written the moment it is known, so that a run that is killed can be inspected and resumed.
//!
//! Here is how a run begins; `plan` says what it begins with, `task` takes it through its stages, `ranks` does so on
//! other processes, `limits` says when a stage ends, and `report` what is left of it all. Of several classes each has such a
//! run, one after the other: `classes`.

mod classes;
mod limits;
mod plan;
mod ranks;
mod report;
mod task;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hemingway_data::Labels;
use hemingway_train::{Checkpoint, Cluster, Machine, Point};

use crate::adaptive::Adaptive;
use crate::default_choice::{SIMULATED, choose};
use crate::prepare::{ManyClasses, Ready, Trainer, prepare};
use crate::{
    Changes, Choice, Closer, Error, Explanation, LambdaPlan, LambdaReport, LambdaRequest, Place, Purpose,
    Store, StoredRun, Switched, TrainReport, TrainRequest,
};
use classes::Classes;
use plan::{follow_again, plan};
use task::Task;

pub(crate) use limits::IN_TIME;
pub(crate) use report::save_last_checkpoint;

/// How the caller follows a run and ends it early.
pub struct Watch<'a> {
    /// Set it, and the run ends after its round with its model saved. Ranks that do not come to its end within
    /// [`GRACE`](crate::GRACE) are ended, and the model is that of the last checkpoint; for workers in this process see
    /// [`Progress::Closable`].
    pub interrupt: &'a AtomicBool,
    /// Called with everything that happens.
    pub observe: &'a mut dyn FnMut(Progress),
}

/// What happens, in order.
pub enum Progress<'a> {
    /// The data is being read.
    Loading(&'a str),
    /// What was left open has been decided.
    Planned(&'a Explanation),
    /// The run of the next of several classes begins.
    Class {
        /// Its label.
        name: &'a str,
        /// From 1.
        number: usize,
        /// How many classes there are.
        of: usize,
    },
    /// Training begins.
    Started(&'a StoredRun),
    /// Workers in this process look up only between rounds: this closes the run from another thread.
    Closable(Arc<Closer>),
    /// Models of several λ are about to be trained.
    ChoosingLambda(&'a LambdaRequest, &'a LambdaPlan),
    /// So many of them are done.
    LambdaModels {
        /// So many
        done: usize,
        /// of so many.
        all: usize,
    },
    /// λ has been chosen.
    ChosenLambda(&'a LambdaReport),
    /// A round was scored.
    Point(&'a Point),
    /// The run changes its configuration.
    Switched(&'a Switched),
    /// Something the user should know.
    Noticed(&'a str),
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
    train_for(Purpose::Train, request, place, watch)
}

/// The same with a λ that is chosen first: the one of the request is not looked at.
pub fn train_choosing_lambda(
    request: TrainRequest,
    how: &LambdaRequest,
    place: &Place,
    watch: &mut Watch,
) -> Result<TrainReport, Error> {
    begin(Purpose::Train, request, Some(how), place, watch)
}

/// The same, for what purpose.
pub(crate) fn train_for(
    purpose: Purpose,
    request: TrainRequest,
    place: &Place,
    watch: &mut Watch,
) -> Result<TrainReport, Error> {
    begin(purpose, request, None, place, watch)
}

fn begin(
    purpose: Purpose,
    request: TrainRequest,
    how: Option<&LambdaRequest>,
    place: &Place,
    watch: &mut Watch,
) -> Result<TrainReport, Error> {
    let mut request = request.in_full();
    place.check()?;
    place.check_model(&request)?;
    let store = Store::open_if_there(place)?;
    let mut choice = choose(&request)?;
    how.map_or(Ok(()), |how| how.check(&request, &choice))?;
    let measured = measure_if_needed(&mut choice, store.as_ref())?;
    (watch.observe)(Progress::Loading(&request.data.spec));
    // One λ for several classes is not chosen.
    let kept = purpose == Purpose::Train && how.is_none();
    let many = if kept { ManyClasses::Kept } else { ManyClasses::Refused };
    let (mut ready, trainer) = prepare(&request, &choice, None, many)?;
    let chosen = how.map(|how| how.choose(&request, &choice, &ready, &trainer, watch)).transpose()?;
    let weights = chosen.and_then(|chosen| {
        request.lambda = chosen.report.choice.lambda;
        ready.problem.lambda = request.lambda;
        choice.lambda = Some(chosen.report);
        chosen.weights
    });
    if let Labels::Several(_) = &ready.summary.labels {
        let classes = Classes::new(place, request, choice, ready, trainer)?;
        return classes.train(store, measured, watch);
    }
    let adaptive = decide(&request, &mut choice, &ready, &trainer, store.as_ref(), watch)?;
    let store = opened(store, measured, place)?;
    let run = store.create_run(&request, &choice, &ready.summary, purpose)?;
    let task = Task::new(place, &store, &run, &request, choice, ready, adaptive);
    Task { weights, ..task }.carry_out(trainer, None, watch)
}

/// Decides what the request leaves open, if there is room for it.
fn decide(
    request: &TrainRequest,
    choice: &mut Choice,
    ready: &Ready,
    trainer: &Trainer,
    store: Option<&Store>,
    watch: &mut Watch,
) -> Result<Option<Adaptive>, Error> {
    let adaptive = plan(request, choice, ready, trainer, store, watch.interrupt)?;
    warn_of_damage(store, watch);
    ready.check_room(choice)?;
    if let Some(explanation) = &choice.explanation {
        (watch.observe)(Progress::Planned(explanation));
    }
    Ok(adaptive)
}

/// The store, which is made if it is not there, with what was measured of this machine.
fn opened(store: Option<Store>, measured: Option<Machine>, place: &Place) -> Result<Store, Error> {
    let store = store.map_or_else(|| Store::open(place), Ok)?;
    if let Some(machine) = measured {
        store.save_calibration(&machine)?;
    }
    Ok(store)
}

/// Says what of the store could not be read.
fn warn_of_damage(store: Option<&Store>, watch: &mut Watch) {
    let warnings = store.map_or_else(Vec::new, Store::warnings);
    warnings.iter().for_each(|warning| (watch.observe)(Progress::Noticed(warning)));
}

/// Goes on with a run that was interrupted, or that should go further than it did.
pub fn resume(run: &str, changes: &Changes, place: &Place, watch: &mut Watch) -> Result<TrainReport, Error> {
    let store = Store::open_existing(place)?;
    let before = store.run(run)?;
    if before.is_of_several_classes() {
        return classes::resume(&store, &before, changes, place, watch);
    }
    let read = |request: &TrainRequest, choice: &Choice, from: Option<&Checkpoint>| {
        prepare(request, choice, from, ManyClasses::Refused)
    };
    go_on(&store, &before, changes, place, watch, read)
}

/// Goes on with a run whose data is read like this.
fn go_on(
    store: &Store,
    before: &StoredRun,
    changes: &Changes,
    place: &Place,
    watch: &mut Watch,
    read: impl FnOnce(&TrainRequest, &Choice, Option<&Checkpoint>) -> Result<(Ready, Trainer), Error>,
) -> Result<TrainReport, Error> {
    // Claimed before anything is read of it, so that nobody else goes on with it meanwhile.
    let run = store.claim_run(before, changes.take_over)?;
    let again = prepare_again(place, store, &run, changes, watch, read).and_then(|again| {
        let round = again.from.as_ref().map_or(0, |from| from.round);
        store.go_on(&run, &again.request, &again.choice, round)?;
        Ok(again)
    });
    let Again { request, choice, ready, trainer, from, adaptive } = again.inspect_err(|_| {
        // If the store is what failed, this fails too, and the claim ends with this process.
        let _ = store.release_run(&run, before);
    })?;
    let task = Task::new(place, store, &run, &request, choice, ready, adaptive);
    task.carry_out(trainer, from, watch)
}

/// All that a run needs to go on.
struct Again {
    request: TrainRequest,
    choice: Choice,
    ready: Ready,
    trainer: Trainer,
    from: Option<Checkpoint>,
    adaptive: Option<Adaptive>,
}

fn prepare_again(
    place: &Place,
    store: &Store,
    run: &StoredRun,
    changes: &Changes,
    watch: &mut Watch,
    read: impl FnOnce(&TrainRequest, &Choice, Option<&Checkpoint>) -> Result<(Ready, Trainer), Error>,
) -> Result<Again, Error> {
    unless_changed(run, run.dataset.unknown_content())?;
    run.request.check_still_there(&run.id)?;
    let request = run.request.clone().with(changes);
    place.check_model(&request)?;
    let choice = Choice { stop: choose(&request)?.stop, ..run.choice.clone() };
    (watch.observe)(Progress::Loading(&request.data.spec));
    let from = store.checkpoint(run)?;
    let (ready, trainer) = read(&request, &choice, from.as_ref())?;
    check_same_data(run, &ready)?;
    ready.check_room(&choice)?;
    let adaptive = follow_again(&request, &choice, &ready, &trainer, from.as_ref())?;
    Ok(Again { request, choice, ready, trainer, from, adaptive })
}

/// A simulated run without a cluster file simulates machines like this one, measured once.
pub(crate) fn measure_if_needed(
    choice: &mut Choice,
    store: Option<&Store>,
) -> Result<Option<Machine>, Error> {
    if choice.engine != SIMULATED || choice.cluster.is_some() {
        return Ok(None);
    }
    let known = store.map(Store::calibration).transpose()?.flatten();
    let machine = known.unwrap_or_else(hemingway_train::calibrate);
    choice.cluster = Some(Cluster::of(machine));
    Ok(known.is_none().then_some(machine))
}

fn check_same_data(run: &StoredRun, ready: &Ready) -> Result<(), Error> {
    unless_changed(run, run.dataset.difference(&ready.summary))
}

fn unless_changed(run: &StoredRun, difference: Option<String>) -> Result<(), Error> {
    let changed = |difference| Error::DataChanged { run: run.id.clone(), difference };
    difference.map_or(Ok(()), |difference| Err(changed(difference)))
}
