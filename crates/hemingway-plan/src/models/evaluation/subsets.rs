//! Rounds to a goal on all of the data, from runs on a quarter of it or less.
//!
//! Values are relative sub-optimalities, each fraction of the data with its own optimum. The baseline takes the rounds
//! on the largest known fraction with as many workers.

use super::rounds::{GOALS, rounds_to};
use super::{Case, MODEL, Method, Question};
use crate::{Observation, SubsetModel};

/// The largest fraction that is shown.
const KNOWN: f64 = 0.25;
/// The rounds on the largest fraction that is shown.
const AS_ON_A_PART: Method = "as on 1/4";

pub(super) fn cases(gaps: &[Observation]) -> Vec<Case> {
    let on_all = |m: usize| gaps.iter().filter(move |o| o.workers == m && o.fraction == 1.0);
    let known: Vec<Observation> = gaps.iter().filter(|o| o.fraction <= KNOWN).cloned().collect();
    let largest = known.iter().map(|o| o.fraction).fold(0.0, f64::max);
    let Ok(model) = SubsetModel::fit(&known) else { return Vec::new() };
    let mut workers: Vec<usize> = known.iter().map(|o| o.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    let mut cases = Vec::new();
    for (m, goal) in workers.iter().flat_map(|&m| GOALS.map(|goal| (m, goal))) {
        let Some(truth) = rounds_to(on_all(m), goal).filter(|truth| *truth > 1.0) else { continue };
        let what = format!("m = {m}, ε = {goal:.0e}");
        let case = |method, found| Case::relative(Question::RoundsFromParts, &what, method, found, truth);
        let found = model.iterations_to(m, 1.0, goal);
        let inside = found.as_ref().is_some_and(|e| e.low <= truth && truth <= e.high);
        cases.push(case(MODEL, found.map(|e| e.mean)).covered(inside));
        let same = known.iter().filter(|o| o.workers == m && o.fraction == largest);
        cases.push(case(AS_ON_A_PART, rounds_to(same, goal)));
    }
    cases
}
