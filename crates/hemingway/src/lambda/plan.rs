//! How the models of a path are trained: with which algorithm at each λ, and how many folds at the same time.
//!
//! Folds need nothing of one another, so a worker for each is as fast as it gets where there are as many folds as cores. With
//! fewer folds, as with validation data, all workers on one model may be faster. The planner predicts the time of every λ
//! either way, from zero weights: warm starts make all of them faster alike.

use std::ops::Range;

use hemingway_data::cores;
use hemingway_plan::{Candidate, Configuration, Profile};
use hemingway_train::{DataProfile, StopRules};
use serde::{Deserialize, Serialize};

use super::LambdaRequest;
use crate::inputs::PlanInputs;
use crate::prepare::Ready;
use crate::{Choice, DatasetSummary, Error, TrainRequest};

/// How the models of a path are trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LambdaPlan {
    /// From the largest to the smallest.
    pub lambdas: Vec<f64>,
    /// How each is trained.
    pub configurations: Vec<Configuration>,
    /// How many models there are of each.
    pub folds: usize,
    /// How many models are trained at the same time.
    pub side_by_side: usize,
    /// What all models are predicted to take, in seconds.
    pub predicted_seconds: f64,
    /// What they would take in the other arrangement: one after the other on more workers, or side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise_seconds: Option<f64>,
}

impl LambdaPlan {
    /// λ that are trained alike, one after the other.
    pub fn stretches(&self) -> Vec<(Range<usize>, &Configuration)> {
        let mut stretches: Vec<(Range<usize>, &Configuration)> = Vec::new();
        for (at, configuration) in self.configurations.iter().enumerate() {
            match stretches.last_mut() {
                Some((range, same)) if *same == configuration => range.end = at + 1,
                _ => stretches.push((at..at + 1, configuration)),
            }
        }
        stretches
    }
}

/// What a plan is made from.
pub(super) struct Planning<'a> {
    pub request: &'a TrainRequest,
    pub how: &'a LambdaRequest,
    pub choice: &'a Choice,
    pub ready: &'a Ready,
    pub profile: DataProfile,
    /// Rows that a model is trained on, and how many models there are.
    pub rows: usize,
    pub folds: usize,
}

/// Models at the same time, and workers on each.
#[derive(Clone, Copy)]
struct Arrangement {
    side_by_side: usize,
    workers: Option<usize>,
}

impl Planning<'_> {
    pub(super) fn plan(&self, lambdas: Vec<f64>) -> Result<LambdaPlan, Error> {
        let mut plans = self.arrangements().into_iter().map(|as_this| self.plan_for(&lambdas, as_this));
        let first = plans.next().unwrap_or_else(|| unreachable!("there is an arrangement"))?;
        let Some(second) = plans.next().transpose()? else { return Ok(first) };
        let otherwise = |plan: LambdaPlan, other: LambdaPlan| LambdaPlan {
            otherwise_seconds: Some(other.predicted_seconds),
            ..plan
        };
        let faster = second.predicted_seconds < first.predicted_seconds;
        Ok(if faster { otherwise(second, first) } else { otherwise(first, second) })
    }

    fn arrangements(&self) -> Vec<Arrangement> {
        let cores = self.request.planning.max_workers.map_or(cores(), |most| most.min(cores()));
        if let Some(workers) = self.request.workers {
            let side_by_side = (cores / workers.max(1)).clamp(1, self.folds);
            return vec![Arrangement { side_by_side, workers: Some(workers) }];
        }
        let side_by_side = Arrangement { side_by_side: cores.min(self.folds), workers: Some(1) };
        let in_turn = Arrangement { side_by_side: 1, workers: None };
        let worth_asking = cores > 1 && self.folds < WORTH_ASKING * cores;
        [Some(side_by_side), worth_asking.then_some(in_turn)].into_iter().flatten().collect()
    }

    fn plan_for(&self, lambdas: &[f64], arrangement: Arrangement) -> Result<LambdaPlan, Error> {
        let plans: Vec<Candidate> = lambdas
            .iter()
            .map(|lambda| self.plan_one(*lambda, arrangement.workers))
            .collect::<Result<_, _>>()?;
        let seconds: f64 = plans.iter().filter_map(|plan| plan.seconds.as_ref()).map(|time| time.mean).sum();
        Ok(LambdaPlan {
            lambdas: lambdas.to_vec(),
            configurations: plans.iter().map(|plan| plan.first().clone()).collect(),
            folds: self.folds,
            side_by_side: arrangement.side_by_side,
            predicted_seconds: seconds * self.folds as f64 / arrangement.side_by_side as f64,
            otherwise_seconds: None,
        })
    }

    /// The plan of one model that stays with its algorithm.
    fn plan_one(&self, lambda: f64, workers: Option<usize>) -> Result<Candidate, Error> {
        let request = TrainRequest { lambda, workers, ..self.request.clone() };
        let stop = StopRules { error: Some(self.how.error), ..StopRules::default() };
        let choice = Choice { stop, ..self.choice.clone() };
        let problem = hemingway_train::Problem { lambda, ..self.ready.problem };
        let profile = Profile::new(self.profile.clone(), &problem);
        let data = DatasetSummary { rows: self.rows, ..self.ready.summary.clone() };
        let inputs = PlanInputs {
            request: &request,
            choice: &choice,
            data: &data,
            profile,
            store: None,
            workers: None,
            algorithms: None,
            reading: None,
            room: self.ready.room,
            pilots: None,
        };
        let decision = inputs.plan()?.explanation.decision;
        let mut all = decision.plan.into_iter().chain(decision.alternatives);
        let first = all.next();
        let steady = first.iter().cloned().chain(all).find(|plan| plan.stages.len() == 1);
        steady.or(first).ok_or_else(|| Error::Impossible {
            goal: format!("an error of {:e} at λ = {lambda:e}", self.how.error),
            best: "nothing is predicted to reach it".to_owned(),
        })
    }
}

/// With at least so many folds for each core, all cores have work to the end, and one model after the other is not asked for.
const WORTH_ASKING: usize = 2;
