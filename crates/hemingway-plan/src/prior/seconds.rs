//! Seconds per round on a cluster, f(m), before the first round was made.
//!
//! A round is a few phases of local work, each ended by a sum over all workers: the slowest worker and the cost of the
//! sum make up its time.

use hemingway_train::{Cluster, Phase};

/// Seconds that these phases of an algorithm are expected to take on so many workers.
pub(crate) fn seconds(phases: &[Phase], algorithm: &str, workers: usize, cluster: &Cluster) -> f64 {
    let pace = cluster.algorithms.get(algorithm).copied().unwrap_or(1.0) * waiting(cluster, workers);
    let slowest = cluster.slowest(workers);
    let network = &cluster.network;
    let of = |phase: &Phase| {
        let computing = pace * cluster.seconds(slowest, phase.work);
        let computing = computing + cluster.jitter.longest_delay(computing, workers);
        let (sum, in_a_row) = match workers {
            1 => (0.0, 0.0),
            _ => (
                network.sum_seconds(workers, phase.numbers),
                network.sum_seconds_in_a_row(workers, phase.numbers),
            ),
        };
        phase.times * (computing + sum).max(in_a_row)
    };
    phases.iter().map(of).sum()
}

/// How many times longer the slowest of all workers is expected to take than one that nothing disturbs.
fn waiting(cluster: &Cluster, workers: usize) -> f64 {
    let stragglers = &cluster.stragglers;
    let m = workers as f64;
    let someone = 1.0 - (1.0 - stragglers.probability).powf(m);
    (1.0 + someone * (stragglers.slowdown.max(1.0) - 1.0)) * (1.0 + stragglers.noise * m / (m + 1.0))
}
