//! Many cases in one line each: median and largest error, and how often intervals held.

use serde::Serialize;

use super::{Case, Method, Question};

/// What one method did on one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What was asked.
    pub question: Question,
    /// Who answered.
    pub method: Method,
    /// How often, without censored cases.
    pub cases: usize,
    /// Half of the errors are smaller.
    pub median: f64,
    /// Nine of ten errors are smaller.
    pub p90: f64,
    /// The share of truths inside their 90 % intervals.
    pub covered: Option<f64>,
    /// Cases in which the run ended before the goal.
    pub censored: usize,
    /// Those of them that were predicted within the run, which is wrong.
    pub missed: usize,
}

/// One summary for each question and method, questions in order, methods as they first come.
pub fn summarise(cases: &[Case]) -> Vec<Summary> {
    let mut kinds: Vec<(Question, Method)> = Vec::new();
    for case in cases {
        if !kinds.contains(&(case.question, case.method)) {
            kinds.push((case.question, case.method));
        }
    }
    kinds.sort_by_key(|kind| kind.0);
    let of = |(question, method): (Question, Method)| -> Summary {
        summary(cases.iter().filter(|c| c.question == question && c.method == method).collect())
    };
    kinds.into_iter().map(of).collect()
}

fn summary(cases: Vec<&Case>) -> Summary {
    let (censored, known): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.censored);
    let mut errors: Vec<f64> = known.iter().map(|case| case.error).collect();
    errors.sort_by(f64::total_cmp);
    let judged: Vec<bool> = known.iter().filter_map(|case| case.covered).collect();
    let inside = judged.iter().filter(|inside| **inside).count();
    Summary {
        question: cases[0].question,
        method: cases[0].method,
        cases: known.len(),
        median: quantile(&errors, 0.5),
        p90: quantile(&errors, 0.9),
        covered: (!judged.is_empty()).then(|| inside as f64 / judged.len() as f64),
        censored: censored.len(),
        missed: censored.iter().filter(|case| case.error > 0.0).count(),
    }
}

/// Of sorted values; not a number where there are none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}
