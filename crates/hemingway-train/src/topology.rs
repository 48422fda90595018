//! Who talks to whom where workers only know neighbours, and how they mix what they hear.
//!
//! Worker i goes on from Σ_j W_ij x_j. The mixing matrix W is symmetric and doubly stochastic, so that mixing leaves the
//! mean over all workers as it is, and differences between them fade if they are connected. In the shapes with names all
//! neighbours and the worker itself have the same weight; any other matrix comes from a file.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;

/// Who talks to whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// Everyone with two neighbours.
    Ring,
    /// Everyone with four, on a grid whose edges meet.
    Torus,
    /// Everyone with everyone.
    Complete,
    /// As a matrix says.
    Given(Mixing),
}

/// A mixing matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mixing {
    rows: Vec<Vec<f64>>,
}

/// One worker's neighbours, and the weight of each.
pub(crate) type Neighbours = Vec<(usize, f64)>;

impl Topology {
    /// One of the names, or a file with a matrix.
    pub fn read(text: &str) -> Result<Topology, Error> {
        match text {
            "ring" => Ok(Topology::Ring),
            "torus" => Ok(Topology::Torus),
            "complete" => Ok(Topology::Complete),
            file => {
                let failed = |error: std::io::Error| Error::Topology {
                    file: file.to_owned(),
                    message: format!("{error}; --topology is ring, torus, complete or such a file"),
                };
                let text = std::fs::read_to_string(Path::new(file)).map_err(failed)?;
                Ok(Topology::Given(Mixing::parse(file, &text)?))
            }
        }
    }

    /// How many workers it is for, if not any number.
    pub fn workers(&self) -> Option<usize> {
        match self {
            Topology::Given(matrix) => Some(matrix.rows.len()),
            Topology::Ring | Topology::Torus | Topology::Complete => None,
        }
    }

    /// Whether it is for so many workers.
    pub(crate) fn check(&self, workers: usize) -> Result<(), Error> {
        match self.workers() {
            Some(rows) if rows != workers => Err(Error::TopologySize { rows, workers }),
            _ => Ok(()),
        }
    }

    /// How many neighbours a worker has at most.
    pub(crate) fn most_neighbours(&self, workers: usize) -> usize {
        // In the shapes with names all have as many.
        let ranks = 0..self.workers().unwrap_or(1);
        ranks.map(|rank| self.neighbours(rank, workers).1.len()).max().unwrap_or(0)
    }

    /// The weight of a worker's own, and its neighbours.
    pub(crate) fn neighbours(&self, rank: usize, workers: usize) -> (f64, Neighbours) {
        let near: Vec<usize> = match self {
            Topology::Given(matrix) => return matrix.neighbours(rank),
            Topology::Ring => vec![(rank + 1) % workers, (rank + workers - 1) % workers],
            Topology::Torus => torus(rank, workers),
            Topology::Complete => (0..workers).collect(),
        };
        let mut others: Vec<usize> = near.into_iter().filter(|other| *other != rank).collect();
        others.sort_unstable();
        others.dedup();
        let weight = 1.0 / (others.len() + 1) as f64;
        (weight, others.into_iter().map(|other| (other, weight)).collect())
    }
}

/// The four places around one on a grid that is as square as it can be.
fn torus(rank: usize, workers: usize) -> Vec<usize> {
    let rows = (1..=workers.isqrt()).rev().find(|rows| workers.is_multiple_of(*rows)).unwrap_or(1);
    let columns = workers / rows;
    let (row, column) = (rank / columns, rank % columns);
    let at = |row: usize, column: usize| (row % rows) * columns + column % columns;
    vec![at(row, column + 1), at(row, column + columns - 1), at(row + 1, column), at(row + rows - 1, column)]
}

impl Mixing {
    /// Rows of numbers or fractions, a line each, with blanks or commas between; the rest of a line after # is a comment.
    pub fn parse(file: &str, text: &str) -> Result<Mixing, Error> {
        let error = |message: String| Err(Error::Topology { file: file.to_owned(), message });
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        for (at, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let words = content.split([' ', '\t', ',', ';', '\r']).filter(|word| !word.is_empty());
            let mut row = Vec::new();
            for word in words {
                match number(word) {
                    Some(value) => row.push(value),
                    None => {
                        return error(format!("line {}: `{word}` is no number and no fraction", at + 1));
                    }
                }
            }
            if !row.is_empty() {
                rows.push(row);
                lines.push(at + 1);
            }
        }
        let matrix = Mixing { rows };
        matrix.complaint(&lines).map_or(Ok(matrix), error)
    }

    /// What is wrong with it, if anything; its rows are from these lines.
    fn complaint(&self, lines: &[usize]) -> Option<String> {
        let rows = &self.rows;
        if rows.is_empty() {
            return Some("there are no numbers in it; write a row for each worker".to_owned());
        }
        for (row, line) in rows.iter().zip(lines) {
            if row.len() != rows.len() {
                let (here, count) = (row.len(), rows.len());
                return Some(format!("line {line} has {here} numbers, but there are {count} rows"));
            }
            if let Some(at) = row.iter().position(|value| *value < 0.0) {
                return Some(format!("line {line}, number {}: {} is negative", at + 1, row[at]));
            }
            let sum: f64 = row.iter().sum();
            if (sum - 1.0).abs() > TOLERANCE {
                return Some(format!(
                    "line {line} adds up to {sum}, not to 1; fractions like 1/3 are read exactly"
                ));
            }
        }
        for (i, row) in rows.iter().enumerate() {
            if let Some(j) = (0..i).find(|j| (row[*j] - rows[*j][i]).abs() > TOLERANCE) {
                return Some(format!(
                    "it is not symmetric: line {}, number {} is {}, but line {}, number {} is {}",
                    lines[i],
                    j + 1,
                    row[j],
                    lines[j],
                    i + 1,
                    rows[j][i]
                ));
            }
        }
        let sides = self.sides();
        if let Some(apart) = sides.iter().position(Option::is_none) {
            return Some(format!(
                "it is not connected: nothing leads from worker 1 (line {}) to worker {} (line {})",
                lines[0],
                apart + 1,
                lines[apart]
            ));
        }
        self.swings(&sides).then(|| {
            format!(
                "line {}, number 1 is 0, and so is all of the diagonal: the workers fall into two groups that hear only \
                 each other, swap their weights and drift apart for ever; give workers some weight of their own, like \
                 1/3",
                lines[0]
            )
        })
    }

    /// For each worker, whether it is an even number of steps from the first; nothing where nothing leads.
    fn sides(&self) -> Vec<Option<bool>> {
        let mut sides = vec![None; self.rows.len()];
        sides[0] = Some(true);
        let mut next = vec![0];
        while let Some(from) = next.pop() {
            for (to, _) in self.neighbours(from).1 {
                if sides[to].is_none() {
                    sides[to] = sides[from].map(|side: bool| !side);
                    next.push(to);
                }
            }
        }
        sides
    }

    /// Whether -1 is an eigenvalue: no worker hears its own side.
    fn swings(&self, sides: &[Option<bool>]) -> bool {
        self.rows.len() > 1
            && self.rows.iter().enumerate().all(|(i, row)| {
                row.iter().zip(sides).all(|(weight, side)| *weight == 0.0 || *side != sides[i])
            })
    }

    fn neighbours(&self, rank: usize) -> (f64, Neighbours) {
        let row = &self.rows[rank];
        let others = row.iter().copied().enumerate();
        (row[rank], others.filter(|(other, weight)| *other != rank && *weight > 0.0).collect())
    }

    /// Any rows, for tests of what happens without the checks.
    #[cfg(test)]
    pub(crate) fn unchecked(rows: Vec<Vec<f64>>) -> Mixing {
        Mixing { rows }
    }
}

/// Rounding in sums of what was written.
const TOLERANCE: f64 = 1e-9;

fn number(word: &str) -> Option<f64> {
    let value = match word.split_once('/') {
        Some((over, under)) => over.parse::<f64>().ok()? / under.parse::<f64>().ok()?,
        None => word.parse().ok()?,
    };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        Mixing::parse("w.txt", text).unwrap_err().to_string()
    }

    #[test]
    fn shapes_with_names_mix_to_the_mean() {
        for topology in [Topology::Ring, Topology::Torus, Topology::Complete] {
            for workers in [1, 2, 3, 4, 6, 7, 9, 12, 16] {
                let row = |rank: usize| {
                    let (own, others) = topology.neighbours(rank, workers);
                    let mut row = vec![0.0; workers];
                    row[rank] = own;
                    others.into_iter().for_each(|(other, weight)| row[other] = weight);
                    row
                };
                let matrix = Mixing { rows: (0..workers).map(row).collect() };
                let lines: Vec<usize> = (1..=workers).collect();
                assert_eq!(matrix.complaint(&lines), None, "{topology:?} of {workers}");
            }
        }
    }

    #[test]
    fn a_ring_has_two_neighbours_and_a_torus_four() {
        let others = |topology: Topology, rank, workers| -> Vec<usize> {
            topology.neighbours(rank, workers).1.into_iter().map(|(other, _)| other).collect()
        };
        assert_eq!(others(Topology::Ring, 0, 5), [1, 4]);
        assert_eq!(others(Topology::Ring, 1, 2), [0]);
        assert!(others(Topology::Ring, 0, 1).is_empty());
        assert_eq!(others(Topology::Torus, 0, 12), [1, 3, 4, 8]);
        assert_eq!(others(Topology::Torus, 0, 7), [1, 6]);
        assert_eq!(others(Topology::Complete, 1, 3), [0, 2]);
        assert_eq!(Topology::Ring.neighbours(0, 2).0, 0.5);
        assert_eq!(Topology::Ring.neighbours(0, 9).0, 1.0 / 3.0);
    }

    #[test]
    fn a_matrix_is_read_with_fractions_and_comments() {
        let matrix =
            Mixing::parse("w.txt", "# a path\n2/3, 1/3 0\n\n1/3 1/3 1/3 # middle\n0 1/3 2/3\n").unwrap();
        assert_eq!(matrix.neighbours(0), (2.0 / 3.0, vec![(1, 1.0 / 3.0)]));
        assert_eq!(matrix.neighbours(1).1.len(), 2);
        let topology = Topology::Given(matrix);
        assert!(topology.check(3).is_ok());
        let refused = topology.check(4).unwrap_err().to_string();
        assert_eq!(refused, "the mixing matrix is for 3 workers, not for 4; use --workers 3");
    }

    #[test]
    fn what_is_wrong_with_a_matrix_is_said_with_its_place() {
        assert_eq!(complaint("1 x"), "mixing matrix w.txt: line 1: `x` is no number and no fraction");
        assert_eq!(complaint("1/0"), "mixing matrix w.txt: line 1: `1/0` is no number and no fraction");
        assert!(complaint("# nothing\n").contains("there are no numbers"));
        assert!(complaint("0.5 0.5\n\n1\n").ends_with("line 3 has 1 numbers, but there are 2 rows"));
        assert!(complaint("1.5 -0.5\n-0.5 1.5").ends_with("line 1, number 2: -0.5 is negative"));
        assert!(complaint("0.5 0.4\n0.4 0.6").contains("line 1 adds up to 0.9, not to 1"));
        let turned = complaint("0.5 0.5 0\n0 0.5 0.5\n0.5 0 0.5");
        assert!(
            turned.ends_with("not symmetric: line 2, number 1 is 0, but line 1, number 2 is 0.5"),
            "{turned}"
        );
        let apart = complaint("1/2 1/2 0 0\n1/2 1/2 0 0\n0 0 1/2 1/2\n0 0 1/2 1/2");
        assert!(apart.ends_with("nothing leads from worker 1 (line 1) to worker 3 (line 3)"), "{apart}");
    }

    #[test]
    fn even_rings_without_weights_of_their_own_are_refused() {
        let even = complaint("0 .5 0 .5\n.5 0 .5 0\n0 .5 0 .5\n.5 0 .5 0");
        assert!(even.contains("line 1, number 1 is 0") && even.contains("drift apart for ever"), "{even}");
        // On an odd ring nobody's neighbours are all on the other side.
        assert!(Mixing::parse("w.txt", "0 .5 .5\n.5 0 .5\n.5 .5 0").is_ok());
        assert!(Mixing::parse("w.txt", "0 1\n1 0").is_err());
        assert!(Mixing::parse("w.txt", "1").is_ok());
    }
}
