//! What each column of a table is for: what the user says, what the first rows show, or what it was in the training data.

use std::collections::HashSet;

use crate::csv_layout::{Layout, Role, Row, Slot};
use crate::input::Source;
use crate::table::cell::is_missing;
use crate::table::{Becomes, Encoding, Kind, Matched, Reason, kinds, match_columns, says_nothing};
use crate::{Error, LabelColumn, LoadOptions};

/// Columns that the user named.
struct Asked {
    drop: HashSet<usize>,
    keep: HashSet<usize>,
    text: HashSet<usize>,
    number: HashSet<usize>,
    weight: Option<usize>,
}

impl Asked {
    fn of(layout: &Layout, file: &str, options: &LoadOptions) -> Result<Asked, Error> {
        let columns = |names: &[String]| -> Result<HashSet<usize>, Error> {
            names.iter().map(|name| layout.column(file, name)).collect()
        };
        Ok(Asked {
            drop: columns(&options.drop)?,
            keep: columns(&options.keep)?,
            text: columns(&options.text)?,
            number: columns(&options.number)?,
            weight: options.weight.as_deref().map(|name| layout.column(file, name)).transpose()?,
        })
    }

    fn left_out(&self, column: usize) -> Option<Reason> {
        let not_kept = !self.keep.is_empty() && !self.keep.contains(&column);
        match column {
            _ if Some(column) == self.weight => Some(Reason::Weight),
            _ if self.drop.contains(&column) => Some(Reason::Dropped),
            _ => not_kept.then_some(Reason::NotKept),
        }
    }

    /// Whether the user wants it, whatever it looks like.
    fn is_named(&self, column: usize) -> bool {
        [&self.keep, &self.text, &self.number].iter().any(|names| names.contains(&column))
    }

    fn kind(&self, column: usize) -> Option<Kind> {
        let number = self.number.contains(&column).then_some(Kind::Number);
        self.text.contains(&column).then_some(Kind::Text { said: true }).or(number)
    }
}

impl Layout {
    /// Finds out what each column is for.
    pub(crate) fn assign(
        &mut self,
        source: &Source,
        rows: &[Row],
        options: &LoadOptions,
    ) -> Result<(), Error> {
        let file = source.file();
        self.id = options.id.as_deref().map(|name| self.column(file, name)).transpose()?;
        self.roles = match &options.encoding {
            Some(encoding) => self.as_in_training(file, encoding, options)?,
            None => {
                self.label = self.label_column(file, rows, options)?;
                let kinds = match self.only_numbers {
                    true => vec![Kind::Number; self.columns],
                    false => kinds(rows, self.columns, self.numbers),
                };
                self.as_found(file, rows, &kinds, options)?
            }
        };
        self.plain = self.only_numbers
            || (source.can_be_read_again() && self.are_plain(rows, options.encoding.as_ref()));
        self.check_width(file, options)
    }

    /// The roles of columns in training data.
    fn as_found(
        &mut self,
        file: &str,
        rows: &[Row],
        kinds: &[Kind],
        options: &LoadOptions,
    ) -> Result<Vec<Role>, Error> {
        let asked = Asked::of(self, file, options)?;
        let role = |(column, kind): (usize, &Kind)| {
            if Some(column) == self.label {
                return Role::Label;
            }
            let says_nothing = || says_nothing(rows, column, self.header.as_deref());
            let found = || if self.only_numbers { None } else { says_nothing() };
            match asked.left_out(column).or_else(|| if asked.is_named(column) { None } else { found() }) {
                Some(reason) => {
                    self.left_out.push((column, reason));
                    if reason == Reason::Weight { Role::Weight } else { Role::LeftOut }
                }
                None => {
                    self.slots.push(Slot { column, kind: asked.kind(column).unwrap_or(*kind) });
                    Role::Feature
                }
            }
        };
        Ok(kinds.iter().enumerate().map(role).collect())
    }

    /// The roles of columns in test data: they are what they were in the training data.
    fn as_in_training(
        &mut self,
        file: &str,
        encoding: &Encoding,
        options: &LoadOptions,
    ) -> Result<Vec<Role>, Error> {
        let named = match options.label {
            LabelColumn::Auto | LabelColumn::Absent => None,
            _ => self.label_column(file, &[], options)?,
        };
        let header = self.header.as_deref();
        let Matched { label, sources, ignored } =
            match_columns(file, header, self.columns, encoding, &options.label, named)?;
        (self.label, self.ignored, self.numbers) = (label, ignored, encoding.numbers);
        let becomes = encoding.columns.iter().map(|column| &column.becomes);
        let mut kind = vec![None; self.columns];
        for (becomes, source) in becomes.zip(&sources) {
            if let Some(source) = source {
                kind[*source] = Some(kind_of(becomes));
            }
        }
        self.sources = Some(sources);
        let role = |(column, kind): (usize, Option<Kind>)| match kind {
            _ if Some(column) == label => Role::Label,
            Some(kind) => {
                self.slots.push(Slot { column, kind });
                Role::Feature
            }
            None => Role::LeftOut,
        };
        Ok(kind.into_iter().enumerate().map(role).collect())
    }

    /// Whether the features can go straight into the matrix: plain numbers, in the order of the training data.
    fn are_plain(&self, rows: &[Row], encoding: Option<&Encoding>) -> bool {
        let in_order = || {
            let places: Vec<usize> = self.sources.iter().flatten().flatten().copied().collect();
            places.is_sorted()
        };
        let complete =
            |slot: &Slot| rows.iter().all(|row| row.get(slot.column).is_some_and(|cell| !is_missing(cell)));
        let other_columns = self.id.is_some() || self.roles.contains(&Role::Weight);
        self.numbers.is_plain()
            && !other_columns
            && encoding.is_none_or(|encoding| encoding.is_plain() && in_order())
            && self.slots.iter().all(|slot| slot.kind == Kind::Number && complete(slot))
    }

    /// Why a column is left out, if it is.
    pub(crate) fn left_out(&self, column: usize) -> Option<Reason> {
        self.left_out.iter().find(|(left_out, _)| *left_out == column).map(|(_, reason)| *reason)
    }

    /// For each column of an encoding, which of the slots it is.
    pub(crate) fn slots_of(&self, encoding: &Encoding) -> Vec<Option<usize>> {
        let mut slot_of = vec![None; self.columns];
        self.slots.iter().enumerate().for_each(|(at, slot)| slot_of[slot.column] = Some(at));
        match &self.sources {
            Some(sources) => sources.iter().map(|source| source.and_then(|column| slot_of[column])).collect(),
            None => encoding.columns.iter().map(|column| slot_of[column.position - 1]).collect(),
        }
    }
}

fn kind_of(becomes: &Becomes) -> Kind {
    match becomes {
        Becomes::Number { .. } => Kind::Number,
        Becomes::Date { order, .. } => Kind::Date(*order),
        _ => Kind::Text { said: false },
    }
}
