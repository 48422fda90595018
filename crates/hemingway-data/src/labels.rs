//! From the labels a file writes to the targets training wants.
//!
//! Labels come as ±1, 0/1, 1/2, letters or words. While parsing, each row keeps a small code for its label's text;
//! what the codes mean is decided once, when all labels are known. Labels that are numbers are equal when their
//! values are: `+1`, `1` and `1.0` are one class.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::error::{excerpt, list};
use crate::table::cell::is_missing;
use crate::{Error, LabelColumn, Labels, LineProblem, LoadOptions, charset, number};

/// The name of all classes but the positive one, when there are more than two.
pub(crate) const REST: &str = "rest";

/// More distinct labels than this are refused at once: they are quantities or identifiers, not classes.
const MOST_CLASSES: usize = 100_000;

/// As many classes are told apart, each from the rest. More would let quantities that somebody forgot to call so through,
/// and train a model for each of their values; less would refuse problems that people have.
const MOST_TOLD_APART: usize = 100;

/// The labels of consecutive rows.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    /// Not wanted.
    Skip,
    /// Quantities.
    Numbers(Vec<f32>),
    /// Classes.
    Classes(Classes),
}

/// One code per row, and the distinct labels the codes stand for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Classes {
    codes: Vec<u32>,
    found: Vec<Class>,
    by_key: HashMap<Key, u32>,
}

/// A distinct label, and how often it was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Class {
    text: String,
    key: Key,
    count: usize,
    /// Counted from 0, in the block and later in the file.
    first_line: usize,
}

/// What makes two labels equal: their value if numbers, else their text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Key {
    Number(u64),
    Text(String),
}

impl Column {
    /// An empty column for what the options ask for.
    pub(crate) fn for_options(options: &LoadOptions) -> Column {
        match (&options.label, &options.labels) {
            (LabelColumn::Absent, _) => Column::Skip,
            (_, Some(Labels::Numbers)) => Column::Numbers(Vec::new()),
            (_, Some(Labels::Classes { .. } | Labels::Several(_))) => Column::Classes(Classes::default()),
            _ if options.regression => Column::Numbers(Vec::new()),
            _ => Column::Classes(Classes::default()),
        }
    }

    /// The same kind of column, with no rows.
    pub(crate) fn emptied(&self) -> Column {
        match self {
            Column::Skip => Column::Skip,
            Column::Numbers(_) => Column::Numbers(Vec::new()),
            Column::Classes(_) => Column::Classes(Classes::default()),
        }
    }

    /// Adds the label of the next row.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8], line: usize) -> Result<(), LineProblem> {
        match self {
            Column::Skip => Ok(()),
            Column::Numbers(numbers) => push_number(numbers, text),
            Column::Classes(classes) => classes.push(text, line),
        }
    }

    /// Adds the rows of the next block, which starts after `lines` lines.
    pub(crate) fn append(&mut self, next: Column, lines: usize) {
        match (self, next) {
            (Column::Numbers(mine), Column::Numbers(next)) => mine.extend(next),
            (Column::Classes(mine), Column::Classes(next)) => mine.append(next, lines),
            _ => {}
        }
    }

    /// The classes found so far, in the order of their first rows.
    pub(crate) fn classes(&self) -> &[Class] {
        match self {
            Column::Classes(classes) => &classes.found,
            Column::Skip | Column::Numbers(_) => &[],
        }
    }

    /// The labels of the same rows, knowing the classes that all workers found: `everyone`, of whom this is `rank`.
    pub(crate) fn among(self, everyone: Vec<Vec<Class>>, rank: usize) -> Column {
        match self {
            Column::Classes(classes) => Column::Classes(classes.among(everyone, rank)),
            other => other,
        }
    }

    /// Whether there are far too many classes already.
    pub(crate) fn is_hopeless(&self) -> bool {
        matches!(self, Column::Classes(classes) if classes.found.len() > MOST_CLASSES)
    }

    /// The targets, and what they stand for.
    pub(crate) fn finish(self, file: &str, options: &LoadOptions) -> Result<(Vec<f32>, Labels), Error> {
        match self {
            Column::Skip => Ok((Vec::new(), options.labels.clone().unwrap_or(Labels::Numbers))),
            Column::Numbers(numbers) => Ok((numbers, Labels::Numbers)),
            Column::Classes(classes) => classes.finish(file, options),
        }
    }
}

impl Classes {
    /// The class of each row, as a place among their names.
    pub(crate) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// What classes are called: the same for labels that are equal.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |class: &Class| match &class.key {
            Key::Number(bits) => f64::from_bits(*bits).to_string(),
            Key::Text(text) => text.clone(),
        };
        self.found.iter().map(name).collect()
    }

    fn push(&mut self, text: &[u8], line: usize) -> Result<(), LineProblem> {
        let code = match self.seen_before(text) {
            Some(code) => code,
            None => self.code(key(text)?, || charset::text(text).into_owned(), line),
        };
        self.found[code as usize].count += 1;
        self.codes.push(code);
        Ok(())
    }

    /// The code of a label spelt exactly as one of the first few: the usual case, without hashing.
    fn seen_before(&self, text: &[u8]) -> Option<u32> {
        self.found.iter().take(4).position(|class| class.text.as_bytes() == text).map(|code| code as u32)
    }

    fn code(&mut self, key: Key, text: impl FnOnce() -> String, line: usize) -> u32 {
        *self.by_key.entry(key).or_insert_with_key(|key| {
            self.found.push(Class { text: text(), key: key.clone(), count: 0, first_line: line });
            self.found.len() as u32 - 1
        })
    }

    fn append(&mut self, next: Classes, lines: usize) {
        let codes: Vec<u32> = (next.found.into_iter())
            .map(|class| {
                let code = self.code(class.key, || class.text, lines + class.first_line);
                self.found[code as usize].count += class.count;
                code
            })
            .collect();
        self.codes.extend(next.codes.iter().map(|code| codes[*code as usize]));
    }

    /// Appends everyone's classes in the order of ranks, which is the order of the file, but only its own rows.
    fn among(mut self, everyone: Vec<Vec<Class>>, rank: usize) -> Classes {
        let mut all = Classes::default();
        for (worker, found) in everyone.into_iter().enumerate() {
            let codes = if worker == rank { std::mem::take(&mut self.codes) } else { Vec::new() };
            all.append(Classes { codes, found, by_key: HashMap::new() }, 0);
        }
        all
    }

    fn finish(self, file: &str, options: &LoadOptions) -> Result<(Vec<f32>, Labels), Error> {
        let labels = match &options.labels {
            Some(known) => known.clone(),
            None if options.several && options.positive.is_none() && self.found.len() > 2 => {
                self.several(file)?
            }
            None => self.meaning(file, options.positive.as_deref())?,
        };
        let targets = match &labels {
            Labels::Classes { negative, positive } => self.signs(file, negative, positive)?,
            Labels::Several(names) => self.places(file, names)?,
            Labels::Numbers => unreachable!("columns of classes are made for classes only"),
        };
        Ok((self.codes.iter().map(|code| targets[*code as usize]).collect(), labels))
    }

    /// All classes by their names.
    fn several(&self, file: &str) -> Result<Labels, Error> {
        if self.found.len() > MOST_TOLD_APART {
            return Err(Error::ClassesBeyondLimit {
                file: file.to_string(),
                found: self.found.len(),
                most: MOST_TOLD_APART,
                classes: self.listed(),
            });
        }
        Ok(Labels::Several(self.in_order().into_iter().map(|class| class.text.clone()).collect()))
    }

    /// Which class is +1 and which is -1.
    fn meaning(&self, file: &str, positive: Option<&str>) -> Result<Labels, Error> {
        if let [only] = self.found.as_slice() {
            return Err(Error::OneClass {
                file: file.to_string(),
                class: excerpt(only.text.as_bytes()),
                count: only.count,
            });
        }
        let positive = match positive {
            Some(text) => self.asked_for(file, text)?,
            None => self.larger(file)?,
        };
        let negative = match self.found.as_slice() {
            [one, other] => if one.key == positive.key { other } else { one }.text.clone(),
            _ => REST.to_string(),
        };
        Ok(Labels::Classes { negative, positive: positive.text.clone() })
    }

    fn asked_for(&self, file: &str, text: &str) -> Result<&Class, Error> {
        let wanted = key(text.trim().as_bytes()).ok();
        self.found.iter().find(|class| Some(&class.key) == wanted.as_ref()).ok_or_else(|| {
            Error::UnknownPositive {
                file: file.to_string(),
                positive: text.to_string(),
                classes: self.listed(),
            }
        })
    }

    fn larger(&self, file: &str) -> Result<&Class, Error> {
        match self.found.as_slice() {
            [one, other] if comes_after(one, other) => Ok(one),
            [_, other] => Ok(other),
            _ => Err(self.too_many(file)),
        }
    }

    fn too_many(&self, file: &str) -> Error {
        Error::ManyClasses { file: file.to_string(), found: self.found.len(), classes: self.listed() }
    }

    /// The target of each code.
    fn signs(&self, file: &str, negative: &str, positive: &str) -> Result<Vec<f32>, Error> {
        let (minus, plus) = (key(negative.as_bytes()).ok(), key(positive.as_bytes()).ok());
        (self.found.iter())
            .map(|class| match Some(&class.key) {
                found if found == plus.as_ref() => Ok(1.0),
                found if found == minus.as_ref() || negative == REST => Ok(-1.0),
                _ => Err(class.unknown(file, &[negative, positive])),
            })
            .collect()
    }

    /// The place among all classes of each code.
    fn places(&self, file: &str, names: &[String]) -> Result<Vec<f32>, Error> {
        let keys: Vec<Option<Key>> = names.iter().map(|name| key(name.as_bytes()).ok()).collect();
        let place = |class: &Class| keys.iter().position(|name| name.as_ref() == Some(&class.key));
        (self.found.iter())
            .map(|class| place(class).map(|place| place as f32).ok_or_else(|| class.unknown(file, names)))
            .collect()
    }

    /// `0 (5923 rows), 1 (6742 rows), …` in order.
    fn listed(&self) -> String {
        let named: Vec<String> = (self.in_order().iter())
            .map(|class| format!("{} ({} rows)", excerpt(class.text.as_bytes()), class.count))
            .collect();
        list(&named, 10)
    }

    /// Numbers by value, then texts.
    fn in_order(&self) -> Vec<&Class> {
        let mut classes: Vec<&Class> = self.found.iter().collect();
        classes.sort_by(|one, other| match (&one.key, &other.key) {
            (Key::Number(one), Key::Number(other)) => f64::from_bits(*one).total_cmp(&f64::from_bits(*other)),
            (Key::Number(_), Key::Text(_)) => Ordering::Less,
            (Key::Text(_), Key::Number(_)) => Ordering::Greater,
            (Key::Text(one), Key::Text(other)) => one.cmp(other),
        });
        classes
    }
}

impl Class {
    /// The error for a label that training did not have.
    fn unknown(&self, file: &str, known: &[impl AsRef<str>]) -> Error {
        let known: Vec<String> = known.iter().map(|name| format!("“{}”", name.as_ref())).collect();
        Error::UnknownLabel {
            file: file.to_string(),
            line: self.first_line + 1,
            label: excerpt(self.text.as_bytes()),
            known: list(&known, 10),
        }
    }
}

/// The error for far too many classes, before all were read.
pub(crate) fn hopeless(column: &Column, file: &str) -> Option<Error> {
    match column {
        Column::Classes(classes) if column.is_hopeless() => Some(classes.too_many(file)),
        _ => None,
    }
}

fn push_number(numbers: &mut Vec<f32>, text: &[u8]) -> Result<(), LineProblem> {
    check_present(text)?;
    let value = number::whole(text).ok_or_else(|| LineProblem::NotANumber {
        place: "the label".to_string(),
        text: excerpt(text),
        hint: "leave --regression away if the labels are classes; --label picks another column",
    })?;
    finite_label(f64::from(value), text)?;
    numbers.push(value);
    Ok(())
}

fn check_present(text: &[u8]) -> Result<(), LineProblem> {
    if is_missing(text) { Err(LineProblem::MissingLabel { text: excerpt(text) }) } else { Ok(()) }
}

fn finite_label(value: f64, text: &[u8]) -> Result<(), LineProblem> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(LineProblem::NotFinite { place: "the label".to_string(), text: excerpt(text) }),
    }
}

fn key(text: &[u8]) -> Result<Key, LineProblem> {
    check_present(text)?;
    match number::whole_double(text) {
        Some(value) => {
            finite_label(value, text)?;
            Ok(Key::Number((value + 0.0).to_bits())) // makes -0 the same as 0
        }
        None => Ok(Key::Text(charset::text(text).into_owned())),
    }
}

/// Whether two labels are one class.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one == other
        || matches!((key(one.as_bytes()), key(other.as_bytes())), (Ok(one), Ok(other)) if one == other)
}

/// Numbers by value, anything else by its text.
fn comes_after(one: &Class, other: &Class) -> bool {
    match (&one.key, &other.key) {
        (Key::Number(one), Key::Number(other)) => f64::from_bits(*one) > f64::from_bits(*other),
        _ => one.text > other.text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(labels: &[&str], options: &LoadOptions) -> Result<(Vec<f32>, Labels), String> {
        let mut column = Column::for_options(options);
        for (line, label) in labels.iter().enumerate() {
            column.push(label.as_bytes(), line).map_err(|problem| problem.to_string())?;
        }
        column.finish("file", options).map_err(|error| error.to_string())
    }

    fn classes(negative: &str, positive: &str) -> Labels {
        Labels::Classes { negative: negative.to_string(), positive: positive.to_string() }
    }

    fn check(labels: &[&str], targets: &[f32], meaning: Labels) {
        assert_eq!(finish(labels, &LoadOptions::default()).unwrap(), (targets.to_vec(), meaning));
    }

    #[test]
    fn two_classes_as_in_the_wild() {
        check(&["-1", "+1"], &[-1.0, 1.0], classes("-1", "+1"));
        check(&["1", "0", "1"], &[1.0, -1.0, 1.0], classes("0", "1"));
        check(&["2", "1"], &[1.0, -1.0], classes("1", "2"));
        check(&["9", "10"], &[-1.0, 1.0], classes("9", "10"));
        check(&["+1", "1.0", "1", "-1"], &[1.0, 1.0, 1.0, -1.0], classes("-1", "+1"));
        check(&["spam", "ham"], &[1.0, -1.0], classes("ham", "spam"));
        check(&["0", "-0.0", "1"], &[-1.0, -1.0, 1.0], classes("0", "1"));
    }

    #[test]
    fn the_positive_class_can_be_picked() {
        let options = LoadOptions { positive: Some("0".to_string()), ..LoadOptions::default() };
        assert_eq!(finish(&["1", "0.0"], &options).unwrap(), (vec![-1.0, 1.0], classes("1", "0.0")));
        let many = finish(&["1", "0", "2"], &options).unwrap();
        assert_eq!(many, (vec![-1.0, 1.0, -1.0], classes("rest", "0")));
        let message = finish(&["1", "2", "2"], &options).unwrap_err();
        assert!(
            message.contains("no row has the label “0”") && message.contains("1 (1 rows), 2 (2 rows)"),
            "{message}"
        );
    }

    #[test]
    fn many_classes_are_listed() {
        let labels: Vec<String> = (0..12).map(|label| label.to_string()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let message = finish(&labels, &LoadOptions::default()).unwrap_err();
        assert!(message.contains("12 classes found: 0 (1 rows), 1 (1 rows)"), "{message}");
        assert!(
            message.contains("9 (1 rows) and 2 more") && message.contains("--positive VALUE"),
            "{message}"
        );
    }

    fn several() -> LoadOptions {
        LoadOptions { several: true, ..LoadOptions::default() }
    }

    fn named(names: &[&str]) -> Labels {
        Labels::Several(names.iter().map(|name| name.to_string()).collect())
    }

    #[test]
    fn several_classes_are_numbered_in_order() {
        let check = |labels: &[&str], targets: &[f32], names: &[&str]| {
            assert_eq!(finish(labels, &several()).unwrap(), (targets.to_vec(), named(names)));
        };
        check(&["10", "9", "1", "9.0"], &[2.0, 1.0, 0.0, 1.0], &["1", "9", "10"]);
        check(&["pear", "fig", "apple"], &[2.0, 1.0, 0.0], &["apple", "fig", "pear"]);
        check(&["1a", "10", "2", "b"], &[2.0, 1.0, 0.0, 3.0], &["2", "10", "1a", "b"]);
    }

    #[test]
    fn two_classes_and_a_picked_one_stay_what_they_are() {
        assert_eq!(finish(&["a", "b"], &several()).unwrap().1, classes("a", "b"));
        let picked = LoadOptions { positive: Some("b".to_string()), ..several() };
        assert_eq!(finish(&["a", "b", "c"], &picked).unwrap(), (vec![-1.0, 1.0, -1.0], classes("rest", "b")));
    }

    #[test]
    fn as_many_classes_as_rows_are_quantities() {
        let labels: Vec<String> = (0..101).map(|label| label.to_string()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        assert!(finish(&labels[..100], &several()).is_ok());
        let message = finish(&labels, &several()).unwrap_err();
        assert!(
            message.contains("101 classes found, and at most 100 are told apart: 0 (1 rows)"),
            "{message}"
        );
        assert!(message.contains("--regression") && message.contains("--positive VALUE"), "{message}");
    }

    #[test]
    fn test_data_of_several_classes_follows_training() {
        let options = LoadOptions { labels: Some(named(&["a", "b", "c"])), ..LoadOptions::default() };
        assert_eq!(finish(&["c", "c"], &options).unwrap().0, vec![2.0, 2.0]);
        let message = finish(&["b", "d"], &options).unwrap_err();
        assert!(message.contains("file:2: the label “d”") && message.contains("“a”, “b”, “c”"), "{message}");
    }

    #[test]
    fn one_class_is_refused() {
        let message = finish(&["a", "a"], &LoadOptions::default()).unwrap_err();
        assert!(message.contains("all 2 rows have the label “a”"), "{message}");
    }

    #[test]
    fn regression_keeps_numbers() {
        let options = LoadOptions { regression: true, ..LoadOptions::default() };
        assert_eq!(finish(&["1", "2"], &options).unwrap(), (vec![1.0, 2.0], Labels::Numbers));
        assert!(finish(&["x"], &options).unwrap_err().contains("the label is “x”"));
        assert!(finish(&["inf"], &options).unwrap_err().contains("not a finite"));
    }

    #[test]
    fn test_data_follows_training() {
        let options = LoadOptions { labels: Some(classes("a", "b")), ..LoadOptions::default() };
        assert_eq!(finish(&["b", "b"], &options).unwrap().0, vec![1.0, 1.0]);
        let message = finish(&["b", "c"], &options).unwrap_err();
        assert!(message.contains("file:2: the label “c” is not in the training data"), "{message}");
        let rest = LoadOptions { labels: Some(classes("rest", "5")), ..LoadOptions::default() };
        assert_eq!(finish(&["7", "5.0"], &rest).unwrap().0, vec![-1.0, 1.0]);
    }

    #[test]
    fn labels_that_are_no_numbers_at_all() {
        let message = finish(&["nan", "1"], &LoadOptions::default()).unwrap_err();
        assert!(message.contains("the label is missing (“nan”)"), "{message}");
        assert!(finish(&["inf", "1"], &LoadOptions::default()).unwrap_err().contains("the label is “inf”"));
    }
}
