//! What the figures are made from: runs, with the distance to the optimum after each round.

use std::collections::BTreeMap;

use hemingway_plan::Observation;

/// The sub-optimality at which the paper ends its runs.
pub(crate) const GOAL: f64 = 1e-4;
/// The sub-optimalities at which rounds are counted.
pub(crate) const GOALS: [f64; 4] = [1e-1, 1e-2, 1e-3, GOAL];

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trace {
    pub algorithm: String,
    pub workers: usize,
    /// By round.
    pub points: Vec<Round>,
}

/// How far a run was after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Round {
    pub number: u64,
    /// Since the run began.
    pub seconds: f64,
    /// P − P*, of the best weights so far or of those of this very round.
    pub gap: f64,
}

impl Trace {
    /// The runs behind observations of sub-optimality; of several with one algorithm and number of workers the first.
    pub fn of(observations: &[Observation]) -> Vec<Trace> {
        let mut first: BTreeMap<(&str, usize), (&str, Vec<Round>)> = BTreeMap::new();
        for observed in observations {
            let (Some(seconds), Some(gap)) = (observed.seconds, observed.value) else { continue };
            let key = (observed.algorithm.as_str(), observed.workers);
            let (run, points) = first.entry(key).or_insert((&observed.run, Vec::new()));
            if *run == observed.run {
                points.push(Round { number: observed.iteration, seconds, gap });
            }
        }
        let trace = |((algorithm, workers), (_, mut points)): ((&str, usize), (&str, Vec<Round>))| {
            points.sort_by_key(|round| round.number);
            Trace { algorithm: algorithm.to_owned(), workers, points }
        };
        first.into_iter().map(trace).collect()
    }

    /// The same run in the words of the models.
    pub fn observations(&self) -> impl Iterator<Item = Observation> {
        self.points.iter().map(|round| Observation {
            run: format!("{} on {}", self.algorithm, self.workers),
            algorithm: self.algorithm.clone(),
            workers: self.workers,
            fraction: 1.0,
            iteration: round.number,
            seconds: Some(round.seconds),
            value: Some(round.gap),
        })
    }

    /// The first round that was at least as near to the optimum.
    pub fn reached(&self, gap: f64) -> Option<Round> {
        self.points.iter().copied().find(|round| round.gap <= gap)
    }

    /// Rounds that were made.
    pub fn rounds(&self) -> u64 {
        self.points.last().map_or(0, |round| round.number)
    }

    /// On average.
    pub fn seconds_per_round(&self) -> Option<f64> {
        self.points.last().map(|last| last.seconds / last.number as f64)
    }

    /// The gap at a moment between two rounds, on the straight line of its logarithm; nothing outside the run.
    pub fn gap_at(&self, seconds: f64) -> Option<f64> {
        let after = self.points.iter().position(|round| round.seconds >= seconds)?;
        let (a, b) = (self.points[after.checked_sub(1)?], self.points[after]);
        let share = (seconds - a.seconds) / (b.seconds - a.seconds).max(f64::MIN_POSITIVE);
        Some((a.gap.ln() * (1.0 - share) + b.gap.ln() * share).exp())
    }

    /// The seconds of single rounds, sorted.
    pub fn durations(&self) -> Vec<f64> {
        let ends = self.points.iter().map(|round| (round.number, round.seconds));
        let begins = std::iter::once((0, 0.0)).chain(ends.clone());
        let each = |((i, s), (j, t)): ((u64, f64), (u64, f64))| (t - s) / (j - i).max(1) as f64;
        let mut durations: Vec<f64> = begins.zip(ends).map(each).collect();
        durations.sort_by(f64::total_cmp);
        durations
    }

    /// The rounds that visit every row, to which seconds per round are fitted. A single worker leaves out settled
    /// rows from its third pass on.
    pub fn whole_rounds(&self) -> Trace {
        if self.workers == 1 { self.first(2) } else { self.clone() }
    }

    /// The beginning of the run.
    pub fn first(&self, rounds: u64) -> Trace {
        let points = self.points.iter().copied().filter(|round| round.number <= rounds).collect();
        Trace { points, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let points = (1..=4)
            .map(|i| Round { number: i, seconds: 2.0 * i as f64, gap: 0.1f64.powi(i as i32) })
            .collect();
        Trace { algorithm: "a".into(), workers: 2, points }
    }

    #[test]
    fn traces_and_observations_are_the_same_thing() {
        let observations: Vec<Observation> = trace().observations().collect();
        assert_eq!(Trace::of(&observations), [trace()]);
    }

    #[test]
    fn between_rounds_the_logarithm_is_straight() {
        let trace = trace();
        assert!((trace.gap_at(3.0).unwrap() / 0.1f64.powf(1.5) - 1.0).abs() < 1e-12);
        assert_eq!([trace.gap_at(1.0), trace.gap_at(8.5)], [None, None]);
        assert_eq!(trace.reached(0.015).map(|round| round.number), Some(2));
        assert_eq!(trace.durations(), [2.0; 4]);
    }
}
