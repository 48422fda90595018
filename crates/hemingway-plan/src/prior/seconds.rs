//! Seconds per round on a cluster, f(m), before the first round was made.
//!
//! A round is a few phases of local work, each ended by a sum over all workers: the slowest worker and the cost of the
//! sum make up its time.

use hemingway_train::{Cluster, Phase};

/// Seconds that these phases of an algorithm are expected to take on so many workers.
pub(crate) fn seconds(phases: &[Phase], algorithm: &str, workers: usize, cluster: &Cluster) -> f64 {
    phases.iter().map(|phase| phase.times * once(phase, algorithm, workers, cluster).0).sum()
}

/// The variance of these seconds, over their square: stragglers make one round longer than another.
pub(crate) fn variation(phases: &[Phase], algorithm: &str, workers: usize, cluster: &Cluster) -> f64 {
    let slow = slow_one(cluster, workers) * (1.0 - slow_one(cluster, workers));
    let relative = (slowdown(cluster) - 1.0).powi(2) * slow / waiting(cluster, workers).powi(2);
    let of = |phase: &Phase| phase.times * relative * once(phase, algorithm, workers, cluster).1.powi(2);
    let variance: f64 = phases.iter().map(of).sum();
    let mean = seconds(phases, algorithm, workers, cluster);
    if mean > 0.0 { variance / (mean * mean) } else { 0.0 }
}

/// Seconds of one phase, and the part of them in which workers compute.
fn once(phase: &Phase, algorithm: &str, workers: usize, cluster: &Cluster) -> (f64, f64) {
    let pace = cluster.algorithms.get(algorithm).copied().unwrap_or(1.0);
    let noise = cluster.stragglers.noise * workers as f64 / (workers as f64 + 1.0);
    let pace = pace * waiting(cluster, workers) * (1.0 + noise);
    let computing = pace * cluster.seconds(cluster.slowest(workers), phase.work);
    let computing = computing + cluster.jitter.longest_delay(computing, workers);
    let network = &cluster.network;
    let (sum, in_a_row) = match workers {
        1 => (0.0, 0.0),
        _ => (
            network.sum_seconds(workers, phase.numbers),
            network.sum_seconds_in_a_row(workers, phase.numbers),
        ),
    };
    ((computing + sum).max(in_a_row), computing)
}

/// How many times longer the slowest of all workers is expected to take than one that nothing disturbs.
fn waiting(cluster: &Cluster, workers: usize) -> f64 {
    1.0 + slow_one(cluster, workers) * (slowdown(cluster) - 1.0)
}

/// The probability that someone straggles.
fn slow_one(cluster: &Cluster, workers: usize) -> f64 {
    1.0 - (1.0 - cluster.stragglers.probability).powf(workers as f64)
}

fn slowdown(cluster: &Cluster) -> f64 {
    cluster.stragglers.slowdown.max(1.0)
}
