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
    /// Training effort and round at the last score.
    last: f64,
    last_round: u64,
    /// How far objective and gap were above their estimates at the last score.
    above: Above,
    /// Whether the estimate promised the goal when the last round ended, and how often that led to a score.
    promised: bool,
    promises: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Above {
    primal: f64,
    gap: f64,
}

impl Schedule {
    /// A schedule that expects the first score to cost this much.
    pub fn new(first: Work) -> Schedule {
        Schedule {
            scoring: 0.0,
            next: effort(first),
            last: 0.0,
            last_round: 0,
            above: Above::default(),
            promised: false,
            promises: 0,
        }
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
        let training = effort(training);
        let wanted = rules.error.is_some() || rules.objective.is_some();
        let near = estimate
            .filter(|_| wanted)
            .map(|estimate| self.near(rules, round, training, estimate, certificate));
        let share = match scoring {
            Scoring::Every(rounds) => return round.is_multiple_of(rounds.max(1)),
            Scoring::Share(share) => share,
        };
        self.promised = near == Some(true);
        let affordable =
            |share: f64| self.scoring + self.next <= share * (training + self.scoring + self.next);
        let patient = training >= (PATIENT_GROWTH * self.last).max(4.0 * self.next);
        match near {
            _ if share >= GENEROUS => affordable(share) || round as f64 >= OFTEN * self.last_round as f64,
            Some(true) => {
                let unnoticed = self.scoring + self.next <= UNNOTICED;
                unnoticed
                    || patient
                    || affordable(share * (NEAR_SHARE * 0.5_f64.powi(self.promises)).max(1.0))
            }
            Some(false) => affordable(share) && training >= FAR_GROWTH * self.last,
            None => affordable(share) || wanted && patient,
        }
    }

    /// Whether the goal seems reached.
    fn near(
        &self,
        rules: &StopRules,
        round: u64,
        training: f64,
        estimate: Estimate,
        certificate: &Certificate,
    ) -> bool {
        let Estimate { primal, gap } = estimate;
        let floor = (primal - gap).max(certificate.dual);
        // An estimate that was too low will be too low again, by less as the run goes on.
        let fading = self.last_round as f64 / round as f64;
        let reached = |primal: f64, gap: f64| {
            let error = rules.error.is_some_and(|goal| gap <= NEAR_ERROR * goal * floor);
            error || rules.objective.is_some_and(|goal| primal <= goal)
        };
        let soon = round as f64 <= RETRY_ROUNDS * self.last_round as f64;
        let retry = training >= RETRY_GROWTH * self.last;
        let corrected = reached(primal + fading * self.above.primal, gap + fading * self.above.gap);
        !soon && (corrected || retry && reached(primal, gap))
    }

    /// A score was taken and took this much work.
    pub fn scored(
        &mut self,
        round: u64,
        training: Work,
        cost: Work,
        estimate: Option<Estimate>,
        certificate: &Certificate,
    ) {
        self.last_round = round;
        if let Some(estimate) = estimate {
            let Certificate { primal, dual, .. } = *certificate;
            let telling = |above: f64| if above.abs() <= VAGUE * primal { above } else { 0.0 };
            self.above = Above {
                primal: telling(primal - estimate.primal),
                gap: telling(primal - dual - estimate.gap),
            };
        }
        self.promises += i32::from(self.promised);
        self.last = effort(training);
        self.next = effort(cost);
        self.scoring += effort(cost);
    }
}

/// Where so large a share of the work may go into scoring, it need not be saved up for.
const GENEROUS: f64 = 0.5;
/// and rounds that are short beside a score are still scored at least this factor apart.
const OFTEN: f64 = 1.25;
/// Estimates further off than this share of the objective say nothing about later ones.
const VAGUE: f64 = 0.05;
/// After a score that an estimate promised too much for, it is trusted again after this much more work.
const RETRY_GROWTH: f64 = 1.2;
/// Two scores are at least this factor of rounds apart.
const RETRY_ROUNDS: f64 = 1.12;
/// Where a goal is wanted, and no estimate tells where it is or one that has been wrong before says that it is near, there is a
/// score after this growth of training work whatever was spent.
const PATIENT_GROWTH: f64 = 1.5;
/// Far from the goal, scores are this factor of training work apart.
const FAR_GROWTH: f64 = 1.25;
/// Near the goal, scoring may use this many times its share, and half as much each time that was in vain.
const NEAR_SHARE: f64 = 4.0;
/// Near the goal, this much effort on scoring, a few milliseconds, is free.
const UNNOTICED: f64 = 4e7;
/// An estimated error this many times the goal counts as near.
const NEAR_ERROR: f64 = 1.1;

/// Work as one number: bytes weigh about as much as half an operation.
fn effort(work: Work) -> f64 {
    work.flops + work.bytes / 2.0
}
