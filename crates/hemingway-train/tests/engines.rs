//! Every algorithm on every engine: the same numbers, whatever the clock.

mod trial;

use std::panic::{AssertUnwindSafe, catch_unwind};

use hemingway_train::{
    Algorithm, Cluster, Collective, Engine, Entry, Error, Family, Job, Loss, Machine, MachineType, Model,
    Needs, Network, Problem, Scoring, Simulated, Solver, Start, Stop, StopRules, Stragglers, Threads, Worker,
    catalogue, engines, entry,
};
use trial::{Outcome, Recipe, Trial, needs, simulated, within_seconds};

/// Noisy rows, with gaps and repeats.
fn recipe() -> Recipe {
    Recipe { rows: 90, columns: 11, sparse: true, empty: 0.05, repeated: 0.05, ..Recipe::default() }
}

fn trials(workers: usize) -> impl Iterator<Item = Trial> {
    let losses = [(Loss::Logistic, false), (Loss::Hinge, false), (Loss::Squared, true), (Loss::Hinge, true)];
    catalogue().iter().flat_map(move |entry| {
        losses.into_iter().map(move |(loss, bias)| {
            let mut trial = Trial::of(recipe().cook(), loss, entry.name);
            (trial.problem.bias, trial.workers) = (bias, workers);
            trial
        })
    })
}

/// Of methods whose workers wait for one another, so that clocks decide nothing.
fn in_step(workers: usize) -> impl Iterator<Item = Trial> {
    trials(workers).filter(|trial| matches!(needs(trial.algorithm), Needs::Collectives | Needs::Neighbours))
}

/// Everything about a run but its clocks, bit for bit.
fn numbers(outcome: &Outcome) -> (Vec<u64>, Vec<u64>, u64) {
    let bits = |values: &mut dyn Iterator<Item = f64>| values.map(f64::to_bits).collect::<Vec<u64>>();
    let model = &outcome.run.model;
    let duals = model.duals.iter().flatten().copied();
    let weights = bits(&mut model.weights.iter().copied().chain(duals));
    let trace = outcome.points.iter().flat_map(|point| {
        [point.round as f64, point.current, point.primal, point.dual, point.certified_error]
    });
    (weights, bits(&mut trace.into_iter()), outcome.run.rounds)
}

fn seconds(outcome: &Outcome) -> Vec<f64> {
    outcome.points.iter().map(|point| point.seconds.0).chain([outcome.run.seconds.0]).collect()
}

fn describe(trial: &Trial) -> String {
    let Problem { loss, bias, .. } = trial.problem;
    format!("{} on {loss}, bias {bias}, {} workers", trial.algorithm, trial.workers)
}

#[test]
fn threads_and_simulation_agree_to_the_bit() {
    for workers in [1, 2, 3, 5] {
        for trial in in_step(workers) {
            let (threads, simulated) = (trial.run(&Threads).unwrap(), trial.run(&simulated()).unwrap());
            assert_eq!(numbers(&threads), numbers(&simulated), "{}", describe(&trial));
        }
    }
}

#[test]
fn threads_and_simulation_score_the_same_rounds_by_themselves() {
    for mut trial in in_step(3) {
        trial.scoring = Scoring::default();
        trial.stop = StopRules { error: Some(1e-3), rounds: Some(60), ..StopRules::default() };
        let (threads, simulated) = (trial.run(&Threads).unwrap(), trial.run(&simulated()).unwrap());
        assert_eq!(numbers(&threads), numbers(&simulated), "{}", describe(&trial));
    }
}

#[test]
fn the_same_seed_repeats_a_simulation_with_its_seconds() {
    for trial in trials(3) {
        let (first, second) = (trial.run(&simulated()).unwrap(), trial.run(&simulated()).unwrap());
        assert_eq!(numbers(&first), numbers(&second), "{}", describe(&trial));
        assert_eq!(seconds(&first), seconds(&second), "{}", describe(&trial));
    }
}

#[test]
fn rounds_that_nobody_looks_at_are_repeated_too() {
    for algorithm in ["hogwild", "passcode", "async-sgd"] {
        let mut trial = Trial { workers: 16, ..Trial::of(recipe().cook(), Loss::Logistic, algorithm) };
        (trial.stop.rounds, trial.scoring, trial.problem.bias) = (Some(60), Scoring::default(), true);
        let first = trial.run(&simulated()).unwrap();
        for _ in 0..20 {
            let again = trial.run(&simulated()).unwrap();
            assert_eq!((numbers(&again), seconds(&again)), (numbers(&first), seconds(&first)), "{algorithm}");
        }
    }
}

#[test]
fn another_seed_is_another_run_of_what_is_random() {
    for trial in trials(2) {
        let other = Trial { seed: trial.seed + 1, ..trial.clone() };
        let (first, second) = (trial.run(&simulated()).unwrap(), other.run(&simulated()).unwrap());
        let currents =
            |outcome: &Outcome| outcome.points.iter().map(|point| point.current).collect::<Vec<f64>>();
        let family = entry(trial.algorithm).unwrap().family;
        let stochastic = matches!(family, Family::Dual | Family::Stochastic | Family::Decentralised);
        assert_eq!(currents(&first) != currents(&second), stochastic, "{}", describe(&trial));
    }
}

#[test]
fn workers_draw_different_rows() {
    // Two workers with the same rows each: with the same draws they would move alike.
    let mut trial = Trial::of(Recipe { rows: 40, ..recipe() }.cook(), Loss::Hinge, "cocoa");
    let rows = trial::rows_of(&trial.data);
    let doubled: Vec<Vec<f32>> =
        rows.iter().chain(&rows).map(|row| row.iter().map(|x| *x as f32).collect()).collect();
    let targets = [trial.data.targets.as_slice(), &trial.data.targets].concat();
    trial.data = trial::dataset(false, 11, &doubled, targets);
    (trial.workers, trial.problem.lambda) = (2, 1e-3);
    let duals = trial.run(&simulated()).unwrap().run.model.duals.unwrap();
    assert_ne!(duals[..40], duals[40..]);
}

#[test]
fn the_collective_changes_the_seconds_only() {
    let with = |collective| {
        let network = Network { collective, ..Network::default() };
        Simulated::new(Cluster { network, ..Cluster::of(Machine::default()) })
    };
    for trial in in_step(5) {
        let (tree, ring) =
            (trial.run(&with(Collective::Tree)).unwrap(), trial.run(&with(Collective::Ring)).unwrap());
        assert_eq!(numbers(&tree), numbers(&ring), "{}", describe(&trial));
        assert_ne!(seconds(&tree), seconds(&ring), "{}", describe(&trial));
    }
}

#[test]
fn stragglers_cost_time_and_stay_repeatable() {
    let stragglers = Stragglers { probability: 0.3, slowdown: 10.0, noise: 0.1 };
    let slow = Simulated::new(Cluster { stragglers, ..Cluster::of(Machine::default()) });
    for trial in in_step(3) {
        let (even, first, second) =
            (trial.run(&simulated()).unwrap(), trial.run(&slow).unwrap(), trial.run(&slow).unwrap());
        assert_eq!(numbers(&even), numbers(&first), "{}", describe(&trial));
        assert_eq!(seconds(&first), seconds(&second), "{}", describe(&trial));
        assert!(first.run.seconds > even.run.seconds, "{}", describe(&trial));
    }
}

/// So many machines of one core.
fn machines(count: usize, speed: f64) -> MachineType {
    MachineType { name: "machine".to_owned(), count, speed, cores: 1, memory: None, price: None }
}

/// Workers that change more in a round than the journal of changes holds.
fn many_changes(workers: usize) -> Trial {
    let data = Recipe { rows: 150_000, columns: 1, ..Recipe::default() }.cook();
    let stop = StopRules { rounds: Some(2), ..StopRules::default() };
    Trial { workers, stop, scoring: Scoring::Every(2), ..Trial::of(data, Loss::Logistic, "passcode") }
}

#[test]
fn nobody_waits_for_ever_for_a_slow_machine() {
    let machines = vec![machines(1, 1.0), machines(1, 1e-6)];
    let uneven = Simulated::new(Cluster { machines, ..Cluster::of(Machine::default()) });
    let trial = many_changes(2);
    let (first, second) =
        within_seconds(60, move || (trial.run(&uneven).unwrap(), trial.run(&uneven).unwrap()));
    assert_eq!((numbers(&first), seconds(&first)), (numbers(&second), seconds(&second)));
}

/// A worker alone with its own rows comes to their optimum and no further, however many visits it makes there.
#[test]
fn a_fast_machine_does_not_run_ahead_on_shared_memory() {
    let with = |slow: f64| {
        let machines = vec![machines(1, 1.0), machines(1, slow)];
        Simulated::new(Cluster { machines, ..Cluster::of(Machine::default()) })
    };
    let shares_memory = |entry: &&&Entry| entry.needs() == Needs::SharedMemory;
    for entry in catalogue().iter().filter(shares_memory) {
        let data = Recipe { rows: 4000, ..recipe() }.cook();
        let stop = StopRules { error: Some(1e-2), rounds: Some(200), ..StopRules::default() };
        let trial = Trial { workers: 2, stop, ..Trial::of(data, Loss::Hinge, entry.name) };
        let (even, uneven) = (trial.run(&with(1.0)).unwrap().run, trial.run(&with(1e-3)).unwrap().run);
        assert_eq!((even.stop, uneven.stop), (Stop::Error, Stop::Error), "{}: {uneven:?}", entry.name);
        assert!(uneven.rounds <= 2 * even.rounds, "{}: {}, {}", entry.name, even.rounds, uneven.rounds);
    }
}

#[test]
fn nobody_waits_for_ever_for_a_thread_without_a_core() {
    within_seconds(60, || (0..4).for_each(|_| drop(many_changes(8).run(&Threads).unwrap())));
}

#[test]
fn faster_machines_take_less_time() {
    let with = |speed| {
        let machines = vec![machines(4, speed)];
        Simulated::new(Cluster { machines, ..Cluster::of(Machine::default()) })
    };
    for trial in in_step(4) {
        let (slow, fast) = (trial.run(&with(1.0)).unwrap(), trial.run(&with(2.0)).unwrap());
        assert_eq!(numbers(&slow), numbers(&fast), "{}", describe(&trial));
        assert!(fast.run.seconds < slow.run.seconds, "{}", describe(&trial));
    }
}

#[test]
fn the_virtual_clock_stands_still_while_scoring() {
    for workers in [1, 3] {
        for trial in trials(workers) {
            let often = Trial { stop: StopRules { rounds: Some(21), ..StopRules::default() }, ..trial };
            let seldom = Trial { scoring: Scoring::Every(7), ..often.clone() };
            let (often, seldom_run) = (often.run(&simulated()).unwrap(), seldom.run(&simulated()).unwrap());
            // Newton's method, and L-BFGS on the hinge, may find that they can go no further, and stop early.
            let rounds = often.run.rounds as usize;
            assert!(rounds == 21 || often.run.stop == Stop::NoProgress, "{}", describe(&seldom));
            let points = (often.points.len(), seldom_run.points.len());
            assert_eq!(points, (rounds, rounds.div_ceil(7)), "{}", describe(&seldom));
            assert_eq!(often.run.seconds, seldom_run.run.seconds, "{}", describe(&seldom));
            let first_scored = often.points[6.min(rounds - 1)];
            assert_eq!(first_scored.seconds, seldom_run.points[0].seconds, "{}", describe(&seldom));
        }
    }
}

#[test]
fn a_thousand_workers_are_simulated() {
    let data = Recipe { rows: 2048, columns: 5, ..Recipe::default() }.cook();
    for entry in catalogue() {
        let mut trial = Trial::of(data.clone(), Loss::Logistic, entry.name);
        trial.workers = 1024;
        trial.stop.rounds = Some(2);
        let run = trial.run(&simulated()).unwrap().run;
        assert_eq!((run.rounds, run.certified_error.is_finite()), (2, true), "{}", entry.name);
        assert!(run.primal < 2f64.ln(), "{}: {} is no better than zero weights", entry.name, run.primal);
    }
}

#[test]
fn workers_that_cannot_be_had_are_refused() {
    let machines = |count, cores| MachineType {
        name: "machine".to_owned(),
        count,
        speed: 1.0,
        cores,
        memory: None,
        price: None,
    };
    let cluster =
        Cluster { machines: vec![machines(1, 2), machines(2, 1)], ..Cluster::of(Machine::default()) };
    let small = Simulated::new(cluster);
    let with = |workers| Trial { workers, ..Trial::of(recipe().cook(), Loss::Hinge, "cocoa") };
    assert!(with(4).run(&small).is_ok());
    assert!(matches!(with(5).run(&small), Err(Error::ClusterTooSmall { workers: 5, places: 4 })));
    for engine in [&Threads as &dyn Engine, &simulated()] {
        assert!(matches!(with(0).run(engine), Err(Error::NoWorkers(0))), "{}", engine.name());
        assert!(matches!(with(91).run(engine), Err(Error::TooManyWorkers { workers: 91, rows: 90 })));
        assert!(engines().contains(&engine.name()));
    }
}

#[test]
fn one_row_per_worker_is_enough() {
    for mut trial in trials(12) {
        trial.data = Recipe { rows: 12, ..recipe() }.cook();
        assert!(trial.run(&simulated()).unwrap().run.certified_error.is_finite(), "{}", describe(&trial));
    }
}

/// Stands in for an algorithm: passes numbers around a ring, or fails on purpose.
#[derive(Debug, Clone, Copy)]
enum Drill {
    /// Every round each worker hands what it has to the next one.
    Ring,
    /// Worker 1 panics in its second round.
    Panics,
    /// Worker 1 fails in its second round.
    Fails,
}

struct DrillSolver {
    drill: Drill,
    round: usize,
    /// The rank whose number this worker has, and where it went by so far.
    held: [f64; 2],
    weights: Vec<f64>,
}

impl Algorithm for Drill {
    fn name(&self) -> &'static str {
        "drill"
    }

    fn start(&self, worker: &mut Worker, _: &Model, _: Option<&[f64]>) -> Result<Box<dyn Solver>, Error> {
        let weights = vec![0.0; worker.local.dimension()];
        Ok(Box::new(DrillSolver { drill: *self, round: 0, held: [worker.rank() as f64, 0.0], weights }))
    }
}

impl Solver for DrillSolver {
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.round += 1;
        let (rank, size) = (worker.rank(), worker.size());
        match self.drill {
            Drill::Ring => {
                let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
                self.held[1] += rank as f64;
                // Two messages, so that their order is tested too.
                worker.send_numbers(next, &self.held[..1])?;
                worker.send_numbers(next, &self.held[1..])?;
                self.held = [worker.receive_numbers(previous)?[0], worker.receive_numbers(previous)?[0]];
                let whose = (rank + size - self.round % size) % size;
                assert_eq!(self.held[0], whose as f64, "worker {rank} in round {}", self.round);
            }
            Drill::Panics => assert!(rank != 1 || self.round < 2, "a drill"),
            Drill::Fails if rank == 1 && self.round == 2 => return Err(Error::Lambda(-1.0)),
            Drill::Fails => {}
        }
        // After a full round trip the number has been everywhere once.
        self.weights[0] = worker.sum_of(self.held[1])?;
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }
}

fn run_drill(
    drill: Drill,
    workers: usize,
    rounds: u64,
    threads: bool,
) -> Result<hemingway_train::Run, Error> {
    let data = recipe().cook();
    let job = Job {
        problem: Problem::new(Loss::Squared, 1.0)?,
        algorithm: &drill,
        workers,
        seed: 0,
        stop: StopRules { rounds: Some(rounds), ..StopRules::default() },
        scoring: Scoring::Every(1),
        start: Start::Zero,
        checkpoint_every: None,
        interrupt: None,
        hand_over: None,
    };
    let engine: &dyn Engine = if threads { &Threads } else { &simulated() };
    engine.run(&data, &job, &mut |_| Ok(()))
}

#[test]
fn neighbours_exchange_messages_around_a_ring() {
    for (workers, threads) in [(2, true), (3, true), (4, true), (2, false), (3, false), (4, false)] {
        let rounds = 2 * workers as u64;
        let run = within_seconds(60, move || run_drill(Drill::Ring, workers, rounds, threads)).unwrap();
        assert_eq!(run.rounds, rounds);
        if !threads {
            // Each round costs the transfer of a message and a sum, on the clock; work is negligible.
            let network = Network::default();
            let round = network.message_seconds(8) + network.sum_seconds(workers, 1);
            let expected = rounds as f64 * round;
            assert!((run.seconds.0 / expected - 1.0).abs() < 0.01, "{} s, not {expected}", run.seconds.0);
        }
    }
}

#[test]
fn a_panicking_worker_does_not_leave_the_others_waiting() {
    for (workers, threads) in [(2, true), (4, true), (4, false)] {
        let outcome = within_seconds(60, move || {
            let run = AssertUnwindSafe(|| run_drill(Drill::Panics, workers, 5, threads).map(drop));
            catch_unwind(run).map_err(|panic| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        });
        assert_eq!(outcome.expect_err("the panic goes on"), Some("a drill".to_owned()));
    }
}

#[test]
fn a_failing_worker_ends_the_run_with_its_error() {
    for (workers, threads) in [(2, true), (4, true), (4, false)] {
        let outcome = within_seconds(60, move || run_drill(Drill::Fails, workers, 5, threads));
        assert!(matches!(outcome, Err(Error::Lambda(-1.0))), "{outcome:?}");
    }
}
