//! The runs behind the figures: made once, kept in the store, and taken from there the next time.

use std::path::Path;

use hemingway_plan::Observation;
use hemingway_train::{Loss, Needs, Parameters, Stop, StopRules};

use super::request::ReproduceRequest;
use super::trace::{GOAL, Trace};
use crate::measure::{Experiment, MeasureRequest, MeasureWatch, Measured, measure};
use crate::{Error, Place, Store, TrainReport, TrainRequest, catalogue};

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
    /// CoCoA+ on rising numbers of workers.
    pub scaling: Vec<Trace>,
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
    let wanted = MeasureRequest { base: TrainRequest { stop, ..base(request) }, experiments: vec![experiment] };
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
    let store = Store::open_existing(place)?;
    let mut observations = Vec::new();
    for report in reports {
        observations.extend(observe(&store, &report.run, optimum, request.rounds)?);
    }
    let traces = Trace::of(&observations);
    let chosen = |keep: &dyn Fn(&Trace) -> bool| traces.iter().filter(|trace| keep(trace)).cloned().collect();
    Ok(Some(Evidence {
        reference,
        optimum,
        scaling: chosen(&|trace| trace.algorithm == ALGORITHM),
        algorithms: chosen(&|trace| trace.workers == SEVERAL_ON),
    }))
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

/// Whether an algorithm minimises the hinge loss on simulated workers.
fn suits(name: &str) -> bool {
    let needs = hemingway_train::algorithm(name, &Parameters::default()).map(|algorithm| algorithm.needs());
    name != NOT_FOR_HINGE && matches!(needs, Ok(Needs::Collectives | Needs::Neighbours))
}

/// How far a run was above the optimum after each round, until the paper would have ended it.
fn observe(store: &Store, run: &str, optimum: f64, rounds: u64) -> Result<Vec<Observation>, Error> {
    let run = store.run(run)?;
    let mut observations = Vec::new();
    for point in store.points(&run)?.into_iter().filter(|point| (1..=rounds).contains(&point.round)) {
        let gap = point.primal - optimum;
        if gap.is_finite() && gap > 0.0 {
            observations.push(Observation {
                run: run.id.clone(),
                algorithm: run.choice.algorithm.clone(),
                workers: run.choice.workers,
                fraction: 1.0,
                iteration: point.round,
                seconds: Some(point.seconds.0),
                value: Some(gap),
            });
        }
        if gap <= GOAL {
            break;
        }
    }
    Ok(observations)
}
