//! Applies a model to data.

use hemingway_data::{Labels, LoadOptions, Loaded, MemoryLimit, load_counting};

use hemingway_train::Quality;

use crate::prepare::load_options;
use crate::{DataRequest, Error, ModelFile};

/// What a model says about data.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// x·w (+ bias), one per row: the sign is the class, for regression it is the prediction itself.
    pub margins: Vec<f64>,
    /// What they stand for.
    pub labels: Labels,
    /// How well they agree with the data's own labels, if it has any.
    pub quality: Option<Quality>,
    /// Values left out because the model knows no such feature.
    pub dropped_values: usize,
    /// Columns that the model does not know.
    pub ignored_columns: Vec<String>,
    /// Cells with a text that the model does not know.
    pub unseen_levels: usize,
    /// What names each row, if a column was asked for.
    pub ids: Vec<String>,
}

impl Predictions {
    /// The prediction for one row in the words of the training data.
    pub fn label(&self, row: usize) -> String {
        let margin = self.margins[row];
        match &self.labels {
            Labels::Classes { positive, .. } if margin >= 0.0 => positive.clone(),
            Labels::Classes { negative, .. } => negative.clone(),
            Labels::Numbers => margin.to_string(),
        }
    }
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
    model.transform.apply(&mut data);
    let margins = hemingway_train::predict(&data, &model.all_weights());
    let quality = (!data.targets.is_empty()).then(|| Quality::of(&margins, &data));
    let labels = model.labels.clone();
    Ok(Predictions { margins, labels, quality, dropped_values, ignored_columns, unseen_levels, ids })
}
