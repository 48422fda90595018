//! The machines and network that the simulated engine pretends: from a TOML file, or measured here.

use std::hint::black_box;
use std::time::Instant;

use hemingway_data::{Dataset, Labels, Matrix, Sparse};
use serde::{Deserialize, Serialize};

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
    /// The machines; workers are placed on them in this order, one per core. Empty: as many as wanted of `here`.
    #[serde(default)]
    pub machines: Vec<MachineType>,
    /// The machine that relative speeds refer to.
    #[serde(default)]
    pub here: Machine,
}

/// The speed of one core, in the units that kernels meter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// Seconds before the first byte arrives.
    pub latency: f64,
    /// Bytes per second.
    pub bandwidth: f64,
    /// How sums are organised.
    pub collective: Collective,
}

impl Default for Network {
    /// 10 Gbit/s and 50 µs, as within one data centre.
    fn default() -> Network {
        Network { latency: 50e-6, bandwidth: 1.25e9, collective: Collective::Tree }
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

impl Cluster {
    /// As many of this machine as wanted, on the default network, without stragglers.
    pub fn of(machine: Machine) -> Cluster {
        Cluster {
            network: Network::default(),
            stragglers: Stragglers::default(),
            machines: Vec::new(),
            here: machine,
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
        let positive = |what: &str, value: f64| {
            (!(value > 0.0 && value.is_finite())).then(|| format!("{what} has to be positive, not {value}"))
        };
        let mut complaints = vec![
            positive("network.bandwidth", self.network.bandwidth),
            positive("here.flops", self.here.flops),
            positive("here.bytes", self.here.bytes),
            (!(0.0..f64::INFINITY).contains(&self.network.latency))
                .then(|| format!("network.latency has to be at least 0, not {}", self.network.latency)),
            (!(0.0..=1.0).contains(&self.stragglers.probability)).then(|| {
                format!("stragglers.probability has to lie in [0, 1], not {}", self.stragglers.probability)
            }),
            (self.stragglers.probability > 0.0 && self.stragglers.slowdown.is_nan() || self.stragglers.slowdown < 0.0)
                .then(|| format!("stragglers.slowdown has to be at least 1, not {}", self.stragglers.slowdown)),
        ];
        complaints.extend(self.machines.iter().map(|kind| positive(&format!("speed of {}", kind.name), kind.speed)));
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

    /// How long a worker takes for this work when nothing disturbs it.
    pub fn seconds(&self, rank: usize, work: Work) -> f64 {
        (work.flops / self.here.flops + work.bytes / self.here.bytes) / self.speed(rank)
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
    /// One message of so many numbers.
    pub fn message_seconds(&self, numbers: usize) -> f64 {
        self.latency + (8 * numbers) as f64 / self.bandwidth
    }

    /// A sum that everyone gets.
    pub fn sum_seconds(&self, workers: usize, numbers: usize) -> f64 {
        let m = workers as f64;
        match self.collective {
            Collective::Tree => 2.0 * m.log2().ceil() * self.message_seconds(numbers),
            Collective::Ring => {
                2.0 * (m - 1.0) * self.latency + 2.0 * (m - 1.0) / m * (8 * numbers) as f64 / self.bandwidth
            }
        }
    }

    /// One worker's numbers to everyone.
    pub fn broadcast_seconds(&self, workers: usize, numbers: usize) -> f64 {
        (workers as f64).log2().ceil() * self.message_seconds(numbers)
    }
}

impl Stragglers {
    /// How many times longer a piece of work takes, from two uniform draws.
    pub fn factor(&self, (first, second): (f64, f64)) -> f64 {
        let slow = if first < self.probability { self.slowdown.max(1.0) } else { 1.0 };
        slow * (1.0 + self.noise * second)
    }
}

/// Measures this machine with the kernels that training uses, in about a fifth of a second.
pub fn calibrate() -> Machine {
    let in_cache = seconds_per_pass(200, 100);
    let from_memory = seconds_per_pass(200_000, 100);
    let seconds_per_flop = in_cache.0 / in_cache.1.flops;
    let memory_seconds = (from_memory.0 - from_memory.1.flops * seconds_per_flop).max(0.1 * from_memory.0);
    Machine { flops: 1.0 / seconds_per_flop, bytes: from_memory.1.bytes / memory_seconds }
}

/// The quickest of several passes over generated sparse rows, and the work metered for one.
fn seconds_per_pass(rows: usize, per_row: usize) -> (f64, Work) {
    let columns = 8 * per_row;
    let offsets = (0..=rows).map(|row| row * per_row).collect();
    let indices = (0..rows * per_row).map(|at| ((at % per_row) * 8 + at / per_row % 8) as u32).collect();
    let matrix = Matrix::Sparse(Sparse::new(columns, offsets, indices, vec![0.5; rows * per_row]));
    let name = String::new();
    let data = Dataset { name, matrix, targets: vec![1.0; rows], labels: Labels::Numbers };
    let problem = Problem { loss: Loss::Squared, lambda: 1.0, bias: false };
    let mut local = Local::new(&data, 0..rows, problem);
    let (weights, mut predictions) = (vec![1e-3; columns], vec![0.0; rows]);
    let mut best = f64::INFINITY;
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < 0.07 {
        let begun = Instant::now();
        local.predict(black_box(&weights), &mut predictions);
        black_box(&predictions);
        best = best.min(begun.elapsed().as_secs_f64());
        local.take_work();
    }
    local.predict(&weights, &mut predictions);
    (best, local.take_work())
}
