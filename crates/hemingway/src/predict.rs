//! Applies a model to data.

use hemingway_data::{Dataset, Labels, LoadOptions, Loaded, MemoryLimit, load_counting};

use hemingway_train::{Quality, Ranking};

use crate::metrics::{ClassPredictions, Metrics, NumberMetrics};
use crate::prepare::load_options;
use crate::{DataRequest, Error, ModelFile, PlattScaling};

/// What a model says about data.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// x·w (+ bias): the sign is the class, for regression it is the prediction itself. One per row; of several classes one
    /// per row and class, those of a row together.
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
    /// Columns that the model does not know.
    pub ignored_columns: Vec<String>,
    /// Cells with a text that the model does not know.
    pub unseen_levels: usize,
    /// What names each row, if a column was asked for.
    pub ids: Vec<String>,
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
        let each: Vec<Vec<f64>> =
            model.all_weights().iter().map(|weights| hemingway_train::predict(data, weights)).collect();
        let quality = (!data.targets.is_empty()).then(|| match (&model.labels, each.as_slice()) {
            (Labels::Several(_), each) => {
                let mut ranking = Ranking::of(data.matrix.rows());
                each.iter().for_each(|margins| ranking.add(margins));
                ranking.quality(&data.targets)
            }
            (_, margins) => Quality::of(&margins[0], data),
        });
        Predictions {
            probabilities: model.scaling().map(|scaling| probabilities(scaling, &each)),
            margins: by_row(each),
            labels: model.labels.clone(),
            targets: data.targets.clone(),
            quality,
            dropped_values: 0,
            ignored_columns: Vec::new(),
            unseen_levels: 0,
            ids: Vec::new(),
        }
    }

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

    /// The names of the classes, of two the negative one first; none for regression.
    pub fn classes(&self) -> Vec<String> {
        match &self.labels {
            Labels::Classes { negative, positive } => vec![negative.clone(), positive.clone()],
            Labels::Several(names) => names.clone(),
            Labels::Numbers => Vec::new(),
        }
    }

    /// How well they agree with the data's own labels, in figures; nothing if it has none.
    pub fn metrics(&self) -> Option<Metrics> {
        if self.targets.is_empty() {
            return None;
        }
        Some(match &self.labels {
            Labels::Classes { .. } => {
                let actual: Vec<usize> =
                    self.targets.iter().map(|target| usize::from(*target > 0.0)).collect();
                let predicted: Vec<usize> =
                    self.margins.iter().map(|margin| usize::from(*margin >= 0.0)).collect();
                let of_negative = self.margins.iter().map(|margin| -margin).collect();
                self.class_metrics(&actual, &predicted, &[of_negative, self.margins.clone()])
            }
            Labels::Several(names) => {
                let actual: Vec<usize> = self.targets.iter().map(|target| *target as usize).collect();
                let rows = || (0..self.rows()).map(|row| self.margins_of(row));
                let predicted: Vec<usize> = rows().map(largest).collect();
                let scores: Vec<Vec<f64>> =
                    (0..names.len()).map(|class| rows().map(|margins| margins[class]).collect()).collect();
                self.class_metrics(&actual, &predicted, &scores)
            }
            Labels::Numbers => {
                let actual: Vec<f64> = self.targets.iter().map(|target| f64::from(*target)).collect();
                Metrics::Numbers(NumberMetrics::of(&actual, &self.margins))
            }
        })
    }

    fn class_metrics(&self, actual: &[usize], predicted: &[usize], scores: &[Vec<f64>]) -> Metrics {
        let (names, probabilities) = (&self.classes()[..], self.probabilities.as_deref());
        let predictions = ClassPredictions { names, actual, predicted, scores, probabilities };
        Metrics::Classes(predictions.metrics())
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

/// Of each class, the negative one of two first. What several classes get of their own is brought to a sum of 1.
fn probabilities(scaling: PlattScaling, margins: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let each =
        |margins: &Vec<f64>, of: &dyn Fn(f64) -> f64| margins.iter().map(|margin| of(*margin)).collect();
    if let [margins] = margins {
        return vec![
            each(margins, &|margin| scaling.negative(margin)),
            each(margins, &|margin| scaling.positive(margin)),
        ];
    }
    let mut classes: Vec<Vec<f64>> =
        margins.iter().map(|margins| each(margins, &|margin| scaling.positive(margin))).collect();
    for row in 0..classes.first().map_or(0, Vec::len) {
        let sum: f64 = classes.iter().map(|class| class[row]).sum();
        let share = |of: f64| if sum > 0.0 { of / sum } else { 1.0 / margins.len() as f64 };
        classes.iter_mut().for_each(|class| class[row] = share(class[row]));
    }
    classes
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
    let predictions = Predictions::of(model, &data);
    Ok(Predictions { dropped_values, ignored_columns, unseen_levels, ids, ..predictions })
}

/// What there is for each class, row by row.
fn by_row(mut each: Vec<Vec<f64>>) -> Vec<f64> {
    if each.len() == 1 {
        return each.remove(0);
    }
    let rows = each.first().map_or(0, Vec::len);
    (0..rows).flat_map(|row| each.iter().map(move |margins| margins[row])).collect()
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
    match &model.labels {
        Labels::Numbers => return Err(Error::ProbabilitiesOfNumbers),
        Labels::Several(names) => return Err(Error::CurveOfSeveral(names.len())),
        Labels::Classes { .. } => {}
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
