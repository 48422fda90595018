//! What is left of several classes: one model file and one report.

use hemingway_data::Dataset;
use hemingway_train::{Effort, Quality, Ranking};

use super::{Classes, Rows, Trained};
use crate::{
    ClassModel, ClassReport, Error, FORMAT, LATEST_VERSION, ModelFile, Predictions, StoredRun, TrainReport,
};

impl Classes<'_> {
    pub(super) fn save(&self, run: &StoredRun) -> Result<TrainReport, Error> {
        let file = self.request.model.clone().unwrap_or_else(|| self.place.model(&run.id));
        let report = TrainReport { model: file, ..self.report(run) };
        if self.request.model.is_none() {
            self.place.make_model_folder(&report.model)?;
        }
        let model = self.model(&report);
        model.write(&report.model)?;
        let test = self.ready.test.as_ref().map(|test| Predictions::of(&model, &test.dataset));
        Ok(TrainReport { test_metrics: test.as_ref().and_then(Predictions::metrics), ..report })
    }

    fn model(&self, report: &TrainReport) -> ModelFile {
        let features = &self.ready.features;
        ModelFile {
            format: FORMAT.to_owned(),
            version: LATEST_VERSION,
            loss: self.request.loss,
            lambda: self.request.lambda,
            lambda_choice: None,
            labels: self.ready.summary.labels.clone(),
            class_weights: self.ready.summary.class_weights.clone(),
            table: self.ready.encoding.as_deref().cloned(),
            features: features.count,
            indices: features.used.clone(),
            weights: Vec::new(),
            bias: None,
            classes: self
                .trained
                .iter()
                .zip(self.names())
                .map(|(trained, name)| trained.block(name))
                .collect(),
            transform: self.ready.transform.clone(),
            platt: None,
            primal: report.primal,
            dual: report.dual,
            certified_error: report.certified_error,
            run: report.run.clone(),
            dataset: self.ready.summary.name.clone(),
            fingerprint: self.ready.summary.fingerprint,
        }
    }

    /// Sums over all classes, and the worst of them where a sum says nothing.
    fn report(&self, run: &StoredRun) -> TrainReport {
        let reports = || self.trained.iter().map(|trained| &trained.report);
        let sum = |of: fn(&TrainReport) -> f64| reports().map(of).sum::<f64>();
        let first = &self.trained[0].report;
        let unfinished = reports().find(|report| !report.goal_reached);
        let (train, test) = self.quality();
        TrainReport {
            run: run.id.clone(),
            dataset: self.ready.summary.clone(),
            algorithm: self.algorithms(),
            parameters: self.request.parameters.clone(),
            step_size: None,
            workers: reports().map(|report| report.workers).max().unwrap_or(1),
            reason: format!("{} classes, each against the rest", self.names().len()),
            rounds: reports().map(|report| report.rounds).sum(),
            effort: reports().map(|report| report.effort).fold(Effort::default(), add),
            seconds: sum(|report| report.seconds),
            wall_seconds: self.ready.transform_seconds + sum(|report| report.wall_seconds),
            load_seconds: self.ready.load_seconds + sum(|report| report.load_seconds),
            shuffle_seconds: self.ready.shuffle_seconds,
            scoring_seconds: sum(|report| report.scoring_seconds),
            total_seconds: self.load_seconds_on(&first.engine) + sum(|report| report.total_seconds),
            overhead_seconds: sum(|report| report.overhead_seconds),
            before_seconds: sum(|report| report.before_seconds),
            cost: reports().map(|report| report.cost).sum(),
            primal: sum(|report| report.primal),
            dual: reports().map(|report| report.dual).sum(),
            certified_error: worst(reports().map(|report| report.certified_error)),
            relative_to_start: reports().any(|report| report.relative_to_start),
            stop: unfinished.map_or(first.stop, |report| report.stop),
            goal_reached: unfinished.is_none(),
            switches: Vec::new(),
            plan: None,
            alternatives: Vec::new(),
            rejected: Vec::new(),
            reused: Vec::new(),
            warnings: self.warnings(),
            classes: self
                .trained
                .iter()
                .enumerate()
                .map(|(class, trained)| self.class(class, trained))
                .collect(),
            train_accuracy: train.and_then(Quality::accuracy),
            test_accuracy: test.and_then(Quality::accuracy),
            test_dropped_values: self.ready.test.as_ref().map(|test| test.dropped_values),
            ..first.clone()
        }
    }

    /// Reading and scaling the rows once, which no class waits for, as far as the engine's clock sees that.
    fn load_seconds_on(&self, engine: &str) -> f64 {
        if engine == crate::default_choice::SIMULATED {
            return 0.0;
        }
        self.ready.load_seconds + self.ready.transform_seconds
    }

    fn class(&self, class: usize, trained: &Trained) -> ClassReport {
        let report = &trained.report;
        ClassReport {
            name: self.names()[class].clone(),
            run: report.run.clone(),
            rows: self.ready.several.as_ref().map(|several| several.used.rows(class)),
            algorithm: report.algorithm.clone(),
            workers: report.workers,
            rounds: report.rounds,
            seconds: report.seconds,
            primal: report.primal,
            dual: report.dual,
            certified_error: report.certified_error,
            stop: report.stop,
            goal_reached: report.goal_reached,
        }
    }

    /// Each that was used, in the order of its first class.
    fn algorithms(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for trained in &self.trained {
            if !names.contains(&trained.report.algorithm.as_str()) {
                names.push(&trained.report.algorithm);
            }
        }
        names.join(", ")
    }

    fn warnings(&self) -> Vec<String> {
        let of_class = |(trained, name): (&Trained, &String)| -> Vec<String> {
            trained.report.warnings.iter().map(|warning| format!("class {name}: {warning}")).collect()
        };
        self.trained.iter().zip(self.names()).flat_map(of_class).collect()
    }

    /// How well all classes together predict training and test data, where these are here.
    fn quality(&self) -> (Option<Quality>, Option<Quality>) {
        let of = |data: &Dataset| {
            let mut ranking = Ranking::of(data.matrix.rows());
            let blocks = self.trained.iter().flat_map(|trained| trained.model.all_weights());
            blocks.for_each(|weights| ranking.add(&hemingway_train::predict(data, &weights)));
            ranking
        };
        let train = match (&self.rows, &self.ready.several) {
            (Rows::Here(data), Some(several)) => Some(of(data).quality(several.used.numbers())),
            _ => None,
        };
        let test = self.ready.test.as_ref().map(|test| &test.dataset);
        (train, test.map(|test| of(test).quality(&test.targets)))
    }
}

impl Trained {
    fn block(&self, name: &str) -> ClassModel {
        ClassModel {
            name: name.to_owned(),
            weights: self.model.weights.clone(),
            bias: self.model.bias,
            primal: self.model.primal,
            dual: self.model.dual,
            certified_error: self.model.certified_error,
            run: self.model.run.clone(),
        }
    }
}

fn add(one: Effort, other: Effort) -> Effort {
    Effort {
        iterations: one.iterations + other.iterations,
        epochs: one.epochs + other.epochs,
        bytes_per_worker: one.bytes_per_worker + other.bytes_per_worker,
    }
}

/// The largest error; nothing is proved of all if nothing is of one.
fn worst(mut errors: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    errors.try_fold(0.0, |worst: f64, error| Some(worst.max(error?)))
}
