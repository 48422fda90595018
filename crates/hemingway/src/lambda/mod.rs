//! Choosing λ: each of several λ is tried on rows that took no part in training, and the best is used for all rows.
//!
//! `grid` says which λ, `folds` which rows, `plan` with which algorithms and how many models at the same time; `path` trains
//! them, each from the model of the λ before, to a certified error; `report` chooses. What is trained on all rows afterwards is
//! an ordinary run whose request has that λ.

mod chart;
mod error;
mod folds;
mod grid;
mod path;
mod plan;
mod report;

use std::path::PathBuf;
use std::time::Instant;

use hemingway_data::{Dataset, Labels};
use hemingway_train::{DataProfile, Loss, data_bytes};
use serde::{Deserialize, Serialize};

use crate::prepare::{Ready, Trainer, more_data};
use crate::request::positive;
use crate::{Choice, Error, Progress, TrainRequest, Watch};
use folds::Folded;
use path::{Fold, Path, Walked};
use plan::Planning;

pub use chart::{check_lambda_plot, plot_lambda};
pub use error::LambdaError;
pub use grid::LambdaGrid;
pub use plan::LambdaPlan;
pub use report::{LambdaChoice, LambdaFold, LambdaPoint, LambdaReport, Score, Select};

/// How λ is chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LambdaRequest {
    /// What is tried.
    pub grid: LambdaGrid,
    /// Into how many folds the rows are dealt.
    pub folds: usize,
    /// A file that names the fold of each row, in place of that.
    pub fold_file: Option<PathBuf>,
    /// Data of its own to try each λ on, in place of folds.
    pub validation: Option<String>,
    /// What it is chosen by.
    pub select: Select,
    /// Whether to take the largest λ within one standard error of the best score.
    pub one_standard_error: bool,
    /// The certified relative error that each model is trained to.
    pub error: f64,
}

impl Default for LambdaRequest {
    fn default() -> LambdaRequest {
        LambdaRequest {
            grid: LambdaGrid::default(),
            folds: 5,
            fold_file: None,
            validation: None,
            select: Select::default(),
            one_standard_error: false,
            error: ENOUGH,
        }
    }
}

/// The certified error that is enough for choosing: models of folds differ by far more from one another. With ten times as much
/// the bottom of a flat curve moves by a step or two and little time is saved; a hundredth of it chooses the same
/// (docs/choosing-lambda.md).
const ENOUGH: f64 = 1e-3;

/// A λ, and weights for it.
pub(crate) struct Chosen {
    pub report: LambdaReport,
    pub weights: Option<Vec<f64>>,
}

impl LambdaRequest {
    /// Refuses what can be seen to be wrong before any data is read.
    pub(crate) fn check(&self, request: &TrainRequest, choice: &Choice) -> Result<(), Error> {
        positive("--path-error", Some(self.error))?;
        if choice.engine != "threads" {
            return Err(LambdaError::Engine { engine: choice.engine.clone() }.into());
        }
        if self.select == Select::Accuracy && request.is_regression() {
            return Err(LambdaError::NoClasses.into());
        }
        if self.validation.is_none() && self.fold_file.is_none() && self.folds < 2 {
            return Err(LambdaError::Folds(self.folds).into());
        }
        Ok(())
    }

    /// Chooses λ for a request whose data is ready.
    pub(crate) fn choose(
        &self,
        request: &TrainRequest,
        choice: &Choice,
        ready: &Ready,
        trainer: &Trainer,
        watch: &mut Watch,
    ) -> Result<Chosen, Error> {
        let Trainer::Here { data, .. } = trainer else {
            return Err(LambdaError::Engine { engine: choice.engine.clone() }.into());
        };
        let begun = Instant::now();
        let (validation, folded) = match &self.validation {
            Some(spec) => (Some(self.validation_data(spec, request, ready)?), None),
            None => (None, Some(self.folded(request, data, ready)?)),
        };
        let folds = match (&validation, &folded) {
            (Some(validation), _) => vec![of_validation(data, validation)],
            (None, folded) => folded.iter().flat_map(of_folds).collect(),
        };
        let rows = folds.iter().map(|fold| fold.training.1.len()).max().unwrap_or_default();
        let profile = DataProfile { rows, ..DataProfile::of(data) };
        let lambdas = self.grid.lambdas(data, ready.problem)?;
        let planning = Planning { request, how: self, choice, ready, profile, rows, folds: folds.len() };
        let plan = planning.plan(lambdas)?;
        (watch.observe)(Progress::ChoosingLambda(self, &plan));
        let path = Path {
            folds,
            plan: &plan,
            problem: ready.problem,
            choice,
            how: self,
            seed: request.seed,
            interrupt: watch.interrupt,
        };
        let all = plan.lambdas.len() * plan.folds;
        let observe = &mut *watch.observe;
        let Walked { points, weights } =
            path.walk(&mut |done| observe(Progress::LambdaModels { done, all }))?;
        let score = self.score_name(request.loss, data);
        let report = LambdaReport::new(self, plan, points, score, begun.elapsed().as_secs_f64())?;
        (watch.observe)(Progress::ChosenLambda(&report));
        Ok(Chosen { report, weights })
    }

    fn validation_data(&self, spec: &str, request: &TrainRequest, ready: &Ready) -> Result<Dataset, Error> {
        match more_data(spec, request, ready) {
            Err(Error::UnlabelledTest { spec }) => Err(LambdaError::Unlabelled { spec }.into()),
            data => data.map(|loaded| loaded.dataset),
        }
    }

    fn folded(&self, request: &TrainRequest, data: &Dataset, ready: &Ready) -> Result<Folded, Error> {
        let folds = match &self.fold_file {
            Some(file) => folds::read(file, data.matrix.rows())?,
            None => folds::deal(data, self.folds, request.seed)?,
        };
        let bytes = (data_bytes(data) as f64 * Folded::copies(folds.len())) as u64;
        if let Some(room) = ready.room {
            room.check_more(&data.name, "its rows in the order of the folds take", bytes)?;
        }
        Ok(Folded::new(data, &folds))
    }

    /// What the score is.
    fn score_name(&self, loss: Loss, data: &Dataset) -> &'static str {
        match (self.select, &data.labels, loss) {
            (Select::Accuracy, ..) => "accuracy",
            (Select::Loss, Labels::Numbers, _) => "rmse",
            (Select::Loss, _, Loss::Logistic) => "log_loss",
            (Select::Loss, ..) => "loss",
        }
    }
}

fn of_validation<'a>(data: &'a Dataset, validation: &'a Dataset) -> Fold<'a> {
    let all = |data: &Dataset| 0..data.matrix.rows();
    Fold { training: (data, all(data)), held_out: (validation, all(validation)) }
}

fn of_folds(folded: &Folded) -> impl Iterator<Item = Fold<'_>> {
    (0..folded.count()).map(|fold| Fold {
        training: (&folded.data, folded.training(fold)),
        held_out: (&folded.data, folded.held_out(fold)),
    })
}
