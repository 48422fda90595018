//! Two ways in sequence: one to an error of a tenth, another from there to the goal.
//!
//! Who comes near quickly need not be who arrives first. Gradients of many workers soon find good weights for a hinge,
//! but hardly prove them; one worker with duals proves them soon, but takes long to find them.

use super::belief::Belief;
use super::forecast::{Forecast, left_of};
use super::terrain::{BURNT_IN, TENTH};
use super::{Leg, Navigator, Plan, Present, Way};
use crate::Estimate;
use crate::distribution::TWENTIETH;

/// However few rounds it was foretold, a lead may take so many.
const LEAST_ALLOWED: f64 = 10.0;

/// Some rounds of a way, and what they cost in the sense of the risk that counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    rounds: f64,
    cost: f64,
}

/// The way that leads, and the way that ends the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relay<'a> {
    lead: &'a Forecast,
    then: &'a Forecast,
    parts: [Part; 2],
}

impl Relay<'_> {
    /// In the middle of what is believed.
    pub fn cost(&self) -> f64 {
        self.parts[0].cost + self.parts[1].cost
    }

    /// The same, if the lead is slower than that by a standard deviation.
    fn if_slow(&self) -> f64 {
        self.parts[0].cost * self.lead.deviation.exp() + self.parts[1].cost
    }

    fn spread(&self, of: impl Fn(&Part) -> f64) -> Estimate {
        let [early, late] = [of(&self.parts[0]), of(&self.parts[1])];
        let at = |deviations: f64| {
            early * (deviations * self.lead.deviation).exp() + late * (deviations * self.then.deviation).exp()
        };
        Estimate { low: at(-TWENTIETH), mean: at(0.0), high: at(TWENTIETH) }
    }
}

impl Navigator {
    /// What this way takes from here to a tenth, and what it takes from there if it takes over then; nothing where a tenth
    /// is behind or beyond the goal. `seconds` is what a round between two stages of progress takes.
    pub(super) fn parts(
        &self,
        way: usize,
        belief: &Belief,
        seconds: impl Fn(f64, f64) -> f64,
    ) -> Option<[Part; 2]> {
        let Present { way: present, progress, made, .. } = self.present;
        let end = self.grid.end();
        if self.asked.error.is_none() || self.asked.cheapest || progress >= BURNT_IN || end <= BURNT_IN {
            return None;
        }
        let outlook = &self.outlooks[way];
        // It was to lead as long as it is no slower than that.
        let allowed = self.grid.at(&outlook.rounds, BURNT_IN) * outlook.deviation.exp();
        if present == Some(way) && made > allowed.max(LEAST_ALLOWED) {
            return None;
        }
        let at = |x: f64| self.grid.at(&outlook.rounds, x) * belief.mean[way].exp();
        let caution = self.caution(belief.deviation(way)).exp();
        let part = |rounds: f64, begin: f64, from: f64, to: f64| Part {
            rounds,
            cost: (begin + rounds * seconds(from, to)) * caution,
        };
        let early =
            if present == Some(way) { left_of(at(BURNT_IN), made) } else { at(BURNT_IN) - at(progress) };
        let late = if outlook.begins_anew { at(end) } else { at(end) - at(BURNT_IN) };
        let settling = outlook.way.rounds_to_settle_in() * seconds(BURNT_IN, BURNT_IN);
        Some([
            part(early, self.begin_seconds(way, seconds(progress, progress)), progress, BURNT_IN),
            part(late, outlook.switch + self.reading(outlook.way.workers) + settling, BURNT_IN, end),
        ])
    }

    /// The best that begins with this way.
    pub(super) fn relay_from<'a>(&self, lead: &'a Forecast, all: &'a [Forecast]) -> Option<Relay<'a>> {
        let relays = all.iter().filter_map(|then| self.relay_of(lead, then));
        relays.min_by(|a, b| a.cost().total_cmp(&b.cost()))
    }

    /// The best of all, if it gains something over this way alone. Leads on many machines are not for small budgets.
    pub(super) fn relay_instead_of<'a>(&self, alone: &Forecast, all: &'a [Forecast]) -> Option<Relay<'a>> {
        let relays = all.iter().filter_map(|lead| self.relay_from(lead, all));
        let best = relays.min_by(|a, b| a.if_slow().total_cmp(&b.if_slow()))?;
        let gains = best.if_slow() * (1.0 + self.hysteresis) < alone.cost;
        (gains && best.then.keeps && self.asked.budget.is_none()).then_some(best)
    }

    fn relay_of<'a>(&self, lead: &'a Forecast, then: &'a Forecast) -> Option<Relay<'a>> {
        let [first, second] = [lead, then].map(|forecast| &self.outlooks[forecast.way]);
        let fit = first.leads && second.way.is_dual() && !self.failed[then.way];
        let relay = Relay { lead, then, parts: [lead.parts?[0], then.parts?[1]] };
        (fit && relay.cost().is_finite()).then_some(relay)
    }

    pub(super) fn told_in_two(&self, relay: &Relay) -> Plan {
        let [first, then] = [relay.lead, relay.then].map(|forecast| &self.outlooks[forecast.way]);
        let [early, late] = relay.parts;
        let leg = |way: &Way, until_error: f64| Leg { way: way.clone(), until_error };
        Plan {
            first: first.way.clone(),
            path: vec![leg(&first.way, TENTH), leg(&then.way, self.asked.error.unwrap_or(0.0))],
            seconds: Some(relay.spread(|part| part.cost)),
            error: None,
            rounds: Some(relay.spread(|part| part.rounds)),
            price: first.price.zip(then.price).map(|(a, b)| a * early.cost + b * late.cost),
        }
    }
}
