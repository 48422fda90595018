//! A running average of weights in which recent rounds count more, for methods whose iterates jump around.

use crate::Error;

/// The average of the weights of all rounds so far, and their number.
pub(crate) struct Recent {
    pub average: Vec<f64>,
    pub rounds: u64,
}

impl Recent {
    pub(crate) fn new(weights: &[f64]) -> Recent {
        Recent { average: weights.to_vec(), rounds: 0 }
    }

    /// How much of the average the next round will be.
    pub(crate) fn next_share(&self) -> f64 {
        RECENCY / (self.rounds as f64 + RECENCY)
    }

    /// Averages reach back over about a quarter of the run: the weight of round k grows like k³.
    pub(crate) fn add(&mut self, weights: &[f64]) {
        let share = self.next_share();
        self.rounds += 1;
        let pairs = self.average.iter_mut().zip(weights);
        pairs.for_each(|(average, weight)| *average += share * (weight - *average));
    }

    pub(crate) fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.rounds as f64];
        saved.extend(&self.average);
        saved
    }

    /// Takes its part from the front of what was saved; returns the rest.
    pub(crate) fn restore<'a>(&mut self, saved: &'a [f64]) -> Result<&'a [f64], Error> {
        let (mine, rest) =
            saved.split_at_checked(1 + self.average.len()).ok_or_else(Error::damaged_worker)?;
        self.rounds = mine[0] as u64;
        self.average.copy_from_slice(&mine[1..]);
        Ok(rest)
    }
}

const RECENCY: f64 = 4.0;
