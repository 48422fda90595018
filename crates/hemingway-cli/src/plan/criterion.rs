//! What candidates are compared by, and how that is written.

use hemingway::{Candidate, Explanation, Risk};

use crate::words;

/// What candidates are compared by.
pub struct Criterion {
    what: What,
    risk: Risk,
    /// Profile and planning: part of every time, whatever the configuration.
    pub before: f64,
}

enum What {
    Seconds,
    Cost,
    Error,
}

impl Criterion {
    /// Where a goal cannot be reached in the time, candidates are compared by their errors.
    pub fn of(explanation: &Explanation) -> Criterion {
        let plan = explanation.decision.plan.as_ref();
        let what = match plan.is_some_and(|plan| plan.error.is_some()) {
            true => What::Error,
            false if explanation.goal.cheapest => What::Cost,
            false => What::Seconds,
        };
        Criterion { what, risk: explanation.goal.risk, before: explanation.before_seconds() }
    }

    /// `expected time`, or `time that 90 % of cases stay below`.
    pub fn name(&self) -> String {
        let what = self.noun();
        match (self.risk, &self.what) {
            (Risk::Quantile(share), _) => {
                format!("the {what} that {} of cases stay below", words::percent(share))
            }
            (Risk::Expected, What::Error) => format!("median {what}"),
            (Risk::Expected, _) => format!("expected {what}"),
        }
    }

    /// The name of its column; none if the column of medians has it.
    pub fn column(&self) -> Option<String> {
        match (self.risk, &self.what) {
            (Risk::Expected, What::Error) => None,
            (Risk::Expected, What::Cost) => Some("expected cost".to_owned()),
            (Risk::Expected, What::Seconds) => Some("expected".to_owned()),
            (Risk::Quantile(share), _) => Some(format!("{}, {}", self.noun(), words::percent(share))),
        }
    }

    /// Its value.
    pub fn write(&self, candidate: &Candidate) -> String {
        match self.what {
            What::Seconds => words::predicted_duration(candidate.criterion + self.before),
            What::Cost => words::cost(candidate.criterion),
            What::Error => words::predicted_error(candidate.criterion),
        }
    }

    /// `expected time 830 ms`; nothing where the median says it.
    pub fn said_of(&self, candidate: &Candidate) -> Option<String> {
        if candidate.seconds.is_none() && candidate.error.is_none() {
            return None;
        }
        let value = self.write(candidate);
        match self.risk {
            Risk::Quantile(share) => {
                Some(format!("{} {value} or less in {} of cases", self.noun(), words::percent(share)))
            }
            Risk::Expected => self.column().map(|_| format!("{} {value}", self.name())),
        }
    }

    /// What a median time is called beside it.
    pub fn median_time(&self) -> &'static str {
        if matches!(self.what, What::Seconds) { "median" } else { "median time" }
    }

    /// Money at the median time, unless candidates are compared by money already.
    pub fn cost_of(&self, candidate: &Candidate) -> Option<String> {
        candidate.cost.filter(|_| !matches!(self.what, What::Cost)).map(words::cost)
    }

    fn noun(&self) -> &'static str {
        match self.what {
            What::Seconds => "time",
            What::Cost => "cost",
            What::Error => "error",
        }
    }
}
