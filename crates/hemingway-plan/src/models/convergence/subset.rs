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
/// Rounds fall at most in proportion to the data.
const MOST: f64 = 1.0;
/// Without a second fraction: a factor of e in data may change log rounds by this much.
const UNKNOWN: f64 = 0.7;
/// However well the largest fraction was predicted.
const SURPRISE: f64 = 0.25;

/// A fitted model of how one algorithm converges on parts of the data and on all of it.
#[derive(Debug)]
pub struct SubsetModel {
    model: ConvergenceModel,
    similarity: Similarity,
    largest: f64,
    smallest: f64,
    /// Half an interval of log rounds, a factor of e in data beyond the largest fraction.
    width: f64,
}

impl SubsetModel {
    /// Fits runs of one algorithm on one or several fractions; values are relative sub-optimalities.
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

    /// Parts of effective rounds in one round. Beyond the largest fraction, more data speeds a round up by no more than
    /// what it does, since the rows visited in all do not fall with the data.
    fn rounds_in(&self, fraction: f64) -> f64 {
        let (fraction, rounds) = (fraction.clamp(1e-9, 1.0), self.similarity.rounds);
        let beyond = (fraction / self.largest).max(1.0);
        PARTS * (fraction / beyond).powf(rounds) * beyond.powf(rounds.min(MOST))
    }

    fn width_at(&self, fraction: f64) -> f64 {
        let beyond = (fraction / self.largest).ln().max((self.smallest / fraction.max(1e-9)).ln());
        self.width * beyond.max(0.0).sqrt()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(fractions: &[f64], scale: impl Fn(f64, f64) -> f64) -> Vec<Observation> {
        let mut rows = Vec::new();
        for (&fraction, workers) in fractions.iter().flat_map(|s| [1, 2, 4, 8].map(|m| (s, m))) {
            rows.extend((1..=60).map(|iteration| Observation {
                run: format!("{workers} {fraction}"),
                algorithm: "made up".into(),
                workers,
                fraction,
                iteration,
                seconds: None,
                value: Some(0.5 * (-(iteration as f64) / scale(workers as f64, fraction)).exp()),
            }));
        }
        rows
    }

    /// Rows for each worker count.
    fn local(m: f64, s: f64) -> f64 {
        2.0 + 0.3 * m / s
    }

    fn batch(_: f64, _: f64) -> f64 {
        6.0
    }

    #[test]
    fn all_of_the_data_is_predicted_from_parts_of_it() {
        for scale in [local, batch] {
            let model = SubsetModel::fit(&trace(&[0.0625, 0.125, 0.25], scale)).unwrap();
            for m in [2, 4, 8, 16] {
                let truth = (scale(m as f64, 1.0) * 50f64.ln()).ceil();
                let found = model.iterations_to(m, 1.0, 1e-2).unwrap();
                let what = model.description();
                assert!((found.mean / truth).ln().abs() < 0.25, "{m}: {found:?}, {truth}; {what}");
                assert!(found.low <= truth && truth <= found.high, "{m}: {found:?}, {truth}; {what}");
                let (value, truth) = (model.value(m, 1.0, 10), 0.5 * (-10.0 / scale(m as f64, 1.0)).exp());
                assert!(value.low <= truth && truth <= value.high, "{m}: {value:?}, {truth}; {what}");
            }
        }
    }

    #[test]
    fn one_fraction_alone_makes_no_confident_claim_of_another() {
        let model = SubsetModel::fit(&trace(&[0.25], local)).unwrap();
        let (there, all) =
            (model.iterations_to(4, 0.25, 1e-2).unwrap(), model.iterations_to(4, 1.0, 1e-2).unwrap());
        assert!(all.high / all.low > 3.0 && there.high / there.low < 2.0, "{there:?} {all:?}");
        assert!(
            model
                .extrapolation(4, 1.0, 10)
                .unwrap()
                .starts_with("fraction 1 is 4.0 times the largest measured, 0.25")
        );
        assert_eq!(model.extrapolation(4, 0.25, 10), None);
    }

    #[test]
    fn input_that_says_nothing_is_refused() {
        assert!(matches!(SubsetModel::fit(&[]), Err(ConvergenceError::TooFew { .. })));
        let mut rows = trace(&[0.25, 0.5], local);
        rows[0].fraction = f64::NAN;
        rows[1].fraction = 2.0;
        rows[2].workers = 0;
        assert!(SubsetModel::fit(&rows).is_ok());
        rows[9].algorithm = "another".into();
        assert!(matches!(SubsetModel::fit(&rows), Err(ConvergenceError::SeveralAlgorithms { .. })));
        rows.iter_mut().for_each(|row| row.value = None);
        assert!(SubsetModel::fit(&rows).is_err());
    }
}
