//! The 36 experiments of the paper: three settings of ten machines, three networks, four batch sizes each.
//!
//! Curves are measured ones of AlexNet (forward and backward pass) on 4, 8 and 16 cores and on a GPU, scaled to the machines of
//! the paper: its processors of 2014 are taken as three times slower per core, and its GPU as one that is saturated by a sixth of
//! the inputs and then does one in 7.6 ms. Other networks scale inputs by their operations.

use std::fmt;

use super::World;
use crate::schedule::{Cluster, Device, Job, Kind, Machine};

/// Which machines there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// No GPU.
    A,
    /// One GPU.
    B,
    /// Two GPUs.
    C,
}

/// Which network is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Much computation, few parameters.
    GoogleNet,
    /// Many parameters.
    AlexNet,
    /// Little computation for each of many inputs.
    SpeechNet,
}

impl Network {
    fn megabytes(self) -> f64 {
        match self {
            Network::GoogleNet => 26.7,
            Network::AlexNet => 233.0,
            Network::SpeechNet => 173.0,
        }
    }

    /// Millions of operations per input.
    fn operations(self) -> f64 {
        match self {
            Network::GoogleNet => 1582.0,
            Network::AlexNet => 714.0,
            Network::SpeechNet => 45.3,
        }
    }

    fn batches(self) -> std::ops::RangeInclusive<u32> {
        match self {
            Network::GoogleNet => 6..=9,
            Network::AlexNet => 8..=11,
            Network::SpeechNet => 13..=16,
        }
    }
}

/// One of the experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experiment {
    /// Which machines.
    pub setting: Setting,
    /// Which network.
    pub network: Network,
    /// Inputs per iteration.
    pub batch: u64,
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = format!("{:?}-{:?}-{}", self.setting, self.network, self.batch);
        f.write_str(&name.to_lowercase())
    }
}

/// All of them.
pub fn experiments() -> Vec<Experiment> {
    let mut all = Vec::new();
    for network in [Network::GoogleNet, Network::AlexNet, Network::SpeechNet] {
        for setting in [Setting::A, Setting::B, Setting::C] {
            all.extend(network.batches().map(|power| Experiment { setting, network, batch: 1 << power }));
        }
    }
    all
}

/// The one with this name, like `c-speechnet-65536`.
pub fn experiment(name: &str) -> Option<Experiment> {
    experiments().into_iter().find(|experiment| experiment.to_string() == name)
}

/// A kind of machine of the paper.
struct Instance {
    name: &'static str,
    short: &'static str,
    hyperthreads: f64,
    /// Measured curve, and how much slower this one is.
    cpu: (&'static [(f64, f64)], f64),
    gpu: bool,
    bandwidth: f64,
    /// How many in each setting.
    counts: [usize; 3],
}

const GIGABIT: f64 = 1.25e8;

const INSTANCES: [Instance; 4] = [
    Instance {
        name: "g2.2xlarge",
        short: "g2",
        hyperthreads: 8.0,
        cpu: (&CPU4, 4.0),
        gpu: true,
        bandwidth: GIGABIT,
        counts: [0, 1, 2],
    },
    Instance {
        name: "c4.2xlarge",
        short: "c2",
        hyperthreads: 8.0,
        cpu: (&CPU4, 3.0),
        gpu: false,
        bandwidth: GIGABIT,
        counts: [6, 3, 2],
    },
    Instance {
        name: "c4.4xlarge",
        short: "c4",
        hyperthreads: 16.0,
        cpu: (&CPU8, 3.0),
        gpu: false,
        bandwidth: 2.0 * GIGABIT,
        counts: [2, 3, 2],
    },
    Instance {
        name: "c4.8xlarge",
        short: "c8",
        hyperthreads: 36.0,
        cpu: (&CPU16, 3.0 * 16.0 / 18.0),
        gpu: false,
        bandwidth: 4.0 * GIGABIT,
        counts: [2, 3, 4],
    },
];

/// A guess that somebody makes who knows that a GPU is faster than a processor: as fast as so many hyperthreads.
const GPU_GUESS: f64 = 40.0;
/// Bytes per second at which a processor adds up gradients.
const ADDING: f64 = 4e9;

impl Experiment {
    /// The cluster and everything that is true of it.
    pub fn world(&self) -> World {
        let setting = self.setting as usize;
        let used: Vec<&Instance> = INSTANCES.iter().filter(|instance| instance.counts[setting] > 0).collect();
        let counts: Vec<usize> = used.iter().map(|instance| instance.counts[setting]).collect();
        self.world_of(&used, &counts)
    }

    /// The same job on more machines: so many of each of the four kinds.
    pub fn with_machines(&self, counts: [usize; 4]) -> World {
        self.world_of(&INSTANCES.iter().collect::<Vec<_>>(), &counts)
    }

    fn world_of(&self, used: &[&Instance], counts: &[usize]) -> World {
        let scale = self.network.operations() / Network::AlexNet.operations();
        let parameter_bytes = 1e6 * self.network.megabytes();
        let device = |name: &str, speed| Device { name: name.into(), speed, most: None };
        let kind = |instance: &&Instance| Kind {
            name: instance.name.into(),
            devices: [
                Some(device("cpu", instance.hyperthreads)),
                instance.gpu.then(|| device("gpu", GPU_GUESS)),
            ]
            .into_iter()
            .flatten()
            .collect(),
            bandwidth: None,
        };
        let machines = used.iter().zip(counts).enumerate().flat_map(|(kind, (instance, count))| {
            (1..=*count).map(move |number| Machine { name: format!("{}-{number}", instance.short), kind })
        });
        let cluster = Cluster { kinds: used.iter().map(kind).collect(), machines: machines.collect() };
        let curve = |table: &[(f64, f64)], slower: f64, inputs: f64| -> Vec<(f64, f64)> {
            table.iter().map(|(load, seconds)| (load * inputs / scale, seconds * slower)).collect()
        };
        let curves = used.iter().map(|instance| {
            let (table, slower) = instance.cpu;
            let gpu = instance.gpu.then(|| curve(&H200, 25.0, 1.0 / 6.0));
            [Some(curve(table, slower, 1.0)), gpu].into_iter().flatten().collect::<Vec<_>>()
        });
        World {
            curves: curves.collect(),
            aggregation: used.iter().map(|_| 2.0 * parameter_bytes / ADDING).collect(),
            bandwidth: used.iter().map(|instance| instance.bandwidth).collect(),
            latency: 0.005,
            per_worker: 0.0,
            slow: vec![1.0; cluster.machines.len()],
            noise: 0.02,
            hidden: 0.0,
            memory: cluster.kinds.iter().map(|kind| vec![None; kind.devices.len()]).collect(),
            job: Job { cluster, batch: self.batch, parameter_bytes },
        }
    }
}

/// Inputs and seconds, measured on so many cores or on an H200.
const CPU4: [(f64, f64); 8] = [
    (1.0, 0.065036),
    (2.0, 0.084209),
    (4.0, 0.11317),
    (8.0, 0.15906),
    (16.0, 0.24639),
    (32.0, 0.52638),
    (64.0, 0.89919),
    (128.0, 1.651),
];
const CPU8: [(f64, f64); 8] = [
    (1.0, 0.037657),
    (2.0, 0.046648),
    (4.0, 0.063412),
    (8.0, 0.10478),
    (16.0, 0.16513),
    (32.0, 0.28886),
    (64.0, 0.53949),
    (128.0, 1.0355),
];
const CPU16: [(f64, f64); 8] = [
    (1.0, 0.028877),
    (2.0, 0.039302),
    (4.0, 0.052321),
    (8.0, 0.06216),
    (16.0, 0.095649),
    (32.0, 0.16627),
    (64.0, 0.32695),
    (128.0, 0.63113),
];
const H200: [(f64, f64); 12] = [
    (1.0, 0.002159),
    (2.0, 0.002243),
    (4.0, 0.002215),
    (8.0, 0.002471),
    (16.0, 0.002963),
    (32.0, 0.003238),
    (64.0, 0.004395),
    (128.0, 0.007779),
    (256.0, 0.014184),
    (512.0, 0.026846),
    (1024.0, 0.052321),
    (2048.0, 0.1033),
];
