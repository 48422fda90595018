//! The runs behind the figures: made once, kept in the store, and taken from there the next time.

use std::path::Path;

use hemingway_plan::Observation;
use hemingway_train::{Loss, Needs, Parameters, Point, Stop, StopRules};

use super::request::ReproduceRequest;
use super::trace::{GOAL, Trace};
use crate::measure::{Experiment, MeasureRequest, MeasureWatch, Measured, measure};
use crate::{Error, Place, Store, StoredRun, TrainReport, TrainRequest, catalogue};

/// The paper's numbers of workers.
const WORKERS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// The paper's number of workers for several algorithms.
const SEVERAL_ON: usize = 16;
/// The paper's algorithm.
const ALGORITHM: &str = "cocoa-plus";
/// Needs a second derivative, which the hinge loss does not have.
const NOT_FOR_HINGE: &str = "newton";
/// The relative error to which the optimum is bracketed, and the rounds that may take.
const BRACKET: (f64, u64) = (1e-5, 20_000);

/// What the runs came to.
pub(crate) struct Evidence {
    /// Of the bracket.
    pub reference: TrainReport,
    /// Proved lower bound of the optimum, from which sub-optimality is counted.
    pub optimum: f64, // P*
    /// CoCoA+ on rising numbers of workers: the best weights so far.
    pub scaling: Vec<Trace>,
    /// The same runs: the weights of each round.
    pub recorded: Vec<Trace>,
    /// All algorithms on one number of workers.
    pub algorithms: Vec<Trace>,
}

/// A long run on one worker that brackets the optimum; nothing if interrupted.
pub(crate) fn bracket(
    request: &ReproduceRequest,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Option<TrainReport>, Error> {
    let (error, rounds) = BRACKET;
    let stop = StopRules { error: Some(error), ..StopRules::default() };
    let experiment = Experiment { algorithm: "cocoa".to_owned(), workers: 1, fraction: 1.0, rounds };
    let wanted =
        MeasureRequest { base: TrainRequest { stop, ..base(request) }, experiments: vec![experiment] };
    let outcomes = measure(&wanted, place, watch)?;
    let report = outcomes.first().and_then(Measured::report).cloned();
    Ok(report.filter(|report| report.stop != Stop::Interrupted))
}

/// All runs of the figures, on the cluster of a file; nothing if interrupted.
pub(crate) fn carry_out(
    request: &ReproduceRequest,
    reference: TrainReport,
    cluster: &Path,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Option<Evidence>, Error> {
    let optimum = reference.dual.unwrap_or(0.0);
    let stop = StopRules { objective: Some(optimum + GOAL), ..StopRules::default() };
    let base = TrainRequest {
        stop,
        engine: Some("simulated".to_owned()),
        cluster: Some(cluster.to_path_buf()),
        ..base(request)
    };
    let outcomes = measure(&MeasureRequest { base, experiments: experiments(request.rounds) }, place, watch)?;
    let reports: Vec<&TrainReport> = outcomes.iter().filter_map(Measured::report).collect();
    if reports.iter().any(|report| report.stop == Stop::Interrupted) {
        return Ok(None);
    }
    let runs: Vec<&str> = reports.iter().map(|report| report.run.as_str()).collect();
    gather(request, reference, optimum, &runs, &Store::open_existing(place)?).map(Some)
}

fn gather(
    request: &ReproduceRequest,
    reference: TrainReport,
    optimum: f64,
    runs: &[&str],
    store: &Store,
) -> Result<Evidence, Error> {
    let (mut best, mut recorded) = (Vec::new(), Vec::new());
    for run in runs {
        let run = store.run(run)?;
        let points: Vec<Point> = points(store, &run, optimum, request.rounds)?;
        best.extend(observe(&run, &points, |point| point.primal - optimum));
        recorded.extend(observe(&run, &points, |point| point.current - optimum));
    }
    let chosen = |observations: &[Observation], keep: fn(&Trace) -> bool| -> Vec<Trace> {
        Trace::of(observations).into_iter().filter(keep).collect()
    };
    let scales = |trace: &Trace| trace.algorithm == ALGORITHM;
    Ok(Evidence {
        reference,
        optimum,
        scaling: chosen(&best, scales),
        recorded: chosen(&recorded, scales),
        algorithms: chosen(&best, |trace| trace.workers == SEVERAL_ON),
    })
}

fn base(request: &ReproduceRequest) -> TrainRequest {
    TrainRequest {
        data: request.data.clone(),
        loss: Loss::Hinge,
        lambda: request.lambda,
        ..TrainRequest::default()
    }
}

fn experiments(rounds: u64) -> Vec<Experiment> {
    let experiment = |algorithm: &str, workers: usize| Experiment {
        algorithm: algorithm.to_owned(),
        workers,
        fraction: 1.0,
        rounds,
    };
    let others = catalogue().iter().map(|entry| entry.name).filter(|name| *name != ALGORITHM && suits(name));
    let scaling = WORKERS.into_iter().map(|workers| experiment(ALGORITHM, workers));
    scaling.chain(others.map(|name| experiment(name, SEVERAL_ON))).collect()
}

/// Whether an algorithm minimises the hinge loss on simulated workers, in step.
fn suits(name: &str) -> bool {
    let needs = hemingway_train::algorithm(name, &Parameters::default()).map(|algorithm| algorithm.needs());
    let unsuited = hemingway_train::entry(name).and_then(|entry| (entry.unsuited)(1, Loss::Hinge));
    name != NOT_FOR_HINGE && unsuited.is_none() && matches!(needs, Ok(Needs::Collectives))
}

/// The rounds of a run until the paper would have ended it.
fn points(store: &Store, run: &StoredRun, optimum: f64, rounds: u64) -> Result<Vec<Point>, Error> {
    let mut points = store.points(run)?;
    points.retain(|point| (1..=rounds).contains(&point.round));
    let end = points.iter().position(|point| point.primal <= optimum + GOAL);
    points.truncate(end.map_or(points.len(), |end| end + 1));
    Ok(points)
}

/// A run in the words of the models; rounds without a gap are left out.
fn observe(run: &StoredRun, points: &[Point], gap: impl Fn(&Point) -> f64) -> Vec<Observation> {
    let observation = |point: &Point| Observation {
        run: run.id.clone(),
        algorithm: run.choice.algorithm.clone(),
        workers: run.choice.workers,
        fraction: 1.0,
        iteration: point.round,
        seconds: Some(point.seconds.0),
        value: Some(gap(point)),
    };
    let sound = |point: &&Point| gap(point).is_finite() && gap(point) > 0.0;
    points.iter().filter(sound).map(observation).collect()
}
