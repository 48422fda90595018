//! What is in the columns of a frame, in counts and sums that add up over workers.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::frame::{Cells, Frame, Levels, MISSING};
use crate::charset;
use crate::labels::Column;

/// What is in some rows of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// Targets of all rows.
    pub targets: Vec<Target>,
    pub columns: Vec<ColumnSummary>,
}

/// What is in one column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ColumnSummary {
    pub missing: u64,
    /// Targets of the rows in which it is missing.
    pub missing_targets: Vec<Target>,
    pub numbers: Numbers,
    /// Texts, and how often each occurs.
    pub levels: Vec<(String, u64)>,
}

/// Numbers in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Numbers {
    pub count: u64,
    pub sum: f64,
    pub zeros: u64,
    pub ones: u64,
}

/// A quantity to be predicted, or whether a row is of a class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Target {
    /// The class; empty for quantities.
    pub class: String,
    pub count: u64,
    pub sum: f64,
    pub squares: f64,
}

impl Summary {
    /// Of the rows of a frame that are marked, or of all.
    pub(crate) fn of(frame: &Frame, marked: Option<&[bool]>) -> Summary {
        let targets = RowTargets::of(&frame.labels);
        let rows = Marked { marked, rows: frame.rows };
        let columns = frame.levels.par_iter().enumerate();
        let columns = columns.map(|(at, levels)| ColumnSummary::of(frame, at, levels, rows, &targets));
        let mut all = targets.empty();
        rows.all().for_each(|row| all.add(&targets, row));
        Summary { targets: all.targets(&targets), columns: columns.collect() }
    }

    /// Of these rows and others.
    pub(crate) fn and(mut self, others: Summary) -> Summary {
        join_targets(&mut self.targets, others.targets);
        for (mine, other) in self.columns.iter_mut().zip(others.columns) {
            mine.missing += other.missing;
            join_targets(&mut mine.missing_targets, other.missing_targets);
            mine.numbers = mine.numbers.and(other.numbers);
            mine.levels.extend(other.levels);
        }
        self
    }

    /// Of all workers, in the order of ranks; each level once.
    pub(crate) fn joined(all: Vec<Summary>) -> Summary {
        let mut joined = all.into_iter().reduce(Summary::and).unwrap_or_default();
        joined.columns.par_iter_mut().for_each(|column| {
            column.levels.sort_unstable();
            column.levels.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
        });
        joined
    }
}

/// Which rows are looked at.
#[derive(Clone, Copy)]
struct Marked<'a> {
    marked: Option<&'a [bool]>,
    rows: usize,
}

impl Marked<'_> {
    fn has(self, row: usize) -> bool {
        self.marked.is_none_or(|marked| marked[row])
    }

    fn all(self) -> impl Iterator<Item = usize> {
        (0..self.rows).filter(move |row| self.has(*row))
    }
}

impl ColumnSummary {
    fn of(frame: &Frame, at: usize, levels: &Levels, rows: Marked, targets: &RowTargets) -> ColumnSummary {
        let (mut numbers, mut counts) = (Numbers::default(), vec![0; levels.len()]);
        let mut missing = targets.empty();
        let mut first = 0;
        for block in &frame.blocks {
            let looked_at = (first..first + block.rows).enumerate().filter(|(_, row)| rows.has(*row));
            match &block.columns[at] {
                Cells::Numbers(values) => {
                    for (cell, row) in looked_at {
                        let value = values[cell];
                        if value.is_nan() {
                            missing.add(targets, row)
                        } else {
                            numbers.add(f64::from(value), 1)
                        }
                    }
                }
                Cells::Text { codes, .. } => {
                    for (cell, row) in looked_at {
                        match codes[cell] {
                            MISSING => missing.add(targets, row),
                            code => counts[code as usize] += 1,
                        }
                    }
                }
            }
            first += block.rows;
        }
        let texts = levels.texts().into_iter().map(|text| charset::text(text).into_owned());
        let levels = texts.zip(counts).filter(|(_, count)| *count > 0).collect();
        ColumnSummary { missing: missing.count, missing_targets: missing.targets(targets), numbers, levels }
    }

    /// The numbers that levels stand for, if all of them do.
    pub(crate) fn as_numbers(&self, read: impl Fn(&[u8]) -> Option<f32>) -> Option<Numbers> {
        let mut numbers = Numbers::default();
        for (text, count) in &self.levels {
            numbers.add(f64::from(read(text.as_bytes()).filter(|value| value.is_finite())?), *count);
        }
        Some(numbers)
    }
}

impl Numbers {
    fn add(&mut self, value: f64, count: u64) {
        self.count += count;
        self.sum += value * count as f64;
        self.zeros += if value == 0.0 { count } else { 0 };
        self.ones += if value == 1.0 { count } else { 0 };
    }

    fn and(self, other: Numbers) -> Numbers {
        Numbers {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            zeros: self.zeros + other.zeros,
            ones: self.ones + other.ones,
        }
    }

    /// The mean; 0 of no numbers.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / (self.count as f64).max(1.0)
    }
}

/// The target of each row.
enum RowTargets<'a> {
    None,
    Numbers(&'a [f32]),
    /// The class of each row, and what classes are called.
    Classes(&'a [u32], Vec<String>),
}

impl RowTargets<'_> {
    fn of(labels: &Column) -> RowTargets<'_> {
        match labels {
            Column::Skip => RowTargets::None,
            Column::Numbers(numbers) => RowTargets::Numbers(numbers),
            Column::Classes(classes) => RowTargets::Classes(classes.codes(), classes.names()),
        }
    }

    /// Targets of no rows.
    fn empty(&self) -> Sums {
        let classes = if let RowTargets::Classes(_, names) = self { names.len() } else { 0 };
        Sums { count: 0, sum: 0.0, squares: 0.0, classes: vec![0; classes] }
    }
}

/// Targets of some rows, added up.
struct Sums {
    count: u64,
    sum: f64,
    squares: f64,
    /// Rows of each class.
    classes: Vec<u64>,
}

impl Sums {
    #[inline]
    fn add(&mut self, targets: &RowTargets, row: usize) {
        self.count += 1;
        match targets {
            RowTargets::None => {}
            RowTargets::Numbers(numbers) => {
                let value = f64::from(numbers[row]);
                self.sum += value;
                self.squares += value * value;
            }
            RowTargets::Classes(codes, _) => self.classes[codes[row] as usize] += 1,
        }
    }

    fn targets(self, targets: &RowTargets) -> Vec<Target> {
        let Sums { count, sum, squares, classes } = self;
        let class = |(class, rows): (&String, u64)| Target {
            class: class.clone(),
            count,
            sum: rows as f64,
            squares: rows as f64,
        };
        match targets {
            RowTargets::None => Vec::new(),
            RowTargets::Numbers(_) => vec![Target { class: String::new(), count, sum, squares }],
            RowTargets::Classes(_, names) => names.iter().zip(classes).map(class).collect(),
        }
    }
}

/// Adds others to those of the same class. Workers need not have seen the same classes.
fn join_targets(mine: &mut Vec<Target>, others: Vec<Target>) {
    let count = |targets: &[Target]| targets.iter().map(|target| target.count).max().unwrap_or(0);
    let (here, there) = (count(mine), count(&others));
    mine.iter_mut().for_each(|target| target.count += there);
    for other in others {
        match mine.iter_mut().find(|target| target.class == other.class) {
            Some(target) => {
                target.sum += other.sum;
                target.squares += other.squares;
            }
            None => mine.push(Target { count: here + there, ..other }),
        }
    }
}
