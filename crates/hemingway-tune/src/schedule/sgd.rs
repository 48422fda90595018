//! The probabilistic model of one iteration of distributed SGD.
//!
//! ```text
//! device        n inputs take b·(n + n₀) seconds, times what a Gaussian process over ln n says, times a factor of the machine
//! machine       its slowest device, and adding up gradients where several devices compute
//! communication the largest of transfer / speed over all machines, times what a Gaussian process says
//! iteration     the slowest machine, then communication, of which a part may be hidden behind computation
//! ```
//!
//! Devices of one type share a part; a machine that is slower than others of its kind is told from them by its factor.

use std::sync::Arc;

use super::answer::Answer;
use super::cluster::Job;
use super::configuration::Schedule;
use super::costs::{Costs, Curve};
use super::registry::{Layout, Registry};
use super::search::transfers;
use crate::gp::{KernelPrior, Point};
use crate::model::{Mode, Model, Part, largest};
use crate::posterior::Draw;
use crate::prior::Prior;

/// A schedule of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The job.
    pub job: Arc<Job>,
    /// Who is who in it.
    pub layout: Arc<Layout>,
    /// The schedule.
    pub schedule: Schedule,
}

/// The model of one iteration.
pub struct Sgd {
    parts: Vec<Box<dyn Part>>,
    /// For each kind of machine with several devices, the part for adding up gradients.
    aggregations: Vec<Option<usize>>,
}

impl Sgd {
    /// For all that is known by name; measurements say what is usual, from where the rest is learnt.
    pub fn new(registry: &Registry, job: &Job, cases: &[(Placed, Answer)]) -> Sgd {
        let usual = Usual::new(job, cases);
        let computation = |(kind, device): &(String, super::Device)| {
            Box::new(Computation {
                name: format!("{kind} {}", device.name),
                usual: usual.seconds_per_input - device.speed.ln(),
                sure: usual.sure,
                overhead: usual.load,
                machines: registry.machines.len(),
            }) as Box<dyn Part>
        };
        let mut parts: Vec<Box<dyn Part>> = registry.devices.iter().map(computation).collect();
        let mut aggregations = Vec::new();
        for kind in &registry.kinds {
            let several = kind.devices.len() > 1;
            aggregations.push(several.then_some(parts.len()));
            if several {
                let name = format!("{} adding up gradients", kind.name);
                parts.push(Box::new(Aggregation { name, usual: usual.seconds, devices: kind.devices.len() }));
            }
        }
        let bandwidths = registry.kinds.iter().map(|kind| kind.bandwidth.map(f64::ln)).collect();
        parts.push(Box::new(Communication { bandwidths, usual: usual.speed, latency: usual.seconds }));
        parts.push(Box::new(Iteration));
        Sgd { parts, aggregations }
    }

    /// The part for the communication.
    pub fn communication(&self) -> usize {
        self.parts.len() - 2
    }

    /// The part for the whole iteration.
    pub fn iteration(&self) -> usize {
        self.parts.len() - 1
    }

    /// Bytes per second of a kind of machine, from the parameters of the communication.
    pub(super) fn speed(kind: usize, parameters: &[f64]) -> f64 {
        parameters[Communication::SPEEDS + kind].exp()
    }

    /// What schedules of a job cost if a draw is true.
    pub fn costs(&self, job: &Job, layout: &Layout, draw: &Draw) -> Costs {
        let grid = grid(job.batch);
        let curve =
            |part: &usize| Curve::new(grid.iter().map(|load| (*load, draw.common(*part, &[*load, 0.0]))));
        // A machine of each kind stands for all of them; a kind without machines costs nothing.
        let of_kind = |kind: usize| job.cluster.of_kind(kind).next();
        let communication = draw.parameters(self.communication());
        let kinds = || (0..job.cluster.kinds.len()).map(of_kind);
        let factor = |machine: usize| {
            let own = |part: &usize| draw.particular(*part, layout.machines[machine]);
            layout.devices[machine].iter().map(own).collect()
        };
        let aggregation = |machine: Option<usize>| {
            let part = machine.and_then(|machine| self.aggregations[layout.kinds[machine]]);
            part.map_or(0.0, |part| draw.parameters(part)[0].exp())
        };
        let hidden = |a: f64, b: f64| 1.0 - (1.0 - a) * (1.0 - b);
        Costs {
            curves: kinds()
                .map(|machine| {
                    machine.map_or(Vec::new(), |machine| layout.devices[machine].iter().map(curve).collect())
                })
                .collect(),
            factors: (0..job.cluster.machines.len()).map(factor).collect(),
            aggregation: kinds().map(aggregation).collect(),
            speeds: kinds()
                .map(|machine| {
                    machine.map_or(1.0, |machine| Sgd::speed(layout.kinds[machine], communication))
                })
                .collect(),
            latency: communication[Communication::LATENCY].exp(),
            per_worker: 0.0,
            hidden: hidden(communication[Communication::HIDDEN], draw.parameters(self.iteration())[1]),
            most: job.most(),
        }
    }

    /// Seconds per iteration if a draw is true.
    pub fn seconds(&self, placed: &Placed, draw: &Draw) -> f64 {
        let mut mode = draw;
        self.run(placed, None, &mut mode)
    }
}

/// Loads from 1 to the batch, small ones one by one.
fn grid(batch: u64) -> Vec<f64> {
    let mut loads = vec![1.0f64];
    while loads[loads.len() - 1] < batch as f64 {
        let last = loads[loads.len() - 1];
        loads.push((last * 1.25).ceil().min(batch as f64));
    }
    loads
}

impl Model for Sgd {
    type Configuration = Placed;
    type Measured = Answer;

    fn parts(&self) -> &[Box<dyn Part>] {
        &self.parts
    }

    fn run(&self, placed: &Placed, measured: Option<&Answer>, mode: &mut dyn Mode) -> f64 {
        let Placed { job, layout, schedule } = placed;
        let cluster = &job.cluster;
        let mut times = Vec::new();
        for (machine, role) in schedule.roles.iter().enumerate().filter(|(_, role)| role.worker()) {
            let whole = measured.and_then(|answer| answer.machine(cluster, machine));
            let busy: Vec<usize> = (0..role.loads.len()).filter(|device| role.loads[*device] > 0).collect();
            let individual = layout.machines[machine] as f64;
            let slowest = largest(busy.iter().map(|device| {
                let own = measured.and_then(|answer| answer.device(cluster, machine, *device));
                // Where one device computes, the machine's time is its own.
                let own = if busy.len() == 1 { whole.or(own) } else { own };
                mode.quantity(
                    layout.devices[machine][*device],
                    &[role.loads[*device] as f64, individual],
                    own,
                )
            }));
            times.push(match self.aggregations[layout.kinds[machine]].filter(|_| busy.len() > 1) {
                Some(part) => {
                    let loads = role.loads.iter().map(|load| *load as f64);
                    let input: Vec<f64> = std::iter::once(slowest).chain(loads).collect();
                    mode.quantity(part, &input, whole)
                }
                None => slowest,
            });
        }
        let computation = largest(times.iter().copied());
        let mut input = vec![computation, schedule.workers() as f64, schedule.servers() as f64];
        input.resize(Communication::TRANSFERS + self.aggregations.len(), 0.0);
        for (machine, bytes) in transfers(job, schedule).into_iter().enumerate() {
            let most = &mut input[Communication::TRANSFERS + layout.kinds[machine]];
            *most = most.max(bytes);
        }
        // A communication of no time at all has no logarithm.
        let seen = measured
            .and_then(|answer| Some(answer.communication_time?.clamp(1e-4 * answer.time, answer.time)));
        let communication = mode.quantity(self.communication(), &input, seen);
        let whole: Vec<f64> = std::iter::once(communication).chain(times).collect();
        mode.quantity(self.iteration(), &whole, measured.map(|answer| answer.time))
    }
}

/// What is usual in this cluster, from a first look at what was measured: where priors have their middle.
struct Usual {
    /// ln of seconds per input of a device of speed 1.
    seconds_per_input: f64,
    /// The standard deviation of that.
    sure: f64,
    /// ln of bytes per second.
    speed: f64,
    /// Seconds of an iteration.
    seconds: f64,
    /// Inputs of a device.
    load: f64,
}

impl Usual {
    fn new(job: &Job, cases: &[(Placed, Answer)]) -> Usual {
        let (mut rates, mut guesses, mut speeds, mut seconds) = (vec![], vec![], vec![], vec![]);
        for (Placed { job, schedule, .. }, answer) in cases {
            seconds.push(answer.time);
            for (machine, role) in schedule.roles.iter().enumerate() {
                for (device, load) in role.loads.iter().enumerate().filter(|(_, load)| **load > 0) {
                    let hint = job.cluster.kind_of(machine).devices[device].speed;
                    let rate = |seconds: f64| (seconds / *load as f64 * hint).ln();
                    let own = answer.device(&job.cluster, machine, device);
                    match own.or_else(|| answer.machine(&job.cluster, machine)) {
                        Some(seconds) => rates.push(rate(seconds)),
                        None => guesses.push(rate(0.5 * answer.time)),
                    }
                }
            }
            let most = transfers(job, schedule).into_iter().fold(0.0, f64::max);
            let spent = answer.communication_time.unwrap_or(0.5 * answer.time);
            if most > 0.0 && spent > 0.0 {
                speeds.push((most / spent).ln());
            }
        }
        let sure = if rates.is_empty() { 1.5 } else { 1.0 };
        let load = job.batch as f64 / job.cluster.devices().max(1) as f64;
        Usual {
            seconds_per_input: median(if rates.is_empty() { guesses } else { rates }).unwrap_or(-7.0),
            sure,
            speed: median(speeds).unwrap_or(1.25e8f64.ln()),
            seconds: median(seconds).unwrap_or(1.0),
            load,
        }
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Seconds of one type of device: inputs are the load and the machine.
struct Computation {
    name: String,
    /// ln of seconds per input.
    usual: f64,
    sure: f64,
    /// A usual load.
    overhead: f64,
    machines: usize,
}

impl Part for Computation {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn priors(&self) -> Vec<Prior> {
        vec![Prior::normal(self.usual, self.sure), Prior::log_normal(0.05 * self.overhead, 5.0)]
    }

    fn mean(&self, parameters: &[f64], input: &[f64]) -> f64 {
        parameters[0] + (input[0] + parameters[1].exp()).ln()
    }

    fn point(&self, input: &[f64]) -> Point {
        Point { at: vec![input[0].ln()], individual: input[1] as usize }
    }

    fn kernel(&self) -> KernelPrior {
        KernelPrior {
            amplitude: Prior::log_normal(0.05, 2.5),
            lengths: vec![Prior::log_normal(1.0, 1.7)],
            individual: Some(Prior::log_normal(0.02, 4.0)),
            noise: Prior::log_normal(0.01, 3.0),
        }
    }

    fn individuals(&self) -> usize {
        self.machines
    }
}

/// Seconds of a machine with several devices: inputs are those of its slowest and the loads of all.
struct Aggregation {
    name: String,
    /// Seconds of an iteration.
    usual: f64,
    devices: usize,
}

impl Part for Aggregation {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn priors(&self) -> Vec<Prior> {
        vec![Prior::log_normal(0.03 * self.usual, 5.0)]
    }

    fn mean(&self, parameters: &[f64], input: &[f64]) -> f64 {
        (input[0] + parameters[0].exp()).ln()
    }

    fn point(&self, input: &[f64]) -> Point {
        Point { at: input[1..].iter().map(|load| (1.0 + load).ln()).collect(), individual: 0 }
    }

    fn kernel(&self) -> KernelPrior {
        KernelPrior {
            amplitude: Prior::log_normal(0.02, 2.5),
            lengths: vec![Prior::log_normal(2.0, 2.0); self.devices],
            individual: None,
            noise: Prior::log_normal(0.01, 3.0),
        }
    }
}

/// Seconds of communication: inputs are those of the computation, the numbers of workers and servers, and the largest
/// transfer of each kind of machine.
struct Communication {
    /// ln of the bandwidths that are guessed.
    bandwidths: Vec<Option<f64>>,
    /// ln of a usual speed.
    usual: f64,
    /// Seconds of an iteration.
    latency: f64,
}

impl Communication {
    const HIDDEN: usize = 0;
    const LATENCY: usize = 1;
    const SPEEDS: usize = 2;
    const TRANSFERS: usize = 3;
}

impl Part for Communication {
    fn name(&self) -> String {
        "communication".into()
    }

    fn priors(&self) -> Vec<Prior> {
        let hinted: Vec<f64> = self.bandwidths.iter().flatten().copied().collect();
        // Guesses say how kinds compare; how fast the fastest is comes from what was measured, if anything was.
        let base = hinted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let speed = |hint: &Option<f64>| match hint {
            Some(hint) => Prior::normal(0.5 * (self.usual + hint - base) + 0.5 * hint, 0.8),
            // What was measured is the slowest transfer of all, so most are faster.
            None => Prior::normal(self.usual + 0.5, 1.2),
        };
        let first = [Prior::Rare { rate: 6.0 }, Prior::log_normal(0.01 * self.latency, 5.0)];
        first.into_iter().chain(self.bandwidths.iter().map(speed)).collect()
    }

    fn mean(&self, parameters: &[f64], input: &[f64]) -> f64 {
        let speeds = &parameters[Communication::SPEEDS..];
        let transfers = &input[Communication::TRANSFERS..];
        let longest =
            transfers.iter().zip(speeds).map(|(bytes, speed)| bytes * (-speed).exp()).fold(0.0, f64::max);
        let full = parameters[Communication::LATENCY].exp() + longest;
        let hidden = parameters[Communication::HIDDEN] * full.min(input[0]);
        (full - hidden).max(0.02 * full).ln()
    }

    fn point(&self, input: &[f64]) -> Point {
        Point { at: vec![input[1].ln(), input[2].ln()], individual: 0 }
    }

    fn kernel(&self) -> KernelPrior {
        KernelPrior {
            amplitude: Prior::log_normal(0.03, 2.5),
            lengths: vec![Prior::log_normal(1.0, 2.0); 2],
            individual: None,
            noise: Prior::log_normal(0.02, 3.0),
        }
    }
}

/// Seconds of an iteration: inputs are those of the communication and of every machine.
struct Iteration;

impl Part for Iteration {
    fn name(&self) -> String {
        "iteration".into()
    }

    fn priors(&self) -> Vec<Prior> {
        vec![Prior::log_normal(0.01, 3.0), Prior::Rare { rate: 6.0 }]
    }

    fn mean(&self, parameters: &[f64], input: &[f64]) -> f64 {
        let (communication, machines) = (input[0], &input[1..]);
        let computation = mean_of_largest(machines, parameters[0].exp());
        (computation + communication - parameters[1] * computation.min(communication)).ln()
    }

    fn point(&self, input: &[f64]) -> Point {
        let computation = input[1..].iter().copied().fold(0.0, f64::max);
        Point { at: vec![(input[0] / computation).ln(), ((input.len() - 1) as f64).ln()], individual: 0 }
    }

    fn kernel(&self) -> KernelPrior {
        KernelPrior {
            amplitude: Prior::log_normal(0.01, 2.5),
            lengths: vec![Prior::log_normal(1.5, 2.0); 2],
            individual: None,
            noise: Prior::log_normal(0.01, 3.0),
        }
    }
}

/// The mean of the largest of independent normal times with these means and relative deviations: more than the largest mean
/// where several are alike (Clark's approximation, one after the other).
fn mean_of_largest(means: &[f64], relative: f64) -> f64 {
    let first = (means[0], (relative * means[0]).powi(2));
    let (mean, _) = means[1..].iter().fold(first, |(a, variance_a), &b| {
        let variance_b = (relative * b).powi(2);
        let spread = (variance_a + variance_b).sqrt().max(1e-300);
        let apart = (a - b) / spread;
        if apart.abs() > 5.0 {
            return if a > b { (a, variance_a) } else { (b, variance_b) };
        }
        let (above, density) =
            (crate::normal_cdf(apart), (-0.5 * apart * apart).exp() / std::f64::consts::TAU.sqrt());
        let mean = a * above + b * (1.0 - above) + spread * density;
        let square =
            (a * a + variance_a) * above + (b * b + variance_b) * (1.0 - above) + (a + b) * spread * density;
        (mean, (square - mean * mean).max(0.0))
    });
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_maxima_is_more_than_the_maximum_of_means() {
        // Of two standard normal numbers the larger is 1/√π on the average; of ten 1.5388.
        assert!(
            (mean_of_largest(&[100.0, 100.0], 0.01) - 100.0 - 1.0 / std::f64::consts::PI.sqrt()).abs() < 1e-4
        );
        let ten = mean_of_largest(&[100.0; 10], 0.01);
        assert!((ten - 101.5388).abs() < 0.05, "{ten}");
        assert_eq!(mean_of_largest(&[1.0, 2.0, 1.5], 1e-3), 2.0);
    }
}
