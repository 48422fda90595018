//! What it is worth to try a way: a few rounds of it make progress, and they teach how it does on this data.
//!
//! One step of looking ahead. After the trial, δ of the way that was tried is known better, and with it that of its
//! kin; then the best way is gone to the end. The value of a trial is the cost of its rounds and of what then is best,
//! on average over what it may show. A way that is likely worse, but may be far better, is worth a trial if its rounds
//! are short; one that is well known is worth what it is predicted to take.

use super::belief::Belief;
use super::route::Map;

/// Points and weights to average over a normal distribution (Gauss and Hermite).
const POINTS: [(f64, f64); 5] = [
    (-2.856_970, 0.011_257),
    (-1.355_626, 0.222_076),
    (0.0, 0.533_333),
    (1.355_626, 0.222_076),
    (2.856_970, 0.011_257),
];
/// A trial takes at most this share of the job, but at least a round.
const TRIAL: f64 = 0.05;

/// The cost of beginning with each way and then going on with what turns out to be best; a second costs its weight.
/// Infinite for ways of which a round takes too long for a trial, unless it is `present`.
pub(super) fn values(map: &Map, belief: &Belief, weight: &[f64], present: Option<usize>) -> Vec<f64> {
    let ways = map.seconds.len();
    let last = map.nodes.len() - 1;
    let whole = (0..ways)
        .map(|way| weight[way] * (map.switch[way] + map.seconds[way] * map.rounds[way][last]))
        .fold(f64::INFINITY, f64::min);
    let value = |way: usize| {
        let per_round = weight[way] * map.seconds[way];
        let begin = weight[way] * map.switch[way];
        let rounds = (TRIAL * whole / per_round).floor().max(1.0);
        if !(per_round + begin).is_finite() || Some(way) != present && per_round + 2.0 * begin > super::belief::tune("MOST", 1.0) * TRIAL * whole {
            return f64::INFINITY;
        }
        let made = map.progress_after(way, 0.0, rounds) - map.nodes[0];
        let noise = belief.noise(way, super::taught(map.nodes[0], map.nodes[0] + made), rounds);
        let spread = (belief.variance(way) + noise).sqrt();
        let after = |(z, share): (f64, f64)| {
            let shift = |other: usize| {
                let learnt = belief.between(other, way) / spread;
                learnt * z - 0.5 * learnt * learnt
            };
            let at = map.progress_after(way, 0.0, rounds * (-shift(way)).exp());
            let rest = (0..ways).map(|other| {
                let rounds = map.rounds[other][last] - map.rounds_at(other, at);
                let switch = if other == way { 0.0 } else { map.switch_to[other] };
                weight[other] * (switch + map.seconds[other] * rounds * shift(other).exp())
            });
            share * rest.fold(f64::INFINITY, f64::min)
        };
        begin + rounds * per_round + POINTS.into_iter().map(after).sum::<f64>()
    };
    (0..ways).map(value).collect()
}
