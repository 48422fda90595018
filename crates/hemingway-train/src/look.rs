//! What a look at some rows of the data shows: how long they are, how much they have in common, how even the classes.

use hemingway_data::{Dataset, Labels, Matrix};
use serde::{Deserialize, Serialize};

/// What planners want to know of data before anything is trained on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The mean of ‖x‖² over the rows.
    pub mean_squared_norm: f64,
    /// The largest ‖x‖² that was seen.
    pub largest_squared_norm: f64,
    /// ‖mean row‖².
    pub squared_norm_of_mean: f64,
    /// How unevenly the values that are not zero spread over the rows: the mean of their squared numbers over the square
    /// of their mean number, 1 if all rows have as many.
    pub unevenness: f64,
    /// The share of the rarer class, at most ½; ½ where targets are numbers.
    pub rare_share: f64,
}

impl Look {
    /// Looks at no more than so many rows, evenly spaced.
    pub fn at(data: &Dataset, most: usize) -> Look {
        let rows = data.matrix.rows();
        Sight::of_part(data, 0, rows, most).look(rows, most)
    }
}

/// What one worker sees of its rows. What is seen of all rows are the sums of `sums` and the largest of `largest`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sight {
    /// The sum of the rows looked at; then their squared norms, their values that are not zero and the squared numbers of
    /// these, their number, the rows of the positive class among all of this worker's rows, and the rows that have a
    /// class.
    pub sums: Vec<f64>,
    /// The largest ‖x‖².
    pub largest: f64,
}

impl Sight {
    /// Looks at this worker's share of the rows that one worker with all rows would look at.
    pub fn of_part(data: &Dataset, first_row: usize, total_rows: usize, most: usize) -> Sight {
        let step = step(total_rows, most);
        let mut sums = vec![0.0; data.matrix.columns()];
        let (mut squares, mut looked, mut largest) = (0.0, 0.0, 0.0_f64);
        let (mut values, mut squared_values) = (0.0, 0.0);
        let first = first_row.next_multiple_of(step) - first_row;
        each_row(&data.matrix, first, step, &mut |row| {
            let (mut square, mut nonzeros) = (0.0, 0_u32);
            for (column, value) in row {
                sums[column] += value;
                square += value * value;
                nonzeros += u32::from(value != 0.0);
            }
            squares += square;
            values += f64::from(nonzeros);
            squared_values += f64::from(nonzeros).powi(2);
            looked += 1.0;
            largest = largest.max(square);
        });
        let (positive, classed) = classes(data);
        sums.extend([squares, values, squared_values, looked, positive, classed]);
        Sight { sums, largest }
    }

    /// What is seen of all rows.
    pub fn look(&self, total_rows: usize, most: usize) -> Look {
        let (row, rest) = self.sums.split_last_chunk().expect("made by `of_part`");
        let [squares, values, squared_values, looked, positive, classed] = *rest;
        let looked = looked.max(1.0);
        let mean_squared_norm = squares / looked;
        let square: f64 = row.iter().map(|sum| (sum / looked).powi(2)).sum();
        // The mean of few rows is longer than that of all, by what does not cancel out.
        let partly = looked > 1.0 && step(total_rows, most) > 1;
        let missed = if partly { (mean_squared_norm - square) / (looked - 1.0) } else { 0.0 };
        let share = if classed > 0.0 { positive / classed } else { 0.5 };
        Look {
            mean_squared_norm,
            largest_squared_norm: self.largest,
            squared_norm_of_mean: (square - missed).max(0.0),
            unevenness: if values > 0.0 { looked * squared_values / (values * values) } else { 1.0 },
            rare_share: share.min(1.0 - share),
        }
    }
}

/// One of so many rows is looked at.
fn step(rows: usize, most: usize) -> usize {
    rows.div_ceil(most.max(1)).max(1)
}

/// Sees the columns and values of a row.
type Eye<'a> = dyn FnMut(&mut dyn Iterator<Item = (usize, f64)>) + 'a;

/// Calls `look` with this row and with every so many after it.
fn each_row(matrix: &Matrix, first: usize, step: usize, look: &mut Eye) {
    match matrix {
        Matrix::Sparse(sparse) => {
            for ends in sparse.offsets().windows(2).skip(first).step_by(step) {
                let indices = sparse.indices()[ends[0]..ends[1]].iter().map(|index| *index as usize);
                let values = sparse.values()[ends[0]..ends[1]].iter().map(|value| f64::from(*value));
                look(&mut indices.zip(values));
            }
        }
        Matrix::Dense(dense) => {
            for row in dense.values().chunks_exact(dense.columns().max(1)).skip(first).step_by(step) {
                look(&mut row.iter().map(|value| f64::from(*value)).enumerate());
            }
        }
    }
}

/// Rows of the positive class, and rows that have a class.
fn classes(data: &Dataset) -> (f64, f64) {
    if data.labels == Labels::Numbers {
        return (0.0, 0.0);
    }
    let positive = data.targets.iter().filter(|target| **target > 0.0).count();
    (positive as f64, data.targets.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use hemingway_data::{Dense, LoadOptions, Sparse, load, shard};

    use super::*;

    fn cut(data: &Dataset, rows: Range<usize>) -> Dataset {
        let matrix = match &data.matrix {
            Matrix::Dense(dense) => {
                let columns = dense.columns();
                let values = dense.values()[rows.start * columns..rows.end * columns].to_vec();
                Matrix::Dense(Dense::new(rows.len(), columns, values))
            }
            Matrix::Sparse(sparse) => {
                let offsets = &sparse.offsets()[rows.start..=rows.end];
                let (from, to) = (offsets[0], offsets[rows.len()]);
                let (indices, values) = (&sparse.indices()[from..to], &sparse.values()[from..to]);
                let offsets = offsets.iter().map(|offset| offset - from).collect();
                Matrix::Sparse(Sparse::new(sparse.columns(), offsets, indices.to_vec(), values.to_vec()))
            }
        };
        Dataset { matrix, targets: data.targets[rows].to_vec(), ..data.clone() }
    }

    #[test]
    fn many_see_what_one_sees() {
        for spec in ["synthetic:separable,rows=1203,features=7", "synthetic:text,rows=700,features=40"] {
            let data = load(spec, &LoadOptions::default()).unwrap();
            let rows = data.matrix.rows();
            for (workers, most) in [(1, 100), (3, 100), (4, 5000), (7, 3)] {
                let sights = (0..workers).map(|rank| {
                    let range = shard(rows, workers, rank);
                    Sight::of_part(&cut(&data, range.clone()), range.start, rows, most)
                });
                let together = sights
                    .reduce(|all, one| Sight {
                        sums: all.sums.iter().zip(&one.sums).map(|(a, b)| a + b).collect(),
                        largest: all.largest.max(one.largest),
                    })
                    .unwrap()
                    .look(rows, most);
                let alone = Look::at(&data, most);
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1e-3);
                assert!(near(together.mean_squared_norm, alone.mean_squared_norm), "{together:?}, {alone:?}");
                assert!(near(together.squared_norm_of_mean, alone.squared_norm_of_mean), "{alone:?}");
                assert_eq!(together.largest_squared_norm, alone.largest_squared_norm);
                assert_eq!((together.rare_share, together.unevenness), (alone.rare_share, alone.unevenness));
            }
        }
    }
}
