//! When to score. Scoring is off the training clock, but the user waits for it.
//!
//! Far from the goal scores are rare, spaced by a growing amount of work; near it, as the solver's own free
//! estimate tells, they may come as often as a share of all work allows. Everything is counted in metered work,
//! not in seconds, so that the same run is scored at the same rounds on every engine.

use serde::{Deserialize, Serialize};

use crate::{Certificate, Estimate, Scoring, StopRules, Work};

/// Decides after each round whether to score it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Effort spent on scoring so far.
    scoring: f64,
    /// Effort of one more score.
    next: f64,
    /// Training effort at the last score.
    last: f64,
    /// Primal estimate and gap estimate of the round before.
    before: Option<(f64, f64)>,
}

impl Schedule {
    /// A schedule that expects the first score to cost this much.
    pub fn new(first: Work) -> Schedule {
        Schedule { scoring: 0.0, next: effort(first), last: 0.0, before: None }
    }

    /// Whether the round that just ended should be scored. `training` is all training work so far.
    pub fn due(
        &mut self,
        scoring: Scoring,
        rules: &StopRules,
        round: u64,
        training: Work,
        estimate: Option<Estimate>,
        certificate: &Certificate,
    ) -> bool {
        let near = self.near(rules, estimate, certificate);
        let share = match scoring {
            Scoring::Every(rounds) => return round.is_multiple_of(rounds.max(1)),
            Scoring::Share(share) => share,
        };
        let training = effort(training);
        let affordable = |share: f64| self.scoring + self.next <= share * (training + self.scoring + self.next);
        match near {
            Some(true) => affordable(NEAR_SHARE * share),
            Some(false) => affordable(share / 2.0) && training >= FAR_GROWTH * self.last,
            None => affordable(share),
        }
    }

    /// Whether the goal seems reached: `None` when there is no telling.
    fn near(&mut self, rules: &StopRules, estimate: Option<Estimate>, certificate: &Certificate) -> Option<bool> {
        let Estimate { primal, gap } = estimate?;
        let (primal_before, gap_before) = self.before.replace((primal, gap)).unwrap_or((primal, gap));
        // Estimates were gathered during the round; the state at its end is about half a round ahead.
        let gap = gap * (gap / gap_before).clamp(0.25, 1.0).sqrt();
        let primal = primal - 0.5 * (primal_before - primal).max(0.0);
        let floor = (primal - gap).max(certificate.dual);
        let error = rules.error.map(|goal| gap <= NEAR_ERROR * goal * floor.max(0.0));
        let objective = rules.objective.map(|goal| primal <= goal);
        match (error, objective) {
            (None, None) => None,
            (error, objective) => Some(error.unwrap_or(false) || objective.unwrap_or(false)),
        }
    }

    /// A score was taken and took this much work.
    pub fn scored(&mut self, training: Work, cost: Work) {
        self.last = effort(training);
        self.next = effort(cost);
        self.scoring += effort(cost);
    }
}

/// Far from the goal, scores are this factor of training work apart.
const FAR_GROWTH: f64 = 1.5;
/// Near the goal, scoring may use this many times its share for a moment.
const NEAR_SHARE: f64 = 2.5;
/// An estimated error this many times the goal counts as near: estimates lag behind.
const NEAR_ERROR: f64 = 1.3;

/// Work as one number: bytes weigh about as much as half an operation.
fn effort(work: Work) -> f64 {
    work.flops + work.bytes / 2.0
}
