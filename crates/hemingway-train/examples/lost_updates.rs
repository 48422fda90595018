//! How many updates Hogwild! loses: workers add 1 to each feature of their rows, by a load and a store.
//!
//!     cargo run --release -p hemingway-train --example lost_updates [WORKERS]…

use std::sync::atomic::Ordering::Relaxed;

use hemingway_train::SharedMemory;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Features of a row, and rows of each worker.
const LENGTH: usize = 50;
const ROWS: usize = 200_000;

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|workers| workers.parse().ok()).collect();
    println!("{:>8} {:>10} {:>10}", "workers", "features", "lost");
    for workers in if given.is_empty() { vec![2] } else { given } {
        for features in [30_000, 1_000, LENGTH] {
            println!("{workers:>8} {features:>10} {:>10.1e}", lost(workers, features));
        }
    }
}

/// The share of all updates that are lost where rows are spread over so many features.
fn lost(workers: usize, features: usize) -> f64 {
    let memory = SharedMemory::new(&vec![0.0; features]);
    std::thread::scope(|scope| {
        for rank in 0..workers {
            let memory = &memory;
            scope.spawn(move || add_rows(memory, features, rank as u64));
        }
    });
    let mut counts = vec![0.0; features];
    memory.read(&mut counts);
    1.0 - counts.iter().sum::<f64>() / (workers * ROWS * LENGTH) as f64
}

fn add_rows(memory: &SharedMemory, features: usize, seed: u64) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..ROWS {
        let row: [usize; LENGTH] = std::array::from_fn(|_| rng.random_range(0..features));
        for feature in row {
            let cell = &memory.cells()[feature];
            cell.store((f64::from_bits(cell.load(Relaxed)) + 1.0).to_bits(), Relaxed);
        }
    }
}
