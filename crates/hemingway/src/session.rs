//! Training from request to report: check, load, plan, record, run in one stage or several, save.
//!
//! Nothing is written before every argument has been checked and all data has been read. From then on everything is
//! written the moment it is known, so that a run that is killed can be looked at and resumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hemingway_data::Dataset;
use hemingway_plan::{Configuration, Planner, Score};
use hemingway_train::protocol::Loaded;
use hemingway_train::{
    Checkpoint, Cluster, Engine, Event, HandOver, Job, Machine, Point, Quality, Run, Seconds, Start, Stop,
    StopRules,
};

use crate::adaptive::Adaptive;
use crate::default_choice::{SIMULATED, choose};
use crate::inputs::{PlanInputs, Planning, SMALLEST_ERROR};
use crate::prepare::{Means, Ready, prepare};
use crate::ranks::{Ranks, Said, Setup};
use crate::store::Recorder;
use crate::{
    Changes, Choice, Closer, Error, Explanation, FORMAT, ModelFile, Place, Purpose, SPARSE_VERSION, Store,
    StoredRun, Straggler, Switched, TrainReport, TrainRequest, VERSION,
};

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
    /// Training begins.
    Started(&'a StoredRun),
    /// Workers in this process look up only between rounds: this closes the run from another thread.
    Closable(Arc<Closer>),
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

/// The same, for what purpose.
pub(crate) fn train_for(
    purpose: Purpose,
    request: TrainRequest,
    place: &Place,
    watch: &mut Watch,
) -> Result<TrainReport, Error> {
    let request = request.with_absolute_paths();
    place.check()?;
    place.check_model(&request)?;
    let store = Store::open_if_there(place)?;
    let mut choice = choose(&request)?;
    let measured = measure_if_needed(&mut choice, store.as_ref())?;
    (watch.observe)(Progress::Loading(&request.data.spec));
    let (ready, means) = prepare(&request, &choice, None)?;
    let adaptive = plan(&request, &mut choice, &ready, &means, store.as_ref())?;
    warn_of_damage(store.as_ref(), watch);
    ready.check_room(&choice)?;
    if let Some(explanation) = &choice.explanation {
        (watch.observe)(Progress::Planned(explanation));
    }

    let store = store.map_or_else(|| Store::open(place), Ok)?;
    if let Some(machine) = measured {
        store.save_calibration(&machine)?;
    }
    let run = store.create_run(&request, &choice, &ready.summary, purpose)?;
    let task = Task::new(place, &store, &run, &request, choice, ready, adaptive);
    task.carry_out(means, None, watch)
}

/// Decides what the request leaves open. Where only rounds are asked for there is nothing to plan by.
fn plan(
    request: &TrainRequest,
    choice: &mut Choice,
    ready: &Ready,
    means: &Means,
    store: Option<&Store>,
) -> Result<Option<Adaptive>, Error> {
    if !request.is_planned(&choice.stop) {
        return Ok(None);
    }
    let Some((profile, profiled)) = means.profile(ready) else { return Ok(None) };
    let workers = means.workers();
    let inputs = PlanInputs {
        request,
        choice,
        data: &ready.summary,
        profile,
        store,
        workers: workers.as_deref(),
        algorithms: None,
        reading: means.read(),
        room: ready.room,
    };
    let Planning { planner, mut explanation } = inputs.plan()?;
    if choice.engine != SIMULATED {
        explanation.overhead_seconds += profiled;
    }
    let adaptive = explanation.plan().map(|plan| follow(planner, plan.first().clone(), request, choice));
    if let Some(plan) = explanation.plan() {
        choice.use_configuration(plan.first(), ready.summary.rows, request.parameters);
        choice.reason = "planned".to_owned();
    }
    choice.explanation = Some(explanation);
    Ok(adaptive)
}

/// Follows a run. How far an objective is from its goal, in errors, is not known while it runs; and where a goal cannot
/// be reached, no other configuration reaches it either.
fn follow(
    planner: Planner,
    configuration: Configuration,
    request: &TrainRequest,
    choice: &Choice,
) -> Adaptive {
    let StopRules { error, objective, .. } = choice.stop;
    let adapt =
        request.planning.adapt && objective.is_none() && error.is_none_or(|error| error >= SMALLEST_ERROR);
    let open_end = request.goal(&choice.stop).error.is_none();
    Adaptive::new(planner, configuration, adapt, open_end, choice.engine != SIMULATED)
}

/// Goes on with a run that was interrupted, or that should go further than it did.
pub fn resume(run: &str, changes: &Changes, place: &Place, watch: &mut Watch) -> Result<TrainReport, Error> {
    let store = Store::open_existing(place)?;
    let before = store.run(run)?;
    // Claimed before anything is read of it, so that nobody else goes on with it meanwhile.
    let run = store.claim_run(&before, changes.take_over)?;
    let again = prepare_again(place, &store, &run, changes, watch).and_then(|again| {
        let round = again.from.as_ref().map_or(0, |from| from.round);
        store.go_on(&run, &again.request, &again.choice, round)?;
        Ok(again)
    });
    let Again { request, choice, ready, means, from, adaptive } = again.inspect_err(|_| {
        // If the store is what failed, this fails too, and the claim ends with this process.
        let _ = store.release_run(&run, &before);
    })?;
    let task = Task::new(place, &store, &run, &request, choice, ready, adaptive);
    task.carry_out(means, from, watch)
}

/// All that a run needs to go on.
struct Again {
    request: TrainRequest,
    choice: Choice,
    ready: Ready,
    means: Means,
    from: Option<Checkpoint>,
    adaptive: Option<Adaptive>,
}

fn prepare_again(
    place: &Place,
    store: &Store,
    run: &StoredRun,
    changes: &Changes,
    watch: &mut Watch,
) -> Result<Again, Error> {
    unless_changed(run, run.dataset.unknown_content())?;
    let request = run.request.clone().with(changes);
    place.check_model(&request)?;
    let choice = Choice { stop: choose(&request)?.stop, ..run.choice.clone() };
    (watch.observe)(Progress::Loading(&request.data.spec));
    let from = store.checkpoint(run)?;
    let (ready, means) = prepare(&request, &choice, from.as_ref())?;
    check_same_data(run, &ready)?;
    ready.check_room(&choice)?;
    let adaptive = follow_again(&request, &choice, &ready, &means, from.as_ref())?;
    Ok(Again { request, choice, ready, means, from, adaptive })
}

/// Says what of the store could not be read.
fn warn_of_damage(store: Option<&Store>, watch: &mut Watch) {
    let warnings = store.map_or_else(Vec::new, Store::warnings);
    warnings.iter().for_each(|warning| (watch.observe)(Progress::Noticed(warning)));
}

/// A run that was planned is followed when it goes on, too.
fn follow_again(
    request: &TrainRequest,
    choice: &Choice,
    ready: &Ready,
    means: &Means,
    from: Option<&Checkpoint>,
) -> Result<Option<Adaptive>, Error> {
    if choice.explanation.is_none() {
        return Ok(None);
    }
    let Some((profile, _)) = means.profile(ready) else { return Ok(None) };
    let (data, workers) = (&ready.summary, means.workers());
    let inputs = PlanInputs {
        request,
        choice,
        data,
        profile,
        store: None,
        workers: workers.as_deref(),
        algorithms: None,
        reading: means.read(),
        room: ready.room,
    };
    let mut planner = inputs.planner()?;
    let configuration = choice.configuration(data.rows);
    let score = from.map(|from| Score { rounds: from.round, seconds: from.seconds.0, error: 1.0 });
    planner.go_on(&configuration, score);
    Ok(Some(follow(planner, configuration, request, choice)))
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

/// A run that has been recorded and is about to be trained.
struct Task<'a> {
    place: &'a Place,
    recorder: Recorder<'a>,
    run: &'a StoredRun,
    request: &'a TrainRequest,
    choice: Choice,
    ready: Ready,
    adaptive: Option<Adaptive>,
    bill: Bill,
    stragglers: Vec<Straggler>,
    closer: Option<Arc<Closer>>,
    /// What was noticed of the machine.
    notes: Vec<String>,
}

/// Trains one stage, from a checkpoint if there is one.
type OneStage<'a> = dyn FnMut(&mut Task, Option<&Checkpoint>, &mut Watch) -> Result<Run, Error> + 'a;

/// What training came to.
struct Outcome {
    run: Run,
    /// How well its model predicts the training data; unknown where it was cut short.
    quality: Option<Quality>,
}

/// Closes a run with the model of its last checkpoint.
pub(crate) fn save_last_checkpoint(
    place: &Place,
    store: &Store,
    run: &StoredRun,
    request: &TrainRequest,
    ready: Ready,
) -> Result<TrainReport, Error> {
    let task = Task::new(place, store, run, request, run.choice.clone(), ready, None);
    let outcome = task.last_checkpoint();
    task.conclude(outcome)
}

impl<'a> Task<'a> {
    fn new(
        place: &'a Place,
        store: &'a Store,
        run: &'a StoredRun,
        request: &'a TrainRequest,
        choice: Choice,
        ready: Ready,
        adaptive: Option<Adaptive>,
    ) -> Task<'a> {
        let (recorder, bill) = (Recorder::new(store, run), Bill::default());
        let (stragglers, closer, notes) = (Vec::new(), None, Vec::new());
        Task { place, recorder, run, request, choice, ready, adaptive, bill, stragglers, closer, notes }
    }

    /// Trains, saves the model and closes the run, whichever way it ends.
    fn carry_out(
        mut self,
        means: Means,
        from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<TrainReport, Error> {
        (watch.observe)(Progress::Started(self.run));
        if let Means::Here { .. } = means {
            let closer = Arc::new(Closer::new(self.place, &self.run.id, self.request, &self.ready));
            self.closer = Some(Arc::clone(&closer));
            (watch.observe)(Progress::Closable(closer));
        }
        let outcome = self.train(means, from, watch);
        if let Some(closer) = &self.closer {
            closer.take()?;
        }
        self.conclude(outcome)
    }

    /// Saves what came of it and closes the run.
    fn conclude(self, outcome: Result<Outcome, Error>) -> Result<TrainReport, Error> {
        match outcome.and_then(|outcome| self.save(&outcome)) {
            Ok(report) => self.close(report),
            Err(error) => {
                self.recorder.fail(&error.to_string());
                Err(error)
            }
        }
    }

    fn train(&mut self, means: Means, from: Option<Checkpoint>, watch: &mut Watch) -> Result<Outcome, Error> {
        match means {
            Means::Here { engine, data } => self.train_here(engine.as_ref(), &data, from, watch),
            Means::Ranks { started, setup } => self.train_on_ranks(*started, *setup, from, watch),
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

    /// What the run had come to at its last checkpoint.
    fn last_checkpoint(&self) -> Result<Outcome, Error> {
        let checkpoint = self.recorder.last_checkpoint()?.ok_or(Error::Interrupted)?;
        Ok(Outcome { run: checkpoint.interrupted(), quality: None })
    }

    /// One stage after the other, as long as another configuration is better or the present one leads nowhere.
    fn stages(
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
            self.choice.use_configuration(&switched.to, self.ready.summary.rows, self.request.parameters);
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
        let job = Job {
            problem: self.ready.problem,
            algorithm: algorithm.as_ref(),
            workers: self.choice.workers,
            seed: self.request.seed,
            stop,
            scoring: self.choice.scoring,
            start: from.map_or(Start::Zero, Start::Checkpoint),
            checkpoint_every: Some(self.request.checkpoint_every),
            interrupt: Some(watch.interrupt),
            hand_over: hand_over.as_deref(),
        };
        let observe = &mut *watch.observe;
        Ok(engine.run(data, &job, &mut |event| self.record(event, observe).map_err(refuse))?)
    }

    /// How a stage is asked to end for another one.
    fn hand_over(&self) -> Option<Arc<HandOver>> {
        self.adaptive.as_ref().map(|adaptive| Arc::clone(&adaptive.hand_over))
    }

    /// When a stage ends: the limits of the run, less what was waited for before it began, and the money that is left.
    fn stop(&self) -> StopRules {
        let within = self.deadline().into_iter().chain(self.paid_for()).reduce(f64::min);
        StopRules { within: within.map(Seconds), ..self.choice.stop }
    }

    /// The deadline on the training clock.
    fn deadline(&self) -> Option<f64> {
        let before = self.choice.explanation.as_ref().map_or(0.0, |explained| explained.overhead_seconds);
        self.choice.stop.within.map(|within| (IN_TIME * within.0 - before).max(f64::MIN_POSITIVE))
    }

    /// Until when the budget lasts, on the training clock.
    fn paid_for(&self) -> Option<f64> {
        let budget = self.request.planning.budget.zip(self.price());
        budget.map(|(budget, price)| self.bill.until(budget, price))
    }

    /// Why the run ended, as the user sees it: the clock may have stood for money.
    fn reason_of(&self, stop: Stop) -> Stop {
        let money =
            self.paid_for().is_some_and(|paid| self.deadline().is_none_or(|deadline| paid < deadline));
        if stop == Stop::Within && money { Stop::Budget } else { stop }
    }

    /// Money for a second of the present configuration, if machines have prices.
    fn price(&self) -> Option<f64> {
        self.choice.cluster.as_ref().and_then(|cluster| cluster.price_per_second(self.choice.workers))
    }

    /// Starts again from the last checkpoint when ranks are lost, as often as the user allows. What is left of the run is
    /// then done the way it was, on as many ranks as there are.
    fn train_on_ranks(
        &mut self,
        started: Ranks,
        mut setup: Setup,
        mut from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        if let Some(note) = setup.full_cores(self.choice.workers) {
            (watch.observe)(Progress::Noticed(&note));
            self.notes.push(note);
        }
        let mut started = Ok(started);
        let mut restarts = self.request.ranks.restarts;
        loop {
            let result = started.and_then(|ranks| self.train_with(ranks, from, watch));
            let interrupted = watch.interrupt.load(Ordering::Relaxed);
            let reason = match result {
                // Whatever became of the ranks, the user wants what there is.
                Err(error) if interrupted && (error.is_loss() || matches!(error, Error::Interrupted)) => {
                    return self.last_checkpoint();
                }
                Err(error) if error.is_loss() && restarts > 0 => error,
                result => return result,
            };
            restarts -= 1;
            let gone = match setup.drop_lost_hosts(&reason, watch.interrupt) {
                Err(Error::Interrupted) => return self.last_checkpoint(),
                gone => gone?,
            };
            self.choice.workers = self.choice.workers.min(setup.ranks());
            let workers = self.choice.workers;
            if let Some(adaptive) = &mut self.adaptive {
                adaptive.stay();
            }
            setup = setup.with_stages(vec![self.choice.stage(self.stop())]);
            let note;
            (from, note) = self.recorder.begin_again()?;
            notice(note, watch.observe);
            (watch.observe)(Progress::Restarting { reason: &reason, gone: &gone, workers });
            started = setup.start(from.as_ref(), Some(watch.interrupt));
        }
    }

    /// The stages of a run on ranks, which have what they begin from, or keep it from stage to stage.
    fn train_with(
        &mut self,
        mut ranks: Ranks,
        from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        self.check_still_the_same(&ranks.loaded)?;
        let mut quality = None;
        let mut stage = |task: &mut Task, from: Option<&Checkpoint>, watch: &mut Watch| {
            let (stage, hand_over) = (task.choice.stage(task.stop()), task.hand_over());
            let (interrupt, observe) = (watch.interrupt, &mut *watch.observe);
            let begins = from.is_none();
            let (run, reached) =
                ranks.stage(stage, hand_over.as_deref(), interrupt, &mut |said| match said {
                    Said::Event(event) => task.record(event, observe),
                    Said::Loaded(again) => task.loaded_again(again, begins),
                    Said::Begun(seconds) => {
                        task.begun(seconds);
                        Ok(())
                    }
                })?;
            quality = Some(reached);
            Ok(run)
        };
        let run = self.stages(from, watch, &mut stage)?;
        self.stragglers = ranks.stragglers();
        ranks.dismiss();
        Ok(Outcome { run, quality })
    }

    /// Between stages the training clock runs, but before the first one it does not yet.
    fn loaded_again(&mut self, loaded: &Loaded, begins: bool) -> Result<(), Error> {
        if begins {
            self.ready.load_seconds += loaded.load_seconds;
            self.ready.transform_seconds += loaded.transform_seconds;
        }
        self.check_still_the_same(loaded)
    }

    /// Refuses to go on with ranks that have read something else than those before them.
    fn check_still_the_same(&self, loaded: &Loaded) -> Result<(), Error> {
        let then = self.ready.summary.fingerprint.unwrap_or_default();
        unless_changed(
            self.run,
            then.difference(&loaded.fingerprint).map(|difference| difference.to_string()),
        )
    }

    fn begun(&mut self, seconds: Seconds) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.begun(seconds);
        }
    }

    fn record(&mut self, event: Event, observe: &mut dyn FnMut(Progress)) -> Result<(), Error> {
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

    fn save(&self, outcome: &Outcome) -> Result<TrainReport, Error> {
        let report = self.report(outcome);
        if self.request.model.is_none() {
            self.place.make_model_folder(&report.model)?;
        }
        self.model(&outcome.run).write(&report.model)?;
        Ok(report)
    }

    /// Closes the run with its report. What cannot be recorded does not take the model away.
    fn close(self, report: TrainReport) -> Result<TrainReport, Error> {
        let unrecorded = self.recorder.finish(&report)?;
        Ok(TrainReport { unrecorded, ..report })
    }

    fn model(&self, outcome: &Run) -> ModelFile {
        let features = &self.ready.features;
        let (weights, bias) = outcome.model.weights.split_at(features.columns());
        ModelFile {
            format: FORMAT.to_owned(),
            version: if features.used.is_some() { SPARSE_VERSION } else { VERSION },
            loss: self.request.loss,
            lambda: self.request.lambda,
            labels: self.ready.summary.labels.clone(),
            features: features.count,
            indices: features.used.clone(),
            weights: weights.to_vec(),
            bias: bias.first().copied(),
            transform: self.ready.transform.clone(),
            primal: outcome.primal,
            dual: finite(outcome.dual),
            certified_error: finite(outcome.certified_error),
            run: self.run.id.clone(),
            dataset: self.ready.summary.name.clone(),
            fingerprint: self.ready.summary.fingerprint,
        }
    }

    fn is_in_time(&self, outcome: &Run) -> bool {
        self.choice.stop.within.is_none_or(|within| outcome.seconds.0 <= (1.0 + PUNCTUAL) * within.0)
    }

    fn report(&self, outcome: &Outcome) -> TrainReport {
        let Outcome { run: outcome, quality: train } = outcome;
        let weights = &outcome.model.weights;
        let quality = |data: &Dataset| Quality::of(&hemingway_train::predict(data, weights), data);
        let test = self.ready.test.as_ref().map(|test| quality(&test.dataset));
        let wall_seconds = self.ready.transform_seconds + outcome.wall_seconds.0;
        let planned = self.choice.explanation.as_ref().map_or(0.0, |explained| explained.overhead_seconds);
        let (planning, switching) = self
            .adaptive
            .as_ref()
            .map_or((0.0, 0.0), |adaptive| (adaptive.planning_seconds, adaptive.switching_seconds));
        let explained = self.choice.explanation.as_ref();
        let simulated = self.choice.engine == SIMULATED;
        let total_seconds = match simulated {
            true => outcome.seconds.0 + planned + planning,
            false => self.ready.load_seconds + wall_seconds + planned,
        };
        TrainReport {
            run: self.run.id.clone(),
            model: self.request.model.clone().unwrap_or_else(|| self.place.model(&self.run.id)),
            dataset: self.ready.summary.clone(),
            loss: self.request.loss,
            lambda: self.request.lambda,
            bias: self.request.bias,
            algorithm: self.choice.algorithm.clone(),
            parameters: self.choice.parameters,
            workers: self.choice.workers,
            engine: self.choice.engine.clone(),
            reason: self.choice.reason.clone(),
            seed: self.request.seed,
            rounds: outcome.rounds,
            seconds: outcome.seconds.0,
            wall_seconds,
            total_seconds,
            overhead_seconds: planned + planning + switching,
            before_seconds: planned,
            load_seconds: self.ready.load_seconds,
            scoring_seconds: outcome.scoring_seconds.0,
            primal: outcome.primal,
            dual: finite(outcome.dual),
            certified_error: finite(outcome.certified_error),
            relative_to_start: outcome.relative_to_start,
            stop: self.reason_of(outcome.stop),
            goal_reached: outcome.stop.is_goal(&self.choice.stop) && self.is_in_time(outcome),
            cost: self.bill.paid(),
            switches: self.choice.switches.clone(),
            unrecorded: None,
            plan: explained.and_then(|explained| explained.decision.plan.clone()),
            alternatives: explained
                .map_or_else(Vec::new, |explained| explained.decision.alternatives.clone()),
            rejected: explained.map_or_else(Vec::new, |explained| explained.decision.rejected.clone()),
            reused: explained.map_or_else(Vec::new, |explained| explained.reused.clone()),
            warnings: explained
                .map_or_else(Vec::new, |explained| explained.warnings.clone())
                .into_iter()
                .chain(self.notes.iter().cloned())
                .collect(),
            stragglers: self.stragglers.clone(),
            train_accuracy: train.and_then(Quality::accuracy),
            train_rmse: train.and_then(Quality::rmse),
            test_accuracy: test.and_then(Quality::accuracy),
            test_rmse: test.and_then(Quality::rmse),
            test_dropped_values: self.ready.test.as_ref().map(|test| test.dropped_values),
        }
    }
}

/// What a run has cost.
#[derive(Default)]
struct Bill {
    money: Option<f64>,
    /// The training clock up to which it is paid.
    until: f64,
}

impl Bill {
    fn begin(&mut self, seconds: f64) {
        self.until = seconds;
    }

    fn pay(&mut self, until: f64, price: Option<f64>) {
        if let Some(price) = price {
            *self.money.get_or_insert(0.0) += price * (until - self.until).max(0.0);
        }
        self.until = until;
    }

    /// Until when the rest of a budget lasts.
    fn until(&self, budget: f64, price: f64) -> f64 {
        self.until + (budget - self.money.unwrap_or(0.0)).max(0.0) / price.max(f64::MIN_POSITIVE)
    }

    fn paid(&self) -> Option<f64> {
        self.money
    }
}

/// Training ends this early, so that what is planned on the way fits in.
const IN_TIME: f64 = 0.99;
/// A deadline that is missed by less than this share of it was kept, for those who look at a clock.
const PUNCTUAL: f64 = 0.05;

/// Says what the user should know, if there is anything.
fn notice(note: Option<String>, observe: &mut dyn FnMut(Progress)) {
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

/// Bounds that prove nothing are left out.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
