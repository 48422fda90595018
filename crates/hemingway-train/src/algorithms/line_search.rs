//! A line search without passes over the data, for methods that step along a direction.
//!
//! Predictions are linear in the weights: once those of the direction are known, each try of a step length needs only
//! the loss of numbers at hand and a sum of two scalars over the workers. The slopes of the step that was taken are
//! left over, and spare half of the pass for the new gradient.

use super::Passes;
use crate::local::dot;
use crate::{Error, Phase, Share, Worker};

/// What a search keeps from step to step, for this worker's rows.
pub(super) struct LineSearch {
    /// Predictions of the direction.
    step: Vec<f64>,
    /// Slopes at the last step length tried.
    slopes: Vec<f64>,
}

impl LineSearch {
    pub(super) fn new(worker: &Worker) -> LineSearch {
        LineSearch { step: vec![0.0; worker.local.rows()], slopes: vec![0.0; worker.local.rows()] }
    }

    /// Moves along a direction of descent and returns the change of weights; `None` if no length is good enough.
    pub(super) fn advance(
        &mut self,
        worker: &mut Worker,
        passes: &mut Passes,
        mut direction: Vec<f64>,
        first: f64,
    ) -> Result<Option<Vec<f64>>, Error> {
        worker.local.predict(&direction, &mut self.step);
        let mut found = self.search(worker, passes, &direction, first)?;
        if found.is_none()
            && let Some(safe) = self.safe_length(worker, passes, &direction)?
        {
            found = self.search(worker, passes, &direction, safe)?;
        }
        let Some(Step { length, loss }) = found else { return Ok(None) };
        direction.iter_mut().for_each(|value| *value *= length);
        add(&mut passes.weights, 1.0, &direction);
        add(&mut passes.predictions, length, &self.step);
        passes.pass_from_slopes(worker, loss, &self.slopes)?;
        Ok(Some(direction))
    }

    /// The length that would be best if P curved along the direction as much as it can anywhere: however long the
    /// direction is, one this long lowers a smooth objective. `None` if what it can gain is rounding.
    fn safe_length(
        &self,
        worker: &mut Worker,
        passes: &Passes,
        direction: &[f64],
    ) -> Result<Option<f64>, Error> {
        let squares = worker.local.weighted_square(&self.step);
        let squares = worker.sum_of(squares)?;
        let curvature = worker.local.problem.loss.smoothness().unwrap_or(1.0);
        let penalty = 2.0 * Line::new(worker, passes, direction).square;
        let slope = dot(&passes.gradient, direction);
        let length = -slope / (penalty + curvature * squares / worker.local.total_rows as f64);
        let gains = -slope * length > ROUNDING * passes.objective;
        Ok((gains && length.is_finite()).then_some(length))
    }

    /// A length that satisfies the strong Wolfe conditions, by safeguarded interpolation of slopes.
    fn search(
        &mut self,
        worker: &mut Worker,
        passes: &Passes,
        direction: &[f64],
        first: f64,
    ) -> Result<Option<Step>, Error> {
        let line = Line::new(worker, passes, direction);
        let slope = dot(&passes.gradient, direction);
        let (mut low, mut high) = ((0.0, slope), None::<(f64, f64)>);
        let mut length = first;
        for _ in 0..MOST_TRIES {
            let (value, derivative, loss) = self.try_length(worker, passes, &line, length)?;
            let sufficient = value <= passes.objective + SUFFICIENT * length * slope;
            if sufficient && derivative.abs() <= FLAT * slope.abs() {
                return Ok(Some(Step { length, loss }));
            }
            if sufficient && derivative < 0.0 {
                low = (length, derivative);
            } else {
                high = Some((length, if value.is_finite() { derivative } else { f64::INFINITY }));
            }
            length = match high {
                None => 4.0 * length,
                Some(high) => between(low, high),
            };
        }
        // A corner, or the end of precision: the longest step that was good enough, if there is one.
        let (length, _) = low;
        let (_, _, loss) = self.try_length(worker, passes, &line, length)?;
        Ok((length > 0.0).then_some(Step { length, loss }))
    }

    /// Value and derivative of P at a step length, and this worker's loss there.
    fn try_length(
        &mut self,
        worker: &mut Worker,
        passes: &Passes,
        line: &Line,
        length: f64,
    ) -> Result<(f64, f64, f64), Error> {
        let loss = worker.local.slopes_along(&passes.predictions, &self.step, length, &mut self.slopes);
        let mut sums = [loss, dot(&self.step, &self.slopes)];
        worker.sum(&mut sums)?;
        let n = worker.local.total_rows as f64;
        let value = sums[0] / n + line.fixed + length * (line.linear + length * line.square);
        Ok((value, sums[1] / n + line.linear + 2.0 * length * line.square, loss))
    }
}

/// What a step costs once its direction is known: half a pass for its predictions, tries along it, and half a pass for
/// the new gradient.
pub(super) fn round(share: &Share) -> [Phase; 2] {
    let along = share.losses() + (1.0 / TRIES) * share.half_pass();
    let tries = Phase { times: TRIES, ..Phase::once(along, 2) };
    [tries, Phase::once(share.half_pass(), share.dimension + 1)]
}

/// How often a search tries a length, on average over the runs of `bench/prior`.
const TRIES: f64 = 1.3;

/// A step has to lower the objective by this share of what the slope promises,
const SUFFICIENT: f64 = 1e-4;
/// and flatten the slope to this share of what it was.
const FLAT: f64 = 0.5;
const MOST_TRIES: usize = 25;
/// A step that may gain less than this share of the objective gains rounding.
pub(super) const ROUNDING: f64 = 1e-14;

/// Where the slope should vanish between a point that still falls and one that rises, kept away from both.
fn between(low: (f64, f64), high: (f64, f64)) -> f64 {
    let share = -low.1 / (high.1 - low.1);
    let share = if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.1 };
    low.0 + share * (high.0 - low.0)
}

/// A step length that was accepted, and this worker's loss there.
struct Step {
    length: f64,
    loss: f64,
}

/// The penalty along a direction.
struct Line {
    /// (λ/2)‖w + t d‖² = fixed + t·linear + t²·square.
    fixed: f64,
    linear: f64,
    square: f64,
}

impl Line {
    fn new(worker: &Worker, passes: &Passes, direction: &[f64]) -> Line {
        let (features, lambda) = (worker.local.features(), worker.local.problem.lambda);
        let (weights, direction) = (&passes.weights[..features], &direction[..features]);
        Line {
            fixed: lambda / 2.0 * dot(weights, weights),
            linear: lambda * dot(weights, direction),
            square: lambda / 2.0 * dot(direction, direction),
        }
    }
}

/// values += scale·other.
pub(super) fn add(values: &mut [f64], scale: f64, other: &[f64]) {
    values.iter_mut().zip(other).for_each(|(value, other)| *value += scale * other);
}
