//! What a dataset contains, in three numbers: a proof holds for the data it was made on, and for no other.
//!
//! Each row is hashed while it is in the cache of whoever parsed it. Row hashes are put together as the digits of one
//! number modulo a prime, so that the order of rows counts, and so that the hash of two pieces follows from the hashes of
//! each: pieces can be as large as parsers and ranks like. Zeros that are stored, the storage, the format and the name of the
//! file do not count. This tells other data from the same, by chance alike once in 2⁶⁰; it does not withstand malice.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Features, Matrix};

/// What a dataset contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint {
    /// Features: how many there are, and every value.
    values: u64,
    /// One target per row, and its weight where rows have one.
    targets: u64,
    /// What was done to all that since it was read.
    treatment: u64,
}

/// What two datasets differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// Feature values, or their order.
    Values,
    /// Labels or weights, or their order.
    Targets,
    /// Both of these.
    ValuesAndTargets,
    /// What was read is the same; what was done to it is not.
    Treatment,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Difference::Values => "feature values differ, labels are the same",
            Difference::Targets => "labels or weights differ, feature values are the same",
            Difference::ValuesAndTargets => "feature values and labels differ",
            Difference::Treatment => "scaling, sampling or order differs, the values read are the same",
        })
    }
}

impl Fingerprint {
    /// Of rows and targets that were hashed piece by piece, with this number of columns.
    pub(crate) fn new(rows: RowHash, targets: TargetHash, columns: usize) -> Fingerprint {
        let shape = mix(rows.rows ^ KEYS[0], columns as u64 ^ KEYS[1]);
        Fingerprint { values: mix(rows.hash ^ KEYS[2], shape), targets: targets.0, treatment: 0 }
    }

    /// Of data that is in memory: the same as if it had been read from a file.
    pub fn of(matrix: &Matrix, features: &Features, targets: &[f32], weights: Option<&[f32]>) -> Fingerprint {
        let mut rows = RowHash::default();
        let all = || (0..matrix.columns() as u32).collect();
        let feature: Vec<u32> = features.used.clone().unwrap_or_else(all);
        let mut push = |row: &mut dyn Iterator<Item = (usize, f32)>| {
            let row = row.filter(|(_, value)| *value != 0.0);
            let (indices, values): (Vec<u32>, Vec<f32>) =
                row.map(|(column, value)| (feature[column], value)).unzip();
            rows.push(&indices, &values);
        };
        match matrix {
            Matrix::Sparse(sparse) => {
                for bounds in sparse.offsets().windows(2) {
                    let row = bounds[0]..bounds[1];
                    let columns = sparse.indices()[row.clone()].iter().map(|&column| column as usize);
                    push(&mut columns.zip(sparse.values()[row].iter().copied()));
                }
            }
            Matrix::Dense(dense) => {
                for row in dense.values().chunks_exact(dense.columns().max(1)) {
                    push(&mut row.iter().copied().enumerate());
                }
            }
        }
        Fingerprint::new(rows, TargetHash::of(0, targets, weights), features.count)
    }

    /// The same data after something was done to it.
    pub fn treated(self, how: &str) -> Fingerprint {
        let bytes =
            how.bytes().fold(how.len() as u64, |hash, byte| mix(hash ^ KEYS[0], u64::from(byte) ^ KEYS[1]));
        Fingerprint { treatment: mix(self.treatment ^ KEYS[2], bytes ^ KEYS[3]), ..self }
    }

    /// The same rows with one of so many classes as +1 and the rest as -1, for each class in turn. `classes` has the number
    /// of each row's class, whose hash is here; what rows weigh stays as it is.
    pub(crate) fn against_the_rest(self, classes: &[f32], count: usize) -> Vec<Fingerprint> {
        let alone = |row: usize, target: f32| TargetHash::of(row, &[target], None).0;
        let mut all_rest = self.targets.wrapping_sub(TargetHash::of(0, classes, None).0);
        let mut differences = vec![0u64; count];
        for (row, class) in classes.iter().enumerate() {
            let rest = alone(row, -1.0);
            all_rest = all_rest.wrapping_add(rest);
            let difference = &mut differences[*class as usize];
            *difference = difference.wrapping_add(alone(row, 1.0)).wrapping_sub(rest);
        }
        let targets = differences.into_iter().map(|difference| all_rest.wrapping_add(difference));
        targets.map(|targets| Fingerprint { targets, ..self }).collect()
    }

    /// The same with the targets of another dataset.
    pub fn with_targets_of(self, other: Fingerprint) -> Fingerprint {
        Fingerprint { targets: other.targets, ..self }
    }

    /// What was read, before anything was done to it.
    pub fn untreated(self) -> Fingerprint {
        Fingerprint { treatment: 0, ..self }
    }

    /// What is different in another dataset, if anything is.
    pub fn difference(&self, other: &Fingerprint) -> Option<Difference> {
        match (self.values == other.values, self.targets == other.targets) {
            (true, true) if self.treatment == other.treatment => None,
            (true, true) => Some(Difference::Treatment),
            (true, false) => Some(Difference::Targets),
            (false, true) => Some(Difference::Values),
            (false, false) => Some(Difference::ValuesAndTargets),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:016x}-{:016x}-{:016x}", self.values, self.targets, self.treatment)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> String {
        fingerprint.to_string()
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    fn from_str(text: &str) -> Result<Fingerprint, String> {
        let number = |part: &str| u64::from_str_radix(part, 16).ok().filter(|_| part.len() == 16);
        let parts: Option<Vec<u64>> = text.split('-').map(number).collect();
        match parts.as_deref() {
            Some(&[values, targets, treatment]) => Ok(Fingerprint { values, targets, treatment }),
            _ => Err(format!("`{text}` is no fingerprint: three groups of 16 hexadecimal digits are")),
        }
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = String;

    fn try_from(text: String) -> Result<Fingerprint, String> {
        text.parse()
    }
}

/// The hash of consecutive rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RowHash {
    hash: u64,
    rows: u64,
}

impl RowHash {
    /// Adds a row: its values, none of them zero, and where in the row they are.
    #[inline]
    pub(crate) fn push(&mut self, indices: &[u32], values: &[f32]) {
        // Two values at a time, which is one load and one product; a sum, so that pairs need not wait for one another.
        let (places, last_place) = indices.as_chunks::<2>();
        let (pairs, last) = values.as_chunks::<2>();
        let term = |place: [u32; 2], [one, two]: [f32; 2]| {
            let value = [one.to_bits(), two.to_bits()];
            mix(joined(place) ^ KEYS[0], joined(value) ^ KEYS[1])
        };
        let sum = |sum: u64, (place, pair): (&[u32; 2], &[f32; 2])| sum.wrapping_add(term(*place, *pair));
        let mut row = places.iter().zip(pairs).fold(0, sum);
        if let (&[place], &[value]) = (last_place, last) {
            row = row.wrapping_add(term([place, 0], [value, 0.0]));
        }
        self.push_hash(row);
    }

    fn push_hash(&mut self, row: u64) {
        self.hash = add(times(self.hash, BASE), mix(row ^ KEYS[2], KEYS[3]) & PRIME);
        self.rows += 1;
    }

    /// Of these rows with the next ones below them.
    pub(crate) fn above(self, next: RowHash) -> RowHash {
        RowHash {
            hash: add(times(self.hash, power(BASE, next.rows)), next.hash),
            rows: self.rows + next.rows,
        }
    }
}

/// The hash of the targets and weights of some rows, whose places are known by then: a sum, for which no row waits for
/// another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct TargetHash(u64);

impl TargetHash {
    /// Of rows from this one on.
    pub(crate) fn of(first_row: usize, targets: &[f32], weights: Option<&[f32]>) -> TargetHash {
        let sum = |numbers: &[f32], [one, other]: [u64; 2]| {
            let term = |row: u64, number: &f32| mix(row ^ one, u64::from(number.to_bits()) ^ other);
            let terms = (first_row as u64..).zip(numbers).map(|(row, number)| term(row, number));
            TargetHash(terms.fold(0, u64::wrapping_add))
        };
        let targets = sum(targets, [KEYS[0], KEYS[1]]);
        weights.map_or(targets, |weights| targets.and(sum(weights, [KEYS[2], KEYS[3]])))
    }

    /// Of these rows and others.
    pub(crate) fn and(self, others: TargetHash) -> TargetHash {
        TargetHash(self.0.wrapping_add(others.0))
    }
}

/// 2⁶¹ − 1: remainders by it are a shift and an addition.
const PRIME: u64 = (1 << 61) - 1;
/// Any number below the prime that is not small will do.
const BASE: u64 = 0x0bad_5eed_1357_9bdf;
/// Digits of π: numbers without a pattern.
const KEYS: [u64; 4] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];

/// Both halves of the product of two numbers, folded: changes anywhere show everywhere.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// Two numbers as one, the first in the lower half: what shifts would do, but with one load where compilers take two.
#[inline]
fn joined(pair: [u32; 2]) -> u64 {
    // SAFETY: both are eight bytes, and all of them are a number.
    let joined: u64 = unsafe { std::mem::transmute(pair) };
    if cfg!(target_endian = "big") { joined.rotate_left(32) } else { joined }
}

#[inline]
fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    let sum = (sum & PRIME) + (sum >> 61);
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[inline]
fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    add((product & u128::from(PRIME)) as u64, (product >> 61) as u64)
}

fn power(base: u64, exponent: u64) -> u64 {
    let (mut result, mut square, mut left) = (1, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = times(result, square);
        }
        square = times(square, square);
        left >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dense, Format, LoadOptions, Sparse, load::parse_blocks};

    fn of(text: &str, block: usize) -> Fingerprint {
        parse_blocks(Format::Libsvm, text.as_bytes(), block, &LoadOptions::default())
            .unwrap()
            .dataset
            .fingerprint
    }

    const TEXT: &str = "1 1:0.5 3:2\n-1 2:1\n1\n-1 1:-0.5 2:0 3:1e-3\n";

    #[test]
    fn neither_blocks_nor_storage_nor_stored_zeros_count() {
        let whole = of(TEXT, 1 << 20);
        assert_eq!(whole, of(TEXT, 1), "a block a line");
        assert_eq!(whole, of(&TEXT.replace(" 2:0", ""), 1 << 20));
        let values = vec![0.5, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -0.5, 0.0, 1e-3];
        let targets = [1.0, -1.0, 1.0, -1.0];
        let all = Features::all(3);
        assert_eq!(whole, Fingerprint::of(&Matrix::Dense(Dense::new(4, 3, values)), &all, &targets, None));
        let sparse =
            Sparse::new(3, vec![0, 2, 3, 3, 5], vec![0, 2, 1, 0, 2], vec![0.5, 2.0, 1.0, -0.5, 1e-3]);
        assert_eq!(whole, Fingerprint::of(&Matrix::Sparse(sparse), &all, &targets, None));
    }

    #[test]
    fn every_change_shows_and_is_named() {
        let whole = of(TEXT, 1 << 20);
        let differs = |text: &str| whole.difference(&of(text, 1 << 20));
        let lines: Vec<&str> = TEXT.lines().collect();
        assert_eq!(differs(TEXT), None);
        let swapped = format!("-1 1:0.5 3:2\n1 2:1\n1\n{}\n", lines[3]);
        assert_eq!(differs(&swapped), Some(Difference::Targets));
        let one_bit = TEXT.replace("1e-3", "1.0000002e-3");
        assert_eq!(differs(&one_bit), Some(Difference::Values));
        let sign = TEXT.replace("1:-0.5", "1:0.5");
        assert_eq!(differs(&sign), Some(Difference::Values));
        let exchanged = TEXT.replace("1:0.5 3:2", "1:2 3:0.5");
        assert_eq!(differs(&exchanged), Some(Difference::Values));
        let moved = TEXT.replace("2:1\n1\n", "\n1 2:1\n");
        assert_eq!(differs(&moved), Some(Difference::Values), "a value moved to the next row");
        let order = [lines[2], lines[1], lines[0], lines[3]].join("\n");
        assert_eq!(differs(&order), Some(Difference::Values), "rows 1 and 3 have the same label");
        let wider = TEXT.replace("2:0 3:1e-3", "3:1e-3 4:0");
        assert_eq!(differs(&wider), Some(Difference::Values), "one more feature, which is always 0");
        let shorter = lines[..3].join("\n");
        assert_eq!(differs(&shorter), Some(Difference::ValuesAndTargets));
        assert_eq!(whole.difference(&whole.treated("standardised")), Some(Difference::Treatment));
        assert_ne!(whole.treated("a").treated("b"), whole.treated("b").treated("a"));
    }

    #[test]
    fn as_text_and_back() {
        let one = of(TEXT, 1 << 20).treated("a");
        assert_eq!(one.to_string().parse(), Ok(one));
        assert_eq!(serde_json::from_str::<Fingerprint>(&serde_json::to_string(&one).unwrap()).unwrap(), one);
        for wrong in ["", "1-2-3", "0000000000000000-0000000000000000", "x"] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_joined_as_shifts_join_them() {
        for [first, second] in [[1, 2], [u32::MAX, 0], [0, u32::MAX], [0x1234_5678, 0x9abc_def0]] {
            assert_eq!(joined([first, second]), u64::from(first) | u64::from(second) << 32);
        }
    }

    #[test]
    fn remainders_are_exact() {
        let slow = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64;
        for (a, b) in [(PRIME - 1, PRIME - 1), (BASE, BASE), (0, 5), (1 << 60, 1 << 60), (PRIME - 1, 2)] {
            assert_eq!(times(a, b), slow(a, b), "{a} {b}");
        }
        assert_eq!(power(BASE, 5), times(times(times(BASE, BASE), times(BASE, BASE)), BASE));
    }
}
