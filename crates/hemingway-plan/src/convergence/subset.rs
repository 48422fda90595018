//! Convergence on all of the data, from runs on parts of it: the paper's challenge of training resources.
//!
//! Methods that work on their own rows between rounds mostly feel how many rows each worker has: a run on a quarter of
//! the data and one worker goes like one on all of the data and four. Batch methods feel neither. So a run on a fraction
//! s and m workers is taken for a run on all of the data with m·s^−p effective workers, each of whose rounds does s^q as
//! much. With p = 1 the whole data on m workers lies among what was measured on parts of it, and only q is
//! extrapolated; `similarity` finds both. All runs so translated make one ordinary convergence model.
//!
//! Each fraction has an optimum of its own, so values are sub-optimalities, relative to it. How far off this is shows
//! when the largest fraction is predicted from the smaller ones, with the same distance in ln s in mind.

use super::curves::{self, Curve};
use super::similarity::{Part, Similarity};
use super::{ConvergenceError, ConvergenceModel, Scale, Target};
use crate::{Estimate, Observation};

/// Rounds are counted in parts, since fewer effective rounds than one can be meant.
const PARTS: f64 = 64.0;
/// Without a second fraction: a factor of e in data may change log rounds by this much.
const UNKNOWN: f64 = 0.7;
/// However well the largest fraction was predicted.
const SURPRISE: f64 = 0.15;

/// A fitted model of how one algorithm converges on parts of the data and on all of it.
#[derive(Debug)]
pub struct SubsetModel {
    model: ConvergenceModel,
    similarity: Similarity,
    largest: f64,
    smallest: f64,
    /// Half an interval of log rounds, for each factor of e in data beyond the largest fraction.
    width: f64,
}

impl SubsetModel {
    /// Learns from runs of one algorithm on one or several fractions; values are relative sub-optimalities.
    pub fn fit(observations: &[Observation]) -> Result<SubsetModel, ConvergenceError> {
        let parts = parts(observations)?;
        let similarity = Similarity::fit(&parts);
        let translated: Vec<Observation> =
            observations.iter().filter(|o| usable(o)).map(|o| translate(o, &similarity)).collect();
        Ok(SubsetModel {
            model: ConvergenceModel::fit(&translated, Target::SubOptimality)?,
            width: similarity.width.map_or(UNKNOWN, |width| width.max(SURPRISE)),
            similarity,
            largest: parts.iter().map(|part| part.fraction).fold(0.0, f64::max),
            smallest: parts.iter().map(|part| part.fraction).fold(1.0, f64::min),
        })
    }

    /// The best value so far after an iteration.
    pub fn value(&self, workers: usize, fraction: f64, iteration: u64) -> Estimate {
        let at = |factor: f64| {
            let rounds = iteration.max(1) as f64 * factor * self.rounds_in(fraction);
            self.model.value(self.workers(workers, fraction), rounds.round().max(1.0) as u64)
        };
        let width = self.width_at(fraction);
        at(1.0).widened(at(width.exp()).mean, at((-width).exp()).mean)
    }

    /// After how many iterations the value is as good as `goal`; nothing if the model does not see it happen.
    pub fn iterations_to(&self, workers: usize, fraction: f64, goal: f64) -> Option<Estimate> {
        let found = self.model.iterations_to(self.workers(workers, fraction), goal)?;
        let width = self.width_at(fraction);
        let wide = found.widened(found.mean * (-width).exp(), found.mean * width.exp());
        let rounds = |parts: f64| parts / self.rounds_in(fraction);
        Some(Estimate {
            low: rounds(wide.low).floor().max(1.0),
            mean: (rounds(wide.mean) - 0.1).ceil().max(1.0),
            high: rounds(wide.high).ceil().max(1.0),
        })
    }

    /// How far a question is from what was measured, if it is outside.
    pub fn extrapolation(&self, workers: usize, fraction: f64, iteration: u64) -> Option<String> {
        let rounds = (iteration as f64 * self.rounds_in(fraction)) as u64;
        let mut said = Vec::new();
        if fraction > self.largest {
            said.push(format!(
                "fraction {fraction} is {:.1} times the largest measured, {}",
                fraction / self.largest,
                self.largest
            ));
        } else if fraction < self.smallest {
            said.push(format!(
                "fraction {fraction} is {:.1} times less than the smallest measured, {}",
                self.smallest / fraction,
                self.smallest
            ));
        }
        if let Some(effective) = self.model.extrapolation(self.workers(workers, fraction), rounds) {
            said.push(format!("in effective workers and rounds, {effective}"));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// What was found, in a line.
    pub fn description(&self) -> String {
        let Similarity { workers, rounds, .. } = self.similarity;
        format!(
            "a run on m workers and a fraction s goes like one on m·s^-{workers:.2} workers and all data, with s^{rounds:.2} of its rounds"
        )
    }

    fn workers(&self, workers: usize, fraction: f64) -> usize {
        effective(workers, fraction, &self.similarity)
    }

    fn rounds_in(&self, fraction: f64) -> f64 {
        PARTS * fraction.clamp(1e-9, 1.0).powf(self.similarity.rounds)
    }

    fn width_at(&self, fraction: f64) -> f64 {
        let beyond = (fraction / self.largest).ln().max((self.smallest / fraction.max(1e-9)).ln());
        self.width * beyond.max(0.0)
    }
}

fn usable(observation: &Observation) -> bool {
    observation.fraction > 0.0 && observation.fraction <= 1.0 && observation.workers > 0
}

fn effective(workers: usize, fraction: f64, similarity: &Similarity) -> usize {
    let effective = workers.max(1) as f64 * fraction.clamp(1e-9, 1.0).powf(-similarity.workers);
    effective.round().max(1.0) as usize
}

/// The observation of a run on all of the data that went alike.
fn translate(observation: &Observation, similarity: &Similarity) -> Observation {
    let rounds = observation.iteration as f64 * PARTS * observation.fraction.powf(similarity.rounds);
    Observation {
        workers: effective(observation.workers, observation.fraction, similarity),
        run: format!("{} {} {}", observation.run, observation.workers, observation.fraction),
        fraction: 1.0,
        iteration: rounds.round() as u64,
        ..observation.clone()
    }
}

/// The curves of each fraction, rising; fractions that say nothing are left out if others do.
fn parts(observations: &[Observation]) -> Result<Vec<Part>, ConvergenceError> {
    let mut fractions: Vec<f64> = observations.iter().filter(|o| usable(o)).map(|o| o.fraction).collect();
    fractions.sort_by(f64::total_cmp);
    fractions.dedup();
    let scale = Scale { optimum: 0.0, sign: 1.0 };
    let mut parts = Vec::new();
    let mut refused = ConvergenceError::TooFew { given: observations.len(), usable: 0, needed: 4 };
    for fraction in fractions {
        let here: Vec<Observation> =
            observations.iter().filter(|o| o.fraction == fraction).cloned().collect();
        match curves::runs(&here, Target::SubOptimality) {
            Ok(runs) => {
                parts.push(Part { fraction, curves: runs.iter().map(|run| Curve::new(run, scale)).collect() })
            }
            Err(error) => refused = error,
        }
    }
    if parts.is_empty() { Err(refused) } else { Ok(parts) }
}
