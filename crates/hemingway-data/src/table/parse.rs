//! Lines of a table into the typed columns of a frame.

use super::cell::is_missing;
use super::date::days;
use super::frame::{Block, Cells, MISSING};
use super::kind::Kind;
use crate::charset;
use crate::csv::{field, trimmed};
use crate::csv_layout::{Layout, Role};
use crate::error::excerpt;
use crate::labels::Column;
use crate::pipeline::Fault;
use crate::text::{LineParser, lines};
use crate::{LineProblem, number};

impl Layout {
    /// The rows of whole lines.
    pub(crate) fn frame_block(&self, bytes: &[u8], labels: Column) -> Result<Block, Fault> {
        let mut block = Block {
            lines: 0,
            rows: 0,
            labels,
            unlabelled: 0,
            columns: self.slots.iter().map(|slot| slot.kind.no_cells()).collect(),
            ids: Vec::new(),
            weights: Vec::new(),
        };
        for (_, line) in lines(bytes) {
            self.frame_line(line, &mut block).map_err(|problem| Fault { line: block.lines, problem })?;
            block.lines += 1;
        }
        Ok(block)
    }

    fn frame_line(&self, line: &[u8], block: &mut Block) -> Result<(), LineProblem> {
        if !self.is_row(line) {
            block.unlabelled += usize::from(!line.trim_ascii().is_empty());
            return Ok(());
        }
        let line = trimmed(line, self.delimiter);
        self.cells(line, block).map_err(|problem| self.ragged(line).unwrap_or(problem))?;
        block.rows += 1;
        Ok(())
    }

    fn cells(&self, line: &[u8], block: &mut Block) -> Result<(), LineProblem> {
        let mut slots = self.slots.iter().zip(0..);
        let mut rest = Some(line);
        for (column, role) in self.roles.iter().enumerate() {
            let bytes = rest.ok_or_else(|| self.ragged_line(line))?;
            rest = match role {
                Role::Feature => {
                    let (slot, at) = slots.next().expect("a slot for each feature");
                    self.cell(bytes, column, slot.kind, &mut block.columns[at])?
                }
                Role::Label => {
                    let (text, next) = field(bytes, self.delimiter)?;
                    block.labels.push(&text, block.lines)?;
                    next
                }
                Role::Weight => {
                    let (text, next) = field(bytes, self.delimiter)?;
                    block.weights.push(self.weight(&text, column)?);
                    next
                }
                Role::LeftOut => field(bytes, self.delimiter)?.1,
            };
            if Some(column) == self.id {
                let (text, _) = field(bytes, self.delimiter)?;
                block.ids.push(charset::text(&text).into_owned());
            }
        }
        rest.map_or(Ok(()), |_| Err(self.ragged_line(line)))
    }

    /// Adds the cell at the front to its column; what follows its delimiter.
    #[inline]
    fn cell<'a>(
        &self,
        bytes: &'a [u8],
        column: usize,
        kind: Kind,
        cells: &mut Cells,
    ) -> Result<Option<&'a [u8]>, LineProblem> {
        match cells {
            Cells::Numbers(values) => {
                let (value, next) = self.number_or_date(bytes, column, kind)?;
                values.push(value);
                Ok(next)
            }
            Cells::Text { codes, levels } => {
                let (text, next) = field(bytes, self.delimiter)?;
                codes.push(if is_missing(&text) { MISSING } else { levels.code(&text) });
                Ok(next)
            }
        }
    }

    #[inline]
    fn number_or_date<'a>(
        &self,
        bytes: &'a [u8],
        column: usize,
        kind: Kind,
    ) -> Result<(f32, Option<&'a [u8]>), LineProblem> {
        if kind == Kind::Number
            && self.numbers.is_plain()
            && let Some((value, length)) = number::prefix(bytes).filter(|(value, _)| value.is_finite())
        {
            match bytes.get(length) {
                None => return Ok((value, None)),
                Some(byte) if *byte == self.delimiter => return Ok((value, Some(&bytes[length + 1..]))),
                _ => {}
            }
        }
        let (text, next) = field(bytes, self.delimiter)?;
        if is_missing(&text) {
            return Ok((f32::NAN, next));
        }
        let value = match kind {
            Kind::Date(order) => days(&text, order),
            Kind::Number | Kind::Text { .. } => self.numbers.number(&text),
        };
        match value {
            Some(value) if value.is_finite() => Ok((value, next)),
            Some(_) => Err(LineProblem::NotFinite { place: self.place(column), text: excerpt(&text) }),
            None => Err(self.other_kind(column, kind, &text)),
        }
    }

    #[cold]
    fn other_kind(&self, column: usize, kind: Kind, text: &[u8]) -> LineProblem {
        let (place, text) = (self.place(column), excerpt(text));
        match kind {
            Kind::Date(_) => LineProblem::NotADate { place, text, hint: self.kind_hint() },
            _ => LineProblem::NotANumber { place, text, hint: self.kind_hint() },
        }
    }

    fn weight(&self, text: &[u8], column: usize) -> Result<f32, LineProblem> {
        let value = self.numbers.number(text).filter(|value| value.is_finite() && *value >= 0.0);
        value.ok_or_else(|| LineProblem::NotAWeight { place: self.place(column), text: excerpt(text) })
    }
}

impl Kind {
    fn no_cells(self) -> Cells {
        match self {
            Kind::Number | Kind::Date(_) => Cells::Numbers(Vec::new()),
            Kind::Text { .. } => Cells::text(),
        }
    }
}
