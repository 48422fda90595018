//! The two models of the paper and what follows from both: h(t, m) = g(t / f(m), m).

use hemingway_plan::{ConvergenceModel, Estimate, Observation, SystemModel, Target};

use super::accuracy::Check;
use super::trace::{GOALS, Round, Trace};
use crate::Error;

/// Both models of one algorithm.
pub(crate) struct Models {
    pub system: SystemModel,           // f(m)
    pub convergence: ConvergenceModel, // g(i, m)
}

impl Models {
    /// Learns from runs.
    pub fn fit<'a>(traces: impl Iterator<Item = &'a Trace>) -> Result<Models, Error> {
        let observations: Vec<Observation> = traces.flat_map(Trace::observations).collect();
        let system = SystemModel::fit(&observations).map_err(|error| unfit(&error))?;
        let convergence =
            ConvergenceModel::fit(&observations, Target::SubOptimality).map_err(|error| unfit(&error))?;
        Ok(Models { system, convergence })
    }

    /// One pair of models for each run, which has not seen it.
    pub fn without_each(traces: &[Trace]) -> Result<Vec<Models>, Error> {
        let others = |workers: usize| traces.iter().filter(move |trace| trace.workers != workers);
        traces.iter().map(|left_out| Models::fit(others(left_out.workers))).collect()
    }

    /// Seconds per round.
    pub fn seconds_per_round(&self, workers: usize) -> f64 {
        self.system.seconds_per_iteration(workers, 1.0).mean
    }

    /// The sub-optimality after a round.
    pub fn after_round(&self, workers: usize, round: u64) -> Estimate {
        self.convergence.value(workers, round)
    }

    /// The sub-optimality at a moment; between two rounds the logarithm is straight.
    pub fn at_time(&self, workers: usize, seconds: f64) -> Estimate {
        let rounds = (seconds / self.seconds_per_round(workers)).max(1.0);
        let [before, after] = [rounds.floor(), rounds.floor() + 1.0].map(|i| self.after_round(workers, i as u64));
        let between = |a: f64, b: f64| (a.ln() + (b.ln() - a.ln()) * rounds.fract()).exp();
        Estimate {
            low: between(before.low, after.low),
            mean: between(before.mean, after.mean),
            high: between(before.high, after.high),
        }
    }

    /// Predicted gaps beside those of a run, by round.
    pub fn check_rounds(&self, trace: &Trace) -> Vec<Check> {
        let check = |round: &Round| Check {
            predicted: self.after_round(trace.workers, round.number),
            truth: round.gap,
        };
        trace.points.iter().map(check).collect()
    }

    /// Predicted gaps beside those of a run, by time.
    pub fn check_times(&self, trace: &Trace) -> Vec<Check> {
        let check = |round: &Round| Check {
            predicted: self.at_time(trace.workers, round.seconds),
            truth: round.gap,
        };
        trace.points.iter().map(check).collect()
    }

    /// Predicted rounds to each sub-optimality that a run reached after its first round.
    pub fn check_goals(&self, trace: &Trace) -> Vec<Check> {
        let never = Estimate { low: f64::INFINITY, mean: f64::INFINITY, high: f64::INFINITY };
        let check = |goal: f64| {
            let reached = trace.reached(goal).filter(|round| round.number > 1)?;
            let predicted = self.convergence.iterations_to(trace.workers, goal).unwrap_or(never.clone());
            Some(Check { predicted, truth: reached.number as f64 })
        };
        GOALS.into_iter().filter_map(check).collect()
    }

    /// Predicted seconds per round beside what a run took.
    pub fn check_speed(&self, trace: &Trace) -> Option<Check> {
        let last = trace.points.last()?;
        let predicted = self.system.seconds_per_iteration(trace.workers, 1.0);
        Some(Check { predicted, truth: last.seconds / last.number as f64 })
    }
}

fn unfit(problem: &dyn std::fmt::Display) -> Error {
    Error::Unfit { problem: problem.to_string() }
}
