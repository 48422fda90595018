//! Models of traces that others wrote: what runs that were made say about runs that were not.

use std::collections::BTreeMap;
use std::path::Path;

use hemingway_plan::{
    Better, ConvergenceModel, Estimate, Observation, Query, SystemModel, Target, parse_queries, parse_trace,
};
use serde::Serialize;

use crate::Error;

/// The models of one algorithm.
pub struct Fitted {
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

/// Fits models to every algorithm of a trace in CSV.
pub fn fit_traces(file: &Path) -> Result<BTreeMap<String, Fitted>, Error> {
    let observations = parse_trace(&read(file)?).map_err(|error| bad(file, &error))?;
    let mut by_algorithm: BTreeMap<String, Vec<Observation>> = BTreeMap::new();
    for observation in observations {
        by_algorithm.entry(observation.algorithm.clone()).or_default().push(observation);
    }
    Ok(by_algorithm.into_iter().map(|(name, observations)| (name, Fitted::to(&observations))).collect())
}

/// Answers the queries of a CSV, in their order.
pub fn predict_traces(
    models: &BTreeMap<String, Fitted>,
    file: &Path,
) -> Result<Vec<(Query, Prediction)>, Error> {
    let queries = parse_queries(&read(file)?).map_err(|error| bad(file, &error))?;
    let answer = |query: Query| {
        let nothing = || Prediction {
            seconds: None,
            value: None,
            warnings: vec![format!("there is no run of {}", query.algorithm)],
        };
        let prediction = models.get(&query.algorithm).map_or_else(nothing, |fitted| fitted.predict(&query));
        (query, prediction)
    };
    Ok(queries.into_iter().map(answer).collect())
}

impl Fitted {
    fn to(observations: &[Observation]) -> Fitted {
        let mut fractions: Vec<f64> = observations.iter().map(|observation| observation.fraction).collect();
        fractions.sort_by(f64::total_cmp);
        fractions.dedup();
        let convergence = |fraction: f64| {
            let some: Vec<Observation> =
                observations.iter().filter(|observation| observation.fraction == fraction).cloned().collect();
            let model = ConvergenceModel::fit(&some, Target::Metric(direction(&some)));
            (fraction, model.map_err(|error| error.to_string()))
        };
        Fitted {
            system: SystemModel::fit(observations).map_err(|error| error.to_string()),
            convergence: fractions.into_iter().map(convergence).collect(),
        }
    }

    /// The model of values on all of the data, or on the largest part there is.
    pub fn convergence(&self) -> Option<&Result<ConvergenceModel, String>> {
        self.convergence.last().map(|(_, model)| model)
    }

    fn predict(&self, query: &Query) -> Prediction {
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

/// Nothing is said rather than a figure that is none.
fn is_sound(estimate: &Estimate) -> bool {
    [estimate.low, estimate.mean, estimate.high].iter().all(|figure| figure.is_finite())
}

/// Whether values fall or rise in most runs.
fn direction(observations: &[Observation]) -> Better {
    let mut ends: BTreeMap<&str, [(u64, f64); 2]> = BTreeMap::new();
    for observation in observations {
        let Some(value) = observation.value.filter(|value| value.is_finite()) else { continue };
        let point = (observation.iteration, value);
        let [first, last] = ends.entry(&observation.run).or_insert([point, point]);
        if point.0 < first.0 {
            *first = point;
        }
        if point.0 >= last.0 {
            *last = point;
        }
    }
    let falling = ends.values().filter(|[first, last]| last.1 <= first.1).count();
    if 2 * falling >= ends.len() { Better::Lower } else { Better::Higher }
}

fn read(file: &Path) -> Result<String, Error> {
    std::fs::read_to_string(file).map_err(|source| Error::Read { file: file.to_path_buf(), source })
}

fn bad(file: &Path, error: &hemingway_plan::Error) -> Error {
    Error::Traces { file: file.to_path_buf(), problem: error.to_string() }
}
