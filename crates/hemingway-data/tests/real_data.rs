//! Real datasets, when the environment variable `HEMINGWAY_DATA` names a folder with them.

use std::path::Path;

use hemingway_data::{LoadOptions, Matrix, load};

/// File, positive class, rows, features, positive rows, dense.
type Expectation = (&'static str, Option<&'static str>, usize, usize, usize, bool);

const EXPECTED: [Expectation; 8] = [
    ("a9a.libsvm.gz", None, 32_561, 123, 7_841, false),
    ("w8a.libsvm.gz", None, 49_749, 300, 1_479, false),
    ("mushrooms.libsvm.gz", None, 8_124, 112, 4_208, false),
    ("newsgroups20-binary.libsvm.gz", None, 11_293, 31_257, 5_875, false),
    ("higgs-11k.csv.gz", None, 10_984, 28, 5_821, true),
    ("mnist-train-images-idx3-ubyte.gz", Some("5"), 60_000, 784, 5_421, false),
    ("mnist-t10k-images-idx3-ubyte.gz", Some("0"), 10_000, 784, 980, false),
    ("fashion-mnist-t10k-images-idx3-ubyte.gz", Some("9"), 10_000, 784, 1_000, true),
];

#[test]
fn real_data_has_its_known_shape() {
    let Ok(folder) = std::env::var("HEMINGWAY_DATA") else {
        println!("HEMINGWAY_DATA is not set: real datasets were NOT read");
        return;
    };
    for (name, positive, rows, columns, positives, dense) in EXPECTED {
        let path = Path::new(&folder).join(name);
        if !path.is_file() {
            println!("{} is not there: it was NOT read", path.display());
            continue;
        }
        let options = LoadOptions { positive: positive.map(str::to_string), ..LoadOptions::default() };
        let dataset = load(&path.display().to_string(), &options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((dataset.matrix.rows(), dataset.matrix.columns()), (rows, columns), "{name}");
        assert_eq!(dataset.targets.iter().filter(|target| **target > 0.0).count(), positives, "{name}");
        assert_eq!(matches!(dataset.matrix, Matrix::Dense(_)), dense, "{name}");
    }
}
