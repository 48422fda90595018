//! `hemingway tune`: a schedule for unequal machines, from evaluations of the user's own job or of the simulator.
//!
//! `job_file` says what is tuned, `evaluator` tries a schedule, `report` tells what was found; here is the way through a
//! study. Every proposal and every outcome goes into the store as it happens; a study that was interrupted tells its tuner all
//! that was measured and goes on.

mod evaluator;
mod job_file;
mod plots;
mod recorder;
mod report;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

use hemingway_tune::schedule::{
    Answer, Cluster, Evaluated, Kind, Options, Outcome, Proposal, Schedule, Tuner,
};
use hemingway_tune::simulator::experiment;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use evaluator::Evaluator;
pub use job_file::{TEMPLATE, TuneJob};
pub use plots::{check_plots, plot_study};
pub use report::{EvaluatedStep, TuneReport, serve};

use self::evaluator::{Evaluation, unknown_names};
use self::recorder::Recorder;
use crate::store::{StoredEvaluation, StoredStudy};
use crate::{Error, Place, Status, Store};

/// What a study is about.
#[derive(Debug, Clone, PartialEq)]
pub enum TuneSource {
    /// A job file.
    Job(Box<TuneJob>),
    /// An experiment of the simulator, by its name.
    Simulated(String),
    /// A study that goes on, by its name or `last`.
    Resumed(String),
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneRequest {
    /// What is tuned.
    pub source: TuneSource,
    /// The command that evaluates, in place of the job file's.
    pub command: Option<String>,
    /// How many evaluations may be made in all, in place of the job file's.
    pub evaluations: Option<usize>,
    /// How many at the same time.
    pub parallel: usize,
    /// The expected improvement below which it ends; by default 0.005, or as before.
    pub stop_below: Option<f64>,
    /// Seconds after which an evaluation has failed, in place of the job file's.
    pub timeout: Option<f64>,
    /// A study of a similar job, as history.
    pub earlier: Option<String>,
    /// Go on with a study that a process on another machine began and may still be at.
    pub take_over: bool,
    /// The random seed.
    pub seed: u64,
}

/// A study: all that it takes to go on with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// The job.
    pub job: TuneJob,
    /// What evaluates it.
    pub evaluator: Evaluator,
    /// Evaluations in all.
    pub evaluations: usize,
    /// The expected improvement below which it ends.
    pub stop_below: f64,
    /// The random seed.
    pub seed: u64,
    /// A study used as history.
    pub earlier: Option<String>,
}

/// Why a study ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TuneStop {
    /// Nothing that is left is expected to be much better.
    Converged,
    /// All evaluations that may be made were made.
    Evaluations,
    /// The user ended it.
    Interrupted,
}

impl TuneStop {
    /// In words.
    pub fn reason(self) -> &'static str {
        match self {
            TuneStop::Converged => "no schedule is expected to be much better",
            TuneStop::Evaluations => "all evaluations were made",
            TuneStop::Interrupted => "interrupted",
        }
    }
}

/// What happens.
pub enum TuneEvent<'a> {
    /// The study has a name.
    Started {
        /// Its name.
        id: &'a str,
        /// Evaluations that are known already.
        known: usize,
        /// Evaluations in all.
        of: usize,
    },
    /// An evaluation begins.
    Begun {
        /// Its number, from 1.
        number: usize,
        /// What is predicted of it.
        proposal: &'a Proposal,
    },
    /// An evaluation ended.
    Ended(&'a EvaluatedStep),
    /// Something the user has to know.
    Warning(String),
}

/// Who watches.
pub struct TuneWatch<'a> {
    /// Set to end the study.
    pub interrupt: &'a AtomicBool,
    /// Is told what happens.
    pub observe: &'a mut dyn FnMut(TuneEvent),
}

/// An evaluation takes no longer than this unless said.
const TIMEOUT: f64 = 3600.0;
/// Evaluations unless said.
const EVALUATIONS: usize = 10;
/// The most that can be asked for: every one takes part in every thought.
const MOST_EVALUATIONS: usize = 10_000;
/// The expected improvement below which a study ends unless said.
const STOP_BELOW: f64 = 0.005;
/// So many failures without anything measured are enough.
const HOPELESS: usize = 5;
/// Evaluations before it may end by itself: one is no comparison.
const AT_LEAST: usize = 2;

/// Tunes a schedule.
pub fn tune(request: &TuneRequest, place: &Place, watch: &mut TuneWatch) -> Result<TuneReport, Error> {
    check(request)?;
    let prepared = match &request.source {
        TuneSource::Resumed(name) => Err(name),
        source => Ok(study_of(request, source)?),
    };
    let store = Store::open(place)?;
    let earlier = request.earlier.as_deref().map(|name| store.study(name)).transpose()?;
    let (stored, known) = match prepared {
        Ok(mut study) => {
            if let Some(earlier) = &earlier {
                check_related(&study.job.job.cluster, earlier)?;
            }
            study.earlier = earlier.map(|earlier| earlier.id);
            (store.create_study(&study)?, Vec::new())
        }
        Err(name) => {
            let found = store.study(name)?;
            let study = changed(&found.study, request);
            let claimed = store.claim_study(&found, &study, request.take_over)?;
            let known = store.evaluations(&claimed)?;
            (claimed, known)
        }
    };
    let result =
        Session { store: &store, stored: &stored, study: &stored.study }.run(known, request.parallel, watch);
    let status = if result.is_ok() { Status::Done } else { Status::Failed };
    let closed = store.close_study(&stored, status);
    store.warnings().into_iter().for_each(|text| (watch.observe)(TuneEvent::Warning(text)));
    let mut report = result?;
    match closed {
        Err(error) if error.may_pass() => {
            report.unrecorded.get_or_insert_with(|| format!("the end is not in the store: {error}"));
        }
        closed => closed?,
    }
    Ok(report)
}

fn check(request: &TuneRequest) -> Result<(), Error> {
    let range = |name, value, expected| Err(Error::OutOfRange { name, value, expected });
    if request.parallel == 0 || request.parallel > 1000 {
        return range("--parallel", request.parallel as f64, "from 1 to 1000 evaluations at once");
    }
    if request.evaluations == Some(0) || request.evaluations.is_some_and(|count| count > MOST_EVALUATIONS) {
        return range("--evaluations", request.evaluations.unwrap_or(0) as f64, "from 1 to 10,000");
    }
    if let Some(share) = request.stop_below.filter(|share| !(0.0..1.0).contains(share)) {
        return range("--stop-below", share, "a share from 0 to 1, like 0.005");
    }
    Ok(())
}

/// Whether an earlier study says something about these machines: types of the same name have the same devices.
fn check_related(cluster: &Cluster, earlier: &StoredStudy) -> Result<(), Error> {
    let unrelated = |problem: String| Err(Error::Unrelated { study: earlier.id.clone(), problem });
    let names =
        |kind: &Kind| kind.devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>().join(", ");
    let pairs = cluster.kinds.iter().filter_map(|kind| {
        let same = |other: &&Kind| other.name == kind.name;
        Some((kind, earlier.study.job.job.cluster.kinds.iter().find(same)?))
    });
    let pairs: Vec<(&Kind, &Kind)> = pairs.collect();
    if pairs.is_empty() {
        return unrelated(format!(
            "its job `{}` has none of these types of machines",
            earlier.study.job.name
        ));
    }
    match pairs.iter().find(|(ours, theirs)| names(ours) != names(theirs)) {
        Some((ours, theirs)) => unrelated(format!(
            "its type {} has the devices `{}`, here it has `{}`",
            ours.name,
            names(theirs),
            names(ours)
        )),
        None => Ok(()),
    }
}

fn study_of(request: &TuneRequest, source: &TuneSource) -> Result<Study, Error> {
    let (job, evaluator) = match source {
        TuneSource::Job(job) => {
            let command = request.command.clone().or_else(|| job.command.clone()).ok_or(Error::NoCommand)?;
            let timeout = request.timeout.or(job.timeout).unwrap_or(TIMEOUT);
            ((**job).clone(), Evaluator::Command { command, timeout })
        }
        TuneSource::Simulated(name) => {
            let world = experiment(name).ok_or_else(|| Error::NoExperiment { name: name.clone() })?.world();
            (simulated_job(name, &world), Evaluator::Simulated(Box::new(world)))
        }
        TuneSource::Resumed(_) => unreachable!("a resumed study is in the store"),
    };
    let evaluations = request.evaluations.or(job.evaluations).unwrap_or(EVALUATIONS);
    let (stop_below, seed) = (request.stop_below.unwrap_or(STOP_BELOW), request.seed);
    Ok(Study { job, evaluator, evaluations, stop_below, seed, earlier: None })
}

fn simulated_job(name: &str, world: &hemingway_tune::simulator::World) -> TuneJob {
    TuneJob {
        name: name.to_owned(),
        job: world.job.clone(),
        batches: None,
        noise_scale: None,
        command: None,
        evaluations: None,
        timeout: None,
    }
}

/// A study that goes on, with what is now asked of it.
fn changed(study: &Study, request: &TuneRequest) -> Study {
    let mut study = study.clone();
    study.evaluations = request.evaluations.unwrap_or(study.evaluations);
    study.stop_below = request.stop_below.unwrap_or(study.stop_below);
    if let Evaluator::Command { command, timeout } = &mut study.evaluator {
        *command = request.command.clone().unwrap_or_else(|| command.clone());
        *timeout = request.timeout.unwrap_or(*timeout);
    }
    study
}

/// A study at work.
struct Session<'a> {
    store: &'a Store,
    stored: &'a StoredStudy,
    study: &'a Study,
}

/// An evaluation to be made.
struct Task {
    number: usize,
    proposal: Proposal,
}

impl Session<'_> {
    fn run(
        &self,
        known: Vec<StoredEvaluation>,
        parallel: usize,
        watch: &mut TuneWatch,
    ) -> Result<TuneReport, Error> {
        let mut tuner = self.tuner()?;
        let mut steps: Vec<EvaluatedStep> = Vec::new();
        let mut again: Vec<Task> = Vec::new();
        for evaluation in known {
            match self.told(&evaluation)? {
                (schedule, Some(outcome)) => {
                    tuner.tell(schedule, outcome);
                    let seconds = evaluation.seconds.unwrap_or(0.0);
                    let step = report::step(
                        self.study,
                        &tuner,
                        &steps,
                        evaluation.number,
                        seconds,
                        &evaluation.proposed,
                    );
                    steps.push(step);
                }
                // Begun and never ended: it is made again.
                (schedule, None) => again.push(Task {
                    number: evaluation.number,
                    proposal: proposal_of(schedule, &evaluation.proposed),
                }),
            }
        }
        (watch.observe)(TuneEvent::Started {
            id: &self.stored.id,
            known: steps.len(),
            of: self.study.evaluations,
        });
        // The first that was begun is made first.
        again.reverse();
        let mut recorder = Recorder::new(self.store, self.stored);
        let stop = self.evaluate(&mut tuner, &mut steps, again, parallel, &mut recorder, watch);
        let unrecorded = recorder.finish()?;
        let stop = stop?;
        if stop != TuneStop::Interrupted
            && let Some(error) = self.hopeless(&tuner)
        {
            return Err(error);
        }
        Ok(report::report(self.study, &self.stored.id, &tuner, steps, stop, unrecorded))
    }

    fn tuner(&self) -> Result<Tuner, Error> {
        let TuneJob { job, batches, noise_scale, .. } = &self.study.job;
        let options = Options { seed: self.study.seed, ..Options::default() };
        let mut tuner = Tuner::new(job.clone(), options);
        if let Some((from, to)) = batches {
            tuner = tuner.with_open_batch(*from, *to, *noise_scale);
        }
        if let Some(name) = &self.study.earlier {
            let earlier = self.store.study(name)?;
            let cluster = &earlier.study.job.job.cluster;
            for evaluation in self.store.evaluations(&earlier)? {
                let schedule = Schedule::from_json(&evaluation.configuration, cluster);
                let answer =
                    evaluation.answer.and_then(|answer| serde_json::from_value::<Answer>(answer).ok());
                if let (Ok(schedule), Some(answer)) = (schedule, answer) {
                    let job = earlier.study.job.job.with_batch(schedule.batch());
                    tuner.warm_start(job, [Evaluated { schedule, outcome: Outcome::Measured(answer) }]);
                }
            }
        }
        Ok(tuner)
    }

    /// What the store remembers of an evaluation.
    fn told(&self, evaluation: &StoredEvaluation) -> Result<(Schedule, Option<Outcome>), Error> {
        let damaged = |problem: String| Error::DamagedRun {
            run: self.stored.id.clone(),
            store: self.store.file().to_path_buf(),
            problem: format!("evaluation {}: {problem}", evaluation.number),
        };
        let schedule = Schedule::from_json(&evaluation.configuration, &self.study.job.job.cluster)
            .map_err(|error| damaged(error.to_string()))?;
        let outcome = match (&evaluation.answer, &evaluation.failure) {
            (Some(answer), _) => {
                let answer =
                    serde_json::from_value(answer.clone()).map_err(|error| damaged(error.to_string()))?;
                Some(Outcome::Measured(answer))
            }
            (None, Some(failure)) => Some(Outcome::Failed(failure.clone())),
            (None, None) => None,
        };
        Ok((schedule, outcome))
    }

    /// Evaluates until there is a reason to stop.
    fn evaluate(
        &self,
        tuner: &mut Tuner,
        steps: &mut Vec<EvaluatedStep>,
        mut again: Vec<Task>,
        parallel: usize,
        recorder: &mut Recorder,
        watch: &mut TuneWatch,
    ) -> Result<TuneStop, Error> {
        let (send, receive) = channel();
        let numbers = steps.iter().map(|step| step.number).chain(again.iter().map(|task| task.number));
        let mut next = 1 + numbers.max().unwrap_or(0);
        let (mut running, mut warned) = (0, false);
        let mut stop = None;
        let mut broken = None;
        let mut under_way: Vec<Task> = Vec::new();
        let interrupt = watch.interrupt;
        std::thread::scope(|scope| -> Result<(), Error> {
            loop {
                while stop.is_none() && broken.is_none() && running < parallel {
                    if interrupt.load(Ordering::Relaxed) {
                        stop = Some(TuneStop::Interrupted);
                        break;
                    }
                    if steps.len() + running >= self.study.evaluations {
                        stop = Some(TuneStop::Evaluations);
                        break;
                    }
                    let task = match again.pop() {
                        Some(task) => task,
                        None => {
                            let proposal = tuner.think().propose();
                            let measured =
                                tuner.evaluated().iter().filter(|seen| seen.answer().is_some()).count();
                            if measured >= AT_LEAST && proposal.expected_improvement < self.study.stop_below {
                                stop = Some(TuneStop::Converged);
                                break;
                            }
                            next += 1;
                            Task { number: next - 1, proposal }
                        }
                    };
                    tuner.begin(task.proposal.schedule.clone());
                    (watch.observe)(TuneEvent::Begun { number: task.number, proposal: &task.proposal });
                    let schedule = task.proposal.schedule.clone();
                    let configuration = schedule.to_json(&self.study.job.job.cluster);
                    match recorder.begun(task.number, &configuration, &proposed(&task.proposal)) {
                        Ok(warning) => {
                            warning.into_iter().for_each(|text| (watch.observe)(TuneEvent::Warning(text)));
                        }
                        Err(error) => {
                            broken.get_or_insert(error);
                            break;
                        }
                    }
                    let (send, number, study) = (send.clone(), task.number, self.study);
                    scope.spawn(move || {
                        let begun = Instant::now();
                        let made = study.evaluator.evaluate(
                            &schedule,
                            &configuration,
                            number,
                            study.seed,
                            interrupt,
                        );
                        // Somebody listens as long as anything runs.
                        let _ = send.send((number, begun.elapsed().as_secs_f64(), made));
                    });
                    under_way.push(task);
                    running += 1;
                }
                if running == 0 {
                    return Ok(());
                }
                let Ok((number, seconds, made)) = receive.recv() else { return Ok(()) };
                running -= 1;
                let at = under_way.iter().position(|task| task.number == number).expect("it was begun");
                let task = under_way.swap_remove(at);
                match made {
                    Evaluation::Ended(outcome) => {
                        match recorder.ended(number, seconds, &outcome) {
                            Ok(warning) => {
                                warning
                                    .into_iter()
                                    .for_each(|text| (watch.observe)(TuneEvent::Warning(text)));
                            }
                            Err(error) => {
                                broken.get_or_insert(error);
                            }
                        }
                        if !warned && let Some(text) = self.misnamed(&outcome) {
                            warned = true;
                            (watch.observe)(TuneEvent::Warning(text));
                        }
                        let proposed = proposed(&task.proposal);
                        tuner.tell(task.proposal.schedule, outcome);
                        let step = report::step(self.study, tuner, steps, number, seconds, &proposed);
                        (watch.observe)(TuneEvent::Ended(&step));
                        steps.push(step);
                        if let Some(error) = self.hopeless(tuner) {
                            broken.get_or_insert(error);
                        }
                    }
                    Evaluation::Interrupted => stop = Some(TuneStop::Interrupted),
                    Evaluation::Broken(error) => {
                        broken.get_or_insert(error);
                    }
                }
            }
        })?;
        match broken {
            Some(error) => Err(error),
            None => Ok(stop.unwrap_or(TuneStop::Evaluations)),
        }
    }

    /// What an answer names that is not in the job file.
    fn misnamed(&self, outcome: &Outcome) -> Option<String> {
        let Outcome::Measured(answer) = outcome else { return None };
        let unknown = unknown_names(answer, &self.study.job.job.cluster);
        let first = unknown.first()?;
        Some(format!(
            "the answer names {first}, which is not in the job file; what it says of it is not used"
        ))
    }

    /// Whether there is no point in going on.
    fn hopeless(&self, tuner: &Tuner) -> Option<Error> {
        let seen = tuner.evaluated();
        let nothing = seen.iter().all(|seen| seen.answer().is_none());
        if let Some(Evaluated { outcome: Outcome::Failed(reason), .. }) = seen.last()
            && nothing
            && (seen.len() >= HOPELESS || seen.len() >= self.study.evaluations)
        {
            return Some(Error::AllFailed {
                count: seen.len(),
                reason: reason.clone(),
                study: self.stored.id.clone(),
            });
        }
        let open = self.study.job.batches.is_some() && self.study.job.noise_scale.is_none();
        let mut answers = seen.iter().filter_map(Evaluated::answer);
        let silent = answers.all(|answer| answer.gradient_noise_scale.is_none());
        (open && silent && !nothing).then(|| Error::NoNoiseScale { study: self.stored.id.clone() })
    }
}

fn proposed(proposal: &Proposal) -> Value {
    json!({ "predicted": proposal.predicted, "expected_improvement": proposal.expected_improvement })
}

fn proposal_of(schedule: Schedule, proposed: &Value) -> Proposal {
    let predicted = serde_json::from_value(proposed["predicted"].clone()).unwrap_or(None);
    let expected_improvement = proposed["expected_improvement"].as_f64().unwrap_or(1.0);
    Proposal { schedule, predicted, expected_improvement }
}
