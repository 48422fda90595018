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

/// The runs that models can be fitted to, by algorithm.
pub(crate) fn grids(runs: Vec<(StoredRun, Vec<Point>)>) -> Result<Vec<Family>, Error> {
    Ok(families_of(runs)?.into_iter().filter(is_grid).collect())
}

/// Whether there are enough numbers of workers, with the usual local work.
fn is_grid(family: &Family) -> bool {
    let workers: BTreeSet<usize> = family.observations.iter().map(|seen| seen.workers).collect();
    let usual = family.problem.as_ref().is_some_and(|problem| problem.parameters.local_steps.is_none());
    usual && workers.len() >= ENOUGH
}

/// Whether rounds become shorter, so that models of rounds say nothing of the time.
pub(crate) fn settles(configuration: &Configuration) -> bool {
    configuration.workers == 1 && entry(&configuration.algorithm).is_some_and(|entry| entry.settles_alone)
}

/// What the models of a family say of each configuration of its algorithm; nothing where there are none, or where no error
/// is asked for.
pub(crate) fn forecasts(family: &Family, configurations: &[Configuration], goal: &Goal) -> Vec<PastStage> {
    let Some(error) = goal.error.filter(|error| *error > 0.0) else { return Vec::new() };
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
