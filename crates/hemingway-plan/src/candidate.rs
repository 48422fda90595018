//! What can be done: configurations, stages, and plans with their predictions and their reasons.

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// An algorithm on a number of workers with some local work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The algorithm's name in the catalogue.
    pub algorithm: String,
    /// On how many workers, m.
    pub workers: usize,
    /// Local work of a round in passes over a worker's own rows; 1 is usual.
    pub passes: f64,
}

impl Configuration {
    /// `cocoa-plus on 8 workers`, and `, 4 passes a round` where that is not one.
    pub fn name(&self) -> String {
        let workers = if self.workers == 1 { "worker" } else { "workers" };
        let passes =
            if self.passes == 1.0 { String::new() } else { format!(", {} passes a round", self.passes) };
        format!("{} on {} {workers}{passes}", self.algorithm, self.workers)
    }

    /// Local steps of a round on data of so many rows, where it is not one pass.
    pub fn local_steps(&self, rows: usize) -> Option<usize> {
        let share = (rows as f64 / self.workers.max(1) as f64).ceil();
        (self.passes != 1.0).then(|| ((self.passes * share).round() as usize).max(1))
    }
}

/// A part of a run under one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// How to train.
    #[serde(flatten)]
    pub configuration: Configuration,
    /// Until which certified relative error; to the deadline if none is given.
    pub until_error: Option<f64>,
    /// Rounds; passes over all rows where rounds become shorter as rows settle.
    pub rounds: Option<Estimate>,
    /// What rounds counts: `rounds` or `passes`.
    pub unit: Unit,
    /// Seconds, what comes before its first round included.
    #[serde(rename = "predicted_seconds")]
    pub seconds: Option<Estimate>,
    /// Money.
    pub cost: Option<f64>,
}

/// What the length of a stage is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Rounds of equal work.
    Rounds,
    /// Passes over all rows.
    Passes,
}

/// A sequence of stages with what is predicted of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// One after the other.
    pub stages: Vec<Stage>,
    /// Seconds to the goal.
    #[serde(rename = "predicted_seconds")]
    pub seconds: Option<Estimate>,
    /// The relative error at the deadline, where no error is asked for.
    #[serde(rename = "predicted_error")]
    pub error: Option<Estimate>,
    /// Money to the goal, or for the time.
    pub cost: Option<f64>,
    /// What candidates are ordered by: seconds, money or error, as the goal and its risk say.
    pub criterion: f64,
}

impl Candidate {
    /// The configuration that comes first.
    pub fn first(&self) -> &Configuration {
        &self.stages[0].configuration
    }

    /// `l-bfgs on 8 workers, then newton on 8 workers`.
    pub fn name(&self) -> String {
        let names: Vec<String> = self.stages.iter().map(|stage| stage.configuration.name()).collect();
        names.join(", then ")
    }
}

/// Something that was not chosen from, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// The algorithm, and the workers if they are the reason.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Decision {
    /// The best candidate; none if nothing is predicted to do what is asked.
    pub plan: Option<Candidate>,
    /// Why, where the first alternative is not worse by the criterion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The others that could, the best first.
    pub alternatives: Vec<Candidate>,
    /// Those that could not.
    pub rejected: Vec<Rejected>,
}

impl Decision {
    /// Why this plan, where the first alternative is not worse by the criterion.
    pub fn why(&self) -> Option<String> {
        if self.reason.is_some() {
            return self.reason.clone();
        }
        let (plan, first) = (self.plan.as_ref()?, self.alternatives.first()?);
        let workers = if plan.first().workers < first.first().workers { ", on more workers" } else { "" };
        let not_worse = first.criterion <= plan.criterion;
        not_worse.then(|| format!("the first alternative is predicted to be as good{workers}"))
    }
}
