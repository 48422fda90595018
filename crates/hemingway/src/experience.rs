//! What the store knows, in the words of the models: runs that differ only in workers, rows and luck, together.

use std::collections::BTreeMap;

use hemingway_data::Fingerprint;
use hemingway_plan::{Observation, Target};
use hemingway_train::{Certificate, Cluster, Loss, Parameters, Point};
use serde::Serialize;

use crate::{DataRequest, DatasetSummary, Error, Status, Store, StoredRun};

/// Runs that one pair of models describes: one algorithm on one problem, on machines of one kind.
#[derive(Debug, Clone)]
pub struct Family {
    /// What was run.
    pub algorithm: String,
    /// On what and where; unknown in traces of other programs.
    pub problem: Option<Common>,
    /// When the latest of the runs began, in Unix time; 0 in traces of other programs.
    pub latest: f64,
    /// What they did, iteration by iteration.
    pub observations: Vec<Observation>,
    /// The same with the value of the last iterate in place of the best one so far.
    pub as_recorded: Vec<Observation>,
    /// The same with the proved relative error, where there is one.
    pub proved: Vec<Observation>,
    /// What values mean, by the fraction of the rows, rising.
    pub targets: Vec<(f64, Target)>,
}

/// What the runs of a family have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Common {
    /// The data, with all its rows.
    pub data: DataRequest,
    /// What it contained.
    pub source: Option<Fingerprint>,
    /// The loss.
    pub loss: Loss,
    /// Strength of the L2 penalty.
    pub lambda: f64,
    /// Whether the model has a constant term.
    pub bias: bool,
    /// The engine.
    pub engine: String,
    /// Hyperparameters that were given.
    pub parameters: Parameters,
    /// The machines that were simulated.
    pub cluster: Option<Cluster>,
}

/// Proved bounds of the best objective, and the runs they come from.
#[derive(Debug, Clone)]
struct Bracket {
    lower: f64,
    upper: f64,
    runs: [String; 2],
}

/// Every family of the store, those of one problem beside each other. Runs without a point say nothing, runs that
/// failed or still go on say what they did so far.
pub fn families(store: &Store) -> Result<Vec<Family>, Error> {
    let ended = store.runs()?.into_iter().rev().filter(|run| run.status != Status::Running);
    let with_points = ended.map(|run| {
        let points = store.points(&run)?;
        Ok((run, points))
    });
    families_of(with_points.collect::<Result<_, Error>>()?)
}

/// The tightest bounds that all runs in the store on a run's problem have proved of the best objective; nothing if no
/// positive lower bound is known, which an error could be relative to.
pub(crate) fn optimum(store: &Store, run: &StoredRun) -> Result<Option<(f64, f64)>, Error> {
    let wanted = problem(run);
    let mut bracket = Bracket::none();
    for other in store.runs()?.into_iter().filter(|other| problem(other) == wanted) {
        let points = store.points(&other)?;
        points.iter().filter(|point| is_sound(point)).for_each(|point| bracket.add(&other, point));
    }
    bracket.close()?;
    let Bracket { lower, upper, .. } = bracket;
    Ok(Some((lower, upper)).filter(|_| lower > 0.0 && upper.is_finite()))
}

/// The families of these runs.
pub(crate) fn families_of(runs: Vec<(StoredRun, Vec<Point>)>) -> Result<Vec<Family>, Error> {
    // Those that did not begin at zero weights are not compared with others.
    let from_zero = runs.into_iter().filter(|(run, _)| run.choice.lambda.is_none());
    let sound = from_zero.map(|(run, points)| {
        let mut points: Vec<Point> = points.into_iter().filter(is_sound).collect();
        (as_begun(run, &mut points), points)
    });
    let runs: Vec<(StoredRun, Vec<Point>)> = sound.filter(|(_, points)| !points.is_empty()).collect();
    let brackets = brackets(&runs)?;
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for (run, points) in &runs {
        let family = families.entry(key(&(Common::of(run), &run.choice.algorithm)));
        let Bracket { lower, upper, .. } = brackets[&problem(run)];
        family.or_insert_with(|| Family::like(run)).add(run, points, Target::Loss { lower, upper });
    }
    Ok(families.into_values().collect())
}

/// What comes after a switch did not come from nothing: only what was done before is compared with other runs.
fn as_begun(mut run: StoredRun, points: &mut Vec<Point>) -> StoredRun {
    if let Some(first) = std::mem::take(&mut run.choice.switches).into_iter().next() {
        points.retain(|point| point.round <= first.at_round);
        run.choice.use_configuration(&first.from, run.dataset.rows, run.request.parameters.clone());
    }
    run
}

/// Whether a point can be used: a round that diverged cannot.
fn is_sound(point: &Point) -> bool {
    point.primal.is_finite() && point.seconds.0.is_finite() && point.round > 0
}

/// What any run proves about a problem, every run on it knows.
fn brackets(runs: &[(StoredRun, Vec<Point>)]) -> Result<BTreeMap<String, Bracket>, Error> {
    let mut brackets = BTreeMap::new();
    for (run, points) in runs {
        let bracket = brackets.entry(problem(run)).or_insert_with(Bracket::none);
        for point in points {
            bracket.add(run, point);
        }
    }
    brackets.values_mut().try_for_each(Bracket::close)?;
    Ok(brackets)
}

impl Bracket {
    /// Losses are not negative, so neither is the best objective.
    fn none() -> Bracket {
        Bracket { lower: 0.0, upper: f64::INFINITY, runs: Default::default() }
    }

    fn add(&mut self, run: &StoredRun, point: &Point) {
        if point.primal < self.upper {
            (self.upper, self.runs[1]) = (point.primal, run.id.clone());
        }
        if point.dual.is_finite() && point.dual > self.lower {
            (self.lower, self.runs[0]) = (point.dual, run.id.clone());
        }
    }

    /// What is left of a crossing is rounding; more than that is never taken for a proof.
    fn close(&mut self) -> Result<(), Error> {
        let certificate = Certificate { primal: self.upper, dual: self.lower, at_zero: self.upper.max(1.0) };
        if certificate.check().is_err() {
            let [lower, upper] = self.runs.clone();
            return Err(Error::RunsContradict { lower, upper, dual: self.lower, primal: self.upper });
        }
        self.lower = self.lower.min(self.upper);
        Ok(())
    }
}

/// What decides the optimum: data, rows, loss and penalty.
fn problem(run: &StoredRun) -> String {
    let request = &run.request;
    let sample = if request.data.fraction < 1.0 { request.seed } else { 0 };
    let objective = (request.loss, request.lambda, request.has_bias());
    let DatasetSummary { rows, features, nonzeros, fingerprint, .. } = run.dataset;
    key(&(&request.data, sample, rows, features, nonzeros, fingerprint, objective))
}

impl Common {
    fn of(run: &StoredRun) -> Common {
        let request = &run.request;
        Common {
            data: DataRequest { fraction: 1.0, ..request.data.clone() },
            source: run.dataset.source,
            loss: request.loss,
            lambda: request.lambda,
            bias: request.has_bias(),
            engine: run.choice.engine.clone(),
            parameters: run.choice.parameters.clone(),
            cluster: run.choice.cluster.clone(),
        }
    }
}

impl Family {
    fn like(run: &StoredRun) -> Family {
        Family {
            algorithm: run.choice.algorithm.clone(),
            problem: Some(Common::of(run)),
            latest: run.created,
            observations: Vec::new(),
            as_recorded: Vec::new(),
            proved: Vec::new(),
            targets: Vec::new(),
        }
    }

    fn add(&mut self, run: &StoredRun, points: &[Point], target: Target) {
        self.latest = self.latest.max(run.created);
        self.observations.extend(points.iter().map(|point| observation(run, point, point.primal)));
        let recorded = points.iter().filter(|point| point.current.is_finite());
        self.as_recorded.extend(recorded.map(|point| observation(run, point, point.current)));
        let proved = points.iter().filter(|point| point.certified_error.is_finite());
        self.proved.extend(proved.map(|point| observation(run, point, point.certified_error)));
        let fraction = run.request.data.fraction;
        if self.targets.iter().all(|(known, _)| *known != fraction) {
            self.targets.push((fraction, target));
            self.targets.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }
}

/// A point of a run as the models see it.
pub(crate) fn observation(run: &StoredRun, point: &Point, value: f64) -> Observation {
    Observation {
        run: run.id.clone(),
        algorithm: run.choice.algorithm.clone(),
        workers: run.choice.workers,
        fraction: run.request.data.fraction,
        iteration: point.round,
        seconds: Some(point.seconds.0),
        value: Some(value),
    }
}

/// Plain data as a key.
fn key(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data has a JSON form")
}
