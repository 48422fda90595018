//! The two models of the paper and both together, each beside what runs did.

use hemingway_plan::{Combined, ConvergenceModel, Estimate, Observation, SystemModel, Target};

use super::accuracy::Check;
use super::trace::{GOALS, Round, Trace};
use crate::Error;

/// The models of one algorithm: f(m), g(i, m) and h(t, m).
pub(crate) struct Models {
    pub system: SystemModel,
    pub convergence: ConvergenceModel,
}

impl Models {
    /// Fits runs.
    pub fn fit<'a>(traces: impl Iterator<Item = &'a Trace> + Clone) -> Result<Models, Error> {
        let progress: Vec<Observation> = traces.clone().flat_map(Trace::observations).collect();
        let times: Vec<Observation> =
            traces.flat_map(|trace| trace.whole_rounds().observations().collect::<Vec<_>>()).collect();
        let system = SystemModel::fit(&times).map_err(|error| unfit(&error))?;
        let convergence =
            ConvergenceModel::fit(&progress, Target::SubOptimality).map_err(|error| unfit(&error))?;
        Ok(Models { system, convergence })
    }

    fn combined(&self) -> Combined<'_> {
        Combined::new(&self.system, &self.convergence)
    }

    /// One pair of models for each run, fitted without it.
    pub fn without_each(traces: &[Trace]) -> Result<Vec<Models>, Error> {
        let others = |workers: usize| traces.iter().filter(move |trace| trace.workers != workers);
        std::thread::scope(|scope| {
            let fit = |left_out: &Trace| {
                let others = others(left_out.workers);
                scope.spawn(|| Models::fit(others))
            };
            let fits: Vec<_> = traces.iter().map(fit).collect();
            fits.into_iter().map(|fit| fit.join().expect("a fit ends")).collect()
        })
    }

    /// Seconds per round.
    pub fn seconds_per_round(&self, workers: usize) -> Estimate {
        self.system.seconds_per_iteration(workers, 1.0)
    }

    /// The sub-optimality after a round.
    pub fn after_round(&self, workers: usize, round: u64) -> Estimate {
        self.convergence.value(workers, round)
    }

    /// The sub-optimality at a moment; nothing before the first round is over.
    pub fn at_time(&self, workers: usize, seconds: f64) -> Option<Estimate> {
        self.combined().value_at(workers, seconds)
    }

    /// Predicted gaps beside those of a run, by round.
    pub fn check_rounds(&self, trace: &Trace) -> Vec<Check> {
        let predicted = |round: &Round| self.after_round(trace.workers, round.number);
        trace.points.iter().map(|round| Check { predicted: predicted(round), truth: round.gap }).collect()
    }

    /// Predicted gaps beside those of a run, by time: halfway to the next round, where no hair decides which it is.
    pub fn check_times(&self, trace: &Trace) -> Vec<Check> {
        let check = |(round, next): (&Round, &Round)| {
            let predicted = self.at_time(trace.workers, (round.seconds + next.seconds) / 2.0)?;
            Some(Check { predicted, truth: round.gap })
        };
        trace.points.iter().zip(trace.points.iter().skip(1)).filter_map(check).collect()
    }

    /// Predicted rounds to each sub-optimality that a run reached after its first round.
    pub fn check_goals(&self, trace: &Trace) -> Vec<Check> {
        let predicted = |goal: f64| self.convergence.iterations_to(trace.workers, goal);
        reached(trace).map(|(goal, round)| beside(predicted(goal), round.number as f64)).collect()
    }

    /// Predicted seconds to each sub-optimality that a run reached after its first round.
    pub fn check_goals_in_time(&self, trace: &Trace) -> Vec<Check> {
        let predicted = |goal: f64| self.combined().seconds_to(trace.workers, goal);
        reached(trace).map(|(goal, round)| beside(predicted(goal), round.seconds)).collect()
    }

    /// Predicted seconds per round beside what rounds took that visit every row.
    pub fn check_speed(&self, trace: &Trace) -> Option<Check> {
        let truth = trace.whole_rounds().seconds_per_round()?;
        Some(Check { predicted: self.seconds_per_round(trace.workers), truth })
    }
}

fn reached(trace: &Trace) -> impl Iterator<Item = (f64, Round)> {
    let reached = |goal: f64| Some((goal, trace.reached(goal).filter(|round| round.number > 1)?));
    GOALS.into_iter().filter_map(reached)
}

/// What is predicted never to happen is off without measure.
fn beside(predicted: Option<Estimate>, truth: f64) -> Check {
    let never = Estimate { low: f64::INFINITY, mean: f64::INFINITY, high: f64::INFINITY };
    Check { predicted: predicted.unwrap_or(never), truth }
}

fn unfit(problem: &dyn std::fmt::Display) -> Error {
    Error::Unfit { problem: problem.to_string() }
}
