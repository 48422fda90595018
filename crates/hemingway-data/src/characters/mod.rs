//! What data is like, before anything is trained on it: its size, how its numbers are spread, how diverse its rows are, in
//! which order they are, what its labels are like, and what a careful colleague would point out.
//!
//! [`pass`](self::pass) goes over all rows once and is exact. What is dear is estimated from rows that are chosen at random
//! and says how sure it is ([`Interval`]). Workers who have parts of the rows exchange sums and sampled rows, so that each
//! of them finds what one with all rows would find, up to rounding.
//!
//! The characters are those of D. Cheng et al., "The Scalability for Parallel Machine Learning Training Algorithm: Dataset
//! Matters": variance, sparsity, diversity, and the similarity of rows that follow one another.

mod dense;
mod distribution;
mod diversity;
mod findings;
mod interval;
mod labels;
mod order;
mod pass;
mod sampling;
mod sparse;
#[cfg(test)]
mod tests;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::together::{Alone, exchange};
use crate::{Dataset, Error, Matrix, Part, Together};
use pass::{Counts, Feature, Input, Pass};
use sampling::Rows;

pub use distribution::{Distribution, Histogram};
pub use diversity::Diversity;
pub use findings::{Finding, Kind};
pub use interval::Interval;
pub use labels::LabelCharacters;
pub use order::{Order, RangeDistance};
pub use sampling::{sample_part, sample_rows};

/// Rows that are sampled, where they are not too long.
const SAMPLED_ROWS: usize = 20_000;
/// Values of all rows that are sampled, at most: 64 MB.
const SAMPLED_VALUES: f64 = (1 << 23) as f64;
/// Fewer rows say too little.
const LEAST_ROWS: usize = 200;
/// What sums of a feature take on a core, for one class.
const BYTES_PER_SUM: u64 = 64;
/// Row hashes are copied to be sorted.
const HASH_BYTES: u64 = 8;
/// Features that workers show one another in one exchange.
const FEATURES_AT_ONCE: usize = 1 << 15;

/// What data is like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Characters {
    /// Rows, n.
    pub rows: usize,
    /// Features, as the user counts them.
    pub features: usize,
    /// Features that have columns: all, unless few of many occur.
    pub columns: usize,
    /// Values that are not zero.
    pub nonzeros: usize,
    /// The share of values that are not zero, in the columns that there are.
    pub density: f64,
    /// The share of zeros.
    pub sparsity: f64,
    /// Values that are not zero in a row; the largest is Ω of the paper.
    pub row_nonzeros: Distribution,
    /// Euclidean lengths of rows.
    pub row_norms: Distribution,
    /// Means of features.
    pub feature_means: Distribution,
    /// Variances of features.
    pub feature_variances: Distribution,
    /// The sum of all variances: the mean squared distance of a row from the mean row.
    pub total_variance: f64,
    /// δ: the share of rows in which the most frequent feature is not zero.
    pub delta: f64,
    /// That feature, counted from 0 as the user counts features.
    pub most_frequent_feature: usize,
    /// ρ: the probability that two random rows have a feature in common that is zero in neither.
    pub rho: Interval,
    /// How many rows are different.
    pub diversity: Diversity,
    /// Whether rows that follow one another are alike.
    pub order: Order,
    /// What labels are like.
    pub labels: LabelCharacters,
    /// Rows that were sampled for what is not exact.
    pub sampled_rows: usize,
    /// What should be looked into, the most important first.
    pub findings: Vec<Finding>,
}

/// Some of the rows of a dataset: all, or those of one worker.
pub(crate) struct View<'a> {
    pub data: &'a Dataset,
    pub first_row: usize,
    pub total_rows: usize,
}

impl<'a> View<'a> {
    pub(crate) fn whole(data: &'a Dataset) -> View<'a> {
        View { data, first_row: 0, total_rows: data.matrix.rows() }
    }
}

impl Characters {
    /// Of data that one worker has as a whole. The same for any number of cores, up to rounding.
    pub fn of(data: &Dataset) -> Characters {
        Characters::seen(&View::whole(data), &mut Alone).expect("nobody else is there to fail")
    }

    /// Of data that several workers have in parts. Everyone calls it and gets the same.
    pub fn of_part(part: &Part, together: &mut dyn Together) -> Result<Characters, Error> {
        let view = View { data: &part.dataset, first_row: part.first_row, total_rows: part.total_rows };
        Characters::seen(&view, together)
    }

    /// Bytes that the pass takes beside the rows: what each row is like, and sums of each feature on each core.
    pub fn bytes(matrix: &Matrix) -> u64 {
        let (rows, columns) = (matrix.rows() as u64, matrix.columns() as u64);
        let sums = 2 * (rayon::current_num_threads() as u64 + 2) * BYTES_PER_SUM * columns;
        size_of::<pass::Row>() as u64 * rows + HASH_BYTES * rows + sums
    }

    /// The share of the memory bandwidth that the pass gets is what its benchmark measures.
    #[doc(hidden)]
    pub fn pass_only(data: &Dataset) -> usize {
        let View { first_row, .. } = View::whole(data);
        let (matrix, targets, labels) = (&data.matrix, data.targets.as_slice(), &data.labels);
        Pass::over(&Input { matrix, targets, labels, first_row }).rows.len()
    }

    fn seen(view: &View, together: &mut dyn Together) -> Result<Characters, Error> {
        let data = view.data;
        let (matrix, targets, labels) = (&data.matrix, data.targets.as_slice(), &data.labels);
        let Pass { counts, features, rows } =
            Pass::over(&Input { matrix, targets, labels, first_row: view.first_row });
        let (counts, features) = all_parts(counts, features, together)?;

        let row_nonzeros = Distribution::over(rows.len(), |at| f64::from(rows[at].nonzeros), together)?;
        let row_norms = Distribution::over(rows.len(), |at| f64::from(rows[at].norm), together)?;
        let hashes = rows.iter().map(|row| row.hash).collect();
        let distinct = diversity::distinct(hashes, together)?;
        drop(rows);
        let labels = LabelCharacters::of(view, together)?;

        let total = view.total_rows;
        let nonzeros: u64 = features.iter().map(|feature| feature.nonzeros).sum();
        let columns = matrix.columns();
        let room = SAMPLED_VALUES / (nonzeros as f64 / total.max(1) as f64).max(1.0);
        let room = (room as usize).clamp(LEAST_ROWS, SAMPLED_ROWS);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let comparisons = order::Comparisons::new(total, room, &mut random);
        let sampled = Rows::at(comparisons.places(), view, together)?;
        let order = comparisons.order(&sampled, columns.min(2 * row_nonzeros.max as usize));
        let rho = comparisons
            .shuffled
            .share(|row, other| order::share_a_feature(sampled.row(row), sampled.row(other)));

        let n = total.max(1) as f64;
        let of_features = |of: fn(&Feature, f64) -> f64| -> Vec<f64> {
            features.iter().map(|feature| of(feature, n)).collect()
        };
        let (means, variances) = (of_features(|of, _| of.mean), of_features(|of, n| of.deviation / n));
        let total_variance: f64 = variances.iter().sum();
        let spread = Rows::at(sampling::any_of(total, room / 4, &mut random), view, together)?;
        let near_duplicates = diversity::near_duplicates(&spread, total, &means, total_variance);
        let most_frequent = (0..columns).max_by_key(|&at| (features[at].nonzeros, columns - at));
        let density = nonzeros as f64 / (n * columns.max(1) as f64);
        let mut characters = Characters {
            rows: total,
            features: data.features.count,
            columns,
            nonzeros: nonzeros as usize,
            density,
            sparsity: 1.0 - density,
            row_nonzeros,
            row_norms,
            feature_means: Distribution::of(means),
            feature_variances: Distribution::of(variances),
            total_variance,
            delta: most_frequent.map_or(0.0, |at| features[at].nonzeros as f64 / n),
            most_frequent_feature: most_frequent.map_or(0, |at| feature_number(data, at)),
            rho,
            diversity: Diversity {
                distinct_rows: distinct,
                distinct_share: distinct.times(1.0 / n),
                near_duplicates,
            },
            order,
            labels,
            sampled_rows: sampled.len() + spread.len(),
            findings: Vec::new(),
        };
        characters.findings = findings::look(&characters, data, &counts, &features);
        Ok(characters)
    }
}

/// The feature of a column, counted from 0 as the user counts features.
fn feature_number(data: &Dataset, column: usize) -> usize {
    data.features.used.as_ref().map_or(column, |used| used[column] as usize)
}

/// What all workers found, merged in the order of ranks.
fn all_parts(
    counts: Counts,
    mine: Vec<Feature>,
    together: &mut dyn Together,
) -> Result<(Counts, Vec<Feature>), Error> {
    if together.size() == 1 {
        return Ok((counts, mine));
    }
    let (_, counts) = exchange(together, Ok(counts), |counts| *counts)?;
    let whole = counts.iter().fold(Counts::default(), |all, part| all.and(part));
    let mut all = Vec::with_capacity(mine.len());
    for features in mine.chunks(FEATURES_AT_ONCE) {
        let (_, everyone) = exchange(together, Ok(features), |features| features.to_vec())?;
        let of_all = |at: usize| {
            let first = (Counts::default(), Feature::default());
            let parts = counts.iter().zip(everyone.iter().map(|features| &features[at]));
            let (_, feature) = parts
                .fold(first, |(seen, of), (counts, part)| (seen.and(counts), of.and(&seen, part, counts)));
            feature
        };
        all.extend((0..features.len()).map(of_all));
    }
    Ok((whole, all))
}
