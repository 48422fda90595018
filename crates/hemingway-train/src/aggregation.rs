//! How the workers' changes of their duals become one.
//!
//! Averaging takes 1/m of each change (CoCoA: γ = 1/m, σ' = 1). Adding takes all of it, and each worker solves as if the
//! changes of all together pulled σ' times as hard as its own (CoCoA+: γ = 1). σ' = m is safe whatever the rows are, but
//! workers seldom pull all in one direction. What a round needed is known as soon as its changes are summed:
//!
//! ```text
//! r = ‖Σ Δw_k‖² / Σ ‖Δw_k‖²  in [0, m],
//! ```
//!
//! for one more number in the sum. So the next round expects twice what the last one needed, and where it needs more than was
//! expected only the share γ = σ'/r of the changes is taken. That is safe: −φ* is concave, so for any γ in [0, 1]
//!
//! ```text
//! D(α + γΔα) − D(α) ≥ γ Σ_k (what worker k gained in its local problem) + γ(λ/2)(σ' − γr) Σ ‖Δw_k‖²,
//! ```
//!
//! and no worker's gain is negative. The dual never falls, without a bound that holds for all Δα and without a step that
//! is taken back.

/// The next round expects so many times what the last one needed. Expecting just that lets workers pull to and fro in their
/// common directions: 1.2 takes up to three times as many rounds as 2 on text. From 1.5 to 4 rounds differ by a fifth or so;
/// much more is σ' = m again, which takes two to five times as many (`cargo run --release -p hemingway-train --example rounds
/// -- a9a.libsvm.gz --losses hinge,logistic --lambdas 1e-4 --workers 8,32 --errors 1e-2,1e-3`).
const HEADROOM: f64 = 2.0;

/// How the workers' changes become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    /// Each change counts 1/m, and workers solve as if alone.
    Averaging,
    /// Changes add up, and each worker expects the others to pull with it.
    Adding,
}

/// What workers expect of one another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crowding {
    aggregation: Aggregation,
    workers: f64,
    /// σ'.
    expected: f64,
}

impl Crowding {
    /// Begins with the worst.
    pub(crate) fn new(aggregation: Aggregation, workers: usize) -> Crowding {
        let workers = workers as f64;
        let expected = if aggregation == Aggregation::Averaging { 1.0 } else { workers };
        Crowding { aggregation, workers, expected }
    }

    /// σ'.
    pub(crate) fn expected(self) -> f64 {
        self.expected
    }

    /// What a worker's copy of the weights moved by, times this, goes into the sum.
    pub(crate) fn scale(self) -> f64 {
        match self.aggregation {
            Aggregation::Averaging => 1.0 / self.workers,
            Aggregation::Adding => 1.0 / self.expected,
        }
    }

    /// Which share of the changes is taken, given Σ ‖Δw_k‖² and ‖Σ Δw_k‖². The next round goes by what this one needed.
    pub(crate) fn share(&mut self, squares: f64, square_of_sum: f64) -> Taken {
        if self.aggregation == Aggregation::Averaging {
            return Taken { duals: 1.0 / self.workers, weights: 1.0 };
        }
        let needed = square_of_sum / squares;
        let (needed, next) = match needed.is_finite() {
            true => (needed, (HEADROOM * needed).clamp(1.0, self.workers)),
            // Nothing moved, or so far that its square is no number: the worst is expected, and nothing is learnt of it.
            false => (self.workers, self.expected),
        };
        let share = (self.expected / needed).min(1.0);
        self.expected = next;
        Taken { duals: share, weights: share }
    }

    pub(crate) fn save(self) -> f64 {
        self.expected
    }

    pub(crate) fn restore(&mut self, saved: f64) {
        self.expected = saved.clamp(1.0, self.workers);
    }
}

/// The share of a change that is taken.
pub(crate) struct Taken {
    /// γ: of that of the duals,
    pub duals: f64,
    /// and of the summed one of the weights.
    pub weights: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a round of two workers takes and the next one expects.
    fn after(expected: f64, squares: f64, square_of_sum: f64) -> (f64, f64) {
        let mut crowding = Crowding::new(Aggregation::Adding, 2);
        crowding.restore(expected);
        (crowding.share(squares, square_of_sum).duals, crowding.expected())
    }

    #[test]
    fn a_round_goes_by_what_the_last_one_needed() {
        // Changes (1, 0) and (-1, 0), (4, 3) against (-4, 3), (1, 0) and (0, 1), (1, 0) twice.
        assert_eq!(after(2.0, 2.0, 0.0), (1.0, 1.0));
        assert_eq!(after(2.0, 50.0, 36.0), (1.0, 1.44));
        assert_eq!(after(2.0, 2.0, 2.0), (1.0, 2.0));
        assert_eq!(after(2.0, 2.0, 4.0), (1.0, 2.0));
        // Half as much as was needed was expected: half is taken.
        assert_eq!(after(1.0, 2.0, 4.0), (0.5, 2.0));
        // Nothing moved, or too far for a number.
        assert_eq!(after(1.5, 0.0, 0.0), (0.75, 1.5));
        assert_eq!(after(1.5, f64::INFINITY, f64::INFINITY), (0.75, 1.5));
    }

    #[test]
    fn averages_are_what_they_were() {
        let mut crowding = Crowding::new(Aggregation::Averaging, 4);
        assert_eq!((crowding.scale(), crowding.expected()), (0.25, 1.0));
        assert_eq!(crowding.share(1.0, 4.0).duals, 0.25);
        assert_eq!((crowding.scale(), crowding.expected()), (0.25, 1.0));
    }
}
