//! The runs behind the figures: made once, kept in the store, and taken from there the next time.

use std::collections::BTreeMap;
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
/// The algorithm that the text of the paper names for its first two figures; it averages.
const AVERAGING: &str = "cocoa";
/// Those that the paper compares, in the order of its legend.
pub(crate) const COMPARED: [&str; 4] = [AVERAGING, ALGORITHM, "splash", "local-sgd"];
/// The one of them that is run again with other hyperparameters, to see what makes it as good as it is.
pub(crate) const VARIED: &str = "local-sgd";
/// A round of a variant has a pass over the rows divided by this.
pub(crate) const SHORTER: usize = 10;
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
    /// CoCoA, which averages, on the same numbers of workers: the best weights so far.
    pub averaging: Vec<Trace>,
    /// The same runs: the weights of each round.
    pub averaging_recorded: Vec<Trace>,
    /// All algorithms on one number of workers: the best weights so far.
    pub algorithms: Vec<Trace>,
    /// The same runs: the weights that were scored after each round.
    pub algorithms_recorded: Vec<Trace>,
    /// The step sizes that were searched for on that number of workers, by algorithm.
    pub step_sizes: BTreeMap<String, f64>,
    /// Local SGD on that number of workers with steps of 1/(λt).
    pub steps_of_theory: Option<Trace>,
    /// Local SGD on that number of workers with fewer steps in a round.
    pub shorter_rounds: Option<Trace>,
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
    let pass = reference.dataset.rows.div_ceil(SEVERAL_ON);
    let variants = [
        Parameters { step_size: Some(1.0 / request.lambda), ..Parameters::default() },
        Parameters { local_steps: Some(pass.div_ceil(SHORTER)), ..Parameters::default() },
    ];
    let variants = variants.map(|parameters| TrainRequest { parameters, ..base.clone() });
    let Some(runs) = made(base, experiments(request.rounds), place, watch)? else { return Ok(None) };
    let mut varied = Vec::new();
    for variant in variants {
        let experiment = vec![experiment(VARIED, SEVERAL_ON, request.rounds)];
        let Some(reports) = made(variant, experiment, place, watch)? else { return Ok(None) };
        varied.push(reports);
    }

    let store = Store::open_existing(place)?;
    let gap = Gap { optimum, rounds: request.rounds, store: &store };
    let (best, recorded) =
        (gap.traces(&runs, |point| point.primal)?, gap.traces(&runs, |point| point.current)?);
    let of = |traces: &[Trace], algorithm: &str| -> Vec<Trace> {
        traces.iter().filter(|trace| trace.algorithm == algorithm).cloned().collect()
    };
    let on_several = |traces: &[Trace]| -> Vec<Trace> {
        traces.iter().filter(|trace| trace.workers == SEVERAL_ON).cloned().collect()
    };
    let several = runs.iter().filter(|report| report.workers == SEVERAL_ON);
    Ok(Some(Evidence {
        reference,
        optimum,
        scaling: of(&best, ALGORITHM),
        recorded: of(&recorded, ALGORITHM),
        averaging: of(&best, AVERAGING),
        averaging_recorded: of(&recorded, AVERAGING),
        algorithms: on_several(&best),
        algorithms_recorded: on_several(&recorded),
        step_sizes: several
            .filter_map(|report| Some((report.algorithm.clone(), report.step_size?)))
            .collect(),
        steps_of_theory: gap.traces(&varied[0], |point| point.primal)?.pop(),
        shorter_rounds: gap.traces(&varied[1], |point| point.primal)?.pop(),
    }))
}

/// Makes these runs, or takes them from the store; nothing if interrupted.
fn made(
    base: TrainRequest,
    experiments: Vec<Experiment>,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Option<Vec<TrainReport>>, Error> {
    let outcomes = measure(&MeasureRequest { base, experiments }, place, watch)?;
    let reports: Vec<TrainReport> = outcomes.iter().filter_map(Measured::report).cloned().collect();
    let interrupted = reports.iter().any(|report| report.stop == Stop::Interrupted);
    Ok((!interrupted).then_some(reports))
}

/// How stored runs become sub-optimality by round.
struct Gap<'a> {
    optimum: f64,
    rounds: u64,
    store: &'a Store,
}

impl Gap<'_> {
    fn traces(&self, reports: &[TrainReport], objective: fn(&Point) -> f64) -> Result<Vec<Trace>, Error> {
        let mut observations: Vec<Observation> = Vec::new();
        for report in reports {
            let run = self.store.run(&report.run)?;
            let points: Vec<Point> = points(self.store, &run, self.optimum, self.rounds)?;
            observations.extend(observe(&run, &points, |point| objective(point) - self.optimum));
        }
        Ok(Trace::of(&observations))
    }
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
    let scale = |name: &&str| [ALGORITHM, AVERAGING].contains(name);
    let scaling = [ALGORITHM, AVERAGING]
        .into_iter()
        .flat_map(|name| WORKERS.into_iter().map(move |workers| experiment(name, workers, rounds)));
    let others = catalogue().iter().map(|entry| entry.name).filter(|name| !scale(name) && suits(name));
    scaling.chain(others.map(|name| experiment(name, SEVERAL_ON, rounds))).collect()
}

fn experiment(algorithm: &str, workers: usize, rounds: u64) -> Experiment {
    Experiment { algorithm: algorithm.to_owned(), workers, fraction: 1.0, rounds }
}

/// Whether an algorithm minimises the hinge loss on simulated workers, in step.
fn suits(name: &str) -> bool {
    let needs = hemingway_train::algorithm(name, &Parameters::default()).map(|algorithm| algorithm.needs());
    let unsuited = hemingway_train::entry(name).and_then(|entry| (entry.unsuited)(1, Loss::Hinge));
    unsuited.is_none() && matches!(needs, Ok(Needs::Collectives))
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
