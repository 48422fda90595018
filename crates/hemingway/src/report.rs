//! What a finished run has to say: stored with the run, printed by `train`, and documented for `--json`.

use std::path::PathBuf;

use hemingway_data::{CountedClass, Dataset, Fingerprint, Labels};
use hemingway_plan::{Candidate, Rejected};
use hemingway_train::{Effort, Loss, Parameters, Stop};
use serde::{Deserialize, Serialize};

use crate::metrics::Metrics;
use crate::{LambdaReport, Reused, Switched, TableSummary};

/// The result of a training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainReport {
    /// The run's name in the store.
    pub run: String,
    /// Where the model is.
    pub model: PathBuf,
    /// What was trained on.
    pub dataset: DatasetSummary,
    /// The loss.
    pub loss: Loss,
    /// Strength of the L2 penalty.
    pub lambda: f64,
    /// How λ was chosen, with every λ that was tried; absent if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_choice: Option<LambdaReport>,
    /// Whether the model has a constant term.
    pub bias: bool,
    /// Whether columns were scaled to standard deviation 1.
    #[serde(default)]
    pub standardise: bool,
    /// The algorithm.
    pub algorithm: String,
    /// Its hyperparameters.
    pub parameters: Parameters,
    /// The first step size, given or found at the start; absent for algorithms without one, and in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_size: Option<f64>,
    /// Number of workers.
    pub workers: usize,
    /// Where it ran.
    pub engine: String,
    /// Why all this was chosen.
    pub reason: String,
    /// All randomness came from here.
    pub seed: u64,
    /// Rounds finished.
    pub rounds: u64,
    /// What training has taken; not known of runs of older versions.
    #[serde(flatten)]
    pub effort: Effort,
    /// The training clock: scoring does not count; virtual on the simulated engine.
    pub seconds: f64,
    /// From loaded data to finished model, scoring included, whatever the engine's clock says.
    pub wall_seconds: f64,
    /// Reading the data, before all that.
    pub load_seconds: f64,
    /// The part of `load_seconds` that bringing rows into random order took, with `--shuffle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle_seconds: Option<f64>,
    /// The part of `wall_seconds` that went into scoring.
    pub scoring_seconds: f64,
    /// Everything from the start to the model: load, profile, planning, training, switching, scoring. On the simulated
    /// engine what its virtual clock sees of that: no loading and no scoring.
    #[serde(default)]
    pub total_seconds: f64,
    /// The part of it that went into the profile, planning and switching.
    #[serde(default)]
    pub overhead_seconds: f64,
    /// The part of that before the first round: profile and planning. It is part of every predicted time.
    #[serde(default)]
    pub before_seconds: f64,
    /// What it cost, if machines have prices.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "price")]
    pub cost: Option<f64>,
    /// P at the model.
    pub primal: f64,
    /// Proved lower bound on the best possible P; absent if nothing is proved.
    pub dual: Option<f64>,
    /// Proved bound on the relative error of P; absent if nothing is proved.
    pub certified_error: Option<f64>,
    /// Whether that error is relative to P at zero weights, because no positive lower bound is known.
    pub relative_to_start: bool,
    /// Why it ended.
    pub stop: Stop,
    /// Whether what was asked for was reached.
    pub goal_reached: bool,
    /// What of the run is not in the store, and why; absent if all is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<String>,
    /// How the run came from the configuration that it began with to the present one.
    #[serde(default)]
    pub switches: Vec<Switched>,
    /// The plan with its stages; none if nothing was left open, or if an older version made it.
    #[serde(default, deserialize_with = "crate::older::or_default")]
    pub plan: Option<Candidate>,
    /// The other candidates that could do what is asked, the best first.
    #[serde(default, deserialize_with = "crate::older::or_default")]
    pub alternatives: Vec<Candidate>,
    /// Those that could not, and why.
    #[serde(default)]
    pub rejected: Vec<Rejected>,
    /// Earlier runs that the plan was made from.
    #[serde(default)]
    pub reused: Vec<Reused>,
    /// Goals that could not be expected to be reached, and what was noticed on the way.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Workers of the mpi engine that computed notably slower than the others, the slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stragglers: Vec<Straggler>,
    /// What came of each of several classes; the figures of the report are then sums, and of errors the worst.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassReport>,
    /// The share of training rows with the right class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_accuracy: Option<f64>,
    /// The root of the mean squared error on the training data, for regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_rmse: Option<f64>,
    /// The share of test rows with the right class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_accuracy: Option<f64>,
    /// The root of the mean squared error on the test data, for regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_rmse: Option<f64>,
    /// How well the model predicts the test data, in all figures; not known of runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_metrics: Option<Metrics>,
    /// Test values left out because the training data has no such feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_dropped_values: Option<usize>,
}

/// What came of one of several classes, told from the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassReport {
    /// Its label.
    pub name: String,
    /// Its own run, in which there is more.
    pub run: String,
    /// How many rows are of it; unknown where other processes have them.
    pub rows: Option<usize>,
    /// The algorithm in the end.
    pub algorithm: String,
    /// Number of workers in the end.
    pub workers: usize,
    /// Rounds finished.
    pub rounds: u64,
    /// The training clock.
    pub seconds: f64,
    /// P at the model.
    pub primal: f64,
    /// Proved lower bound on the best possible P; absent if nothing is proved.
    pub dual: Option<f64>,
    /// Proved bound on the relative error of P; absent if nothing is proved.
    pub certified_error: Option<f64>,
    /// Why it ended.
    pub stop: Stop,
    /// Whether what was asked for was reached.
    pub goal_reached: bool,
}

/// A worker that is slower than the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Straggler {
    /// Its number.
    pub worker: usize,
    /// Its machine.
    pub host: String,
    /// How many times as long as the median it takes for the same work.
    pub factor: f64,
}

/// What is said of data that nothing can be compared with.
const UNKNOWN_CONTENT: &str = "it was recorded by a version that did not remember what the data contains";

/// A dataset in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetSummary {
    /// Where it came from.
    pub name: String,
    /// Number of examples.
    pub rows: usize,
    /// Number of features, as the user counts them.
    pub features: usize,
    /// Features that occur, where those that do not are left out of training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurring: Option<usize>,
    /// Number of values that are not zero.
    pub nonzeros: usize,
    /// What the targets stand for.
    pub labels: Labels,
    /// How often a row of each class counts; absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_weights: Vec<CountedClass>,
    /// What it contains, with what was done to it; unknown in runs of older versions.
    #[serde(default)]
    pub fingerprint: Option<Fingerprint>,
    /// What its source contains: the same for every sample of its rows.
    #[serde(default)]
    pub source: Option<Fingerprint>,
    /// What was done to its columns, if it is a table; unknown in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableSummary>,
}

impl DatasetSummary {
    /// Of a dataset.
    pub fn of(data: &Dataset) -> DatasetSummary {
        DatasetSummary {
            name: data.name.clone(),
            rows: data.matrix.rows(),
            features: data.features.count,
            occurring: data.features.used.as_ref().map(Vec::len),
            nonzeros: data.matrix.nonzeros(),
            labels: data.labels.clone(),
            class_weights: Vec::new(),
            fingerprint: Some(data.fingerprint),
            source: Some(data.fingerprint.untreated()),
            table: data.encoding.as_deref().map(|encoding| TableSummary::new(encoding, 0)),
        }
    }

    /// What is different in other data, in words, if anything is. Runs of older versions do not know what they were made on,
    /// so nothing is the same.
    pub(crate) fn difference(&self, other: &DatasetSummary) -> Option<String> {
        if self.size() != other.size() {
            return Some(format!("it had {}, now it has {}", self.size(), other.size()));
        }
        match (self.fingerprint, other.fingerprint) {
            (Some(then), Some(now)) => then.difference(&now).map(|difference| difference.to_string()),
            _ => Some(UNKNOWN_CONTENT.to_owned()),
        }
    }

    /// Why nothing can be compared with it, if that is so.
    pub(crate) fn unknown_content(&self) -> Option<String> {
        self.fingerprint.is_none().then(|| UNKNOWN_CONTENT.to_owned())
    }

    /// The features that have weights.
    pub fn columns(&self) -> usize {
        self.occurring.unwrap_or(self.features)
    }

    /// Its size in words.
    pub fn size(&self) -> String {
        let occurring = self.occurring.map_or_else(String::new, |count| format!(" ({count} of which occur)"));
        format!("{} rows, {} features{occurring} and {} non-zeros", self.rows, self.features, self.nonzeros)
    }
}
