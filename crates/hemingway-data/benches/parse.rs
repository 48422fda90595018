//! How fast each format is parsed from memory, in bytes of input: `cargo bench -p hemingway-data`.

use std::fmt::Write;

use divan::Bencher;
use divan::counter::BytesCount;
use hemingway_data::{Format, LoadOptions, Matrix, load, parse_bytes};

fn main() {
    divan::main();
}

#[divan::bench]
fn libsvm(bencher: Bencher) {
    let dataset = generated("synthetic:text,rows=20000,features=30000,density=0.004");
    let Matrix::Sparse(sparse) = &dataset.matrix else { unreachable!("text is sparse") };
    let mut text = String::new();
    for (row, bounds) in sparse.offsets().windows(2).enumerate() {
        let _ = write!(text, "{}", dataset.targets[row]);
        for position in bounds[0]..bounds[1] {
            let _ = write!(text, " {}:{:.5}", sparse.indices()[position] + 1, sparse.values()[position]);
        }
        text.push('\n');
    }
    measure(bencher, Format::Libsvm, text.as_bytes());
}

#[divan::bench]
fn csv(bencher: Bencher) {
    let dataset = generated("synthetic:separable,rows=50000,features=28");
    let Matrix::Dense(dense) = &dataset.matrix else { unreachable!("separable is dense") };
    let names: Vec<String> = (0..dense.columns()).map(|column| format!(",x{column}")).collect();
    let mut text = format!("label{}\n", names.concat());
    for (row, target) in dense.values().chunks_exact(dense.columns()).zip(&dataset.targets) {
        let _ = write!(text, "{target}");
        row.iter().for_each(|value| write!(text, ",{value}").unwrap_or_default());
        text.push('\n');
    }
    measure(bencher, Format::Csv, text.as_bytes());
}

/// Numbers of which some are missing, text of some levels and of many, dates, yes and no.
#[divan::bench]
fn mixed_table(bencher: Bencher) {
    let mut text = "label,age,size,city,street,day,member\n".to_owned();
    for row in 0..200_000_usize {
        let age = if row % 9 == 0 { String::new() } else { (row * 31 % 80).to_string() };
        let (size, city, street) = (row as f64 * 0.37 % 100.0, row * 7 % 40, row * row % 3001);
        let (month, day) = (1 + row % 12, 1 + row % 28);
        let (label, member) = (row % 2, ["yes", "no"][row % 3 % 2]);
        let _ = writeln!(
            text,
            "{label},{age},{size:.3},city {city},street number {street},2024-{month:02}-{day:02},{member}"
        );
    }
    measure(bencher, Format::Csv, text.as_bytes());
}

#[divan::bench]
fn idx(bencher: Bencher) {
    const ROWS: u32 = 20_000;
    let mut bytes = vec![0, 0, 8, 3];
    [ROWS, 28, 28].iter().for_each(|dimension| bytes.extend(dimension.to_be_bytes()));
    // One pixel in five is ink, as in MNIST.
    bytes.extend((0..ROWS * 784).map(|pixel| if pixel / 7 % 5 == 0 { (pixel % 251) as u8 } else { 0 }));
    bytes.extend([0, 0, 8, 1]);
    bytes.extend(ROWS.to_be_bytes());
    bytes.extend((0..ROWS).map(|row| (row % 2) as u8));
    measure(bencher, Format::Idx, &bytes);
}

fn generated(spec: &str) -> hemingway_data::Dataset {
    load(spec, &LoadOptions::default()).expect("the spec is right")
}

fn measure(bencher: Bencher, format: Format, bytes: &[u8]) {
    let parse = || parse_bytes(format, bytes, &LoadOptions::default()).expect("the input is right");
    bencher.counter(BytesCount::of_slice(bytes)).bench_local(parse);
}
