//! What a model says about the rows of some data.

use hemingway_data::{Dataset, Labels};
use hemingway_train::{Quality, Ranking};

use crate::metrics::{ClassPredictions, Metrics, NumberMetrics};
use crate::{ModelFile, PlattScaling};

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

impl Predictions {
    /// Predicts rows that have been transformed as the model wants them.
    pub(crate) fn of(model: &ModelFile, data: &Dataset) -> Predictions {
        let weights = model.all_weights();
        let each: Vec<Vec<f64>> =
            weights.iter().map(|weights| hemingway_train::predict(data, weights)).collect();
        Predictions {
            probabilities: model.scaling().map(|scaling| probabilities(&each, scaling)),
            quality: (!data.targets.is_empty()).then(|| quality(&each, data)),
            margins: by_row(each),
            labels: model.labels.clone(),
            targets: data.targets.clone(),
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
        match &self.labels {
            Labels::Classes { negative, positive } => [negative, positive][self.class(row)].clone(),
            Labels::Several(names) => names[self.class(row)].clone(),
            Labels::Numbers => self.margins[row].to_string(),
        }
    }

    /// The names of the classes, the negative one first; none for regression.
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
                self.class_metrics(|target| usize::from(target > 0.0), &self.scores_of_two())
            }
            Labels::Several(_) => self.class_metrics(|target| target as usize, &self.scores_of_several()),
            Labels::Numbers => {
                let actual: Vec<f64> = self.targets.iter().map(|target| f64::from(*target)).collect();
                Metrics::Numbers(NumberMetrics::of(&actual, &self.margins))
            }
        })
    }

    fn class_metrics(&self, class: fn(f32) -> usize, scores: &[Vec<f64>]) -> Metrics {
        let actual: Vec<usize> = self.targets.iter().map(|target| class(*target)).collect();
        let predicted: Vec<usize> = (0..self.rows()).map(|row| self.class(row)).collect();
        let predictions = ClassPredictions {
            names: &self.classes(),
            actual: &actual,
            predicted: &predicted,
            scores,
            probabilities: self.probabilities.as_deref(),
        };
        Metrics::Classes(predictions.metrics())
    }

    fn scores_of_two(&self) -> Vec<Vec<f64>> {
        vec![self.margins.iter().map(|margin| -margin).collect(), self.margins.clone()]
    }

    fn scores_of_several(&self) -> Vec<Vec<f64>> {
        let of = |class| (0..self.rows()).map(|row| self.margins_of(row)[class]).collect();
        (0..self.per_row()).map(of).collect()
    }

    /// The class of a row, the negative one being 0.
    fn class(&self, row: usize) -> usize {
        match (&self.labels, self.margins_of(row)) {
            (Labels::Several(_), margins) => largest(margins),
            (_, margins) => usize::from(margins[0] >= 0.0),
        }
    }

    fn per_row(&self) -> usize {
        match &self.labels {
            Labels::Several(names) => names.len(),
            Labels::Classes { .. } | Labels::Numbers => 1,
        }
    }
}

/// From the margins of each class, or of the positive one alone. Several classes are told from the rest one by one: their
/// probabilities are brought to a sum of 1.
fn probabilities(each: &[Vec<f64>], scaling: PlattScaling) -> Vec<Vec<f64>> {
    if let [margins] = each {
        let of = |of: &dyn Fn(f64) -> f64| margins.iter().map(|margin| of(*margin)).collect();
        return vec![of(&|margin| scaling.negative(margin)), of(&|margin| scaling.positive(margin))];
    }
    let mut each = each.to_vec();
    for row in 0..each.first().map_or(0, Vec::len) {
        each.iter_mut().for_each(|margins| margins[row] = scaling.log_positive(margins[row]));
        // From the largest logarithm, so that not all of them are 0 where none is likely.
        let largest = each.iter().map(|logarithms| logarithms[row]).fold(f64::NEG_INFINITY, f64::max);
        each.iter_mut().for_each(|logarithms| logarithms[row] = (logarithms[row] - largest).exp());
        let sum: f64 = each.iter().map(|shares| shares[row]).sum();
        each.iter_mut().for_each(|shares| shares[row] /= sum);
    }
    each
}

fn quality(each: &[Vec<f64>], data: &Dataset) -> Quality {
    match &data.labels {
        Labels::Several(_) => {
            let mut ranking = Ranking::of(data.matrix.rows());
            each.iter().for_each(|margins| ranking.add(margins));
            ranking.quality(&data.targets)
        }
        Labels::Classes { .. } | Labels::Numbers => Quality::of(&each[0], data),
    }
}

/// The place of the largest margin, the first of those that are equal.
fn largest(margins: &[f64]) -> usize {
    let later = |best, place| if margins[place] > margins[best] { place } else { best };
    (0..margins.len()).reduce(later).unwrap_or(0)
}

/// What there is for each class, row by row.
fn by_row(mut each: Vec<Vec<f64>>) -> Vec<f64> {
    if each.len() == 1 {
        return each.remove(0);
    }
    let rows = each.first().map_or(0, Vec::len);
    (0..rows).flat_map(|row| each.iter().map(move |margins| margins[row])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_of_several_classes_add_up_to_one() {
        let each = [vec![0.0, -2000.0], vec![0.0, -1000.0], vec![1.0, -2000.0]];
        let probabilities = probabilities(&each, PlattScaling::LOGISTIC);
        let third = 1.0 / (1.0 + (-1f64).exp());
        assert!((probabilities[2][0] - third / (1.0 + third)).abs() < 1e-12, "{probabilities:?}");
        assert_eq!(probabilities[0][0], probabilities[1][0]);
        assert_eq!([probabilities[0][1], probabilities[1][1]], [0.0, 1.0], "however unlikely all are");
    }

    #[test]
    fn several_classes_have_figures_of_all() {
        let labels = Labels::Several(["a", "b", "c"].map(str::to_owned).into());
        let margins = vec![1.0, 0.0, -1.0, 0.0, 2.0, 2.0, -1.0, 0.0, 0.5];
        let predictions = Predictions {
            margins,
            probabilities: None,
            labels,
            targets: vec![0.0, 1.0, 2.0],
            quality: None,
            dropped_values: 0,
            ignored_columns: Vec::new(),
            unseen_levels: 0,
            ids: Vec::new(),
        };
        assert_eq!(
            [0, 1, 2].map(|row| predictions.label(row)),
            ["a", "b", "c"],
            "of equal margins the first"
        );
        let Some(Metrics::Classes(metrics)) = predictions.metrics() else { panic!("they are classes") };
        assert_eq!((metrics.accuracy, metrics.f1), (1.0, Some(1.0)));
        assert_eq!(metrics.auc, Some((1.0 + 1.0 + 0.5) / 3.0));
        assert_eq!(metrics.confusion.counts, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    }
}
