//! Applies a model to data.

use hemingway_data::{Labels, LoadOptions, Loaded, MemoryLimit, load_counting};

use hemingway_train::{Quality, Ranking};

use crate::prepare::load_options;
use crate::{DataRequest, Error, ModelFile};

/// What a model says about data.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// x·w (+ bias): the sign is the class, for regression it is the prediction itself. One per row; of several classes one
    /// per row and class, those of a row together.
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
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.margins.len() / self.per_row()
    }

    /// The margins of a row: one, or of several classes one for each in their order.
    pub fn margins_of(&self, row: usize) -> &[f64] {
        &self.margins[row * self.per_row()..(row + 1) * self.per_row()]
    }

    /// The prediction for one row in the words of the training data.
    pub fn label(&self, row: usize) -> String {
        let margins = self.margins_of(row);
        match &self.labels {
            Labels::Classes { positive, .. } if margins[0] >= 0.0 => positive.clone(),
            Labels::Classes { negative, .. } => negative.clone(),
            Labels::Several(names) => names[largest(margins)].clone(),
            Labels::Numbers => margins[0].to_string(),
        }
    }

    fn per_row(&self) -> usize {
        match &self.labels {
            Labels::Several(names) => names.len(),
            Labels::Classes { .. } | Labels::Numbers => 1,
        }
    }
}

/// The place of the largest margin, the first of those that are equal.
fn largest(margins: &[f64]) -> usize {
    let later = |best, place| if margins[place] > margins[best] { place } else { best };
    (0..margins.len()).reduce(later).unwrap_or(0)
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
    let each: Vec<Vec<f64>> =
        model.all_weights().iter().map(|weights| hemingway_train::predict(&data, weights)).collect();
    let quality = (!data.targets.is_empty()).then(|| match (&model.labels, each.as_slice()) {
        (Labels::Several(_), each) => {
            let mut ranking = Ranking::of(data.matrix.rows());
            each.iter().for_each(|margins| ranking.add(margins));
            ranking.quality(&data.targets)
        }
        (_, margins) => Quality::of(&margins[0], &data),
    });
    let (margins, labels) = (by_row(each), model.labels.clone());
    Ok(Predictions { margins, labels, quality, dropped_values, ignored_columns, unseen_levels, ids })
}

/// What there is for each class, row by row.
fn by_row(mut each: Vec<Vec<f64>>) -> Vec<f64> {
    if each.len() == 1 {
        return each.remove(0);
    }
    let rows = each.first().map_or(0, Vec::len);
    (0..rows).flat_map(|row| each.iter().map(move |margins| margins[row])).collect()
}
