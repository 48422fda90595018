//! EXPLAIN: which way to train does what is asked, from experience and a few short runs; trains nothing to the end.
//!
//! One look at the data says which algorithms are out of the question: those that do not suit it, and those that would
//! at best take longer than another at worst. What the store knows of this problem on these machines is used first. An algorithm of which it knows too little gets
//! pilots: short runs on one worker, on the most, and on a number between. They stay in the store, so the next question
//! about this problem needs none.

use std::collections::BTreeSet;

use hemingway_plan::{
    Candidate, Combined, ConvergenceModel, Decision, Estimate, Glance, Observation, Rejected, Requirement,
    Risk, SystemModel, Target, decide, prior,
};
use hemingway_train::{Cluster, StopRules};
use serde::Serialize;

use crate::{
    DatasetSummary, Error, Experiment, Family, MeasureRequest, MeasureWatch, Measured, Place, Store,
    TrainRequest, choose, families, measure, prepare, request::positive,
};

/// A pilot has this many rounds.
const PILOT_ROUNDS: u64 = 12;
/// An algorithm is known once it ran on so many different numbers of workers.
const ENOUGH: usize = 3;

/// What is to be explained.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainRequest {
    /// The problem, and where it would run.
    pub base: TrainRequest,
    /// What is asked for.
    pub asked: Requirement,
    /// The algorithms to choose from; all that suit the data if not given.
    pub algorithms: Option<Vec<String>>,
    /// The numbers of workers to choose from.
    pub workers: Vec<usize>,
}

/// The plan with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// What is asked for.
    pub asked: Requirement,
    /// What the data is like.
    pub dataset: DatasetSummary,
    /// The plan, the alternatives, and what was rejected.
    #[serde(flatten)]
    pub decision: Decision,
    /// Algorithms whose earlier runs sufficed, with how many there were.
    pub reused: Vec<Reused>,
    /// Runs that were made to find out.
    pub pilots: usize,
    /// What they took, on the training clock.
    pub overhead_seconds: f64,
}

/// Earlier runs that were used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reused {
    /// Of which algorithm.
    pub algorithm: String,
    /// How many.
    pub runs: usize,
}

/// Plans without training: pilots where too little is known, then the decision.
pub fn explain(
    request: &ExplainRequest,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Explanation, Error> {
    request.check()?;
    let (dataset, glance) = prepare::glance(&request.base)?;
    let request = &request.with_at_most(dataset.rows)?;
    let (algorithms, unsuited) = request.suited(&glance)?;
    let known = experience(request, &algorithms, place)?;
    let enough = |name: &&String| known.iter().any(|family| is_enough(family, name, request));
    let (reused, unknown): (Vec<&String>, Vec<&String>) = algorithms.iter().partition(enough);
    let of = |name: &String| Reused { algorithm: name.clone(), runs: runs_of(&known, name) };
    let reused = reused.into_iter().map(of).collect();
    let unknown: Vec<String> = unknown.into_iter().cloned().collect();
    let pilots = request.pilots(&unknown, place, watch)?;
    let known = if pilots.is_empty() { known } else { experience(request, &algorithms, place)? };
    let cluster = choose(&request.base)?.cluster;
    let candidates = known.iter().flat_map(|family| candidates(family, request, cluster.as_ref()));
    let mut decision = decide(candidates.collect(), &request.asked);
    decision.rejected.splice(0..0, unsuited);
    Ok(Explanation {
        asked: request.asked,
        dataset,
        decision,
        reused,
        overhead_seconds: pilots.iter().filter_map(Measured::report).map(|report| report.seconds).sum(),
        pilots: pilots.len(),
    })
}

/// The families of the store on this problem and these machines.
fn experience(request: &ExplainRequest, algorithms: &[String], place: &Place) -> Result<Vec<Family>, Error> {
    let Some(store) = Store::open_if_there(place)? else { return Ok(Vec::new()) };
    let choice = choose(&request.base)?;
    let base = request.base.clone().with_absolute_paths();
    let same = |family: &Family| {
        family.problem.as_ref().is_some_and(|problem| {
            (&problem.data, problem.loss, problem.lambda, problem.bias)
                == (&base.data, base.loss, base.lambda, base.bias)
                && problem.engine == choice.engine
                && (choice.cluster.is_none() || problem.cluster == choice.cluster)
        }) && algorithms.contains(&family.algorithm)
    };
    Ok(families(&store)?.into_iter().filter(same).collect())
}

fn is_enough(family: &Family, algorithm: &str, request: &ExplainRequest) -> bool {
    let on: BTreeSet<usize> = family.observations.iter().map(|seen| seen.workers).collect();
    family.algorithm == algorithm && on.len() >= ENOUGH.min(request.workers.len())
}

fn runs_of(families: &[Family], algorithm: &str) -> usize {
    let of = families.iter().filter(|family| family.algorithm == algorithm);
    of.flat_map(|family| family.observations.iter().map(|seen| &seen.run)).collect::<BTreeSet<_>>().len()
}

impl ExplainRequest {
    /// Refuses requirements that cannot be meant.
    fn check(&self) -> Result<(), Error> {
        let Requirement { error, within, budget, risk, .. } = self.asked;
        let share = if let Risk::Quantile(share) = risk { Some(share) } else { None };
        positive("--error", error)?;
        positive("--within", within)?;
        positive("--budget", budget)?;
        match share {
            Some(share) if !(share > 0.0 && share < 1.0) => {
                Err(Error::OutOfRange { name: "--risk", value: share, expected: "between 0 and 1" })
            }
            _ => Ok(()),
        }
    }

    /// The same with the numbers of workers that the rows suffice for.
    fn with_at_most(&self, rows: usize) -> Result<ExplainRequest, Error> {
        let workers: Vec<usize> = self.workers.iter().copied().filter(|workers| *workers <= rows).collect();
        match self.workers.iter().min() {
            Some(&workers) if workers > rows => {
                Err(hemingway_train::Error::TooManyWorkers { workers, rows }.into())
            }
            _ => Ok(ExplainRequest { workers, ..self.clone() }),
        }
    }

    /// The algorithms worth a look, and why the others are not.
    fn suited(&self, glance: &Glance) -> Result<(Vec<String>, Vec<Rejected>), Error> {
        if let Some(named) = &self.algorithms {
            return Ok((named.clone(), Vec::new()));
        }
        let mut rejected = Vec::new();
        let mut reject =
            |name: &str, reason: String| rejected.push(Rejected { name: name.to_owned(), reason });
        let names = hemingway_train::catalogue().iter().map(|entry| entry.name);
        let mut left: Vec<&str> = Vec::new();
        for name in names {
            match prior::unsuited(glance, name) {
                Some(reason) => reject(name, reason),
                None => left.push(name),
            }
        }
        let cluster = choose(&self.base)?.cluster;
        if let (Some(cluster), Some(error)) = (cluster, self.asked.error) {
            let seconds = |name: &str| self.at_a_glance(glance, name, &cluster, error);
            let expected: Vec<(&str, Estimate)> =
                left.iter().filter_map(|name| Some((*name, seconds(name)?))).collect();
            let sure = expected.iter().map(|(_, seconds)| seconds.high).fold(f64::INFINITY, f64::min);
            for (name, seconds) in expected.iter().filter(|(_, seconds)| seconds.low > sure) {
                let low = seconds.low;
                reject(
                    name,
                    format!("at a glance at least {low:.3} s, where another takes at most {sure:.3} s"),
                );
                left.retain(|other| other != name);
            }
        }
        Ok((left.into_iter().map(str::to_owned).collect(), rejected))
    }

    /// Seconds to an error on the best number of workers, before anything has run.
    fn at_a_glance(&self, glance: &Glance, name: &str, cluster: &Cluster, error: f64) -> Option<Estimate> {
        let on = |workers: &usize| {
            let Estimate { low, mean, high } = prior::rounds_to(glance, name, *workers, 1.0, error)?;
            let each = prior::seconds_per_round(glance, name, *workers, 1.0, cluster)?;
            Some(Estimate { low: low * each, mean: mean * each, high: high * each })
        };
        self.workers.iter().filter_map(on).min_by(|a, b| a.mean.total_cmp(&b.mean))
    }

    fn pilots(
        &self,
        algorithms: &[String],
        place: &Place,
        watch: &mut MeasureWatch,
    ) -> Result<Vec<Measured>, Error> {
        let mut base = self.base.clone();
        base.stop = StopRules { error: Some(self.asked.error.unwrap_or(1e-4)), ..StopRules::default() };
        let experiments = Experiment::grid(algorithms, &self.few_workers(), &[1.0], PILOT_ROUNDS);
        measure(&MeasureRequest { base, experiments }, place, watch)
    }

    /// The fewest, the most, and what is half-way between in doublings.
    fn few_workers(&self) -> Vec<usize> {
        let mut all = self.workers.clone();
        all.sort_unstable();
        all.dedup();
        let few: BTreeSet<usize> = [0, all.len() / 2, all.len().saturating_sub(1)]
            .into_iter()
            .filter_map(|k| all.get(k).copied())
            .collect();
        few.into_iter().collect()
    }
}

/// What the models of a family say about every number of workers.
fn candidates(family: &Family, request: &ExplainRequest, cluster: Option<&Cluster>) -> Vec<Candidate> {
    let bare = |workers: usize| Candidate {
        algorithm: family.algorithm.clone(),
        workers,
        local_steps: family.problem.as_ref().and_then(|problem| problem.parameters.local_steps),
        rounds: None,
        seconds: None,
        error: None,
        price_per_second: cluster.and_then(|cluster| cluster.price_per_second(workers)),
        price: None,
        warning: None,
    };
    let proved = on_all_rows(&family.proved);
    let models = SystemModel::fit(&family.observations)
        .ok()
        .zip(ConvergenceModel::fit(&proved, Target::SubOptimality).ok());
    let predict = |workers: usize| match &models {
        Some((system, convergence)) => {
            predicted(bare(workers), &Combined::new(system, convergence), &request.asked)
        }
        None => bare(workers),
    };
    request.workers.iter().copied().map(predict).collect()
}

fn predicted(mut way: Candidate, model: &Combined, asked: &Requirement) -> Candidate {
    match (asked.error, asked.within) {
        (Some(error), _) => {
            way.rounds = model.convergence.iterations_to(way.workers, 1.0, error);
            way.seconds = model.seconds_to(way.workers, error);
        }
        (None, Some(within)) => {
            way.rounds = model.iterations_in(way.workers, within);
            way.error = model.value_at(way.workers, within);
        }
        (None, None) => {}
    }
    let seconds = way.seconds.as_ref().map(|seconds| seconds.mean).or(asked.within);
    way.price = way.price_per_second.zip(seconds).map(|(price, seconds)| price * seconds);
    let last = way.rounds.as_ref().map_or(1, |rounds| rounds.mean as u64);
    way.warning = model.extrapolation(way.workers, last);
    way
}

fn on_all_rows(observations: &[Observation]) -> Vec<Observation> {
    observations.iter().filter(|seen| seen.fraction == 1.0).cloned().collect()
}
