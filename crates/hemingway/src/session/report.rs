//! What is left of a run: its model file and its report.

use hemingway_train::{Quality, Run};

use super::task::{Outcome, Task};
use crate::default_choice::SIMULATED;
use crate::prepare::Ready;
use crate::{
    Error, FORMAT, LATEST_VERSION, ModelFile, Place, Predictions, SPARSE_VERSION, Store, StoredRun,
    TrainReport, TrainRequest, VERSION,
};

/// Closes a run with the model of its last checkpoint.
pub(crate) fn save_last_checkpoint(
    place: &Place,
    store: &Store,
    run: &StoredRun,
    request: &TrainRequest,
    ready: Ready,
) -> Result<TrainReport, Error> {
    let task = Task::new(place, store, run, request, run.choice.clone(), ready, None);
    let outcome = task.last_checkpoint();
    task.conclude(outcome)
}

impl Task<'_> {
    pub(super) fn save(&self, outcome: &Outcome) -> Result<TrainReport, Error> {
        let model = self.model(&outcome.run);
        let report = self.report(outcome, &model);
        if self.request.model.is_none() {
            self.place.make_model_folder(&report.model)?;
        }
        model.write(&report.model)?;
        Ok(report)
    }

    /// Closes the run with its report. What cannot be recorded does not take the model away.
    pub(super) fn close(self, report: TrainReport) -> Result<TrainReport, Error> {
        let unrecorded = self.recorder.finish(&report)?;
        Ok(TrainReport { unrecorded, ..report })
    }

    fn model(&self, outcome: &Run) -> ModelFile {
        let features = &self.ready.features;
        let (weights, bias) = outcome.model.weights.split_at(features.columns());
        ModelFile {
            format: FORMAT.to_owned(),
            version: match (&self.ready.encoding, &features.used) {
                (Some(_), _) => LATEST_VERSION,
                (None, Some(_)) => SPARSE_VERSION,
                (None, None) => VERSION,
            },
            loss: self.request.loss,
            lambda: self.request.lambda,
            lambda_choice: self.choice.lambda.as_ref().map(|lambda| lambda.choice.clone()),
            labels: self.ready.summary.labels.clone(),
            table: self.ready.encoding.as_deref().cloned(),
            class_weights: self.ready.summary.class_weights.clone(),
            features: features.count,
            indices: features.used.clone(),
            weights: weights.to_vec(),
            bias: bias.first().copied(),
            classes: Vec::new(),
            transform: self.ready.transform.clone(),
            platt: None,
            primal: outcome.primal,
            dual: finite(outcome.dual),
            certified_error: finite(outcome.certified_error),
            run: self.run.id.clone(),
            dataset: self.ready.summary.name.clone(),
            fingerprint: self.ready.summary.fingerprint,
        }
    }

    fn report(&self, outcome: &Outcome, model: &ModelFile) -> TrainReport {
        let Outcome { run: outcome, quality: train } = outcome;
        let test = self.ready.test.as_ref().map(|test| Predictions::of(model, &test.dataset));
        let test_quality = test.as_ref().and_then(|test| test.quality);
        let explained = self.choice.explanation.as_ref();
        let warnings = explained.iter().flat_map(|explained| &explained.warnings).chain(&self.notes);
        TrainReport {
            run: self.run.id.clone(),
            model: self.request.model.clone().unwrap_or_else(|| self.place.model(&self.run.id)),
            dataset: self.ready.summary.clone(),
            loss: self.request.loss,
            lambda: self.request.lambda,
            lambda_choice: self.choice.lambda.clone(),
            bias: self.request.has_bias(),
            standardise: self.request.data.is_standardised(),
            algorithm: self.choice.algorithm.clone(),
            parameters: self.choice.parameters.clone(),
            step_size: outcome.step_size,
            workers: self.choice.workers,
            engine: self.choice.engine.clone(),
            reason: self.choice.reason.clone(),
            seed: self.request.seed,
            rounds: outcome.rounds,
            effort: outcome.effort,
            seconds: outcome.seconds.0,
            wall_seconds: self.wall_seconds(outcome),
            total_seconds: self.total_seconds(outcome),
            overhead_seconds: self.planned_seconds() + self.planning_seconds() + self.switching_seconds(),
            before_seconds: self.planned_seconds(),
            load_seconds: self.ready.load_seconds,
            shuffle_seconds: self.ready.shuffle_seconds,
            scoring_seconds: outcome.scoring_seconds.0,
            primal: outcome.primal,
            dual: finite(outcome.dual),
            certified_error: finite(outcome.certified_error),
            relative_to_start: outcome.relative_to_start,
            stop: self.reason_of(outcome.stop),
            goal_reached: outcome.stop.is_goal(&self.choice.stop) && self.is_in_time(outcome),
            cost: self.bill.paid(),
            switches: self.choice.switches.clone(),
            unrecorded: None,
            plan: explained.and_then(|explained| explained.decision.plan.clone()),
            alternatives: explained
                .map_or_else(Vec::new, |explained| explained.decision.alternatives.clone()),
            rejected: explained.map_or_else(Vec::new, |explained| explained.decision.rejected.clone()),
            reused: explained.map_or_else(Vec::new, |explained| explained.reused.clone()),
            warnings: warnings.cloned().collect(),
            stragglers: self.stragglers.clone(),
            classes: Vec::new(),
            train_accuracy: train.and_then(Quality::accuracy),
            train_rmse: train.and_then(Quality::rmse),
            test_accuracy: test_quality.and_then(Quality::accuracy),
            test_rmse: test_quality.and_then(Quality::rmse),
            test_metrics: test.as_ref().and_then(Predictions::metrics),
            test_dropped_values: self.ready.test.as_ref().map(|test| test.dropped_values),
        }
    }

    /// Scaling the data, and the run by the clock on the wall.
    fn wall_seconds(&self, outcome: &Run) -> f64 {
        self.ready.transform_seconds + outcome.wall_seconds.0
    }

    /// All that the user waited for; on a virtual clock without what only this machine took.
    fn total_seconds(&self, outcome: &Run) -> f64 {
        if self.choice.engine == SIMULATED {
            outcome.seconds.0 + self.planned_seconds() + self.planning_seconds()
        } else {
            let before = self.choosing_seconds() + self.planned_seconds();
            self.ready.load_seconds + before + self.wall_seconds(outcome)
        }
    }

    /// Profile and plan before the run.
    pub(super) fn planned_seconds(&self) -> f64 {
        self.choice.explanation.as_ref().map_or(0.0, |explained| explained.overhead_seconds)
    }

    /// Choosing λ.
    fn choosing_seconds(&self) -> f64 {
        self.choice.lambda.as_ref().map_or(0.0, |lambda| lambda.seconds)
    }

    /// Planning while it ran.
    fn planning_seconds(&self) -> f64 {
        self.adaptive.as_ref().map_or(0.0, |adaptive| adaptive.planning_seconds)
    }

    /// Handing over.
    fn switching_seconds(&self) -> f64 {
        self.adaptive.as_ref().map_or(0.0, |adaptive| adaptive.switching_seconds)
    }
}

/// Bounds that prove nothing are left out.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
