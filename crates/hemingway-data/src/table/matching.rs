//! The columns of test data that a model knows: by name, or by place where the training data had no names.

use super::Encoding;
use crate::error::{list, nearest};
use crate::{Error, LabelColumn};

/// Where the columns of an encoding are in a file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Matched {
    /// The column of the label, if it is there and wanted.
    pub label: Option<usize>,
    /// For each column of the encoding, the one of the file; nothing for those that are left out.
    pub sources: Vec<Option<usize>>,
    /// Columns of the file that the model does not know.
    pub ignored: Vec<String>,
}

/// Finds the columns. `label` is the one that the user named, if one was.
pub(crate) fn match_columns(
    file: &str,
    header: Option<&[String]>,
    columns: usize,
    encoding: &Encoding,
    wanted: &LabelColumn,
    label: Option<usize>,
) -> Result<Matched, Error> {
    match header {
        Some(names) => by_name(file, names, encoding, wanted, label),
        None => by_place(file, columns, encoding, wanted, label),
    }
}

fn by_name(
    file: &str,
    names: &[String],
    encoding: &Encoding,
    wanted: &LabelColumn,
    label: Option<usize>,
) -> Result<Matched, Error> {
    let find = |name: &str| names.iter().position(|found| found == name);
    let needed = encoding.columns.iter().map(|column| (column, column.is_used().then(|| find(&column.name))));
    let missing: Vec<&str> = needed
        .clone()
        .filter(|(_, found)| *found == Some(None))
        .map(|(column, _)| column.name.as_str())
        .collect();
    if !missing.is_empty() {
        return Err(missing_columns(file, &missing, names));
    }
    let sources: Vec<Option<usize>> = needed.map(|(_, found)| found.flatten()).collect();
    let own = encoding.label.as_ref().and_then(|label| find(&label.name));
    let label = label.or(own.filter(|_| *wanted == LabelColumn::Auto));
    let known = |name: &String| encoding.columns.iter().any(|column| column.name == *name);
    let is_label = |at: usize| Some(at) == own || Some(at) == label;
    let ignored = names.iter().enumerate().filter(|(at, name)| !is_label(*at) && !known(name));
    let ignored = ignored.map(|(_, name)| name.clone()).collect();
    Ok(Matched { label, sources, ignored })
}

/// Columns besides the label follow one another as in the training data.
fn by_place(
    file: &str,
    columns: usize,
    encoding: &Encoding,
    wanted: &LabelColumn,
    label: Option<usize>,
) -> Result<Matched, Error> {
    let features = encoding.columns.len();
    let own = encoding.label.as_ref().map(|label| label.position - 1);
    let present = match columns.checked_sub(features) {
        Some(0) if label.is_none() => None,
        Some(1) if own.is_some() || label.is_some() => label.or(own),
        _ => {
            let expected = features + usize::from(own.is_some());
            return Err(Error::WrongWidth { file: file.to_owned(), expected, found: columns });
        }
    };
    let places = (0..columns).filter(|at| Some(*at) != present);
    let sources = encoding.columns.iter().zip(places).map(|(column, at)| column.is_used().then_some(at));
    let label = present.filter(|_| *wanted != LabelColumn::Absent);
    Ok(Matched { label, sources: sources.collect(), ignored: Vec::new() })
}

fn missing_columns(file: &str, missing: &[&str], names: &[String]) -> Error {
    let near = missing.iter().filter_map(|name| nearest(name, names.iter().map(String::as_str)));
    let near: Vec<&str> = near.collect();
    Error::MissingColumns {
        file: file.to_owned(),
        missing: list(missing, 10),
        near: (!near.is_empty()).then(|| list(&near, 5)),
        columns: list(names, 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Becomes, NamedColumn, Reason, SourceColumn};

    fn encoding() -> Encoding {
        let column = |(name, position, becomes): (&str, usize, Becomes)| SourceColumn {
            name: name.to_owned(),
            position,
            becomes,
        };
        let number = Becomes::Number { fill: 0.0, centre: 0.0, indicator: false };
        let dropped = Becomes::LeftOut { reason: Reason::Identifier };
        let columns = [("id", 1, dropped), ("a", 2, number.clone()), ("b", 4, number)].map(column).to_vec();
        let label = Some(NamedColumn { name: "y".to_owned(), position: 3 });
        Encoding { header: true, label, columns, ..Encoding::default() }
    }

    fn named(names: &[&str], wanted: &LabelColumn) -> Result<Matched, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        match_columns("file", Some(&names), names.len(), &encoding(), wanted, None)
            .map_err(|error| error.to_string())
    }

    fn placed(columns: usize, wanted: &LabelColumn, label: Option<usize>) -> Result<Matched, String> {
        match_columns("file", None, columns, &encoding(), wanted, label).map_err(|error| error.to_string())
    }

    fn sources(sources: &[Option<usize>], label: Option<usize>) -> Result<Matched, String> {
        Ok(Matched { label, sources: sources.to_vec(), ignored: Vec::new() })
    }

    #[test]
    fn columns_are_found_in_any_order() {
        let auto = LabelColumn::Auto;
        assert_eq!(named(&["y", "b", "id", "a"], &auto), sources(&[None, Some(3), Some(1)], Some(0)));
        assert_eq!(named(&["b", "a"], &auto), sources(&[None, Some(1), Some(0)], None));
        assert_eq!(named(&["b", "a", "y"], &LabelColumn::Absent), sources(&[None, Some(1), Some(0)], None));
        assert_eq!(named(&["b", "z", "a"], &auto).unwrap().ignored, ["z"]);
    }

    #[test]
    fn missing_columns_are_named() {
        let message = named(&["A", "y", "b"], &LabelColumn::Auto).unwrap_err();
        assert!(message.contains("the model needs a") && message.contains("did you mean A?"), "{message}");
    }

    #[test]
    fn without_names_places_count() {
        let auto = LabelColumn::Auto;
        assert_eq!(placed(4, &auto, None), sources(&[None, Some(1), Some(3)], Some(2)));
        assert_eq!(placed(4, &auto, Some(0)), sources(&[None, Some(2), Some(3)], Some(0)));
        assert_eq!(placed(4, &LabelColumn::Absent, None), sources(&[None, Some(1), Some(3)], None));
        assert_eq!(placed(3, &auto, None), sources(&[None, Some(1), Some(2)], None));
        let message = placed(5, &auto, None).unwrap_err();
        assert!(message.contains("5 columns") && message.contains("4"), "{message}");
    }
}
