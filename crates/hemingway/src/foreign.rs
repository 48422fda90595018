//! Traces that other programs wrote, as families of runs.

use std::collections::BTreeMap;
use std::path::Path;

use hemingway_plan::{Better, Observation, Query, Target, parse_queries, parse_trace};

use crate::{Error, Family};

/// The runs of a trace in CSV, by algorithm.
pub fn read_traces(file: &Path) -> Result<Vec<Family>, Error> {
    let observations = parse_trace(&read(file)?).map_err(|error| bad(file, &error))?;
    let mut by_algorithm: BTreeMap<String, Vec<Observation>> = BTreeMap::new();
    for observation in observations {
        by_algorithm.entry(observation.algorithm.clone()).or_default().push(observation);
    }
    Ok(by_algorithm.into_iter().map(|(algorithm, observations)| family(algorithm, observations)).collect())
}

/// The queries of a CSV.
pub fn read_queries(file: &Path) -> Result<Vec<Query>, Error> {
    parse_queries(&read(file)?).map_err(|error| bad(file, &error))
}

/// Values of others are figures that get better towards an unknown limit, each fraction of the data its own.
fn family(algorithm: String, observations: Vec<Observation>) -> Family {
    let mut fractions: Vec<f64> = observations.iter().map(|observation| observation.fraction).collect();
    fractions.sort_by(f64::total_cmp);
    fractions.dedup();
    let target = |fraction: f64| {
        let some = observations.iter().filter(|observation| observation.fraction == fraction);
        (fraction, Target::Metric(direction(some)))
    };
    Family {
        algorithm,
        problem: None,
        latest: 0.0,
        targets: fractions.into_iter().map(target).collect(),
        as_recorded: observations.clone(),
        proved: Vec::new(),
        observations,
    }
}

/// Whether values fall or rise in most runs.
fn direction<'a>(observations: impl Iterator<Item = &'a Observation>) -> Better {
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
