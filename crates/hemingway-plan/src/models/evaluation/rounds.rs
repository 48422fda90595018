//! Rounds to a goal on numbers of workers that were left out.
//!
//! Goals are relative sub-optimalities. A goal that is reached in the first round says nothing; one that a run did not
//! get to makes a censored case. The baseline beside the forms takes the rounds of the nearest m that was measured.

use super::{Case, MODEL, Method, Question};
use crate::models::convergence::scale_of;
use crate::{ConvergenceModel, Observation, Target};

/// ε, the relative sub-optimalities asked about.
pub(super) const GOALS: [f64; 3] = [1e-2, 1e-3, 1e-4];
/// The rounds of the nearest measured number of workers.
const NEAREST: Method = "nearest m";

/// Each inner m from all others, and the largest from all smaller ones.
pub(super) fn cases(observations: &[Observation], target: Target) -> Vec<Case> {
    let Some(goals) = goals(observations, target) else { return Vec::new() };
    let mut workers: Vec<usize> =
        observations.iter().filter(|o| o.value.is_some()).map(|o| o.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    let held_out = workers.iter().enumerate().skip(1).map(|(k, &m)| match k + 1 == workers.len() {
        true => (Question::RoundsBeyond, m),
        false => (Question::RoundsInside, m),
    });
    held_out.flat_map(|(question, m)| left_out(observations, target, question, m, &goals)).collect()
}

/// (ε, value). Metrics have no optimum to be relative to.
fn goals(observations: &[Observation], target: Target) -> Option<Vec<(f64, f64)>> {
    let (optimum, unit) = match target {
        Target::SubOptimality => (0.0, 1.0),
        Target::Loss { .. } => {
            let optimum = scale_of(observations, target)?.optimum;
            (optimum, optimum.abs())
        }
        Target::Metric(_) => return None,
    };
    Some(GOALS.iter().map(|&goal| (goal, optimum + goal * unit)).collect())
}

/// One fit without m, asked for every goal.
fn left_out(
    observations: &[Observation],
    target: Target,
    question: Question,
    m: usize,
    goals: &[(f64, f64)],
) -> Vec<Case> {
    let (asked, known): (Vec<Observation>, Vec<Observation>) =
        observations.iter().cloned().partition(|o| o.workers == m);
    let Ok(model) = ConvergenceModel::fit(&known, target) else { return Vec::new() };
    let length = asked.iter().filter(|o| o.value.is_some()).map(|o| o.iteration).max().unwrap_or(0) as f64;
    let mut cases = Vec::new();
    for &(epsilon, goal) in goals {
        let truth = rounds_to(&asked, goal);
        if truth == Some(1.0) {
            continue;
        }
        let what = format!("m = {m}, ε = {epsilon:.0e}");
        let case = |method, found| match truth {
            Some(truth) => Case::relative(question, &what, method, found, truth),
            None => censored(question, &what, method, found, length),
        };
        let found = model.iterations_to(m, goal);
        let ours = case(MODEL, found.as_ref().map(|e| e.mean));
        let inside = |truth: f64| found.as_ref().is_some_and(|e| e.low <= truth && truth <= e.high);
        cases.push(Case { covered: truth.map(inside), ..ours });
        cases.extend(
            ConvergenceModel::forms().map(|form| case(form, model.iterations_by_form(form, m, goal))),
        );
        cases.push(case(NEAREST, rounds_nearby(&known, m, goal)));
    }
    cases
}

/// What a prediction within the run falls short of its length.
fn censored(question: Question, what: &str, method: Method, found: Option<f64>, length: f64) -> Case {
    let short = found.map_or(0.0, |found| (1.0 - found / length).max(0.0));
    Case { question, what: what.to_owned(), method, error: short, covered: None, censored: true }
}

/// The first round at the goal.
pub(super) fn rounds_to<'a>(
    observations: impl IntoIterator<Item = &'a Observation>,
    goal: f64,
) -> Option<f64> {
    let reached = observations.into_iter().filter(|o| o.value.is_some_and(|v| v <= goal));
    reached.map(|o| o.iteration).min().map(|round| round as f64)
}

/// On the nearest m that got there, in log m.
fn rounds_nearby(known: &[Observation], m: usize, goal: f64) -> Option<f64> {
    let away = |o: &&Observation| (o.workers as f64 / m as f64).ln().abs();
    let there = || known.iter().filter(|o| o.value.is_some_and(|v| v <= goal));
    let nearest = there().min_by(|a, b| away(a).total_cmp(&away(b)))?.workers;
    there().filter(|o| o.workers == nearest).map(|o| o.iteration).min().map(|round| round as f64)
}
