//! Experiments: short runs with chosen algorithms, workers and shares of the data, made to fit models to.
//!
//! An experiment is a run like any other and lies in the store like any other. So an experiment that the store has
//! already, on data that has not changed since, is not made again, one that was cut off goes on where it was, and a second call of the same command
//! finishes what the first began.

use hemingway_data::Fingerprint;
use hemingway_train::{Scoring, Stop, StopRules};
use serde::{Deserialize, Serialize};

use crate::prepare::source_fingerprint;
use crate::session::train_for;
use crate::{
    Changes, Error, Place, Progress, Purpose, Status, Store, StoredRun, TrainReport, TrainRequest, Watch,
    choose, resume,
};

/// One run to make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// The algorithm's name in the catalogue.
    pub algorithm: String,
    /// On how many workers.
    pub workers: usize,
    /// On which share of the rows.
    pub fraction: f64,
    /// For how many rounds, unless the error goal of the request comes first.
    pub rounds: u64,
}

/// Runs to make.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureRequest {
    /// What they have in common. Algorithm, workers, fraction and rounds are those of each experiment.
    pub base: TrainRequest,
    /// The runs, in the order in which they are made.
    pub experiments: Vec<Experiment>,
}

impl MeasureRequest {
    /// Refuses what can be seen to be wrong before the first run.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for experiment in &self.experiments {
            let request = experiment.request(&self.base);
            let choice = choose(&request)?;
            request.check_stop()?;
            request.check_fraction(&choice.engine)?;
            hemingway_train::algorithm(&choice.algorithm, &choice.parameters)?;
            hemingway_train::check_offers(&choice.engine, hemingway_train::named(&choice.algorithm)?)?;
            if choice.workers == 0 {
                return Err(hemingway_train::Error::NoWorkers(0).into());
            }
        }
        Ok(())
    }
}

/// What became of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// It was made now.
    Made(Box<TrainReport>),
    /// The store had it.
    Known(Box<TrainReport>),
    /// It cannot be made: the sample has fewer rows than there are workers.
    Impossible {
        /// Why.
        reason: String,
    },
}

impl Measured {
    /// Its result, if there is one.
    pub fn report(&self) -> Option<&TrainReport> {
        match self {
            Measured::Made(report) | Measured::Known(report) => Some(report),
            Measured::Impossible { .. } => None,
        }
    }

    /// One word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Measured::Made(_) => "made",
            Measured::Known(_) => "known",
            Measured::Impossible { .. } => "impossible",
        }
    }
}

/// How the caller follows experiments and ends them early.
pub struct MeasureWatch<'a> {
    /// Set it, and the run in flight ends after its round; what is left is not begun.
    pub interrupt: &'a std::sync::atomic::AtomicBool,
    /// Called with everything that happens.
    pub observe: &'a mut dyn FnMut(Measuring),
}

/// What happens, in order.
pub enum Measuring<'a> {
    /// An experiment begins, or goes on.
    Begun {
        /// Its place in the request.
        number: usize,
        /// Of how many.
        of: usize,
        /// What it is.
        experiment: &'a Experiment,
    },
    /// What happens in its run.
    Run(Progress<'a>),
    /// An experiment has ended.
    Ended(&'a Measured),
}

/// Makes the experiments that the store does not have, and returns what became of each, in their order; fewer than
/// asked for if interrupted.
pub fn measure(
    request: &MeasureRequest,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Vec<Measured>, Error> {
    request.check()?;
    let mut content = Content::default();
    let mut outcomes = Vec::new();
    for (place_in_list, experiment) in request.experiments.iter().enumerate() {
        let (number, of) = (place_in_list + 1, request.experiments.len());
        (watch.observe)(Measuring::Begun { number, of, experiment });
        let outcome = experiment.carry_out(&request.base, place, &mut content, watch)?;
        (watch.observe)(Measuring::Ended(&outcome));
        let interrupted = outcome.report().is_some_and(|report| report.stop == Stop::Interrupted);
        outcomes.push(outcome);
        if interrupted {
            break;
        }
    }
    Ok(outcomes)
}

impl Experiment {
    /// Every combination, the algorithms one after the other.
    pub fn grid(algorithms: &[String], workers: &[usize], fractions: &[f64], rounds: u64) -> Vec<Experiment> {
        let mut experiments = Vec::new();
        for algorithm in algorithms {
            for &fraction in fractions {
                for &workers in workers {
                    experiments.push(Experiment { algorithm: algorithm.clone(), workers, fraction, rounds });
                }
            }
        }
        experiments
    }

    /// The run that answers it: every round is scored, which the training clock does not see.
    fn request(&self, base: &TrainRequest) -> TrainRequest {
        let mut request = TrainRequest { algorithm: Some(self.algorithm.clone()), ..base.clone() }.in_full();
        request.workers = Some(self.workers);
        request.data.fraction = self.fraction;
        request.stop.rounds = Some(self.rounds);
        request.scoring = Some(Scoring::Every(1));
        request
    }

    fn carry_out(
        &self,
        base: &TrainRequest,
        place: &Place,
        content: &mut Content,
        watch: &mut MeasureWatch,
    ) -> Result<Measured, Error> {
        let request = self.request(base);
        let earlier = match Store::open_if_there(place)? {
            Some(store) => Earlier::find(&store, &request, content)?,
            None => Earlier::Nothing,
        };
        let mut observe = |progress: Progress| (watch.observe)(Measuring::Run(progress));
        let mut watch = Watch { interrupt: watch.interrupt, observe: &mut observe };
        let made = match earlier {
            Earlier::Whole(report) => return Ok(Measured::Known(report)),
            Earlier::Part(run) => {
                let (stop, memory_limit) = (request.stop, request.memory_limit);
                let changes = Changes { stop, memory_limit, ..Changes::default() };
                resume(&run, &changes, place, &mut watch)
            }
            Earlier::Nothing => train_for(Purpose::Experiment, request, place, &mut watch),
        };
        match made {
            Ok(report) => Ok(Measured::Made(Box::new(report))),
            Err(Error::Train(error @ hemingway_train::Error::TooManyWorkers { .. })) => {
                Ok(Measured::Impossible { reason: error.to_string() })
            }
            Err(error) => Err(error),
        }
    }
}

/// What the store has of an experiment.
enum Earlier {
    /// A run that went as far as is wanted.
    Whole(Box<TrainReport>),
    /// A run to go on with.
    Part(String),
    Nothing,
}

impl Earlier {
    fn find(store: &Store, request: &TrainRequest, content: &mut Content) -> Result<Earlier, Error> {
        let machines = choose(request)?.cluster;
        let same: Vec<StoredRun> = store
            .runs()?
            .into_iter()
            .filter(|run| machines.is_none() || run.choice.cluster == machines)
            .filter(|run| asks_the_same(&run.request, request))
            .collect();
        if same.is_empty() {
            return Ok(Earlier::Nothing);
        }
        let now = content.of(request)?;
        let same: Vec<StoredRun> = same.into_iter().filter(|run| run.dataset.source == Some(now)).collect();
        if let Some(report) = same.iter().find_map(|run| far_enough(run, &request.stop)) {
            return Ok(Earlier::Whole(Box::new(report.clone())));
        }
        for run in same.iter().filter(|run| run.status != Status::Running) {
            if store.checkpoint_round(run)?.is_some() {
                return Ok(Earlier::Part(run.id.clone()));
            }
        }
        Ok(Earlier::Nothing)
    }
}

/// What the data of experiments contains, read once for each share of its rows, and only if the store has something to
/// compare it with.
#[derive(Default)]
struct Content(Vec<(f64, Fingerprint)>);

impl Content {
    /// Each share of the rows is looked at for itself: what becomes of a table's columns is learnt from them.
    fn of(&mut self, request: &TrainRequest) -> Result<Fingerprint, Error> {
        let fraction = request.data.fraction;
        if let Some((_, known)) = self.0.iter().find(|(of, _)| *of == fraction) {
            return Ok(*known);
        }
        let found = source_fingerprint(request)?;
        self.0.push((fraction, found));
        Ok(found)
    }
}

/// Whether two requests differ at most in when to end, in where the file of the machines lies, and in the memory limit.
fn asks_the_same(stored: &TrainRequest, wanted: &TrainRequest) -> bool {
    stored.algorithm == wanted.algorithm
        && stored.workers == wanted.workers
        && stored.cluster.is_some() == wanted.cluster.is_some()
        && TrainRequest {
            stop: wanted.stop,
            cluster: wanted.cluster.clone(),
            memory_limit: wanted.memory_limit,
            ..stored.clone()
        } == *wanted
}

/// The result of a run that ended where `stop` would have ended it, or later, or that cannot go further.
fn far_enough<'a>(run: &'a StoredRun, stop: &StopRules) -> Option<&'a TrainReport> {
    let report = run.report.as_ref().filter(|_| run.status == Status::Done)?;
    let accurate = stop.error.is_some_and(|goal| report.certified_error.is_some_and(|error| error <= goal));
    let low = stop.objective.is_some_and(|goal| report.primal <= goal);
    let long = stop.rounds.is_some_and(|rounds| report.rounds >= rounds);
    let at_its_end = matches!(report.stop, Stop::NoProgress | Stop::Diverged);
    (accurate || low || long || at_its_end).then_some(report)
}
