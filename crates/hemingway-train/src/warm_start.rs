//! Where training begins that has a model of the same rows for another λ, as along a path of falling λ.
//!
//! Methods with weights go on from the weights. Methods with duals go on from α, whose weights are (1/(λn)) Σ α_i x_i: the
//! same duals with a smaller λ are longer weights, duals scaled by the ratio of the two λ are the same weights. Where the
//! penalty rules the first is nearly right, where the loss does the second; what lies between is tried, too, and the best
//! dual objective decides. A scale up to 1 keeps any dual point feasible.

use std::ops::Range;

use hemingway_data::Dataset;

use crate::local::penalty;
use crate::{Algorithm, Local, Model, Problem};

/// Scales between the one that keeps the weights (0) and the one that keeps the duals (1).
const BETWEEN: [f64; 3] = [0.0, 0.5, 1.0];

/// A model to begin with on these rows of the data, from a `model` of the same rows for the penalty `lambda`.
pub fn warm_start(
    data: &Dataset,
    rows: &Range<usize>,
    problem: Problem,
    algorithm: &dyn Algorithm,
    model: &Model,
    lambda: f64,
) -> Model {
    let weights = model.weights.clone();
    if !algorithm.starts_from_duals() {
        return Model { weights, duals: None };
    }
    let mut local = Local::among(data, rows, 0..rows.len(), problem);
    let duals: Vec<f64> = match &model.duals {
        Some(duals) => duals.clone(),
        None if problem.loss.smoothness().is_some() => {
            let mut predictions = vec![0.0; rows.len()];
            local.predict(&weights, &mut predictions);
            local.slopes(&predictions).into_iter().map(|slope| -slope).collect()
        }
        None => return Model { weights, duals: None },
    };
    let scale = best_scale(&mut local, &duals, (problem.lambda / lambda).min(1.0));
    Model { weights, duals: Some(duals.into_iter().map(|dual| scale * dual).collect()) }
}

/// The scale with the highest dual objective, from the one that keeps the weights to 1.
fn best_scale(local: &mut Local, duals: &[f64], same_weights: f64) -> f64 {
    let n = local.total_rows as f64;
    let mut weights = vec![0.0; local.dimension()];
    local.combine(duals, &mut weights);
    weights.iter_mut().for_each(|weight| *weight /= local.problem.lambda * n);
    let penalty = penalty(local.problem, local.features(), &weights);
    let objective = |scale: f64| -local.conjugate(duals, scale) / n - scale * scale * penalty;
    let scales = BETWEEN.map(|between| same_weights.powf(1.0 - between));
    let rated = scales.map(|scale| (scale, objective(scale)));
    rated.into_iter().fold((0.0, 0.0), |best, next| if next.1 > best.1 { next } else { best }).0
}

#[cfg(test)]
mod tests {
    use hemingway_data::{LoadOptions, load};

    use super::*;
    use crate::{Engine, Job, Loss, Parameters, Run, Scoring, Start, StopRules, ThreadsOn, algorithm};

    fn data() -> Dataset {
        load("synthetic:text,rows=600,features=60", &LoadOptions::default()).unwrap()
    }

    fn train(data: &Dataset, rows: &Range<usize>, problem: Problem, name: &str, start: Start) -> Run {
        let algorithm = algorithm(name, &Parameters::default()).unwrap();
        let job = Job {
            problem,
            algorithm: algorithm.as_ref(),
            workers: 1,
            seed: 1,
            stop: StopRules { error: Some(1e-6), ..StopRules::default() },
            scoring: Scoring::Every(1),
            start,
            checkpoint_every: None,
            interrupt: None,
            hand_over: None,
        };
        ThreadsOn { rows: rows.clone() }.run(data, &job, &mut |_| Ok(())).unwrap()
    }

    #[test]
    fn it_takes_fewer_rounds_to_the_same_optimum() {
        let (data, rows) = (data(), 100..500);
        let alone = data.rows_at(&rows.clone().collect::<Vec<_>>());
        let [large, small] = [3e-2, 1e-2].map(|lambda| Problem::new(Loss::Logistic, lambda).unwrap());
        let model = train(&data, &rows, large, "cocoa", Start::Zero).model;
        let dual = algorithm("cocoa", &Parameters::default()).unwrap();
        let warm = warm_start(&data, &rows, small, dual.as_ref(), &model, large.lambda);
        let warm = train(&data, &rows, small, "cocoa", Start::Model(&warm));
        let cold = train(&alone, &(0..400), small, "cocoa", Start::Zero);
        assert!((warm.primal / cold.primal - 1.0).abs() < 3e-6, "{} and {}", warm.primal, cold.primal);
        assert!(warm.rounds < cold.rounds, "{} and {}", warm.rounds, cold.rounds);
    }

    #[test]
    fn duals_come_from_the_slopes_where_the_model_has_none() {
        let (data, rows) = (data(), 0..600);
        let problem = Problem::new(Loss::Logistic, 1e-2).unwrap();
        let model = train(&data, &rows, problem, "l-bfgs", Start::Zero).model;
        assert_eq!(model.duals, None);
        let dual = algorithm("cocoa", &Parameters::default()).unwrap();
        let warm = warm_start(&data, &rows, problem, dual.as_ref(), &model, problem.lambda);
        let run = train(&data, &rows, problem, "cocoa", Start::Model(&warm));
        let cold = train(&data, &rows, problem, "cocoa", Start::Zero);
        assert!(run.rounds < cold.rounds / 2, "{} and {}", run.rounds, cold.rounds);
    }
}
