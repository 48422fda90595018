//! Studies on simulated clusters: how close they come, and that they find what is wrong.

use hemingway_tune::random::stream;
use hemingway_tune::schedule::{Answer, Evaluated, Finding, Options, Outcome, Tuner};
use hemingway_tune::simulator::{Experiment, Trouble, World, experiment, experiments, troubled};

fn world(name: &str) -> World {
    experiment(name).unwrap().world()
}

fn tuner(world: &World, seed: u64) -> Tuner {
    Tuner::new(world.job.clone(), Options { seed, ..Options::default() })
}

/// Makes evaluations, of which `seen` is told; how far the best is from the optimum.
fn study(world: &World, tuner: &mut Tuner, evaluations: usize, seen: impl Fn(Answer) -> Answer) -> f64 {
    for _ in 0..evaluations {
        let schedule = tuner.ask().schedule;
        assert_eq!(schedule.check(tuner.job()), Ok(()));
        let number = tuner.evaluated().len() as u64;
        let outcome = match world.evaluate(&schedule, &mut stream(9, "test", number)) {
            Outcome::Measured(answer) => Outcome::Measured(seen(answer)),
            failed => failed,
        };
        tuner.tell(schedule, outcome);
    }
    ratio(world, tuner)
}

fn ratio(world: &World, tuner: &Tuner) -> f64 {
    let best = tuner.think().best().expect("something was measured");
    world.exact(&tuner.evaluated()[best].schedule).unwrap() / world.optimum().1
}

fn finding(tuner: &Tuner) -> Finding {
    tuner.think().finding().expect("something was measured")
}

#[test]
fn ten_evaluations_come_close_to_the_optimum() {
    for name in ["a-alexnet-512", "b-googlenet-256", "c-speechnet-65536"] {
        let world = world(name);
        let mut tuner = tuner(&world, 1);
        let ratio = study(&world, &mut tuner, 10, |answer| answer);
        assert!(ratio < 1.03, "{name}: {ratio}");
        let found = finding(&tuner);
        assert!(found.speedup[1] > 1.2, "{name}: {:?}", found.speedup);
        assert_eq!(found.stragglers, [], "{name}");
    }
}

#[test]
fn a_slow_machine_is_named_and_gets_less() {
    let mut world = world("a-speechnet-16384");
    let slow = world.job.cluster.machines.iter().position(|machine| machine.name == "c8-2").unwrap();
    world.slow[slow] = 1.6;
    let mut tuner = tuner(&world, 2);
    let ratio = study(&world, &mut tuner, 8, |answer| answer);
    assert!(ratio < 1.05, "{ratio}");
    let stragglers = finding(&tuner).stragglers;
    assert_eq!(stragglers.iter().map(|slow| slow.machine.as_str()).collect::<Vec<_>>(), ["c8-2"]);
    assert!((1.45..1.75).contains(&stragglers[0].factor), "{stragglers:?}");
}

#[test]
fn a_limit_of_memory_is_learnt() {
    let world = troubled(world("c-googlenet-256"), Trouble::Memory(0.8), &mut stream(1, "trouble", 0));
    let mut tuner = tuner(&world, 3);
    let ratio = study(&world, &mut tuner, 12, |answer| answer);
    let failed = tuner.evaluated().iter().filter(|seen| seen.answer().is_none()).count();
    assert!((1..=4).contains(&failed), "the limit matters, and is not run into again and again: {failed}");
    assert!(ratio < 1.1, "{ratio}");
}

#[test]
fn the_time_alone_is_enough() {
    let world = world("a-alexnet-512");
    let mut tuner = tuner(&world, 4);
    let ratio = study(&world, &mut tuner, 12, |answer| Answer { time: answer.time, ..Answer::default() });
    assert!(ratio < 1.1, "{ratio}");
}

#[test]
fn some_measurements_may_be_missing() {
    let without_devices = |mut answer: Answer| {
        answer.machines.values_mut().for_each(|machine| machine.devices.clear());
        answer
    };
    let without_machines = |mut answer: Answer| {
        answer.machines.values_mut().for_each(|machine| machine.time = None);
        answer
    };
    let without_communication = |answer: Answer| Answer { communication_time: None, ..answer };
    let world = world("b-googlenet-128");
    for (name, seen) in [
        ("devices", &without_devices as &dyn Fn(Answer) -> Answer),
        ("machines", &without_machines),
        ("communication", &without_communication),
    ] {
        let ratio = study(&world, &mut tuner(&world, 5), 8, seen);
        assert!(ratio < 1.15, "without {name}: {ratio}");
    }
}

#[test]
fn a_study_of_half_the_batch_helps_at_once() {
    let before = world("b-alexnet-512");
    let mut first = tuner(&before, 6);
    study(&before, &mut first, 10, |answer| answer);
    let after = Experiment { batch: 1024, ..experiment("b-alexnet-512").unwrap() }.world();
    let mut second = tuner(&after, 7);
    second.warm_start(before.job.clone(), first.evaluated().to_vec());
    let ratio = study(&after, &mut second, 1, |answer| answer);
    assert!(ratio < 1.05, "{ratio}");
}

#[test]
fn the_same_story_leads_to_the_same_proposal() {
    let world = world("c-alexnet-256");
    let mut one = tuner(&world, 8);
    study(&world, &mut one, 3, |answer| answer);
    let mut other = tuner(&world, 8);
    one.evaluated()
        .to_vec()
        .into_iter()
        .for_each(|Evaluated { schedule, outcome }| other.tell(schedule, outcome));
    assert_eq!(one.think().propose(), other.think().propose());
}

#[test]
fn several_at_once_are_different() {
    let world = world("a-googlenet-256");
    let mut tuner = tuner(&world, 9);
    study(&world, &mut tuner, 2, |answer| answer);
    let asked: Vec<_> = (0..3).map(|_| tuner.ask().schedule).collect();
    assert!(asked[0] != asked[1] && asked[1] != asked[2] && asked[0] != asked[2]);
}

#[test]
fn an_open_batch_follows_the_noise_scale() {
    let world = world("a-googlenet-256");
    let batch = |noise: f64| {
        let mut tuner = tuner(&world, 10).with_open_batch(32, 2048, None);
        for _ in 0..6 {
            let schedule = tuner.ask().schedule;
            let world = World { job: world.job.with_batch(schedule.batch()), ..world.clone() };
            let number = tuner.evaluated().len() as u64;
            let Outcome::Measured(mut answer) = world.evaluate(&schedule, &mut stream(10, "test", number))
            else {
                panic!("nothing fails here");
            };
            answer.gradient_noise_scale = Some(noise);
            tuner.tell(schedule, Outcome::Measured(answer));
        }
        let best = tuner.think().best().unwrap();
        tuner.evaluated()[best].schedule.batch()
    };
    let (small, large) = (batch(20.0), batch(20_000.0));
    assert!(small < 256 && large > 512, "{small} {large}");
}

#[test]
fn there_are_36_experiments_and_each_has_an_optimum() {
    assert_eq!(experiments().len(), 36);
    for experiment in experiments() {
        let world = experiment.world();
        let (schedule, seconds) = world.optimum();
        assert_eq!(schedule.check(&world.job), Ok(()), "{experiment}");
        let uniform = world.exact(&hemingway_tune::schedule::Schedule::uniform(&world.job)).unwrap();
        assert!(seconds > 0.0 && seconds < uniform, "{experiment}: {seconds} {uniform}");
    }
}
