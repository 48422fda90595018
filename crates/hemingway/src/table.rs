//! What was done to the columns of a table, for the report.

use hemingway_data::{Becomes, Encoding};
use serde::{Deserialize, Serialize};

/// What was done to the columns of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableSummary {
    /// The column of the label.
    pub label: Option<String>,
    /// Whether the table began with the names of its columns.
    pub header: bool,
    /// Rows left out because they have no label.
    pub unlabelled_rows: usize,
    /// Every other column, in the order of the table.
    pub columns: Vec<ColumnSummary>,
}

/// What was done to a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnSummary {
    /// Its name, or its place where it has none.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// How many features it became.
    pub features: usize,
    /// What became of it, in words.
    pub becomes: String,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Yes and no.
    Boolean,
    /// Dates.
    Date,
    /// Text, with a feature for each level.
    Text,
    /// Text of too many levels for that.
    Hashed,
    /// It is left out.
    LeftOut,
}

impl TableSummary {
    /// Of an encoding.
    pub fn new(encoding: &Encoding, unlabelled_rows: usize) -> TableSummary {
        let column = |column: &hemingway_data::SourceColumn| ColumnSummary {
            name: column.name.clone(),
            kind: ColumnKind::of(&column.becomes),
            features: column.becomes.features(),
            becomes: column.becomes.to_string(),
        };
        TableSummary {
            label: encoding.label.as_ref().map(|label| label.name.clone()),
            header: encoding.header,
            unlabelled_rows,
            columns: encoding.columns.iter().map(column).collect(),
        }
    }
}

impl ColumnKind {
    fn of(becomes: &Becomes) -> ColumnKind {
        match becomes {
            Becomes::Number { .. } => ColumnKind::Number,
            Becomes::Boolean { .. } => ColumnKind::Boolean,
            Becomes::Date { .. } => ColumnKind::Date,
            Becomes::Text { .. } => ColumnKind::Text,
            Becomes::Hashed { .. } => ColumnKind::Hashed,
            Becomes::LeftOut { .. } => ColumnKind::LeftOut,
        }
    }
}
