//! How fast these machines and their network are, for simulations of them.

use std::time::{Duration, Instant};

use hemingway_train::protocol::{MeasuredSum, Measurement, Message};
use hemingway_train::{Jitter, Machine, Seconds, Transport, calibrate_among_others};

use crate::communicator::Communicator;
use crate::speech::{greet, say};
use crate::transport::Ranks;

/// Lengths of the sums that are measured.
const LENGTHS: [usize; 13] =
    [1, 64, 256, 512, 1024, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144, 1_048_576];
/// Each is measured at least so often,
const REPEATS: usize = 3;
/// and longer as long as this is not used up.
const AT_MOST: Duration = Duration::from_millis(300);
/// Between two sums the network rests, but the cores do not, as while workers compute.
const REST: Duration = Duration::from_millis(2);
/// How long kernels are measured, in seconds.
const KERNELS: f64 = 2.0;
/// Links may forward this many bytes at once; so much is sent before a row of sums is measured,
const BURST: usize = 2 << 20;
/// for about so many seconds,
const IN_A_ROW: f64 = 0.5;
/// or so many sums.
const MOST_IN_A_ROW: usize = 1000;
/// So many rows are measured.
const ROWS: usize = 5;
/// The long message that tells the bandwidth.
const LONG: usize = 1 << 17;

/// Measures, sums of these lengths among others.
pub fn run(world: &Communicator, lengths: &[usize]) -> anyhow::Result<()> {
    greet(world)?;
    let cores = world.gather(&serde_json::to_vec(&machine(world))?);
    let cores = cores
        .iter()
        .map(|core| serde_json::from_slice(core))
        .collect::<Result<Vec<(Machine, Jitter)>, _>>()?;
    let (machines, jitter) = cores.into_iter().unzip();
    let (latency, bandwidth) = messages(world);
    let mut all: Vec<usize> = LENGTHS.iter().chain(lengths).copied().filter(|length| *length > 0).collect();
    all.sort_unstable();
    all.dedup();
    let sums = if world.size() > 1 { sums(world, &all) } else { Vec::new() };
    say(world.rank(), &Message::Measured(Measurement { machines, jitter, latency, bandwidth, sums }))
}

/// All ranks compute at once, as they do in training: cores and memory are shared.
fn machine(world: &Communicator) -> (Machine, Jitter) {
    world.barrier();
    let machine = calibrate_among_others(KERNELS);
    world.barrier();
    machine
}

/// Latency and bandwidth between the first rank and the last, who is the most likely to be elsewhere.
fn messages(world: &Communicator) -> (f64, f64) {
    if world.size() == 1 {
        return (0.0, 0.0);
    }
    let there_and_back = |length: usize| {
        let last = world.size() - 1;
        let mut once = || {
            if world.rank() == 0 {
                drop(world.send(last, vec![0; 8 * length]));
                world.receive(last);
            } else if world.rank() == last {
                drop(world.send(0, world.receive(0)));
            }
        };
        let [times] = repeat(world, f64::max, [&mut once]);
        median(times)
    };
    let latency = there_and_back(1) / 2.0;
    let long = there_and_back(LONG) / 2.0;
    (latency, (8 * LONG) as f64 / (long - latency).max(1e-9))
}

fn sums(world: &Communicator, lengths: &[usize]) -> Vec<MeasuredSum> {
    let mut ranks = Ranks::new(world, Seconds(0.0));
    lengths
        .iter()
        .map(|&numbers| {
            let [mut buffer, mut other] = [vec![0.0; numbers], vec![0.0; numbers]];
            let mut seam = || ranks.sum(&mut buffer).expect("MPI ends the program on errors");
            let mut bare = || world.sum(&mut other);
            // Whoever is the last to come waits least: for the network, not for others. One after the other in turns, so
            // that what disturbs one disturbs the other.
            let times = repeat(world, f64::min, [&mut seam, &mut bare]);
            let quickest = times.each_ref().map(|times| times.iter().copied().fold(f64::INFINITY, f64::min));
            let [seconds, bare_seconds] = times.map(median);
            let seconds_in_a_row = in_a_row(world, &mut buffer);
            MeasuredSum { numbers, seconds, seconds_in_a_row, bare_seconds, quickest }
        })
        .collect()
}

/// The mean over a row of sums, the median of several that follow one that is long enough to use up what links forward
/// in a burst.
fn in_a_row(world: &Communicator, buffer: &mut [f64]) -> f64 {
    let first = BURST / size_of_val(buffer);
    let mut row = |count: usize| {
        world.barrier();
        let begun = Instant::now();
        (0..count).for_each(|_| world.sum(buffer));
        let mut mean = [begun.elapsed().as_secs_f64() / (count * world.size()) as f64];
        world.sum(&mut mean);
        mean[0]
    };
    let about = row(first.clamp(2, MOST_IN_A_ROW));
    let count = ((IN_A_ROW / about) as usize / ROWS).clamp(1, MOST_IN_A_ROW);
    median((0..ROWS).map(|_| row(count)).collect())
}

/// What a rank took for each of these, again and again in turns: of all ranks the one that `pick` prefers.
fn repeat<const N: usize>(
    world: &Communicator,
    pick: fn(f64, f64) -> f64,
    mut each: [&mut dyn FnMut(); N],
) -> [Vec<f64>; N] {
    each.iter_mut().for_each(|once| once());
    let begun = Instant::now();
    let mut times = [const { Vec::new() }; N];
    let (mut turns, mut enough) = (0, [0.0]);
    while enough[0] == 0.0 {
        for (once, times) in each.iter_mut().zip(&mut times) {
            let rest = Instant::now();
            while rest.elapsed() < REST {
                std::hint::spin_loop();
            }
            world.barrier();
            let start = Instant::now();
            once();
            times.extend(world.gather_numbers(start.elapsed().as_secs_f64()).into_iter().reduce(pick));
        }
        turns += 1;
        enough = [f64::from(turns >= REPEATS && begun.elapsed() >= N as u32 * AT_MOST)];
        world.broadcast(0, &mut enough);
    }
    times
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
