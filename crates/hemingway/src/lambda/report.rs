//! What choosing λ came to.

use hemingway_train::{HeldOut, Mean, Stop};
use serde::{Deserialize, Serialize};

use super::{LambdaError, LambdaPlan, LambdaRequest};

/// What a λ is chosen by, on rows that are held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// The least loss, of regression the least root of the mean squared error. It tells models apart that have the same
    /// accuracy.
    #[default]
    Loss,
    /// The most rows with the right class.
    Accuracy,
}

/// A mean over folds, or over the rows of the validation data, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl From<Mean> for Score {
    fn from(Mean { mean, standard_error }: Mean) -> Score {
        Score { mean, standard_error }
    }
}

/// How λ was chosen. The model file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LambdaChoice {
    /// The λ that was chosen.
    pub lambda: f64,
    /// The λ with the best score.
    pub best: f64,
    /// Whether the largest λ within one standard error of the best score was chosen.
    pub one_standard_error: bool,
    /// What the score is: `log_loss`, `loss` (of the hinges), `rmse` or `accuracy`.
    pub score: String,
    /// The score at the λ that was chosen.
    #[serde(flatten)]
    pub value: Score,
    /// How many λ were tried, and the largest and the smallest of them.
    pub tried: usize,
    /// The largest.
    pub from: f64,
    /// The smallest.
    pub to: f64,
    /// How many folds, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// The validation data, if there was any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<String>,
    /// The certified relative error that models were trained to.
    pub error: f64,
}

/// How λ was chosen, with every point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LambdaReport {
    /// What was chosen, and by what.
    #[serde(flatten)]
    pub choice: LambdaChoice,
    /// How models were trained.
    pub plan: LambdaPlan,
    /// Every λ, from the largest to the smallest.
    pub points: Vec<LambdaPoint>,
    /// What all this took, planning included.
    pub seconds: f64,
    /// What should be known of it.
    pub warnings: Vec<String>,
}

/// One λ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LambdaPoint {
    /// The λ.
    pub lambda: f64,
    /// The loss on rows that were held out.
    pub loss: Score,
    /// The share of them with the right class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Score>,
    /// The root of their mean squared error, for regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rmse: Option<Score>,
    /// The largest certified relative error of its models.
    pub certified_error: f64,
    /// What training took, of all folds together.
    pub seconds: f64,
    /// Each fold.
    pub folds: Vec<LambdaFold>,
}

/// One model: a λ and a fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LambdaFold {
    /// How it was trained.
    pub algorithm: String,
    /// Rounds.
    pub rounds: u64,
    /// What training took.
    pub seconds: f64,
    /// Why training ended.
    pub stop: Stop,
    /// The certified relative error.
    pub certified_error: f64,
    /// The loss on rows that were held out.
    pub loss: f64,
    /// The share of them with the right class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// The root of their mean squared error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
}

impl LambdaPoint {
    /// Of all models of a λ, each with what it comes to on the rows that it has not seen.
    pub(crate) fn of(lambda: f64, models: Vec<(LambdaFold, HeldOut)>) -> LambdaPoint {
        let over = |value: fn(&HeldOut) -> Option<Mean>| -> Option<Score> {
            let values: Option<Vec<Mean>> = models.iter().map(|(_, held)| value(held)).collect();
            match values?.as_slice() {
                [alone] => Some((*alone).into()),
                all => Some(Mean::of(all.iter().map(|fold| fold.mean)).into()),
            }
        };
        LambdaPoint {
            lambda,
            loss: over(|held| Some(held.loss)).unwrap_or(Score { mean: f64::NAN, standard_error: 0.0 }),
            accuracy: over(|held| held.accuracy),
            rmse: over(|held| held.rmse),
            certified_error: models.iter().map(|(fold, _)| fold.certified_error).fold(0.0, f64::max),
            seconds: models.iter().map(|(fold, _)| fold.seconds).sum(),
            folds: models.into_iter().map(|(fold, _)| fold).collect(),
        }
    }

    /// What λ is chosen by.
    pub fn score(&self, select: Select) -> Score {
        match select {
            Select::Accuracy => self.accuracy.unwrap_or(self.loss),
            Select::Loss => self.rmse.unwrap_or(self.loss),
        }
    }
}

impl Select {
    /// How much worse a score is than nothing: less is better.
    pub(crate) fn badness(self, score: Score) -> f64 {
        match self {
            Select::Loss => score.mean,
            Select::Accuracy => -score.mean,
        }
    }

    /// The best of the points, and the one that is chosen: the same, or the largest λ within one standard error of it. Of
    /// points that are as good the largest λ is taken.
    pub(crate) fn choose(
        self,
        points: &[LambdaPoint],
        one_standard_error: bool,
    ) -> Option<(&LambdaPoint, &LambdaPoint)> {
        let badness = |point: &LambdaPoint| self.badness(point.score(self));
        let sound = || points.iter().filter(|point| badness(point).is_finite());
        let best = sound().reduce(|best, next| if badness(next) < badness(best) { next } else { best })?;
        if !one_standard_error {
            return Some((best, best));
        }
        let enough = badness(best) + best.score(self).standard_error;
        Some((best, sound().find(|point| badness(point) <= enough).unwrap_or(best)))
    }
}

impl LambdaReport {
    /// Chooses.
    pub(crate) fn new(
        request: &LambdaRequest,
        plan: LambdaPlan,
        points: Vec<LambdaPoint>,
        score: &str,
        seconds: f64,
    ) -> Result<LambdaReport, LambdaError> {
        let (from, to) = (plan.lambdas[0], plan.lambdas[plan.lambdas.len() - 1]);
        let chosen = request.select.choose(&points, request.one_standard_error);
        let (best, chosen) = chosen.ok_or(LambdaError::NoScore { from, to })?;
        let choice = LambdaChoice {
            lambda: chosen.lambda,
            best: best.lambda,
            one_standard_error: request.one_standard_error,
            score: score.to_owned(),
            value: chosen.score(request.select),
            tried: points.len(),
            from,
            to,
            folds: request.validation.is_none().then_some(plan.folds),
            validation: request.validation.clone(),
            error: request.error,
        };
        let warnings = warnings(&choice, &points);
        Ok(LambdaReport { choice, plan, points, seconds, warnings })
    }
}

fn warnings(choice: &LambdaChoice, points: &[LambdaPoint]) -> Vec<String> {
    let mut warnings = Vec::new();
    if choice.best == choice.to {
        let next = choice.to / 100.0;
        warnings.push(format!(
            "the best λ, {:e}, is the smallest that was tried; --lambda auto,to={next:e} goes further",
            choice.best
        ));
    } else if choice.best == choice.from {
        let next = choice.from * 100.0;
        warnings.push(format!(
            "the best λ, {:e}, is the largest that was tried; --lambda auto,from={next:e} goes further",
            choice.best
        ));
    }
    let short = points.iter().filter(|point| point.certified_error > choice.error);
    let short: Vec<String> = short.map(|point| format!("{:e}", point.lambda)).collect();
    if !short.is_empty() {
        let list = short.join(", ");
        warnings.push(format!("at λ = {list} the certified error is above {:e}", choice.error));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lambda: f64, loss: f64, accuracy: f64) -> LambdaPoint {
        let score = |mean: f64| Score { mean, standard_error: 0.05 };
        LambdaPoint {
            lambda,
            loss: score(loss),
            accuracy: Some(score(accuracy)),
            rmse: None,
            certified_error: 0.0,
            seconds: 0.0,
            folds: Vec::new(),
        }
    }

    fn chosen(points: &[LambdaPoint], select: Select, one_standard_error: bool) -> [f64; 2] {
        let (best, chosen) = select.choose(points, one_standard_error).unwrap();
        [best.lambda, chosen.lambda]
    }

    #[test]
    fn the_best_score_or_the_largest_lambda_within_its_error() {
        let points =
            [point(1.0, 0.5, 0.7), point(0.1, 0.34, 0.8), point(0.01, 0.3, 0.8), point(1e-3, 0.4, 0.6)];
        assert_eq!(chosen(&points, Select::Loss, false), [0.01, 0.01]);
        assert_eq!(chosen(&points, Select::Loss, true), [0.01, 0.1]);
        assert_eq!(chosen(&points, Select::Accuracy, false), [0.1, 0.1], "of as good ones the largest");
    }

    #[test]
    fn what_is_not_a_number_is_not_chosen() {
        let points = [point(1.0, f64::NAN, 0.7), point(0.1, 0.4, 0.7), point(0.01, f64::INFINITY, 0.7)];
        assert_eq!(chosen(&points, Select::Loss, true), [0.1, 0.1]);
        assert!(Select::Loss.choose(&points[..1], false).is_none());
    }
}
