//! Runs that are made up: a world in which every way makes a multiple of the prior's rounds.

use std::collections::BTreeMap;

use hemingway_train::{Loss, Machine, MachineType};

use super::*;

fn glance(loss: Loss) -> Glance {
    Glance {
        rows: 30_000,
        features: 100,
        nonzeros: 400_000,
        mean_squared_norm: 10.0,
        largest_squared_norm: 20.0,
        common: 0.2,
        unevenness: 1.0,
        rare_share: 0.3,
        loss,
        lambda: 1e-4,
    }
}

fn cluster() -> Cluster {
    let kind = MachineType {
        name: "machine".into(),
        count: 64,
        speed: 1.0,
        cores: 1,
        memory: None,
        price: Some(3600.0),
    };
    let here = Machine { flops: 2e7, bytes: 4e7 };
    Cluster { machines: vec![kind], ..Cluster::of(here) }
}

fn ways(algorithms: &[&str]) -> Vec<Way> {
    let each = |algorithm: &&str| {
        let algorithm = (*algorithm).to_owned();
        [1, 4, 16].map(|workers| Way { algorithm: algorithm.clone(), workers, passes: 1.0 })
    };
    algorithms.iter().flat_map(each).collect()
}

const ALL: [&str; 4] = ["cocoa", "cocoa-plus", "l-bfgs", "newton"];

fn goal(error: f64) -> Requirement {
    Requirement { error: Some(error), ..Requirement::default() }
}

fn navigator(asked: Requirement) -> Navigator {
    Navigator::new(glance(Loss::Logistic), cluster(), ways(&ALL), asked, 0.05)
}

/// Where a run is in a world in which algorithms make so many times the rounds of the prior.
struct World {
    factors: BTreeMap<&'static str, f64>,
    navigator: Navigator,
    way: Way,
    seen: Seen,
    switches: Vec<Way>,
}

impl World {
    fn new(asked: Requirement, factors: &[(&'static str, f64)]) -> World {
        let mut navigator = navigator(asked);
        let way = navigator.plan().unwrap().first;
        navigator.begin(&way);
        let seen = Seen { rounds: 0, seconds: 0.0, error: 1.0 };
        World { factors: factors.iter().copied().collect(), navigator, way, seen, switches: Vec::new() }
    }

    /// One round, with `noise` in the logarithm of its progress, and the advice after it.
    fn step(&mut self, noise: f64) {
        let outlook = self.navigator.outlooks.iter().find(|outlook| outlook.way == self.way).unwrap();
        let factor = self.factors.get(self.way.algorithm.as_str()).copied().unwrap_or(1.0);
        let (grid, x) = (self.navigator.grid, -self.seen.error.ln());
        let made = grid.at(&outlook.rounds, x) + noise.exp() / factor;
        self.seen.error = (-grid.inverse(&outlook.rounds, made).max(x)).exp();
        self.seen.rounds += 1;
        self.seen.seconds += outlook.seconds;
        self.navigator.see(&self.seen);
        if let Some(switch) = self.navigator.advise() {
            assert!(switch.reason.contains(&switch.to.name()), "{}", switch.reason);
            self.way = switch.to;
            self.seen.seconds += 0.01;
            self.navigator.switched(&self.way, self.seen.seconds);
            self.switches.push(self.way.clone());
        }
    }

    fn run(&mut self, error: f64) {
        for _ in 0..3000 {
            if self.seen.error <= error * 1.000_001 {
                return;
            }
            self.step(0.0);
        }
        panic!("not there after 3000 rounds: {:?} {:?}", self.seen, self.switches);
    }
}

#[test]
fn the_first_way_is_that_of_a_path_to_the_goal() {
    let plan = navigator(goal(1e-3)).plan().unwrap();
    assert_eq!(plan.first, plan.path[0].way);
    assert!((plan.path[plan.path.len() - 1].until_error - 1e-3).abs() < 1e-9);
    let crate::Estimate { low, mean, high } = plan.seconds.unwrap();
    assert!(0.0 < low && low < mean && mean < high);
    // No slower than any way by itself.
    let alone = navigator(goal(1e-3)).candidates().into_iter().filter_map(|c| c.seconds).map(|s| s.mean);
    assert!(mean <= 1.5 * alone.fold(f64::INFINITY, f64::min));
}

#[test]
fn a_run_that_goes_as_foretold_takes_as_long_as_foretold() {
    let foretold = navigator(goal(1e-3)).plan().unwrap().seconds.unwrap().mean;
    let mut world = World::new(goal(1e-3), &[]);
    world.run(1e-3);
    assert!(world.seen.seconds < 1.5 * foretold, "{} s, not {foretold} s", world.seen.seconds);
    assert!(world.switches.len() <= 3, "{:?}", world.switches);
}

#[test]
fn a_way_that_is_far_slower_than_foretold_is_left() {
    let mut world = World::new(goal(1e-3), &[]);
    let first = world.way.algorithm.clone();
    let slow: Vec<(&'static str, f64)> =
        ALL.into_iter().filter(|name| *name == first).map(|name| (name, 30.0)).collect();
    world.factors = slow.into_iter().collect();
    world.run(1e-3);
    assert!(!world.switches.is_empty());
    assert_ne!(world.way.algorithm, first);
}

#[test]
fn a_way_that_is_stuck_is_left() {
    let mut world = World::new(goal(1e-4), &[]);
    let first = world.way.clone();
    let mut seen = Seen { rounds: 0, seconds: 0.0, error: f64::INFINITY };
    for round in 1..200 {
        (seen.rounds, seen.seconds) = (round, 0.1 * round as f64);
        world.navigator.see(&seen);
        if let Some(switch) = world.navigator.advise() {
            assert_ne!(switch.to, first);
            return;
        }
    }
    panic!("{} was kept", first.name());
}

#[test]
fn what_failed_on_some_workers_is_not_tried_on_others_where_its_rounds_are_the_same() {
    let mut navigator = navigator(goal(1e-3));
    let open = |navigator: &Navigator, name: &str| {
        let candidates = navigator.candidates().into_iter();
        let workers =
            candidates.filter(|candidate| candidate.algorithm == name).map(|candidate| candidate.workers);
        workers.collect::<Vec<usize>>()
    };
    let way = |name: &str| Way { algorithm: name.to_owned(), workers: 4, passes: 1.0 };
    assert_eq!(open(&navigator, "newton"), [1, 4, 16]);
    navigator.failed(&way("newton"));
    assert_eq!(open(&navigator, "newton"), [0; 0]);
    navigator.failed(&way("cocoa"));
    assert_eq!(open(&navigator, "cocoa"), [1, 16], "its rounds depend on the workers");
    assert_eq!(open(&navigator, "l-bfgs"), [1, 4, 16]);
}

#[test]
fn nothing_that_failed_is_advised() {
    let mut world = World::new(goal(1e-4), &[]);
    let mut seen = Seen { rounds: 0, seconds: 0.0, error: f64::INFINITY };
    let mut left = Vec::new();
    for round in 1..2000 {
        (seen.rounds, seen.seconds) = (round, 0.1 * round as f64);
        world.navigator.see(&seen);
        let Some(switch) = world.navigator.advise() else { continue };
        assert!(!left.iter().any(|way: &Way| switch.to.fails_like(way)), "{left:?}, {:?}", switch.to);
        left.push(std::mem::replace(&mut world.way, switch.to.clone()));
        world.navigator.failed(&left[left.len() - 1]);
        world.navigator.switched(&switch.to, seen.seconds);
    }
    assert!(left.len() >= 2, "{left:?}");
}

#[test]
fn a_long_noisy_run_does_not_flap() {
    // All ways are as foretold, but rounds are of very different use.
    let mut world =
        World::new(goal(1e-4), &[("cocoa", 8.0), ("cocoa-plus", 8.0), ("l-bfgs", 8.0), ("newton", 8.0)]);
    for round in 0..400_u64 {
        let noise = ((round * 7919) % 13) as f64 / 3.0 - 2.0;
        world.step(noise);
    }
    assert!(world.switches.len() <= 6, "{:?}", world.switches);
}

#[test]
fn a_deadline_gets_the_smallest_error() {
    let within = |seconds| Requirement { within: Some(seconds), ..Requirement::default() };
    let error = |seconds| navigator(within(seconds)).plan().unwrap().error.unwrap();
    let (short, long) = (error(0.2), error(0.6));
    assert!(long.mean < short.mean, "{long:?} {short:?}");
    assert!(long.low <= long.mean && long.mean <= long.high);
    let candidates = navigator(within(10.0)).candidates();
    assert!(candidates.iter().all(|candidate| candidate.error.is_some() && candidate.seconds.is_none()));
    let mut world = World::new(within(0.6), &[]);
    while world.seen.seconds < 0.6 {
        world.step(0.0);
    }
    let plan = navigator(within(0.6)).plan().unwrap();
    assert_eq!(plan.seconds, None, "the time is given");
    assert!(world.seen.error < 3.0 * plan.error.unwrap().mean);
}

#[test]
fn cheap_runs_use_few_machines() {
    let price = |asked: Requirement| {
        let plan = navigator(asked).plan().unwrap();
        let most = plan.path.iter().map(|leg| leg.way.workers).max().unwrap();
        (most, plan.seconds.unwrap().mean)
    };
    let fast = price(goal(1e-3));
    let cheap = price(Requirement { cheapest: true, ..goal(1e-3) });
    assert!(cheap.0 < fast.0 && cheap.1 > fast.1, "{cheap:?} {fast:?}");
    // In a hurry, cheap ways are too slow.
    let hurried = Requirement { cheapest: true, within: Some(3.5 * cheap.1), ..goal(1e-3) };
    let hurried = price(hurried);
    assert!(hurried.1 <= cheap.1 && hurried.1 >= fast.1 * 0.999, "{hurried:?} {cheap:?}");
}

#[test]
fn a_budget_is_kept() {
    let fast = navigator(goal(1e-3)).plan().unwrap();
    let spent = |plan: &Plan| plan.first.workers as f64 * plan.seconds.as_ref().unwrap().mean;
    let tight = Requirement { budget: Some(10.0 * spent(&fast)), ..goal(1e-3) };
    assert!(navigator(tight).plan().is_some());
    let nothing = Requirement { budget: Some(1e-3), ..goal(1e-3) };
    assert_eq!(navigator(nothing).plan(), None);
    let by_deadline = Requirement { within: Some(2.0), budget: Some(3.0), ..Requirement::default() };
    let plan = navigator(by_deadline).plan().unwrap();
    assert!(plan.path.iter().all(|leg| leg.way.workers == 1), "{plan:?}");
}

#[test]
fn the_price_of_a_path_is_that_of_its_parts() {
    // A machine costs 1 a second here, and l-bfgs takes many rounds, so that a trial of another is cheap.
    let hard = Glance { lambda: 1e-7, features: 5000, ..glance(Loss::Logistic) };
    let plans = [1e-2, 1e-3, 1e-4, 1e-6].map(|error| {
        Navigator::new(hard.clone(), cluster(), ways(&ALL), goal(error), 0.05).plan_to_adapt().unwrap()
    });
    assert!(plans.iter().any(|plan| plan.path.len() == 2), "no trial: {plans:?}");
    for plan in plans {
        let last = plan.path.last().unwrap();
        let (price, seconds) = (plan.price.unwrap(), plan.seconds.unwrap().mean);
        let (few, many) =
            (plan.first.workers.min(last.way.workers), plan.first.workers.max(last.way.workers));
        let (least, most) = (few as f64 * seconds, many as f64 * seconds);
        assert!(
            (0.999 * least..=1.001 * most).contains(&price),
            "{price} for {seconds} s on {few} to {many}"
        );
    }
}

#[test]
fn what_cannot_be_done_is_not_planned() {
    assert_eq!(navigator(Requirement::default()).plan(), None);
    assert_eq!(navigator(Requirement { within: Some(1e-6), ..goal(1e-3) }).plan(), None);
    let none = Navigator::new(glance(Loss::Logistic), cluster(), ways(&["simplex"]), goal(1e-3), 0.05);
    assert_eq!(none.plan(), None);
    assert_eq!(none.advise(), None);
    assert!(none.candidates().is_empty());
    // No prior reaches so far.
    let hinge =
        Navigator::new(glance(Loss::Hinge), cluster(), ways(&["gradient-descent"]), goal(1e-300), 0.05);
    assert_eq!(hinge.plan(), None);
}

#[test]
fn lessons_of_earlier_runs_count() {
    let lesson = |way: &Way, factor: f64| {
        let fresh = navigator(goal(1e-3));
        let outlook = fresh.outlooks.iter().find(|outlook| outlook.way == *way).unwrap();
        let rounds = factor * outlook.rounds[outlook.rounds.len() - 1];
        Lesson { way: way.clone(), from: 1.0, to: 1e-3, rounds, seconds: None }
    };
    let before = navigator(goal(1e-3)).plan().unwrap();
    let mut taught = navigator(goal(1e-3));
    let kin: Vec<Way> = ways(&[&before.first.algorithm]);
    taught.learn(&kin.iter().map(|way| lesson(way, 50.0)).collect::<Vec<_>>());
    let after = taught.plan().unwrap();
    assert_ne!(after.first.algorithm, before.first.algorithm);
    // What is known is less uncertain, and much as it was.
    let rounds = taught.candidates().into_iter().find(|c| c.name() == before.first.name()).unwrap().rounds;
    let lesson = lesson(&before.first, 50.0).rounds;
    assert!((rounds.unwrap().mean / lesson - 1.0).abs() < 0.2);
    let width = |navigator: &Navigator, way: &Way| {
        let found = navigator.candidates().into_iter().find(|c| c.name() == way.name()).unwrap();
        let seconds = found.seconds.unwrap();
        seconds.high / seconds.low
    };
    assert!(width(&taught, &before.first) < 0.7 * width(&navigator(goal(1e-3)), &before.first));
}

#[test]
fn rounds_that_take_longer_than_foretold_are_noticed() {
    let mut slow = navigator(goal(1e-3));
    let way = Way { algorithm: "l-bfgs".into(), workers: 4, passes: 1.0 };
    slow.begin(&way);
    let seconds = |navigator: &Navigator, workers: usize| {
        let found =
            navigator.candidates().into_iter().find(|c| c.algorithm == "l-bfgs" && c.workers == workers);
        let candidate = found.unwrap();
        candidate.seconds.unwrap().mean / candidate.rounds.unwrap().mean
    };
    let before = (seconds(&slow, 4), seconds(&slow, 16));
    for round in 1..=10 {
        slow.see(&Seen { rounds: round, seconds: 3.0 * before.0 * round as f64, error: f64::INFINITY });
    }
    let after = (seconds(&slow, 4), seconds(&slow, 16));
    assert!(after.0 > 2.5 * before.0 && after.1 > 1.5 * before.1, "{before:?} {after:?}");
}

#[test]
fn first_rounds_that_visit_every_row_do_not_make_later_ones_long() {
    let alone = Way { algorithm: "cocoa".to_owned(), workers: 1, passes: 1.0 };
    let (glance, cluster) = (glance(Loss::Hinge), cluster());
    let seconds =
        |error: f64| crate::prior::seconds_per_round(&glance, "cocoa", 1, 1.0, error, &cluster).unwrap();
    let first = seconds(1.0);
    assert!(seconds(1e-4) < 0.5 * first, "most rows settle: {} of {first}", seconds(1e-4));
    let mut navigator =
        Navigator::new(glance.clone(), cluster.clone(), vec![alone.clone()], goal(1e-4), 0.05);
    let foretold = navigator.forecasts()[0].seconds;
    navigator.begin(&alone);
    for rounds in 1..=2 {
        // Nothing is certified yet.
        navigator.see(&Seen { rounds, seconds: rounds as f64 * first, error: 3.0 });
    }
    let left = navigator.forecasts()[0].seconds;
    assert!(left < 1.1 * foretold, "{foretold} s were foretold, {left} s are left");
}

/// Duals alone end runs on a hinge here; gradients may lead.
fn led(loss: Loss, error: f64) -> Navigator {
    let ways = Ways { whole: ways(&["cocoa"]), leads: ways(&["l-bfgs"]) };
    Navigator::new(glance(loss), cluster(), ways, goal(error), 0.05)
}

#[test]
fn gradients_of_many_lead_where_duals_of_one_take_long_to_come_near() {
    let mut navigator = led(Loss::Hinge, 1e-3);
    let alone = navigator.plan().unwrap().seconds.unwrap().mean;
    let plan = navigator.plan_to_adapt().unwrap();
    let [lead, then] = plan.path.as_slice() else { panic!("{:?}", plan.path) };
    assert_eq!((lead.way.algorithm.as_str(), then.way.algorithm.as_str()), ("l-bfgs", "cocoa"));
    assert_eq!((lead.until_error, then.until_error), (0.1, 1e-3));
    let Estimate { low, mean, high } = plan.seconds.unwrap();
    assert!(low < mean && mean < high && mean < alone, "{mean} s, {alone} s alone");
    // The lead is kept until a tenth, as long as it does as foretold, and left there.
    navigator.begin(&lead.way);
    let rounds = crate::prior::Rounds::of(&glance(Loss::Hinge), "l-bfgs", lead.way.workers, 1.0)
        .and_then(|rounds| rounds.to(0.1))
        .unwrap()
        .mean;
    let outlook = navigator.outlooks.iter().find(|outlook| outlook.way == lead.way).unwrap().clone();
    let mut seen = Seen { rounds: 0, seconds: 0.0, error: f64::INFINITY };
    while (seen.rounds as f64) < rounds - 1.0 {
        (seen.rounds, seen.seconds) = (seen.rounds + 1, seen.seconds + outlook.seconds);
        navigator.see(&seen);
        assert_eq!(navigator.advise(), None, "after {} of {rounds} rounds", seen.rounds);
    }
    navigator.see(&Seen { rounds: seen.rounds + 1, seconds: seen.seconds + outlook.seconds, error: 0.09 });
    let switch = navigator.advise().unwrap();
    assert_eq!(switch.to, then.way);
    assert!(switch.reason.contains("only to lead") && !switch.reason.contains("inf"), "{}", switch.reason);
}

#[test]
fn who_only_leads_is_no_choice_by_itself() {
    let navigator = led(Loss::Hinge, 1e-3);
    assert!(navigator.candidates().iter().all(|candidate| candidate.algorithm == "cocoa"));
    // A loss without a corner has no such leads.
    let smooth = led(Loss::Logistic, 1e-3);
    assert!(smooth.outlooks.iter().all(|outlook| outlook.way.algorithm == "cocoa"));
    // One that takes over at a tenth has nothing left to do for a goal before that.
    assert_eq!(led(Loss::Hinge, 0.2).plan_to_adapt().unwrap().path.len(), 1);
}

#[test]
fn a_lead_that_does_not_come_near_is_left() {
    let mut navigator = led(Loss::Hinge, 1e-3);
    let lead = navigator.plan_to_adapt().unwrap().first;
    navigator.begin(&lead);
    let outlook = navigator.outlooks.iter().find(|outlook| outlook.way == lead).unwrap().clone();
    let left = (1..=10_000).find(|&rounds| {
        let seconds = rounds as f64 * outlook.seconds;
        navigator.see(&Seen { rounds, seconds, error: f64::INFINITY });
        navigator.advise().is_some()
    });
    let alone = navigator.plan().unwrap().seconds.unwrap().mean;
    let wasted = left.expect("it is never left") as f64 * outlook.seconds;
    assert!(wasted < 2.0 * alone, "{wasted} s were spent on it, the other way takes {alone} s");
}

#[test]
fn rounds_that_get_shorter_only_near_the_goal_are_foretold_to() {
    // At a tenth all rows are still visited, at the goal many are settled.
    let glance = Glance {
        rows: 50_000,
        features: 300,
        nonzeros: 580_000,
        mean_squared_norm: 11.4,
        largest_squared_norm: 114.0,
        common: 0.05,
        unevenness: 2.0,
        rare_share: 0.03,
        ..glance(Loss::Logistic)
    };
    let seconds =
        |error: f64| crate::prior::seconds_per_round(&glance, "cocoa", 1, 1.0, error, &cluster()).unwrap();
    assert!(
        seconds(0.1) == seconds(1.0) && seconds(1e-4) < 0.8 * seconds(1.0),
        "{} {} {}",
        seconds(1.0),
        seconds(0.1),
        seconds(1e-4)
    );
    let alone = vec![Way { algorithm: "cocoa".to_owned(), workers: 1, passes: 1.0 }];
    let forecast = &Navigator::new(glance.clone(), cluster(), alone, goal(1e-4), 0.05).forecasts()[0];
    assert!(forecast.seconds < 0.85 * (forecast.rounds + 0.5) * seconds(1.0), "{forecast:?}");
}

#[test]
fn rounds_that_do_not_show_yet_count_before_a_deadline() {
    let newton = |workers| Way { algorithm: "newton".to_owned(), workers, passes: 1.0 };
    let whole = navigator(goal(1e-3)).candidates().into_iter();
    let seconds =
        whole.filter(|way| way.algorithm == "newton" && way.workers == 16).find_map(|way| way.seconds);
    let within = Requirement { within: Some(seconds.unwrap().mean), ..Requirement::default() };
    let mut navigator = navigator(within);
    navigator.begin(&newton(16));
    let outlook = navigator.outlooks.iter().find(|outlook| outlook.way == newton(16)).unwrap().clone();
    let foretold = |navigator: &Navigator| {
        let forecasts = navigator.forecasts();
        forecasts.iter().find(|forecast| navigator.outlooks[forecast.way].way == newton(16)).unwrap().error
    };
    let before = foretold(&navigator);
    assert!(before < 1e-2, "an error of {before:e} at the deadline");
    for rounds in 1..=2 {
        navigator.see(&Seen { rounds, seconds: rounds as f64 * outlook.seconds, error: 1.0 });
    }
    let after = foretold(&navigator);
    assert!(after < 3.0 * before, "{before:e} was foretold, after two rounds {after:e}");
}
