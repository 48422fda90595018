//! Data whose consecutive rows resemble each other more or less, and the data for upper bounds, after "Dataset
//! Matters" (see the catalogue), Table I.
//!
//! The paper's recipe is followed to the letter. For sparse rows: a share of *all* features gets new values, then
//! random features are set to zero until as many remain as in the first row.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Request;
use super::rows::Rows;
use crate::Error;

/// Range of the dense features, as in HIGGS.
const DENSE_RANGE: std::ops::Range<f32> = -4.0..3.0;

/// Rows of 0 and 1, most of them 1.
pub(super) fn upper_bound(request: &Request, rows: &mut Rows) -> Result<(), Error> {
    let mut rng = request.rng();
    for _ in 0..request.rows {
        let row: Vec<f32> =
            (0..request.features).map(|_| f32::from(u8::from(rng.random_bool(request.density)))).collect();
        rows.push_dense(&row, is_positive(entries(&row)))?;
    }
    Ok(())
}

/// Dense rows; each changes this share of the previous one's features.
pub(super) fn dense(request: &Request, share: f64, rows: &mut Rows) -> Result<(), Error> {
    let mut rng = request.rng();
    let mut row: Vec<f32> = (0..request.features).map(|_| rng.random_range(DENSE_RANGE)).collect();
    let mut order = Order::new(request.features);
    for _ in 0..request.rows {
        rows.push_dense(&row, is_positive(entries(&row)))?;
        for &feature in order.pick(count(request.features, share), &mut rng) {
            row[feature as usize] = rng.random_range(DENSE_RANGE);
        }
    }
    Ok(())
}

/// Sparse rows; each changes this share of all features of the previous one and is thinned out again.
pub(super) fn sparse(request: &Request, share: f64, rows: &mut Rows) -> Result<(), Error> {
    let mut rng = request.rng();
    let mut order = Order::new(request.features);
    let mut row = SparseRow { values: vec![0.0; request.features], present: Vec::new() };
    let stay = count(request.features, request.density);
    row.change(order.pick(stay, &mut rng), &mut rng);
    for _ in 0..request.rows {
        row.present.sort_unstable();
        let entries = || row.present.iter().map(|feature| (*feature, row.values[*feature as usize]));
        rows.push(request.features, entries(), is_positive(entries()))?;
        row.change(order.pick(count(request.features, share), &mut rng), &mut rng);
        row.thin(stay, &mut rng);
    }
    Ok(())
}

/// The sign of the row times (-1, 2, -3, 4, …); 0 counts as positive.
pub(super) fn is_positive(row: impl Iterator<Item = (u32, f32)>) -> bool {
    let term = |(index, value): (u32, f32)| {
        let weight = f64::from(index) + 1.0;
        f64::from(value) * if index % 2 == 0 { -weight } else { weight }
    };
    row.map(term).sum::<f64>() >= 0.0
}

struct SparseRow {
    values: Vec<f32>,
    /// The features that are not 0.
    present: Vec<u32>,
}

impl SparseRow {
    /// Gives new values in (0, 1] to these features.
    fn change(&mut self, features: &[u32], rng: &mut Xoshiro256PlusPlus) {
        for &feature in features {
            let value = &mut self.values[feature as usize];
            if *value == 0.0 {
                self.present.push(feature);
            }
            *value = 1.0 - rng.random::<f32>();
        }
    }

    /// Sets random features to 0 until `stay` remain.
    fn thin(&mut self, stay: usize, rng: &mut Xoshiro256PlusPlus) {
        pick(&mut self.present, stay, rng);
        for feature in self.present.drain(stay..) {
            self.values[feature as usize] = 0.0;
        }
    }
}

/// All features in some order, to pick random ones from.
struct Order(Vec<u32>);

impl Order {
    fn new(features: usize) -> Order {
        Order((0..features as u32).collect())
    }

    fn pick(&mut self, count: usize, rng: &mut Xoshiro256PlusPlus) -> &[u32] {
        pick(&mut self.0, count, rng);
        &self.0[..count]
    }
}

/// Brings `count` random items to the front (Fisher and Yates, stopped early).
fn pick(items: &mut [u32], count: usize, rng: &mut Xoshiro256PlusPlus) {
    for position in 0..count {
        let other = rng.random_range(position..items.len());
        items.swap(position, other);
    }
}

fn entries(row: &[f32]) -> impl Iterator<Item = (u32, f32)> {
    row.iter().enumerate().map(|(index, value)| (index as u32, *value))
}

fn count(features: usize, share: f64) -> usize {
    ((features as f64 * share).round() as usize).clamp(1, features)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, Matrix, load};

    fn changed(spec: &str) -> f64 {
        let dataset = load(spec, &LoadOptions::default()).unwrap();
        let Matrix::Dense(dense) = &dataset.matrix else { panic!("dense") };
        let rows: Vec<&[f32]> = dense.values().chunks_exact(dense.columns()).collect();
        let differ = rows.windows(2).map(|pair| pair[0].iter().zip(pair[1]).filter(|(a, b)| a != b).count());
        differ.sum::<usize>() as f64 / (dense.columns() * (dense.rows() - 1)) as f64
    }

    #[test]
    fn dense_rows_change_as_much_as_they_should() {
        assert!((changed("synthetic:dense-small-similarity,rows=50,features=100") - 0.1).abs() < 1e-3);
        assert!((changed("synthetic:dense-large-similarity,rows=50,features=100") - 0.9).abs() < 1e-3);
    }

    #[test]
    fn sparse_rows_keep_their_density() {
        let spec = "synthetic:sparse-large-similarity,rows=50,features=1000,density=0.02";
        let dataset = load(spec, &LoadOptions::default()).unwrap();
        let Matrix::Sparse(sparse) = &dataset.matrix else { panic!("sparse") };
        assert!(sparse.offsets().windows(2).all(|row| row[1] - row[0] == 20));
        assert!(sparse.values().iter().all(|value| (0.0..=1.0).contains(value)));
    }

    #[test]
    fn the_ruler_alternates() {
        assert!(!is_positive([(0, 1.0)].into_iter()));
        assert!(is_positive([(0, 1.0), (1, 1.0)].into_iter()));
        assert!(!is_positive([(1, 1.0), (2, 1.0)].into_iter()));
    }

    #[test]
    fn seven_in_ten_are_one() {
        let dataset = load("synthetic:upper-bound,rows=20,features=1000", &LoadOptions::default()).unwrap();
        let density = dataset.matrix.nonzeros() as f64 / 20_000.0;
        assert!((0.68..0.72).contains(&density), "{density}");
    }
}
