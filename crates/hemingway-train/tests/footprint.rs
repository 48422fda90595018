//! What a run allocates is what was said before it began. One test alone: it counts what the whole process holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use hemingway_data::{Dataset, LoadOptions, load};
use hemingway_train::{
    Cluster, Engine, Event, Extent, Footprint, Job, Loss, Machine, Parameters, Problem, Scoring, Seconds,
    Simulated, Start, StopRules, Threads, algorithm, catalogue,
};

/// The system's allocator, which remembers how much was held at once.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all memory comes from the system's allocator; counting touches none of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: as asked by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as asked by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROUNDS: u64 = 12;

/// Bytes that a run holds at once at most, besides its data, with the copies that a store makes.
fn allocated(data: &Dataset, name: &str, problem: Problem, workers: usize) -> usize {
    let algorithm = algorithm(name, &Parameters::default()).unwrap();
    let job = Job {
        problem,
        algorithm: algorithm.as_ref(),
        workers,
        seed: 1,
        stop: StopRules { rounds: Some(ROUNDS), ..StopRules::default() },
        scoring: Scoring::Every(1),
        start: Start::Zero,
        checkpoint_every: Some(Seconds(1e-9)),
        interrupt: None,
        hand_over: None,
    };
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let mut observe = |event: Event| {
        if let Event::Checkpoint(checkpoint) = event {
            std::hint::black_box(checkpoint.to_bytes());
        }
        Ok(())
    };
    let simulated = Simulated::new(Cluster::of(Machine::default()));
    let engine: &dyn Engine = if Threads.offers(algorithm.needs()) { &Threads } else { &simulated };
    engine.run(data, &job, &mut observe).unwrap();
    MOST.load(Ordering::Relaxed) - before
}

#[test]
fn what_a_run_allocates_is_what_was_estimated() {
    let wide = "synthetic:text,rows=400,features=30000,density=0.001";
    let few = "synthetic:separable,rows=400,features=300";
    let tall = "synthetic:separable,rows=20000,features=10";
    for spec in [wide, few, tall] {
        let data = load(spec, &LoadOptions::default()).unwrap();
        for entry in catalogue() {
            if entry.name == "newton" && spec == wide {
                continue; // refused for so many features
            }
            for loss in [Loss::Logistic, Loss::Hinge] {
                for (workers, bias) in [(1, false), (4, true), (4, false)] {
                    let problem = Problem { bias, ..Problem::new(loss, 1e-3).unwrap() };
                    let (rows, columns) = (data.matrix.rows(), data.matrix.columns());
                    let extent = Extent { rows, columns, workers, rounds: Some(ROUNDS) };
                    let footprint = Footprint::here(entry.name, &Parameters::default(), &problem, extent);
                    let (said, found) =
                        (footprint.bytes() as f64, allocated(&data, entry.name, problem, workers) as f64);
                    let what = format!("{} on {workers} workers, {loss}, bias {bias}, {spec}", entry.name);
                    // Threads and small things take some kilobytes.
                    assert!(found <= said + 100_000.0, "{what}: {said} said, {found} found");
                    assert!(said <= 3.0 * found + 100_000.0, "{what}: {said} said, {found} found");
                }
            }
        }
    }
}
