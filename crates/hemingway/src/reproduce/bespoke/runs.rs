//! One optimiser on the experiment of Figure 2: several runs, their median and their spread.

use serde::Serialize;

use super::CONVERGENCE;
use super::experiments::{TunedExperiment, spread};

/// How our optimiser is called.
pub(super) const OURS: &str = "hemingway";

/// Runs of one optimiser.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Runs {
    /// Its name.
    pub name: String,
    /// For each run, after each evaluation: seconds per iteration, without noise, of the schedule that it would choose.
    pub seconds: Vec<Vec<f64>>,
}

impl Runs {
    /// Ours, if this is the experiment.
    pub(super) fn of_figure_2(tuned: &TunedExperiment) -> Option<Runs> {
        let seconds = || tuned.studies.iter().map(|study| study.seconds.clone()).collect();
        (tuned.experiment == CONVERGENCE).then(|| Runs { name: OURS.to_owned(), seconds: seconds() })
    }

    /// The median after so many evaluations, if a run has as many.
    pub fn median(&self, evaluations: usize) -> Option<f64> {
        median(self.after(evaluations))
    }

    /// The least and the most after so many evaluations, if a run has as many.
    pub fn spread(&self, evaluations: usize) -> Option<[f64; 2]> {
        Some(spread(self.after(evaluations))).filter(|[low, high]| low <= high)
    }

    /// The longest run.
    pub(super) fn evaluations(&self) -> usize {
        self.seconds.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn after(&self, evaluations: usize) -> impl Iterator<Item = f64> {
        self.seconds.iter().filter_map(move |run| run.get(evaluations.checked_sub(1)?).copied())
    }
}

/// The median; the mean of two where there are two.
pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(if low == high { *low } else { 0.5 * (low + high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_of_the_runs_that_are_long_enough() {
        let runs = Runs { name: "a".into(), seconds: vec![vec![3.0, 2.0], vec![1.0], vec![2.0, 1.0]] };
        assert_eq!(
            [runs.median(0), runs.median(1), runs.median(2), runs.median(3)],
            [None, Some(2.0), Some(1.5), None]
        );
        assert_eq!([runs.spread(1), runs.spread(3)], [Some([1.0, 3.0]), None]);
        assert_eq!(runs.evaluations(), 2);
    }
}
