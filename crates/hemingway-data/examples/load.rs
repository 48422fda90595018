//! Loads a dataset and says how long it took, how large it is and how much memory the process needed at most.
//!
//!     cargo run --release -p hemingway-data --example load -- embedded:mnist

use std::time::Instant;

use hemingway_data::{Error, LoadOptions, Matrix, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let spec = arguments.next().unwrap_or_else(|| hemingway_data::EMBEDDED.to_string());
    let repeats: usize = arguments.next().map_or(Ok(1), |text| text.parse())?;
    for _ in 0..repeats {
        if let Err(error) = load_once(&spec) {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    }
    Ok(())
}

fn load_once(spec: &str) -> Result<(), Error> {
    let start = Instant::now();
    let dataset = load(spec, &LoadOptions::default())?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let (kind, bytes) = match &dataset.matrix {
        Matrix::Sparse(sparse) => ("sparse", 8 * sparse.values().len() + 8 * sparse.offsets().len()),
        Matrix::Dense(dense) => ("dense", 4 * dense.values().len()),
    };
    let (rows, columns) = (dataset.matrix.rows(), dataset.matrix.columns());
    let matrix = bytes as f64 / 1e6;
    let values = dataset.matrix.nonzeros();
    println!(
        "{milliseconds:.1} ms, {rows} × {columns}, {values} values, {kind}, {matrix:.1} MB{}",
        peak(matrix)
    );
    Ok(())
}

/// The peak of resident memory, where the system tells.
fn peak(matrix: f64) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    match line.trim().trim_end_matches(" kB").parse::<f64>() {
        Ok(kilobytes) => {
            format!(", peak {:.1} MB = {:.2} × the matrix", kilobytes / 976.6, kilobytes / 976.6 / matrix)
        }
        Err(_) => String::new(),
    }
}
