//! What is used where the user leaves it open and there is nothing to plan by.
//!
//! The rules, first match wins:
//!
//! - no goal and no limit: stop at a certified relative error of 1e-3, which no accuracy figure will ever notice;
//! - no engine: `simulated` if a cluster file is given, `threads` otherwise;
//! - no scoring: a small share of the work, or half of it where the clock is virtual and does not see it: then the moment
//!   at which a goal is reached is known to about a pass over the data.
//!
//! Where only a number of rounds is asked for there is nothing to plan by, and what is open goes by:
//!
//! - no algorithm, one worker: `cocoa`, which on one worker is SDCA. It has no step size to get wrong, and its
//!   duals make the certificate cheap;
//! - no algorithm, several workers: `cocoa-plus`, which adds the workers' updates where `cocoa` averages them.

use hemingway_plan::Configuration;
use hemingway_train::protocol::Stage;
use hemingway_train::{Cluster, Parameters, Scoring, StopRules};
use serde::{Deserialize, Serialize};

use crate::{Error, Explanation, LambdaReport, RanksRequest, Switched, TrainRequest};

/// The error that is enough where nothing else is asked for.
pub(crate) const USUAL_ERROR: f64 = 1e-3;
/// The share of scoring where the clock does not see it.
const UNSEEN_SCORING: Scoring = Scoring::Share(0.5);

/// The engine whose ranks are other processes.
pub(crate) const MPI: &str = "mpi";
/// The engine whose clock is virtual.
pub(crate) const SIMULATED: &str = "simulated";

/// Everything that was decided for a run, by the user or for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The algorithm's name in the catalogue.
    pub algorithm: String,
    /// Its hyperparameters.
    pub parameters: Parameters,
    /// On how many workers.
    pub workers: usize,
    /// On which engine.
    pub engine: String,
    /// The machines that the simulated engine simulates.
    pub cluster: Option<Cluster>,
    /// Goals and limits.
    pub stop: StopRules,
    /// How often to score.
    #[serde(default)]
    pub scoring: Scoring,
    /// Why.
    pub reason: String,
    /// How λ was chosen, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<LambdaReport>,
    /// How the run came from the configuration that it began with to the present one.
    #[serde(default)]
    pub switches: Vec<Switched>,
    /// The plan with its reasons, where something was left open.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::older::or_default")]
    pub explanation: Option<Explanation>,
}

impl Choice {
    /// The present configuration, on data of so many rows.
    pub fn configuration(&self, rows: usize) -> Configuration {
        let (algorithm, workers) = (self.algorithm.clone(), self.workers);
        let share = (rows as f64 / workers.max(1) as f64).ceil().max(1.0);
        let passes = self.parameters.local_steps.map_or(1.0, |steps| steps as f64 / share);
        Configuration { algorithm, workers, passes }
    }

    /// The present configuration, as a command to ranks.
    pub(crate) fn stage(&self, stop: StopRules) -> Stage {
        let (algorithm, parameters, workers) =
            (self.algorithm.clone(), self.parameters.clone(), self.workers);
        Stage { algorithm, parameters, workers, stop }
    }

    /// How many servers the present algorithm takes beside its workers.
    pub(crate) fn servers(&self) -> usize {
        self.stage(self.stop).servers()
    }

    /// The configuration of a round.
    pub(crate) fn configuration_at(&self, round: u64, rows: usize) -> Configuration {
        // A switch at round r leaves rounds up to r to the configuration before.
        let later = self.switches.iter().find(|switch| round <= switch.at_round);
        later.map_or_else(|| self.configuration(rows), |switch| switch.from.clone())
    }

    /// Changes to a configuration on data of so many rows, with the hyperparameters that the user gave.
    pub(crate) fn use_configuration(&mut self, to: &Configuration, rows: usize, given: Parameters) {
        let local_steps = to.local_steps(rows).or(given.local_steps);
        (self.algorithm, self.workers) = (to.algorithm.clone(), to.workers);
        self.parameters = Parameters { local_steps, ..given };
    }
}

/// Fills in what the request leaves open. The cluster is read from its file, or left for the session to measure.
pub fn choose(request: &TrainRequest) -> Result<Choice, Error> {
    let workers = request.workers.unwrap_or(1);
    let (algorithm, reason) = match &request.algorithm {
        Some(name) => (name.clone(), "as asked"),
        None if workers > 1 => ("cocoa-plus".to_owned(), "several workers: their updates are added"),
        None => ("cocoa".to_owned(), "one worker: coordinate ascent needs no step size"),
    };
    if request.algorithm.is_none() {
        hemingway_train::check_unnamed(&algorithm, &request.parameters)?;
    }
    let engine = engine(request)?;
    check_ranks(&request.ranks, &engine)?;
    Ok(Choice {
        algorithm,
        parameters: request.parameters.clone(),
        workers,
        cluster: read_cluster(request)?,
        scoring: request.scoring.unwrap_or(if engine == SIMULATED {
            UNSEEN_SCORING
        } else {
            Scoring::default()
        }),
        engine,
        stop: stop(request.stop),
        reason: reason.to_owned(),
        lambda: None,
        switches: Vec::new(),
        explanation: None,
    })
}

fn engine(request: &TrainRequest) -> Result<String, Error> {
    match (&request.engine, &request.cluster) {
        (Some(name), _) if !hemingway_train::engines().contains(&name.as_str()) => {
            Err(Error::UnknownEngine { name: name.clone() })
        }
        (Some(name), Some(_)) if name != "simulated" => {
            Err(Error::ClusterWithoutSimulation { engine: name.clone() })
        }
        (Some(name), _) => Ok(name.clone()),
        (None, Some(_)) => Ok("simulated".to_owned()),
        (None, None) => Ok("threads".to_owned()),
    }
}

/// Where ranks are started is nobody's business but MPI's.
fn check_ranks(ranks: &RanksRequest, engine: &str) -> Result<(), Error> {
    let given = [
        (ranks.hosts.is_some(), "--hosts"),
        (ranks.launcher.is_some(), "--launcher"),
        (ranks.restarts > 0, "--restarts"),
    ];
    match given.into_iter().find(|(given, _)| *given && engine != MPI) {
        Some((_, flag)) => Err(Error::FlagWithoutMpi { flag, engine: engine.to_owned() }),
        None => Ok(()),
    }
}

fn stop(rules: StopRules) -> StopRules {
    if rules == StopRules::default() { StopRules { error: Some(USUAL_ERROR), ..rules } } else { rules }
}

fn read_cluster(request: &TrainRequest) -> Result<Option<Cluster>, Error> {
    let Some(file) = &request.cluster else { return Ok(None) };
    let text = std::fs::read_to_string(file).map_err(|source| Error::Read { file: file.clone(), source })?;
    Ok(Some(Cluster::from_toml(&file.to_string_lossy(), &text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(request: TrainRequest) -> (String, usize, String) {
        let choice = choose(&request).unwrap();
        (choice.algorithm, choice.workers, choice.engine)
    }

    #[test]
    fn one_worker_runs_coordinate_ascent() {
        assert_eq!(chosen(TrainRequest::default()), ("cocoa".into(), 1, "threads".into()));
    }

    #[test]
    fn several_workers_add() {
        let request = TrainRequest { workers: Some(4), ..Default::default() };
        assert_eq!(chosen(request), ("cocoa-plus".into(), 4, "threads".into()));
    }

    #[test]
    fn an_error_goal_only_where_nothing_else_ends_the_run() {
        assert_eq!(stop(StopRules::default()).error, Some(1e-3));
        assert_eq!(stop(StopRules { rounds: Some(3), ..Default::default() }).error, None);
    }
}
