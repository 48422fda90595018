//! Earlier runs that say something about a new one.
//!
//! Rounds hold on any machines, seconds on the same ones only; both hold only for the same problem, or one much like it.
//! Data that has changed since is not reused.

use std::collections::BTreeSet;

use hemingway_data::Difference;
use hemingway_plan::{Configuration, Goal, PastScore, PastStage, Settings};
use hemingway_train::Point;
use serde::{Deserialize, Serialize};

use crate::adaptive::error_of;
use crate::fitted_history::{forecasts, grids, settles};
use crate::{Choice, DataRequest, DatasetSummary, Error, Family, Status, Store, StoredRun, TrainRequest};

/// As many of the latest runs with the same loss and penalty are read.
const LATEST: usize = 40;
/// Data of another name is alike if rows and values differ by at most this factor.
const ALIKE: f64 = 1.25;

/// What is known of earlier runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// Their stages, with the name of the run.
    stages: Vec<(String, PastStage)>,
    pub reused: Vec<Reused>,
    /// What was not reused, and why.
    pub dropped: Vec<String>,
    /// Runs of one algorithm on these machines with different numbers of workers, enough to fit models to.
    grids: Vec<Family>,
}

/// An earlier run that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reused {
    /// Its name.
    pub run: String,
    /// How it trained.
    pub algorithm: String,
    /// What of it holds here: `rounds and seconds`, `rounds`, or `fitted models` where it counts through them.
    pub what: String,
    /// The name of its data, if it is not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<String>,
    /// Whether it told another class from the rest of the same rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_labels: bool,
}

impl History {
    /// Reads the latest runs.
    pub(crate) fn of(
        store: Option<&Store>,
        request: &TrainRequest,
        choice: &Choice,
        data: &DatasetSummary,
    ) -> Result<History, Error> {
        let mut history = History::default();
        let Some(store) = store else { return Ok(history) };
        let runs = store.latest_runs_on(request, LATEST)?;
        let mut here = Vec::new();
        for run in
            runs.into_iter().filter(|run| run.status != Status::Running && !run.is_of_several_classes())
        {
            let likeness = Likeness::between(&run, request, data);
            if likeness == Likeness::Changed {
                let difference = run.dataset.difference(data).unwrap_or_default();
                history.dropped.push(format!("run {}: its data has changed: {difference}", run.id));
            }
            if !matches!(likeness, Likeness::Same | Likeness::OtherLabels | Likeness::Similar) {
                continue;
            }
            let points = store.points(&run)?;
            // A round over the same rows takes as long whatever their labels are.
            let same_machines = likeness != Likeness::Similar && ran_here(&run, choice);
            history.add(&run, &points, likeness, same_machines);
            if same_machines && likeness == Likeness::Same {
                here.push((run, points));
            }
        }
        history.grids = grids(here)?;
        Ok(history)
    }

    fn add(&mut self, run: &StoredRun, points: &[Point], likeness: Likeness, same_machines: bool) {
        let mut stages = stages(run, points);
        if stages.is_empty() {
            return;
        }
        let Settings { similar, repeat, .. } = Settings::default();
        for stage in &mut stages {
            stage.rounds_deviation = if likeness == Likeness::Same { repeat } else { similar };
            stage.pace_deviation = same_machines.then_some(0.0);
        }
        self.stages.extend(stages.into_iter().map(|stage| (run.id.clone(), stage)));
        self.reused.push(Reused {
            run: run.id.clone(),
            algorithm: run.choice.algorithm.clone(),
            what: if same_machines { "rounds and seconds" } else { "rounds" }.to_owned(),
            similar: (likeness == Likeness::Similar).then(|| run.dataset.name.clone()),
            other_labels: likeness == Likeness::OtherLabels,
        });
    }

    /// What fitting models takes on a usual core; nothing if there is nothing to fit to.
    pub(crate) fn fit_seconds(&self) -> Option<f64> {
        (!self.grids.is_empty()).then_some(FIT_SECONDS * self.grids.len() as f64)
    }

    /// The same with models in place of the runs that they were fitted to, for configurations that a plan may choose.
    pub(crate) fn through_models(mut self, configurations: &[Configuration], goal: &Goal) -> History {
        for grid in std::mem::take(&mut self.grids) {
            let forecasts = forecasts(&grid, configurations, goal);
            if forecasts.is_empty() {
                continue;
            }
            let runs: BTreeSet<&str> = grid.observations.iter().map(|seen| seen.run.as_str()).collect();
            self.stages.retain(|(run, stage)| !runs.contains(run.as_str()) || settles(&stage.configuration));
            self.stages.extend(forecasts.into_iter().map(|stage| (String::new(), stage)));
            for reused in self.reused.iter_mut().filter(|reused| runs.contains(reused.run.as_str())) {
                reused.what = "fitted models".to_owned();
            }
        }
        self
    }

    /// As the planner takes it.
    pub(crate) fn stages(&self) -> Vec<PastStage> {
        self.stages.iter().map(|(_, stage)| stage.clone()).collect()
    }
}

/// What fitting both models to the runs of one algorithm takes on a usual core.
const FIT_SECONDS: f64 = 0.07;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Same,
    Similar,
    /// The same rows with other labels, as those of another class.
    OtherLabels,
    /// The same file with other content.
    Changed,
    None,
}

impl Likeness {
    fn between(run: &StoredRun, request: &TrainRequest, data: &DatasetSummary) -> Likeness {
        let (then, now) = (&run.request, request);
        if run.choice.lambda.is_some() {
            // It did not begin at zero weights.
            return Likeness::None;
        }
        if (then.loss, then.lambda, then.has_bias()) != (now.loss, now.lambda, now.has_bias()) {
            return Likeness::None;
        }
        let named = |data: &DataRequest| DataRequest { fraction: 1.0, ..data.clone() };
        let same_name = named(&then.data) == named(&now.data);
        let same_content = run.dataset.difference(data).is_none();
        let same_rows = then.data.fraction == now.data.fraction;
        match (same_name, same_content) {
            (_, true) => Likeness::Same,
            (true, false) if same_rows => Likeness::Changed,
            _ if other_labels(&run.dataset, data) => Likeness::OtherLabels,
            _ if alike(&run.dataset, data) => Likeness::Similar,
            _ => Likeness::None,
        }
    }
}

fn other_labels(then: &DatasetSummary, now: &DatasetSummary) -> bool {
    let (Some(then), Some(now)) = (then.fingerprint, now.fingerprint) else { return false };
    then.difference(&now) == Some(Difference::Targets)
}

fn alike(then: &DatasetSummary, now: &DatasetSummary) -> bool {
    let near = |a: usize, b: usize| {
        let ratio = a.max(1) as f64 / b.max(1) as f64;
        (1.0 / ALIKE..=ALIKE).contains(&ratio)
    };
    then.features == now.features && near(then.rows, now.rows) && near(then.nonzeros, now.nonzeros)
}

fn ran_here(run: &StoredRun, choice: &Choice) -> bool {
    run.choice.engine == choice.engine
        && run.choice.cluster == choice.cluster
        && (choice.cluster.is_some() || run.owner.host == crate::Owner::me().host)
}

/// The stages of a run with their scores.
fn stages(run: &StoredRun, points: &[Point]) -> Vec<PastStage> {
    let mut stages: Vec<PastStage> = Vec::new();
    let (mut begun, mut reached) = ((0.0, 0.0), 1.0_f64);
    let mut last: Option<(&Point, Configuration)> = None;
    for point in points.iter().filter(|point| point.certified_error.is_finite() && point.round > 0) {
        let configuration = run.choice.configuration_at(point.round, run.dataset.rows);
        if let Some((before, of)) = &last
            && *of != configuration
        {
            begun = (before.round as f64, before.seconds.0);
        }
        if last.as_ref().is_none_or(|(_, of)| *of != configuration) {
            stages.push(PastStage {
                configuration: configuration.clone(),
                from: reached,
                scores: Vec::new(),
                rounds_deviation: 0.0,
                pace_deviation: None,
            });
        }
        reached = reached.min(error_of(point));
        if let Some(stage) = stages.last_mut() {
            let (rounds, seconds) = (point.round as f64 - begun.0, point.seconds.0 - begun.1);
            stage.scores.push(PastScore { rounds, seconds, error: reached });
        }
        last = Some((point, configuration));
    }
    stages.retain(|stage| !stage.scores.is_empty());
    stages
}
