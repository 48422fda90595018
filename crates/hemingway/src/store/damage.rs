//! Rows that may be damaged: what cannot be read is named and left out, and everything else goes on.

use rusqlite::types::{FromSql, FromSqlError, Type};
use rusqlite::{Error as Sql, Row};
use serde::de::DeserializeOwned;

use super::Store;
use crate::Error;

/// A run that cannot be read.
#[derive(Debug, Clone)]
pub(super) struct Damaged {
    /// Its row.
    pub number: i64,
    /// Its name, or which row it is.
    pub run: String,
    /// Which part of it, and why not.
    pub problem: String,
    /// Whether it looks like the work of a later version rather than damage.
    pub newer: bool,
}

impl Damaged {
    pub(super) fn of(row: &Row, problem: Problem) -> Damaged {
        let number = row.get("number").unwrap_or(0);
        let run = row.get::<_, String>("id").unwrap_or_else(|_| format!("in row {number}"));
        let Problem { text, newer } = problem;
        let problem = if newer { format!("{text}; a newer hemingway may have written it") } else { text };
        Damaged { number, run, problem, newer }
    }

    /// As an error, where this very run is asked for.
    pub(super) fn error(self, store: &Store) -> Error {
        Error::DamagedRun { run: self.run, store: store.file.clone(), problem: self.problem }
    }

    /// As a warning, where it is one of many.
    pub(super) fn warning(&self) -> String {
        let Damaged { run, problem, newer, .. } = self;
        let next = if *newer { "" } else { "; `hemingway runs repair` removes it" };
        format!("run {run} cannot be read and is left out: {problem}{next}")
    }
}

/// What is wrong with a column.
pub(super) struct Problem {
    text: String,
    newer: bool,
}

impl Problem {
    pub(super) fn new(text: String) -> Problem {
        Problem { text, newer: false }
    }

    /// What is wrong.
    pub(super) fn words(&self) -> &str {
        &self.text
    }

    /// A word that this version does not know.
    pub(super) fn unknown(column: &str, word: &str) -> Problem {
        Problem { text: format!("its {column} is `{word}`, which this version does not know"), newer: true }
    }
}

/// A column as it is.
pub(super) fn value<T: FromSql>(row: &Row, column: &str) -> Result<T, Problem> {
    row.get(column).map_err(|error| {
        Problem::new(match error {
            Sql::InvalidColumnType(_, _, Type::Null) => format!("its {column} is missing"),
            Sql::InvalidColumnType(_, _, found) => format!("its {column} is of the type {found}"),
            error => format!("its {column} is damaged ({error})"),
        })
    })
}

/// A column that holds plain data as JSON.
pub(super) fn parsed<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, Problem> {
    let text: String = value(row, column)?;
    // Fields in their order would be read, too, and an empty list as all defaults.
    if !text.trim_start().starts_with('{') {
        return Err(Problem::new(format!("its {column} is damaged (it is no JSON object)")));
    }
    serde_json::from_str(&text).map_err(|error| {
        let problem = error.to_string();
        let newer = error.is_data() && problem.starts_with("unknown variant");
        Problem { text: format!("its {column} is damaged ({problem})"), newer }
    })
}

/// The same, where it need not be there.
pub(super) fn parsed_if_there<T: DeserializeOwned>(row: &Row, column: &str) -> Result<Option<T>, Problem> {
    match row.get_ref(column).map_err(FromSqlError::other) {
        Ok(found) if found.data_type() == Type::Null => Ok(None),
        _ => parsed(row, column).map(Some),
    }
}
