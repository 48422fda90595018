//! Scoring: what a round reached, and what can be proved about it. Always off the training clock.
//!
//! Both sides of the bracket are tightened. Above: the best weights are kept, and for losses with corners the
//! best point on the line from them to the new weights is searched, since the objective of dual methods jumps
//! there (predictions are linear in the weights, so this costs no pass over the data). Below: dual methods bring
//! their dual point; where a smooth loss's whole gradient is at hand, its slopes are one; for the rest a dual
//! point is kept, moved towards what the predictions suggest and improved by coordinate steps.

use serde::{Deserialize, Serialize};

use crate::aggregation::Aggregation;
use crate::local::penalty;
use crate::loss::{Losses, Shape, with_losses};
use crate::sdca::Sdca;
use crate::{Certificate, Error, Solver, Worker};

/// What scoring keeps between rounds on one worker.
pub struct Scorer {
    /// The best weights seen, the same on every worker.
    pub best: Vec<f64>,
    /// The bracket around P*.
    pub certificate: Certificate,
    choice: Choice,
    /// Predictions of the best weights on this worker's rows.
    best_predictions: Vec<f64>,
    /// Room for the predictions of the weights that are scored.
    room: Vec<f64>,
    /// A dual point of our own, for methods that leave none behind.
    shadow: Option<Shadow>,
}

/// What the loop stores of the scorer; the rest is in [`Scorer::save`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The best weights seen.
    pub best: Vec<f64>,
    /// The bracket around P*.
    pub certificate: Certificate,
    choice: Choice,
}

/// Of methods that propose an average of recent weights, every so many scores are of the one that was worse when last tried:
/// usually of the weights of the round alone.
pub const TRY_OTHER: u64 = 4;

/// Which weights to score, where the proposal is not the iterate itself: usually whichever was lower when last tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Choice {
    proposal: f64,
    iterate: f64,
    scores: u64,
}

impl Choice {
    fn takes_proposal(&self) -> bool {
        let better = self.proposal <= self.iterate;
        if self.scores % TRY_OTHER == TRY_OTHER - 1 { !better } else { better }
    }
}

/// A dual point on this worker's rows and the weights of the whole of it.
#[derive(Clone)]
pub(crate) struct Shadow {
    pub duals: Vec<f64>,
    pub weights: Vec<f64>,
}

impl Scorer {
    /// Begins with zero weights, whose objective everyone knows.
    pub fn new(worker: &mut Worker) -> Result<Scorer, Error> {
        let predictions = vec![0.0; worker.local.rows()];
        let at_zero = worker.sum_of(worker.local.loss(&predictions))? / worker.local.total_rows as f64;
        Ok(Scorer {
            best: vec![0.0; worker.local.dimension()],
            certificate: Certificate { primal: at_zero, ..Certificate::none(at_zero) },
            choice: Choice { proposal: f64::INFINITY, iterate: f64::INFINITY, scores: 0 },
            best_predictions: predictions,
            room: Vec::new(),
            shadow: None,
        })
    }

    /// Goes on from a checkpoint.
    pub fn restore(worker: &Worker, standing: &Standing, saved: &[f64]) -> Result<Scorer, Error> {
        let (rows, dimension) = (worker.local.rows(), worker.local.dimension());
        if standing.best.len() != dimension || saved.len() < rows {
            return Err(Error::damaged_worker());
        }
        let (predictions, shadow) = saved.split_at(rows);
        let shadow = match shadow.len() {
            0 => None,
            length if length == rows + dimension => {
                let (duals, weights) = shadow.split_at(rows);
                Some(Shadow { duals: duals.to_vec(), weights: weights.to_vec() })
            }
            _ => return Err(Error::damaged_worker()),
        };
        let Standing { best, certificate, choice } = standing.clone();
        certificate.check()?;
        Ok(Scorer {
            best,
            certificate,
            choice,
            best_predictions: predictions.to_vec(),
            room: Vec::new(),
            shadow,
        })
    }

    /// Goes on from a checkpoint of other workers, of whose own parts nothing can be used.
    pub fn rebuild(worker: &mut Worker, standing: &Standing) -> Result<Scorer, Error> {
        let mut predictions = vec![0.0; worker.local.rows()];
        worker.local.predict(&standing.best, &mut predictions);
        Scorer::restore(worker, standing, &predictions)
    }

    /// The part all workers agree on.
    pub fn standing(&self) -> Standing {
        Standing { best: self.best.clone(), certificate: self.certificate, choice: self.choice.clone() }
    }

    /// The part that is this worker's own.
    pub fn save(&self) -> Vec<f64> {
        let mut saved = self.best_predictions.clone();
        if let Some(shadow) = &self.shadow {
            saved.extend(&shadow.duals);
            saved.extend(&shadow.weights);
        }
        saved
    }

    /// Scores the solver's proposal, or its iterate, and returns the objective there.
    pub fn score(&mut self, worker: &mut Worker, solver: &dyn Solver) -> Result<f64, Error> {
        let takes_proposal =
            solver.proposal().as_ptr() == solver.weights().as_ptr() || self.choice.takes_proposal();
        let weights = if takes_proposal { solver.proposal() } else { solver.weights() };
        let mut room = std::mem::take(&mut self.room);
        let predictions = match solver.predictions() {
            Some(predictions) => predictions,
            None => {
                room.resize(worker.local.rows(), 0.0);
                worker.local.predict(weights, &mut room);
                &room
            }
        };
        let duals = solver.duals();
        let conjugate = duals.as_ref().map_or(0.0, |duals| worker.local.conjugate(duals, 1.0));
        let mut sums = [worker.local.loss(predictions), conjugate];
        worker.local.meter_losses(3.0 * worker.local.rows() as f64);
        worker.sum(&mut sums)?;
        let local = &worker.local;
        let n = local.total_rows as f64;
        let current = sums[0] / n + penalty(local.problem, local.features(), weights);
        match (duals, solver.gradient()) {
            (Some(_), _) if !local.problem.bias && solver.weights_belong_to_duals() => {
                // The duals belong to the iterate, which need not be the proposal.
                let bound = -sums[1] / n - penalty(local.problem, local.features(), solver.weights());
                self.certificate.raise(bound, local.total_rows);
                if worker.size() > 1 && worker.local.problem.loss.smoothness().is_some() {
                    self.raise_by_predictions(worker, predictions)?;
                }
            }
            (Some(duals), _) => {
                self.raise_by_duals(worker, duals)?;
                if !solver.weights_belong_to_duals() && worker.local.problem.loss.smoothness().is_some() {
                    self.raise_by_predictions(worker, predictions)?;
                }
            }
            (None, Some(gradient)) if local.problem.loss.smoothness().is_some() => {
                self.raise_by_slopes(worker, weights, gradient, predictions)?;
            }
            _ => self.raise_by_shadow(worker, predictions)?,
        }
        self.lower(worker, weights, predictions, current)?;
        self.certificate.check()?;
        *(if takes_proposal { &mut self.choice.proposal } else { &mut self.choice.iterate }) = current;
        self.choice.scores += 1;
        self.room = room;
        Ok(current)
    }

    /// By duals whose weights have to be computed afresh. With a bias the constraint Σ α = 0 holds only in the limit, so
    /// the heavier sign is first scaled down until it does.
    fn raise_by_duals(&mut self, worker: &mut Worker, mut duals: Vec<f64>) -> Result<(), Error> {
        if worker.local.problem.bias {
            balance(worker, &mut duals)?;
        }
        let weights = weights_of(worker, &duals)?;
        self.raise_by_scaling(worker, &duals, &weights).map(|_| ())
    }

    /// Smooth losses: α = −φ'(p) is a dual point, and its weights are w − ∇P/λ.
    fn raise_by_slopes(
        &mut self,
        worker: &mut Worker,
        weights: &[f64],
        gradient: &[f64],
        predictions: &[f64],
    ) -> Result<(), Error> {
        let duals = duals_from_predictions(worker, predictions);
        if worker.local.problem.bias {
            return self.raise_by_duals(worker, duals);
        }
        let lambda = worker.local.problem.lambda;
        let weights: Vec<f64> = weights.iter().zip(gradient).map(|(w, slope)| w - slope / lambda).collect();
        self.raise_by_scaling(worker, &duals, &weights).map(|_| ())
    }

    /// Workers that share a strong direction settle their duals in it slowly, long after the weights are right. The
    /// slopes at the weights know nothing of that, at the price of one more pass.
    fn raise_by_predictions(&mut self, worker: &mut Worker, predictions: &[f64]) -> Result<(), Error> {
        let duals = duals_from_predictions(worker, predictions);
        self.raise_by_duals(worker, duals)
    }

    /// Proves D(s·α) for the best of several scales s, which it returns: away from the optimum a smaller dual point
    /// proves more.
    fn raise_by_scaling(
        &mut self,
        worker: &mut Worker,
        duals: &[f64],
        weights: &[f64],
    ) -> Result<f64, Error> {
        let best = self.best_scale(worker, duals, weights, SCALES)?;
        // Some scale proves more than nothing.
        if best.1 > 0.0 || self.certificate.dual > 0.0 {
            return Ok(best.0);
        }
        Ok(self.best_scale(worker, duals, weights, SMALL_SCALES)?.0)
    }

    /// The scale that proves most, and what it proves.
    fn best_scale(
        &mut self,
        worker: &mut Worker,
        duals: &[f64],
        weights: &[f64],
        scales: [f64; 4],
    ) -> Result<(f64, f64), Error> {
        let mut conjugates = scales.map(|scale| worker.local.conjugate(duals, scale));
        worker.local.meter_losses((2 * scales.len() * worker.local.rows()) as f64);
        worker.sum(&mut conjugates)?;
        let local = &worker.local;
        let penalty = penalty(local.problem, local.features(), weights);
        let mut best = (0.0, f64::NEG_INFINITY);
        for (scale, conjugate) in scales.into_iter().zip(conjugates) {
            let bound = -conjugate / local.total_rows as f64 - scale * scale * penalty;
            self.certificate.raise(bound, local.total_rows);
            if bound > best.1 {
                best = (scale, bound);
            }
        }
        Ok(best)
    }

    /// Moves the dual point that is kept towards what the predictions suggest, as far as that helps, and improves
    /// it by one pass of coordinate steps. Both only ever raise its bound.
    fn raise_by_shadow(&mut self, worker: &mut Worker, predictions: &[f64]) -> Result<(), Error> {
        let (rows, dimension) = (worker.local.rows(), worker.local.dimension());
        let mut guess = duals_from_predictions(worker, predictions);
        if worker.local.problem.bias {
            balance(worker, &mut guess)?;
        }
        let guess_weights = weights_of(worker, &guess)?;
        let mut shadow = self
            .shadow
            .take()
            .unwrap_or_else(|| Shadow { duals: vec![0.0; rows], weights: vec![0.0; dimension] });
        let mut bound = shadow.move_towards(worker, &guess, &guess_weights)?;
        if !worker.local.problem.bias {
            let mut sdca = Sdca::new(worker, shadow.duals, shadow.weights, Aggregation::Adding)?;
            sdca.round(worker, rows)?;
            (shadow.duals, shadow.weights) = sdca.into_parts();
            bound = shadow.bound(worker)?;
        }
        self.certificate.raise(bound, worker.local.total_rows);
        self.shadow = Some(shadow);
        Ok(())
    }

    /// A dual point for those who go on with one where the solver has none: the one that is kept, or on smooth losses
    /// the slopes at the best weights, scaled down as far as that proves more. With the weights that belong to it.
    pub(crate) fn dual_point(&mut self, worker: &mut Worker) -> Result<Option<Shadow>, Error> {
        if self.shadow.is_some() {
            return Ok(self.shadow.clone());
        }
        if worker.local.problem.loss.smoothness().is_none() {
            return Ok(None);
        }
        let mut duals = duals_from_predictions(worker, &self.best_predictions);
        if worker.local.problem.bias {
            balance(worker, &mut duals)?;
        }
        let mut weights = weights_of(worker, &duals)?;
        let scale = self.raise_by_scaling(worker, &duals, &weights)?;
        self.certificate.check()?;
        duals.iter_mut().chain(&mut weights).for_each(|value| *value *= scale);
        Ok(Some(Shadow { duals, weights }))
    }

    /// Takes over the new weights, or the best point on the way to them, if that is lower.
    fn lower(
        &mut self,
        worker: &mut Worker,
        weights: &[f64],
        predictions: &[f64],
        current: f64,
    ) -> Result<(), Error> {
        let (theta, primal) = if worker.local.problem.loss.smoothness().is_some() || !current.is_finite() {
            (1.0, current)
        } else {
            self.best_between(worker, weights, predictions, current)?
        };
        if primal < self.certificate.primal {
            self.certificate.primal = primal;
            move_to(&mut self.best, weights, theta);
            move_to(&mut self.best_predictions, predictions, theta);
        }
        Ok(())
    }

    /// The lowest objective between the best weights (θ = 0) and new ones (θ = 1): a grid, then a finer grid.
    fn best_between(
        &self,
        worker: &mut Worker,
        weights: &[f64],
        predictions: &[f64],
        current: f64,
    ) -> Result<(f64, f64), Error> {
        let features = worker.local.features();
        let n = worker.local.total_rows as f64;
        let mut found =
            if current < self.certificate.primal { (1.0, current) } else { (0.0, self.certificate.primal) };
        let mut width = 0.5;
        for _ in 0..GRIDS {
            let center = found.0;
            let thetas: [f64; 4] =
                [center - width, center - width / 2.0, center + width / 2.0, center + width];
            let mut sums = worker.local.losses_between(&self.best_predictions, predictions, thetas);
            worker.sum(&mut sums)?;
            for (theta, sum) in thetas.into_iter().zip(sums) {
                let mut mixed = self.best[..features].to_vec();
                move_to(&mut mixed, &weights[..features], theta);
                let primal = sum / n + penalty(worker.local.problem, features, &mixed);
                if primal < found.1 && (0.0..=EXTRAPOLATE).contains(&theta) {
                    found = (theta, primal);
                }
            }
            width /= 3.0;
        }
        Ok(found)
    }
}

/// Scales tried for a dual point made from slopes,
const SCALES: [f64; 4] = [1.0, 0.99, 0.9, 0.5];
/// and where nothing is proved yet.
const SMALL_SCALES: [f64; 4] = [0.1, 1e-2, 1e-3, 1e-4];
/// Grids of the search between two weights.
const GRIDS: usize = 4;
/// How far beyond the new weights the search may go.
const EXTRAPOLATE: f64 = 1.5;
/// Mixtures tried between the dual point that is kept and a new guess.
const MIXTURES: [f64; 6] = [0.0, 0.1, 0.3, 0.6, 0.9, 1.0];

impl Shadow {
    /// The best of a few mixtures with another dual point; returns its bound.
    fn move_towards(&mut self, worker: &mut Worker, duals: &[f64], weights: &[f64]) -> Result<f64, Error> {
        let mixed = |from: &[f64], to: &[f64], theta: f64| {
            let mut mixture = from.to_vec();
            move_to(&mut mixture, to, theta);
            mixture
        };
        let mut conjugates =
            MIXTURES.map(|theta| worker.local.conjugate(&mixed(&self.duals, duals, theta), 1.0));
        worker.local.meter_losses((2 * MIXTURES.len() * worker.local.rows()) as f64);
        worker.sum(&mut conjugates)?;
        let local = &worker.local;
        let bound = |theta: f64, conjugate: f64| {
            let weights = mixed(&self.weights, weights, theta);
            -conjugate / local.total_rows as f64 - penalty(local.problem, local.features(), &weights)
        };
        let bounds = MIXTURES.into_iter().zip(conjugates).map(|(theta, sum)| (theta, bound(theta, sum)));
        let (theta, best) = bounds.fold((0.0, f64::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a });
        move_to(&mut self.duals, duals, theta);
        move_to(&mut self.weights, weights, theta);
        Ok(best)
    }

    /// D of this point.
    fn bound(&self, worker: &mut Worker) -> Result<f64, Error> {
        let conjugate = worker.local.conjugate(&self.duals, 1.0);
        let conjugate = worker.sum_of(conjugate)?;
        let local = &worker.local;
        Ok(-conjugate / local.total_rows as f64 - penalty(local.problem, local.features(), &self.weights))
    }
}

/// values += θ(to − values).
fn move_to(values: &mut [f64], to: &[f64], theta: f64) {
    if theta == 1.0 {
        values.copy_from_slice(to);
    } else {
        values.iter_mut().zip(to).for_each(|(value, to)| *value += theta * (to - *value));
    }
}

/// w(α) = (1/(λn)) Σ α_i x_i over all workers, with 0 for the bias.
pub(crate) fn weights_of(worker: &mut Worker, duals: &[f64]) -> Result<Vec<f64>, Error> {
    let mut weights = vec![0.0; worker.local.dimension()];
    worker.local.combine(duals, &mut weights);
    worker.sum(&mut weights)?;
    let scale = 1.0 / (worker.local.problem.lambda * worker.local.total_rows as f64);
    weights.iter_mut().for_each(|weight| *weight *= scale);
    if let Some(bias) = weights.get_mut(worker.local.features()) {
        *bias = 0.0;
    }
    Ok(weights)
}

/// Scales the heavier sign down until Σ α = 0.
fn balance(worker: &mut Worker, duals: &mut [f64]) -> Result<(), Error> {
    let mut sums = [0.0; 2];
    for dual in duals.iter() {
        sums[usize::from(*dual < 0.0)] += dual.abs();
    }
    worker.sum(&mut sums)?;
    let lighter = sums[0].min(sums[1]);
    for dual in duals.iter_mut() {
        let sum = sums[usize::from(*dual < 0.0)];
        if sum > lighter {
            *dual *= lighter / sum;
        }
    }
    Ok(())
}

/// The dual point that predictions suggest: minus the slopes, where the loss has them.
fn duals_from_predictions(worker: &Worker, predictions: &[f64]) -> Vec<f64> {
    let rows = predictions.iter().zip(worker.local.targets()).enumerate();
    with_losses!(worker.local.problem.loss, worker.local.weights(), losses => {
        rows.map(|(row, (p, y))| losses.of(row).guess(*p, f64::from(*y))).collect()
    })
}
