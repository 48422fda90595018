//! What a model has learnt, as people read it: one coefficient per feature in the units of the data, and which of them
//! matter most.
//!
//! Training sees (x − mean)/scale where columns were standardised, so a fitted weight w is a coefficient w/scale of x, and
//! the intercept is bias − Σ w·mean/scale. Where a table has centred a feature before, its centre is part of the mean. How
//! much a feature matters is |w|: by how much one standard deviation of it
//! moves the margin. Where columns were not standardised that is by how much one unit of it does, and features of
//! different units cannot be compared.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use hemingway_data::{Encoding, Labels};
use serde::Serialize;

use crate::prediction_table::csv_field;
use crate::target::Target;
use crate::{Error, ModelFile};

/// The coefficients of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficients {
    /// Whether importance is measured in standard deviations of the features rather than in their units.
    pub standardised: bool,
    /// Whether rows are brought to length 1 before coefficients are applied (after standardising, if that is done).
    pub normalised_rows: bool,
    /// Those of the positive class or of the number; of several classes those of each.
    pub of: Vec<ClassCoefficients>,
}

/// The coefficients of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassCoefficients {
    /// The class that a larger margin speaks for; nothing for regression.
    pub class: Option<String>,
    /// The margin of a row of zeros.
    pub intercept: f64,
    /// One for each feature that has a weight, the most important first.
    pub coefficients: Vec<Coefficient>,
}

/// What one feature does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficient {
    /// Its name, or its number, counted from 1.
    pub name: String,
    /// Its index, counted from 0.
    pub index: usize,
    /// By how much one unit of it moves the margin.
    pub coefficient: f64,
    /// By how much one standard deviation of it does, or one unit where columns were not standardised; never negative.
    pub importance: f64,
}

impl ModelFile {
    /// Its coefficients in the units of the data.
    pub fn coefficients(&self) -> Coefficients {
        let names: Vec<Option<String>> = match &self.labels {
            Labels::Classes { positive, .. } => vec![Some(positive.clone())],
            Labels::Several(names) => names.iter().cloned().map(Some).collect(),
            Labels::Numbers => vec![None],
        };
        let blocks = names.into_iter().zip(self.blocks());
        let features = self.named_features();
        Coefficients {
            standardised: self.transform.columns.is_some(),
            normalised_rows: self.transform.rows,
            of: blocks
                .map(|(class, (weights, bias))| self.coefficients_of(class, weights, bias, &features))
                .collect(),
        }
    }

    fn coefficients_of(
        &self,
        class: Option<String>,
        weights: &[f64],
        bias: Option<f64>,
        features: &[NamedFeature],
    ) -> ClassCoefficients {
        let shifts =
            weights.iter().zip(features).map(|(weight, feature)| weight * feature.mean / feature.scale);
        let intercept = bias.unwrap_or(0.0) - shifts.sum::<f64>();
        let coefficient = |(weight, feature): (&f64, &NamedFeature)| Coefficient {
            name: feature.name.clone(),
            index: feature.index,
            coefficient: weight / feature.scale,
            importance: weight.abs(),
        };
        let mut coefficients: Vec<Coefficient> = weights.iter().zip(features).map(coefficient).collect();
        coefficients.sort_by(|one, other| other.importance.total_cmp(&one.importance));
        ClassCoefficients { class, intercept, coefficients }
    }

    /// The features that have weights.
    fn named_features(&self) -> Vec<NamedFeature> {
        let names = self.table.as_ref().map(Encoding::feature_names);
        let centres = self.table.as_ref().map(Encoding::centres);
        let columns = self.transform.columns.as_ref();
        let feature = |column: usize| {
            let index = self.indices.as_ref().map_or(column, |indices| indices[column] as usize);
            let centre = centres.as_ref().map_or(0.0, |centres| f64::from(centres[index]));
            let name = names.as_ref().map(|names| names[index].clone());
            NamedFeature {
                name: name.unwrap_or_else(|| format!("feature {}", index + 1)),
                index,
                mean: centre + columns.map_or(0.0, |columns| f64::from(columns.mean[column])),
                scale: columns.map_or(1.0, |columns| f64::from(columns.scale[column])),
            }
        };
        let count = self.indices.as_ref().map_or(self.features, Vec::len);
        (0..count).map(feature).collect()
    }
}

/// A feature and how it was scaled.
struct NamedFeature {
    name: String,
    index: usize,
    mean: f64,
    scale: f64,
}

impl Coefficients {
    /// Writes them as CSV, of each class the intercept first, as a whole or not at all.
    pub fn write_csv(&self, file: &Path) -> Result<(), Error> {
        let written = Target::of(file).and_then(|target| {
            target.write(|out| {
                let mut out = BufWriter::new(out);
                self.write(&mut out)?;
                out.flush()
            })
        });
        written.map_err(|source| Error::Unwritable { file: file.to_path_buf(), source })
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "class,name,index,coefficient,importance")?;
        self.of.iter().try_for_each(|one| {
            let class = one.class.as_deref().map_or_else(String::new, csv_field);
            writeln!(out, "{class},intercept,,{},", one.intercept)?;
            one.coefficients.iter().try_for_each(|one| {
                let Coefficient { name, index, coefficient, importance } = one;
                writeln!(out, "{class},{},{index},{coefficient},{importance}", csv_field(name))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{Standardise, Transform};

    use super::*;
    use crate::model_file::tests::{model, several};

    fn standardised() -> ModelFile {
        let columns = Some(Standardise { mean: vec![10.0, -1.0, 0.0], scale: vec![4.0, 0.5, 1.0] });
        let transform = Transform { rows: false, columns };
        ModelFile { weights: vec![2.0, -3.0, 0.0], bias: Some(0.5), transform, ..model() }
    }

    #[test]
    fn coefficients_are_in_the_units_of_the_data() {
        let Coefficients { standardised: by_deviation, of, .. } = standardised().coefficients();
        let [ClassCoefficients { class, intercept, coefficients }] = of.as_slice() else {
            panic!("one block")
        };
        assert_eq!((class.as_deref(), by_deviation), (Some("5"), true));
        assert_eq!(*intercept, 0.5 - 2.0 * 10.0 / 4.0 - 3.0 * 1.0 / 0.5);
        let shown: Vec<(&str, f64, f64)> =
            coefficients.iter().map(|one| (one.name.as_str(), one.coefficient, one.importance)).collect();
        assert_eq!(shown, [("feature 2", -6.0, 3.0), ("feature 1", 0.5, 2.0), ("feature 3", 0.0, 0.0)]);
        // The margin of a row is the same either way.
        let row = [12.0, 0.0, 7.0];
        let as_trained = 2.0 * (12.0 - 10.0) / 4.0 - 3.0 * (0.0 + 1.0) / 0.5 + 0.5;
        let by_hand: f64 = coefficients.iter().map(|one| one.coefficient * row[one.index]).sum();
        assert_eq!(intercept + by_hand, as_trained);
    }

    #[test]
    fn only_features_with_weights_are_listed() {
        let sparse =
            ModelFile { features: 4_000_000_000, indices: Some(vec![6, 99, 3_999_999_999]), ..model() };
        let of = sparse.coefficients().of;
        let names: Vec<&str> = of[0].coefficients.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["feature 4000000000", "feature 7", "feature 100"]);
    }

    #[test]
    fn a_table_begins_with_the_intercept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("coefficients.csv");
        standardised().coefficients().write_csv(&file).unwrap();
        let expected = "class,name,index,coefficient,importance\n5,intercept,,-10.5,\n\
            5,feature 2,1,-6,3\n5,feature 1,0,0.5,2\n5,feature 3,2,0,0\n";
        assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    }

    #[test]
    fn several_classes_have_coefficients_each() {
        let of = several().coefficients().of;
        let shown: Vec<(Option<&str>, f64)> =
            of.iter().map(|one| (one.class.as_deref(), one.coefficients[0].coefficient)).collect();
        assert_eq!(shown, [(Some("a"), 1.0), (Some("b"), 2.0), (Some("c"), 3.0)]);
    }
}
