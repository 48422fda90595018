//! How long planning takes: `cargo bench -p hemingway-plan --bench planning`.

use divan::{Bencher, black_box};
use hemingway_plan::{Configuration, Goal, Inputs, Planner, Profile, Score, Settings};
use hemingway_train::{Cluster, DataProfile, Loss, Machine, MachineType, catalogue};

const MACHINES: [usize; 4] = [8, 64, 256, 1024];

fn main() {
    divan::main();
}

/// From what is known to a plan.
#[divan::bench(args = MACHINES)]
fn plan(bencher: Bencher, machines: usize) {
    bencher.with_inputs(|| inputs(machines)).bench_values(|inputs| Planner::new(inputs).decide());
}

/// The models and what is not known of them, without the plan.
#[divan::bench(args = MACHINES)]
fn models(bencher: Bencher, machines: usize) {
    bencher.with_inputs(|| inputs(machines)).bench_values(Planner::new);
}

/// The best error within a time, which is found by halving.
#[divan::bench(args = MACHINES)]
fn plan_for_a_deadline(bencher: Bencher, machines: usize) {
    let goal = Goal { within: Some(10.0), ..Goal::default() };
    let inputs = || Inputs { goal, ..inputs(machines) };
    bencher.with_inputs(inputs).bench_values(|inputs| Planner::new(inputs).decide());
}

/// One scored round of a run under way.
#[divan::bench(args = MACHINES)]
fn observe(bencher: Bencher, machines: usize) {
    observe_one(bencher, inputs(machines));
}

#[divan::bench(args = MACHINES)]
fn observe_for_a_deadline(bencher: Bencher, machines: usize) {
    let goal = Goal { within: Some(10.0), ..Goal::default() };
    observe_one(bencher, Inputs { goal, ..inputs(machines) });
}

fn observe_one(bencher: Bencher, inputs: Inputs) {
    let mut planner = Planner::new(inputs);
    let plan = planner.decide().plan.expect("a plan");
    planner.begin(&plan);
    planner.observe(Score { rounds: 1, seconds: 0.01, error: 0.9 });
    let score = Score { rounds: 2, seconds: 0.02, error: 0.8 };
    bencher.with_inputs(|| planner.clone()).bench_refs(|planner| planner.observe(black_box(score)));
}

/// Every algorithm on powers of two, what is half-way between and all machines, as the library offers them.
fn inputs(machines: usize) -> Inputs {
    let powers = std::iter::successors(Some(1), |m| Some(2 * m)).take_while(|m| *m <= machines);
    let between = powers.clone().map(|m| m + m / 2).filter(|m| *m <= machines);
    let mut workers: Vec<usize> = powers.chain(between).collect();
    workers.sort_unstable();
    workers.dedup();
    let mut configurations = Vec::new();
    for entry in catalogue() {
        for &workers in workers.iter().filter(|workers| **workers > 1 || entry.alone.is_none()) {
            let local_work = workers > 1 && entry.parameters.contains(&"local_steps");
            for &passes in if local_work { &[1.0, 4.0][..] } else { &[1.0] } {
                configurations.push(Configuration { algorithm: entry.name.to_owned(), workers, passes });
            }
        }
    }
    Inputs {
        profile: profile(),
        cluster: cluster(machines),
        configurations,
        goal: Goal { error: Some(1e-4), ..Goal::default() },
        real_clock: false,
        reading: None,
        history: Vec::new(),
        settings: Settings::default(),
    }
}

fn profile() -> Profile {
    let data = DataProfile {
        rows: 1_000_000,
        features: 1000,
        nonzeros: 40_000_000,
        mean_squared_norm: 1.0,
        unevenness: 1.3,
        spectrum: vec![(0.5, 1.0), (5e-4, 1000.0)],
    };
    Profile { data, loss: Loss::Logistic, lambda: 1e-4, bias: false }
}

fn cluster(machines: usize) -> Cluster {
    let name = "usual".to_owned();
    let kind = MachineType { name, count: machines, speed: 1.0, cores: 1, memory: None, price: None };
    Cluster { machines: vec![kind], ..Cluster::of(Machine::default()) }
}
