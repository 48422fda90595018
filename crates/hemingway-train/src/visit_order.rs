//! Which rows dual coordinate ascent visits, and when.
//!
//! A pass visits rows in random order, neighbours together. Rows that are settled leave the following passes: a dual
//! pressed against the end of its range by more than the usual violation is not about to come back. All rows are
//! visited again in passes that grow further apart, so none is lost, and the certificate never relies on it.

use rand::RngExt;

use crate::{Error, Loss, Rng};

/// The order of visits and where it stands.
pub(crate) struct VisitOrder {
    pub rows: usize,
    /// The rows of this pass in visiting order.
    pub order: Vec<u32>,
    /// Where the pass stands: rows visited, and rows kept for the next pass, which are moved to the front.
    pub position: usize,
    pub kept: usize,
    /// Passes begun, and the pass in which all rows are visited again.
    pub passes: u64,
    pub wake_at: u64,
    /// Rows of the passes begun since all were visited.
    awake: usize,
    /// Rows pressed harder than this against the end of their range are settled,
    pub calm: f64,
    /// and so are rows this close to optimal.
    pub dull: f64,
    pub pace: Pace,
    /// Violations and visits of the current pass.
    pub violation: f64,
    pub visits: f64,
    /// What rows that settled before this pass, and those that settled in it, add to loss and gap.
    pub settled: Settled,
    pub newly_settled: Settled,
}

/// Loss and gap of settled rows, as they were when they settled.
#[derive(Clone, Copy, Default)]
pub(crate) struct Settled {
    pub loss: f64,
    pub gap: f64,
}

/// The first passes visit every row, so that the duals find their ends.
const FULL_PASSES: u64 = 2;
/// Settled rows wait longer by this fraction of all passes so far.
const WAKE_FRACTION: u64 = 4;
/// Rows pressed harder than this many times the mean violation count as settled.
const CALM: f64 = 2.0;

/// How boldly rows are taken for settled.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// Rows closer to optimal than this many times the mean violation are settled.
    dull: f64,
    /// Settled rows are visited again after this many passes, and a fraction of all passes so far.
    wake_after: u64,
    /// In any case after this many visits for each row.
    most_visits: f64,
}

/// Where others move the weights at the same moment, settled rows have to be looked at even if few rows are left to visit:
/// many passes over those say nothing of them.
const VISITS_AMONG_OTHERS: f64 = 2.0;

impl Pace {
    /// Passes until settled rows are visited again.
    fn wait(self, passes: u64) -> u64 {
        if self.wake_after == 0 { 0 } else { self.wake_after + passes / WAKE_FRACTION }
    }

    /// Where duals have no ends to be pressed against, rows settle by being nearly optimal, and for a short time
    /// only. On the hinge that slows convergence: its free rows are the ones that matter.
    ///
    /// With several workers the others move the weights too, and no row stays settled for long: all are visited.
    pub(crate) fn of(loss: Loss, workers: usize) -> Pace {
        match loss {
            _ if workers > 1 => Pace { dull: 0.0, wake_after: 0, most_visits: f64::INFINITY },
            Loss::Hinge => Pace { dull: 0.0, wake_after: 10, most_visits: f64::INFINITY },
            Loss::SmoothedHinge | Loss::Logistic | Loss::Squared => {
                Pace { dull: 0.1, wake_after: 4, most_visits: f64::INFINITY }
            }
        }
    }

    /// With several workers that see at once what the others do, rows settle as on one.
    pub(crate) fn at_once(loss: Loss) -> Pace {
        Pace { most_visits: VISITS_AMONG_OTHERS, ..Pace::of(loss, 1) }
    }
}

impl VisitOrder {
    pub(crate) fn new(rows: usize, pace: Pace) -> VisitOrder {
        VisitOrder {
            rows,
            order: Vec::new(),
            position: 0,
            kept: 0,
            passes: 0,
            wake_at: pace.wake_after,
            awake: 0,
            calm: f64::INFINITY,
            dull: 0.0,
            pace,
            violation: 0.0,
            visits: 0.0,
            settled: Settled::default(),
            newly_settled: Settled::default(),
        }
    }

    pub(crate) fn begin_pass_if_due(&mut self, rng: &mut Rng) {
        if self.position < self.order.len() {
            return;
        }
        self.order.truncate(self.kept);
        (self.position, self.kept) = (0, 0);
        let new = std::mem::take(&mut self.newly_settled);
        self.settled = Settled { loss: self.settled.loss + new.loss, gap: self.settled.gap + new.gap };
        self.passes += 1;
        let mean = self.violation / self.visits.max(1.0);
        let settling = self.passes > FULL_PASSES && self.pace.wake_after > 0;
        (self.calm, self.dull) =
            if settling { (CALM * mean, self.pace.dull * mean) } else { (f64::INFINITY, 0.0) };
        (self.violation, self.visits) = (0.0, 0.0);
        let due =
            self.passes >= self.wake_at || self.awake as f64 >= self.pace.most_visits * self.rows as f64;
        if due || self.order.is_empty() {
            self.awake = 0;
            self.settled = Settled::default();
            self.order.clear();
            self.order.extend(0..self.rows as u32);
            self.wake_at = self.passes + self.pace.wait(self.passes);
        }
        self.awake += self.order.len();
        shuffle_buckets(&mut self.order, rng);
    }

    /// Makes a random sample of so many rows the next pass, or all of them as in a whole pass.
    pub(crate) fn begin_sample(&mut self, count: usize, rng: &mut Rng) {
        (self.position, self.kept) = (0, 0);
        self.order.clear();
        if count >= self.rows {
            self.order.extend(0..self.rows as u32);
            shuffle_buckets(&mut self.order, rng);
        } else {
            draw_buckets(self.rows, count, rng, &mut self.order);
        }
    }

    /// Makes these rows the next pass.
    pub(crate) fn begin_with(&mut self, rows: Vec<u32>) {
        (self.position, self.kept) = (0, 0);
        self.order = rows;
    }

    pub(crate) fn save(&self) -> Vec<f64> {
        let mut saved = vec![
            self.position as f64,
            self.kept as f64,
            self.passes as f64,
            self.wake_at as f64,
            self.awake as f64,
            self.calm,
            self.dull,
            self.violation,
            self.visits,
            self.settled.loss,
            self.settled.gap,
            self.newly_settled.loss,
            self.newly_settled.gap,
        ];
        saved.extend(self.order.iter().map(|row| f64::from(*row)));
        saved
    }

    pub(crate) fn restore(rows: usize, pace: Pace, saved: &[f64]) -> Result<VisitOrder, Error> {
        match saved {
            [
                position,
                kept,
                passes,
                wake_at,
                awake,
                calm,
                dull,
                violation,
                visits,
                loss,
                gap,
                new_loss,
                new_gap,
                order @ ..,
            ] if *position <= order.len() as f64
                && *kept <= *position
                && order.len() <= rows
                && order.iter().all(|row| *row < rows as f64) =>
            {
                Ok(VisitOrder {
                    rows,
                    order: order.iter().map(|row| *row as u32).collect(),
                    position: *position as usize,
                    kept: *kept as usize,
                    passes: *passes as u64,
                    wake_at: *wake_at as u64,
                    awake: *awake as usize,
                    calm: *calm,
                    dull: *dull,
                    pace,
                    violation: *violation,
                    visits: *visits,
                    settled: Settled { loss: *loss, gap: *gap },
                    newly_settled: Settled { loss: *new_loss, gap: *new_gap },
                })
            }
            _ => Err(Error::Checkpoint("the order of visits is damaged".to_owned())),
        }
    }
}

/// Neighbouring rows that stay together when rows are shuffled. More are faster to read, but neighbours that are
/// always visited in a row slow convergence on the hinge.
const BUCKET: usize = 8;

/// Shuffles stretches of neighbouring rows, which are at hand together, rather than single rows.
fn shuffle_buckets(order: &mut [u32], rng: &mut Rng) {
    let buckets = order.len() / BUCKET;
    for last in (1..buckets).rev() {
        let other = rng.random_range(0..=last);
        if other != last {
            let (front, back) = order.split_at_mut(last * BUCKET);
            front[other * BUCKET..(other + 1) * BUCKET].swap_with_slice(&mut back[..BUCKET]);
        }
    }
}

/// Draws so many of the rows, in stretches of neighbours. The last stretch is cut off, so there are several even of a few
/// rows: else the end of a stretch would never be drawn.
fn draw_buckets(rows: usize, count: usize, rng: &mut Rng, drawn: &mut Vec<u32>) {
    let bucket = (count / BUCKET).clamp(1, BUCKET);
    let last = rows / bucket - 1;
    let mut buckets: Vec<u32> = (0..=last as u32).collect();
    for at in 0..count.div_ceil(bucket).min(buckets.len()) {
        let other = rng.random_range(at..=last);
        buckets.swap(at, other);
        let begin = buckets[at] as usize;
        // The last bucket takes what is left over.
        let end = if begin == last { rows } else { (begin + 1) * bucket };
        drawn.extend((begin * bucket) as u32..end as u32);
    }
    drawn.truncate(count);
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn samples_have_as_many_different_rows_as_asked_for_and_leave_none_out() {
        for (rows, count) in [(1, 1), (5, 2), (9, 8), (64, 13), (1000, 200), (1003, 999)] {
            let mut order = VisitOrder::new(rows, Pace::of(Loss::Logistic, 2));
            let mut seen = vec![0; rows];
            let draws = 200 * rows / count;
            for draw in 0..draws as u64 {
                order.begin_sample(count, &mut Rng::seed_from_u64(draw));
                let mut sample = order.order.clone();
                sample.sort_unstable();
                sample.dedup();
                assert_eq!(sample.len(), count, "{count} of {rows}");
                sample.iter().for_each(|row| seen[*row as usize] += 1);
            }
            // 200 on average; a row at the end of a stretch is cut off now and then.
            let (least, most) = (seen.iter().min().unwrap(), seen.iter().max().unwrap());
            assert!(*least > 120 && *most < 280, "{count} of {rows}: {least} to {most}");
        }
    }
}
