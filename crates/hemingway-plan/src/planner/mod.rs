//! The decision: of all ways to train, the one that does best what the user asks for.
//!
//! Each candidate comes with what is predicted of it, intervals included. Those that cannot do what is asked are
//! rejected, with the reason; of the others the best comes first. "Best" looks at the whole predicted distribution: what
//! a way takes on average, or what it stays below in a given share of cases for those who would rather be sure.

use serde::{Deserialize, Serialize};

use crate::Estimate;
use crate::distribution::TWENTIETH;

/// A deadline or a budget is thought to be kept if it is kept in this share of cases.
const SURE: f64 = 0.9;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Requirement {
    /// The relative error to reach; without one, as small as can be.
    pub error: Option<f64>,
    /// Seconds that may pass.
    pub within: Option<f64>,
    /// Money that may be spent.
    pub budget: Option<f64>,
    /// Whether less money is better than less time.
    pub cheapest: bool,
    /// What counts of a distribution.
    pub risk: Risk,
}

/// What counts of a distribution of times, prices or errors.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// The average.
    #[default]
    Expected,
    /// What a share of cases, from 0 to 1, stays below.
    Quantile(f64),
}

/// One way to train, with what is predicted of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The algorithm.
    pub algorithm: String,
    /// On how many workers.
    pub workers: usize,
    /// Steps of a worker in a round; the algorithm's own number if not given.
    pub local_steps: Option<usize>,
    /// Rounds to the goal, or in the time.
    pub rounds: Option<Estimate>,
    /// Seconds to the goal.
    #[serde(rename = "predicted_seconds")]
    pub seconds: Option<Estimate>,
    /// The relative error after the time, where no goal is given.
    #[serde(rename = "predicted_error")]
    pub error: Option<Estimate>,
    /// Money for a second of it, if prices are known.
    #[serde(skip)]
    pub price_per_second: Option<f64>,
    /// Money to the goal, or for the time.
    pub price: Option<f64>,
    /// What is extrapolated, and how far.
    pub warning: Option<String>,
}

/// A way that cannot do what is asked, or that is not worth a look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// The algorithm, and the workers if they are the reason.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The best way; none if nothing can do what is asked.
    pub plan: Option<Candidate>,
    /// The others that could, the best first.
    pub alternatives: Vec<Candidate>,
    /// Those that could not.
    pub rejected: Vec<Rejected>,
}

/// Orders candidates by what is asked for.
pub fn decide(candidates: Vec<Candidate>, asked: &Requirement) -> Decision {
    let mut rejected = Vec::new();
    let mut possible: Vec<(f64, Candidate)> = Vec::new();
    for candidate in candidates {
        match asked.judge(&candidate) {
            Ok(cost) => possible.push((cost, candidate)),
            Err(reason) => rejected.push(Rejected { name: candidate.name(), reason }),
        }
    }
    possible.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.workers.cmp(&b.1.workers)));
    let mut ordered = possible.into_iter().map(|(_, candidate)| candidate);
    Decision { plan: ordered.next(), alternatives: ordered.collect(), rejected }
}

impl Requirement {
    /// What a candidate costs in the sense of the requirement, or why it is out of the question.
    fn judge(&self, candidate: &Candidate) -> Result<f64, String> {
        let Some(error) = self.error else {
            let error = candidate.error.as_ref().ok_or("nothing is predicted to happen in the time")?;
            self.check_budget(candidate)?;
            return Ok(self.risk.of(error));
        };
        let seconds = candidate
            .seconds
            .as_ref()
            .ok_or_else(|| format!("an error of {error:e} is not seen to be reached"))?;
        self.check_deadline(seconds)?;
        self.check_budget(candidate)?;
        match candidate.price_per_second {
            Some(price) if self.cheapest => Ok(price * self.risk.of(seconds)),
            None if self.cheapest => Err("its price is not known".to_owned()),
            _ => Ok(self.risk.of(seconds)),
        }
    }

    fn check_deadline(&self, seconds: &Estimate) -> Result<(), String> {
        let Some(within) = self.within else { return Ok(()) };
        let sure = seconds.share_below(within);
        if sure >= SURE {
            return Ok(());
        }
        Err(format!(
            "in time with a chance of {:.0} %: predicted to take {:.3} s",
            100.0 * sure,
            seconds.mean
        ))
    }

    fn check_budget(&self, candidate: &Candidate) -> Result<(), String> {
        let Some(budget) = self.budget else { return Ok(()) };
        let Some(price) = candidate.price_per_second else { return Err("its price is not known".to_owned()) };
        let seconds = candidate.seconds.as_ref().map(|seconds| seconds.quantile(SURE)).or(self.within);
        match seconds.map(|seconds| seconds * price) {
            Some(cost) if cost <= budget => Ok(()),
            Some(cost) => Err(format!("would cost up to {cost:.4}")),
            None => Ok(()),
        }
    }
}

impl Risk {
    /// The figure that counts.
    pub fn of(self, estimate: &Estimate) -> f64 {
        match self {
            Risk::Quantile(share) => estimate.quantile(share),
            // Of a log-normal, by the wider side. Whatever takes far longer than in the middle is given up before that.
            Risk::Expected if estimate.low > 0.0 && estimate.mean > 0.0 => {
                let deviation = ((estimate.high / estimate.mean).ln().max(0.0) / TWENTIETH).min(1.0);
                estimate.mean * (0.5 * deviation * deviation).exp()
            }
            Risk::Expected => estimate.mean,
        }
    }
}

impl Candidate {
    /// `cocoa on 8 workers`.
    pub fn name(&self) -> String {
        format!("{} on {} worker{}", self.algorithm, self.workers, if self.workers == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(algorithm: &str, workers: usize, seconds: Option<[f64; 3]>, price: f64) -> Candidate {
        Candidate {
            algorithm: algorithm.into(),
            workers,
            local_steps: None,
            rounds: None,
            seconds: seconds.map(|[low, mean, high]| Estimate { low, mean, high }),
            error: None,
            price_per_second: Some(price),
            price: None,
            warning: None,
        }
    }

    fn candidates() -> Vec<Candidate> {
        vec![
            candidate("a", 1, Some([9.0, 10.0, 11.0]), 1.0),
            candidate("a", 8, Some([1.0, 8.0, 64.0]), 8.0),
            candidate("b", 4, Some([3.6, 4.0, 4.4]), 4.0),
            candidate("c", 2, None, 2.0),
        ]
    }

    fn chosen(asked: Requirement) -> Option<String> {
        decide(candidates(), &asked).plan.map(|plan| plan.name())
    }

    #[test]
    fn the_fastest_the_cheapest_and_those_that_cannot() {
        let fast = Requirement { error: Some(1e-3), ..Requirement::default() };
        assert_eq!(chosen(fast).unwrap(), "b on 4 workers");
        assert_eq!(chosen(Requirement { cheapest: true, ..fast }).unwrap(), "a on 1 worker");
        let hasty = Requirement { cheapest: true, within: Some(5.0), ..fast };
        assert_eq!(chosen(hasty).unwrap(), "b on 4 workers");
        assert_eq!(chosen(Requirement { within: Some(1.0), ..fast }), None);
        assert_eq!(chosen(Requirement { budget: Some(11.0), ..fast }).unwrap(), "a on 1 worker");
        let decision = decide(candidates(), &fast);
        assert_eq!(decision.rejected[0].name, "c on 2 workers");
        assert_eq!(decision.alternatives.len(), 2);
    }

    #[test]
    fn doubt_counts_against_a_way() {
        let with = |risk| Requirement { error: Some(1e-3), risk, ..Requirement::default() };
        let two = || candidates().into_iter().filter(|c| c.algorithm == "a").collect::<Vec<_>>();
        let plan = |risk| decide(two(), &with(risk)).plan.unwrap().workers;
        assert_eq!(plan(Risk::Quantile(0.5)), 8);
        assert_eq!(plan(Risk::Quantile(0.9)), 1);
        assert_eq!(plan(Risk::Expected), 1, "8 s in the middle, but far more on average");
    }

    #[test]
    fn without_a_goal_the_smallest_error_in_the_time() {
        let mut ways = candidates();
        for (way, error) in ways.iter_mut().zip([0.1, 0.05, 0.2]) {
            way.error = Some(Estimate { low: 0.9 * error, mean: error, high: 1.1 * error });
        }
        let decision = decide(ways, &Requirement { within: Some(5.0), ..Requirement::default() });
        assert_eq!(decision.plan.unwrap().name(), "a on 8 workers");
        assert!(decision.rejected[0].reason.contains("nothing is predicted"));
    }
}
