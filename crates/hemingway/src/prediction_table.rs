//! How predictions are written: labels one per line, a CSV table, or JSON lines.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::str::FromStr;

use hemingway_data::Labels;
use serde_json::{Map, Value};

use crate::target::Target;
use crate::{Error, Predictions};

/// How predictions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PredictionFormat {
    /// One value per line and no header.
    #[default]
    Lines,
    /// A table with a header.
    Csv,
    /// One JSON object per line.
    JsonLines,
}

impl FromStr for PredictionFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<PredictionFormat, String> {
        match name {
            "lines" => Ok(PredictionFormat::Lines),
            "csv" => Ok(PredictionFormat::Csv),
            "jsonl" => Ok(PredictionFormat::JsonLines),
            _ => Err("choose lines, csv or jsonl".to_owned()),
        }
    }
}

/// Predictions with what is to be written of them.
#[derive(Debug)]
pub struct PredictionTable<'a> {
    /// The predictions.
    pub predictions: &'a Predictions,
    /// The name of the column that tells rows apart, and its text for each row.
    pub ids: Option<(&'a str, &'a [String])>,
    /// Whether margins are written, too; in place of labels where there is one value per line.
    pub margins: bool,
    /// The same of probabilities.
    pub probabilities: bool,
}

impl PredictionTable<'_> {
    /// Writes it into a file, as a whole or not at all.
    pub fn write_file(&self, format: PredictionFormat, file: &Path) -> Result<(), Error> {
        let written = Target::of(file).and_then(|target| {
            target.write(|out| {
                let mut out = BufWriter::new(out);
                self.write(format, &mut out)?;
                out.flush()
            })
        });
        written.map_err(|source| Error::Unwritable { file: file.to_path_buf(), source })
    }

    /// Writes it.
    pub fn write(&self, format: PredictionFormat, out: &mut dyn Write) -> io::Result<()> {
        if format == PredictionFormat::Csv {
            writeln!(out, "{}", self.header())?;
        }
        (0..self.predictions.rows()).try_for_each(|row| match format {
            PredictionFormat::Lines => writeln!(out, "{}", self.line(row)),
            PredictionFormat::Csv => writeln!(out, "{}", self.record(row)),
            PredictionFormat::JsonLines => writeln!(out, "{}", Value::Object(self.object(row))),
        })
    }

    fn line(&self, row: usize) -> String {
        match self.probabilities() {
            Some([_, positive]) => positive[row].to_string(),
            Some(probabilities) => spaced(probabilities.iter().map(|class| class[row])),
            None if self.margins => spaced(self.predictions.margins_of(row).iter().copied()),
            None => self.predictions.label(row),
        }
    }

    fn header(&self) -> String {
        let id = self.ids.map(|(name, _)| name.to_owned());
        let margins = self.margins.then(|| self.margin_names()).into_iter().flatten();
        let classes = self.probabilities.then(|| self.predictions.classes());
        let probabilities = classes.into_iter().flatten().map(|class| format!("probability {class}"));
        joined(id.into_iter().chain(["prediction".to_owned()]).chain(margins).chain(probabilities))
    }

    /// One margin, or of several classes one for each.
    fn margin_names(&self) -> Vec<String> {
        match &self.predictions.labels {
            Labels::Several(names) => names.iter().map(|name| format!("margin {name}")).collect(),
            Labels::Classes { .. } | Labels::Numbers => vec!["margin".to_owned()],
        }
    }

    fn record(&self, row: usize) -> String {
        let id = self.ids.map(|(_, ids)| ids[row].clone());
        let margins = self.margins.then(|| self.predictions.margins_of(row)).into_iter().flatten();
        let margins = margins.map(f64::to_string);
        let probabilities = self.probabilities().into_iter().flatten().map(|class| class[row].to_string());
        joined(id.into_iter().chain([self.predictions.label(row)]).chain(margins).chain(probabilities))
    }

    fn object(&self, row: usize) -> Map<String, Value> {
        let mut object = Map::new();
        if let Some((_, ids)) = self.ids {
            object.insert("id".to_owned(), ids[row].clone().into());
        }
        let prediction = match self.predictions.labels {
            Labels::Numbers => self.predictions.margins[row].into(),
            Labels::Classes { .. } | Labels::Several(_) => self.predictions.label(row).into(),
        };
        object.insert("prediction".to_owned(), prediction);
        if self.margins {
            let margins = self.predictions.margins_of(row);
            let (name, value) = match &self.predictions.labels {
                Labels::Several(names) => ("margins", by_class(names, margins.iter().copied())),
                Labels::Classes { .. } | Labels::Numbers => ("margin", margins[0].into()),
            };
            object.insert(name.to_owned(), value);
        }
        if let Some(probabilities) = self.probabilities() {
            let each = by_class(&self.predictions.classes(), probabilities.iter().map(|class| class[row]));
            object.insert("probabilities".to_owned(), each);
        }
        object
    }

    fn probabilities(&self) -> Option<&[Vec<f64>]> {
        self.predictions.probabilities.as_deref().filter(|_| self.probabilities)
    }
}

/// A number for each class.
fn by_class(names: &[String], values: impl Iterator<Item = f64>) -> Value {
    names.iter().cloned().zip(values.map(Value::from)).collect()
}

/// Several values on a line.
fn spaced(values: impl Iterator<Item = f64>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
}

/// Fields of a CSV record.
fn joined(fields: impl Iterator<Item = String>) -> String {
    fields.map(|field| csv_field(&field)).collect::<Vec<_>>().join(",")
}

/// A field of a CSV record, in quotes if a reader would take it apart or for something else.
pub(crate) fn csv_field(text: &str) -> String {
    let needs_quotes =
        text.contains([',', '"', '\n', '\r', ';', '\t']) || text.trim() != text || text.is_empty();
    if needs_quotes { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predictions() -> Predictions {
        Predictions {
            margins: vec![1.5, -0.25],
            probabilities: Some(vec![vec![0.25, 0.5], vec![0.75, 0.5]]),
            labels: Labels::Classes { negative: "ham, or so".into(), positive: "spam".into() },
            targets: vec![],
            quality: None,
            dropped_values: 0,
            ignored_columns: vec![],
            unseen_levels: 0,
            ids: vec![],
        }
    }

    fn written(format: PredictionFormat, change: impl FnOnce(&mut PredictionTable)) -> String {
        let (predictions, ids) = (predictions(), ["7".to_owned(), "a \"b\"".to_owned()]);
        let mut table = PredictionTable {
            predictions: &predictions,
            ids: Some(("Id", &ids)),
            margins: true,
            probabilities: true,
        };
        change(&mut table);
        let mut out = Vec::new();
        table.write(format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_has_a_header_and_quotes_what_needs_them() {
        let expected = "Id,prediction,margin,\"probability ham, or so\",probability spam\n\
            7,spam,1.5,0.25,0.75\n\"a \"\"b\"\"\",\"ham, or so\",-0.25,0.5,0.5\n";
        assert_eq!(written(PredictionFormat::Csv, |_| {}), expected);
        let plain = written(PredictionFormat::Csv, |table| {
            (table.ids, table.margins, table.probabilities) = (None, false, false);
        });
        assert_eq!(plain, "prediction\nspam\n\"ham, or so\"\n");
    }

    #[test]
    fn each_line_is_an_object() {
        let text = written(PredictionFormat::JsonLines, |_| {});
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let expected = serde_json::json!({
            "id": "7",
            "prediction": "spam",
            "margin": 1.5,
            "probabilities": { "ham, or so": 0.25, "spam": 0.75 },
        });
        assert_eq!((first, text.lines().count()), (expected, 2));
    }

    #[test]
    fn numbers_stay_numbers() {
        let predictions = Predictions { labels: Labels::Numbers, probabilities: None, ..predictions() };
        let table =
            PredictionTable { predictions: &predictions, ids: None, margins: false, probabilities: false };
        let mut out = Vec::new();
        table.write(PredictionFormat::JsonLines, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "{\"prediction\":1.5}\n{\"prediction\":-0.25}\n");
    }

    #[test]
    fn lines_hold_one_value() {
        let labels = |table: &mut PredictionTable| (table.margins, table.probabilities) = (false, false);
        assert_eq!(written(PredictionFormat::Lines, labels), "spam\nham, or so\n");
        assert_eq!(written(PredictionFormat::Lines, |table| table.probabilities = false), "1.5\n-0.25\n");
        assert_eq!(written(PredictionFormat::Lines, |table| table.margins = false), "0.75\n0.5\n");
    }

    #[test]
    fn quotes_are_only_where_they_are_needed() {
        let fields = ["a", "a b", "", " a", "a\nb", "+1"].map(csv_field);
        assert_eq!(fields, ["a", "a b", "\"\"", "\" a\"", "\"a\nb\"", "+1"]);
    }
}
