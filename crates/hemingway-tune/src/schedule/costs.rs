//! What a schedule costs where everything is known: the simulator's truth, or one draw from the model.

use super::cluster::Job;

/// Seconds of a device against its load. Between points both are interpolated as logarithms; more inputs never take less.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    loads: Vec<f64>,
    seconds: Vec<f64>,
}

impl Curve {
    /// Through these points, sorted by load.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        let (loads, mut seconds): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        for at in 1..seconds.len() {
            seconds[at] = seconds[at].max(seconds[at - 1] * (1.0 + 1e-9));
        }
        Curve { loads, seconds }
    }

    /// Seconds of a load.
    pub fn seconds(&self, load: f64) -> f64 {
        let last = self.loads.len() - 1;
        if load >= self.loads[last] {
            return self.seconds[last] * load / self.loads[last];
        }
        let after = self.loads.partition_point(|known| *known <= load);
        if after == 0 {
            return self.seconds[0];
        }
        between(load, after, &self.loads, &self.seconds)
    }

    /// The largest load within these seconds.
    pub fn most(&self, seconds: f64) -> f64 {
        let last = self.loads.len() - 1;
        if seconds >= self.seconds[last] {
            return self.loads[last] * seconds / self.seconds[last];
        }
        let after = self.seconds.partition_point(|known| *known <= seconds);
        if after == 0 {
            return 0.0;
        }
        between(seconds, after, &self.seconds, &self.loads)
    }
}

fn between(x: f64, after: usize, xs: &[f64], ys: &[f64]) -> f64 {
    let (x0, x1, y0, y1) = (xs[after - 1], xs[after], ys[after - 1], ys[after]);
    let share = (x / x0).ln() / (x1 / x0).ln();
    y0 * (y1 / y0).powf(share)
}

/// All costs of a job.
#[derive(Debug, Clone)]
pub struct Costs {
    /// Of each device of each kind of machine.
    pub curves: Vec<Vec<Curve>>,
    /// Of each device of each machine: how much slower it is than its kind.
    pub factors: Vec<Vec<f64>>,
    /// Of each kind: seconds to add up the gradients of its devices, if more than one computes.
    pub aggregation: Vec<f64>,
    /// Of each kind: bytes per second.
    pub speeds: Vec<f64>,
    /// Seconds that any communication takes.
    pub latency: f64,
    /// Seconds more of communication for each worker.
    pub per_worker: f64,
    /// How much of the shorter of computation and communication is hidden behind the other.
    pub hidden: f64,
    /// Of each device of each kind: the most inputs that fit.
    pub most: Vec<Vec<f64>>,
}

impl Costs {
    /// How many inputs a machine can do within these seconds, whole or not.
    pub(super) fn done(&self, job: &Job, machine: usize, seconds: f64) -> f64 {
        self.loads(job, machine, seconds, |load| load).iter().sum()
    }

    /// The loads of a machine's devices with which it does most within these seconds, in whole numbers.
    pub(super) fn whole_loads(&self, job: &Job, machine: usize, seconds: f64) -> Vec<u64> {
        let loads = self.loads(job, machine, seconds, |load| (load + 1e-9).floor());
        loads.into_iter().map(|load| load as u64).collect()
    }

    fn loads(&self, job: &Job, machine: usize, seconds: f64, counted: fn(f64) -> f64) -> Vec<f64> {
        let kind = job.cluster.machines[machine].kind;
        let devices = self.curves[kind].len();
        let load = |device: usize, seconds: f64| {
            let most = self.curves[kind][device].most(seconds / self.factors[machine][device]);
            counted(most.min(self.most[kind][device]))
        };
        if devices == 1 {
            return vec![load(0, seconds)];
        }
        let choice = |used: usize| -> Vec<f64> {
            let alone = used.count_ones() == 1;
            let left = if alone { seconds } else { seconds - self.aggregation[kind] };
            (0..devices)
                .map(|d| if used & (1 << d) != 0 && left > 0.0 { load(d, left) } else { 0.0 })
                .collect()
        };
        let total = |loads: &Vec<f64>| loads.iter().sum::<f64>();
        let choices = subsets(devices).map(choice);
        choices.max_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or_default()
    }

    /// Seconds of computation and communication together.
    pub(crate) fn together(&self, computation: f64, communication: f64) -> f64 {
        computation + communication - self.hidden * computation.min(communication)
    }
}

/// Which devices of a machine may compute: any of a few; of many each alone, all, or all but one.
fn subsets(devices: usize) -> impl Iterator<Item = usize> {
    let all = (1usize << devices) - 1;
    (1..=all).filter(move |used| {
        let count = used.count_ones() as usize;
        devices <= 3 || count == 1 || count + 1 >= devices
    })
}
