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

mod at_once;

use std::ops::Range;

use crate::aggregation::{Aggregation, Crowding};
use crate::gap_estimate::GapEstimate;
use crate::kernels::{Rows, Task, fastest, prefetch, with_rows};
use crate::local::{dot, penalty};
use crate::loss::{Losses, Shape, Tally, with_losses};
use crate::recent::Recent;
use crate::visit_order::{Pace, Settled, VisitOrder};
use crate::{Error, Estimate, Worker};

use at_once::Held;
pub use at_once::Told;

/// Numbers that workers sum in a round beside the weights.
pub(crate) const SUMS: usize = 7;

/// Dual state of this worker's rows, and the weights that belong to all duals of all workers.
pub struct Sdca {
    crowding: Crowding,
    /// The penalty that steps see: λ, and more where there is a proximal term.
    penalty: f64,
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
    /// Where workers do not wait for one another: what the last visit changes,
    held: Option<Held>,
    /// and what visits have shown since workers last conferred.
    seen: VisitSums,
}

/// All that a visit needs of a row, in one place.
#[derive(Clone, Copy)]
struct Coordinate {
    dual: f64,
    /// ‖x‖²/(λn), unknown (NaN) before the first visit. A 32-bit number would end at values of about 1e18.
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
        let visit_order =
            VisitOrder::new(coordinates.len(), Pace::of(worker.local.problem.loss, worker.size()));
        let cornered = worker.local.problem.loss.smoothness().is_none();
        let gap_estimate = GapEstimate::new(if cornered { worker.local.conjugate(&duals, 1.0) } else { 0.0 });
        let recent = Recent::new(&weights);
        Ok(Sdca {
            crowding: Crowding::new(aggregation, worker.size()),
            penalty: worker.local.problem.lambda,
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

    /// Steps as if the penalty were this one, of which a proximal term is a part.
    pub fn with_penalty(self, penalty: f64) -> Sdca {
        Sdca { penalty, ..self }
    }

    /// Moves the weights, as their proximal term moves. The bias, which has none, stays.
    pub fn shift(&mut self, by: &[f64]) {
        self.weights.iter_mut().zip(by).for_each(|(weight, by)| *weight += by);
    }

    /// One round: `steps` local visits, then one sum over the workers.
    pub fn round(&mut self, worker: &mut Worker, steps: usize) -> Result<(), Error> {
        let before = (worker.size() > 1).then(|| self.remember());
        let visited = self.visit(worker, self.recent.rounds, steps);
        let of = self.visit_order.order.len();
        self.finish_round(worker, before, visited, of)
    }

    /// One round on a random sample of so many rows, each visited once. On all of them it is a [`round`](Sdca::round)
    /// in which no row is settled.
    pub fn round_on_sample(&mut self, worker: &mut Worker, count: usize) -> Result<(), Error> {
        let before = (worker.size() > 1).then(|| self.remember());
        let (rounds, rows) = (self.recent.rounds, self.visit_order.rows);
        let mut rng = worker.rng(rounds);
        if worker.picks_in_order() {
            self.visit_order.begin_with(worker.pick(&mut rng, rows, rounds * count as u64, count));
        } else {
            self.visit_order.begin_sample(count, &mut rng);
        }
        let visited = self.visit_stretch(worker, 0..self.visit_order.order.len());
        meter(worker, &visited);
        let of = self.visit_order.rows;
        self.finish_round(worker, before, visited, of)
    }

    /// What follows the visits, which stand for so many rows.
    fn finish_round(
        &mut self,
        worker: &mut Worker,
        before: Option<Before>,
        visited: VisitSums,
        of: usize,
    ) -> Result<(), Error> {
        let [loss, gap] = self.of_all_rows(&visited, of);
        let mut sums = Sums {
            loss,
            gap,
            conjugate: self.gap_estimate.conjugate,
            conjugate_change: visited.conjugate,
            ..Sums::default()
        };
        let share = match before {
            Some(before) => self.aggregate(worker, before, &mut sums)?,
            None => {
                sums.duals_change = self.sum_of_duals();
                1.0
            }
        };
        // On the hinge φ* is linear: a share of the change has this share of it.
        self.gap_estimate.conjugate += share * visited.conjugate;
        self.move_centre(worker, sums.duals + share * sums.duals_change);
        self.count_round();
        let conjugate = sums.conjugate + share * sums.conjugate_change;
        // With several workers that wait for one another the duals lag behind the weights, and the gap at visits says
        // little.
        self.observe(worker, worker.size() == 1, [sums.loss, sums.gap, conjugate]);
        Ok(())
    }

    /// A round has ended.
    pub fn count_round(&mut self) {
        if self.cornered {
            self.recent.add(&self.weights);
        } else {
            self.recent.rounds += 1;
        }
    }

    /// Loss and gap of this worker's rows, from visits that stand for so many of them.
    fn of_all_rows(&self, visited: &VisitSums, of: usize) -> [f64; 2] {
        let scope = (of as f64 / visited.visits.max(1.0)).max(1.0);
        let Settled { loss, gap } = self.visit_order.settled;
        [visited.loss * scope + loss, visited.gap * scope + gap]
    }

    /// What loss, gap and Σ φ*(−α) of all rows say of objective and gap.
    fn observe(&mut self, worker: &Worker, reliable: bool, [loss, gap, conjugate]: [f64; 3]) {
        let local = &worker.local;
        let penalty = |weights: &[f64]| penalty(local.problem, local.features(), weights);
        let n = local.total_rows as f64;
        if self.cornered {
            let primal = loss / n + penalty(&self.recent.average);
            self.gap_estimate.observe_average(primal, -conjugate / n - penalty(&self.weights));
        } else {
            self.gap_estimate.observe_visits(reliable, loss / n + penalty(&self.weights), gap / n);
        }
    }

    fn remember(&self) -> Before {
        Before { weights: self.weights.clone(), duals: self.duals() }
    }

    /// Σ α, where there is a bias.
    pub fn sum_of_duals(&self) -> f64 {
        match self.bias_penalty {
            Some(_) => self.coordinates.iter().map(|coordinate| coordinate.dual).sum(),
            None => 0.0,
        }
    }

    /// Turns every worker's local change into the common one. Returns which share of it was taken.
    fn aggregate(&mut self, worker: &mut Worker, before: Before, sums: &mut Sums) -> Result<f64, Error> {
        // The local copy moved by σ'Δw_k.
        let scale = self.crowding.scale();
        let pairs = self.weights.iter().zip(&before.weights);
        let mut change: Vec<f64> = pairs.map(|(now, then)| scale * (now - then)).collect();
        if self.bias_penalty.is_some() {
            sums.duals = before.duals.iter().sum();
            sums.duals_change = self.sum_of_duals() - sums.duals;
        }
        sums.square = self.square(&change);
        change.extend(sums.to_numbers());
        worker.sum(&mut change)?;
        let (change, summed) = change.split_at(self.weights.len());
        *sums = Sums::from_numbers(summed);
        let share = self.crowding.share(sums.square, self.square(change));
        self.weights = before.weights;
        self.weights.iter_mut().zip(change).for_each(|(weight, change)| *weight += share.weights * change);
        if share.duals != 1.0 {
            for (coordinate, before) in self.coordinates.iter_mut().zip(&before.duals) {
                coordinate.dual = before + share.duals * (coordinate.dual - before);
            }
        }
        Ok(share.duals)
    }

    /// ‖Δw‖², in which a bias counts by its own penalty.
    fn square(&self, change: &[f64]) -> f64 {
        match (self.bias_penalty, change.split_last()) {
            (Some(penalty), Some((bias, change))) => {
                dot(change, change) + penalty / self.penalty * bias * bias
            }
            _ => dot(change, change),
        }
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
        meter(worker, &visited);
        visited
    }

    fn visit_stretch(&mut self, worker: &Worker, range: Range<usize>) -> VisitSums {
        let (matrix, rows_range) = worker.local.matrix();
        let sigma = self.crowding.expected();
        let [scale, bias_scale] = self.scales(worker);
        let (first, share) = (rows_range.start, self.recent.next_share());
        let bias = self.bias_penalty.is_some();
        let Sdca { coordinates, weights, visit_order, .. } = self;
        let (weights, constant) = weights.split_at_mut(worker.local.features());
        with_rows!(matrix, rows => with_losses!(worker.local.problem.loss, worker.local.weights(), losses => if bias {
            fastest(Stretch {
                rows, losses, first, sigma, scale, bias_scale, share, range, coordinates, visit_order,
                weights: Own::<true> { weights, constant },
            })
        } else {
            fastest(Stretch {
                rows, losses, first, sigma, scale, bias_scale, share, range, coordinates, visit_order,
                weights: Own::<false> { weights, constant },
            })
        }))
    }

    /// How far a unit of α moves the weights along its row, and the bias: 1/(λn) and 1/(μn).
    pub fn scales(&self, worker: &Worker) -> [f64; 2] {
        let n = worker.local.total_rows as f64;
        [1.0 / (self.penalty * n), self.bias_penalty.map_or(0.0, |penalty| 1.0 / (penalty * n))]
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
        saved.push(self.crowding.save());
        saved.extend(self.gap_estimate.save());
        saved.extend(self.coordinates.iter().map(|coordinate| f64::from(coordinate.average)));
        saved.extend(self.visit_order.save());
        saved
    }

    /// Takes up the state that [`save`](Sdca::save) wrote.
    pub fn restore(&mut self, saved: &[f64]) -> Result<(), Error> {
        let rest = self.recent.restore(saved)?;
        let (crowding, rest) = rest.split_first().ok_or_else(Error::damaged_worker)?;
        self.crowding.restore(*crowding);
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

/// What workers sum beside their changes of the weights.
#[derive(Clone, Copy, Default)]
struct Sums {
    loss: f64,
    gap: f64,
    /// Σ φ*(−α) before the round, and its change.
    conjugate: f64,
    conjugate_change: f64,
    /// Σ α where there is a bias, and its change.
    duals: f64,
    duals_change: f64,
    /// ‖Δw_k‖².
    square: f64,
}

impl Sums {
    fn to_numbers(self) -> [f64; SUMS] {
        let Sums { loss, gap, conjugate, conjugate_change, duals, duals_change, square } = self;
        [loss, gap, conjugate, conjugate_change, duals, duals_change, square]
    }

    fn from_numbers(numbers: &[f64]) -> Sums {
        match *numbers {
            [loss, gap, conjugate, conjugate_change, duals, duals_change, square] => {
                Sums { loss, gap, conjugate, conjugate_change, duals, duals_change, square }
            }
            _ => unreachable!("as many as were sent"),
        }
    }
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
    /// What the last visit changes, where that is held back.
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

fn meter(worker: &mut Worker, visited: &VisitSums) {
    worker.local.meter(visited.values);
    worker.local.meter_visits(visited.visits);
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
    /// Moves along a row, and the bias with it.
    fn add<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize, along: f64, bias_change: f64);
}

/// Weights of this worker alone.
struct Own<'a, const BIAS: bool> {
    weights: &'a mut [f64],
    constant: &'a mut [f64],
}

impl<const BIAS: bool> Weights for Own<'_, BIAS> {
    const SHARED: bool = false;

    #[inline(always)]
    fn prediction<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize) -> f64 {
        rows.dot::<FMA>(row, self.weights) + if BIAS { self.constant[0] } else { 0.0 }
    }

    #[inline(always)]
    fn add<const FMA: bool, R: Rows>(&mut self, rows: R, row: usize, along: f64, bias_change: f64) {
        rows.add::<FMA>(row, along, self.weights);
        if BIAS {
            self.constant[0] += bias_change;
        }
    }
}

/// Visits to a stretch of the order.
struct Stretch<'a, R, L, W> {
    rows: R,
    losses: L,
    /// Where this worker's rows begin in the matrix.
    first: usize,
    /// σ': what a unit of α adds to w it adds to u so many times.
    sigma: f64,
    /// 1/(λn): what it adds to w along its row.
    scale: f64,
    /// 1/(μn): what it adds to the bias.
    bias_scale: f64,
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

impl<R: Rows, L: Losses, W: Weights> Task for Stretch<'_, R, L, W> {
    type Output = VisitSums;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> VisitSums {
        let Stretch {
            rows,
            losses,
            first,
            sigma,
            scale,
            bias_scale,
            share,
            range,
            mut weights,
            coordinates,
            visit_order,
        } = self;
        // A copy of the weights that is this worker's own moves as if the others did as it does.
        let (step, bias_step) =
            if W::SHARED { (scale, bias_scale) } else { (sigma * scale, sigma * bias_scale) };
        let end = range.end;
        let VisitOrder { order, position, kept, calm, dull, violation, visits, newly_settled, .. } =
            visit_order;
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
                let curvature = scale * rows.squared_norm(first + row) + bias_scale;
                coordinate.curvature = curvature.min(MOST_CURVATURE);
            }
            let curvature = (sigma * coordinate.curvature).min(MOST_CURVATURE);
            let (old, target, loss) = (coordinate.dual, f64::from(coordinate.target), losses.of(row));
            let prediction = weights.prediction::<FMA, R>(rows, first + row);
            let visit = loss.visit(old, prediction, target, curvature, &mut tally);
            if L::Row::CORNERED {
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
                let at = if L::Row::CORNERED { f64::from(coordinate.average) } else { prediction };
                newly_settled.loss += loss.value(at, target);
                newly_settled.gap += visit.gap;
                continue;
            }
            order[*kept] = row as u32;
            *kept += 1;
            if visit.alpha != old {
                visited.values += length;
                if L::Row::CORNERED {
                    visited.conjugate += loss.conjugate(visit.alpha, target) - loss.conjugate(old, target);
                }
                if W::SHARED && at + 1 == end {
                    visited.held = Some(Held { row, alpha: visit.alpha });
                    continue;
                }
                let change = visit.alpha - old;
                coordinate.dual = visit.alpha;
                weights.add::<FMA, R>(rows, first + row, step * change, bias_step * change);
            }
        }
        *position += visited.visits as usize;
        *visits += visited.visits;
        visited.loss = if L::Row::CORNERED { averages } else { tally.total() };
        visited
    }
}
