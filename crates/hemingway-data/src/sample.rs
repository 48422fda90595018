//! A part of the rows, chosen at random: small data that behaves like large data.
//!
//! Each class gives the same share of its rows. With one seed a smaller sample is part of every larger one, so what
//! changes from one to the next is the size alone.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Dataset, Dense, Fingerprint, Labels, Matrix, Sparse};

impl Dataset {
    /// This share of the rows, in their order; at least one of each class.
    ///
    /// # Panics
    /// When the fraction is not above 0 and at most 1.
    pub fn sample(&self, fraction: f64, seed: u64) -> Dataset {
        assert!(fraction > 0.0 && fraction <= 1.0, "a fraction of {fraction}");
        let rows = sampled_rows(self.matrix.rows(), &self.targets, &self.labels, fraction, seed);
        let sample = self.rows_at(&rows);
        let weights = sample.weights.as_deref();
        let fingerprint = Fingerprint::of(&sample.matrix, &sample.features, &sample.targets, weights);
        Dataset { fingerprint, ..sample }
    }

    /// These rows, in this order; the fingerprint is that of nothing.
    pub fn rows_at(&self, rows: &[usize]) -> Dataset {
        Dataset {
            name: self.name.clone(),
            matrix: self.matrix.select(rows),
            features: self.features.clone(),
            targets: rows.iter().filter_map(|&row| self.targets.get(row)).copied().collect(),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            labels: self.labels.clone(),
            encoding: self.encoding.clone(),
            fingerprint: Fingerprint::default(),
        }
    }

    /// All rows in an order that depends on the seed alone. What was proved of the data holds for any order, but a state of
    /// training belongs to this one, and so does the fingerprint.
    pub fn shuffled(&self, seed: u64) -> Dataset {
        let mut rows: Vec<usize> = (0..self.matrix.rows()).collect();
        rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let fingerprint = self.fingerprint.treated(&format!("shuffled rows with seed {seed}"));
        Dataset { fingerprint, ..self.rows_at(&rows) }
    }
}

/// A share of the rows with these targets, in their order; at least one of each class.
pub(crate) fn sampled_rows(
    rows: usize,
    targets: &[f32],
    labels: &Labels,
    fraction: f64,
    seed: u64,
) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut sampled = Vec::new();
    for mut rows in strata(rows, targets, labels) {
        rows.shuffle(&mut random);
        let count = (rows.len() as f64 * fraction).round() as usize;
        rows.truncate(count.max(1));
        sampled.append(&mut rows);
    }
    sampled.sort_unstable();
    sampled
}

/// The rows of each class; all together where targets are numbers.
fn strata(rows: usize, targets: &[f32], labels: &Labels) -> Vec<Vec<usize>> {
    let rows = 0..rows;
    let mut strata = match labels {
        Labels::Classes { .. } => {
            let (positive, others) = rows.partition(|&row| targets[row] > 0.0);
            vec![positive, others]
        }
        Labels::Several(names) => {
            let mut classes = vec![Vec::new(); names.len()];
            rows.for_each(|row| classes[targets[row] as usize].push(row));
            classes
        }
        Labels::Numbers => vec![rows.collect()],
    };
    strata.retain(|rows| !rows.is_empty());
    strata
}

impl Matrix {
    /// These rows, in this order.
    fn select(&self, rows: &[usize]) -> Matrix {
        match self {
            Matrix::Sparse(sparse) => Matrix::Sparse(sparse.select(rows)),
            Matrix::Dense(dense) => Matrix::Dense(dense.select(rows)),
        }
    }
}

impl Sparse {
    fn select(&self, rows: &[usize]) -> Sparse {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            let stored = self.offsets()[row]..self.offsets()[row + 1];
            indices.extend_from_slice(&self.indices()[stored.clone()]);
            values.extend_from_slice(&self.values()[stored]);
            offsets.push(indices.len());
        }
        Sparse::trusted(self.columns(), offsets, indices, values)
    }
}

impl Dense {
    fn select(&self, rows: &[usize]) -> Dense {
        let width = self.columns();
        let values = rows.iter().flat_map(|row| &self.values()[row * width..(row + 1) * width]);
        Dense::trusted(rows.len(), width, values.copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, load};

    fn data(spec: &str) -> Dataset {
        load(spec, &LoadOptions::default()).unwrap()
    }

    fn rows_of(data: &Dataset, fraction: f64, seed: u64) -> Vec<usize> {
        sampled_rows(data.matrix.rows(), &data.targets, &data.labels, fraction, seed)
    }

    fn share_of_positives(data: &Dataset) -> f64 {
        data.targets.iter().filter(|target| **target > 0.0).count() as f64 / data.targets.len() as f64
    }

    #[test]
    fn a_sample_has_its_share_of_each_class() {
        for spec in ["synthetic:separable,rows=1000,features=5", "embedded:mnist"] {
            let all = data(spec);
            let tenth = all.sample(0.1, 7);
            assert_eq!(tenth.matrix.rows(), all.matrix.rows() / 10);
            assert_eq!(tenth.matrix.columns(), all.matrix.columns());
            assert!((share_of_positives(&tenth) - share_of_positives(&all)).abs() < 0.01);
        }
    }

    #[test]
    fn smaller_samples_are_part_of_larger_ones() {
        let all = data("synthetic:separable,rows=300,features=5");
        let [small, large] = [0.1, 0.5].map(|fraction| rows_of(&all, fraction, 3));
        assert!(small.iter().all(|row| large.contains(row)));
        assert_ne!(small, rows_of(&all, 0.1, 4));
    }

    #[test]
    fn shuffled_rows_are_the_same_rows_with_their_labels() {
        for spec in ["synthetic:separable,rows=200,features=3", "synthetic:text,rows=200,features=300"] {
            let all = data(spec);
            let shuffled = all.shuffled(7);
            assert_eq!(shuffled, all.shuffled(7), "the same seed, the same order");
            assert_ne!(shuffled.matrix, all.shuffled(8).matrix);
            let pairs = |data: &Dataset| {
                let row = |row: usize| format!("{:?}", data.rows_at(&[row]));
                let mut pairs: Vec<String> = (0..200).map(row).collect();
                let given = pairs.clone();
                pairs.sort_unstable();
                (pairs, given)
            };
            let ((rows, given), (same, order)) = (pairs(&all), pairs(&shuffled));
            assert_eq!(rows, same);
            assert_ne!(given, order);
            assert_eq!(all.fingerprint.difference(&shuffled.fingerprint), Some(crate::Difference::Treatment));
        }
    }

    #[test]
    fn all_rows_are_the_data_itself_and_nearly_none_still_has_both_classes() {
        let all = data("embedded:mnist");
        assert_eq!(all.sample(1.0, 5), all);
        assert_eq!(all.sample(1e-9, 5).targets.len(), 2);
    }
}
