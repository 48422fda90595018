//! Experiments that are chosen one after the other, each for how much it narrows predictions, until a budget is used.
//!
//! What is chosen depends on nothing but the runs before it, so the same command makes the same choices again and finds
//! its runs in the store: it goes on where it was interrupted.

use hemingway_plan::{Criterion, Observation, Question, next_experiments};
use hemingway_train::{Point, Seconds, Stop};

use crate::experience::observation;
use crate::{Error, Experiment, MeasureRequest, MeasureWatch, Measured, Place, Store, TrainRequest, measure};

/// No more runs than this for one algorithm: by then there is nothing left to find out.
const MOST: usize = 64;

/// What may be run, and for how long in all.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignRequest {
    /// What all runs have in common; the error goal is the one that predictions are wanted for.
    pub base: TrainRequest,
    /// Each gets the same part of the budget.
    pub algorithms: Vec<String>,
    /// Numbers of workers of interest.
    pub workers: Vec<usize>,
    /// Shares of the rows that may be used.
    pub fractions: Vec<f64>,
    /// No run is longer.
    pub rounds: u64,
    /// Training time for all runs together.
    pub budget: Seconds,
}

/// Makes the runs that narrow predictions most within the budget, and returns them with what became of each.
pub fn measure_within(
    request: &DesignRequest,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Vec<(Experiment, Measured)>, Error> {
    let all = Experiment::grid(&request.algorithms, &request.workers, &request.fractions, request.rounds);
    MeasureRequest { base: request.base.clone(), experiments: all }.check()?;
    let mut outcomes = Vec::new();
    for algorithm in &request.algorithms {
        let budget = request.budget.0 / request.algorithms.len() as f64;
        outcomes.extend(Series { request, algorithm, budget, known: Vec::new() }.run(place, watch)?);
        if outcomes.last().is_some_and(|(_, outcome)| is_interrupted(outcome)) {
            break;
        }
    }
    Ok(outcomes)
}

/// The experiments with one algorithm.
struct Series<'a> {
    request: &'a DesignRequest,
    algorithm: &'a str,
    /// What is left of it.
    budget: f64,
    known: Vec<Observation>,
}

impl Series<'_> {
    fn run(mut self, place: &Place, watch: &mut MeasureWatch) -> Result<Vec<(Experiment, Measured)>, Error> {
        let mut outcomes: Vec<(Experiment, Measured)> = Vec::new();
        while outcomes.len() < MOST {
            let made = |wanted: &Experiment| outcomes.iter().any(|(made, _)| made == wanted);
            let batch: Vec<Experiment> = self.next().into_iter().filter(|wanted| !made(wanted)).collect();
            if batch.is_empty() {
                break;
            }
            for experiment in batch {
                let outcome = self.make(&experiment, place, watch)?;
                let end = is_interrupted(&outcome);
                outcomes.push((experiment, outcome));
                if end {
                    return Ok(outcomes);
                }
            }
        }
        Ok(outcomes)
    }

    /// A first few together while nothing is known, later the best one alone.
    fn next(&self) -> Vec<Experiment> {
        let DesignRequest { base, workers, fractions, rounds, .. } = self.request;
        let question = Question {
            fractions: fractions.clone(),
            goal: base.stop.error,
            criterion: Criterion::Average,
            ..Question::new(workers.clone(), *rounds)
        };
        let mut next = next_experiments(&self.known, &question, self.budget);
        if !self.known.is_empty() {
            next.truncate(1);
        }
        let as_run = |chosen: hemingway_plan::Experiment| Experiment {
            algorithm: self.algorithm.to_owned(),
            workers: chosen.workers,
            fraction: chosen.fraction,
            rounds: chosen.rounds,
        };
        next.into_iter().map(as_run).collect()
    }

    fn make(
        &mut self,
        experiment: &Experiment,
        place: &Place,
        watch: &mut MeasureWatch,
    ) -> Result<Measured, Error> {
        let one = MeasureRequest { base: self.request.base.clone(), experiments: vec![experiment.clone()] };
        let outcome = measure(&one, place, watch)?.remove(0);
        if let Some(report) = outcome.report() {
            self.budget -= report.seconds;
            self.known.extend(observations(&Store::open_existing(place)?, &report.run)?);
        }
        Ok(outcome)
    }
}

/// A run in time and in proved error, which is what the goal is about.
fn observations(store: &Store, run: &str) -> Result<Vec<Observation>, Error> {
    let run = store.run(run)?;
    let proved = |error: f64| error.is_finite() && error > 0.0;
    let points = store.points(&run)?.into_iter().filter(|point| point.round > 0);
    let observed = |point: Point| {
        let observed = observation(&run, &point, point.certified_error);
        Observation { value: observed.value.filter(|error| proved(*error)), ..observed }
    };
    Ok(points.map(observed).collect())
}

fn is_interrupted(outcome: &Measured) -> bool {
    outcome.report().is_some_and(|report| report.stop == Stop::Interrupted)
}
