//! Which candidate to evaluate next: the one that gains most together with the evaluation after it.
//!
//! The judges are draws of the model. If one of them is right, evaluating a candidate shows the time that it says; those judges
//! who said so too are then believed, and the candidate follows from which they expect most. What a candidate teaches is
//! therefore part of what it is worth, without a constant for how much exploration there should be.

use super::thought::{deviation, mean};

/// Above this chance of working nothing fails.
const CERTAIN: f64 = 0.99;
/// The least that a further failure costs: the gain, as a share of an iteration, that a user gives up for not seeing one.
const FAILURE: f64 = 0.05;

/// Candidates in the eyes of the judges.
pub struct Acquisition {
    /// The logarithm of each candidate's seconds, as each judge sees them.
    logs: Vec<Vec<f64>>,
    /// What each costs.
    costs: Vec<Vec<f64>>,
    /// What each gains over the best so far, as a share of it; nothing if nothing was evaluated.
    gains: Option<Vec<Vec<f64>>>,
    /// The chance that each works.
    chances: Vec<f64>,
    /// Relative standard deviation of a measured time.
    noise: f64,
}

impl Acquisition {
    /// From the seconds and costs of candidates, their chances of working, and the costs of the best evaluation so far.
    pub fn new(
        seconds: &[Vec<f64>],
        costs: Vec<Vec<f64>>,
        chances: Vec<f64>,
        best: Option<Vec<f64>>,
        noise: f64,
    ) -> Acquisition {
        let logs = seconds.iter().map(|seconds| seconds.iter().map(|time| time.ln()).collect()).collect();
        let gain = |(cost, old): (&f64, &f64)| (1.0 - cost / old).max(0.0);
        let over =
            |best: &Vec<f64>| costs.iter().map(|own| own.iter().zip(best).map(gain).collect()).collect();
        Acquisition { logs, gains: best.as_ref().map(over), costs, chances, noise }
    }

    /// What a candidate is worth, to be compared with others.
    pub fn value(&self, at: usize) -> f64 {
        let gained = match &self.gains {
            Some(gains) => self.two_steps(at, gains),
            // The first evaluation after an earlier study is no place for an adventure.
            None => 1.0 / mean(&self.costs[at]),
        };
        // A failure wastes an evaluation, which would have gained what the best that cannot fail gains.
        let wasted = self
            .gains
            .as_ref()
            .map_or(0.0, |gains| self.safe(gains).map(|gains| mean(gains)).fold(FAILURE, f64::max));
        self.chances[at] * gained - (1.0 - self.chances[at]) * wasted
    }

    /// By how much the next evaluation is expected to be better than the best so far, as a share of it.
    pub fn expected_improvement(&self) -> f64 {
        let Some(gains) = &self.gains else { return 1.0 };
        gains.iter().zip(&self.chances).map(|(gains, chance)| chance * mean(gains)).fold(0.0, f64::max)
    }

    /// The gains of candidates that cannot fail.
    fn safe<'a>(&'a self, gains: &'a [Vec<f64>]) -> impl Iterator<Item = &'a Vec<f64>> {
        gains.iter().zip(&self.chances).filter(|(_, chance)| **chance > CERTAIN).map(|(gains, _)| gains)
    }

    /// The expected gain of a candidate and of the evaluation after it; no credit for one that may fail.
    fn two_steps(&self, at: usize, gains: &[Vec<f64>]) -> f64 {
        let (logs, own) = (&self.logs[at], &gains[at]);
        let count = logs.len();
        // Judges are few: each stands for its neighbourhood (Silverman's rule).
        let width = self.noise.max(1.06 * deviation(logs) * (count as f64).powf(-0.2)).max(1e-9);
        let both: Vec<Vec<f64>> = std::iter::once(own)
            .chain(self.safe(gains))
            .map(|next| own.iter().zip(next).map(|(gain, next)| gain.max(*next)).collect())
            .collect();
        let after = |right: usize| {
            let believed: Vec<f64> = (0..count)
                .map(|judge| {
                    let apart = (logs[judge] - logs[right]) / width;
                    // Who is right is not known to those who decide.
                    if judge == right { 0.0 } else { (-0.5 * apart * apart).exp() }
                })
                .collect();
            let expected =
                |both: &Vec<f64>| both.iter().zip(&believed).map(|(gain, weight)| gain * weight).sum();
            let next = both.iter().map(|both| (expected(both), both[right]));
            next.max_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, gain)| gain)
        };
        mean(&(0..count).map(after).collect::<Vec<f64>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUDGES: usize = 64;

    /// Four candidates: a sure gain of 5 %; one that gains 4 % and shows whether the third or the fourth gains 30 %; and those two.
    fn field(chances: Vec<f64>) -> Acquisition {
        let third = |judge: usize| judge.is_multiple_of(2);
        let row = |cost: &dyn Fn(usize) -> f64| (0..JUDGES).map(cost).collect::<Vec<f64>>();
        let seconds = vec![
            row(&|_| 0.95),
            row(&|judge| if third(judge) { 0.94 } else { 0.98 }),
            row(&|judge| if third(judge) { 0.7 } else { 1.5 }),
            row(&|judge| if third(judge) { 1.5 } else { 0.7 }),
        ];
        Acquisition::new(&seconds, seconds.clone(), chances, Some(vec![1.0; JUDGES]), 0.001)
    }

    #[test]
    fn what_a_candidate_teaches_counts() {
        let sure = field(vec![1.0; 4]);
        assert!(sure.value(1) > sure.value(0) + 0.05, "{} {}", sure.value(1), sure.value(0));
        // After the second it is known which of the others to take.
        assert!((sure.value(1) - 0.3).abs() < 1e-9, "{}", sure.value(1));
        assert!((sure.expected_improvement() - 0.15).abs() < 1e-9);
    }

    #[test]
    fn what_may_fail_must_gain_more() {
        let risky = field(vec![1.0, 0.8, 0.8, 0.8]);
        // 0.8 of its gain, less a fifth of the 5 % that the first is sure of.
        assert!(
            (risky.value(2) - (0.8 * (0.5 * 0.3 + 0.5 * 0.05) - 0.2 * 0.05)).abs() < 1e-3,
            "{}",
            risky.value(2)
        );
        assert!((risky.value(0) - 0.05).abs() < 1e-9, "no credit for what may fail: {}", risky.value(0));
    }

    #[test]
    fn without_a_best_the_least_expected_cost_comes_first() {
        let seconds = vec![vec![1.0; 4], vec![0.1, 0.1, 3.0, 3.0]];
        let first = Acquisition::new(&seconds, seconds.clone(), vec![1.0; 2], None, 0.01);
        assert!(first.value(0) > first.value(1));
        assert_eq!(first.expected_improvement(), 1.0);
    }
}
