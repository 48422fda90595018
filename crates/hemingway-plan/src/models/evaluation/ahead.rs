//! What comes next in a run: rounds and seconds ahead, beside the last value and a fitted curve.
//!
//! Origins are spread evenly over a run. Values are taken as levels, the logarithm of the gap to the optimum, so that
//! an error means the same at every stage; metrics stay as they are. What is asked for is the first point that is at
//! least so far ahead, at its own time.

use super::{Case, MODEL, Method, Question, View, curve};
use crate::models::convergence::scale_of;
use crate::{Observation, Target, forward};

/// Points before an origin that are shown.
const WINDOW: usize = 50;
/// Fewer points than this are no start.
const FEWEST: usize = 10;
/// Origins in each run, at most.
const ORIGINS: usize = 40;
const AHEAD_ROUNDS: [u64; 2] = [1, 10];
const AHEAD_SECONDS: [u64; 2] = [1, 5];

const PERSISTENCE: Method = "persistence";
const CURVE: Method = "curve";

/// Where (rounds or seconds) and level, in order.
type Points = Vec<(f64, f64)>;

/// One run: iteration, seconds and level in order.
struct Run {
    name: String,
    points: Vec<(f64, Option<f64>, f64)>,
    /// Whether levels are logarithms of gaps.
    logarithmic: bool,
}

/// All runs with values, in both views.
pub(super) fn cases(observations: &[Observation], target: Target) -> Vec<Case> {
    let runs = runs(observations, target);
    let mut cases = Vec::new();
    for view in [View::BestSoFar, View::AsRecorded] {
        for run in &runs {
            let (rounds, seconds) = run.points(view);
            for ahead in AHEAD_ROUNDS {
                cases.extend(run.ask(&rounds, ahead as f64, Question::ForwardRounds(ahead, view)));
            }
            for ahead in AHEAD_SECONDS {
                cases.extend(run.ask(&seconds, ahead as f64, Question::ForwardSeconds(ahead, view)));
            }
        }
    }
    cases
}

fn runs(observations: &[Observation], target: Target) -> Vec<Run> {
    let Some(scale) = scale_of(observations, target) else { return Vec::new() };
    let logarithmic = !matches!(target, Target::Metric(_));
    let level = |value: f64| if logarithmic { scale.level(value) } else { scale.sign * value };
    let mut rows: Vec<&Observation> = observations.iter().filter(|o| o.value.is_some()).collect();
    rows.sort_by(|a, b| (a.workers, &a.run, a.iteration).cmp(&(b.workers, &b.run, b.iteration)));
    rows.chunk_by(|a, b| (a.workers, &a.run) == (b.workers, &b.run))
        .map(|rows| {
            let point = |o: &&Observation| Some((o.iteration as f64, o.seconds, level(o.value?)));
            let points = rows.iter().filter_map(point).filter(|p| p.2.is_finite()).collect();
            Run { name: format!("m = {}", rows[0].workers), points, logarithmic }
        })
        .collect()
}

impl Run {
    /// Points over rounds and over seconds.
    fn points(&self, view: View) -> (Points, Points) {
        let mut best = f64::INFINITY;
        let mut level = |level: f64| {
            best = best.min(level);
            if view == View::BestSoFar { best } else { level }
        };
        let points: Vec<_> = self.points.iter().map(|&(i, s, l)| (i, s, level(l))).collect();
        let rounds = points.iter().map(|&(i, _, l)| (i, l)).collect();
        let seconds = points.iter().filter_map(|&(_, s, l)| Some((s?, l))).collect();
        (rounds, seconds)
    }

    fn ask(&self, points: &[(f64, f64)], ahead: f64, question: Question) -> Vec<Case> {
        let asked = |&origin: &usize| later(points, origin, ahead).is_some();
        let origins: Vec<usize> = (FEWEST..points.len()).filter(asked).collect();
        let step = origins.len().div_ceil(ORIGINS).max(1);
        origins.into_iter().step_by(step).flat_map(|at| self.from(points, at, ahead, question)).collect()
    }

    /// What all methods say from one origin.
    fn from(&self, points: &[(f64, f64)], origin: usize, ahead: f64, question: Question) -> Vec<Case> {
        let window = &points[origin.saturating_sub(WINDOW)..origin];
        let Some((at, truth)) = later(points, origin, ahead) else { return Vec::new() };
        let (x, last) = window[window.len() - 1];
        let what = format!("{}, from {x:.4}", self.name);
        let case = |method, found: f64| Case {
            question,
            what: what.clone(),
            method,
            error: (found - truth).abs(),
            covered: None,
            censored: false,
        };
        let found = forward(window, at - x);
        vec![
            case(MODEL, found.mean).covered(found.low <= truth && truth <= found.high),
            case(PERSISTENCE, last),
            case(CURVE, self.curve(window, at)),
        ]
    }

    /// The curve is one of gaps.
    fn curve(&self, window: &[(f64, f64)], at: f64) -> f64 {
        if !self.logarithmic {
            return curve::forecast(window, at);
        }
        let gaps: Points = window.iter().map(|p| (p.0, p.1.exp())).collect();
        curve::forecast(&gaps, at).ln()
    }
}

/// The first point so far ahead of the one before an origin.
fn later(points: &[(f64, f64)], origin: usize, ahead: f64) -> Option<(f64, f64)> {
    let at = points[origin - 1].0 + ahead;
    points[origin..].iter().find(|p| p.0 >= at - 1e-9).copied()
}
