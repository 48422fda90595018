//! What tuning comes to on an experiment, beside what people do who do not tune.

use std::sync::atomic::{AtomicBool, Ordering};

use hemingway_tune::random::stream;
use hemingway_tune::schedule::{Job, Options, Outcome, Schedule, Tuner};
use hemingway_tune::simulator::{Experiment, World};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::{BUDGET, CONVERGENCE, LONG_BUDGET};

/// Iterations of one evaluation.
const ITERATIONS: f64 = 20.0;

/// An experiment, tuned with several seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TunedExperiment {
    /// Which.
    #[serde(serialize_with = "by_name")]
    pub experiment: Experiment,
    /// How many machines there are.
    pub machines: usize,
    /// What is tuned: two choices for each machine and a load for each device.
    pub parameters: usize,
    /// Seconds per iteration of the best schedule that is known: what a search with exact costs finds, unless a better one was seen.
    pub optimum: f64,
    /// Seconds per iteration with the same load on every device.
    pub uniform_devices: f64,
    /// Seconds per iteration with the same load on every GPU, where there are GPUs.
    pub uniform_gpus: Option<f64>,
    /// One for each seed.
    pub studies: Vec<Study>,
}

/// One study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// After each evaluation: seconds per iteration, without noise, of the schedule that would be chosen.
    pub seconds: Vec<f64>,
    /// How many machines compute in the schedule after ten evaluations.
    pub workers: usize,
    /// How many serve parameters in it.
    pub servers: usize,
    /// Simulated seconds that the first ten evaluations take.
    pub evaluating: f64,
}

impl TunedExperiment {
    /// Tunes it; nothing if interrupted.
    pub(super) fn tune(
        experiment: Experiment,
        seeds: u64,
        interrupt: &AtomicBool,
    ) -> Option<TunedExperiment> {
        let world = experiment.world();
        let evaluations = if experiment == CONVERGENCE { LONG_BUDGET } else { BUDGET };
        let study = |seed: u64| Study::make(&world, seed, evaluations, interrupt);
        let studies = (1..=seeds).into_par_iter().map(study).collect::<Option<Vec<Study>>>()?;
        let exact = |schedule: &Schedule| world.exact(schedule).unwrap_or(f64::INFINITY);
        let machines = world.job.cluster.machines.len();
        let mut tuned = TunedExperiment {
            experiment,
            machines,
            parameters: 2 * machines + world.job.cluster.devices(),
            optimum: world.optimum().1,
            uniform_devices: exact(&Schedule::uniform(&world.job)),
            uniform_gpus: uniform_gpus(&world.job).map(|schedule| exact(&schedule)),
            studies,
        };
        // No search is trusted to find what a simple configuration or a study has found.
        let seen = tuned.studies.iter().flat_map(|study| study.seconds.iter().copied());
        tuned.optimum = seen.fold(tuned.optimum.min(tuned.simple()), f64::min);
        Some(tuned)
    }

    /// The median study, by the seconds that it came to.
    pub fn median(&self) -> &Study {
        let mut order: Vec<&Study> = self.studies.iter().collect();
        order.sort_by(|a, b| a.optimised().total_cmp(&b.optimised()));
        order[(order.len() - 1) / 2]
    }

    /// Seconds per iteration after ten evaluations, in the median of seeds.
    pub fn optimised(&self) -> f64 {
        self.median().optimised()
    }

    /// The better one of the simple configurations.
    pub(super) fn simple(&self) -> f64 {
        self.uniform_gpus.map_or(self.uniform_devices, |gpus| gpus.min(self.uniform_devices))
    }

    /// Milliseconds per input.
    pub(super) fn per_input(&self, seconds: f64) -> f64 {
        1e3 * seconds / self.experiment.batch as f64
    }
}

impl Study {
    /// The study that `hemingway tune --simulate` makes with this seed and `--stop-below 0`.
    fn make(world: &World, seed: u64, evaluations: usize, interrupt: &AtomicBool) -> Option<Study> {
        let mut tuner = Tuner::new(world.job.clone(), Options { seed, ..Options::default() });
        let mut made = Study { seconds: Vec::new(), workers: 0, servers: 0, evaluating: 0.0 };
        let mut next = tuner.think().propose().schedule;
        for number in 1..=evaluations {
            if interrupt.load(Ordering::Relaxed) {
                return None;
            }
            let outcome = world.evaluate(&next, &mut stream(seed, "evaluation", number as u64));
            let spent = if let Outcome::Measured(answer) = &outcome { ITERATIONS * answer.time } else { 0.0 };
            tuner.tell(next, outcome);
            let thought = tuner.think();
            let chosen = thought.best().map(|at| &tuner.evaluated()[at].schedule);
            made.seconds.push(chosen.and_then(|chosen| world.exact(chosen)).unwrap_or(f64::INFINITY));
            if number <= BUDGET {
                (made.workers, made.servers) =
                    chosen.map_or((0, 0), |chosen| (chosen.workers(), chosen.servers()));
                made.evaluating += spent;
            }
            if number == evaluations {
                break;
            }
            next = thought.propose().schedule;
        }
        Some(made)
    }

    /// Seconds per iteration after ten evaluations.
    pub fn optimised(&self) -> f64 {
        self.seconds[BUDGET - 1]
    }
}

/// The same load on every GPU, nothing on processors; machines with a GPU are servers too.
fn uniform_gpus(job: &Job) -> Option<Schedule> {
    let gpu = |machine: usize, device: usize| job.cluster.kind_of(machine).devices[device].name == "gpu";
    let any = job.cluster.kinds.iter().flat_map(|kind| &kind.devices).any(|device| device.name == "gpu");
    let open: Vec<Vec<f64>> =
        job.cluster.kinds.iter().map(|kind| vec![f64::INFINITY; kind.devices.len()]).collect();
    any.then(|| {
        Schedule::by_weight_within(job, &open, |machine, device| f64::from(u8::from(gpu(machine, device))))
    })
}

/// Everything that the first figure shows, an experiment in a line. Seconds are per iteration.
pub(super) fn csv(experiments: &[TunedExperiment]) -> String {
    let mut text = "experiment,batch,best_possible_seconds,uniform_devices_seconds,uniform_gpus_seconds,\
        optimised_seconds,optimised_least,optimised_most,workers,servers\n"
        .to_owned();
    for each in experiments {
        let Study { workers, servers, .. } = each.median();
        let [low, high] = spread(each.studies.iter().map(Study::optimised));
        let gpus = each.uniform_gpus.map_or(String::new(), |seconds| seconds.to_string());
        text += &format!(
            "{},{},{},{},{gpus},{},{low},{high},{workers},{servers}\n",
            each.experiment,
            each.experiment.batch,
            each.optimum,
            each.uniform_devices,
            each.optimised()
        );
    }
    text
}

/// The least and the most.
pub(super) fn spread(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
}

fn by_name<S: Serializer>(experiment: &Experiment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(experiment)
}

#[cfg(test)]
mod tests {
    use hemingway_tune::simulator::experiment;

    use super::*;

    #[test]
    fn uniform_gpus_use_gpus_only() {
        let job = |name: &str| experiment(name).unwrap().world().job;
        assert_eq!(uniform_gpus(&job("a-alexnet-256")), None);
        for (name, gpus) in [("b-alexnet-256", 1), ("c-alexnet-256", 2)] {
            let schedule = uniform_gpus(&job(name)).unwrap();
            assert_eq!((schedule.workers(), schedule.servers(), schedule.batch()), (gpus, gpus, 256));
        }
    }

    #[test]
    fn a_study_knows_its_schedule_after_ten_evaluations() {
        let never = AtomicBool::new(false);
        let tuned = TunedExperiment::tune(experiment("a-googlenet-64").unwrap(), 1, &never).unwrap();
        assert_eq!((tuned.machines, tuned.parameters, tuned.uniform_gpus), (10, 30, None));
        let study = tuned.median();
        assert_eq!(study.seconds.len(), BUDGET);
        assert!(study.workers >= 1 && study.servers >= 1, "{study:?}");
        assert!(tuned.optimum <= tuned.optimised() && tuned.optimised() <= tuned.simple(), "{tuned:?}");
        assert_eq!(TunedExperiment::tune(tuned.experiment, 1, &AtomicBool::new(true)), None);
    }
}
