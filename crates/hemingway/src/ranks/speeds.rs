//! How fast each rank computes beside the others, and whom to leave out.

use hemingway_train::protocol::Rank;

use crate::Straggler;

/// From this many times as long as the median on, a rank is slow. What is below is as likely to be noise, and leaving
/// someone else out costs reading the data anew.
const NOTABLE: f64 = 1.5;

/// What was measured of each rank in the last stage that it took part in.
pub(super) struct Speeds {
    ranks: Vec<Rank>,
    /// How many times as long as the median each takes for the same work; 1 until something is known.
    factors: Vec<f64>,
}

impl Speeds {
    pub(super) fn of(ranks: &[Rank]) -> Speeds {
        Speeds { ranks: ranks.to_vec(), factors: vec![1.0; ranks.len()] }
    }

    /// Operations per second of those who took part in a stage, 0 where that is not known.
    pub(super) fn see(&mut self, ranks: &[usize], rates: &[f64]) {
        let mut known: Vec<f64> = rates.iter().copied().filter(|rate| *rate > 0.0).collect();
        known.sort_by(f64::total_cmp);
        let Some(median) = known.get(known.len() / 2) else { return };
        for (rank, rate) in ranks.iter().zip(rates).filter(|(_, rate)| **rate > 0.0) {
            if let Some(factor) = self.factors.get_mut(*rank) {
                *factor = median / rate;
            }
        }
    }

    /// So many ranks: the slowest are left out, of equals the last. Rank 0 speaks for the others and is always there.
    pub(super) fn choose(&self, workers: usize) -> Vec<usize> {
        let slowness = |rank: &usize| if self.factors[*rank] < NOTABLE { 1.0 } else { self.factors[*rank] };
        let mut others: Vec<usize> = (1..self.factors.len()).collect();
        others.sort_by(|a, b| slowness(a).total_cmp(&slowness(b)));
        let mut chosen: Vec<usize> = std::iter::once(0).chain(others).take(workers).collect();
        chosen.sort_unstable();
        chosen
    }

    /// So many ranks beside these, in ascending order: servers compute little, so their speed does not matter.
    pub(super) fn others(&self, taken: &[usize], count: usize) -> Vec<usize> {
        (0..self.factors.len()).filter(|rank| !taken.contains(rank)).take(count).collect()
    }

    /// Those who are notably slow, the slowest first.
    pub(super) fn stragglers(&self) -> Vec<Straggler> {
        let slow = self.factors.iter().enumerate().filter(|(_, factor)| **factor >= NOTABLE);
        let mut slow: Vec<Straggler> = slow
            .map(|(worker, &factor)| Straggler { worker, host: self.ranks[worker].host.clone(), factor })
            .collect();
        slow.sort_by(|a, b| b.factor.total_cmp(&a.factor));
        slow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: usize) -> Speeds {
        let rank = |number: usize| Rank { host: format!("h{number}"), pid: 1 };
        Speeds::of(&(0..count).map(rank).collect::<Vec<_>>())
    }

    #[test]
    fn the_slowest_are_left_out_first() {
        let mut speeds = of(5);
        assert_eq!(speeds.choose(3), [0, 1, 2], "nothing is known yet");
        speeds.see(&[0, 1, 2, 3, 4], &[1e9, 2e8, 1e9, 5e8, 1.1e9]);
        assert_eq!(speeds.choose(4), [0, 2, 3, 4]);
        assert_eq!(speeds.choose(3), [0, 2, 4]);
        assert_eq!(speeds.choose(1), [0]);
        assert_eq!(speeds.choose(5), [0, 1, 2, 3, 4]);
        let slow: Vec<_> =
            speeds.stragglers().into_iter().map(|slow| (slow.worker, slow.host, slow.factor)).collect();
        assert_eq!(slow, [(1, "h1".to_owned(), 5.0), (3, "h3".to_owned(), 2.0)]);
        // Whoever took no part is as it was; whoever recovered is taken again.
        speeds.see(&[0, 2, 3], &[1e9, 1e9, 0.9e9]);
        assert_eq!(speeds.choose(4), [0, 2, 3, 4]);
    }

    #[test]
    fn noise_leaves_nobody_out() {
        let mut speeds = of(3);
        speeds.see(&[0, 1, 2], &[1e9, 0.8e9, 1.2e9]);
        assert_eq!(speeds.choose(2), [0, 1]);
        assert!(speeds.stragglers().is_empty());
        speeds.see(&[0, 1, 2], &[0.0, 0.0, 0.0]);
        assert_eq!(speeds.choose(2), [0, 1], "too short to tell");
    }

    #[test]
    fn rank_zero_stays_however_slow_it_is() {
        let mut speeds = of(3);
        speeds.see(&[0, 1, 2], &[1e8, 1e9, 1e9]);
        assert_eq!(speeds.choose(2), [0, 1]);
        assert_eq!(speeds.stragglers()[0].worker, 0);
    }
}
