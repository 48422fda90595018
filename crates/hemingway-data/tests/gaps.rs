//! Data of which few features occur, and data that is too large for the memory it may use.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hemingway_data::{
    Dataset, Features, Format, LabelColumn, LoadOptions, Loaded, Matrix, Sparse, load, load_counting,
    parse_bytes,
};
use proptest::prelude::*;

fn read(text: &str, options: &LoadOptions) -> Loaded {
    parse_bytes(Format::Libsvm, text.as_bytes(), options).unwrap_or_else(|error| panic!("{error}"))
}

fn read_training(text: &str) -> Dataset {
    read(text, &LoadOptions::default()).dataset
}

/// How the data a model was trained on makes test data be read.
fn as_trained(training: &Dataset) -> LoadOptions {
    LoadOptions {
        columns: Some(training.features.count),
        used: training.features.used.clone(),
        labels: Some(training.labels.clone()),
        ..LoadOptions::default()
    }
}

#[test]
fn features_that_occur_nowhere_have_no_column() {
    let data = read_training("+1 3:1 100000000:2\n-1 100000:3\n+1 3:4\n-1 4294967295:5\n");
    assert_eq!(data.features.count, 4_294_967_295);
    assert_eq!(data.features.used, Some(vec![2, 99_999, 99_999_999, 4_294_967_294]));
    let expect = Sparse::new(4, vec![0, 2, 3, 4, 5], vec![0, 2, 1, 0, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(data.matrix, Matrix::Sparse(expect));
}

#[test]
fn explicit_zeros_count_as_features_but_do_not_occur() {
    let data = read_training("+1 1:1 2:1 90000000:0\n-1 1:3 2:1\n");
    assert_eq!(data.features, Features { count: 90_000_000, used: Some(vec![0, 1]) });
    let nothing = read_training("+1 90000000:0\n-1\n");
    assert_eq!((nothing.matrix.columns(), nothing.features.count), (1, 90_000_000));
}

#[test]
fn features_that_mostly_occur_stay_where_they_are() {
    let row = |first: usize| (0..40_000).map(|at| format!(" {}:1", first + 2 * at)).collect::<String>();
    let data = read_training(&format!("+1{}\n-1{}\n", row(1), row(2)));
    assert_eq!((data.matrix.columns(), data.features), (80_000, Features::all(80_000)));
    let small = read_training("+1 60000:1\n-1 1:1\n");
    assert_eq!((small.matrix.columns(), small.features), (60_000, Features::all(60_000)));
}

#[test]
fn test_data_has_the_columns_of_training() {
    let training = read_training("+1 5:1 7:1 2000000000:2\n-1 5:3 9:1\n");
    assert_eq!(training.features.used, Some(vec![4, 6, 8, 1_999_999_999]));
    let text = "-1 1:1 5:2 6:1 2000000000:7\n+1 9:3 4000000000:1\n+1 8:1\n";
    let test = read(text, &as_trained(&training));
    assert_eq!(test.dropped_values, 4, "1, 6, 8 and 4000000000 do not occur in training");
    assert_eq!(test.dataset.features, training.features);
    let expect = Sparse::new(4, vec![0, 2, 3, 3], vec![0, 3, 2], vec![2.0, 7.0, 3.0]);
    assert_eq!(test.dataset.matrix, Matrix::Sparse(expect));
}

#[test]
fn samples_know_their_features() {
    let data = read_training("+1 5:1 2000000000:2\n-1 5:3\n+1 7:1\n-1 9:1\n");
    let sample = data.sample(0.5, 1);
    assert_eq!((sample.matrix.rows(), sample.features), (2, data.features));
}

#[test]
fn indices_are_as_large_as_32_bits_allow() {
    let error = |text: &str, zero_based: bool| {
        let options = LoadOptions { zero_based, ..LoadOptions::default() };
        parse_bytes(Format::Libsvm, text.as_bytes(), &options).unwrap_err().to_string()
    };
    let message = error("1 1:1\n-1 4294967296:1\n", false);
    assert!(message.starts_with("bytes:2: index 4294967296 is too large; at most 4294967295"), "{message}");
    let message = error("1 4294967295:1\n", true);
    assert!(message.contains("at most 4294967294"), "{message}");
    let options = LoadOptions { zero_based: true, ..LoadOptions::default() };
    assert_eq!(read("1 4294967294:1\n0 0:1\n", &options).dataset.features.count, 4_294_967_295);
}

proptest! {
    /// The same as if the user had renumbered the features.
    #[test]
    fn columns_are_given_out_in_the_order_of_features(
        rows in proptest::collection::vec(proptest::collection::btree_map(0usize..40, 1u8..9, 0..9), 2..30),
        gap in 3_000u64..100_000_000,
    ) {
        let write = |number: &dyn Fn(usize) -> u64| -> String {
            let line = |(at, row): (usize, &std::collections::BTreeMap<usize, u8>)| {
                let pairs: String = row.iter().map(|(index, value)| format!(" {}:{value}", number(*index))).collect();
                format!("{}{pairs}\n", at % 2)
            };
            rows.iter().enumerate().map(line).collect()
        };
        let mut used: Vec<usize> = rows.iter().flat_map(|row| row.keys().copied()).collect();
        used.sort_unstable();
        used.dedup();
        prop_assume!(used.last().is_some_and(|last| *last as u64 * gap > 1 << 16));
        let apart = read_training(&write(&|index| 1 + index as u64 * gap));
        let dense = read_training(&write(&|index| 1 + used.binary_search(&index).unwrap() as u64));
        prop_assert_eq!(&apart.matrix, &dense.matrix);
        prop_assert_eq!(apart.targets, dense.targets);
        let numbers: Vec<u32> = used.iter().map(|index| (*index as u64 * gap) as u32).collect();
        prop_assert_eq!(apart.features.used, Some(numbers));
    }
}

fn limited(bytes: u64) -> LoadOptions {
    LoadOptions { memory_limit: Some(bytes), ..LoadOptions::default() }
}

fn refused(spec: &str, limit: u64) -> String {
    load_counting(spec, &limited(limit)).unwrap_err().to_string()
}

#[test]
fn files_beyond_the_memory_limit_are_refused_while_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.libsvm.gz");
    let mut encoder = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::fast());
    for _ in 0..200 {
        encoder.write_all("1 1:1 20:2 300:3\n0 2:1\n".repeat(5_000).as_bytes()).unwrap();
    }
    encoder.finish().unwrap();
    let path = path.display().to_string();
    let message = refused(&path, 20 << 20);
    assert!(message.starts_with(&format!("{path}: its first ")), "{message}");
    assert!(message.contains("but the memory limit is 20 MiB\nhint:"), "{message}");
    assert_eq!(load(&path, &limited(100 << 20)).unwrap().matrix.rows(), 2_000_000);
}

#[test]
fn a_line_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("line.csv.gz");
    let mut encoder = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::fast());
    encoder.write_all(b"1,2\n0,3\n1,").unwrap();
    (0..64).for_each(|_| encoder.write_all(&[b'1'; 1 << 20]).unwrap());
    encoder.finish().unwrap();
    let options = LoadOptions { label: LabelColumn::First, ..limited(16 << 20) };
    let message = load(&path.display().to_string(), &options).unwrap_err().to_string();
    assert!(message.contains("line.csv.gz: a line of more than") && message.contains("16 MiB"), "{message}");
}

#[test]
fn generated_data_beyond_the_memory_limit_is_refused_before_it_is_generated() {
    let message = refused("synthetic:separable,rows=1000000,features=2000", 1 << 30);
    assert!(message.contains("features=2000: 1000000 rows take about 7.5 GiB"), "{message}");
    assert!(message.contains("the memory limit is 1.0 GiB"), "{message}");
    let message = refused("synthetic:text,rows=10,features=100000000,density=0.0000001", 1 << 30);
    assert!(message.contains("10 rows take about 3.7 GiB"), "{message}");
    let message = refused("synthetic:text,rows=1000000000000", 1 << 30);
    assert!(message.contains("at most 2147483648 can be generated"), "{message}");
}

#[test]
fn an_idx_header_alone_takes_no_memory() {
    let header = [&[0u8, 0, 8, 3][..], &u32::MAX.to_be_bytes(), &[0, 0, 0x7f, 0], &[0, 0, 0x7f, 0]].concat();
    let options = LoadOptions { label: LabelColumn::Absent, ..limited(1 << 20) };
    let message = parse_bytes(Format::Idx, &header, &options).unwrap_err().to_string();
    assert!(message.contains("promises") && message.contains("0 follow"), "{message}");
}
