//! Coordinate ascent of several workers at once: each has the changes of all others on its weights before every visit.

use std::sync::Arc;

use super::{Sdca, Stretch, Weights};
use crate::engines::{Change, Journal};
use crate::kernels::{Rows, fastest, with_rows};
use crate::loss::with_losses;
use crate::visit_order::{Pace, VisitOrder};
use crate::{Error, Worker};

/// A change that is known and has not happened yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub row: usize,
    pub alpha: f64,
}

impl Sdca {
    /// What others do is seen at once, so that rows settle as on one worker.
    pub fn at_once(mut self, worker: &Worker) -> Sdca {
        self.visit_order = VisitOrder::new(self.coordinates.len(), Pace::at_once(worker.local.problem.loss));
        self
    }

    /// Up to so many visits, each with all that the others have told by then. What the last visit changes is held back until
    /// [`release`](Sdca::release). Returns how many visits there were.
    pub fn visit_together(&mut self, worker: &mut Worker, told: &mut Told, steps: usize) -> u64 {
        let mut rng = worker.rng(self.visit_order.passes);
        self.visit_order.begin_pass_if_due(&mut rng);
        let position = self.visit_order.position;
        let range = position..(position + steps).min(self.visit_order.order.len());
        let (matrix, rows_range) = worker.local.matrix();
        let sigma = told.sigma;
        let [scale, bias_scale] = self.scales(worker);
        let (first, share) = (rows_range.start, self.recent.next_share());
        let Sdca { coordinates, weights, visit_order, .. } = self;
        let over = || worker.is_over();
        let (loss, row_weights) = (worker.local.problem.loss, worker.local.weights());
        let visited = with_rows!(matrix, rows => with_losses!(loss, row_weights, losses => fastest(Stretch {
            rows, losses, first, scale, bias_scale, sigma, share, range, coordinates, visit_order,
            weights: Together::new(weights, worker.local.features(), bias_scale / scale, told, &over),
        })));
        self.held = visited.held;
        self.seen.add(&visited);
        worker.local.meter(visited.values + std::mem::take(&mut told.values));
        worker.local.meter_visits(visited.visits);
        visited.visits as u64
    }

    /// Lets happen what the last visit found out, and tells the others.
    pub fn release(&mut self, worker: &mut Worker, told: &mut Told) {
        let Some(Held { row, alpha }) = self.held.take() else { return };
        let coordinate = &mut self.coordinates[row];
        let change = alpha - coordinate.dual;
        coordinate.dual = alpha;
        let (matrix, range) = worker.local.matrix();
        let [scale, bias_scale] = self.scales(worker);
        let over = || worker.is_over();
        let mut weights =
            Together::new(&mut self.weights, worker.local.features(), bias_scale / scale, told, &over);
        with_rows!(matrix, rows => weights.add::<false, _>(rows, range.start + row, scale * change, bias_scale * change));
    }

    /// Makes all that the others have told by now.
    fn catch_up(&mut self, worker: &mut Worker, told: &mut Told) {
        let (matrix, _) = worker.local.matrix();
        let [scale, bias_scale] = self.scales(worker);
        let over = || worker.is_over();
        let mut weights =
            Together::new(&mut self.weights, worker.local.features(), bias_scale / scale, told, &over);
        with_rows!(matrix, rows => weights.catch_up::<false, _>(rows));
    }

    /// The weights with all that the others have told by now. What this worker trains on stays as it is: in which order
    /// changes are summed there must not depend on who looks when.
    pub fn look(&mut self, worker: &Worker, told: &Told, weights: &mut [f64]) {
        weights.copy_from_slice(&self.weights);
        let (matrix, _) = worker.local.matrix();
        let [scale, bias_scale] = self.scales(worker);
        let mut copy = told.clone();
        let over = || worker.is_over();
        let mut weights =
            Together::new(weights, worker.local.features(), bias_scale / scale, &mut copy, &over);
        with_rows!(matrix, rows => for other in (0..told.read.len()).filter(|other| *other != told.rank) {
            for at in told.read[other]..told.journal.written(other) {
                weights.make::<false, _>(rows, told.journal.read(other, at));
            }
        });
    }

    /// Whoever leaves a round has to leave room in the rings of those who are still at their last visits: they would wait
    /// for a reader that waits for them.
    pub fn catch_up_if_far_behind(&mut self, worker: &mut Worker, told: &mut Told) {
        if told.is_far_behind() {
            self.catch_up(worker, told);
        }
    }

    /// The multiplier step of the bias, with what this worker knows of the duals of all; it tells the others.
    pub fn move_centre_of_all(&mut self, worker: &Worker, told: &mut Told) {
        let [scale, bias_scale] = self.scales(worker);
        let step = told.moved / scale * bias_scale;
        if self.bias_penalty.is_some() {
            let over = || worker.is_over();
            let features = worker.local.features();
            self.weights[features] += step;
            let mut weights = Together::new(&mut self.weights, features, 0.0, told, &over);
            weights.tell(Change { row: THE_CENTRE, along: step });
        }
    }

    /// What all workers' visits of the last round show, where rounds have no sum.
    pub fn estimate_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let visited = std::mem::take(&mut self.seen);
        let [loss, gap] = self.of_all_rows(&visited, self.visit_order.order.len());
        self.gap_estimate.conjugate += visited.conjugate;
        let mut sums = [loss, gap, self.gap_estimate.conjugate];
        worker.sum(&mut sums)?;
        self.observe(worker, true, sums);
        Ok(())
    }

    /// Replaces the average of recent weights.
    pub fn average(&mut self) -> &mut Vec<f64> {
        &mut self.recent.average
    }
}

/// In place of a row: the centre of the bias moves.
const THE_CENTRE: usize = usize::MAX;

/// How far this worker has read what the others tell.
#[derive(Debug, Clone)]
pub struct Told {
    journal: Arc<Journal>,
    rank: usize,
    /// How many times more curved rows are taken to be than they are, because others step at the same moment.
    sigma: f64,
    /// Changes of each worker that these weights have; of this one all that it made.
    read: Vec<u64>,
    /// Stored values that were read to make changes of others.
    values: f64,
    /// The sum of all changes: how far the sum of the duals would move weights along a row.
    moved: f64,
}

impl Told {
    /// Nothing yet, but for duals that had moved so far before.
    pub fn new(journal: Arc<Journal>, rank: usize, sigma: f64, moved: f64) -> Told {
        let read = vec![0; journal.workers()];
        Told { journal, rank, sigma, read, values: 0.0, moved }
    }

    fn is_far_behind(&self) -> bool {
        let mut others = (0..self.read.len()).filter(|other| *other != self.rank);
        others.any(|other| self.journal.is_far_ahead(other, self.read[other]))
    }
}

/// Weights of this worker with the changes of all others.
struct Together<'a, F> {
    weights: &'a mut [f64],
    bias: Option<&'a mut f64>,
    /// How far the bias moves for a unit along a row.
    bias_ratio: f64,
    told: &'a mut Told,
    over: &'a F,
}

impl<'a, F: Fn() -> bool> Together<'a, F> {
    fn new(
        weights: &'a mut [f64],
        features: usize,
        bias_ratio: f64,
        told: &'a mut Told,
        over: &'a F,
    ) -> Self {
        let (weights, bias) = weights.split_at_mut(features);
        Together { weights, bias: bias.first_mut(), bias_ratio, told, over }
    }

    #[inline(always)]
    fn tell(&mut self, change: Change) {
        let made = &mut self.told.read[self.told.rank];
        self.told.journal.write(self.told.rank, *made, change, self.over);
        *made += 1;
    }

    /// Makes the changes that the others have told since the last look.
    #[inline(always)]
    fn catch_up<const FMA: bool, R: Rows>(&mut self, rows: R) {
        for other in 0..self.told.read.len() {
            let (before, written) = (self.told.read[other], self.told.journal.written(other));
            if other == self.told.rank || written == before {
                continue;
            }
            for at in before..written {
                self.make::<FMA, R>(rows, self.told.journal.read(other, at));
            }
            self.told.read[other] = written;
            self.told.journal.told(other, self.told.rank, written);
        }
    }

    /// A change that another worker has told.
    #[inline(always)]
    fn make<const FMA: bool, R: Rows>(&mut self, rows: R, Change { row, along }: Change) {
        if row == THE_CENTRE {
            self.bias.iter_mut().for_each(|bias| **bias += along);
            return;
        }
        rows.add::<FMA>(row, along, self.weights);
        if let Some(bias) = &mut self.bias {
            **bias += along * self.bias_ratio;
            self.told.moved += along;
        }
        self.told.values += rows.length(row) as f64;
    }
}

impl<F: Fn() -> bool> Weights for Together<'_, F> {
    const SHARED: bool = true;

    #[inline(always)]
    fn prediction<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize) -> f64 {
        self.catch_up::<FMA, R>(rows);
        rows.dot::<FMA>(row, self.weights) + self.bias.as_ref().map_or(0.0, |bias| **bias)
    }

    #[inline(always)]
    fn add<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize, along: f64, bias_change: f64) {
        rows.add::<FMA>(row, along, self.weights);
        if let Some(bias) = &mut self.bias {
            **bias += bias_change;
            self.told.moved += along;
        }
        self.tell(Change { row, along });
    }
}
