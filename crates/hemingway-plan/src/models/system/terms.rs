//! The catalogue of terms: how a part of an iteration's time may grow with workers and data.

use serde::{Deserialize, Serialize};

/// Workers and fraction of the data: what a time is predicted for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Configuration {
    /// m in the paper.
    pub workers: f64,
    /// Of the data, above 0 and at most 1.
    pub fraction: f64,
}

impl Configuration {
    /// Where it lies when doubling counts the same everywhere.
    pub fn logs(self) -> [f64; 2] {
        [self.workers.ln(), self.fraction.ln()]
    }
}

/// How time depends on the configuration.
pub(crate) struct Term {
    pub name: &'static str,
    /// How much it must explain before it is used, as a difference of log-likelihoods. Those that run away outside
    /// what was measured are dear.
    pub penalty: f64,
    pub value: fn(f64, f64) -> f64,
}

/// How many terms at the head of [`TERMS`] are those of Ernest.
pub(crate) const ERNEST: usize = 4;

/// All terms, Ernest's first. Of several that cannot be distinguished on the observed configurations the first is used,
/// so that the order says which explanation is preferred.
pub(crate) const TERMS: [Term; 12] = [
    // A driver's own work, latencies that do not depend on the cluster.
    Term { name: "1", penalty: 1.0, value: |_, _| 1.0 },
    // Work that is divided among workers.
    Term { name: "s/m", penalty: 1.0, value: |m, s| s / m },
    // Trees: broadcasts and sums.
    Term { name: "log m", penalty: 2.0, value: |m, _| m.ln() },
    // All to one: collecting, scheduling.
    Term { name: "m", penalty: 2.0, value: |m, _| m },
    // Work on the data that nobody shares.
    Term { name: "s", penalty: 2.0, value: |_, s| s },
    // Between a tree and all to one: slowest of many, two-dimensional grids.
    Term { name: "sqrt m", penalty: 2.0, value: |m, _| m.sqrt() },
    // Work divided less well than fully: skew, shared disks.
    Term { name: "s/sqrt m", penalty: 2.0, value: |m, s| s / m.sqrt() },
    // Shuffles in which each worker still talks to a tree.
    Term { name: "s (1 + log m) / m", penalty: 2.0, value: |m, s| s * (1.0 + m.ln()) / m },
    // Memory pressure: parts too large for a worker.
    Term { name: "(s/m)^2", penalty: 4.0, value: |m, s| (s / m) * (s / m) },
    // Divided work that does not depend on the data: a model split among workers.
    Term { name: "1/m", penalty: 2.0, value: |m, _| 1.0 / m },
    // Data sent along a tree.
    Term { name: "s log m", penalty: 2.0, value: |m, s| s * m.ln() },
    // Everyone with everyone, in a tree of rounds.
    Term { name: "m log m", penalty: 4.0, value: |m, _| m * m.ln() },
];

/// The terms that differ on these configurations, as indices into [`TERMS`].
pub(crate) fn distinguishable(configurations: &[Configuration]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for candidate in 0..TERMS.len() {
        let column = column(candidate, configurations);
        let nothing = column.iter().all(|&value| value == 0.0);
        if !nothing && !kept.iter().any(|&other| proportional(&column, &self::column(other, configurations)))
        {
            kept.push(candidate);
        }
    }
    kept
}

fn column(term: usize, configurations: &[Configuration]) -> Vec<f64> {
    configurations.iter().map(|c| (TERMS[term].value)(c.workers, c.fraction)).collect()
}

/// By the angle between them.
fn proportional(a: &[f64], b: &[f64]) -> bool {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    dot(a, b).powi(2) > (1.0 - 1e-9) * dot(a, a) * dot(b, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(configurations: &[(f64, f64)]) -> Vec<&'static str> {
        let configurations: Vec<Configuration> =
            configurations.iter().map(|&(workers, fraction)| Configuration { workers, fraction }).collect();
        distinguishable(&configurations).into_iter().map(|term| TERMS[term].name).collect()
    }

    #[test]
    fn the_whole_data_hides_terms_in_the_fraction() {
        let names = names(&[(2.0, 1.0), (4.0, 1.0), (8.0, 1.0), (16.0, 1.0), (64.0, 1.0)]);
        let expected =
            ["1", "s/m", "log m", "m", "sqrt m", "s/sqrt m", "s (1 + log m) / m", "(s/m)^2", "m log m"];
        assert_eq!(names, expected);
    }

    #[test]
    fn one_configuration_shows_one_term() {
        assert_eq!(names(&[(4.0, 1.0)]), ["1"]);
    }
}
