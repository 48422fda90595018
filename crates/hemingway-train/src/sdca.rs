//! Stochastic dual coordinate ascent on one worker's rows: the local solver of CoCoA and CoCoA+.
//!
//! A pass visits rows in random order and sets each dual to its best value given all others of this worker. The
//! other workers are accounted for by σ' in u = w + σ'Δw. On one worker this is plain SDCA.
//!
//! Three things make it fast. Settled rows are skipped (module `visit_order`). Curvatures are computed at the first
//! visit, when the row is in cache anyway. And each visit leaves behind what it saw, which adds up to a free estimate
//! of objective and gap (module `gap_estimate`).
//!
//! On losses with corners the weights jump around the optimum from round to round; their average over recent rounds
//! does not, and is what the solver proposes.
//!
//! A bias has no penalty, so its dual is a constraint, Σ α = 0. It is met in the limit by the method of
//! multipliers: within a round the bias has a quadratic penalty around a centre, and after it the centre moves.

use std::ops::Range;
use std::sync::Arc;

use crate::engines::{Change, Journal};
use crate::gap_estimate::GapEstimate;
use crate::kernels::{Rows, Task, fastest, prefetch, with_rows};
use crate::local::penalty;
use crate::loss::{Shape, Tally, with_loss};
use crate::recent::Recent;
use crate::visit_order::{Pace, Settled, VisitOrder};
use crate::{Error, Estimate, Worker};

/// How the workers' changes become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aggregation {
    /// Each change counts 1/m, and workers solve as if alone (CoCoA: γ = 1/m, σ' = 1).
    Averaging,
    /// Changes add up, and each worker expects the others to do as it does (CoCoA+: γ = 1, σ' = m).
    Adding,
    /// Everyone makes the changes of all at once (PASSCoDe), and takes rows for so many times more curved than they are.
    AtOnce {
        /// How many times.
        sigma: f64,
    },
}

/// Dual state of this worker's rows, and the weights that belong to all duals of all workers.
pub struct Sdca {
    aggregation: Aggregation,
    coordinates: Vec<Coordinate>,
    /// w(α), the same on every worker between rounds.
    weights: Vec<f64>,
    visit_order: VisitOrder,
    /// Penalty of the bias around its centre (μ), where there is a bias.
    bias_penalty: Option<f64>,
    /// Rounds done, and the average of their weights where the loss has corners.
    recent: Recent,
    cornered: bool,
    gap_estimate: GapEstimate,
    /// What the last visit to shared weights changes.
    held: Option<Held>,
    /// What visits to shared weights have shown since workers last conferred.
    seen: VisitSums,
}

/// A change that is known and has not happened yet.
#[derive(Debug, Clone, Copy)]
struct Held {
    row: usize,
    alpha: f64,
}

/// All that a visit needs of a row, in one place.
#[derive(Clone, Copy)]
struct Coordinate {
    dual: f64,
    /// σ'‖x‖²/(λn), unknown (NaN) before the first visit. A 32-bit number would end at values of about 1e18.
    curvature: f64,
    target: f32,
    /// Prediction averaged over rounds like the weights, where the loss has corners.
    average: f32,
}

impl Sdca {
    /// Begins at these duals and their weights.
    pub fn new(
        worker: &mut Worker,
        duals: Vec<f64>,
        weights: Vec<f64>,
        aggregation: Aggregation,
    ) -> Result<Sdca, Error> {
        let coordinate = |(dual, target): (&f64, &f32)| Coordinate {
            dual: *dual,
            curvature: f64::NAN,
            target: *target,
            average: 0.0,
        };
        let coordinates: Vec<_> = duals.iter().zip(worker.local.targets()).map(coordinate).collect();
        let bias_penalty = worker.local.problem.bias.then(|| bias_penalty(worker)).transpose()?;
        // What others do is seen at once, as if they were this worker.
        let at_once = matches!(aggregation, Aggregation::AtOnce { .. });
        let workers = if at_once { 1 } else { worker.size() };
        let visit_order = VisitOrder::new(coordinates.len(), Pace::of(worker.local.problem.loss, workers));
        let cornered = worker.local.problem.loss.smoothness().is_none();
        let gap_estimate = GapEstimate::new(if cornered { worker.local.conjugate(&duals, 1.0) } else { 0.0 });
        let recent = Recent::new(&weights);
        Ok(Sdca {
            aggregation,
            coordinates,
            weights,
            visit_order,
            bias_penalty,
            recent,
            cornered,
            gap_estimate,
            held: None,
            seen: VisitSums::default(),
        })
    }

    /// One round: `steps` local visits, then one sum over the workers.
    pub fn round(&mut self, worker: &mut Worker, steps: usize) -> Result<(), Error> {
        let before = (worker.size() > 1).then(|| self.remember());
        let visited = self.visit(worker, self.recent.rounds, steps);
        let [loss, gap] = self.of_all_rows(&visited);
        let mut sums = [loss, gap, 0.0, 0.0];
        match before {
            Some(before) => self.aggregate(worker, before, visited.conjugate, &mut sums)?,
            None => self.add_duals(visited.conjugate, 1.0, &mut sums),
        }
        let [loss, gap, conjugate, duals] = sums;
        self.move_centre(worker, duals);
        self.finish_round();
        self.observe(worker, worker.size() == 1, loss, gap, conjugate);
        Ok(())
    }

    /// Loss and gap of this worker's rows, from visits to some of them.
    fn of_all_rows(&self, visited: &VisitSums) -> [f64; 2] {
        let scope = (self.visit_order.order.len() as f64 / visited.visits.max(1.0)).max(1.0);
        let Settled { loss, gap } = self.visit_order.settled;
        [visited.loss * scope + loss, visited.gap * scope + gap]
    }

    /// What a round shows of objective and gap.
    fn observe(&mut self, worker: &Worker, reliable: bool, loss: f64, gap: f64, conjugate: f64) {
        let local = &worker.local;
        let penalty = |weights: &[f64]| penalty(local.problem, local.features(), weights);
        let n = local.total_rows as f64;
        if self.cornered {
            let primal = loss / n + penalty(&self.recent.average);
            self.gap_estimate.observe_average(primal, -conjugate / n - penalty(&self.weights));
        } else {
            // With several workers that wait for one another the duals lag behind the weights, and the gap at visits
            // says little.
            self.gap_estimate.observe_visits(reliable, loss / n + penalty(&self.weights), gap / n);
        }
    }

    /// What all workers' visits of the last round show, where rounds have no sum.
    pub fn estimate_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let visited = std::mem::take(&mut self.seen);
        let [loss, gap] = self.of_all_rows(&visited);
        self.gap_estimate.conjugate += visited.conjugate;
        let mut sums = [loss, gap, self.gap_estimate.conjugate];
        worker.sum(&mut sums)?;
        let [loss, gap, conjugate] = sums;
        self.observe(worker, true, loss, gap, conjugate);
        Ok(())
    }

    /// A round has ended.
    pub fn finish_round(&mut self) {
        if self.cornered {
            self.recent.add(&self.weights);
        } else {
            self.recent.rounds += 1;
        }
    }

    /// Σ φ*(−α), kept up to date by what changed, and Σ α.
    fn add_duals(&mut self, conjugate_change: f64, gamma: f64, sums: &mut [f64; 4]) {
        // On the hinge φ* is linear, so averaged duals have the averaged conjugate.
        self.gap_estimate.conjugate += gamma * conjugate_change;
        sums[2] = self.gap_estimate.conjugate;
        sums[3] = self.sum_of_duals();
    }

    fn remember(&self) -> Before {
        let averaging = self.aggregation == Aggregation::Averaging;
        Before { weights: self.weights.clone(), duals: if averaging { self.duals() } else { Vec::new() } }
    }

    /// Σ α, where there is a bias.
    pub fn sum_of_duals(&self) -> f64 {
        match self.bias_penalty {
            Some(_) => self.coordinates.iter().map(|coordinate| coordinate.dual).sum(),
            None => 0.0,
        }
    }

    /// Turns every worker's local change into the common one.
    fn aggregate(
        &mut self,
        worker: &mut Worker,
        before: Before,
        conjugate_change: f64,
        sums: &mut [f64; 4],
    ) -> Result<(), Error> {
        let gamma = self.aggregation.gamma(worker.size());
        for (coordinate, before) in self.coordinates.iter_mut().zip(&before.duals) {
            coordinate.dual = before + gamma * (coordinate.dual - before);
        }
        self.add_duals(conjugate_change, gamma, sums);
        // The local copy moved by σ'Δw_k; what counts is γΔw_k.
        let share = gamma / self.aggregation.sigma(worker.size());
        let pairs = self.weights.iter().zip(&before.weights);
        let mut change: Vec<f64> = pairs.map(|(now, then)| share * (now - then)).collect();
        change.extend(sums.iter());
        worker.sum(&mut change)?;
        sums.copy_from_slice(&change[self.weights.len()..]);
        self.weights = before.weights;
        self.weights.iter_mut().zip(&change).for_each(|(weight, change)| *weight += change);
        Ok(())
    }

    /// The multiplier step of the bias.
    fn move_centre(&mut self, worker: &Worker, sum_of_duals: f64) {
        if let Some(penalty) = self.bias_penalty {
            let bias = worker.local.features();
            self.weights[bias] += sum_of_duals / (penalty * worker.local.total_rows as f64);
        }
    }

    /// Visits rows until `steps` are used up. Settled rows cost nothing but count as visited.
    fn visit(&mut self, worker: &mut Worker, round: u64, steps: usize) -> VisitSums {
        let mut rng = worker.rng(round);
        let mut visited = VisitSums::default();
        let mut left = steps as f64;
        while left >= 1.0 {
            self.visit_order.begin_pass_if_due(&mut rng);
            let VisitOrder { rows, order, position, .. } = &self.visit_order;
            let per_visit = *rows as f64 / order.len() as f64;
            let until = position + (left / per_visit).ceil() as usize;
            let range = *position..until.min(order.len());
            let part = self.visit_stretch(worker, range);
            left -= part.visits * per_visit;
            visited.add(&part);
        }
        worker.local.meter(visited.values);
        worker.local.meter_visits(visited.visits);
        visited
    }

    fn visit_stretch(&mut self, worker: &Worker, range: Range<usize>) -> VisitSums {
        let (matrix, rows_range) = worker.local.matrix();
        let sigma = self.aggregation.sigma(worker.size());
        let n = worker.local.total_rows as f64;
        let scale = sigma / (worker.local.problem.lambda * n);
        let bias_scale = self.bias_penalty.map(|penalty| sigma / (penalty * n));
        let first = rows_range.start;
        let share = self.recent.next_share();
        let features = worker.local.features();
        let Sdca { coordinates, weights, visit_order, .. } = self;
        let (weights, bias) = weights.split_at_mut(features);
        with_rows!(matrix, rows => with_loss!(worker.local.problem.loss, loss => match bias_scale {
            None => fastest(Stretch {
                rows, loss, first, scale, bias_scale: 0.0, sigma: 1.0, share, range, coordinates, visit_order,
                weights: Own::<false> { weights, bias },
            }),
            Some(bias_scale) => fastest(Stretch {
                rows, loss, first, scale, bias_scale, sigma: 1.0, share, range, coordinates, visit_order,
                weights: Own::<true> { weights, bias },
            }),
        }))
    }

    /// Up to so many visits, each with all that the others have told by then. What the last visit changes is held back until
    /// [`release`](Sdca::release). Returns how many visits there were.
    pub fn visit_together(&mut self, worker: &mut Worker, told: &mut Told, steps: usize) -> u64 {
        let mut rng = worker.rng(self.visit_order.passes);
        self.visit_order.begin_pass_if_due(&mut rng);
        let position = self.visit_order.position;
        let range = position..(position + steps).min(self.visit_order.order.len());
        let (matrix, rows_range) = worker.local.matrix();
        let sigma = self.aggregation.sigma(worker.size());
        let [scale, bias_scale] = self.scales(worker);
        let (first, share) = (rows_range.start, self.recent.next_share());
        let Sdca { coordinates, weights, visit_order, .. } = self;
        let over = || worker.is_over();
        let visited = with_rows!(matrix, rows => with_loss!(worker.local.problem.loss, loss => fastest(Stretch {
            rows, loss, first, scale, bias_scale, sigma, share, range, coordinates, visit_order,
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

    /// How far a unit of α moves the weights along its row, and the bias.
    pub fn scales(&self, worker: &Worker) -> [f64; 2] {
        let n = worker.local.total_rows as f64;
        let of = |penalty: f64| 1.0 / (penalty * n);
        [of(worker.local.problem.lambda), self.bias_penalty.map_or(0.0, of)]
    }

    /// Makes all that the others have told by now.
    pub fn catch_up(&mut self, worker: &mut Worker, told: &mut Told) {
        let (matrix, _) = worker.local.matrix();
        let [scale, bias_scale] = self.scales(worker);
        let over = || worker.is_over();
        let mut weights =
            Together::new(&mut self.weights, worker.local.features(), bias_scale / scale, told, &over);
        with_rows!(matrix, rows => weights.catch_up::<false, _>(rows));
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

    /// Replaces the average of recent weights.
    pub fn average(&mut self) -> &mut Vec<f64> {
        &mut self.recent.average
    }

    /// w(α).
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weights to score and return.
    pub fn proposal(&self) -> &[f64] {
        self.average_of_recent().unwrap_or(&self.weights)
    }

    /// The average over recent rounds, where the loss has corners.
    pub fn average_of_recent(&self) -> Option<&[f64]> {
        self.cornered.then_some(&self.recent.average)
    }

    /// α of this worker's rows.
    pub fn duals(&self) -> Vec<f64> {
        self.coordinates.iter().map(|coordinate| coordinate.dual).collect()
    }

    /// What the visits of the last round showed.
    pub fn estimate(&self) -> Option<Estimate> {
        self.gap_estimate.estimate
    }

    /// Duals and weights, when nothing else is wanted any more.
    pub fn into_parts(self) -> (Vec<f64>, Vec<f64>) {
        (self.duals(), self.weights)
    }

    /// State besides duals and weights.
    pub fn save(&self) -> Vec<f64> {
        let mut saved = self.recent.save();
        saved.extend(self.gap_estimate.save());
        saved.extend(self.coordinates.iter().map(|coordinate| f64::from(coordinate.average)));
        saved.extend(self.visit_order.save());
        saved
    }

    /// Takes up the state that [`save`](Sdca::save) wrote.
    pub fn restore(&mut self, saved: &[f64]) -> Result<(), Error> {
        let rest = self.recent.restore(saved)?;
        let (gap_estimate, rest) =
            rest.split_at_checked(GapEstimate::SAVED).ok_or_else(Error::damaged_worker)?;
        self.gap_estimate = GapEstimate::restore(gap_estimate);
        let rows = self.coordinates.len();
        let (averages, rest) = rest.split_at_checked(rows).ok_or_else(Error::damaged_worker)?;
        for (coordinate, average) in self.coordinates.iter_mut().zip(averages) {
            coordinate.average = *average as f32;
        }
        self.visit_order = VisitOrder::restore(rows, self.visit_order.pace, rest)?;
        Ok(())
    }
}

/// State at the beginning of a round.
struct Before {
    weights: Vec<f64>,
    duals: Vec<f64>,
}

/// What visits showed, each row as it was then.
#[derive(Default)]
struct VisitSums {
    loss: f64,
    gap: f64,
    /// Change of Σ φ*(−α).
    conjugate: f64,
    visits: f64,
    /// Stored values read.
    values: f64,
    held: Option<Held>,
}

impl VisitSums {
    fn add(&mut self, other: &VisitSums) {
        self.loss += other.loss;
        self.gap += other.gap;
        self.conjugate += other.conjugate;
        self.visits += other.visits;
        self.values += other.values;
    }
}

impl Aggregation {
    /// γ.
    fn gamma(self, workers: usize) -> f64 {
        match self {
            Aggregation::Averaging => 1.0 / workers as f64,
            Aggregation::Adding | Aggregation::AtOnce { .. } => 1.0,
        }
    }

    /// σ'.
    fn sigma(self, workers: usize) -> f64 {
        match self {
            Aggregation::Averaging => 1.0,
            Aggregation::Adding => workers as f64,
            Aggregation::AtOnce { sigma } => sigma,
        }
    }
}

/// A penalty of the bias that curves its dual as much as an average row curves that of the weights.
fn bias_penalty(worker: &mut Worker) -> Result<f64, Error> {
    let (matrix, range) = worker.local.matrix();
    let norms: f64 = with_rows!(matrix, rows => range.map(|row| rows.squared_norm(row)).sum());
    worker.local.meter(worker.local.stored() as f64);
    let mean = worker.sum_of(norms)? / worker.local.total_rows as f64;
    Ok(worker.local.problem.lambda / mean.max(1e-12))
}

/// Weights that visits read and change.
trait Weights {
    /// Whether others change them too.
    const SHARED: bool;
    /// The prediction for a row.
    fn prediction<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize) -> f64;
    /// Moves along a row.
    fn add<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize, along: f64, bias_change: f64);
}

/// Weights of this worker alone.
struct Own<'a, const BIAS: bool> {
    weights: &'a mut [f64],
    bias: &'a mut [f64],
}

impl<const BIAS: bool> Weights for Own<'_, BIAS> {
    const SHARED: bool = false;

    #[inline(always)]
    fn prediction<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize) -> f64 {
        rows.dot::<FMA>(row, self.weights) + if BIAS { self.bias[0] } else { 0.0 }
    }

    #[inline(always)]
    fn add<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize, along: f64, bias_change: f64) {
        rows.add::<FMA>(row, along, self.weights);
        if BIAS {
            self.bias[0] += bias_change;
        }
    }
}

/// In place of a row: the centre of the bias moves.
const THE_CENTRE: usize = usize::MAX;

/// How far this worker has read what the others tell.
#[derive(Debug)]
pub struct Told {
    journal: Arc<Journal>,
    rank: usize,
    /// Changes of each worker that these weights have; of this one all that it made.
    read: Vec<u64>,
    /// Stored values that were read to make changes of others.
    values: f64,
    /// The sum of all changes: how far the sum of the duals would move weights along a row.
    moved: f64,
}

impl Told {
    /// Nothing yet, but for duals that had moved so far before.
    pub fn new(journal: Arc<Journal>, rank: usize, moved: f64) -> Told {
        let read = vec![0; journal.workers()];
        Told { journal, rank, read, values: 0.0, moved }
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
        let Told { journal, rank, read, values, moved } = &mut *self.told;
        for other in (0..read.len()).filter(|other| other != rank) {
            let written = journal.written(other);
            if written == read[other] {
                continue;
            }
            for at in read[other]..written {
                let Change { row, along } = journal.read(other, at);
                if row == THE_CENTRE {
                    self.bias.iter_mut().for_each(|bias| **bias += along);
                    continue;
                }
                rows.add::<FMA>(row, along, self.weights);
                if let Some(bias) = &mut self.bias {
                    **bias += along * self.bias_ratio;
                    *moved += along;
                }
                *values += rows.length(row) as f64;
            }
            read[other] = written;
            journal.told(other, *rank, written);
        }
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

/// Visits to a stretch of the order.
struct Stretch<'a, R, S, W> {
    rows: R,
    loss: S,
    /// Where this worker's rows begin in the matrix.
    first: usize,
    /// σ'/(λn): what a unit of α adds to u along its row.
    scale: f64,
    /// σ'/(μn): what it adds to the bias.
    bias_scale: f64,
    /// How many times more curved a row seems than it is, for the sake of what others do at the same time.
    sigma: f64,
    /// How much of the average this round is.
    share: f64,
    range: Range<usize>,
    weights: W,
    coordinates: &'a mut [Coordinate],
    visit_order: &'a mut VisitOrder,
}

/// A step along a curvature beyond this is too short for 64-bit numbers, and products with it would not be finite.
const MOST_CURVATURE: f64 = 1e300;

/// How many visits ahead a row is asked for.
const LOOK_AHEAD: usize = 3;

impl<R: Rows, S: Shape, W: Weights> Task for Stretch<'_, R, S, W> {
    type Output = VisitSums;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> VisitSums {
        let Stretch {
            rows,
            loss,
            first,
            scale,
            bias_scale,
            sigma,
            share,
            range,
            mut weights,
            coordinates,
            visit_order,
        } = self;
        let VisitOrder { order, position, kept, calm, dull, violation, visits, newly_settled, .. } =
            visit_order;
        let end = range.end;
        let mut visited = VisitSums::default();
        let mut tally = Tally::default();
        let mut averages = 0.0;
        for at in range {
            if let Some(later) = order.get(at + 2 * LOOK_AHEAD) {
                rows.prefetch_place(first + *later as usize);
                prefetch(&coordinates[*later as usize]);
            }
            if let Some(soon) = order.get(at + LOOK_AHEAD) {
                rows.prefetch(first + *soon as usize);
            }
            let row = order[at] as usize;
            let coordinate = &mut coordinates[row];
            if coordinate.curvature.is_nan() {
                let curvature = sigma * (scale * rows.squared_norm(first + row) + bias_scale);
                coordinate.curvature = curvature.min(MOST_CURVATURE);
            }
            let (old, target) = (coordinate.dual, f64::from(coordinate.target));
            let prediction = weights.prediction::<FMA, R>(rows, first + row);
            let visit = loss.visit(old, prediction, target, coordinate.curvature, &mut tally);
            if S::CORNERED {
                let moved =
                    coordinate.average + (share * (prediction - f64::from(coordinate.average))) as f32;
                coordinate.average = moved.clamp(f32::MIN, f32::MAX);
                averages += loss.value(f64::from(coordinate.average), target);
            }
            let length = rows.length(first + row) as f64;
            visited.gap += visit.gap;
            visited.visits += 1.0;
            visited.values += length;
            *violation += visit.violation;
            if visit.pressed > *calm || visit.violation < *dull {
                let at = if S::CORNERED { f64::from(coordinate.average) } else { prediction };
                newly_settled.loss += loss.value(at, target);
                newly_settled.gap += visit.gap;
                continue;
            }
            order[*kept] = row as u32;
            *kept += 1;
            if visit.alpha != old {
                visited.values += length;
                if S::CORNERED {
                    visited.conjugate += loss.conjugate(visit.alpha, target) - loss.conjugate(old, target);
                }
                if W::SHARED && at + 1 == end {
                    visited.held = Some(Held { row, alpha: visit.alpha });
                    continue;
                }
                let change = visit.alpha - old;
                coordinate.dual = visit.alpha;
                weights.add::<FMA, R>(rows, first + row, scale * change, bias_scale * change);
            }
        }
        *position += visited.visits as usize;
        *visits += visited.visits;
        visited.loss = if S::CORNERED { averages } else { tally.total() };
        visited
    }
}
