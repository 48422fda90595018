//! Sparse data like text.
//!
//! A document draws words from a Zipf distribution until it has enough different ones; its length varies from document
//! to document (log-normal). A word's value is (1 + ln count) times its inverse document frequency, and rows have
//! length 1. Frequency and column number are unrelated, as with an alphabetical vocabulary.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::gaussian::normal;
use super::rows::Rows;
use super::{Request, planted_rng};
use crate::Error;

const WRONG_LABELS: f64 = 0.03;
const ZIPF_EXPONENT: f64 = 1.05;
/// Mandelbrot's offset: the most frequent words are less extreme than pure Zipf says.
const ZIPF_OFFSET: f64 = 2.7;
/// Spread of the logarithm of document lengths.
const LENGTH_SPREAD: f64 = 0.6;

/// Documents whose label is the sign of a planted weighting of their words, a few labels being wrong.
pub(super) fn text(request: &Request, rows: &mut Rows) -> Result<(), Error> {
    let mut weights_rng = planted_rng();
    let weights: Vec<f64> = (0..request.features).map(|_| normal(&mut weights_rng)).collect();
    let mut language = Language::new(request);
    let mut rng = request.rng();
    for _ in 0..request.rows {
        let document = language.document(&mut rng);
        let score: f64 =
            document.iter().map(|(word, value)| weights[*word as usize] * f64::from(*value)).sum();
        let wrong = rng.random_bool(WRONG_LABELS);
        rows.push(request.features, document.into_iter(), (score >= 0.0) != wrong)?;
    }
    Ok(())
}

/// Words with their frequencies; the same for every seed.
pub(super) struct Language {
    /// By rank of frequency: the chance of a word of this rank or a more frequent one.
    cumulative: Vec<f64>,
    /// By rank: the inverse document frequency.
    rarity: Vec<f64>,
    /// By rank: the column.
    columns: Vec<u32>,
    /// By rank: how often it is in the document being written; all 0 between documents.
    counts: Vec<u32>,
    mean_length: f64,
}

impl Language {
    pub(super) fn new(request: &Request) -> Language {
        let chances: Vec<f64> =
            (0..request.features).map(|rank| (rank as f64 + ZIPF_OFFSET).powf(-ZIPF_EXPONENT)).collect();
        let total: f64 = chances.iter().sum();
        let mean_length = (request.features as f64 * request.density).max(1.0);
        let mut sum = 0.0;
        let cumulative = chances.iter().map(|chance| (sum += chance / total, sum).1).collect();
        let rarity = chances.iter().map(|chance| (1.0 + total / (chance * mean_length)).ln()).collect();
        let mut columns: Vec<u32> = (0..request.features as u32).collect();
        columns.shuffle(&mut planted_rng());
        Language { cumulative, rarity, columns, counts: vec![0; request.features], mean_length }
    }

    /// One document: its columns in order with their values.
    pub(super) fn document(&mut self, rng: &mut Xoshiro256PlusPlus) -> Vec<(u32, f32)> {
        let ranks = self.draw_words(rng);
        let mut values: Vec<(u32, f64)> = (ranks.iter())
            .map(|&rank| (self.columns[rank], (1.0 + f64::from(self.counts[rank]).ln()) * self.rarity[rank]))
            .collect();
        ranks.iter().for_each(|rank| self.counts[*rank] = 0);
        values.sort_unstable_by_key(|(column, _)| *column);
        let length = values.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        values.into_iter().map(|(column, value)| (column, (value / length) as f32)).collect()
    }

    /// Ranks of the different words of a document, with their counts left in `counts`.
    fn draw_words(&mut self, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
        let factor = (LENGTH_SPREAD * normal(rng) - LENGTH_SPREAD * LENGTH_SPREAD / 2.0).exp();
        let different = ((self.mean_length * factor).round() as usize).clamp(1, self.counts.len());
        let mut ranks = Vec::with_capacity(different);
        for _ in 0..20 * different {
            let chance: f64 = rng.random();
            let rank = self.cumulative.partition_point(|sum| *sum < chance).min(self.counts.len() - 1);
            self.counts[rank] += 1;
            if self.counts[rank] == 1 {
                ranks.push(rank);
            }
            if ranks.len() == different {
                break;
            }
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use crate::{LoadOptions, Matrix, load};

    #[test]
    fn looks_like_text() {
        let dataset =
            load("synthetic:text,rows=2000,features=5000,density=0.01", &LoadOptions::default()).unwrap();
        let Matrix::Sparse(sparse) = &dataset.matrix else { panic!("sparse") };
        let density = sparse.values().len() as f64 / (2000.0 * 5000.0);
        assert!((0.008..0.012).contains(&density), "density {density}");
        assert!(sparse.values().iter().all(|value| *value > 0.0 && *value <= 1.0));
        for row in sparse.offsets().windows(2) {
            let length: f32 = sparse.values()[row[0]..row[1]].iter().map(|value| value * value).sum();
            assert!((length - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn few_words_are_frequent_and_many_are_rare() {
        let dataset =
            load("synthetic:text,rows=2000,features=5000,density=0.01", &LoadOptions::default()).unwrap();
        let Matrix::Sparse(sparse) = &dataset.matrix else { panic!("sparse") };
        let mut counts = vec![0; 5000];
        sparse.indices().iter().for_each(|index| counts[*index as usize] += 1);
        counts.sort_unstable();
        assert!(counts[4999] > 1500 && counts[2500] < 40, "{} {}", counts[4999], counts[2500]);
    }
}
