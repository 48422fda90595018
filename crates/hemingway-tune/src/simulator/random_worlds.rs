//! Clusters that nobody chose: other machines, other networks, and other laws than the model's own. And known clusters with one
//! thing wrong.

use super::World;
use crate::random::{Rng, normal, uniform};
use crate::schedule::{Cluster, Curve, Device, Job, Kind, Machine};

/// What may be wrong with a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Trouble {
    /// One machine computes this much slower than others of its kind.
    Straggler(f64),
    /// The memory of accelerators holds this share of what they would get.
    Memory(f64),
    /// Device curves with steps and with a cache that overflows.
    Rough,
    /// Single times vary by this share.
    Noise(f64),
    /// This share of communication happens during computation.
    Hidden(f64),
}

/// A world with something wrong.
pub fn troubled(mut world: World, trouble: Trouble, rng: &mut Rng) -> World {
    match trouble {
        Trouble::Straggler(factor) => {
            let machine = (uniform(rng) * world.slow.len() as f64) as usize;
            world.slow[machine] = factor;
        }
        Trouble::Memory(share) => {
            let (best, _) = world.optimum();
            for (machine, role) in best.roles.iter().enumerate() {
                let limits = &mut world.memory[world.job.cluster.machines[machine].kind];
                for (limit, load) in limits.iter_mut().zip(&role.loads).skip(1) {
                    let most = (share * *load as f64).floor() as u64;
                    *limit = (*limit).max((most > 0).then_some(most));
                }
            }
        }
        Trouble::Rough => {
            let batch = world.job.batch as f64;
            for table in world.curves.iter_mut().flatten() {
                *table = rough(&Curve::new(table.clone()), batch, rng);
            }
        }
        Trouble::Noise(noise) => world.noise = noise,
        Trouble::Hidden(share) => world.hidden = share,
    }
    world
}

/// A curve in tiles, with a cache that overflows somewhere.
fn rough(curve: &Curve, batch: f64, rng: &mut Rng) -> Vec<(f64, f64)> {
    let tile = (batch / 200.0).max(2.0).round() * (1.0 + 2.0 * uniform(rng)).round();
    let overflow = batch * (0.02 + 0.1 * uniform(rng));
    let drop = 1.1 + 0.3 * uniform(rng);
    let mut table = Vec::new();
    let mut tiles = 1.0;
    while (tiles - 1.0) * tile < batch {
        let (first, last) = ((tiles - 1.0) * tile + 1.0, tiles * tile);
        let factor = if last > overflow { drop } else { 1.0 };
        let seconds = curve.seconds(last) * factor;
        table.push((first, 0.97 * seconds));
        table.push((last, seconds));
        tiles += 1.0;
    }
    table
}

/// A cluster and a job drawn at random. Its devices follow laws with a power, with tiles or with two regimes; its network slows
/// down with the number of workers; some of its communication may be hidden.
pub fn random_world(rng: &mut Rng) -> World {
    let between = |rng: &mut Rng, low: f64, high: f64| low * (high / low).powf(uniform(rng));
    let count =
        |rng: &mut Rng, low: usize, high: usize| low + (uniform(rng) * (high - low + 1) as f64) as usize;
    let batch = between(rng, 64.0, 65536.0).round() as u64;
    let kinds = count(rng, 2, 5);
    let per_input = between(rng, 1e-4, 1e-1);
    let mut world = World {
        job: Job { cluster: Cluster::default(), batch, parameter_bytes: 0.0 },
        curves: Vec::new(),
        aggregation: Vec::new(),
        bandwidth: Vec::new(),
        latency: 0.0,
        per_worker: 0.0,
        slow: Vec::new(),
        noise: between(rng, 0.005, 0.05),
        hidden: if uniform(rng) < 0.25 { 0.6 * uniform(rng) } else { 0.0 },
        memory: Vec::new(),
    };
    for kind in 0..kinds {
        let several = uniform(rng) < 0.3;
        let mut devices = Vec::new();
        let mut curves = Vec::new();
        for name in if several { &["cpu", "gpu"][..] } else { &["cpu"][..] } {
            let faster = if *name == "gpu" { between(rng, 2.0, 12.0) } else { between(rng, 0.4, 4.0) };
            curves.push(law(per_input / faster, batch, rng));
            // Guesses are right within a factor of two or so.
            devices.push(Device {
                name: (*name).into(),
                speed: faster * (0.5 * normal(rng)).exp(),
                most: None,
            });
        }
        world.memory.push(vec![None; devices.len()]);
        world.job.cluster.kinds.push(Kind { name: format!("kind {kind}"), devices, bandwidth: None });
        world.curves.push(curves);
        world.bandwidth.push(between(rng, 4e7, 1e9));
        world.aggregation.push(0.0);
        for number in 0..count(rng, 1, 4) {
            world.job.cluster.machines.push(Machine { name: format!("machine {kind}.{number}"), kind });
            world.slow.push((0.01 * normal(rng)).exp());
        }
    }
    // Parameters of such a size that neither computing nor the network is all that counts.
    let computing = world.optimum().1;
    let slowest = world.bandwidth.iter().copied().fold(f64::INFINITY, f64::min);
    world.job.parameter_bytes = computing * slowest * between(rng, 0.05, 2.0);
    world.aggregation = world.bandwidth.iter().map(|_| 0.1 * uniform(rng) * computing).collect();
    world.latency = 0.02 * uniform(rng) * computing;
    world.per_worker = 0.02 * uniform(rng) * computing;
    world
}

fn law(per_input: f64, batch: u64, rng: &mut Rng) -> Vec<(f64, f64)> {
    let overhead = 0.2 * uniform(rng) * batch as f64 / 10.0;
    let power = 0.9 + 0.2 * uniform(rng);
    let knee = batch as f64 * (0.02 + 0.2 * uniform(rng));
    let (form, worse) = (uniform(rng), 1.0 + 0.4 * uniform(rng));
    let seconds = |load: f64| {
        let linear = per_input * (overhead + load);
        match form {
            f if f < 0.4 => per_input * (overhead + knee * (load / knee).powf(power)),
            f if f < 0.7 => linear * if load > knee { worse } else { 1.0 },
            _ => per_input * (overhead.powi(2) + load.powi(2)).sqrt(),
        }
    };
    let mut loads = vec![1.0f64];
    while loads[loads.len() - 1] < batch as f64 {
        loads.push((loads[loads.len() - 1] * 1.1).ceil());
    }
    loads.into_iter().map(|load| (load, seconds(load))).collect()
}
