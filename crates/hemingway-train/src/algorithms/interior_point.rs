//! An interior point method for the hinge: what Newton's method becomes where the loss has a corner.
//!
//! A row with target y and prediction p has a shortfall ξ ≥ 0 and a surplus s ≥ 0 with s − ξ = yp − 1, and a share a in
//! [0, 1] in the weights (its dual is ya). At the optimum s·a = 0 and ξ·(1 − a) = 0. Here all of them stay positive and
//! both products are led to zero together. A round solves a linear system for the direction to there and then, with the
//! same factors, for what a straight line misses (Mehrotra's corrector) and for the rows that lag behind (Gondzio's). It
//! takes ten to thirty rounds whatever the data; they prove little at first, and then more and more. A row that counts c
//! times has c times its share in the weights; its products are led to zero like all others.
//!
//! Good weights to begin with do not help, since what is at the border leaves it slowly: it always begins anew.
//!
//! Ferris and Munson, Interior-point methods for massive support vector machines, 2002.
//! Gondzio, Multiple centrality corrections in a primal-dual method for linear programming, 1996.

use super::cholesky::Cholesky;
use super::curvature::{factor, factor_cost};
use super::drift::Drift;
use super::line_search::add;
use super::vain::Vain;
use crate::local::penalty;
use crate::{Error, Estimate, Phase, Problem, Share, Solver, Work, Worker};

/// What both products are in the beginning.
const BEGIN: f64 = 1.0;
/// How far towards the border a round goes.
const ALMOST: f64 = 0.995;
/// A step of this length needs no correction.
const LONG: f64 = 0.9;
/// A corrected direction wants a step longer by this factor and this much more,
const LONGER: (f64, f64) = (1.5, 0.1);
/// after which products are within this factor of what was wanted,
const BAND: f64 = 10.0;
/// and is taken if its step is longer by this.
const WORTH: f64 = 0.01;
/// Steps below this lead nowhere.
const NOWHERE: f64 = 1e-15;
/// Products below this are rounding.
const ROUNDING: f64 = 4e-15;
/// Operations for each row and direction, on numbers that are in cache.
const ROW_FLOPS: f64 = 20.0;
/// How many rounds correct their direction a second time, on average over the runs of `bench/prior`.
const CORRECTIONS: f64 = 0.9;

/// What a round costs: the system with its first right side, then half a pass along each direction and half a pass for
/// each other right side.
pub(super) fn round(share: &Share) -> Vec<Phase> {
    let mut system = factor_cost(share, share.dimension);
    system.work += share.half_pass();
    let solving = Work::flops(direction_flops(share.dimension as f64, share.rows));
    let along = Phase::once(share.half_pass() + solving, share.workers as usize + 4);
    let right = Phase::once(share.half_pass(), share.dimension);
    vec![system, Phase { times: 2.0 + CORRECTIONS, ..along }, Phase { times: 1.0 + CORRECTIONS, ..right }]
}

fn direction_flops(dimension: f64, rows: f64) -> f64 {
    dimension * dimension + ROW_FLOPS * rows
}

/// All variables, between two rounds.
pub(super) struct InteriorPoint {
    problem: Problem,
    /// Rows over all workers, n.
    total_rows: f64,
    targets: Vec<f64>,
    /// How often each row counts, c, where they do not all count once.
    counts: Option<Vec<f32>>,
    /// w, the same on every worker.
    weights: Vec<f64>,
    /// (1/n) Σ c_i y_i a_i x_i − λw, what w lacks to be the weights of the duals. A step takes its length off it.
    residual: Vec<f64>,
    /// x_i·w.
    predictions: Vec<f64>,
    rows: Vec<Row>,
    totals: Totals,
    drift: Drift,
    vain: Vain,
}

/// The variables of a row, or their changes.
#[derive(Clone, Copy)]
struct Row {
    /// a.
    share: f64,
    /// 1 − a, kept for its precision near 0.
    rest: f64,
    /// s.
    surplus: f64,
    /// ξ.
    shortfall: f64,
}

/// By how much the products s·a and ξ·(1 − a) of a row are to change, to first order.
#[derive(Clone, Copy)]
struct Aim {
    surplus: f64,
    shortfall: f64,
}

/// Changes of all variables.
struct Direction {
    weights: Vec<f64>,
    predictions: Vec<f64>,
    rows: Vec<Row>,
}

/// Sums over all rows.
#[derive(Clone, Copy, Default)]
struct Totals {
    /// Σ s·a + ξ·(1 − a).
    products: f64,
    /// Σ c·ξ and Σ c·a.
    shortfalls: f64,
    shares: f64,
}

impl InteriorPoint {
    /// Begins in the middle, or with what was saved.
    pub(super) fn start(worker: &mut Worker, saved: Option<&[f64]>) -> Result<InteriorPoint, Error> {
        let (rows, dimension) = (worker.local.rows(), worker.local.dimension());
        let mut point = InteriorPoint {
            problem: worker.local.problem,
            total_rows: worker.local.total_rows as f64,
            targets: worker.local.targets().iter().map(|target| f64::from(*target)).collect(),
            counts: worker.local.weights().map(<[f32]>::to_vec),
            weights: vec![0.0; dimension],
            residual: vec![0.0; dimension],
            predictions: vec![0.0; rows],
            rows: vec![Row::central(-1.0); rows],
            totals: Totals::default(),
            drift: Drift::of(worker)?,
            vain: Vain::default(),
        };
        match saved {
            Some(saved) => point.restore(saved)?,
            None => point.begin(worker)?,
        }
        Ok(point)
    }

    fn begin(&mut self, worker: &mut Worker) -> Result<(), Error> {
        worker.local.combine(&self.duals_of_rows(), &mut self.residual);
        worker.sum(&mut self.residual)?;
        self.residual.iter_mut().for_each(|sum| *sum /= self.total_rows);
        let counted = worker.total_weight()?;
        // All rows begin alike.
        let row = Row::central(-1.0);
        self.totals = Totals {
            products: self.total_rows * row.products(),
            shortfalls: counted * row.shortfall,
            shares: counted * row.share,
        };
        Ok(())
    }

    fn restore(&mut self, saved: &[f64]) -> Result<(), Error> {
        let (dimension, rows) = (self.weights.len(), self.rows.len());
        if saved.len() != 4 + 2 * dimension + 5 * rows {
            return Err(Error::damaged_worker());
        }
        let (totals, saved) = saved.split_at(4);
        let (weights, saved) = saved.split_at(dimension);
        let (residual, saved) = saved.split_at(dimension);
        let (predictions, saved) = saved.split_at(rows);
        self.totals = Totals { products: totals[0], shortfalls: totals[1], shares: totals[2] };
        self.vain = Vain::restore(totals[3]);
        self.weights.copy_from_slice(weights);
        self.residual.copy_from_slice(residual);
        self.predictions.copy_from_slice(predictions);
        for (row, [share, rest, surplus, shortfall]) in self.rows.iter_mut().zip(saved.as_chunks().0) {
            *row = Row { share: *share, rest: *rest, surplus: *surplus, shortfall: *shortfall };
        }
        Ok(())
    }

    fn duals_of_rows(&self) -> Vec<f64> {
        let rows = self.rows.iter().zip(&self.targets).enumerate();
        rows.map(|(at, (row, target))| self.count(at) * (row.dual() * target)).collect()
    }

    /// c.
    fn count(&self, row: usize) -> f64 {
        self.counts.as_ref().map_or(1.0, |counts| f64::from(counts[row]))
    }

    /// What both products are on average, μ.
    fn mean_product(&self, totals: Totals) -> f64 {
        totals.products / (2.0 * self.total_rows)
    }

    /// Σ c_i y_i k_i q_i x_i over this worker's rows, k the curvature and q what the products ask of the prediction.
    fn right_side(&self, worker: &mut Worker, aims: &[Aim]) -> Vec<f64> {
        let per_row = self.rows.iter().zip(aims).zip(&self.targets).enumerate();
        let scale = |(at, ((row, aim), target)): (usize, ((&Row, &Aim), &f64))| {
            self.count(at) * (target * row.curvature() * row.asks(aim))
        };
        let scales: Vec<f64> = per_row.map(scale).collect();
        let mut right = vec![0.0; self.weights.len()];
        worker.local.combine(&scales, &mut right);
        right
    }

    /// The direction to these products, given the sum of all right sides.
    fn direction(
        &self,
        worker: &mut Worker,
        system: &Cholesky,
        mut right: Vec<f64>,
        aims: &[Aim],
    ) -> Direction {
        right.iter_mut().zip(&self.residual).for_each(|(sum, residual)| {
            *sum = *sum / self.total_rows + residual;
        });
        system.solve(&mut right);
        let mut predictions = vec![0.0; self.rows.len()];
        worker.local.predict(&right, &mut predictions);
        let dimension = right.len() as f64;
        worker.local.meter_flops(direction_flops(dimension, self.rows.len() as f64));
        let per_row = self.rows.iter().zip(aims).zip(self.targets.iter().zip(&predictions));
        let rows = per_row.map(|((row, aim), (target, prediction))| row.change(aim, target * prediction));
        Direction { rows: rows.collect(), weights: right, predictions }
    }

    fn corrected(&self, worker: &mut Worker, system: &Cholesky, aims: &[Aim]) -> Result<Direction, Error> {
        let mut right = self.right_side(worker, aims);
        worker.sum(&mut right)?;
        Ok(self.direction(worker, system, right, aims))
    }

    /// How far one can go before a variable is zero, at most 1, and the sums there and on the way.
    fn path(&self, worker: &mut Worker, direction: &Direction) -> Result<Path, Error> {
        let (rank, workers) = (worker.rank(), worker.size());
        let changes = self.rows.iter().zip(&direction.rows);
        let limit = changes.clone().map(|(row, change)| row.limit(change)).fold(1.0, f64::min);
        let mut sums = [0.0; Path::SUMS];
        for (at, (row, change)) in changes.enumerate() {
            let Row { share, rest, surplus, shortfall } = *change;
            sums[0] +=
                row.surplus * share + surplus * row.share + row.shortfall * rest + shortfall * row.rest;
            sums[1] += surplus * share + shortfall * rest;
            sums[2] += self.count(at) * shortfall;
            sums[3] += self.count(at) * share;
        }
        // There are only sums over workers: each puts its own limit where the others have nothing.
        let mut limits = vec![0.0; workers];
        limits[rank] = limit;
        let mut sent = [sums.as_slice(), &limits].concat();
        worker.sum(&mut sent)?;
        let (sums, limits) = sent.split_at(Path::SUMS);
        let limit = limits.iter().copied().fold(1.0, f64::min);
        Ok(Path {
            from: self.totals,
            limit,
            products: [sums[0], sums[1]],
            shortfalls: sums[2],
            shares: sums[3],
        })
    }

    /// Aims that also bring the rows into line that a longer step would leave behind.
    fn bring_into_line(&self, direction: &Direction, aims: &[Aim], wanted: f64, limit: f64) -> Vec<Aim> {
        let length = (LONGER.0 * limit + LONGER.1).min(1.0);
        let missing =
            |product: f64| (product.clamp(wanted / BAND, wanted * BAND) - product).max(-wanted * BAND);
        let per_row = self.rows.iter().zip(&direction.rows).zip(aims);
        let corrected = per_row.map(|((row, change), aim)| {
            let there = row.moved(change, length);
            Aim {
                surplus: aim.surplus + missing(there.surplus * there.share),
                shortfall: aim.shortfall + missing(there.shortfall * there.rest),
            }
        });
        corrected.collect()
    }
}

/// The sums of all rows along a direction.
struct Path {
    from: Totals,
    limit: f64,
    /// Linear and square.
    products: [f64; 2],
    shortfalls: f64,
    shares: f64,
}

impl Path {
    const SUMS: usize = 4;

    fn at(&self, length: f64) -> Totals {
        let Totals { products, shortfalls, shares } = self.from;
        Totals {
            products: products + length * (self.products[0] + length * self.products[1]),
            shortfalls: shortfalls + length * self.shortfalls,
            shares: shares + length * self.shares,
        }
    }
}

impl Row {
    /// In the middle for a row that is so far beyond its margin: both products are [`BEGIN`].
    fn central(margin: f64) -> Row {
        // BEGIN/a − BEGIN/(1 − a) = margin.
        let root = margin.hypot(2.0 * BEGIN);
        let share = 2.0 * BEGIN / (margin + 2.0 * BEGIN + root);
        let rest = 1.0 - share;
        Row { share, rest, surplus: BEGIN / share, shortfall: BEGIN / rest }
    }

    /// a, never below 0 nor above 1.
    fn dual(&self) -> f64 {
        if self.share < self.rest { self.share } else { 1.0 - self.rest }
    }

    fn products(&self) -> f64 {
        self.surplus * self.share + self.shortfall * self.rest
    }

    /// How much the share falls where the prediction rises.
    fn curvature(&self) -> f64 {
        1.0 / (self.surplus / self.share + self.shortfall / self.rest)
    }

    /// By how much the margin would have to change if the share did not.
    fn asks(&self, aim: &Aim) -> f64 {
        aim.surplus / self.share - aim.shortfall / self.rest
    }

    /// The change that aims at these products where the margin changes so much.
    fn change(&self, aim: &Aim, margin: f64) -> Row {
        let share = self.curvature() * (self.asks(aim) - margin);
        Row {
            share,
            rest: -share,
            surplus: (aim.surplus - self.surplus * share) / self.share,
            shortfall: (aim.shortfall + self.shortfall * share) / self.rest,
        }
    }

    /// The step after which the first of the four is zero.
    fn limit(&self, change: &Row) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        until(self.share, change.share)
            .min(until(self.rest, change.rest))
            .min(until(self.surplus, change.surplus))
            .min(until(self.shortfall, change.shortfall))
    }

    fn moved(&self, change: &Row, length: f64) -> Row {
        Row {
            share: self.share + length * change.share,
            rest: self.rest + length * change.rest,
            surplus: self.surplus + length * change.surplus,
            shortfall: self.shortfall + length * change.shortfall,
        }
    }
}

impl Solver for InteriorPoint {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        let mean = self.mean_product(self.totals);
        if mean <= ROUNDING {
            self.vain.count(true, false);
            return Ok(());
        }
        let rows = self.rows.iter();
        // All the way to zero, to see how far that leads.
        let mut aims: Vec<Aim> = rows
            .clone()
            .map(|row| Aim { surplus: -row.surplus * row.share, shortfall: -row.shortfall * row.rest })
            .collect();
        let mut right = self.right_side(worker, &aims);
        let curvatures: Vec<f64> =
            rows.enumerate().map(|(at, row)| self.count(at) * row.curvature()).collect();
        let system = factor(worker, &curvatures, &mut right)?;
        let straight = self.direction(worker, &system, right, &aims);
        let path = self.path(worker, &straight)?;
        let reached = self.mean_product(path.at(path.limit)).max(0.0);
        let wanted = mean * (reached / mean).powi(3);
        if !wanted.is_finite() {
            self.vain.count(false, true);
            return Ok(());
        }
        for (aim, change) in aims.iter_mut().zip(&straight.rows) {
            aim.surplus += wanted - change.surplus * change.share;
            aim.shortfall += wanted - change.shortfall * change.rest;
        }
        let mut direction = self.corrected(worker, &system, &aims)?;
        let mut path = self.path(worker, &direction)?;
        if path.limit < LONG {
            let aims = self.bring_into_line(&direction, &aims, wanted, path.limit);
            let other = self.corrected(worker, &system, &aims)?;
            let other_path = self.path(worker, &other)?;
            if other_path.limit >= path.limit + WORTH {
                (direction, path) = (other, other_path);
            }
        }
        let length = (ALMOST * path.limit).min(1.0);
        let left = self.mean_product(path.at(length));
        let hopeless = length <= NOWHERE || left.is_nan();
        self.vain.count(left <= ROUNDING, hopeless);
        if hopeless || left <= 0.0 {
            return Ok(());
        }
        add(&mut self.weights, length, &direction.weights);
        add(&mut self.predictions, length, &direction.predictions);
        self.residual.iter_mut().for_each(|value| *value *= 1.0 - length);
        for (row, change) in self.rows.iter_mut().zip(&direction.rows) {
            *row = row.moved(change, length);
        }
        self.totals = path.at(length);
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn predictions(&self) -> Option<&[f64]> {
        let features = self.weights.len() - usize::from(self.problem.bias);
        let objective =
            self.totals.shortfalls / self.total_rows + penalty(self.problem, features, &self.weights);
        self.drift.is_small(&self.weights, objective).then_some(&self.predictions)
    }

    fn duals(&self) -> Option<Vec<f64>> {
        Some(self.duals_of_rows())
    }

    fn weights_belong_to_duals(&self) -> bool {
        false
    }

    fn estimate(&self) -> Option<Estimate> {
        let features = self.weights.len() - usize::from(self.problem.bias);
        let penalty = |weights: &[f64]| penalty(self.problem, features, weights);
        let mut of_duals = self.weights.clone();
        add(&mut of_duals, 1.0 / self.problem.lambda, &self.residual);
        let primal = self.totals.shortfalls / self.total_rows + penalty(&self.weights);
        let dual = self.totals.shares / self.total_rows - penalty(&of_duals);
        Some(Estimate { primal, gap: primal - dual })
    }

    fn stuck(&self) -> bool {
        self.vain.enough()
    }

    fn save(&self) -> Vec<f64> {
        let Totals { products, shortfalls, shares } = self.totals;
        let vectors = [&self.weights, &self.residual, &self.predictions].into_iter().flatten().copied();
        let rows = self.rows.iter().flat_map(|row| [row.share, row.rest, row.surplus, row.shortfall]);
        [products, shortfalls, shares, self.vain.save()].into_iter().chain(vectors).chain(rows).collect()
    }
}
