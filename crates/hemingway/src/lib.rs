//! Hemingway as a library: train linear models to a proved error, keep every run, use the models.
//!
//! - [`train`] and [`resume`] run a training job and record it;
//! - [`Store`] holds the runs: their settings, their traces and where to go on;
//! - [`ModelFile`] is what a run leaves behind, and [`predict`] applies it to new data.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use hemingway::{DataRequest, ModelFile, Place, TrainRequest, Watch, predict, train};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let place = Place::at(folder.path().join("store.sqlite"));
//! let data = DataRequest { spec: "synthetic:separable,rows=200,features=5".into(), ..Default::default() };
//! let request = TrainRequest { data: data.clone(), ..Default::default() };
//!
//! let mut watch = Watch { interrupt: &AtomicBool::new(false), observe: &mut |_| {} };
//! let report = train(request, &place, &mut watch)?;
//! assert!(report.certified_error.is_some_and(|error| error <= 1e-3));
//!
//! let model = ModelFile::read(&report.model)?;
//! let predictions = predict(&model, &data)?;
//! assert_eq!(predictions.margins.len(), 200);
//! # Ok(())
//! # }
//! ```
//!
//! This crate is the only one that touches the database, and it prints nothing: whoever calls it watches through
//! [`Watch`].

mod adaptive;
mod calibrate;
mod closer;
mod configurations;
mod default_choice;
mod design;
mod error;
mod experience;
mod explain;
mod fit;
mod fitted_history;
mod foreign;
mod history;
mod inputs;
mod lambda;
mod measure;
mod model_file;
mod older;
mod owner;
mod pilots;
mod place;
mod plot;
mod predict;
mod prepare;
mod process;
mod profile;
mod ranks;
mod report;
mod reproduce;
mod request;
mod room;
mod session;
mod store;
mod target;
mod tune;
mod units;

pub use adaptive::Switched;
pub use calibrate::{Calibration, calibrate_cluster};
pub use closer::{Closer, GRACE};
pub use default_choice::{Choice, choose};
pub use design::{DesignRequest, measure_within};
pub use error::Error;
pub use experience::{Common, Family, families};
pub use explain::{ExplainRequest, explain};
pub use fit::{Ahead, Fitted, Forecast, Prediction, predict_traces};
pub use foreign::{read_queries, read_traces};
pub use history::Reused;
pub use inputs::Explanation;
pub use lambda::{
    LambdaChoice, LambdaError, LambdaFold, LambdaGrid, LambdaPlan, LambdaPoint, LambdaReport, LambdaRequest,
    Score, Select, check_lambda_plot, plot_lambda,
};
pub use measure::{Experiment, MeasureRequest, MeasureWatch, Measured, Measuring, measure};
pub use model_file::{FORMAT, ModelFile, SPARSE_VERSION, VERSION};
pub use owner::Owner;
pub use pilots::MadePilot;
pub use place::{Place, check_writable};
pub use predict::{Predictions, predict};
pub use profile::{Family as ProfiledFamily, ProfileReport, ProfileRequest, SpeedUp, profile};
pub use report::{DatasetSummary, Straggler, TrainReport};
pub use reproduce::{
    Accuracy, BespokeReproduction, BespokeRequest, BespokeWatch, DatasetFacts, DatasetMattersReproduction,
    DatasetMattersRequest, DatasetMattersWatch, Errors, Forward, Gap, Gaps, Outcome, PanelGaps,
    ReproduceRequest, Reproduction, Runs, TunedExperiment, TunedStudy, UpperBound, Verdict, mnist, reproduce,
    reproduce_bespoke, reproduce_dataset_matters,
};
pub use request::{Changes, DataRequest, PlanningRequest, RanksRequest, TrainRequest};
pub use session::{Progress, Watch, resume, train, train_choosing_lambda};
pub use store::{Keep, Purpose, Removed, RemovedStudies, Repaired, Status, Store, StoredRun, StoredStudy};
pub use tune::{
    EvaluatedStep, TEMPLATE, TuneEvent, TuneJob, TuneReport, TuneRequest, TuneSource, TuneStop, TuneWatch,
    check_plots, plot_study, serve, tune,
};
pub use units::parse_seconds;

pub use hemingway_data as data;
pub use hemingway_plan::evaluation::{Case, Question, Summary, summarise};
pub use hemingway_plan::scaling::Bound;
pub use hemingway_plan::{
    Candidate, Configuration, ConvergenceModel, Decision, Estimate, Goal, Profile, Query, Rejected, Risk,
    Settings as PlannerSettings, Stage, SystemModel, Unit,
};
pub use hemingway_train::{
    About, Cluster, Crowded, Effort, Entry, GradientNoise, LOSSES, Loss, Needs, Parameters, Point, Quality,
    SampledProfile, Scoring, Seconds, Stop, StopRules, TakeOver, Topology, aliases, canonical, catalogue,
    engines, named, stands_for,
};
pub use hemingway_tune as tuning;
