//! Applies a model to data.

use hemingway_data::{Labels, LoadOptions, Loaded, MemoryLimit, load_counting};

use crate::metrics::Metrics;
use crate::prepare::load_options;
use crate::{DataRequest, Error, ModelFile, PlattScaling, Predictions};

/// How well a model predicts data that has labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// In figures.
    pub metrics: Metrics,
    /// What they are figures of.
    pub predictions: Predictions,
}

/// Reads data as the model's training data was read, and predicts each row.
pub fn predict(model: &ModelFile, request: &DataRequest) -> Result<Predictions, Error> {
    let options = LoadOptions {
        columns: Some(model.features),
        used: model.indices.clone(),
        encoding: model.table.clone(),
        memory_limit: Some(MemoryLimit::new(None, 1).bytes),
        labels: Some(model.labels.clone()),
        regression: model.labels == Labels::Numbers,
        ..load_options(request)?
    };
    let loaded = load_counting(&request.spec, &options)?;
    let Loaded { dataset: mut data, dropped_values, ignored_columns, unseen_levels, ids, .. } = loaded;
    if request.id.is_some() && ids.is_empty() {
        return Err(Error::NoIds { spec: request.spec.clone() });
    }
    model.transform.apply(&mut data);
    let predictions = Predictions::of(model, &data);
    Ok(Predictions { dropped_values, ignored_columns, unseen_levels, ids, ..predictions })
}

/// Predicts each row of data that has labels, and compares.
pub fn evaluate(model: &ModelFile, request: &DataRequest) -> Result<Evaluation, Error> {
    let predictions = predict(model, request)?;
    let unlabelled = || Error::UnlabelledTest { spec: request.spec.clone() };
    let metrics = predictions.metrics().ok_or_else(unlabelled)?;
    Ok(Evaluation { metrics, predictions })
}

/// The same model with probabilities: a curve fitted to its margins on data that took no part in training.
pub fn with_probabilities(model: &ModelFile, request: &DataRequest) -> Result<ModelFile, Error> {
    match &model.labels {
        Labels::Classes { .. } => {}
        Labels::Several(names) => return Err(Error::CurveOfSeveral { classes: names.len() }),
        Labels::Numbers => return Err(Error::ProbabilitiesOfNumbers),
    }
    let Predictions { margins, targets, .. } = predict(model, request)?;
    let spec = || request.spec.clone();
    if targets.is_empty() {
        return Err(Error::UnlabelledTest { spec: spec() });
    }
    let is_positive: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
    let fitted = PlattScaling::fit(&margins, &is_positive).ok_or_else(|| Error::OneClass { spec: spec() })?;
    if fitted.slope <= 0.0 {
        return Err(Error::OppositeMargins { spec: spec(), slope: fitted.slope });
    }
    Ok(ModelFile { platt: Some(fitted), ..model.clone() })
}
