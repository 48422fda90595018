//! Earlier runs through fitted models.
//!
//! Where runs of one algorithm on these machines had enough different numbers of workers, the models that `fit` makes of them
//! say what every number of workers takes, those between and beyond included. Such a forecast stands in for the runs: to the
//! planner it is a stage that went as the models say, as certain as their interval.

use std::collections::BTreeSet;

use hemingway_plan::{
    Configuration, ConvergenceModel, Estimate, Goal, PastScore, PastStage, Settings, SystemModel, Target,
};
use hemingway_train::{Point, entry};

use crate::experience::families_of;
use crate::{Error, Family, StoredRun};

/// Different numbers of workers that fitted models need.
const ENOUGH: usize = 3;
/// Half the width of a 90 % interval, in standard deviations.
const HALF_WIDTH: f64 = 1.645;

/// Forecasts of models that were fitted to some of the runs.
pub(crate) struct Fitted {
    /// What each configuration is predicted to take.
    pub stages: Vec<PastStage>,
    /// The algorithms whose models these are, with the names of their runs.
    pub algorithms: Vec<(String, BTreeSet<String>)>,
}

impl Fitted {
    /// Of runs of this problem on these machines, for configurations that a plan may choose.
    pub fn to(
        runs: Vec<(StoredRun, Vec<Point>)>,
        configurations: &[Configuration],
        goal: &Goal,
    ) -> Result<Fitted, Error> {
        let mut fitted = Fitted { stages: Vec::new(), algorithms: Vec::new() };
        let Some(error) = goal.error.filter(|error| *error > 0.0) else { return Ok(fitted) };
        for family in families_of(runs)?.iter().filter(|family| is_grid(family)) {
            let mut stages = forecasts(family, configurations, error);
            if !stages.is_empty() {
                let names = family.observations.iter().map(|seen| seen.run.clone()).collect();
                fitted.algorithms.push((family.algorithm.clone(), names));
                fitted.stages.append(&mut stages);
            }
        }
        Ok(fitted)
    }

    /// Whether its forecasts stand in for a run under a configuration.
    pub fn stands_for(&self, run: &str, configuration: &Configuration) -> bool {
        let of_it = |(_, runs): &(String, BTreeSet<String>)| runs.contains(run);
        self.algorithms.iter().any(of_it) && !settles(configuration)
    }
}

/// Whether there are enough numbers of workers, with the usual local work.
fn is_grid(family: &Family) -> bool {
    let workers: BTreeSet<usize> = family.observations.iter().map(|seen| seen.workers).collect();
    let usual = family.problem.as_ref().is_some_and(|problem| problem.parameters.local_steps.is_none());
    usual && workers.len() >= ENOUGH
}

/// Whether rounds become shorter, so that models of rounds say nothing of the time.
fn settles(configuration: &Configuration) -> bool {
    configuration.workers == 1 && entry(&configuration.algorithm).is_some_and(|entry| entry.settles_alone)
}

fn forecasts(family: &Family, configurations: &[Configuration], error: f64) -> Vec<PastStage> {
    let rounds = ConvergenceModel::fit(&family.proved, Target::SubOptimality);
    let (Ok(rounds), Ok(seconds)) = (rounds, SystemModel::fit(&family.observations)) else {
        return Vec::new();
    };
    let depends = entry(&family.algorithm).is_none_or(|entry| entry.depends_on_workers);
    let asked = configurations
        .iter()
        .filter(|of| of.algorithm == family.algorithm && of.passes == 1.0 && !settles(of));
    let forecast = |of: &Configuration| {
        let to_goal = rounds.iterations_to(of.workers, error)?;
        let round = seconds.seconds_per_iteration(of.workers, 1.0);
        let taken = seconds.seconds(of.workers, 1.0, to_goal.mean as u64).mean;
        Some(PastStage {
            configuration: of.clone(),
            from: 1.0,
            scores: vec![PastScore { rounds: to_goal.mean, seconds: taken, error }],
            rounds_deviation: deviation(&to_goal).max(Settings::default().repeat),
            pace_deviation: Some(deviation(&round)),
        })
    };
    let mut stages: Vec<PastStage> = asked.filter_map(forecast).collect();
    if !depends {
        // Rounds are the same on all of them: all together say it once.
        let times = (stages.len() as f64).sqrt();
        stages.iter_mut().for_each(|stage| stage.rounds_deviation *= times);
    }
    stages
}

/// The standard deviation of the logarithm.
fn deviation(of: &Estimate) -> f64 {
    let width = (of.high / of.low.max(f64::MIN_POSITIVE)).ln();
    if width.is_finite() { 0.5 * width / HALF_WIDTH } else { f64::MAX.sqrt() }
}
