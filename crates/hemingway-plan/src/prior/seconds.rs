//! Seconds per round on a cluster, f(m), before the first round was made.
//!
//! A round is a few phases of local work, each ended by a sum over all workers: the slowest worker and the cost of the
//! sum make up its time.

use hemingway_train::{Cluster, Exchange, Phase};

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
    let computing = |rank: usize| {
        let seconds = pace * (1.0 + noise) * cluster.seconds(rank, phase.work);
        seconds + cluster.jitter.longest_delay(seconds, workers)
    };
    let network = &cluster.network;
    let slowest = waiting(cluster, workers) * computing(cluster.slowest(workers));
    match phase.exchange {
        Exchange::Sum(_) | Exchange::Neighbours { .. } if workers == 1 => (slowest, slowest),
        Exchange::Sum(numbers) => {
            let in_a_row = network.sum_seconds_in_a_row(workers, numbers);
            ((slowest + network.sum_seconds(workers, numbers)).max(in_a_row), slowest)
        }
        Exchange::Neighbours { messages, bytes } => {
            (slowest + network.latency + messages * bytes / network.bandwidth, slowest)
        }
        // Nobody waits for the slowest: what counts is how much all do together.
        Exchange::Nothing => {
            let together = together(cluster, workers, computing);
            (together, together)
        }
        Exchange::Servers { asked, answered, servers } => {
            let own = |rank: usize| {
                computing(rank) + 2.0 * network.latency + (asked + answered) / network.bandwidth
            };
            let busy = workers as f64 * asked.max(answered) / (servers * network.bandwidth);
            (together(cluster, workers, own).max(busy), together(cluster, workers, computing))
        }
    }
}

/// Seconds in which all workers together do as much as each would do by itself in `seconds` of its own, when one in so
/// many straggles.
fn together(cluster: &Cluster, workers: usize, seconds: impl Fn(usize) -> f64) -> f64 {
    let rate: f64 = (0..workers).map(|rank| 1.0 / seconds(rank).max(f64::MIN_POSITIVE)).sum();
    let straggling = 1.0 + cluster.stragglers.probability * (slowdown(cluster) - 1.0);
    straggling * workers as f64 / rate
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
