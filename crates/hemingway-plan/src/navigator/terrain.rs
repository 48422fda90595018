//! What is predicted of every way before anything ran: rounds on a grid of errors, seconds of a round, what it costs to
//! switch to it.
//!
//! Progress is x = ln 1/e, from 0 at the start. The prior of rounds was learnt from errors of at most a tenth; before
//! that a run is taken to lose the logarithm of its error evenly.

use hemingway_train::{Cluster, Loss, Machine, Work};

use super::Way;
use crate::distribution::TWENTIETH;
use crate::{Glance, prior};

/// The error before the first round.
const FIRST_ROUND: f64 = 1.0;
/// Where the prior of rounds begins,
pub(super) const TENTH: f64 = 0.1;
/// in progress.
pub(super) const BURNT_IN: f64 = std::f64::consts::LN_10;
/// Nodes of the grid.
const NODES: usize = 41;
/// The smallest error of interest where none is asked for.
const SMALLEST: f64 = 1e-6;

/// A problem and the machines to train it on.
#[derive(Debug, Clone)]
pub struct Terrain {
    /// What the data looks like.
    pub glance: Glance,
    /// The machines.
    pub cluster: Cluster,
}

impl Terrain {
    /// What a switch to a way is predicted to cost: the model goes to all workers, and where a gradient is needed each
    /// makes two passes over its rows.
    pub fn switch_seconds(&self, way: &Way) -> f64 {
        let Glance { rows, features, .. } = self.glance;
        let passes = if matches!(way.algorithm.as_str(), "l-bfgs" | "newton") { 2.0 } else { 0.0 };
        let values = passes * self.glance.nonzeros as f64 / way.workers.max(1) as f64;
        let work = match self.glance.is_dense() {
            true => Work { flops: 0.5 * values, bytes: 4.0 * values },
            false => Work { flops: 2.0 * values, bytes: 8.0 * values },
        };
        let numbers = rows + features;
        self.cluster.seconds(0, work) + self.cluster.network.broadcast_seconds(way.workers.max(1), numbers)
    }

    /// The seconds of a round that go into sums over workers.
    fn talking(&self, way: &Way) -> f64 {
        let here = Machine { flops: f64::MAX, bytes: f64::MAX };
        let instant = Cluster { here, ..self.cluster.clone() };
        self.seconds(way, TENTH, &instant).unwrap_or(0.0)
    }

    /// Of a round, on average until an error.
    fn seconds(&self, way: &Way, error: f64, cluster: &Cluster) -> Option<f64> {
        prior::seconds_per_round(&self.glance, &way.algorithm, way.workers, way.passes, error, cluster)
    }
}

/// What is predicted of one way.
#[derive(Debug, Clone)]
pub(super) struct Outlook {
    pub way: Way,
    /// Rounds from the start to each node of the grid; infinite where the prior says nothing.
    pub rounds: Vec<f64>,
    /// The same with rounds that get shorter counted for less: how many of the first ones they are.
    pub whole_rounds: Vec<f64>,
    /// The standard deviation of the logarithm of rounds.
    pub deviation: f64,
    /// Seconds of a first round.
    pub seconds: f64,
    /// How much of that is sums over workers.
    pub talking: f64,
    /// Seconds to switch to it.
    pub switch: f64,
    /// Money per second, if prices are known.
    pub price: Option<f64>,
    /// Whether it makes nothing of what was reached before.
    pub begins_anew: bool,
    /// Whether it may go first, for another to end the run,
    pub leads: bool,
    /// and for nothing else.
    pub only_leads: bool,
}

impl Outlook {
    /// Nothing for a way that the priors do not know.
    pub fn of(terrain: &Terrain, way: Way, grid: &Grid) -> Option<Outlook> {
        let rounds = prior::Rounds::of(&terrain.glance, &way.algorithm, way.workers, way.passes)?;
        let estimate = |error: f64| rounds.to(error);
        let per_round = |error: f64| terrain.seconds(&way, error, &terrain.cluster);
        let (seconds, tenth) = (per_round(FIRST_ROUND)?, estimate(TENTH)?);
        let last = estimate(grid.smallest());
        let deviation = {
            let widest = last.as_ref().unwrap_or(&tenth);
            (widest.high / widest.mean).ln() / TWENTIETH
        };
        let mut most = 0.0_f64;
        let rounds = grid.errors().map(|error| {
            let rounds = match error {
                error if error >= TENTH => tenth.mean * error.ln() / TENTH.ln(),
                error => estimate(error).map_or(f64::INFINITY, |estimate| estimate.mean),
            };
            most = most.max(rounds);
            most
        });
        let rounds: Vec<f64> = rounds.collect();
        let settles = per_round(grid.smallest())? < seconds;
        let of_first = |error: f64| match settles {
            true => per_round(error).unwrap_or(seconds) / seconds,
            false => 1.0,
        };
        // Rows settle one after the other: from the first round on they are a power of the rounds.
        let power = ((tenth.mean * of_first(TENTH)).max(1.0).ln() / tenth.mean.max(1.0).ln()).min(1.0);
        let mut least = 0.0_f64;
        let whole_rounds = grid.errors().zip(&rounds).map(|(error, &rounds)| {
            let whole = match error {
                error if error < TENTH => rounds * of_first(error),
                _ if rounds > 1.0 => rounds.powf(power),
                _ => rounds,
            };
            least = least.max(whole);
            least
        });
        Some(Outlook {
            whole_rounds: whole_rounds.collect(),
            rounds,
            deviation,
            seconds,
            talking: terrain.talking(&way).min(seconds),
            switch: terrain.switch_seconds(&way),
            price: terrain.cluster.price_per_second(way.workers),
            begins_anew: way.algorithm == "newton" && terrain.glance.loss == Loss::Hinge,
            leads: prior::leads(&terrain.glance, &way.algorithm),
            only_leads: false,
            way,
        })
    }
}

/// Progress x = ln 1/e in even steps from 0 to the goal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    step: f64,
}

impl Grid {
    /// As far as the goal, or as far as anybody is interested in.
    pub fn to(goal: Option<f64>) -> Grid {
        let goal = goal.filter(|goal| *goal > 0.0).unwrap_or(SMALLEST).min(0.999);
        Grid { step: -goal.ln() / (NODES - 1) as f64 }
    }

    /// Where the grid ends.
    pub fn end(&self) -> f64 {
        self.step * (NODES - 1) as f64
    }

    /// From a node to the next.
    pub fn step(&self) -> f64 {
        self.step
    }

    fn smallest(&self) -> f64 {
        (-self.end()).exp()
    }

    fn errors(&self) -> impl Iterator<Item = f64> {
        let step = self.step;
        (0..NODES).map(move |node| (-step * node as f64).exp())
    }

    /// A curve that is given at the nodes, at x. Beyond the end it goes on as in the last step.
    pub fn at(&self, curve: &[f64], x: f64) -> f64 {
        let place = (x / self.step).max(0.0);
        let node = (place as usize).min(curve.len() - 2);
        let (low, high) = (curve[node], curve[node + 1]);
        if high.is_infinite() {
            return if place <= node as f64 { low } else { high };
        }
        low + (high - low) * (place - node as f64)
    }

    /// Where a rising curve has a value, at most at the end of the grid.
    pub fn inverse(&self, curve: &[f64], value: f64) -> f64 {
        let node = curve.partition_point(|at| *at <= value);
        if node == 0 {
            return 0.0;
        }
        let Some(&high) = curve.get(node) else { return self.end() };
        let low = curve[node - 1];
        let part = if high.is_finite() { (value - low) / (high - low) } else { 0.0 };
        self.step * (node as f64 - 1.0 + part)
    }
}
