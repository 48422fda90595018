//! The machines and network that the simulated engine pretends: from a TOML file, or measured here.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use hemingway_data::{Dataset, Labels, Matrix, Sparse};
use serde::{Deserialize, Serialize};

use super::measured::MeasuredSums;
use crate::{Error, Local, Loss, Problem, Work};

/// A cluster: which machines, how they are connected, how often they straggle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// How the machines are connected.
    #[serde(default)]
    pub network: Network,
    /// How often workers are slow.
    #[serde(default)]
    pub stragglers: Stragglers,
    /// How often the operating system takes the core from a worker.
    #[serde(default, skip_serializing_if = "Jitter::is_none")]
    pub jitter: Jitter,
    /// The machines; workers are placed on them in this order, one per core. Empty: as many as wanted of `here`.
    #[serde(default)]
    pub machines: Vec<MachineType>,
    /// The machine that relative speeds refer to.
    #[serde(default)]
    pub here: Machine,
    /// How many times longer the rounds of an algorithm compute than their metered work says, where that was measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub algorithms: BTreeMap<String, f64>,
}

/// The speed of one core, in the units that kernels meter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Floating-point operations per second in cache.
    pub flops: f64,
    /// Bytes per second from memory.
    pub bytes: f64,
}

impl Default for Machine {
    /// A core of a present-day server.
    fn default() -> Machine {
        Machine { flops: 4e9, bytes: 1e10 }
    }
}

/// Machines of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineType {
    /// What users call it.
    pub name: String,
    /// How many there are.
    pub count: usize,
    /// Speed of a core relative to the machine the engine was calibrated on.
    #[serde(default = "one")]
    pub speed: f64,
    /// Workers it can hold.
    #[serde(default = "one_core")]
    pub cores: usize,
    /// Memory in bytes.
    #[serde(default)]
    pub memory: Option<f64>,
    /// Price per hour of one machine.
    #[serde(default)]
    pub price: Option<f64>,
}

fn one() -> f64 {
    1.0
}

fn one_core() -> usize {
    1
}

/// The network between workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// Seconds before the first byte arrives.
    pub latency: f64,
    /// Bytes per second.
    pub bandwidth: f64,
    /// How sums are organised.
    pub collective: Collective,
    /// What sums cost when they were measured, which then replaces the formulas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredSums>,
}

impl Default for Network {
    /// 10 Gbit/s and 50 µs, as within one data centre.
    fn default() -> Network {
        Network { latency: 50e-6, bandwidth: 1.25e9, collective: Collective::Tree, measured: None }
    }
}

/// How a sum over all workers is organised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collective {
    /// Up and down a binary tree: few steps, each with the whole buffer.
    Tree,
    /// Around a ring in slices: many steps, little data in each.
    Ring,
}

/// How often, and how much, workers are slow.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stragglers {
    /// Chance that a piece of work is slow.
    pub probability: f64,
    /// How many times longer it then takes.
    pub slowdown: f64,
    /// Every piece of work takes up to this fraction longer.
    pub noise: f64,
}

/// What the operating system and other programs take of a worker's core. Unlike a straggler's slowdown a pause is as long
/// whatever it interrupts, and a long piece of work has more of them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Jitter {
    /// How often in a second of computing.
    pub pauses_per_second: f64,
    /// How long each pause is.
    pub pause_seconds: f64,
}

impl Cluster {
    /// As many of this machine as wanted, on the default network, without stragglers.
    pub fn of(machine: Machine) -> Cluster {
        Cluster {
            network: Network::default(),
            stragglers: Stragglers::default(),
            jitter: Jitter::default(),
            machines: Vec::new(),
            here: machine,
            algorithms: BTreeMap::new(),
        }
    }

    /// Reads a cluster file.
    pub fn from_toml(file: &str, text: &str) -> Result<Cluster, Error> {
        let error = |message: String| Error::Cluster { file: file.to_owned(), message };
        let cluster: Cluster = toml::from_str(text).map_err(|problem| error(problem.to_string()))?;
        cluster.complaint().map_or(Ok(()), |complaint| Err(error(complaint)))?;
        Ok(cluster)
    }

    fn complaint(&self) -> Option<String> {
        let Cluster { network, stragglers, jitter, here, .. } = self;
        let mut complaints = vec![
            RATES.complaint("network.bandwidth", network.bandwidth),
            RATES.complaint("here.flops", here.flops),
            RATES.complaint("here.bytes", here.bytes),
            TIMES.or_zero().complaint("network.latency", network.latency),
            network.measured.as_ref().and_then(MeasuredSums::complaint),
            (!(0.0..=1.0).contains(&stragglers.probability)).then(|| {
                format!("stragglers.probability has to lie in [0, 1], not {}", stragglers.probability)
            }),
            (stragglers.probability > 0.0 && !(1.0..=FACTORS.most).contains(&stragglers.slowdown))
                .then(|| format!("stragglers.slowdown has to be at least 1, not {}", stragglers.slowdown)),
            FACTORS.or_zero().complaint("stragglers.noise", stragglers.noise),
            RATES.or_zero().complaint("jitter.pauses_per_second", jitter.pauses_per_second),
            TIMES.or_zero().complaint("jitter.pause_seconds", jitter.pause_seconds),
        ];
        for MachineType { name, count, cores, speed, price, .. } in &self.machines {
            complaints.push(FACTORS.complaint(&format!("speed of {name}"), *speed));
            let price = price.filter(|price| !(0.0..f64::INFINITY).contains(price));
            complaints.push(price.map(|price| format!("price of {name} has to be at least 0, not {price}")));
            complaints.push((*count == 0).then(|| format!("count of {name} has to be positive, not 0")));
            complaints.push((*cores == 0).then(|| format!("cores of {name} has to be positive, not 0")));
        }
        for (name, factor) in &self.algorithms {
            complaints.push(FACTORS.complaint(&format!("algorithms.{name}"), *factor));
        }
        complaints.into_iter().flatten().next()
    }

    /// Whether that many workers fit.
    pub fn check_size(&self, workers: usize) -> Result<(), Error> {
        let places: usize = self.machines.iter().map(|kind| kind.count * kind.cores).sum();
        if !self.machines.is_empty() && workers > places {
            return Err(Error::ClusterTooSmall { workers, places });
        }
        Ok(())
    }

    /// What a second costs on the machines that so many workers are placed on; nothing if a price is not given.
    pub fn price_per_second(&self, workers: usize) -> Option<f64> {
        let (mut left, mut price) = (workers, 0.0);
        for kind in &self.machines {
            let used = left.div_ceil(kind.cores).min(kind.count);
            if used > 0 {
                price += used as f64 * kind.price? / 3600.0;
            }
            left = left.saturating_sub(used * kind.cores);
        }
        (left == 0).then_some(price)
    }

    /// How long a worker takes for this work when nothing disturbs it.
    pub fn seconds(&self, rank: usize, work: Work) -> f64 {
        (work.flops / self.here.flops + work.bytes / self.here.bytes) / self.speed(rank)
    }

    /// The rank of the slowest of so many workers.
    pub fn slowest(&self, workers: usize) -> usize {
        let (mut first, mut slowest) = (0, (f64::INFINITY, 0));
        for kind in &self.machines {
            if first < workers && kind.speed < slowest.0 {
                slowest = (kind.speed, first);
            }
            first += kind.count * kind.cores;
        }
        slowest.1
    }

    /// How many workers fill the machines of the first kinds: where the next worker is on another kind of machine.
    pub fn boundaries(&self) -> impl Iterator<Item = usize> {
        let places = self.machines.iter().scan(0, |first, kind| {
            *first += kind.count * kind.cores;
            Some(*first)
        });
        places.collect::<Vec<_>>().into_iter()
    }

    fn speed(&self, rank: usize) -> f64 {
        let mut first = 0;
        for kind in &self.machines {
            first += kind.count * kind.cores;
            if rank < first {
                return kind.speed;
            }
        }
        1.0
    }
}

impl Network {
    /// One message of so many bytes.
    pub fn message_seconds(&self, bytes: usize) -> f64 {
        self.latency + self.transfer_seconds(bytes)
    }

    /// How long so many bytes keep a link busy.
    pub fn transfer_seconds(&self, bytes: usize) -> f64 {
        bytes as f64 / self.bandwidth
    }

    /// A sum that everyone gets.
    pub fn sum_seconds(&self, workers: usize, numbers: usize) -> f64 {
        match &self.measured {
            Some(measured) => measured.seconds(self, workers, numbers),
            None => {
                let (messages, copies) = self.collective.shape(workers);
                messages * self.latency + copies * (8 * numbers) as f64 / self.bandwidth
            }
        }
    }

    /// How soon a sum can end after the one before, whatever happened in between; 0 if nothing is known of that.
    pub fn sum_seconds_in_a_row(&self, workers: usize, numbers: usize) -> f64 {
        self.measured.as_ref().map_or(0.0, |measured| measured.seconds_in_a_row(self, workers, numbers))
    }

    /// One worker's numbers to everyone.
    pub fn broadcast_seconds(&self, workers: usize, numbers: usize) -> f64 {
        (workers as f64).log2().ceil() * self.message_seconds(8 * numbers)
    }
}

impl Collective {
    /// How many messages follow one another in a sum, and how often the whole buffer crosses a link.
    pub(super) fn shape(self, workers: usize) -> (f64, f64) {
        let m = workers as f64;
        match self {
            Collective::Tree => (2.0 * m.log2().ceil(), 2.0 * m.log2().ceil()),
            Collective::Ring => (2.0 * (m - 1.0), 2.0 * (m - 1.0) / m),
        }
    }
}

/// What a figure of a cluster file may be. The ranges are wider than any machine, and narrow enough that no quotient
/// or product of such figures leaves the numbers.
pub(super) struct Range {
    least: f64,
    most: f64,
    zero: bool,
}

/// Seconds: from a picosecond to eleven days.
pub(super) const TIMES: Range = Range { least: 1e-12, most: 1e6, zero: false };
/// Bytes, operations or pauses in a second.
pub(super) const RATES: Range = Range { least: 1e-3, most: 1e18, zero: false };
/// How many times as fast or as long.
const FACTORS: Range = Range { least: 1e-6, most: 1e6, zero: false };

impl Range {
    fn or_zero(self) -> Range {
        Range { zero: true, ..self }
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        (self.least..=self.most).contains(&value) || (self.zero && value == 0.0)
    }

    fn complaint(&self, what: &str, value: f64) -> Option<String> {
        let Range { least, most, zero } = self;
        let kind = if *zero { "0, or" } else { "positive," };
        (!self.holds(value))
            .then(|| format!("{what} has to be {kind} from {least:e} to {most:e}, not {}", shown(value)))
    }
}

/// A value that a file may have, however small or large, in a few digits.
fn shown(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-6..1e15).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

impl Jitter {
    /// Pauses of these lengths while so many seconds were computed: as many and as long that the time they take has the
    /// mean and the variance that was measured, because a few long pauses among many short ones are what others wait for.
    pub fn of(pauses: &[f64], computed: f64) -> Jitter {
        let (taken, squares) =
            (pauses.iter().sum::<f64>(), pauses.iter().map(|pause| pause * pause).sum::<f64>());
        Jitter::with_moments(taken / computed, squares / computed)
    }

    /// The jitter of several workers as one.
    pub(super) fn mean(all: &[Jitter]) -> Jitter {
        let count = all.len().max(1) as f64;
        let taken: f64 = all.iter().map(Jitter::per_second_computed).sum();
        let squares: f64 = all.iter().map(|one| one.per_second_computed() * one.pause_seconds).sum();
        Jitter::with_moments(taken / count, squares / count)
    }

    fn with_moments(taken: f64, squares: f64) -> Jitter {
        if taken > 0.0 {
            let pause_seconds = squares / taken;
            Jitter { pauses_per_second: taken / pause_seconds, pause_seconds }
        } else {
            Jitter::default()
        }
    }

    fn is_none(&self) -> bool {
        self.per_second_computed() == 0.0
    }

    /// What pauses take in the mean while a second is computed.
    fn per_second_computed(&self) -> f64 {
        self.pauses_per_second * self.pause_seconds
    }

    /// The share of all time that pauses take.
    pub fn lost(&self) -> f64 {
        let taken = self.per_second_computed();
        taken / (1.0 + taken)
    }

    /// What pauses add to so many seconds of computing, from uniform draws.
    pub fn delay(&self, seconds: f64, mut draw: impl FnMut() -> f64) -> f64 {
        let expected = self.pauses_per_second * seconds;
        if self.is_none() || expected > MANY_PAUSES {
            return seconds * self.per_second_computed();
        }
        let until_the_next = || -(1.0 - draw()).ln();
        let mut at = 0.0;
        let gaps = std::iter::repeat_with(until_the_next);
        let count = gaps.take_while(|gap| {
            at += gap;
            at < expected
        });
        count.count() as f64 * self.pause_seconds
    }

    /// What pauses are expected to add to so many seconds on the one of these workers that has most of them.
    pub fn longest_delay(&self, seconds: f64, workers: usize) -> f64 {
        let expected = self.pauses_per_second * seconds;
        let someone = 1.0 - (-expected * workers as f64).exp();
        expected.max(someone) * self.pause_seconds
    }
}

/// Of so many pauses the mean is taken, which their number then stays within a tenth of.
const MANY_PAUSES: f64 = 100.0;

impl Stragglers {
    /// How many times longer a piece of work takes, from two uniform draws.
    pub fn factor(&self, (first, second): (f64, f64)) -> f64 {
        let slow = if first < self.probability { self.slowdown.max(1.0) } else { 1.0 };
        slow * (1.0 + self.noise * second)
    }
}

/// Measures this machine with the kernels that training uses, in about a fifth of a second.
pub fn calibrate() -> Machine {
    let (in_cache, from_memory) = (passes(200, 1, 0.07), passes(200_000, 1, 0.07));
    machine((in_cache.quickest(), in_cache.work), (from_memory.quickest(), from_memory.work))
}

/// The same for a worker that shares its machine with others, who have to be measured at the same time: how fast it is
/// while it has its core, and how often it does not. Both are measured for half of these seconds.
pub fn calibrate_among_others(seconds: f64) -> (Machine, Jitter) {
    let in_cache = passes(200, 1, seconds / 2.0);
    // Pieces that end before the next pause.
    let from_memory = passes(200_000, 200, seconds / 2.0);
    let machine = machine((in_cache.median(), in_cache.work), (from_memory.median(), from_memory.work));
    (machine, in_cache.jitter())
}

fn machine(in_cache: (f64, Work), from_memory: (f64, Work)) -> Machine {
    let seconds_per_flop = in_cache.0 / in_cache.1.flops;
    let memory_seconds = (from_memory.0 - from_memory.1.flops * seconds_per_flop).max(0.1 * from_memory.0);
    Machine { flops: 1.0 / seconds_per_flop, bytes: from_memory.1.bytes / memory_seconds }
}

/// Passes over generated rows: what each took, and the work metered for one.
struct Passes {
    seconds: Vec<f64>,
    work: Work,
}

/// A pass that takes this many times as long as the median was interrupted.
const INTERRUPTED: f64 = 2.0;

impl Passes {
    fn quickest(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// What interruptions of less than half of the passes do not change.
    fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    fn jitter(&self) -> Jitter {
        let usual = self.median();
        let interrupted = self.seconds.iter().filter(|seconds| **seconds > INTERRUPTED * usual);
        let pauses: Vec<f64> = interrupted.map(|seconds| seconds - usual).collect();
        Jitter::of(&pauses, usual * self.seconds.len() as f64)
    }
}

/// Passes over so many rows, each in so many pieces, for so many seconds.
fn passes(rows: usize, pieces: usize, seconds: f64) -> Passes {
    let per_row = 100;
    let columns = 8 * per_row;
    let offsets = (0..=rows).map(|row| row * per_row).collect();
    let indices = (0..rows * per_row).map(|at| ((at % per_row) * 8 + at / per_row % 8) as u32).collect();
    let matrix = Matrix::Sparse(Sparse::new(columns, offsets, indices, vec![0.5; rows * per_row]));
    let name = String::new();
    let data = Dataset::new(name, matrix, vec![1.0; rows], Labels::Numbers);
    let problem = Problem { loss: Loss::Squared, lambda: 1.0, bias: false };
    let piece = rows / pieces;
    let mut locals: Vec<Local> =
        (0..pieces).map(|at| Local::new(&data, at * piece..(at + 1) * piece, problem)).collect();
    let (weights, mut predictions) = (vec![1e-3; columns], vec![0.0; piece]);
    let (mut times, mut work) = (Vec::new(), Work::default());
    let begun = Instant::now();
    for at in (0..pieces).cycle() {
        if begun.elapsed().as_secs_f64() >= seconds && !times.is_empty() {
            break;
        }
        let begun = Instant::now();
        locals[at].predict(black_box(&weights), &mut predictions);
        black_box(&predictions);
        times.push(begun.elapsed().as_secs_f64());
        work = locals[at].take_work();
    }
    Passes { seconds: times, work }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const EXAMPLE: &str = r#"
        [network]
        latency = 1e-4
        bandwidth = 1e9
        collective = "ring"

        [stragglers]
        probability = 0.05
        slowdown = 3.0

        [[machines]]
        name = "large"
        count = 2
        cores = 4
        speed = 1.5
        price = 0.8

        [[machines]]
        name = "small"
        count = 3
    "#;

    #[test]
    fn a_cluster_file_is_read() {
        let cluster = Cluster::from_toml("cluster.toml", EXAMPLE).unwrap();
        let network = Network { latency: 1e-4, bandwidth: 1e9, collective: Collective::Ring, measured: None };
        assert_eq!(cluster.network, network);
        assert_eq!(cluster.stragglers, Stragglers { probability: 0.05, slowdown: 3.0, noise: 0.0 });
        assert_eq!((cluster.here, cluster.jitter), (Machine::default(), Jitter::default()));
        let [large, small] = cluster.machines.as_slice() else { panic!("{:?}", cluster.machines) };
        assert_eq!((large.name.as_str(), large.count, large.cores, large.speed), ("large", 2, 4, 1.5));
        assert_eq!((small.name.as_str(), small.count, small.cores, small.speed), ("small", 3, 1, 1.0));
        assert_eq!((large.price, small.price), (Some(0.8), None));
        let places = large.count * large.cores;
        assert_eq!(cluster.price_per_second(places), Some(large.count as f64 * 0.8 / 3600.0));
        assert_eq!(cluster.price_per_second(places + 1), None, "the small ones have no price");
    }

    #[test]
    fn an_empty_file_is_the_default_cluster() {
        assert_eq!(Cluster::from_toml("cluster.toml", "").unwrap(), Cluster::of(Machine::default()));
    }

    fn check_refused(text: &str, parts: &[&str]) {
        let message = match Cluster::from_toml("my-cluster.toml", text) {
            Err(error) => error.to_string(),
            Ok(cluster) => panic!("{text} was accepted as {cluster:?}"),
        };
        for part in parts.iter().chain(&["my-cluster.toml"]) {
            assert!(message.contains(part), "{part}\nnot in\n{message}");
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        check_refused("color = 1", &["color", "network"]);
        check_refused("[network]\nlatencee = 1", &["latencee", "latency"]);
        check_refused("[stragglers]\nprobabilty = 0.1", &["probabilty", "probability"]);
        check_refused("[[machines]]\nname = \"a\"\ncount = 1\ncore = 2", &["core", "cores"]);
        check_refused("[here]\nflops = 1e9\nbytes = 1e9\nfloops = 1", &["floops"]);
    }

    #[test]
    fn impossible_values_are_refused() {
        check_refused("[network]\nbandwidth = -5e8", &["network.bandwidth", "positive", "-500000000"]);
        check_refused("[network]\nbandwidth = 0.0", &["network.bandwidth", "0"]);
        check_refused("[network]\nbandwidth = nan", &["network.bandwidth", "NaN"]);
        check_refused("[network]\nlatency = -0.1", &["network.latency", "-0.1"]);
        check_refused("[network]\ncollective = \"star\"", &["star", "tree", "ring"]);
        check_refused("[stragglers]\nprobability = 1.5", &["stragglers.probability", "1.5"]);
        check_refused("[stragglers]\nprobability = 0.5\nslowdown = -2.0", &["stragglers.slowdown", "-2"]);
        check_refused("[here]\nflops = 0.0\nbytes = 1e9", &["here.flops", "0"]);
        check_refused("[[machines]]\nname = \"slow\"\ncount = 1\nspeed = 0.0", &["slow", "positive", "0"]);
        check_refused("[[machines]]\nname = \"a\"\ncount = -1", &["-1"]);
        check_refused("[algorithms]\ncocoa = -0.5", &["algorithms.cocoa", "-0.5"]);
        check_refused("[[machines]]\nname = \"a\"\ncount = 1\nprice = -0.5", &["price of a", "-0.5"]);
        check_refused("[jitter]\npauses_per_second = -1.0", &["jitter.pauses_per_second", "-1"]);
        check_refused("[jitter]\npause_seconds = nan", &["jitter.pause_seconds", "NaN"]);
    }

    #[test]
    fn figures_of_no_machine_are_refused() {
        check_refused("[network]\nlatency = 4.9e-324", &["network.latency", "1e-12 to 1e6", "5e-324"]);
        check_refused("[network]\nlatency = 1e300", &["network.latency", "1e300"]);
        check_refused("[network]\nbandwidth = 4.9e-324", &["network.bandwidth", "1e-3 to 1e18", "5e-324"]);
        check_refused("[here]\nflops = 1e-300\nbytes = 1e9", &["here.flops", "1e-300"]);
        check_refused("[[machines]]\nname = \"a\"\ncount = 1\nspeed = 1e-310", &["speed of a", "1e-310"]);
        check_refused("[algorithms]\ncocoa = 1e308", &["algorithms.cocoa", "1e308"]);
        assert!(Cluster::from_toml("file", "[network]\nlatency = 0.0").is_ok(), "without latency");
    }

    #[test]
    fn stragglers_that_speed_up_are_refused() {
        check_refused("[stragglers]\nprobability = 0.5\nslowdown = 0.5", &["stragglers.slowdown", "0.5"]);
        check_refused("[stragglers]\nnoise = -2.0", &["stragglers.noise", "-2"]);
        check_refused("[stragglers]\nnoise = nan", &["stragglers.noise", "NaN"]);
    }

    #[test]
    fn machines_without_places_are_refused() {
        check_refused("[[machines]]\nname = \"none\"\ncount = 0", &["none", "0"]);
        check_refused("[[machines]]\nname = \"none\"\ncount = 1\ncores = 0", &["none", "0"]);
    }

    #[test]
    fn workers_are_placed_in_the_order_of_the_file() {
        let mut cluster = Cluster::from_toml("cluster.toml", EXAMPLE).unwrap();
        cluster.here = Machine { flops: 100.0, bytes: 50.0 };
        let seconds: Vec<f64> =
            (0..11).map(|rank| cluster.seconds(rank, Work { flops: 300.0, bytes: 150.0 })).collect();
        // Eight cores of the large machines, half as fast again, then the three small ones: 3 s + 3 s of work.
        assert_eq!(seconds[..8], [4.0; 8]);
        assert_eq!(seconds[8..], [6.0; 3]);
        assert!(cluster.check_size(11).is_ok());
        let message = cluster.check_size(12).unwrap_err().to_string();
        assert!(message.contains("12 workers") && message.contains("11 cores"), "{message}");
        assert!(
            Cluster::of(Machine::default()).check_size(1_000_000).is_ok(),
            "no list of machines, no limit"
        );
    }

    #[test]
    fn collectives_cost_what_their_shape_says() {
        // 1 s of latency, and 8 bytes a second: a number takes a second.
        let network = |collective| Network { latency: 1.0, bandwidth: 8.0, collective, measured: None };
        let (tree, ring) = (network(Collective::Tree), network(Collective::Ring));
        assert_eq!(tree.message_seconds(8 * 12), 13.0);
        // Up and down: 2⌈log₂ m⌉ messages with everything in them.
        let sums = [1, 2, 3, 4, 5, 8, 9].map(|workers| tree.sum_seconds(workers, 12));
        assert_eq!(sums, [0.0, 26.0, 52.0, 52.0, 78.0, 78.0, 104.0]);
        // Twice around: 2(m − 1) messages with a slice of 12/m numbers each.
        let sums = [1, 2, 3, 4, 12].map(|workers| ring.sum_seconds(workers, 12));
        let expected = [0.0, 2.0 * 7.0, 4.0 * 5.0, 6.0 * 4.0, 22.0 * 2.0];
        assert!(sums.iter().zip(expected).all(|(sum, expected)| (sum - expected).abs() < 1e-12), "{sums:?}");
        let broadcasts = [1, 2, 5, 8].map(|workers| ring.broadcast_seconds(workers, 12));
        assert_eq!(broadcasts, [0.0, 13.0, 39.0, 39.0]);
    }

    #[test]
    fn stragglers_are_slow_as_often_as_they_should() {
        let stragglers = Stragglers { probability: 0.25, slowdown: 4.0, noise: 0.5 };
        assert_eq!(stragglers.factor((0.2, 0.0)), 4.0);
        assert_eq!(stragglers.factor((0.2, 1.0)), 6.0);
        assert_eq!(stragglers.factor((0.3, 1.0)), 1.5);
        assert_eq!(Stragglers::default().factor((0.0, 1.0)), 1.0);
    }

    #[test]
    fn jitter_takes_as_much_as_it_should() {
        let jitter = Jitter { pauses_per_second: 20.0, pause_seconds: 4e-3 };
        let mut luck = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut mean = |seconds: f64| {
            let delays = (0..20_000).map(|_| jitter.delay(seconds, || luck.random::<f64>()));
            delays.sum::<f64>() / 20_000.0
        };
        for seconds in [1e-3, 0.05, 1.0, 100.0] {
            let (delay, expect) = (mean(seconds), seconds * 20.0 * 4e-3);
            assert!((delay - expect).abs() < 0.1 * expect, "{delay} for {expect} in {seconds} s");
        }
        assert_eq!(Jitter::default().delay(1.0, || panic!("nothing to draw for")), 0.0);
        // One of 16 is interrupted nearly 16 times as often as one alone, and what is always there is not waited for twice.
        let one = jitter.longest_delay(1e-4, 1);
        assert!((15.0..16.0).contains(&(jitter.longest_delay(1e-4, 16) / one)));
        assert_eq!(jitter.longest_delay(10.0, 16), 0.8);
    }

    #[test]
    fn a_few_long_pauses_are_not_lost_among_many_short_ones() {
        // 1 ms in short pauses and 4 ms in one, in a second.
        let pauses: Vec<f64> = [vec![20e-6; 50], vec![4e-3]].concat();
        let jitter = Jitter::of(&pauses, 1.0);
        assert!((jitter.pauses_per_second * jitter.pause_seconds - 5e-3).abs() < 1e-12, "{jitter:?}");
        assert!((3e-3..4e-3).contains(&jitter.pause_seconds), "{jitter:?}");
        assert_eq!(Jitter::mean(&[jitter, jitter]).pause_seconds, jitter.pause_seconds);
        assert_eq!((Jitter::of(&[], 1.0), Jitter::mean(&[])), (Jitter::default(), Jitter::default()));
    }

    #[test]
    fn interruptions_do_not_slow_a_core_down() {
        let quiet = Passes { seconds: vec![1e-3; 100], work: Work::default() };
        let mut seconds = quiet.seconds.clone();
        (0..100).step_by(10).for_each(|at| seconds[at] += 5e-3);
        let disturbed = Passes { seconds, work: Work::default() };
        assert_eq!(disturbed.median(), quiet.median());
        assert_eq!(quiet.jitter(), Jitter::default());
        let Jitter { pauses_per_second, pause_seconds } = disturbed.jitter();
        assert!((pauses_per_second - 100.0).abs() < 1e-6 && (pause_seconds - 5e-3).abs() < 1e-9);
    }

    #[test]
    fn this_machine_can_be_measured() {
        let Machine { flops, bytes } = calibrate();
        assert!((1e6..1e13).contains(&flops) && (1e6..1e13).contains(&bytes), "{flops:e} {bytes:e}");
    }
}
