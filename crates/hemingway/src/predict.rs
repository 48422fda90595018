//! Applies a model to data.

use hemingway_data::{Dataset, Labels, LoadOptions, MemoryLimit, load_counting};

use hemingway_train::Quality;

use crate::metrics::{ClassPredictions, Metrics, NumberMetrics};
use crate::prepare::load_options;
use crate::{DataRequest, Error, ModelFile, PlattScaling};

/// What a model says about data.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// x·w (+ bias), one per row: the sign is the class, for regression it is the prediction itself.
    pub margins: Vec<f64>,
    /// For each class, the negative one first, its probability for each row; nothing if the model gives none.
    pub probabilities: Option<Vec<Vec<f64>>>,
    /// What they stand for.
    pub labels: Labels,
    /// The data's own labels; none if it has none.
    pub targets: Vec<f32>,
    /// How well they agree with the data's own labels, if it has any.
    pub quality: Option<Quality>,
    /// Values left out because the model knows no such feature.
    pub dropped_values: usize,
}

/// How well a model predicts data that has labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// In figures.
    pub metrics: Metrics,
    /// Values left out because the model knows no such feature.
    pub dropped_values: usize,
}

impl Predictions {
    /// Predicts rows that have been transformed as the model wants them.
    pub(crate) fn of(model: &ModelFile, data: &Dataset) -> Predictions {
        let margins = hemingway_train::predict(data, &model.all_weights());
        let quality = (!data.targets.is_empty()).then(|| Quality::of(&margins, data));
        let probabilities = model.scaling().map(|scaling| {
            let each = |of: &dyn Fn(f64) -> f64| margins.iter().map(|margin| of(*margin)).collect();
            vec![each(&|margin| scaling.negative(margin)), each(&|margin| scaling.positive(margin))]
        });
        let (labels, targets) = (model.labels.clone(), data.targets.clone());
        Predictions { margins, probabilities, labels, targets, quality, dropped_values: 0 }
    }

    /// The prediction for one row in the words of the training data.
    pub fn label(&self, row: usize) -> String {
        let margin = self.margins[row];
        match &self.labels {
            Labels::Classes { positive, .. } if margin >= 0.0 => positive.clone(),
            Labels::Classes { negative, .. } => negative.clone(),
            Labels::Numbers => margin.to_string(),
        }
    }

    /// The names of the classes, the negative one first; none for regression.
    pub fn classes(&self) -> Vec<String> {
        match &self.labels {
            Labels::Classes { negative, positive } => vec![negative.clone(), positive.clone()],
            Labels::Numbers => Vec::new(),
        }
    }

    /// How well they agree with the data's own labels, in figures; nothing if it has none.
    pub fn metrics(&self) -> Option<Metrics> {
        if self.targets.is_empty() {
            return None;
        }
        Some(match &self.labels {
            Labels::Classes { .. } => self.class_metrics(),
            Labels::Numbers => {
                let actual: Vec<f64> = self.targets.iter().map(|target| f64::from(*target)).collect();
                Metrics::Numbers(NumberMetrics::of(&actual, &self.margins))
            }
        })
    }

    fn class_metrics(&self) -> Metrics {
        let actual: Vec<usize> = self.targets.iter().map(|target| usize::from(*target > 0.0)).collect();
        let predicted: Vec<usize> = self.margins.iter().map(|margin| usize::from(*margin >= 0.0)).collect();
        let of_negative = self.margins.iter().map(|margin| -margin).collect();
        let predictions = ClassPredictions {
            names: &self.classes(),
            actual: &actual,
            predicted: &predicted,
            scores: &[of_negative, self.margins.clone()],
            probabilities: self.probabilities.as_deref(),
        };
        Metrics::Classes(predictions.metrics())
    }
}

/// Reads data as the model's training data was read, and predicts each row.
pub fn predict(model: &ModelFile, request: &DataRequest) -> Result<Predictions, Error> {
    let options = LoadOptions {
        columns: Some(model.features),
        used: model.indices.clone(),
        memory_limit: Some(MemoryLimit::new(None, 1).bytes),
        labels: Some(model.labels.clone()),
        regression: model.labels == Labels::Numbers,
        ..load_options(request)?
    };
    let loaded = load_counting(&request.spec, &options)?;
    let mut data = loaded.dataset;
    model.transform.apply(&mut data);
    Ok(Predictions { dropped_values: loaded.dropped_values, ..Predictions::of(model, &data) })
}

/// Predicts each row of data that has labels, and compares.
pub fn evaluate(model: &ModelFile, request: &DataRequest) -> Result<Evaluation, Error> {
    let predictions = predict(model, request)?;
    let unlabelled = || Error::UnlabelledTest { spec: request.spec.clone() };
    let metrics = predictions.metrics().ok_or_else(unlabelled)?;
    Ok(Evaluation { metrics, dropped_values: predictions.dropped_values })
}

/// The same model with probabilities: a curve fitted to its margins on data that took no part in training.
pub fn with_probabilities(model: &ModelFile, request: &DataRequest) -> Result<ModelFile, Error> {
    if model.labels == Labels::Numbers {
        return Err(Error::ProbabilitiesOfNumbers);
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
