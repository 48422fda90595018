//! What a model has learnt, as people read it: one coefficient per feature in the units of the data, and which of them
//! matter most.
//!
//! Training sees (x − mean)/scale where columns were standardised, so a fitted weight w is a coefficient w/scale of x, and
//! the intercept is bias − Σ w·mean/scale. How much a feature matters is |w|: by how much one standard deviation of it
//! moves the margin. Where columns were not standardised that is by how much one unit of it does, and features of
//! different units cannot be compared.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use crate::prediction_table::csv_field;
use crate::target::Target;
use crate::{Error, ModelFile};

/// The coefficients of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficients {
    /// The margin of a row of zeros.
    pub intercept: f64,
    /// Whether importance is measured in standard deviations of the features rather than in their units.
    pub standardised: bool,
    /// Whether rows are brought to length 1 before coefficients are applied (after standardising, if that is done).
    pub normalised_rows: bool,
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
        let columns = self.transform.columns.as_ref();
        let scale = |column: usize| columns.map_or(1.0, |columns| f64::from(columns.scale[column]));
        let mean = |column: usize| columns.map_or(0.0, |columns| f64::from(columns.mean[column]));
        let shifts =
            self.weights.iter().enumerate().map(|(column, weight)| weight * mean(column) / scale(column));
        let intercept = self.bias.unwrap_or(0.0) - shifts.sum::<f64>();
        let coefficient = |(column, weight): (usize, &f64)| {
            let index = self.indices.as_ref().map_or(column, |indices| indices[column] as usize);
            let (name, importance) = (self.feature_name(index), weight.abs());
            Coefficient { name, index, coefficient: weight / scale(column), importance }
        };
        let mut coefficients: Vec<Coefficient> = self.weights.iter().enumerate().map(coefficient).collect();
        coefficients.sort_by(|one, other| other.importance.total_cmp(&one.importance));
        let (standardised, normalised_rows) = (columns.is_some(), self.transform.rows);
        Coefficients { intercept, standardised, normalised_rows, coefficients }
    }

    /// What people call a feature.
    fn feature_name(&self, index: usize) -> String {
        format!("feature {}", index + 1)
    }
}

impl Coefficients {
    /// Writes them as CSV, the intercept first, as a whole or not at all.
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
        writeln!(out, "name,index,coefficient,importance")?;
        writeln!(out, "intercept,,{},", self.intercept)?;
        self.coefficients.iter().try_for_each(|one| {
            let Coefficient { name, index, coefficient, importance } = one;
            writeln!(out, "{},{index},{coefficient},{importance}", csv_field(name))
        })
    }
}

#[cfg(test)]
mod tests {
    use hemingway_data::{Standardise, Transform};

    use super::*;
    use crate::model_file::tests::model;

    fn standardised() -> ModelFile {
        let columns = Some(Standardise { mean: vec![10.0, -1.0, 0.0], scale: vec![4.0, 0.5, 1.0] });
        let transform = Transform { rows: false, columns };
        ModelFile { weights: vec![2.0, -3.0, 0.0], bias: Some(0.5), transform, ..model() }
    }

    #[test]
    fn coefficients_are_in_the_units_of_the_data() {
        let Coefficients { intercept, standardised: by_deviation, coefficients, .. } =
            standardised().coefficients();
        assert_eq!((intercept, by_deviation), (0.5 - 2.0 * 10.0 / 4.0 - 3.0 * 1.0 / 0.5, true));
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
        let names: Vec<String> = sparse.coefficients().coefficients.into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["feature 4000000000", "feature 7", "feature 100"]);
    }

    #[test]
    fn a_table_begins_with_the_intercept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("coefficients.csv");
        standardised().coefficients().write_csv(&file).unwrap();
        let expected = "name,index,coefficient,importance\nintercept,,-10.5,\n\
            feature 2,1,-6,3\nfeature 1,0,0.5,2\nfeature 3,2,0,0\n";
        assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    }
}
