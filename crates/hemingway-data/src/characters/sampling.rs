//! Some of the rows of all workers, on every worker: what is computed from them is the same for all, and for one worker
//! who has all rows.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::View;
use crate::together::exchange;
use crate::{Dataset, Dense, Error, Fingerprint, Matrix, Part, Sparse, Together};

/// Some rows of a dataset, wherever they were.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rows {
    /// The places of the rows among all, in ascending order,
    places: Vec<usize>,
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    targets: Vec<f32>,
    /// None where the data has none.
    weights: Vec<f32>,
}

/// The non-zero values of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub indices: &'a [u32],
    pub values: &'a [f32],
}

/// What a worker has of the rows that are wanted.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Mine {
    lengths: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<f32>,
    targets: Vec<f32>,
    weights: Vec<f32>,
}

impl Rows {
    /// The rows at these places, which everyone names alike.
    pub(crate) fn at(
        mut places: Vec<usize>,
        view: &View,
        together: &mut dyn Together,
    ) -> Result<Rows, Error> {
        places.sort_unstable();
        places.dedup();
        let here = places.iter().filter_map(|place| place.checked_sub(view.first_row));
        let mine = Mine::of(view.data, here.filter(|row| *row < view.data.matrix.rows()));
        let (_, everyone) = match together.size() {
            1 => ((), vec![mine]),
            _ => {
                let (_, everyone) = exchange(together, Ok(&mine), |mine| (*mine).clone())?;
                ((), everyone)
            }
        };
        let mut rows = Rows { places, offsets: vec![0], ..Rows::default() };
        for part in everyone {
            let mut end = rows.indices.len();
            rows.offsets.extend(part.lengths.iter().map(|length| {
                end += *length as usize;
                end
            }));
            rows.indices.extend(part.indices);
            rows.values.extend(part.values);
            rows.targets.extend(part.targets);
            rows.weights.extend(part.weights);
        }
        Ok(rows)
    }

    /// The row that was at this place among all; it has to be one of these.
    pub(crate) fn row(&self, place: usize) -> Row<'_> {
        self.nth(self.places.binary_search(&place).expect("a row that was asked for"))
    }

    /// One of these rows, counted from 0.
    pub(crate) fn nth(&self, at: usize) -> Row<'_> {
        let stored = self.offsets[at]..self.offsets[at + 1];
        Row { indices: &self.indices[stored.clone()], values: &self.values[stored] }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// As a dataset that is stored as the one it came from.
    fn into_dataset(self, from: &Dataset) -> Dataset {
        let columns = from.matrix.columns();
        let matrix = match from.matrix {
            Matrix::Sparse(_) => {
                Matrix::Sparse(Sparse::trusted(columns, self.offsets, self.indices, self.values))
            }
            Matrix::Dense(_) => {
                let mut values = vec![0.0; self.len() * columns];
                for at in 0..self.len() {
                    let row = self.nth(at);
                    for (index, value) in row.indices.iter().zip(row.values) {
                        values[at * columns + *index as usize] = *value;
                    }
                }
                Matrix::Dense(Dense::trusted(self.len(), columns, values))
            }
        };
        Dataset {
            name: from.name.clone(),
            matrix,
            features: from.features.clone(),
            targets: self.targets,
            weights: from.weights.as_ref().map(|_| self.weights),
            labels: from.labels.clone(),
            encoding: from.encoding.clone(),
            fingerprint: Fingerprint::default(),
        }
    }
}

impl Mine {
    fn of(data: &Dataset, rows: impl Iterator<Item = usize>) -> Mine {
        let mut mine = Mine::default();
        for row in rows {
            let before = mine.indices.len();
            let mut push = |index: u32, value: f32| {
                if value != 0.0 {
                    mine.indices.push(index);
                    mine.values.push(value);
                }
            };
            match &data.matrix {
                Matrix::Sparse(sparse) => {
                    let stored = sparse.offsets()[row]..sparse.offsets()[row + 1];
                    let values = sparse.indices()[stored.clone()].iter().zip(&sparse.values()[stored]);
                    values.for_each(|(index, value)| push(*index, *value));
                }
                Matrix::Dense(dense) => {
                    let values = &dense.values()[row * dense.columns()..(row + 1) * dense.columns()];
                    values.iter().enumerate().for_each(|(index, value)| push(index as u32, *value));
                }
            }
            mine.lengths.push((mine.indices.len() - before) as u32);
            mine.targets.extend(data.targets.get(row));
            mine.weights.extend(data.weights.as_ref().map(|weights| weights[row]));
        }
        mine
    }
}

/// At most so many rows of a part, chosen at random, on every worker: they stand for all rows where a closer look at each
/// would take too long. Stored and ordered as in the whole; their fingerprint is that of nothing.
pub fn sample_part(
    part: &Part,
    count: usize,
    seed: u64,
    together: &mut dyn Together,
) -> Result<Dataset, Error> {
    let view = View { data: &part.dataset, first_row: part.first_row, total_rows: part.total_rows };
    sample_view(&view, count, seed, together)
}

/// As [`sample_part`] of data that one worker has as a whole.
pub fn sample_rows(data: &Dataset, count: usize, seed: u64) -> Dataset {
    sample_view(&View::whole(data), count, seed, &mut crate::together::Alone)
        .expect("nobody else is there to fail")
}

fn sample_view(view: &View, count: usize, seed: u64, together: &mut dyn Together) -> Result<Dataset, Error> {
    let places = some_of(view.total_rows, count, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
    Ok(Rows::at(places, view, together)?.into_dataset(view.data))
}

/// A random row in each of at most so many equal parts of all rows.
pub(crate) fn some_of(rows: usize, count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let count = count.min(rows);
    let start = |part: usize| (part as u128 * rows as u128 / count.max(1) as u128) as usize;
    (0..count).map(|part| random.random_range(start(part)..start(part + 1))).collect()
}

/// At most so many rows, each as likely as any other beside each other: copies may follow their originals.
pub(crate) fn any_of(rows: usize, count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    match rows <= count {
        true => (0..rows).collect(),
        false => (0..count).map(|_| random.random_range(0..rows)).collect(),
    }
}
