//! Models of runs that were made, and what they say about runs that were not.

use hemingway_plan::{Combined, ConvergenceModel, Estimate, Observation, Query, SystemModel, Target};
use serde::Serialize;

use crate::Family;

/// The models of a family of runs.
pub struct Fitted {
    /// What they were fitted to.
    pub family: Family,
    /// Seconds, f(m), or why there is no such model.
    pub system: Result<SystemModel, String>,
    /// Values, g(i, m), by the fraction of the data, or why there is no such model.
    convergence: Vec<(f64, Result<ConvergenceModel, String>)>,
}

/// What can be said about one query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// Seconds since the run began, at the end of the iteration.
    pub seconds: Option<Estimate>,
    /// The value after it.
    pub value: Option<Estimate>,
    /// Warnings: what is extrapolated, and how far.
    pub warnings: Vec<String>,
}

/// What to look ahead to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ahead {
    /// A goal: the relative error where the optimum is known, else the value itself.
    Goal(f64),
    /// A time in seconds.
    Within(f64),
}

/// What can be said about the way ahead on so many workers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// On how many workers.
    pub workers: usize,
    /// Iterations to the goal, or in the time.
    pub iterations: Option<Estimate>,
    /// Seconds to the goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Estimate>,
    /// The value after the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Estimate>,
    /// What is extrapolated, and how far.
    pub warning: Option<String>,
}

impl Fitted {
    /// Fits what can be fitted.
    pub fn to(family: Family) -> Fitted {
        let convergence = |&(fraction, target)| {
            let some: Vec<Observation> =
                family.observations.iter().filter(|seen| seen.fraction == fraction).cloned().collect();
            (fraction, ConvergenceModel::fit(&some, target).map_err(|error| error.to_string()))
        };
        Fitted {
            system: SystemModel::fit(&family.observations).map_err(|error| error.to_string()),
            convergence: family.targets.iter().map(convergence).collect(),
            family,
        }
    }

    /// The model of values on all of the data, or on the largest part there is.
    pub fn convergence(&self) -> Option<&Result<ConvergenceModel, String>> {
        self.convergence.last().map(|(_, model)| model)
    }

    /// Both models on all of the data, h(t, m), if there are both.
    fn combined(&self) -> Option<(&Target, Combined<'_>)> {
        let (fraction, target) = self.family.targets.last()?;
        let convergence = self.convergence()?.as_ref().ok()?;
        let system = self.system.as_ref().ok()?;
        Some((target, Combined { fraction: *fraction, ..Combined::new(system, convergence) }))
    }

    /// How long a goal takes, or how far a time goes; nothing without both models.
    pub fn outlook(&self, workers: usize, ahead: Ahead) -> Option<Outlook> {
        let (target, model) = self.combined()?;
        let optimum = model.convergence.optimum();
        let mut outlook = Outlook { workers, iterations: None, seconds: None, value: None, warning: None };
        match (ahead, target) {
            (Ahead::Goal(goal), target) => {
                let goal = if matches!(target, Target::Loss { .. }) { optimum * (1.0 + goal) } else { goal };
                outlook.iterations = model.convergence.iterations_to(workers, goal);
                outlook.seconds = model.seconds_to(workers, goal);
            }
            (Ahead::Within(seconds), _) => {
                outlook.iterations = model.iterations_in(workers, seconds);
                outlook.value = model.value_at(workers, seconds);
            }
        }
        let last = outlook.iterations.as_ref().map_or(1, |iterations| iterations.mean as u64);
        outlook.warning = model.extrapolation(workers, last);
        Some(outlook)
    }

    /// Seconds and value after an iteration.
    pub fn predict(&self, query: &Query) -> Prediction {
        let mut warnings = Vec::new();
        let seconds = self.system.as_ref().ok().map(|model| {
            warnings.extend(model.extrapolation(query.workers, query.fraction));
            model.seconds(query.workers, query.fraction, query.iteration)
        });
        let same = self.convergence.iter().find(|(fraction, _)| *fraction == query.fraction);
        let value = same.and_then(|(_, model)| model.as_ref().ok()).map(|model| {
            warnings.extend(model.extrapolation(query.workers, query.iteration));
            model.value(query.workers, query.iteration)
        });
        Prediction { seconds: seconds.filter(is_sound), value: value.filter(is_sound), warnings }
    }
}

/// Answers queries, each from the models of its algorithm.
pub fn predict_traces(models: &[Fitted], queries: Vec<Query>) -> Vec<(Query, Prediction)> {
    let answer = |query: Query| {
        let nothing = || Prediction {
            seconds: None,
            value: None,
            warnings: vec![format!("there is no run of {}", query.algorithm)],
        };
        let family = models.iter().find(|fitted| fitted.family.algorithm == query.algorithm);
        let prediction = family.map_or_else(nothing, |fitted| fitted.predict(&query));
        (query, prediction)
    };
    queries.into_iter().map(answer).collect()
}

/// Nothing is said rather than a figure that is none.
fn is_sound(estimate: &Estimate) -> bool {
    [estimate.low, estimate.mean, estimate.high].iter().all(|figure| figure.is_finite())
}
