//! The system model, f(m) in the paper: how long an iteration takes on m workers and a fraction of the data.
//!
//! From `figures` of runs to `points`, one for each configuration; an `average` over sets of `terms` (Ernest's among
//! them) that predict held-out configurations well, each a `trend`; a `correction` for what terms leave over; and an
//! `interval` that would have contained held-out runs. What precedes the first iteration is modelled apart, in `start`.

mod average;
mod correction;
mod figures;
mod interval;
mod points;
mod reach;
mod robust;
mod start;
mod terms;
mod trend;

use std::fmt;

use serde::{Deserialize, Serialize};

use average::{Average, Mixture};
use correction::Correction;
use interval::Width;
use points::Point;
use start::Start;
use terms::{Configuration, TERMS};

pub use trend::Ernest;

use crate::{Error, Estimate, Observation};

/// Twice the workers or data change the time by a factor of two to this power at most.
const STEEPEST: f64 = 2.0;

/// Predicts times of one algorithm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemModel {
    points: Vec<Point>,
    mixture: Mixture,
    correction: Correction,
    corrected: f64,
    width: Width,
    start: Option<Start>,
    jitter: f64,
    held_out_error: Option<f64>,
}

/// A term with what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedTerm {
    /// In m workers and the fraction s of the data.
    pub name: &'static str,
    /// Seconds for each unit of it.
    pub seconds: f64,
}

impl SystemModel {
    /// Fits the observations of one algorithm that have a time. For runs with one observation that time is spread
    /// evenly over its iterations.
    pub fn fit(observations: &[Observation]) -> Result<SystemModel, Error> {
        let figures = figures::figures(observations)?;
        let points = points::points(&figures);
        let average = Average::fit(&points);
        let corrected = correction::correct(&points, &average);
        let errors: Vec<f64> = corrected.held_out.iter().map(|(_, error)| error.abs()).collect();
        let jitters: Vec<f64> = figures.iter().filter_map(|figure| figure.jitter).collect();
        Ok(SystemModel {
            width: Width::fit(&points, &average, &corrected.held_out),
            start: Start::fit(&figures),
            jitter: robust::median(&jitters),
            held_out_error: (!errors.is_empty()).then(|| robust::median(&errors).exp_m1()),
            mixture: average.mixture,
            correction: corrected.correction,
            corrected: 1.0 - corrected.none,
            points,
        })
    }

    /// The time of one iteration. The interval is for the average iteration of one run.
    pub fn seconds_per_iteration(&self, workers: usize, fraction: f64) -> Estimate {
        let at = configuration(workers, fraction);
        let middle = self.log_seconds(at);
        let width = self.width.at(at, &self.points, &self.mixture);
        Estimate { low: (middle - width).exp(), mean: middle.exp(), high: (middle + width).exp() }
    }

    /// Terms and correction; outside the measured range never steeper than [`STEEPEST`] from its edge.
    fn log_seconds(&self, at: Configuration) -> f64 {
        let predict = |at: Configuration| self.mixture.log_seconds(at) + self.correction.at(at);
        let edge = reach::nearest_inside(at, &self.points);
        if edge == at {
            return predict(at);
        }
        let (there, here) = (edge.logs(), at.logs());
        let reach = STEEPEST * ((here[0] - there[0]).abs() + (here[1] - there[1]).abs());
        let known = predict(edge);
        predict(at).clamp(known - reach, known + reach)
    }

    /// The time from the start of a run to the end of an iteration.
    pub fn seconds(&self, workers: usize, fraction: f64, iteration: u64) -> Estimate {
        let at = configuration(workers, fraction);
        let each = self.seconds_per_iteration(workers, fraction);
        let iterations = iteration as f64;
        let start = self.start.as_ref().map_or(0.0, |start| start.seconds(at));
        let start_width = self.start.as_ref().map_or(0.0, |start| start.width);
        let jitter = 1.645 * self.jitter * each.mean * iterations.sqrt();
        let apart = |side: f64| ((iterations * side).powi(2) + start_width.powi(2) + jitter.powi(2)).sqrt();
        let mean = start + iterations * each.mean;
        // Lower sides may add up to more than there is; the iterations' own low remains.
        let low = (mean - apart(each.mean - each.low)).max(0.5 * iterations * each.low);
        Estimate { low, mean, high: mean + apart(each.high - each.mean) }
    }

    /// How far outside the measured configurations a question is; nothing when it is inside.
    pub fn extrapolation(&self, workers: usize, fraction: f64) -> Option<String> {
        reach::describe(configuration(workers, fraction), &self.points)
    }

    /// The terms of the set with the largest weight, the dearest at the largest measured configuration first.
    pub fn terms(&self) -> Vec<FittedTerm> {
        let at = self.points[self.points.len() - 1].at;
        let mut used: Vec<(f64, FittedTerm)> = TERMS
            .iter()
            .zip(self.mixture.leading().1.0)
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(t, seconds)| {
                (seconds * (t.value)(at.workers, at.fraction), FittedTerm { name: t.name, seconds })
            })
            .collect();
        used.sort_by(|a, b| b.0.total_cmp(&a.0));
        used.into_iter().map(|(_, term)| term).collect()
    }

    /// The median relative error on configurations that were left out in turn; nothing below three configurations.
    pub fn held_out_error(&self) -> Option<f64> {
        self.held_out_error
    }
}

/// No workers count as one; a fraction that is not positive counts as nearly nothing.
fn configuration(workers: usize, fraction: f64) -> Configuration {
    Configuration { workers: workers.max(1) as f64, fraction: fraction.max(1e-9) }
}

/// What the model says, as a reader would write it down.
impl fmt::Display for SystemModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.points[self.points.len() - 1].at;
        let total = self.mixture.leading().1.seconds(at);
        write!(f, "seconds per iteration = ")?;
        let mut first = true;
        for term in self.terms() {
            let Some(t) = TERMS.iter().find(|t| t.name == term.name) else { continue };
            if term.seconds * (t.value)(at.workers, at.fraction) < 0.005 * total {
                continue;
            }
            write!(f, "{}{:.4} · {}", if first { "" } else { " + " }, term.seconds, term.name)?;
            first = false;
        }
        let (weight, sets) = (self.mixture.leading().0, self.mixture.members.len());
        writeln!(f, "\nthe leading set of terms has weight {weight:.2} among {sets}")?;
        if self.corrected > 0.005 {
            writeln!(f, "corrected near measured configurations (weight {:.2})", self.corrected)?;
        }
        if let Some(start) = &self.start {
            writeln!(f, "start: {:.4} s at m = {}, s = {}", start.seconds(at), at.workers, at.fraction)?;
        }
        let runs: usize = self.points.iter().map(|point| point.runs.len()).sum();
        write!(f, "{runs} runs at {} configurations", self.points.len())?;
        match self.held_out_error {
            Some(error) => write!(f, "; median error on those held out {:.1} %", 100.0 * error),
            None => write!(f, "; too few to hold one out"),
        }
    }
}

#[cfg(test)]
mod tests;
