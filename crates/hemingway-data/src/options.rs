//! How a file is to be read, where its content alone does not say.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Encoding, Error, Format, Labels, NumberStyle};

/// Choices for [`crate::load`]; the default reads most files as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoadOptions {
    /// The format; recognised from the content when absent.
    pub format: Option<Format>,
    /// What stands between the fields of a table; a space stands for one or more spaces or tabs. Found out from the first line
    /// when absent.
    pub delimiter: Option<u8>,
    /// LIBSVM indices start at 0 instead of 1.
    pub zero_based: bool,
    /// Where the label is, in CSV and TSV.
    pub label: LabelColumn,
    /// The label that becomes +1; needed with more than two classes, which then are one against the rest.
    pub positive: Option<String>,
    /// More than two classes become [`Labels::Several`]; an error otherwise, unless one of them is positive.
    pub several: bool,
    /// Labels are quantities, not classes.
    pub regression: bool,
    /// Test data: the number of features in training. Values beyond it are dropped and counted.
    pub columns: Option<usize>,
    /// Test data: the features that have columns, counted from 0 and increasing, where training has [`Features::used`].
    /// Values of others are dropped and counted.
    ///
    /// [`Features::used`]: crate::Features::used
    pub used: Option<Vec<u32>>,
    /// Table: columns that are not features.
    pub drop: Vec<String>,
    /// Table: the columns that are features, if any are named.
    pub keep: Vec<String>,
    /// Table: columns that hold text, whatever they look like.
    pub text: Vec<String>,
    /// Table: columns that hold numbers; anything else in them is a mistake.
    pub number: Vec<String>,
    /// Table: how numbers are written.
    pub numbers: NumberStyle,
    /// Table: rows without a label are left out and counted, instead of being refused.
    pub drop_unlabelled: bool,
    /// Table: the column that holds the weight of each row.
    pub weight: Option<String>,
    /// Table: a column whose cells are wanted as they are, to name rows.
    pub id: Option<String>,
    /// Table: numbers and dates are centred where other columns make the matrix sparse, which cannot be done later.
    pub centre: bool,
    /// Table: the share of the rows that will be trained on, and the seed that chooses them: only they are learnt from.
    pub learn_on: Option<(f64, u64)>,
    /// Test data: what became of the columns of the training data, if that was a table.
    pub encoding: Option<Encoding>,
    /// Bytes that loading may take; no limit when absent.
    pub memory_limit: Option<u64>,
    /// Test data: what the labels meant in training.
    pub labels: Option<Labels>,
}

/// Where the label is, in CSV and TSV.
///
/// `Auto` takes the only column whose header is `label`, `target`, `class` or `y` (in any case), or the last column of a
/// table without a header, where that looks like a label (holds text, or between 2 and 20 different whole numbers) and
/// the first column does not. Anything else is an error that names the candidates. In test data `Auto` is the column of
/// the training data, if it is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelColumn {
    /// Found out as described above.
    #[default]
    Auto,
    /// The first column.
    First,
    /// The last column.
    Last,
    /// The column of this number, counted from 1.
    Number(usize),
    /// The column with this header.
    Name(String),
    /// There is no label, or it is to be ignored; targets are empty.
    Absent,
}

impl LoadOptions {
    /// Whether this reads data for a model that exists already.
    pub(crate) fn is_test_data(&self) -> bool {
        self.columns.is_some() || self.labels.is_some() || self.encoding.is_some()
    }

    /// Whether columns of a table are named, other than the label's.
    pub(crate) fn names_columns(&self) -> bool {
        let lists = [&self.drop, &self.keep, &self.text, &self.number];
        lists.iter().any(|names| !names.is_empty()) || self.weight.is_some() || self.id.is_some()
    }

    /// Whether so many bytes may be used for `what`, which ends with a verb.
    pub(crate) fn check_memory(
        &self,
        file: &str,
        bytes: u64,
        what: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        match self.memory_limit {
            Some(limit) if bytes > limit => {
                Err(Error::OverLimit { file: file.to_string(), what: what(), bytes, limit })
            }
            _ => Ok(()),
        }
    }
}

/// What stands between fields: one character, `tab` or `space`.
pub fn parse_delimiter(text: &str) -> Result<u8, Error> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" => Ok(b' '),
        [byte] if is_delimiter(*byte) => Ok(*byte),
        _ => Err(Error::Delimiter { text: text.to_string() }),
    }
}

/// What numbers and quoted fields are written with cannot stand between them.
fn is_delimiter(byte: u8) -> bool {
    let printed = byte.is_ascii_punctuation() && !b"\"+-.".contains(&byte);
    printed || matches!(byte, b' ' | b'\t' | 0x01..=0x08 | 0x1c..=0x1f)
}

impl FromStr for LabelColumn {
    type Err = Error;

    /// `auto`, `first`, `last`, `none`, a number counted from 1, else a name.
    fn from_str(text: &str) -> Result<LabelColumn, Error> {
        match text {
            "auto" => Ok(LabelColumn::Auto),
            "first" => Ok(LabelColumn::First),
            "last" => Ok(LabelColumn::Last),
            "none" => Ok(LabelColumn::Absent),
            _ => match text.parse::<usize>() {
                Ok(0) => Err(Error::LabelNumber { text: text.to_string() }),
                Ok(number) => Ok(LabelColumn::Number(number)),
                Err(_) => Ok(LabelColumn::Name(text.to_string())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_columns_are_read_from_text() {
        let check =
            |text: &str, expect: LabelColumn| assert_eq!(text.parse::<LabelColumn>().unwrap(), expect);
        check("auto", LabelColumn::Auto);
        check("first", LabelColumn::First);
        check("last", LabelColumn::Last);
        check("none", LabelColumn::Absent);
        check("3", LabelColumn::Number(3));
        check("quality", LabelColumn::Name("quality".to_string()));
    }

    #[test]
    fn delimiters_are_read_from_text() {
        let all = [";", "|", "tab", "\\t", "space", " ", "\u{1}"].map(|text| parse_delimiter(text).unwrap());
        assert_eq!(all, [b';', b'|', b'\t', b'\t', b' ', b' ', 1]);
        for text in ["", "ab", "5", "x", ".", "\"", "\n", "é"] {
            let message = parse_delimiter(text).unwrap_err().to_string();
            assert!(message.contains("--delimiter") && message.contains("hint:"), "{message}");
        }
    }

    #[test]
    fn columns_are_counted_from_one() {
        let message = "0".parse::<LabelColumn>().unwrap_err().to_string();
        assert!(message.contains("counted from 1"), "{message}");
    }
}
