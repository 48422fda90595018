//! How fast these machines and their network are, for simulations of them.

use std::time::{Duration, Instant};

use anyhow::Context;
use hemingway_train::protocol::{MeasuredSum, Measurement, PROTOCOL, Rank};
use hemingway_train::{Machine, Seconds, Transport, calibrate_among_others};

use crate::communicator::Communicator;
use crate::guard;
use crate::transport::Ranks;

/// Lengths of the sums that are measured.
const LENGTHS: [usize; 9] = [1, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
/// Each is measured at least so often,
const REPEATS: usize = 5;
/// and longer as long as this is not used up.
const AT_MOST: Duration = Duration::from_millis(500);
/// Between two sums the network rests as it does while workers compute.
const REST: Duration = Duration::from_millis(2);
/// How long kernels are measured, in seconds.
const KERNELS: f64 = 2.0;
/// Links may forward this many bytes at once; so much is sent before, and while, a row of sums is measured,
const BURST: usize = 2 << 20;
/// or so many sums.
const MOST_IN_A_ROW: usize = 2000;
/// The long message that tells the bandwidth.
const LONG: usize = 1 << 17;

/// Measures, and rank 0 prints the result.
pub fn run(world: &Communicator) -> anyhow::Result<()> {
    let mine = (Rank { host: guard::host(), pid: std::process::id() }, machine(world));
    let all = world.gather(&serde_json::to_vec(&mine)?);
    let all =
        all.iter().map(|rank| serde_json::from_slice(rank)).collect::<Result<Vec<(Rank, Machine)>, _>>()?;
    let (ranks, machines) = all.into_iter().unzip();
    let (latency, bandwidth) = messages(world);
    let sums = if world.size() > 1 { sums(world) } else { Vec::new() };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    if world.rank() == 0 {
        let measurement =
            Measurement { protocol: PROTOCOL, version, ranks, machines, latency, bandwidth, sums };
        let text = serde_json::to_string(&measurement).context("a measurement is plain data")?;
        println!("{text}");
    }
    Ok(())
}

/// All ranks compute at once, as they do in training: cores and memory are shared.
fn machine(world: &Communicator) -> Machine {
    world.barrier();
    let machine = calibrate_among_others(KERNELS);
    world.barrier();
    machine
}

/// Latency and bandwidth between the first rank and the last, who is the most likely to be elsewhere.
fn messages(world: &Communicator) -> (f64, f64) {
    if world.size() == 1 {
        return (0.0, f64::MAX);
    }
    let there_and_back = |length: usize| {
        let last = world.size() - 1;
        repeat(world, || {
            let mut message = vec![0.0; length];
            if world.rank() == 0 {
                drop(world.send(last, message.clone()));
                world.receive(last, &mut message);
            } else if world.rank() == last {
                world.receive(0, &mut message);
                drop(world.send(0, message));
            }
        })
    };
    let latency = there_and_back(1) / 2.0;
    let long = there_and_back(LONG) / 2.0;
    (latency, (8 * LONG) as f64 / (long - latency).max(1e-9))
}

fn sums(world: &Communicator) -> Vec<MeasuredSum> {
    let mut ranks = Ranks::new(world, Seconds(0.0));
    LENGTHS
        .into_iter()
        .map(|numbers| {
            let mut buffer = vec![0.0; numbers];
            let bare_seconds = repeat(world, || world.sum(&mut buffer));
            let seconds = repeat(world, || ranks.sum(&mut buffer).expect("MPI ends the program on errors"));
            let seconds_in_a_row = in_a_row(world, &mut buffer);
            MeasuredSum { numbers, seconds, seconds_in_a_row, bare_seconds }
        })
        .collect()
}

/// The mean over a row of sums that is long enough to use up what links forward in a burst.
fn in_a_row(world: &Communicator, buffer: &mut [f64]) -> f64 {
    let bytes = size_of_val(buffer);
    let mut row = |count: usize| {
        world.barrier();
        let begun = Instant::now();
        (0..count).for_each(|_| world.sum(buffer));
        begun.elapsed().as_secs_f64() / count as f64
    };
    row((BURST / bytes).clamp(1, MOST_IN_A_ROW));
    let mut mean = [row((BURST / bytes).clamp(2, MOST_IN_A_ROW)) / world.size() as f64];
    world.sum(&mut mean);
    mean[0]
}

/// The median over repeats of what the slowest rank took.
fn repeat(world: &Communicator, mut once: impl FnMut()) -> f64 {
    once();
    let begun = Instant::now();
    let mut times = Vec::new();
    let mut enough = [0.0];
    while enough[0] == 0.0 {
        std::thread::sleep(REST);
        world.barrier();
        let start = Instant::now();
        once();
        let mine = start.elapsed().as_secs_f64();
        let everyones = world.gather(&mine.to_le_bytes());
        let slowest =
            everyones.iter().filter_map(|bytes| bytes.first_chunk().map(|chunk| f64::from_le_bytes(*chunk)));
        times.push(slowest.fold(0.0, f64::max));
        enough = [f64::from(times.len() >= REPEATS && begun.elapsed() >= AT_MOST)];
        world.broadcast(0, &mut enough);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
