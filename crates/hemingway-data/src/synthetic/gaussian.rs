//! Dense data with normal features and a planted direction that tells the classes apart.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rows::Rows;
use super::{Request, planted_rng};
use crate::Error;

/// Half the gap between the classes, in standard deviations.
const MARGIN: f32 = 0.5;

/// Rows on both sides of a plane, none nearer to it than the margin.
pub(super) fn separable(request: &Request, rows: &mut Rows) -> Result<(), Error> {
    let direction = planted_direction(request.features);
    let mut rng = request.rng();
    for _ in 0..request.rows {
        let (row, positive) = separable_row(&direction, &mut rng);
        rows.push_dense(&row, positive)?;
    }
    Ok(())
}

/// Rows drawn with replacement from a few distinct ones.
pub(super) fn low_diversity(request: &Request, rows: &mut Rows) -> Result<(), Error> {
    let direction = planted_direction(request.features);
    let mut rng = request.rng();
    let distinct: Vec<_> =
        (0..request.distinct.min(request.rows)).map(|_| separable_row(&direction, &mut rng)).collect();
    for _ in 0..request.rows {
        let (row, positive) = &distinct[rng.random_range(0..distinct.len())];
        rows.push_dense(row, *positive)?;
    }
    Ok(())
}

/// A standard normal number (Box and Muller).
pub(super) fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (TAU * rng.random::<f64>()).cos()
}

fn planted_direction(features: usize) -> Vec<f32> {
    let mut rng = planted_rng();
    let direction: Vec<f64> = (0..features).map(|_| normal(&mut rng)).collect();
    let length = direction.iter().map(|value| value * value).sum::<f64>().sqrt();
    direction.iter().map(|value| (value / length) as f32).collect()
}

/// A normal row, moved away from the plane by the margin.
fn separable_row(direction: &[f32], rng: &mut Xoshiro256PlusPlus) -> (Vec<f32>, bool) {
    let mut row: Vec<f32> = direction.iter().map(|_| normal(rng) as f32).collect();
    let score: f32 = row.iter().zip(direction).map(|(value, weight)| value * weight).sum();
    let shift = if score >= 0.0 { MARGIN } else { -MARGIN };
    row.iter_mut().zip(direction).for_each(|(value, weight)| *value += shift * weight);
    (row, score >= 0.0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{LoadOptions, Matrix, load};

    #[test]
    fn classes_have_a_gap() {
        let dataset = load("synthetic:separable,rows=500,features=30", &LoadOptions::default()).unwrap();
        let Matrix::Dense(dense) = &dataset.matrix else { panic!("dense") };
        let direction = planted_direction(30);
        for (row, target) in dense.values().chunks_exact(30).zip(&dataset.targets) {
            let score: f32 = row.iter().zip(&direction).map(|(value, weight)| value * weight).sum();
            assert!(score * target > MARGIN - 1e-4);
        }
    }

    #[test]
    fn distinct_rows_are_few() {
        let dataset =
            load("synthetic:low-diversity,rows=500,features=9,distinct=7", &LoadOptions::default()).unwrap();
        let Matrix::Dense(dense) = &dataset.matrix else { panic!("dense") };
        let distinct: HashSet<Vec<u32>> = dense
            .values()
            .chunks_exact(9)
            .map(|row| row.iter().map(|value| value.to_bits()).collect())
            .collect();
        assert_eq!(distinct.len(), 7);
    }
}
