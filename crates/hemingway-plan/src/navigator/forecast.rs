//! What is left of a run under each way.

use super::relay::Part;
use super::terrain::BURNT_IN;
use super::{Belief, Navigator, Outlook, Present};
use crate::distribution::{TWENTIETH, deviations};
use crate::{Candidate, Estimate, Risk};

/// A deadline or a budget is thought to be kept if it is kept in nine cases of ten: standard deviations to that.
const SURE: f64 = 1.281_551_6;
/// A goal is met within a round, which is then made to its end.
const LAST_ROUND: f64 = 0.5;
/// However overdue it is, what is before the first tenth takes at least this share of its rounds.
const ALMOST: f64 = 0.2;

/// Nine outcomes of a normal distribution that are equally probable, in standard deviations.
const OUTCOMES: [f64; 9] = [-1.59, -0.97, -0.59, -0.28, 0.0, 0.28, 0.59, 0.97, 1.59];
/// After so many rounds a way of equal rounds has shown how slow it is;
const ROUNDS_TO_SHOW: f64 = 2.0;
/// after this share of its rounds one that learns curvature.
const LATE_TO_SHOW: f64 = 0.7;

/// The mean over what is believed, as far as one would wait for it.
pub(super) fn on_average(forecast: &Forecast) -> f64 {
    let deviation = forecast.deviation.min(1.0);
    forecast.cost * (0.5 * deviation * deviation).exp()
}

/// What is left of the rounds to a tenth once some are made.
pub(super) fn left_of(first: f64, made: f64) -> f64 {
    (first - made).max(ALMOST * first)
}

/// What is left of the run if it goes this way from here, a switch to it included.
#[derive(Debug)]
pub(super) struct Forecast {
    pub way: usize,
    /// Rounds to the goal, or in the time.
    pub rounds: f64,
    /// Seconds of a round on average, and of the next ones.
    pub per_round: f64,
    pub next_round: f64,
    /// In the middle of what is believed.
    pub seconds: f64,
    /// The error at the deadline, in the middle.
    pub error: f64,
    /// The standard deviation of the logarithm of rounds to the goal.
    pub deviation: f64,
    /// Seconds, money, or error: what is asked to be small, in the sense of the risk that counts.
    pub cost: f64,
    /// Whether deadline and budget are thought to be kept.
    pub keeps: bool,
    /// Its part in a run of two ways, as the first or as the second.
    pub parts: Option<[Part; 2]>,
}

impl Navigator {
    pub(super) fn forecast(&self, way: usize, belief: &Belief, per_round: f64, next_round: f64) -> Forecast {
        let outlook = &self.outlooks[way];
        let Present { progress, seconds: spent, money, .. } = self.present;
        let begin = self.begin_seconds(way, next_round);
        let deviation = belief.deviation(way);
        let to_goal = self.rounds_left(way, belief.mean[way]);
        let price = outlook.price;
        match (self.asked.error, self.asked.within) {
            (None, Some(within)) => {
                let left = (within - spent).max(0.0);
                let rounds = ((left - begin) / per_round).max(0.0).floor();
                let after = |deviations: f64| self.error_after(way, belief, progress, rounds, deviations);
                let keeps = self
                    .asked
                    .budget
                    .is_none_or(|budget| price.is_some_and(|price| money + price * left <= budget));
                let cost = after(self.caution(1.0));
                Forecast {
                    way,
                    rounds,
                    per_round,
                    next_round,
                    seconds: left,
                    error: after(0.0),
                    deviation,
                    cost,
                    keeps,
                    parts: None,
                }
            }
            _ => {
                let seconds = begin + (to_goal + LAST_ROUND) * per_round;
                let at_worst = begin + (to_goal * (SURE * deviation).exp() + LAST_ROUND) * per_round;
                let keeps = self.asked.within.is_none_or(|within| spent + at_worst <= within)
                    && self
                        .asked
                        .budget
                        .is_none_or(|budget| price.is_some_and(|price| money + price * at_worst <= budget));
                let weight = if self.asked.cheapest { price.unwrap_or(f64::INFINITY) } else { 1.0 };
                let cost = weight * seconds * self.caution(deviation).exp();
                Forecast {
                    way,
                    rounds: to_goal,
                    per_round,
                    next_round,
                    seconds,
                    error: 0.0,
                    deviation,
                    cost,
                    keeps,
                    parts: None,
                }
            }
        }
    }

    /// What beginning this way takes on average, if it is left for the best of another kind once it shows that it is
    /// slower than that. Ways whose rounds are all alike show it after a few, the others when most of them are over.
    pub(super) fn expected(&self, first: &Forecast, all: &[Forecast]) -> f64 {
        let way = |forecast: &Forecast| &self.outlooks[forecast.way].way;
        let others =
            all.iter().filter(|other| way(other).can_take_over() && !way(other).is_kin_of(way(first)));
        let other = others
            .map(|other| on_average(other) + self.outlooks[other.way].switch)
            .fold(f64::INFINITY, f64::min);
        let outcomes = OUTCOMES.map(|deviations| {
            let takes = first.cost * (deviations * first.deviation).exp();
            let shown = match way(first).is_steady() {
                true => (ROUNDS_TO_SHOW * first.next_round).min(takes),
                false => LATE_TO_SHOW * takes,
            };
            takes.min(shown + other)
        });
        outcomes.iter().sum::<f64>() / outcomes.len() as f64
    }

    /// Seconds before the first round counts: the switch, and what the solver needs to find its feet.
    pub(super) fn begin_seconds(&self, way: usize, next_round: f64) -> f64 {
        let Outlook { switch, way: to, .. } = &self.outlooks[way];
        let reading = self.reading(to.workers);
        match self.present.way {
            Some(present) if present != way => reading + switch + to.rounds_to_settle_in() * next_round,
            _ => reading,
        }
    }

    /// Rounds from here to the goal. Until its error is a tenth a run says little of where it is: what it takes to get
    /// there is then counted from where the way began.
    fn rounds_left(&self, way: usize, mean: f64) -> f64 {
        let curve = &self.outlooks[way].rounds;
        let at = |x: f64| self.grid.at(curve, x) * mean.exp();
        let Present { progress, made, .. } = self.present;
        let end = self.grid.end();
        if let Some(made) = self.made_anew(way) {
            return (at(end) - made).max(ALMOST * at(end));
        }
        if self.present.way != Some(way) || progress >= BURNT_IN || end <= BURNT_IN {
            return (at(end) - at(progress.min(end))).max(0.0);
        }
        let first = at(BURNT_IN);
        left_of(first, made) + at(end) - first
    }

    /// The rounds that count for a way which makes nothing of what was reached before it began.
    fn made_anew(&self, way: usize) -> Option<f64> {
        let Present { way: present, progress, found, made, .. } = self.present;
        let begins = self.outlooks[way].begins_anew;
        match present == Some(way) {
            true => (begins && found > 0.0 && progress <= found).then_some(made),
            false => (begins && progress > 0.0).then_some(0.0),
        }
    }

    /// The error after so many rounds.
    pub(super) fn error_after(
        &self,
        way: usize,
        belief: &Belief,
        from: f64,
        rounds: f64,
        deviations: f64,
    ) -> f64 {
        let Outlook { rounds: curve, way: how, .. } = &self.outlooks[way];
        let factor = (-belief.mean[way] - deviations * belief.deviation(way)).exp();
        let before = match self.made_anew(way) {
            Some(made) => made * factor,
            None => self.grid.at(curve, from).max(self.made_before_a_tenth(way) * factor),
        };
        let reached = self.grid.inverse(curve, before + rounds * factor);
        let shows = !how.shows_late() || reached >= BURNT_IN;
        (-if shows { reached.max(from) } else { from }).exp()
    }

    /// The rounds that count though they have not shown in the error: until that is a tenth a run says little of where it
    /// is. Nobody relies on that who makes nothing of what others reached: if it is late, all is lost.
    fn made_before_a_tenth(&self, way: usize) -> f64 {
        let Present { way: present, progress, made, .. } = self.present;
        let Outlook { rounds, begins_anew, .. } = &self.outlooks[way];
        match present == Some(way) && progress < BURNT_IN && !begins_anew {
            true => made.min((1.0 - ALMOST) * self.grid.at(rounds, BURNT_IN)),
            false => 0.0,
        }
    }

    /// By how much a way is held to be slower than in the middle, in the logarithm. A run that turns out to be slow is
    /// left, so on average it is not as slow as the average of what is believed of its way.
    pub(super) fn caution(&self, deviation: f64) -> f64 {
        match self.asked.risk {
            Risk::Expected => 0.0,
            Risk::Quantile(share) => deviations(share) * deviation,
        }
    }

    /// A forecast as others see it.
    pub(super) fn candidate(&self, forecast: &Forecast) -> Candidate {
        let Forecast { way, rounds, per_round, seconds, deviation, .. } = *forecast;
        let outlook = &self.outlooks[way];
        let belief = self.believed();
        let half = TWENTIETH * deviation;
        let begin = seconds - (rounds + LAST_ROUND) * per_round;
        let times = |factor: f64| begin + (rounds * factor + LAST_ROUND) * per_round;
        let goal = self.asked.error.is_some();
        let known = rounds.is_finite();
        let fixed = |value: f64| Estimate { low: value, mean: value, high: value };
        let spread = |of: &dyn Fn(f64) -> f64| Estimate {
            low: of((-half).exp()),
            mean: of(1.0),
            high: of(half.exp()),
        };
        let after =
            |deviations: f64| self.error_after(way, &belief, self.present.progress, rounds, deviations);
        let to_deadline = !goal && self.asked.within.is_some();
        let error = (to_deadline && rounds >= 1.0).then(|| Estimate {
            low: after(-TWENTIETH),
            mean: after(0.0),
            high: after(TWENTIETH),
        });
        let rounds = match goal {
            true => known.then(|| spread(&|factor| (rounds * factor).max(1.0))),
            false => to_deadline.then(|| fixed(rounds)),
        };
        let price = outlook.price;
        Candidate {
            local_steps: outlook.way.local_steps(self.rows),
            algorithm: outlook.way.algorithm.clone(),
            workers: outlook.way.workers,
            rounds,
            seconds: (goal && known).then(|| spread(&times)),
            error,
            price_per_second: price,
            price: price.map(|price| price * seconds).filter(|price| price.is_finite()),
            warning: None,
        }
    }
}
