//! How far a run is after i iterations on m workers: the convergence model g(i, m).
//!
//! What is modelled is the best value so far. It is turned into a level, the logarithm of the gap to the optimum, and
//! several forms are fitted to the levels of all runs: the paper's Lasso, rates that theory suggests, and one common
//! curve that workers stretch. Each form is judged by how well it predicts m that were held out; the model is their
//! weighted mean. The same errors make the intervals.

mod curves;
mod error;
mod form;
mod forward;
mod held_out;
mod least_squares;
mod optimum;
mod paper;
mod rates;
mod similarity;
mod spread;
mod stretched;
mod subset;
mod target;

pub use error::ConvergenceError;
pub use forward::forward;
pub use subset::SubsetModel;
pub(crate) use target::Scale;
pub use target::{Better, Target};

use crate::{Estimate, Observation};
use curves::Curve;
use form::{CATALOGUE, reach};
use held_out::{Fitted, Place, Split};
use optimum::Doubt;
use spread::Spread;

/// The map from values to levels, with the optimum that all runs together suggest.
pub(crate) fn scale_of(observations: &[Observation], target: Target) -> Option<Scale> {
    let runs = curves::runs(observations, target).ok()?;
    optimum::scale(&runs, target).ok().map(|(scale, _)| scale)
}

/// Nothing is predicted beyond this many times the longest run.
const FURTHEST: f64 = 1e4;

/// The factor in iterations over which slopes are taken.
const STEP: f64 = 1.2;

/// A fitted model of how one algorithm converges.
#[derive(Debug)]
pub struct ConvergenceModel {
    scale: Scale,
    doubt: Doubt,
    curves: Vec<Curve>,
    workers: Vec<f64>,
    fitted: Fitted,
    weights: Weights,
    spread: Spread,
}

/// How much each form counts, by where it is asked.
#[derive(Debug)]
struct Weights {
    measured: Vec<f64>,
    inside: Vec<f64>,
    beyond: Vec<f64>,
}

impl ConvergenceModel {
    /// Fits all forms to the observations of one algorithm, and judges them on held-out numbers of workers.
    pub fn fit(observations: &[Observation], target: Target) -> Result<Self, ConvergenceError> {
        let runs = curves::runs(observations, target)?;
        let (scale, doubt) = optimum::scale(&runs, target)?;
        let mut curves: Vec<Curve> = runs.iter().map(|run| Curve::new(run, scale)).collect();
        curves.retain(|curve| curve.thinned.len() > 1);
        if curves.is_empty() {
            return Err(ConvergenceError::TooFew { given: observations.len(), usable: 0, needed: 4 });
        }
        let splits = held_out::splits(&curves);
        let measured = Split::of(Place::Measured, 0.0, curves.clone(), held_out::fit_all(&curves));
        let weights = Weights::new(&measured, &splits);
        let spread = Spread::new(&measured, &splits);
        let workers = held_out::workers(&curves);
        Ok(Self { scale, doubt, curves, workers, fitted: measured.into_fitted(), weights, spread })
    }

    /// The best value so far after an iteration, in the units of the observations.
    pub fn value(&self, workers: usize, iteration: u64) -> Estimate {
        let (m, i) = (workers.max(1) as f64, iteration.max(1) as f64);
        let level = self.level(m, i);
        let (place, distance) = self.place(m);
        let slope = (self.level(m, i / STEP) - level).max(0.0) / STEP.ln();
        let half = self.spread.levels(place, distance, self.later(i), slope);
        let Doubt { lower, upper } = self.doubt_at(i);
        let best = Scale { optimum: lower, ..self.scale }.value(level - half);
        let worst = Scale { optimum: upper, ..self.scale }.value(level + half);
        // The best so far does not get worse after the end of the runs.
        let end = self.level(m, i.min(self.longest())) + self.spread.levels(place, distance, 0.0, 0.0);
        let end = self.scale.value(end.max(level));
        let worst = self.scale.sign * (self.scale.sign * worst).min(self.scale.sign * end);
        Estimate { low: best.min(worst), mean: self.scale.value(level), high: best.max(worst) }
    }

    /// Between which values the optimum lies as far as an iteration is concerned: runs that were seen show where they
    /// go as long as they last, whatever the optimum; the further beyond, the more it matters.
    fn doubt_at(&self, iteration: f64) -> Doubt {
        let (share, optimum) = (self.later(iteration).min(1.0), self.scale.optimum);
        let part = |end: f64| optimum + share * (end - optimum);
        Doubt { lower: part(self.doubt.lower), upper: part(self.doubt.upper) }
    }

    /// After how many iterations the value is as good as `goal`; nothing if the model does not see it happen.
    pub fn iterations_to(&self, workers: usize, goal: f64) -> Option<Estimate> {
        let m = workers.max(1) as f64;
        let goal = self.scale.level(goal);
        if goal.is_nan() {
            return None;
        }
        let furthest = self.longest() * FURTHEST;
        let mean = reach(&|i| self.level(m, i), goal, furthest)?;
        let (place, distance) = self.place(m);
        let half = self.spread.iterations(place, distance, self.later(mean));
        let Doubt { lower, upper } = self.doubt_at(mean);
        // The same goal is nearer to a higher optimum, and further from a lower one.
        let crossing = |optimum: f64| {
            let level = Scale { optimum, ..self.scale }.level(self.scale.value(goal));
            let crossing = if level.is_nan() { None } else { reach(&|i| self.level(m, i), level, furthest) };
            crossing.unwrap_or(furthest)
        };
        let (low, high) = (crossing(lower).min(mean) * (-half).exp(), crossing(upper).max(mean) * half.exp());
        Some(Estimate { low: whole(low), mean: whole(mean), high: high.ceil().max(whole(mean)) })
    }

    /// The value that a run comes close to: P*, or the limit of a metric.
    pub fn optimum(&self) -> f64 {
        self.scale.sign * self.scale.optimum
    }

    /// How far a question is from what was measured, if it is outside.
    pub fn extrapolation(&self, workers: usize, iteration: u64) -> Option<String> {
        let (m, i) = (workers as f64, iteration as f64);
        let (fewest, most) = (self.workers[0], self.workers[self.workers.len() - 1]);
        let mut said = Vec::new();
        if m > most {
            said.push(format!("{workers} workers are {:.1} times the most measured, {most}", m / most));
        } else if m < fewest {
            said.push(format!(
                "{workers} workers are {:.1} times fewer than the fewest measured, {fewest}",
                fewest / m
            ));
        } else if self.place(m).1 > 1.0 {
            said.push(format!("no run on a number of workers near {workers} was measured"));
        }
        if i > self.longest() {
            let longest = self.longest();
            said.push(format!(
                "iteration {iteration} is {:.1} times the longest run, {longest}",
                i / longest
            ));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// The forms with their weights between, and beyond, the measured numbers of workers; one line each.
    pub fn description(&self) -> String {
        let mut lines = vec![format!("optimum {:.6e}, {} runs", self.optimum(), self.curves.len())];
        for (k, (name, _)) in CATALOGUE.iter().enumerate() {
            if let Some(form) = &self.fitted[k] {
                let (inside, beyond) = (self.weights.inside[k], self.weights.beyond[k]);
                lines.push(format!("{inside:.2} {beyond:.2} {name}: {}", form.describe()));
            }
        }
        lines.join("\n")
    }

    /// The names of the forms that the model weighs.
    pub fn forms() -> impl Iterator<Item = &'static str> {
        CATALOGUE.iter().map(|(name, _)| *name)
    }

    /// What one form alone says, for comparison.
    pub fn iterations_by_form(&self, form: &str, workers: usize, goal: f64) -> Option<f64> {
        let place = Self::forms().position(|name| name == form)?;
        let form = self.fitted[place].as_ref()?;
        let level = |i: f64| form.level(workers as f64, i);
        reach(&level, self.scale.level(goal), self.longest() * FURTHEST).map(whole)
    }

    /// The weighted level; weights change smoothly on the way from a measured m outwards.
    fn level(&self, workers: f64, iteration: f64) -> f64 {
        let (place, distance) = self.place(workers);
        let away = match place {
            Place::Measured => &self.weights.measured,
            Place::Inside => &self.weights.inside,
            Place::Beyond => &self.weights.beyond,
        };
        let share = (distance / 0.5).min(1.0);
        let mixed: Vec<f64> =
            self.weights.measured.iter().zip(away).map(|(at, away)| at + share * (away - at)).collect();
        held_out::blend(&self.fitted, &mixed, workers, iteration)
    }

    /// Where a number of workers is, and how far from the nearest measured one, in log m.
    fn place(&self, workers: f64) -> (Place, f64) {
        let distance = self.workers.iter().map(|m| (workers / m).ln().abs()).fold(f64::INFINITY, f64::min);
        let outside = workers < self.workers[0] || workers > self.workers[self.workers.len() - 1];
        match distance {
            0.0 => (Place::Measured, 0.0),
            _ if outside => (Place::Beyond, distance),
            _ => (Place::Inside, distance),
        }
    }

    fn longest(&self) -> f64 {
        self.curves.iter().map(|c| c.last().0).fold(1.0, f64::max)
    }

    /// How far beyond the longest run an iteration is, in log iterations.
    fn later(&self, iteration: f64) -> f64 {
        (iteration / self.longest()).ln().max(0.0)
    }
}

/// The iteration at which a curve that crosses a level here is first seen below it; a hair beyond is not a step more.
fn whole(iteration: f64) -> f64 {
    (iteration - 0.1).ceil().max(1.0)
}

impl Weights {
    fn new(measured: &Split, splits: &[Split]) -> Self {
        let of = |place: Place| held_out::weigh(splits.iter().filter(|s| s.place == place));
        let at = held_out::weigh(std::iter::once(measured)).expect("one split was given");
        let beyond = of(Place::Beyond).unwrap_or_else(|| at.clone());
        Self { inside: of(Place::Inside).unwrap_or_else(|| beyond.clone()), beyond, measured: at }
    }
}

#[cfg(test)]
mod tests;
