//! The columns of a table as inputs, and how they become features.
//!
//! Each column that has features is an input of its own, under its name: floats for numbers (NaN where one is missing), for
//! yes and no (1 and 0), and for dates (days since 1970-01-01); strings for text (empty where it is missing).

use hemingway_data::{Becomes, Encoding, SourceColumn};

use super::graph::{Attribute, Graph, Kind, Size, Value};
use crate::Error;

/// Names that outputs have.
const OUTPUTS: [&str; 4] = ["label", "margin", "probabilities", "prediction"];

/// The features of a table, one column each.
pub(super) fn features(graph: &mut Graph, table: &Encoding) -> Result<Value, Error> {
    let used: Vec<&SourceColumn> = table.columns.iter().filter(|column| column.is_used()).collect();
    check_names(&used)?;
    let mut parts = Vec::new();
    for column in used {
        parts.extend(of_column(graph, column)?);
    }
    let parts: Vec<&Value> = parts.iter().collect();
    Ok(graph.apply("Concat", &parts, &[Attribute::Whole("axis", 1)]))
}

/// Values in ONNX have different names.
fn check_names(columns: &[&SourceColumn]) -> Result<(), Error> {
    let mut names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).chain(OUTPUTS).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) if OUTPUTS.contains(&pair[0]) => {
            problem(format!("its column {} is called as one of the outputs is", pair[0]))
        }
        Some(pair) => problem(format!("two of its columns are called {}", pair[0])),
        None => Ok(()),
    }
}

fn of_column(graph: &mut Graph, column: &SourceColumn) -> Result<Vec<Value>, Error> {
    match &column.becomes {
        Becomes::Number { fill, centre, indicator } | Becomes::Date { fill, centre, indicator, .. } => {
            Ok(number(graph, &column.name, *fill, *centre, *indicator))
        }
        Becomes::Boolean { fill, indicator } => Ok(number(graph, &column.name, *fill, 0.0, *indicator)),
        Becomes::Text { levels, other } => Ok(vec![text(graph, &column.name, levels, *other)]),
        Becomes::Hashed { .. } => problem(format!("its column {} is hashed", column.name)),
        Becomes::LeftOut { .. } => Ok(Vec::new()),
    }
}

fn number(graph: &mut Graph, name: &str, fill: f32, centre: f32, indicator: bool) -> Vec<Value> {
    let value = graph.input(name, Kind::Float, &[Size::Rows, Size::Fixed(1)]);
    let is_missing = graph.apply("IsNaN", &[&value], &[]);
    let fill = graph.floats(&[1], &[fill]);
    let filled = graph.apply("Where", &[&is_missing, &fill, &value], &[]);
    let centre = graph.floats(&[1], &[centre]);
    let centred = graph.apply("Sub", &[&filled, &centre], &[]);
    let to_float = [Attribute::Whole("to", Kind::Float as i64)];
    let indicator = indicator.then(|| graph.apply("Cast", &[&is_missing], &to_float));
    [Some(centred), indicator].into_iter().flatten().collect()
}

/// The place of the text among the levels, and then the row of a table of zeros and ones.
fn text(graph: &mut Graph, name: &str, levels: &[String], other: bool) -> Value {
    let value = graph.input(name, Kind::Text, &[Size::Rows, Size::Fixed(1)]);
    let places = (0..levels.len() as i64).collect();
    let lookup = [
        Attribute::Texts("keys_strings", levels.to_vec()),
        Attribute::List("values_int64s", places),
        Attribute::Whole("default_int64", levels.len() as i64),
    ];
    let place = graph.apply("LabelEncoder", &[&value], &lookup);
    let (rows, width) = one_hot(levels.len(), other);
    let rows = graph.floats(&[levels.len() + 1, width], &rows);
    let row = graph.apply("Gather", &[&rows, &place], &[]);
    let shape = graph.integers(&[-1, width as i64]);
    graph.apply("Reshape", &[&row, &shape], &[])
}

/// A row for each level and one for all other values, with so many features. Of two values only the second has a feature;
/// other values have none where they did not occur in training.
fn one_hot(levels: usize, other: bool) -> (Vec<f32>, usize) {
    let count = levels + usize::from(other);
    let (width, first) = if count == 2 { (1, 1) } else { (count, 0) };
    let is_one = |row: usize, feature: usize| row < count && row == feature + first;
    let cells = (0..=levels).flat_map(|row| (0..width).map(move |feature| (row, feature)));
    (cells.map(|(row, feature)| f32::from(u8::from(is_one(row, feature)))).collect(), width)
}

fn problem<T>(problem: String) -> Result<T, Error> {
    Err(Error::NotInOnnx { problem })
}

#[cfg(test)]
mod tests {
    use super::super::wire::reading::{all, texts};
    use super::*;

    fn table(columns: Vec<(&str, Becomes)>) -> Encoding {
        let column =
            |(name, becomes): (&str, Becomes)| SourceColumn { name: name.into(), position: 1, becomes };
        Encoding { header: true, columns: columns.into_iter().map(column).collect(), ..Encoding::default() }
    }

    const AGE: Becomes = Becomes::Number { fill: 29.7, centre: 29.7, indicator: true };

    #[test]
    fn every_column_is_an_input() {
        let levels = ["S", "C", ""].map(str::to_owned).into();
        let port = Becomes::Text { levels, other: true };
        let mut graph = Graph::default();
        let value = features(&mut graph, &table(vec![("age", AGE), ("port", port)])).unwrap();
        graph.output("margin", &value, Kind::Float, &[Size::Rows]);
        let file = graph.into_file("test", &[]);
        let graph = &all(&file, 7)[0];
        let inputs: Vec<String> = all(graph, 11).iter().flat_map(|input| texts(input, 1)).collect();
        assert_eq!(inputs, ["age", "port"]);
        let lookup = all(graph, 1).into_iter().find(|node| texts(node, 4) == ["LabelEncoder"]).unwrap();
        assert_eq!(texts(&lookup, 7), ["ai.onnx.ml"]);
        let keys = all(&lookup, 5).into_iter().find(|one| texts(one, 1) == ["keys_strings"]).unwrap();
        assert_eq!(texts(&keys, 9), ["S", "C", ""]);
    }

    #[test]
    fn levels_become_the_features_that_training_has() {
        assert_eq!(one_hot(2, false), (vec![0.0, 1.0, 0.0], 1), "only the second of two levels");
        assert_eq!(one_hot(1, true), (vec![0.0, 1.0], 1), "a level and all others");
        assert_eq!(one_hot(2, true), (vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3));
        assert_eq!(one_hot(3, false).0[9..], [0.0; 3], "values that did not occur");
    }

    #[test]
    fn names_that_clash_and_hashes_are_refused() {
        let refused = |columns| {
            let error = features(&mut Graph::default(), &table(columns)).unwrap_err();
            error.to_string().replace("the model cannot be written as ONNX: ", "")
        };
        assert_eq!(refused(vec![("a", AGE), ("a", AGE)]), "two of its columns are called a");
        assert_eq!(refused(vec![("margin", AGE)]), "its column margin is called as one of the outputs is");
        assert_eq!(refused(vec![("url", Becomes::Hashed { buckets: 8 })]), "its column url is hashed");
    }
}
