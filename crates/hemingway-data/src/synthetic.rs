//! Generated data: `synthetic:NAME,rows=…,features=…,seed=…`, the same for the same spec.
//!
//! The rule behind the labels does not depend on the seed: another seed gives other rows under the same rule, which makes it
//! a test set. The labels are -1 and +1.
//!
//! Rows come in order out of one stream of random numbers, so a worker who wants some of them generates all and keeps
//! its own. `low-diversity` also keeps its distinct rows, as many as asked for; the others keep nothing.

mod diversity;
mod gaussian;
mod rows;
mod similarity;
mod text;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Error;
use crate::assemble::{Assembler, Filled};
use crate::error::{list, nearest};
use crate::partition::Share;
use rows::Rows;

/// More generated values than this are surely a slip of the keyboard.
const MOST_VALUES: u64 = 1 << 31;
const MOST_FEATURES: usize = 100_000_000;

/// A value with its column, a value alone, and what a row has besides: where it begins, and its label.
const BYTES_PER_SPARSE_VALUE: f64 = 8.0;
const BYTES_PER_DENSE_VALUE: f64 = 4.0;
const BYTES_PER_ROW: f64 = 12.0;
/// What generators keep for each feature: words have a chance, their sum, a rarity, a weight, a column and a count.
const BYTES_PER_FEATURE: f64 = 40.0;

/// One kind of generated data.
struct Generator {
    name: &'static str,
    description: &'static str,
    defaults: Request,
    fill: fn(&Request, &mut Rows) -> Result<(), Error>,
}

/// What a spec asks for. A density or number of distinct rows of 0 is one the generator does not have.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Request {
    rows: usize,
    features: usize,
    seed: u64,
    density: f64,
    distinct: usize,
}

/// All generators. Those from `upper-bound` on are the simulated datasets of D. Cheng et al., "The Scalability for
/// Parallel Machine Learning Training Algorithm: Dataset Matters" (Table I), whose label is the sign of the row times
/// (-1, 2, -3, 4, …).
const CATALOGUE: [Generator; 11] = [
    Generator {
        name: "separable",
        description: "dense normal features, two classes with a gap between them",
        defaults: dense(10_000, 100),
        fill: gaussian::separable,
    },
    Generator {
        name: "text",
        description: "sparse like text: Zipf-distributed words, tf-idf values, rows of length 1, 3 % wrong labels",
        defaults: sparse(20_000, 10_000, 0.005),
        fill: text::text,
    },
    Generator {
        name: "low-diversity",
        description: "few distinct dense rows (distinct=), each repeated many times",
        defaults: Request { distinct: 100, ..dense(10_000, 100) },
        fill: gaussian::low_diversity,
    },
    Generator {
        name: "upper-bound",
        description: "features 0 or 1, 70 % of them 1: conflicts limit lock-free methods early",
        defaults: sparse(1_000, 20_958, 0.7),
        fill: similarity::upper_bound,
    },
    Generator {
        name: "dense-small-similarity",
        description: "features in [-4, 3]; each row changes 10 % of the previous row's",
        defaults: dense(10_000, 28),
        fill: |request, rows| similarity::dense(request, 0.1, rows),
    },
    Generator {
        name: "dense-large-similarity",
        description: "features in [-4, 3]; each row changes 90 % of the previous row's",
        defaults: dense(10_000, 28),
        fill: |request, rows| similarity::dense(request, 0.9, rows),
    },
    Generator {
        name: "sparse-small-similarity",
        description: "sparse features in [0, 1]; each row changes 10 % of all features, then is thinned out again",
        defaults: sparse(5_000, 20_958, 0.02),
        fill: |request, rows| similarity::sparse(request, 0.1, rows),
    },
    Generator {
        name: "sparse-large-similarity",
        description: "sparse features in [0, 1]; each row changes 90 % of all features, then is thinned out again",
        defaults: sparse(5_000, 20_958, 0.02),
        fill: |request, rows| similarity::sparse(request, 0.9, rows),
    },
    Generator {
        name: "diversity-low",
        description: "text-like rows, one quarter of them four times",
        defaults: sparse(20_000, 20_958, 0.0025),
        fill: |request, rows| diversity::quarters(request, [0, 0, 0, 0], rows),
    },
    Generator {
        name: "diversity-middle",
        description: "text-like rows, two quarters of them twice each",
        defaults: sparse(20_000, 20_958, 0.0025),
        fill: |request, rows| diversity::quarters(request, [0, 0, 1, 1], rows),
    },
    Generator {
        name: "diversity-high",
        description: "text-like rows, all different",
        defaults: sparse(20_000, 20_958, 0.0025),
        fill: |request, rows| diversity::quarters(request, [0, 1, 2, 3], rows),
    },
];

/// Name and one-line description of every kind of generated data, for help texts.
pub fn synthetic_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    CATALOGUE.iter().map(|generator| (generator.name, generator.description))
}

/// Generates what `request`, the part of `spec` after the colon, asks for, and keeps this share of the rows.
pub(crate) fn generate(
    spec: &str,
    request: &str,
    share: Share,
    assembler: &mut Assembler,
) -> Result<Filled, Error> {
    let (generator, request) = parse(spec, request)?;
    let wanted = share.rows(spec, request.rows)?;
    let bytes = request.bytes(wanted.len());
    assembler.options.check_memory(spec, bytes, || format!("{} rows take", wanted.len()))?;
    let (first_row, total_rows) = (wanted.start, request.rows);
    assembler.lines = first_row;
    let mut rows = Rows::new(assembler, wanted);
    (generator.fill)(&request, &mut rows)?;
    rows.finish()?;
    Ok(Filled { format: generator.name, first_row, total_rows })
}

/// Whether a spec could be generated, without doing it. For fuzzing.
#[doc(hidden)]
pub fn check_synthetic(spec: &str) -> Result<(), Error> {
    parse(spec, spec.strip_prefix("synthetic:").unwrap_or(spec)).map(drop)
}

fn parse(spec: &str, request: &str) -> Result<(&'static Generator, Request), Error> {
    let mut items = request.split(',').map(str::trim);
    let generator = find(spec, items.next().unwrap_or_default())?;
    let mut request = generator.defaults;
    for item in items {
        generator.set(spec, item, &mut request)?;
    }
    check_size(spec, &request)?;
    Ok((generator, request))
}

fn find(spec: &str, name: &str) -> Result<&'static Generator, Error> {
    static GENERATORS: [Generator; CATALOGUE.len()] = CATALOGUE;
    GENERATORS.iter().find(|generator| generator.name == name).ok_or_else(|| {
        let names: Vec<&'static str> = CATALOGUE.iter().map(|generator| generator.name).collect();
        Error::UnknownGenerator {
            spec: spec.to_string(),
            name: name.to_string(),
            nearest: nearest(name, names.iter().copied()),
            known: list(&names, names.len()),
        }
    })
}

impl Generator {
    fn set(&self, spec: &str, item: &str, request: &mut Request) -> Result<(), Error> {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        if !self.keys().contains(&key) {
            return Err(self.unknown_key(spec, key));
        }
        let bad = |expected, example: &str| Error::BadSetting {
            spec: spec.to_string(),
            key: key.to_string(),
            value: value.to_string(),
            expected,
            example: format!("{key}={example}"),
        };
        match key {
            "rows" => {
                request.rows =
                    whole(value, usize::MAX).ok_or_else(|| bad("a whole number from 1", "10000"))?
            }
            "features" => {
                let features = whole(value, MOST_FEATURES);
                request.features =
                    features.ok_or_else(|| bad("a whole number from 1 to 100000000", "1000"))?;
            }
            "seed" => request.seed = value.parse().map_err(|_| bad("a whole number", "1"))?,
            "density" => {
                let fraction = value.parse().ok().filter(|density| *density > 0.0 && *density <= 1.0);
                request.density = fraction.ok_or_else(|| bad("a fraction above 0 and at most 1", "0.01"))?;
            }
            _ => {
                request.distinct =
                    whole(value, usize::MAX).ok_or_else(|| bad("a whole number from 1", "100"))?
            }
        }
        Ok(())
    }

    fn keys(&self) -> Vec<&'static str> {
        let optional = [("density", self.defaults.density > 0.0), ("distinct", self.defaults.distinct > 0)];
        let has = optional.into_iter().filter(|(_, has)| *has).map(|(key, _)| key);
        ["rows", "features", "seed"].into_iter().chain(has).collect()
    }

    fn unknown_key(&self, spec: &str, key: &str) -> Error {
        let keys = self.keys();
        Error::UnknownKey {
            spec: spec.to_string(),
            name: self.name,
            key: key.to_string(),
            nearest: nearest(key, keys.iter().copied()),
            known: list(&keys, keys.len()),
        }
    }
}

impl Request {
    fn rng(&self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed)
    }

    /// Values in each row.
    fn per_row(&self) -> u64 {
        let share = if self.density > 0.0 { self.density } else { 1.0 };
        ((self.features as f64 * share).ceil() as u64).max(1)
    }

    /// Memory for so many rows, and for what is planted in them.
    fn bytes(&self, rows: usize) -> u64 {
        let values = self.per_row() as f64 * (rows + self.distinct.min(self.rows)) as f64;
        let per_value = if self.density > 0.0 { BYTES_PER_SPARSE_VALUE } else { BYTES_PER_DENSE_VALUE };
        (values * per_value + BYTES_PER_ROW * rows as f64 + BYTES_PER_FEATURE * self.features as f64) as u64
    }
}

/// Randomness that is the same for every seed, for the rule behind the labels.
fn planted_rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(0x5a1e_57e1)
}

fn check_size(spec: &str, request: &Request) -> Result<(), Error> {
    let per_row = request.per_row();
    let values = request.rows as u128 * u128::from(per_row);
    match values > u128::from(MOST_VALUES) {
        true => Err(Error::TooLarge {
            spec: spec.to_string(),
            rows: request.rows as u64,
            per_row,
            values,
            limit: MOST_VALUES,
        }),
        false => Ok(()),
    }
}

fn whole(text: &str, most: usize) -> Option<usize> {
    text.replace('_', "").parse().ok().filter(|number| (1..=most).contains(number))
}

const fn dense(rows: usize, features: usize) -> Request {
    Request { rows, features, seed: 0, density: 0.0, distinct: 0 }
}

const fn sparse(rows: usize, features: usize, density: f64) -> Request {
    Request { density, ..dense(rows, features) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, Matrix, load};

    fn check_error(spec: &str, parts: &[&str]) {
        let message = load(spec, &LoadOptions::default()).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "{part}\nnot in\n{message}"));
    }

    #[test]
    fn every_generator_gives_both_classes_and_repeats_itself() {
        for (name, _) in synthetic_names() {
            let spec = format!("synthetic:{name},rows=200,features=60,seed=3");
            let dataset = load(&spec, &LoadOptions::default()).unwrap();
            assert_eq!((dataset.matrix.rows(), dataset.matrix.columns()), (200, 60), "{name}");
            let positive = dataset.targets.iter().filter(|target| **target > 0.0).count();
            assert!((20..180).contains(&positive), "{name}: {positive} of 200 are positive");
            assert_eq!(load(&spec, &LoadOptions::default()).unwrap(), dataset, "{name}");
            let other = load(&spec.replace("seed=3", "seed=4"), &LoadOptions::default()).unwrap();
            assert_ne!(other.matrix, dataset.matrix, "{name}");
        }
    }

    #[test]
    fn stored_as_their_density_suggests() {
        for (name, dense) in
            [("separable", true), ("text", false), ("upper-bound", true), ("dense-small-similarity", true)]
        {
            let dataset = load(&format!("synthetic:{name},rows=100"), &LoadOptions::default()).unwrap();
            assert_eq!(matches!(dataset.matrix, Matrix::Dense(_)), dense, "{name}");
        }
    }

    #[test]
    fn test_data_can_be_generated_too() {
        let training = load("synthetic:text,rows=300,features=200", &LoadOptions::default()).unwrap();
        let options = LoadOptions {
            columns: Some(150),
            labels: Some(training.labels.clone()),
            ..LoadOptions::default()
        };
        let test = crate::load_counting("synthetic:text,rows=300,features=200,seed=9", &options).unwrap();
        assert_eq!((test.dataset.matrix.columns(), test.dataset.labels), (150, training.labels));
        assert!(test.dropped_values > 0);
    }

    #[test]
    fn mistakes_are_explained() {
        check_error("synthetic:seperable", &["“seperable”", "did you mean separable?", "diversity-high"]);
        check_error("synthetic:", &["no generated data is called “”"]);
        check_error(
            "synthetic:text,rowz=3",
            &["“text” has no setting “rowz”", "did you mean rows?", "density"],
        );
        check_error("synthetic:separable,density=0.5", &["has no setting “density”", "rows, features, seed"]);
        check_error("synthetic:text,rows=many", &["rows=many cannot be used", "rows=10000"]);
        check_error("synthetic:text,rows", &["rows= cannot be used"]);
        check_error("synthetic:text,rows=0", &["a whole number from 1"]);
        check_error("synthetic:text,features=999999999999", &["features=999999999999"]);
        check_error("synthetic:text,density=2", &["density=2 cannot be used", "at most 1"]);
        check_error("synthetic:text,density=nan", &["density=nan"]);
        check_error("synthetic:low-diversity,distinct=0", &["distinct=0"]);
        check_error("synthetic:text,seed=-1", &["seed=-1"]);
        check_error(
            "synthetic:separable,rows=1_000_000,features=100000",
            &["100000000000 values", "at most 2147483648"],
        );
    }
}
