//! Stages of earlier runs: what they say of this one.

use crate::forecast::{Model, at_goal};
use crate::{Configuration, Settings};

use super::{Planner, progress};

/// A stage of an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct PastStage {
    /// How it trained.
    pub configuration: Configuration,
    /// The certified error that it began from; 1 is the start of training.
    pub from: f64,
    /// What it came to, in order.
    pub scores: Vec<PastScore>,
    /// The standard deviation of ln rounds between it and this problem.
    pub rounds_deviation: f64,
    /// The same of ln seconds per round; none if it ran on other machines, so that its seconds say nothing.
    pub pace_deviation: Option<f64>,
}

/// A scored round of an earlier stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PastScore {
    /// Rounds since the stage began.
    pub rounds: f64,
    /// Seconds since then.
    pub seconds: f64,
    /// The certified error.
    pub error: f64,
}

impl Planner {
    /// Takes in what an earlier stage has shown. A forecast of fitted models counts as a stage that went as it says.
    pub fn condition_on(&mut self, past: &PastStage) {
        let Some(at) = self.position(&past.configuration) else { return };
        let model = &self.models[at];
        let Some(first) = past.scores.first().map(|score| (score.rounds, score.seconds)) else { return };
        let last = past.scores.last().map_or(first, |last| (last.rounds, last.seconds));
        if let Some(deviation) = past.pace_deviation
            && let Some((value, noise)) = pace_of(model, first, last, &self.settings)
        {
            self.pace.condition(at, value, noise + deviation * deviation + self.real_repeat());
        }
        // The error nearest to the goal says most of it.
        let reached = past.scores.iter().map(|score| (progress(score.error), score));
        let reached = reached.filter(|(now, _)| *now >= progress(past.from).max(std::f64::consts::LN_10));
        let near = |now: f64| (now.min(self.reference) - self.reference).abs();
        let Some((now, score)) = reached.min_by(|a, b| near(a.0).total_cmp(&near(b.0))) else { return };
        let predicted = first.1 / first.0.max(1.0);
        let made = effort(model, first, (score.rounds, score.seconds), predicted);
        let Some(expected) = model.effort(progress(past.from), now, 0.0) else { return };
        let (value, noise) =
            at_goal(&model.line, now.min(self.reference), (made / expected).ln(), self.reference);
        self.rounds.condition(model.latent, value, noise + past.rounds_deviation.powi(2));
    }
}

/// The effort of a stage, given its rounds and seconds: rounds, or passes over all rows where rounds become shorter.
pub(super) fn effort(model: &Model, first: (f64, f64), (rounds, seconds): (f64, f64), per_round: f64) -> f64 {
    if !model.settles() {
        return rounds;
    }
    let whole = if first.0 <= WHOLE_ROUNDS && first.1 > 0.0 { first.1 / first.0 } else { per_round };
    seconds / whole.max(f64::MIN_POSITIVE)
}

/// In the first rounds no row has settled.
const WHOLE_ROUNDS: f64 = 2.0;

/// How far ln seconds per round are off, with the variance of the noise.
pub(super) fn pace_of(
    model: &Model,
    first: (f64, f64),
    last: (f64, f64),
    settings: &Settings,
) -> Option<(f64, f64)> {
    let (rounds, seconds) = match model.settles() {
        true if first.0 > WHOLE_ROUNDS => return None,
        true => first,
        // What came before the first score has the set-up in it.
        false if last.0 > first.0 => (last.0 - first.0, last.1 - first.1),
        false => (first.0, first.1 - model.set_up),
    };
    let value = (seconds / rounds / model.per_round).ln();
    value.is_finite().then_some((value, model.disturbance(rounds, settings)))
}
