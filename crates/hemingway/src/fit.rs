//! Models of runs that were made, and what they say about runs that were not.

use hemingway_plan::evaluation::{self, Case, View, evaluate};
use hemingway_plan::{
    Combined, ConvergenceModel, Estimate, Observation, Query, SubsetModel, SystemModel, Target,
};
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
    /// Progress on any fraction of the data, if runs on several show what a fraction changes.
    subsets: Option<SubsetModel>,
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

/// What to predict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ahead {
    /// A goal: the relative error where the optimum is known, else the value itself.
    Goal(f64),
    /// A time in seconds.
    Within(f64),
}

/// Rounds, seconds or value predicted on so many workers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
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
        let fit = |&(fraction, target)| {
            let some: Vec<Observation> = on(&family, fraction).cloned().collect();
            (fraction, ConvergenceModel::fit(&some, target).map_err(|error| error.to_string()))
        };
        let convergence: Vec<_> = family.targets.iter().map(fit).collect();
        Fitted {
            system: SystemModel::fit(&family.observations).map_err(|error| error.to_string()),
            subsets: SubsetModel::fit(&gaps(&family, &convergence)).ok(),
            convergence,
            family,
        }
    }

    /// How good the models are on these runs, beside baselines.
    pub fn evaluate(&self) -> Vec<Case> {
        let Some(&(largest, target)) = self.family.targets.last() else { return Vec::new() };
        let (best, recorded) = (&self.family.observations, &self.family.as_recorded);
        let of_last_iterates = |case: &Case| case.question.view() == Some(View::AsRecorded);
        let mut cases = evaluate(&values_on(best, largest), target);
        cases.extend(evaluation::from_parts(&gaps(&self.family, &self.convergence)));
        cases.retain(|case| !of_last_iterates(case));
        cases.extend(
            evaluation::ahead(&values_on(recorded, largest), target).into_iter().filter(of_last_iterates),
        );
        cases
    }

    /// The model of values on all of the data, or on the largest part there is.
    pub fn convergence(&self) -> Option<&Result<ConvergenceModel, String>> {
        self.convergence.last().map(|(_, model)| model)
    }

    /// How long a goal takes, or how far a time goes, on all of the data; nothing without both models.
    pub fn forecast(&self, workers: usize, ahead: Ahead) -> Option<Forecast> {
        let (&(fraction, target), system) = (self.family.targets.last()?, self.system.as_ref().ok()?);
        if let (Some(subsets), Ahead::Goal(_), true) = (&self.subsets, ahead, fraction < 1.0) {
            return Some(Forecast::of(&Combined::new(system, subsets), workers, ahead));
        }
        let convergence = self.convergence()?.as_ref().ok()?;
        let model = Combined { fraction, ..Combined::new(system, convergence) };
        let ahead = match (ahead, target) {
            (Ahead::Goal(error), Target::Loss { .. }) => Ahead::Goal(convergence.optimum() * (1.0 + error)),
            _ => ahead,
        };
        Some(Forecast::of(&model, workers, ahead))
    }

    /// Seconds and value after an iteration.
    pub fn predict(&self, query: &Query) -> Prediction {
        let mut warnings = Vec::new();
        let seconds = match &self.system {
            Ok(model) => {
                warnings.extend(model.extrapolation(query.workers, query.fraction));
                Some(model.seconds(query.workers, query.fraction, query.iteration))
            }
            Err(problem) => {
                warnings.push(format!("seconds: {problem}"));
                None
            }
        };
        let value = self.value(query, &mut warnings);
        Prediction { seconds: seconds.filter(is_sound), value: value.filter(is_sound), warnings }
    }

    /// The value on a fraction of the data that was measured, or else from the two nearest that were.
    fn value(&self, query: &Query, warnings: &mut Vec<String>) -> Option<Estimate> {
        let sound =
            self.convergence.iter().filter_map(|(fraction, model)| Some((*fraction, model.as_ref().ok()?)));
        let mut models: Vec<(f64, &ConvergenceModel)> = sound.collect();
        let distance = |fraction: f64| (fraction / query.fraction).ln().abs();
        models.sort_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
        let Some(&(nearest, model)) = models.first() else {
            let problems = self.convergence.iter().filter_map(|(_, model)| model.as_ref().err());
            warnings.extend(problems.take(1).map(|problem| format!("value: {problem}")));
            return None;
        };
        warnings.extend(model.extrapolation(query.workers, query.iteration));
        let value = model.value(query.workers, query.iteration);
        if nearest == query.fraction {
            return Some(value);
        }
        warnings
            .push(format!("no value was measured on fraction {}; the nearest is {nearest}", query.fraction));
        let &(other, model) = models.get(1)?;
        let slope = (model.value(query.workers, query.iteration).mean - value.mean) / (other / nearest).ln();
        Some(moved(&value, slope * (query.fraction / nearest).ln()))
    }
}

/// A value on another fraction of the data: what it moves by may be anything from nothing to twice that.
fn moved(value: &Estimate, by: f64) -> Estimate {
    let (down, up) = (value.mean - value.low, value.high - value.mean);
    let mean = value.mean + by;
    Estimate { low: mean - down.hypot(by), mean, high: mean + up.hypot(by) }
}

impl Forecast {
    fn of(model: &Combined, workers: usize, ahead: Ahead) -> Forecast {
        let (iterations, seconds, value) = match ahead {
            Ahead::Goal(goal) => {
                let iterations = model.convergence.iterations_to(workers, model.fraction, goal);
                (iterations, model.seconds_to(workers, goal), None)
            }
            Ahead::Within(seconds) => {
                (model.iterations_in(workers, seconds), None, model.value_at(workers, seconds))
            }
        };
        let last = iterations.as_ref().map_or(1, |iterations| iterations.mean as u64);
        Forecast { workers, warning: model.extrapolation(workers, last), iterations, seconds, value }
    }
}

/// Relative sub-optimalities, each fraction of the data with its own optimum; none where only one was used, or where
/// the optimum is not known.
fn gaps(family: &Family, convergence: &[(f64, Result<ConvergenceModel, String>)]) -> Vec<Observation> {
    if family.targets.len() < 2 || family.problem.is_none() {
        return Vec::new();
    }
    let fitted = convergence.iter().filter_map(|(fraction, model)| Some((*fraction, model.as_ref().ok()?)));
    let relative = fitted.flat_map(|(fraction, model)| {
        let optimum = model.optimum();
        on(family, fraction).map(move |observed| Observation {
            value: observed.value.map(|value| (value - optimum) / optimum),
            ..observed.clone()
        })
    });
    relative.collect()
}

fn on(family: &Family, fraction: f64) -> impl Iterator<Item = &Observation> {
    family.observations.iter().filter(move |observed| observed.fraction == fraction)
}

/// Times of all runs, values of those on one fraction of the data.
fn values_on(observations: &[Observation], fraction: f64) -> Vec<Observation> {
    let of = |observed: &Observation| Observation {
        value: observed.value.filter(|_| observed.fraction == fraction),
        ..observed.clone()
    };
    observations.iter().map(of).collect()
}

/// Answers queries, each from the models of its algorithm.
pub fn predict_traces(models: &[Fitted], queries: Vec<Query>) -> Vec<(Query, Prediction)> {
    let answer = |query: Query| {
        let nothing = || Prediction {
            seconds: None,
            value: None,
            warnings: vec![format!("there is no run of {}", query.algorithm)],
        };
        let of = |name: &str| models.iter().find(|fitted| fitted.family.algorithm == name);
        let canonical = || hemingway_train::canonical(&query.algorithm);
        let family = of(&query.algorithm).or_else(|| canonical().and_then(of));
        let prediction = family.map_or_else(nothing, |fitted| fitted.predict(&query));
        (query, prediction)
    };
    queries.into_iter().map(answer).collect()
}

/// Nothing is said rather than a figure that is none.
fn is_sound(estimate: &Estimate) -> bool {
    [estimate.low, estimate.mean, estimate.high].iter().all(|figure| figure.is_finite())
}
