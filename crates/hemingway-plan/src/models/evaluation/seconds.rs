//! Seconds of a round in configurations that were left out: the system model beside plain Ernest.

use super::{Case, MODEL, Method, Question};
use crate::{Ernest, Observation, SystemModel};

/// Fewer configurations than this are not fitted.
const FEWEST: usize = 3;
/// A sample of the data is at most this part.
const SAMPLE: f64 = 0.1;

const ERNEST: Method = "ernest";

/// Workers and fraction.
type Configuration = (usize, f64);

/// Each configuration from all others.
pub(super) fn held_out(observations: &[Observation]) -> Vec<Case> {
    let all = configurations(observations);
    if all.len() <= FEWEST {
        return Vec::new();
    }
    let one = |&at: &Configuration| {
        compare(observations, Question::SecondsHeldOut, &|o| here(o) != at, &|o| here(o) == at)
    };
    all.iter().flat_map(one).collect()
}

/// All data from samples.
pub(super) fn from_sample(observations: &[Observation]) -> Vec<Case> {
    let samples = configurations(observations).iter().filter(|at| at.1 <= SAMPLE).count();
    if samples < FEWEST {
        return Vec::new();
    }
    compare(observations, Question::SecondsFromSample, &|o| o.fraction <= SAMPLE, &|o| o.fraction == 1.0)
}

/// Fits what is kept and predicts what is asked.
fn compare(
    observations: &[Observation],
    question: Question,
    kept: &dyn Fn(&Observation) -> bool,
    asked: &dyn Fn(&Observation) -> bool,
) -> Vec<Case> {
    let pick = |which: &dyn Fn(&Observation) -> bool| -> Vec<Observation> {
        observations.iter().filter(|o| which(o)).cloned().collect()
    };
    let (kept, asked) = (pick(kept), pick(asked));
    let (Ok(model), Ok(ernest)) = (SystemModel::fit(&kept), Ernest::fit(&kept)) else { return Vec::new() };
    let mut cases = Vec::new();
    for ((workers, fraction), truth) in measured(&asked) {
        let what = format!("m = {workers}, s = {fraction}");
        let found = model.seconds_per_iteration(workers, fraction);
        let theirs = ernest.seconds_per_iteration(workers, fraction);
        cases.push(
            Case::relative(question, &what, MODEL, Some(found.mean), truth)
                .covered(found.low <= truth && truth <= found.high),
        );
        cases.push(Case::relative(question, &what, ERNEST, Some(theirs), truth));
    }
    cases
}

/// Mean seconds of a round, for each run: over its whole length, with nothing cut.
fn measured(observations: &[Observation]) -> Vec<(Configuration, f64)> {
    let mut timed: Vec<(&str, Configuration, u64, f64)> = observations
        .iter()
        .filter_map(|o| Some((o.run.as_str(), here(o), o.iteration, o.seconds?)))
        .collect();
    timed.sort_by(|a, b| {
        (a.0, a.1.0, a.2).cmp(&(b.0, b.1.0, b.2)).then(a.1.1.total_cmp(&b.1.1)).then(a.3.total_cmp(&b.3))
    });
    let runs = timed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let one = |run: &[(&str, Configuration, u64, f64)]| {
        let (first, last) = (run[0], run[run.len() - 1]);
        let seconds = match last.2 - first.2 {
            0 => last.3 / last.2.max(1) as f64,
            rounds => (last.3 - first.3) / rounds as f64,
        };
        (seconds > 0.0).then_some((first.1, seconds))
    };
    runs.filter_map(one).collect()
}

fn configurations(observations: &[Observation]) -> Vec<Configuration> {
    let mut all: Vec<Configuration> = observations.iter().filter(|o| o.seconds.is_some()).map(here).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    all.dedup();
    all
}

fn here(observation: &Observation) -> Configuration {
    (observation.workers, observation.fraction)
}
