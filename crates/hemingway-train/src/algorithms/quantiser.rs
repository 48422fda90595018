//! Vectors as bytes: as they are, or rounded to a few levels.
//!
//! A number of `bits` bits is one of 2^bits - 1 levels, evenly spaced and as many below zero as above: with 2 bits the
//! sign or zero. Each block of numbers has its own scale, the largest size in it, and a number between two levels goes up or
//! down at random, such that it is right in the mean (as in QSGD, Alistarh et al. 2017, by the largest number instead of the
//! norm). Packed, a number takes its bits and half a bit for the scale.

use rand::RngExt;

use crate::Rng;

/// Numbers that share a scale. Fewer: less noise, more bytes for scales.
const BLOCK: usize = 128;
/// What rounding and packing a number costs, and getting it back, in operations.
const ENCODING_FLOPS: f64 = 12.0;
const DECODING_FLOPS: f64 = 4.0;

/// How vectors travel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantiser {
    /// As they are, 64 bits a number.
    Exact,
    /// Rounded to so many bits, from 2 to 32.
    Rounded(u32),
}

impl Quantiser {
    pub(crate) fn new(bits: Option<usize>) -> Quantiser {
        bits.map_or(Quantiser::Exact, |bits| Quantiser::Rounded(bits as u32))
    }

    /// A vector as bytes.
    pub(super) fn encode(self, numbers: &[f64], rng: &mut Rng) -> Vec<u8> {
        let bits = match self {
            Quantiser::Exact => return numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
            Quantiser::Rounded(bits) => bits,
        };
        let mut bytes = Vec::with_capacity(self.bytes(numbers.len()));
        for block in numbers.chunks(BLOCK) {
            let scale = largest(block);
            bytes.extend(scale.to_le_bytes());
            let highest = highest(bits);
            let mut pack = Pack { bytes: &mut bytes, held: 0, count: 0 };
            for number in block {
                let level = if scale > 0.0 { highest * (number / scale) } else { 0.0 };
                let below = level.floor();
                let up = rng.random::<f64>() < level - below;
                let level = (below + f64::from(u8::from(up))).clamp(-highest, highest);
                pack.push((level + highest) as u64, bits);
            }
            pack.finish();
        }
        bytes
    }

    /// Hands on each number of a vector that was encoded, with its place.
    pub(super) fn decode(self, bytes: &[u8], length: usize, mut take: impl FnMut(usize, f64)) {
        assert_eq!(bytes.len(), self.bytes(length), "both sides agree on what a message is");
        let bits = match self {
            Quantiser::Exact => {
                let (numbers, _) = bytes.as_chunks::<8>();
                return numbers
                    .iter()
                    .enumerate()
                    .for_each(|(at, number)| take(at, f64::from_le_bytes(*number)));
            }
            Quantiser::Rounded(bits) => bits,
        };
        let mut rest = bytes;
        for first in (0..length).step_by(BLOCK) {
            let count = BLOCK.min(length - first);
            let (block, after) = rest.split_at(block_bytes(count, bits));
            let (scale, packed) = block.split_first_chunk::<8>().expect("every block has a scale");
            let (scale, highest) = (f64::from_le_bytes(*scale), highest(bits));
            let mut unpack = Unpack { bytes: packed.iter(), held: 0, count: 0 };
            for at in 0..count {
                take(first + at, scale * ((unpack.pull(bits) as f64 - highest) / highest));
            }
            rest = after;
        }
    }

    /// How many bytes a vector of so many numbers takes.
    pub(crate) fn bytes(self, numbers: usize) -> usize {
        match self {
            Quantiser::Exact => 8 * numbers,
            Quantiser::Rounded(bits) => {
                let rest = numbers % BLOCK;
                let last = if rest > 0 { block_bytes(rest, bits) } else { 0 };
                numbers / BLOCK * block_bytes(BLOCK, bits) + last
            }
        }
    }

    /// Operations to write one vector of so many numbers and read so many.
    pub(super) fn flops(self, numbers: usize, read: usize) -> f64 {
        match self {
            Quantiser::Exact => 0.0,
            Quantiser::Rounded(_) => (ENCODING_FLOPS + DECODING_FLOPS * read as f64) * numbers as f64,
        }
    }
}

fn block_bytes(numbers: usize, bits: u32) -> usize {
    8 + (numbers * bits as usize).div_ceil(8)
}

/// The highest level; the lowest one is its negative.
fn highest(bits: u32) -> f64 {
    ((1u64 << (bits - 1)) - 1) as f64
}

/// The largest size of a number; no number if there is one that is none.
fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(
        0.0,
        |largest, number| {
            if number.abs() > largest || number.is_nan() { number.abs() } else { largest }
        },
    )
}

/// Writes numbers of a few bits one after the other.
struct Pack<'a> {
    bytes: &'a mut Vec<u8>,
    held: u64,
    count: u32,
}

impl Pack<'_> {
    fn push(&mut self, value: u64, bits: u32) {
        self.held |= value << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    fn finish(self) {
        if self.count > 0 {
            self.bytes.push(self.held as u8);
        }
    }
}

/// Reads them.
struct Unpack<'a> {
    bytes: std::slice::Iter<'a, u8>,
    held: u64,
    count: u32,
}

impl Unpack<'_> {
    fn pull(&mut self, bits: u32) -> u64 {
        while self.count < bits {
            self.held |= u64::from(*self.bytes.next().expect("the length was checked")) << self.count;
            self.count += 8;
        }
        let value = self.held & ((1 << bits) - 1);
        self.held >>= bits;
        self.count -= bits;
        value
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn through(quantiser: Quantiser, numbers: &[f64], rng: &mut Rng) -> Vec<f64> {
        let bytes = quantiser.encode(numbers, rng);
        assert_eq!(bytes.len(), quantiser.bytes(numbers.len()));
        let mut back = vec![f64::NAN; numbers.len()];
        quantiser.decode(&bytes, numbers.len(), |at, number| back[at] = number);
        back
    }

    #[test]
    fn without_bits_numbers_stay_as_they_are() {
        let numbers = [0.1, -1e300, 0.0, 3.0];
        assert_eq!(through(Quantiser::Exact, &numbers, &mut Rng::seed_from_u64(1)), numbers);
        assert_eq!(Quantiser::new(None).bytes(1000), 8000);
    }

    #[test]
    fn bytes_fall_by_what_the_bits_promise() {
        for bits in [2, 3, 4, 8, 16, 32] {
            let (exact, rounded) = (Quantiser::Exact.bytes(1 << 20), Quantiser::Rounded(bits).bytes(1 << 20));
            let promised = 64.0 / (f64::from(bits) + 0.5);
            assert_eq!(exact as f64 / rounded as f64, promised, "{bits} bits");
        }
    }

    #[test]
    fn numbers_are_right_in_the_mean_and_within_a_level() {
        let mut rng = Rng::seed_from_u64(2);
        for bits in [2, 3, 5, 8, 16, 32] {
            for length in [1, 7, 128, 300] {
                let numbers: Vec<f64> = (0..length)
                    .map(|at| (0.3 + at as f64).sin() * if at < 128 { 1.0 } else { 100.0 })
                    .collect();
                let repeats = if length > 100 { 40 } else { 4000 };
                let mut sums = vec![0.0; length];
                for _ in 0..repeats {
                    let back = through(Quantiser::Rounded(bits), &numbers, &mut rng);
                    for (at, (back, number)) in back.iter().zip(&numbers).enumerate() {
                        let level =
                            largest(&numbers[at / BLOCK * BLOCK..length.min((at / BLOCK + 1) * BLOCK)])
                                / highest(bits);
                        assert!(
                            (back - number).abs() <= level * (1.0 + 1e-9),
                            "{bits} bits: {number} is {back}"
                        );
                        sums[at] += (back - number) / level;
                    }
                }
                let bias = sums.iter().sum::<f64>() / (repeats * length) as f64;
                assert!(
                    bias.abs() < 0.5 * 5.0 / ((repeats * length) as f64).sqrt(),
                    "{bits} bits: bias {bias}"
                );
            }
        }
    }

    #[test]
    fn three_levels_are_sign_and_zero() {
        let back = through(Quantiser::Rounded(2), &[0.5, -2.0, 0.0, 1.0], &mut Rng::seed_from_u64(3));
        assert!(back.iter().all(|number| [-2.0, 0.0, 2.0].contains(number)), "{back:?}");
        assert_eq!((back[1], back[2]), (-2.0, 0.0));
        assert_eq!(through(Quantiser::Rounded(2), &[0.0; 3], &mut Rng::seed_from_u64(3)), [0.0; 3]);
    }

    #[test]
    fn what_is_no_number_is_not_hidden() {
        for wrong in [f64::NAN, f64::INFINITY] {
            let back = through(Quantiser::Rounded(8), &[1.0, wrong, 2.0], &mut Rng::seed_from_u64(4));
            assert!(back.iter().any(|number| !number.is_finite()), "{back:?}");
        }
    }
}
