//! When a stage ends: deadline and money, on the training clock.

use hemingway_train::{Run, Seconds, Stop, StopRules};

use super::task::Task;

/// Training ends this early, so that what is planned on the way fits in.
pub(crate) const IN_TIME: f64 = 0.99;
/// A deadline that is missed by less than this share of it was kept, for those who look at a clock.
const PUNCTUAL: f64 = 0.05;

impl Task<'_> {
    /// When a stage ends: the limits of the run, less what was waited for before it began, and the money that is left.
    pub(super) fn stop(&self) -> StopRules {
        let within = self.deadline().into_iter().chain(self.paid_for()).reduce(f64::min);
        StopRules { within: within.map(Seconds), ..self.choice.stop }
    }

    /// The deadline on the training clock.
    fn deadline(&self) -> Option<f64> {
        self.choice
            .stop
            .within
            .map(|within| (IN_TIME * within.0 - self.planned_seconds()).max(f64::MIN_POSITIVE))
    }

    /// Until when the budget lasts, on the training clock.
    fn paid_for(&self) -> Option<f64> {
        let budget = self.request.planning.budget.zip(self.price());
        budget.map(|(budget, price)| self.bill.until(budget, price))
    }

    /// Money for a second of the present configuration, if machines have prices.
    pub(super) fn price(&self) -> Option<f64> {
        self.choice.cluster.as_ref().and_then(|cluster| cluster.price_per_second(self.choice.workers))
    }

    /// Why the run ended, as the user sees it: the clock may have stood for money.
    pub(super) fn reason_of(&self, stop: Stop) -> Stop {
        let money =
            self.paid_for().is_some_and(|paid| self.deadline().is_none_or(|deadline| paid < deadline));
        if stop == Stop::Within && money { Stop::Budget } else { stop }
    }

    pub(super) fn is_in_time(&self, outcome: &Run) -> bool {
        self.choice.stop.within.is_none_or(|within| outcome.seconds.0 <= (1.0 + PUNCTUAL) * within.0)
    }
}

/// What a run has cost.
#[derive(Default)]
pub(super) struct Bill {
    money: Option<f64>,
    /// The training clock up to which it is paid.
    until: f64,
}

impl Bill {
    pub fn begin(&mut self, seconds: f64) {
        self.until = seconds;
    }

    pub fn pay(&mut self, until: f64, price: Option<f64>) {
        if let Some(price) = price {
            *self.money.get_or_insert(0.0) += price * (until - self.until).max(0.0);
        }
        self.until = until;
    }

    /// Until when the rest of a budget lasts.
    pub fn until(&self, budget: f64, price: f64) -> f64 {
        self.until + (budget - self.money.unwrap_or(0.0)).max(0.0) / price.max(f64::MIN_POSITIVE)
    }

    pub fn paid(&self) -> Option<f64> {
        self.money
    }
}
