//! Folds: each row is held out once, and its model is trained on the others.
//!
//! The rows are written down once in the order of their folds, and all but the last two folds once more behind them. What a fold
//! is trained on, all other folds, then lies in one piece that begins behind it:
//!
//! ```text
//! 0 1 2 3 4 0 1 2          fold 3 is held out: 4 0 1 2
//! ```
//!
//! So any number of folds can be trained at the same time on this one copy.

use std::ops::Range;
use std::path::Path;

use hemingway_data::{Dataset, Labels};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::LambdaError;

/// Rows in the order of their folds.
pub(crate) struct Folded {
    pub data: Dataset,
    /// Where each fold is.
    folds: Vec<Range<usize>>,
}

impl Folded {
    /// These rows of a dataset in each fold.
    pub(crate) fn new(data: &Dataset, folds: &[Vec<usize>]) -> Folded {
        let again = folds.len().saturating_sub(2);
        let rows: Vec<usize> = folds.iter().chain(&folds[..again]).flatten().copied().collect();
        let mut end = 0;
        let ranges = folds.iter().map(|fold| {
            end += fold.len();
            end - fold.len()..end
        });
        Folded { folds: ranges.collect(), data: data.rows_at(&rows) }
    }

    /// How many times as large as the data itself it is.
    pub(crate) fn copies(folds: usize) -> f64 {
        2.0 - 2.0 / folds.max(2) as f64
    }

    pub(crate) fn count(&self) -> usize {
        self.folds.len()
    }

    /// The rows of a fold.
    pub(crate) fn held_out(&self, fold: usize) -> Range<usize> {
        self.folds[fold].clone()
    }

    /// The rows of all other folds.
    pub(crate) fn training(&self, fold: usize) -> Range<usize> {
        let all = self.folds.last().map_or(0, |last| last.end);
        let last = fold + 1 == self.folds.len();
        let start = if last { 0 } else { self.folds[fold].end };
        start..start + all - self.folds[fold].len()
    }
}

/// Deals the rows out: at random from a seed, each class as evenly as can be.
pub(crate) fn deal(data: &Dataset, folds: usize, seed: u64) -> Result<Vec<Vec<usize>>, LambdaError> {
    check(data, folds)?;
    let mut rows: Vec<usize> = (0..data.matrix.rows()).collect();
    rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let positives = rows.iter().filter(|row| is_positive(data, **row)).count();
    // The others begin where the positives end, so that folds differ by one row at most.
    let mut next = [positives, 0];
    let mut dealt = vec![Vec::new(); folds];
    for row in rows {
        let next = &mut next[usize::from(is_positive(data, row))];
        dealt[*next % folds].push(row);
        *next += 1;
    }
    Ok(dealt)
}

fn is_positive(data: &Dataset, row: usize) -> bool {
    data.labels != Labels::Numbers && data.targets[row] > 0.0
}

fn check(data: &Dataset, folds: usize) -> Result<(), LambdaError> {
    let rows = data.matrix.rows();
    if folds < 2 {
        return Err(LambdaError::Folds(folds));
    }
    if rows < folds {
        return Err(LambdaError::FewRowsAtAll { rows, folds });
    }
    let Labels::Classes { negative, positive } = &data.labels else { return Ok(()) };
    let positives = (0..rows).filter(|row| is_positive(data, *row)).count();
    let few =
        [(negative, rows - positives), (positive, positives)].into_iter().find(|(_, rows)| *rows < folds);
    match few {
        Some((class, rows)) => Err(LambdaError::FewRows { class: class.clone(), rows, folds }),
        None => Ok(()),
    }
}

/// Folds that a file names, a line for each row. They are in the order of their first rows.
pub(crate) fn read(file: &Path, rows: usize) -> Result<Vec<Vec<usize>>, LambdaError> {
    let wrong = |problem: String| LambdaError::FoldFile { file: file.to_path_buf(), problem };
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    named(&text, rows).map_err(wrong)
}

fn named(text: &str, rows: usize) -> Result<Vec<Vec<usize>>, String> {
    let mut names: Vec<&str> = Vec::new();
    let mut folds: Vec<Vec<usize>> = Vec::new();
    let lines = text.lines().count();
    if lines != rows {
        return Err(format!("it has {lines} lines, and the data has {rows} rows"));
    }
    for (row, line) in text.lines().enumerate() {
        let name = line.trim();
        if name.is_empty() {
            return Err(format!("line {} names no fold", row + 1));
        }
        let fold = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            folds.push(Vec::new());
            names.len() - 1
        });
        if fold == MOST_NAMED {
            return Err(format!("it names more than {MOST_NAMED} folds"));
        }
        folds[fold].push(row);
    }
    if folds.len() < 2 { Err("it names one fold, and it takes two".to_owned()) } else { Ok(folds) }
}

/// More folds in a file than this are a column of something else.
const MOST_NAMED: usize = 1000;

#[cfg(test)]
mod tests {
    use hemingway_data::{LoadOptions, load};
    use proptest::prelude::*;

    use super::*;

    fn data(rows: usize) -> Dataset {
        load(&format!("synthetic:text,rows={rows},features=50"), &LoadOptions::default()).unwrap()
    }

    proptest! {
        #[test]
        fn each_row_is_held_out_once_and_trained_on_in_all_other_folds(
            folds in 2..9_usize,
            rows in 60..90_usize,
            seed in 0..100_u64,
        ) {
            let data = data(rows);
            let dealt = deal(&data, folds, seed).unwrap();
            let sizes = || dealt.iter().map(Vec::len);
            prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
            let positives = |fold: &Vec<usize>| fold.iter().filter(|row| data.targets[**row] > 0.0).count();
            let counts = || dealt.iter().map(positives);
            prop_assert!(counts().max().unwrap() - counts().min().unwrap() <= 1, "stratified");

            let folded = Folded::new(&data, &dealt);
            prop_assert_eq!(folded.count(), folds);
            let order: Vec<usize> = dealt.iter().chain(&dealt[..folds - 2]).flatten().copied().collect();
            prop_assert_eq!(order.len(), folded.data.matrix.rows());
            for fold in 0..folds {
                let mut all: Vec<usize> = order[folded.training(fold)].to_vec();
                prop_assert_eq!(&order[folded.held_out(fold)], dealt[fold].as_slice());
                all.extend(&dealt[fold]);
                all.sort_unstable();
                prop_assert_eq!(all, (0..rows).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_copy_is_as_large_as_is_said() {
        let data = data(100);
        for folds in [2, 5, 10] {
            let folded = Folded::new(&data, &deal(&data, folds, 0).unwrap());
            assert_eq!(folded.data.matrix.rows() as f64, 100.0 * Folded::copies(folds));
        }
    }

    #[test]
    fn classes_with_fewer_rows_than_folds_are_refused() {
        let mut data = data(40);
        data.targets = (0..40).map(|row| if row < 3 { 1.0 } else { -1.0 }).collect();
        let message = deal(&data, 5, 0).unwrap_err().to_string();
        assert!(message.contains("has 3 rows, fewer than the 5 folds"), "{message}");
        assert!(deal(&data, 3, 0).is_ok());
        assert!(matches!(deal(&data, 1, 0), Err(LambdaError::Folds(1))));
    }

    #[test]
    fn a_file_names_folds() {
        assert_eq!(named("b\na\nb\n", 3).unwrap(), [vec![0, 2], vec![1]]);
        for (text, problem) in [("1\n2\n", "2 lines"), ("1\n1\n1\n", "one fold"), ("1\n\n2\n", "line 2")] {
            let message = named(text, 3).unwrap_err();
            assert!(message.contains(problem), "{message}");
        }
    }
}
