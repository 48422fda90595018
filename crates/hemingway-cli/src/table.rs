//! What was done to the columns of a table, in words.

use hemingway::{ColumnKind, DatasetSummary, TableSummary};

use crate::words;

/// So many columns that were left out are named.
const MOST_NAMED: usize = 5;

/// `survived: 1 → +1, 0 → −1`: the label's column, where it has one, and what its values became.
pub fn labels(data: &DatasetSummary) -> String {
    let meaning = words::labels(&data.labels);
    match data.table.as_ref().and_then(|table| table.label.as_ref()) {
        Some(label) => format!("{label}: {meaning}"),
        None => meaning,
    }
}

/// `9 numbers, 3 texts (27 levels), 1 date; left out: PassengerId (identifier)`.
pub fn columns(table: &TableSummary) -> String {
    let of = |kind| table.columns.iter().filter(move |column| column.kind == kind);
    let counted = |kind, one: &str| match of(kind).count() {
        0 => None,
        count => Some(words::counted(count, one)),
    };
    let levels: usize = of(ColumnKind::Text).map(|column| column.features).sum();
    let kinds = [
        counted(ColumnKind::Number, "number"),
        counted(ColumnKind::Boolean, "boolean"),
        counted(ColumnKind::Date, "date"),
        counted(ColumnKind::Text, "text")
            .map(|text| format!("{text} ({})", words::counted(levels, "feature"))),
        counted(ColumnKind::Hashed, "hashed text"),
    ];
    let kinds: Vec<String> = kinds.into_iter().flatten().collect();
    let left_out: Vec<String> = of(ColumnKind::LeftOut)
        .map(|column| {
            format!("{} ({})", named(&column.name), column.becomes.trim_start_matches("left out: "))
        })
        .collect();
    let rest = left_out.len().saturating_sub(MOST_NAMED);
    let rest = (rest > 0).then(|| format!("and {rest} more"));
    let left_out: Vec<String> = left_out.into_iter().take(MOST_NAMED).chain(rest).collect();
    let left_out =
        if left_out.is_empty() { String::new() } else { format!("; left out: {}", left_out.join(", ")) };
    let unlabelled = match table.unlabelled_rows {
        0 => String::new(),
        rows => format!("; {} without a label left out", words::counted(rows, "row")),
    };
    format!("{}{left_out}{unlabelled}", kinds.join(", "))
}

/// A line for each column.
pub fn every_column(table: &TableSummary) -> String {
    let line =
        |column: &hemingway::ColumnSummary| format!("  {:<24} {}\n", named(&column.name), column.becomes);
    table.columns.iter().map(line).collect()
}

/// What was done to all features, where the data is a table.
pub fn scaling(standardise: bool, bias: bool) -> String {
    let columns = if standardise { "columns standardised" } else { "columns as they are" };
    let intercept = if bias { "with an intercept" } else { "no intercept" };
    format!("{columns}, {intercept}")
}

/// What texts of very many levels are warned of with.
pub fn hashed(table: &TableSummary) -> Option<String> {
    let hashed = table.columns.iter().filter(|column| column.kind == ColumnKind::Hashed);
    let names: Vec<&str> = hashed.map(|column| column.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} has too many levels for a feature each; they share hashed features (--drop leaves it out)",
            names.join(", ")
        )
    })
}

fn named(name: &str) -> &str {
    if name.is_empty() { "column 1" } else { name }
}
