//! What became of the columns of a table: learnt from the training rows, kept in the model, done again to new data.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::date::iso;
use super::{DateOrder, NumberStyle};

/// What became of the columns of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    /// Whether the table begins with the names of its columns. Without names columns are known by their places.
    pub header: bool,
    /// How its numbers are written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub numbers: NumberStyle,
    /// The column of the label, if there was one.
    pub label: Option<NamedColumn>,
    /// All other columns, in the order of the table.
    pub columns: Vec<SourceColumn>,
}

/// A column by name and place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedColumn {
    /// Its name in the header, or `column 3` where there is none.
    pub name: String,
    /// Its place among the columns, counted from 1.
    pub position: usize,
}

/// A column, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceColumn {
    /// Its name in the header, or `column 3` where there is none.
    pub name: String,
    /// Its place among the columns, counted from 1.
    pub position: usize,
    /// Features in its place.
    pub becomes: Becomes,
}

/// What became of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Becomes {
    /// One feature, the number less `centre`; a missing one counts as `fill`. With an indicator a second one, 1 where it
    /// is missing.
    Number {
        /// What a missing number counts as: the mean.
        fill: f32,
        /// What is subtracted.
        centre: f32,
        /// Whether a feature says that it is missing.
        indicator: bool,
    },
    /// One feature, 1 for true and yes, 0 for false and no; with an indicator a second one.
    Boolean {
        /// What a missing value counts as: the more frequent one.
        fill: f32,
        /// Whether a feature says that it is missing.
        indicator: bool,
    },
    /// One feature, days since 1970-01-01 less `centre`; with an indicator a second one.
    Date {
        /// What comes first where the year comes last.
        order: DateOrder,
        /// What a missing date counts as: the mean.
        fill: f32,
        /// What is subtracted.
        centre: f32,
        /// Whether a feature says that it is missing.
        indicator: bool,
    },
    /// A feature for each level, 1 where the column has it. Where there are two, one feature for the second is enough.
    Text {
        /// Values by frequency; the empty text stands for a missing one.
        levels: Vec<String>,
        /// Whether a further feature stands for all other values.
        other: bool,
    },
    /// Features that several of very many values share: each value has one, by its hash.
    Hashed {
        /// How many features.
        buckets: u32,
    },
    /// No feature.
    LeftOut {
        /// Why not.
        reason: Reason,
    },
}

/// Why a column is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The user said so.
    Dropped,
    /// The user named others to keep.
    NotKept,
    /// It holds the weights of rows.
    Weight,
    /// It has no name and counts the rows.
    RowNumbers,
    /// Its name and its values are those of an identifier.
    Identifier,
    /// It is text, and hardly any two rows have the same.
    AllDistinct,
    /// It is text, and all rows have the same.
    OneValue,
    /// It has no values.
    Empty,
}

impl Encoding {
    /// Number of features.
    pub fn features(&self) -> usize {
        self.columns.iter().map(|column| column.becomes.features()).sum()
    }

    /// The name of each feature: that of its column, with `=level` where there is one for each level and `=missing` where
    /// it says that the value is missing.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(SourceColumn::feature_names).collect()
    }

    /// What was subtracted from each feature before anything else was done to it.
    pub fn centres(&self) -> Vec<f32> {
        self.columns.iter().flat_map(|column| column.becomes.centres()).collect()
    }

    /// The first feature of each column.
    pub(crate) fn first_features(&self) -> Vec<u32> {
        let mut next = 0;
        let first = |column: &SourceColumn| {
            let first = next;
            next += column.becomes.features() as u32;
            first
        };
        self.columns.iter().map(first).collect()
    }

    /// Whether every feature is a column of plain numbers.
    pub(crate) fn is_plain(&self) -> bool {
        let plain = |column: &SourceColumn| {
            matches!(
                column.becomes,
                Becomes::LeftOut { .. } | Becomes::Number { centre: 0.0, indicator: false, .. }
            )
        };
        self.numbers.is_plain() && self.columns.iter().all(plain)
    }
}

impl SourceColumn {
    /// Whether it has features.
    pub fn is_used(&self) -> bool {
        !matches!(self.becomes, Becomes::LeftOut { .. })
    }

    fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        let level = |level: &String| match level.as_str() {
            "" => format!("{name}=missing"),
            _ => format!("{name}={level}"),
        };
        match &self.becomes {
            Becomes::Number { indicator, .. }
            | Becomes::Boolean { indicator, .. }
            | Becomes::Date { indicator, .. } => {
                let missing = indicator.then(|| format!("{name}=missing"));
                [Some(name.clone()), missing].into_iter().flatten().collect()
            }
            Becomes::Text { levels, other } => {
                let others = other.then(|| format!("{name}=other"));
                let names: Vec<String> = levels.iter().map(level).chain(others).collect();
                if names.len() == 2 { names[1..].to_vec() } else { names }
            }
            Becomes::Hashed { buckets } => {
                (0..*buckets).map(|bucket| format!("{name}=hash {bucket}")).collect()
            }
            Becomes::LeftOut { .. } => Vec::new(),
        }
    }
}

impl Becomes {
    /// Number of features.
    pub fn features(&self) -> usize {
        match self {
            Becomes::Number { indicator, .. }
            | Becomes::Boolean { indicator, .. }
            | Becomes::Date { indicator, .. } => 1 + usize::from(*indicator),
            Becomes::Text { levels, other } => match levels.len() + usize::from(*other) {
                2 => 1,
                count => count,
            },
            Becomes::Hashed { buckets } => *buckets as usize,
            Becomes::LeftOut { .. } => 0,
        }
    }

    fn centres(&self) -> Vec<f32> {
        let mut centres = vec![0.0; self.features()];
        if let Becomes::Number { centre, .. } | Becomes::Date { centre, .. } = self {
            centres[0] = *centre;
        }
        centres
    }
}

impl fmt::Display for Becomes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let missing = |fill: String, indicator: &bool| {
            let and = if *indicator { ", and a feature says so" } else { "" };
            format!("missing counts as {fill}{and}")
        };
        match self {
            Becomes::Number { fill, indicator, .. } => {
                write!(f, "number; {}", missing(fill.to_string(), indicator))
            }
            Becomes::Boolean { fill, indicator } => {
                let fill = if *fill == 1.0 { "yes" } else { "no" };
                write!(f, "yes or no; {}", missing(fill.to_owned(), indicator))
            }
            Becomes::Date { fill, indicator, .. } => {
                write!(f, "date, as days since 1970-01-01; {}", missing(iso(*fill), indicator))
            }
            Becomes::Text { levels, other } => {
                let named =
                    |level: &String| if level.is_empty() { "missing".to_owned() } else { level.clone() };
                let others = other.then(|| "other".to_owned());
                let names: Vec<String> = levels.iter().map(named).chain(others).collect();
                write!(f, "text of {} levels: {}", names.len(), crate::error::list(&names, 8))
            }
            Becomes::Hashed { buckets } => {
                write!(f, "text of very many levels, hashed into {buckets} features")
            }
            Becomes::LeftOut { reason } => write!(f, "left out: {reason}"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Reason::Dropped => "as asked",
            Reason::NotKept => "not among those to keep",
            Reason::Weight => "weights of rows",
            Reason::RowNumbers => "row numbers",
            Reason::Identifier => "identifier",
            Reason::AllDistinct => "text that is different in nearly every row",
            Reason::OneValue => "text that is the same in every row",
            Reason::Empty => "no values",
        })
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, becomes: Becomes) -> SourceColumn {
        SourceColumn { name: name.to_owned(), position: 1, becomes }
    }

    fn encoding() -> Encoding {
        let levels = |levels: &[&str]| levels.iter().map(|level| (*level).to_owned()).collect();
        let columns = vec![
            column("age", Becomes::Number { fill: 29.7, centre: 29.7, indicator: true }),
            column("sex", Becomes::Text { levels: levels(&["male", "female"]), other: false }),
            column("name", Becomes::LeftOut { reason: Reason::AllDistinct }),
            column("port", Becomes::Text { levels: levels(&["S", "C", ""]), other: true }),
        ];
        Encoding { header: true, columns, ..Encoding::default() }
    }

    #[test]
    fn features_have_names() {
        let expect = ["age", "age=missing", "sex=female", "port=S", "port=C", "port=missing", "port=other"];
        assert_eq!(encoding().feature_names(), expect);
        assert_eq!(encoding().features(), expect.len());
        assert_eq!(encoding().first_features(), [0, 2, 3, 3]);
        assert_eq!(encoding().centres()[..2], [29.7, 0.0]);
    }

    #[test]
    fn what_became_of_columns_in_words() {
        let order = DateOrder::DayFirst;
        let date = Becomes::Date { order, fill: 19_783.0, centre: 0.0, indicator: true };
        let words = "date, as days since 1970-01-01; missing counts as 2024-03-01, and a feature says so";
        assert_eq!(date.to_string(), words);
        let words: Vec<String> = encoding().columns.iter().map(|column| column.becomes.to_string()).collect();
        let expect = [
            "number; missing counts as 29.7, and a feature says so",
            "text of 2 levels: male, female",
            "left out: text that is different in nearly every row",
            "text of 4 levels: S, C, missing, other",
        ];
        assert_eq!(words, expect);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let text = serde_json::to_string(&encoding()).unwrap();
        assert_eq!(serde_json::from_str::<Encoding>(&text).unwrap(), encoding());
    }
}
