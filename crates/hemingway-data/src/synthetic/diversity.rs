//! The same amount of data with less and less diversity: quarters of text-like rows, some of them repeated.
//!
//! After "Dataset Matters" (see the catalogue), which repeats quarters of a real text dataset. A quarter is repeated by starting
//! its randomness over, so nothing is kept.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Request;
use super::rows::Rows;
use super::similarity::is_positive;
use super::text::Language;
use crate::{Error, shard};

/// Four quarters of the rows, by number: equal numbers are equal rows.
pub(super) fn quarters(request: &Request, quarters: [u64; 4], rows: &mut Rows) -> Result<(), Error> {
    let mut language = Language::new(request);
    for (place, quarter) in quarters.into_iter().enumerate() {
        let seed = request.seed.wrapping_mul(4).wrapping_add(quarter);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in shard(request.rows, 4, place) {
            let document = language.document(&mut rng);
            let positive = is_positive(document.iter().copied());
            rows.push(request.features, document.into_iter(), positive)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::{LoadOptions, Matrix, load};

    fn check(name: &str, distinct: usize) {
        let dataset =
            load(&format!("synthetic:{name},rows=400,features=5000,density=0.01"), &LoadOptions::default())
                .unwrap();
        let Matrix::Sparse(sparse) = &dataset.matrix else { panic!("sparse") };
        let rows: HashSet<&[u32]> =
            sparse.offsets().windows(2).map(|row| &sparse.indices()[row[0]..row[1]]).collect();
        assert_eq!(rows.len(), distinct, "{name}");
    }

    #[test]
    fn quarters_repeat() {
        check("diversity-low", 100);
        check("diversity-middle", 200);
        check("diversity-high", 400);
    }
}
