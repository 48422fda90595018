//! Random numbers: every one follows from the seed of a study and from what it is for.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator of this crate.
pub type Rng = Xoshiro256PlusPlus;

/// A stream of its own for each purpose and number.
pub fn stream(seed: u64, purpose: &str, number: u64) -> Rng {
    let name = purpose.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Rng::seed_from_u64(seed ^ name.rotate_left(17) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A standard normal number (Box and Muller).
pub fn normal(rng: &mut Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// So many of them.
pub fn normals(rng: &mut Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| normal(rng)).collect()
}

/// A number from 0 to 1.
pub fn uniform(rng: &mut Rng) -> f64 {
    rng.random()
}
