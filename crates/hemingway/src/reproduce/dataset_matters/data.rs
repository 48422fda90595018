//! What is trained on: HIGGS and newsgroups where there are files of them, generated data of their kind where not, and
//! what the paper makes of them or generates itself.

use std::path::PathBuf;
use std::sync::Arc;

use hemingway_data::{Characters, Dataset, LoadOptions, Matrix, Sparse, load};
use serde::Serialize;

use crate::Error;
use crate::reproduce::request::in_folder;

/// The paper's dense dataset: a sample of it, and what stands in its place.
const DENSE: [&str; 2] = ["higgs-11k.csv.gz", "synthetic:dense-large-similarity,rows=11000,features=28"];
/// A text dataset in place of the paper's real-sim, and what stands in its place.
const SPARSE: [&str; 2] =
    ["newsgroups20-binary.libsvm.gz", "synthetic:text,rows=11000,features=20000,density=0.005"];
/// Shares of the rows, as in the paper.
const TRAINING: f64 = 0.7;
const HELDOUT: f64 = 0.2;
/// The seed of the random split.
const SPLIT: u64 = 0;

/// Different rows where there are few.
const FEW: usize = 32;
/// The paper's part of the rows for DADM's upper bound.
const EIGHTH: f64 = 0.125;
/// Rows of the generated datasets, and of those that are held out; never less than the rows that a run visits in order.
const SIMILAR: [usize; 2] = [24_000, 2_400];
const UPPER_BOUND: [usize; 2] = [5_000, 1_000];

/// Training rows, and rows that are held out.
#[derive(Clone)]
pub(super) struct Split {
    pub training: Arc<Dataset>,
    pub heldout: Arc<Dataset>,
}

/// A dataset of the experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Rows {
    Dense,
    /// One quarter of them four times.
    DenseLow,
    Sparse,
    /// The sparse rows times a number, so that they vary as much as the dense ones.
    Scaled,
    /// The same with two quarters of the training rows twice each, or one four times.
    ScaledMiddle,
    ScaledLow,
    /// As they are, with two quarters twice each, or one four times.
    Middle,
    Low,
    /// So few different rows that they are only the first ones, again and again; as they are or scaled.
    Few,
    ScaledFew,
    /// A random eighth of the sparse training rows.
    Eighth,
    /// Rows that resemble the one before more or less, of so many features.
    Similar(Kind, Resemblance),
    /// Rows of which 70 % of the features are 1.
    UpperBound,
}

/// Where rows resemble the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Dense(usize),
    Sparse,
}

/// How much a row resembles the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Resemblance {
    /// 90 % of the features are new: large LS in the paper's words.
    Little,
    /// 10 % are new: small LS.
    Much,
    /// The rows of [`Much`](Resemblance::Much) in random order.
    Shuffled,
}

/// What the real datasets are like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatasetFacts {
    /// The file, or the spec of generated data.
    pub name: String,
    /// The file that is looked for.
    pub file: String,
    /// Whether it was generated because there is no file.
    pub generated: bool,
    /// Rows.
    pub rows: usize,
    /// Features.
    pub features: usize,
    /// The share of values that are not zero.
    pub density: f64,
    /// The variances of all features, summed.
    pub variance: f64,
}

/// The two datasets that others are made from.
pub(super) struct Data {
    pub dense: DatasetFacts,
    pub sparse: DatasetFacts,
    splits: [Split; 2],
}

impl Data {
    /// Reads them where they are in the folder for data, or generates them.
    pub fn load() -> Result<Data, Error> {
        Data::found(|file| in_folder(&[file]))
    }

    fn found(find: impl Fn(&str) -> Option<PathBuf>) -> Result<Data, Error> {
        let (dense, dense_split) = read(DENSE, &find)?;
        let (sparse, sparse_split) = read(SPARSE, &find)?;
        Ok(Data { dense, sparse, splits: [dense_split, sparse_split] })
    }

    /// By how much the sparse rows are multiplied to vary as much as the dense ones.
    pub fn scale(&self) -> f64 {
        (self.dense.variance / self.sparse.variance).sqrt()
    }

    /// The rows of a dataset. Those that come in their order leave nothing else to the seed of a run, so they depend on it.
    pub fn split(&self, rows: Rows, seed: u64) -> Result<Split, Error> {
        let [dense, sparse] = &self.splits;
        let scaled = || sparse.with(|data| scaled(data, self.scale() as f32));
        match rows {
            Rows::Dense => Ok(dense.clone()),
            Rows::DenseLow => Ok(dense.repeating([0; 4])),
            Rows::Sparse => Ok(sparse.clone()),
            Rows::Scaled => Ok(scaled()),
            Rows::ScaledMiddle => Ok(scaled().repeating([0, 0, 1, 1])),
            Rows::ScaledLow => Ok(scaled().repeating([0; 4])),
            Rows::Middle => Ok(sparse.repeating([0, 0, 1, 1])),
            Rows::Low => Ok(sparse.repeating([0; 4])),
            Rows::Few => Ok(sparse.choosing(|row, _| row % FEW)),
            Rows::ScaledFew => Ok(scaled().choosing(|row, _| row % FEW)),
            Rows::Eighth => Ok(sparse.sampled(EIGHTH)),
            Rows::Similar(kind, resemblance) => similar(kind, resemblance, seed),
            Rows::UpperBound => {
                let spec = |rows, seed| format!("synthetic:upper-bound,rows={rows},features=200,seed={seed}");
                Split::of(&spec(UPPER_BOUND[0], 1), &spec(UPPER_BOUND[1], 2))
            }
        }
    }
}

/// Single rows have the same distribution however much they resemble one another, so the same are held out.
fn similar(kind: Kind, resemblance: Resemblance, seed: u64) -> Result<Split, Error> {
    let spec = |resemblance, rows: usize, seed: u64| {
        let amount = if resemblance == Resemblance::Little { "large" } else { "small" };
        match kind {
            Kind::Dense(features) => {
                format!("synthetic:dense-{amount}-similarity,rows={rows},features={features},seed={seed}")
            }
            Kind::Sparse => format!(
                "synthetic:sparse-{amount}-similarity,rows={rows},features=4000,density=0.03,seed={seed}"
            ),
        }
    };
    let split = Split::of(&spec(resemblance, SIMILAR[0], seed), &spec(Resemblance::Little, SIMILAR[1], 0))?;
    match resemblance {
        Resemblance::Shuffled => Ok(Split { training: Arc::new(split.training.shuffled(SPLIT)), ..split }),
        Resemblance::Little | Resemblance::Much => Ok(split),
    }
}

/// The file if there is one, or generated data, split at random.
fn read(
    [file, generated]: [&str; 2],
    find: impl Fn(&str) -> Option<PathBuf>,
) -> Result<(DatasetFacts, Split), Error> {
    let path = find(file);
    let spec = path.as_ref().map_or(generated.into(), |path| path.to_string_lossy());
    let data = load(&spec, &LoadOptions::default())?;
    let Characters { rows, features, density, total_variance, .. } = Characters::of(&data);
    let name = if path.is_some() { file } else { generated };
    let facts = DatasetFacts {
        name: name.to_owned(),
        file: file.to_owned(),
        generated: path.is_none(),
        rows,
        features,
        density,
        variance: total_variance,
    };
    Ok((facts, Split::at_random(&data)))
}

impl Split {
    fn of(training: &str, heldout: &str) -> Result<Split, Error> {
        let read = |spec| load(spec, &LoadOptions::default()).map(Arc::new);
        Ok(Split { training: read(training)?, heldout: read(heldout)? })
    }

    fn at_random(data: &Dataset) -> Split {
        let shuffled = data.shuffled(SPLIT);
        let rows = shuffled.matrix.rows() as f64;
        let [first, last] = [TRAINING, TRAINING + HELDOUT].map(|share| (rows * share).round() as usize);
        let part = |rows: std::ops::Range<usize>| Arc::new(shuffled.rows_at(&rows.collect::<Vec<_>>()));
        Split { training: part(0..first), heldout: part(first..last) }
    }

    fn with(&self, change: impl Fn(&Dataset) -> Dataset) -> Split {
        Split { training: Arc::new(change(&self.training)), heldout: Arc::new(change(&self.heldout)) }
    }

    /// As many training rows, of which these quarters follow one another.
    fn repeating(&self, quarters: [usize; 4]) -> Split {
        self.choosing(|row, rows| {
            let each = rows.div_ceil(4);
            quarters[row / each] * each + row % each
        })
    }

    /// As many training rows, each of which is the one with this number.
    fn choosing(&self, which: impl Fn(usize, usize) -> usize) -> Split {
        let rows = self.training.matrix.rows();
        let chosen: Vec<usize> = (0..rows).map(|row| which(row, rows).min(rows - 1)).collect();
        Split { training: Arc::new(self.training.rows_at(&chosen)), ..self.clone() }
    }

    fn sampled(&self, share: f64) -> Split {
        Split { training: Arc::new(self.training.sample(share, SPLIT)), ..self.clone() }
    }
}

/// Every value times a number.
fn scaled(data: &Dataset, by: f32) -> Dataset {
    let Matrix::Sparse(sparse) = &data.matrix else { return data.clone() };
    let values = sparse.values().iter().map(|value| by * value).collect();
    let matrix = Sparse::new(sparse.columns(), sparse.offsets().to_vec(), sparse.indices().to_vec(), values);
    Dataset { matrix: Matrix::Sparse(matrix), ..data.clone() }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Generated, whatever files there are.
    fn data() -> Data {
        Data::found(|_| None).unwrap()
    }

    fn distinct(rows: Rows) -> usize {
        let split = data().split(rows, 1).unwrap();
        let Matrix::Sparse(sparse) = &split.training.matrix else { panic!("sparse") };
        let row = |row: &[usize]| sparse.indices()[row[0]..row[1]].to_vec();
        sparse.offsets().windows(2).map(row).collect::<HashSet<_>>().len()
    }

    #[test]
    fn seven_tenths_train_two_are_held_out_and_no_row_does_both() {
        let Split { training, heldout } = data().split(Rows::Sparse, 1).unwrap();
        assert_eq!((training.matrix.rows(), heldout.matrix.rows()), (7700, 2200));
        let rows = |data: &Dataset| -> HashSet<String> {
            (0..200).map(|row| format!("{:?}", data.rows_at(&[row]).matrix)).collect()
        };
        assert!(rows(&training).is_disjoint(&rows(&heldout)));
    }

    #[test]
    fn repeated_quarters_are_as_many_rows_of_which_fewer_differ() {
        assert_eq!(data().split(Rows::Middle, 1).unwrap().training.matrix.rows(), 7700);
        let found = [Rows::Sparse, Rows::Middle, Rows::Low, Rows::Few].map(distinct);
        assert_eq!(found, [7700, 3850, 1925, 32]);
    }

    #[test]
    fn scaled_rows_vary_as_much_as_dense_ones() {
        let data = data();
        let scaled = data.split(Rows::Scaled, 1).unwrap().training;
        let variance = Characters::of(&scaled).total_variance;
        assert!((variance / data.dense.variance - 1.0).abs() < 0.01, "{variance}");
    }

    #[test]
    fn shuffled_rows_do_not_resemble_the_ones_before() {
        let data = data();
        let [much, shuffled, little] = [Resemblance::Much, Resemblance::Shuffled, Resemblance::Little]
            .map(|resemblance| data.split(Rows::Similar(Kind::Dense(28), resemblance), 1).unwrap())
            .map(|split| Characters::of(&split.training).order.given[0].distance.mean);
        let other = Rows::Similar(Kind::Dense(28), Resemblance::Much);
        let [one, two] = [1, 2].map(|seed| data.split(other, seed).unwrap());
        assert!(one.training != two.training && one.heldout == two.heldout);
        assert!(much < 4.0 && shuffled > 25.0 && little > 24.0, "{much} {shuffled} {little}");
    }
}
