//! What is planned for made-up problems and clusters, and what becomes of the plan as runs go.

use hemingway_train::{
    DataProfile, Entry, LOSSES, Loss, Machine, MachineType, Needs, Network, Share, TakeOver, catalogue, entry,
};
use proptest::prelude::*;

use super::*;
use crate::{Estimate, Risk, Unit};

#[test]
fn newton_takes_one_round_on_squares_with_few_features() {
    let planner = planner(problem(50_000, 20, Loss::Squared, 1e-6), machines(8), to_error(1e-6));
    let plan = planner.decide().plan.expect("a plan");
    assert_eq!((plan.stages.len(), plan.first().algorithm.as_str()), (1, "newton"));
    assert_eq!(plan.stages[0].rounds.as_ref().map(|rounds| rounds.mean), Some(1.0));
}

#[test]
fn every_machine_is_a_candidate() {
    let inputs = inputs(problem(1_000_000, 100, Loss::Logistic, 1e-4), machines(1024), to_error(1e-3));
    let offered = inputs.configurations.len();
    let decision = Planner::new(inputs).decide();
    let all = alternatives(&decision);
    assert!(all.iter().any(|candidate| candidate.first().workers == 1024));
    assert!(all.iter().any(|candidate| candidate.first().workers == 768));
    // The plan may have two stages, which is one more than was offered.
    let plan = decision.plan.as_ref().expect("a plan");
    assert_eq!(all.len() + decision.rejected.len(), offered + usize::from(plan.stages.len() > 1));
}

#[test]
fn many_workers_are_used_where_they_pay() {
    let workers_for = |rows: usize| {
        let profile = problem(rows, 1000, Loss::Logistic, 1e-4);
        let decision = planner(profile, machines(1024), to_error(1e-3)).decide();
        let plan = decision.plan.expect("a plan");
        plan.first().workers
    };
    let chosen = [1000, 100_000, 10_000_000, 1_000_000_000].map(workers_for);
    assert!(chosen[0] <= 8, "{chosen:?}");
    assert!(chosen[3] >= 256, "{chosen:?}");
    assert!(chosen.windows(2).all(|pair| pair[0] <= pair[1]), "{chosen:?}");
}

#[test]
fn a_deadline_that_cannot_be_kept_is_a_reason() {
    let profile = problem(100_000, 1000, Loss::Logistic, 1e-6);
    let goal = Goal { within: Some(1e-3), ..to_error(1e-6) };
    let decision = planner(profile, machines(8), goal).decide();
    assert_eq!(decision.plan, None);
    assert!(decision.alternatives.is_empty());
    for rejected in come_to_the_goal(&decision) {
        assert!(rejected.reason.starts_with("takes "), "{rejected:?}");
        assert!(rejected.reason.ends_with("in 90 % of cases"), "{rejected:?}");
    }
}

#[test]
fn a_deadline_is_kept_with_the_probability_that_is_asked_for() {
    let profile = problem(100_000, 1000, Loss::Logistic, 1e-4);
    let free = planner(profile.clone(), machines(64), to_error(1e-3)).decide().plan.expect("a plan");
    let median = free.seconds.expect("to the goal").mean;
    let within = |seconds: f64| {
        let goal = Goal { within: Some(seconds), ..to_error(1e-3) };
        planner(profile.clone(), machines(64), goal).decide()
    };
    assert_eq!(within(0.9 * median).plan, None);
    let decision = within(1e3 * median);
    for candidate in alternatives(&decision) {
        assert!(candidate.seconds.as_ref().expect("to the goal").quantile(0.9) <= 1e3 * median * 1.01);
    }
}

#[test]
fn a_budget_that_cannot_be_kept_is_a_reason() {
    let profile = problem(100_000, 1000, Loss::Logistic, 1e-4);
    let costs = |budget: f64| {
        let goal = Goal { budget: Some(budget), ..to_error(1e-3) };
        planner(profile.clone(), priced(machines(64)), goal).decide()
    };
    let nothing = costs(1e-12);
    assert_eq!(nothing.plan, None);
    let too_dear = |rejected: &Rejected| rejected.reason.starts_with("would cost up to ");
    assert!(come_to_the_goal(&nothing).into_iter().all(too_dear));
    let enough = costs(1e6);
    assert!(!enough.rejected.iter().any(too_dear), "{:?}", enough.rejected);
    assert!(enough.plan.is_some_and(|plan| plan.cost.is_some_and(|cost| cost < 1e6)));
}

#[test]
fn prices_that_are_not_known_are_a_reason() {
    let profile = problem(100_000, 1000, Loss::Logistic, 1e-4);
    for goal in [
        Goal { budget: Some(1e6), ..to_error(1e-3) },
        Goal { cheapest: true, ..to_error(1e-3) },
        Goal { budget: Some(1e6), ..within(10.0) },
    ] {
        let decision = planner(profile.clone(), machines(8), goal).decide();
        assert_eq!(decision.plan, None);
        let reasons = come_to_the_goal(&decision);
        assert!(reasons.into_iter().all(|rejected| rejected.reason == "its price is not known"));
    }
}

#[test]
fn less_money_means_fewer_machines() {
    let plan = |goal: Goal| {
        let profile = problem(10_000_000, 1000, Loss::Logistic, 1e-4);
        planner(profile, priced(machines(256)), goal).decide().plan.expect("a plan")
    };
    let fastest = plan(to_error(1e-3));
    let cheapest = plan(Goal { cheapest: true, ..to_error(1e-3) });
    assert!(cheapest.first().workers < fastest.first().workers);
    assert!(cheapest.cost.expect("priced") < fastest.cost.expect("priced"));
    assert!(cheapest.seconds.expect("to the goal").mean > fastest.seconds.expect("to the goal").mean);
}

#[test]
fn more_time_means_less_error() {
    let error = |seconds: f64| {
        let profile = problem(10_000_000, 1000, Loss::Logistic, 1e-6);
        let plan = planner(profile, machines(16), within(seconds)).decide().plan.expect("a plan");
        assert!(plan.seconds.is_none() && plan.stages[0].until_error.is_none());
        plan.error.expect("at the deadline").mean
    };
    let errors = [0.1, 0.3, 1.0, 3.0].map(error);
    assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
}

#[test]
fn a_run_that_goes_as_predicted_is_not_changed() {
    let sizes = [(2000, 30), (20_000, 300), (500_000, 30), (100_000, 20_000), (1_000_000, 1000)];
    let mut followed = 0;
    for (loss, (rows, features)) in LOSSES.into_iter().flat_map(|loss| sizes.map(|size| (loss, size))) {
        for (error, lambda, count) in [(1e-2, 1e-2, 1), (1e-3, 1e-4, 16), (1e-4, 1e-6, 256), (1e-6, 1e-4, 64)]
        {
            let mut planner =
                planner(problem(rows, features, loss, lambda), machines(count), to_error(error));
            let plan = planner.decide().plan.expect("a plan");
            // Hand-overs have a test of their own.
            if plan.stages.len() > 1 {
                continue;
            }
            planner.begin(&plan);
            let changes = follow(&mut planner, &plan);
            assert!(changes.is_empty(), "{loss}, {rows} × {features}: {}, {changes:?}", plan.name());
            followed += 1;
        }
    }
    assert!(followed >= 40, "{followed} of 80");
}

/// The error of Newton's method hardly falls at first, which says nothing of how long it takes.
#[test]
fn an_error_that_falls_late_is_waited_for() {
    for loss in [Loss::SmoothedHinge, Loss::Logistic] {
        let mut planner = planner(problem(500_000, 30, loss, 1e-4), machines(16), to_error(1e-4));
        let newton = Configuration { algorithm: "newton".to_owned(), workers: 16, passes: 1.0 };
        planner.go_on(&newton, None);
        let model = planner.models[planner.position(&newton).expect("offered")].clone();
        let rounds = model.effort(0.0, planner.reference, 0.0).expect("from the start").ceil() as u64;
        for at in 1..rounds {
            let seconds = model.set_up + at as f64 * model.per_round;
            assert_eq!(
                planner.observe(Score { rounds: at, seconds, error: 0.5 }),
                Next::GoOn,
                "{loss}, {at}"
            );
        }
    }
}

/// Once it does fall, it falls ever faster.
#[test]
fn newtons_method_is_not_given_up_as_it_arrives() {
    for loss in [Loss::SmoothedHinge, Loss::Logistic] {
        let mut planner = planner(problem(500_000, 30, loss, 1e-4), machines(16), to_error(1e-6));
        let newton = Configuration { algorithm: "newton".to_owned(), workers: 16, passes: 1.0 };
        planner.go_on(&newton, None);
        let model = planner.models[planner.position(&newton).expect("offered")].clone();
        for (at, error) in [(1, 0.7), (2, 0.5), (3, 0.3), (4, 0.15), (5, 0.05), (6, 1e-3)] {
            let seconds = model.set_up + f64::from(at) * model.per_round;
            let next = planner.observe(Score { rounds: at as u64, seconds, error });
            assert_eq!(next, Next::GoOn, "{loss}, {at}");
        }
    }
}

/// The same rounds on fewer, slower workers are no reason to change.
#[test]
fn a_run_does_not_hop_between_workers_that_make_the_same_rounds() {
    let configurations =
        [16, 12].map(|workers| Configuration { algorithm: "l-bfgs".to_owned(), workers, passes: 1.0 });
    let profile = problem(1_000_000, 1000, Loss::SmoothedHinge, 1e-6);
    let mut planner = Planner::new(Inputs {
        configurations: configurations.to_vec(),
        ..inputs(profile, machines(16), to_error(1e-6))
    });
    let plan = planner.decide().plan.expect("a plan");
    assert_eq!(plan.stages.len(), 1, "{}", plan.name());
    planner.begin(&plan);
    assert_eq!(follow(&mut planner, &plan), []);
}

#[test]
fn a_run_that_is_far_overdue_hands_over_to_another_algorithm() {
    for loss in LOSSES {
        let profile = problem(100_000, 300, loss, 1e-4);
        let mut planner = planner(profile, machines(16), to_error(1e-4));
        let (first, change) = stall(&mut planner, 100.0);
        let change = change.unwrap_or_else(|| panic!("{loss}: {} is never given up", first.name()));
        assert!(!change.planned);
        assert_ne!(change.to.algorithm, first.algorithm, "{loss}: {}", change.reason);
        assert!(change.reason.contains(" is predicted to need "), "{}", change.reason);
    }
}

#[test]
fn what_failed_is_not_tried_again_on_other_workers() {
    for name in offered().map(|entry| entry.name) {
        let profile = problem(100_000, 300, Loss::Logistic, 1e-4);
        let mut planner = planner(profile, machines(16), to_error(1e-4));
        let begun = Configuration { algorithm: name.to_owned(), workers: 4, passes: 1.0 };
        planner.go_on(&begun, None);
        let next = planner.failed("the error does not fall");
        let Next::HandOver(HandOver { to, reason, planned }) = next else { panic!("{name} goes on") };
        assert_eq!((reason.as_str(), planned), ("the error does not fall", false));
        assert!(to.algorithm != name || entry(name).is_some_and(|entry| entry.depends_on_workers));
        let depends = entry(name).is_some_and(|entry| entry.depends_on_workers);
        for candidate in alternatives(&planner.decide()).iter().flat_map(|candidate| &candidate.stages) {
            let Configuration { algorithm, workers, .. } = &candidate.configuration;
            assert!(algorithm != name || (depends && *workers != 4), "{name}: {:?}", candidate.configuration);
        }
    }
}

#[test]
fn a_run_is_over_once_everything_has_failed() {
    let mut planner = planner(problem(10_000, 30, Loss::Logistic, 1e-4), machines(8), to_error(1e-4));
    let mut to = planner.decide().plan.expect("a plan").first().clone();
    let mut tried = Vec::new();
    planner.go_on(&to, None);
    while let Next::HandOver(next) = planner.failed("no progress") {
        tried.push(std::mem::replace(&mut to, next.to));
        assert!(!tried.contains(&to) && tried.len() < 1000, "{to:?} again");
        planner.switched(&to, tried.len() as u64, tried.len() as f64);
    }
    // What would undo what was reached is not handed over to.
    let takes_over = |candidate: &Configuration| {
        entry(&candidate.algorithm).is_some_and(|entry| (entry.takes_over)(Loss::Logistic) != TakeOver::Never)
    };
    let left: Vec<_> = (0..planner.candidates)
        .filter(|at| !planner.failed[*at] && takes_over(&planner.models[*at].configuration))
        .map(|at| &planner.models[at].configuration)
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_planned_hand_over_comes_at_its_error() {
    let profile = problem(100_000, 300, Loss::Logistic, 1e-4);
    let mut planner = planner(profile, machines(16), to_error(1e-6));
    let stage = |algorithm: &str, until: f64| Stage {
        configuration: Configuration { algorithm: algorithm.to_owned(), workers: 16, passes: 1.0 },
        until_error: Some(until),
        rounds: None,
        unit: Unit::Rounds,
        seconds: None,
        cost: None,
    };
    // Gradient descent is slow, so that whatever comes next is better.
    let stages = vec![stage("gradient-descent", 1e-2), stage("newton", 1e-6)];
    let plan = Candidate { stages, seconds: None, error: None, cost: None, criterion: 0.0 };
    planner.settings.switch_gain = 0.999;
    planner.begin(&plan);
    let model = planner.models[planner.position(plan.first()).expect("offered")].clone();
    let score = |error: f64| {
        let rounds = model.effort(0.0, progress(error), 0.0).expect("from the start");
        Score { rounds: rounds.ceil() as u64, seconds: model.set_up + rounds * model.per_round, error }
    };
    assert_eq!(planner.observe(score(0.1)), Next::GoOn);
    assert_eq!(planner.observe(score(0.011)), Next::GoOn);
    let next = planner.observe(score(0.009));
    let Next::HandOver(HandOver { to, reason, planned }) = next else { panic!("goes on") };
    assert_eq!((to, planned), (plan.stages[1].configuration.clone(), true));
    assert_eq!(reason, "as planned, at error 9.0e-3");
}

#[test]
fn history_moves_the_median_and_narrows_the_interval() {
    let begin = || inputs(problem(100_000, 300, Loss::Logistic, 1e-4), machines(16), to_error(1e-4));
    let configuration = Configuration { algorithm: "l-bfgs".to_owned(), workers: 4, passes: 1.0 };
    let rounds_of = |history: Vec<PastStage>, of: &Configuration| {
        let decision = Planner::new(Inputs { history, ..begin() }).decide();
        let all = alternatives(&decision);
        let found = all.iter().find(|candidate| candidate.stages.len() == 1 && candidate.first() == of);
        found.expect("offered").stages[0].rounds.clone().expect("to the goal")
    };
    let before = rounds_of(Vec::new(), &configuration);
    let measured = 3.0 * before.mean;
    let past = |similar: bool| PastStage {
        scores: straight(measured, 1e-2, 1e-4),
        rounds_deviation: if similar { Settings::default().similar } else { Settings::default().repeat },
        ..past(&configuration)
    };
    let same = rounds_of(vec![past(false)], &configuration);
    let similar = rounds_of(vec![past(true)], &configuration);
    let width = |of: &Estimate| (of.high / of.low).ln();
    assert!((same.mean / measured).ln().abs() < 0.1, "{same:?}, not {measured}");
    assert!(width(&same) < 0.5 * width(&before), "{before:?}, {same:?}");
    assert!(before.mean < similar.mean && similar.mean < same.mean, "{before:?}, {similar:?}, {same:?}");
    assert!(width(&same) < width(&similar) && width(&similar) < width(&before), "{similar:?}");
    // The rounds are the same on every number of workers, and gradient descent hangs together with them.
    let elsewhere = Configuration { workers: 16, ..configuration.clone() };
    assert_eq!(rounds_of(vec![past(false)], &elsewhere), same);
    let related = Configuration { algorithm: "gradient-descent".to_owned(), ..configuration.clone() };
    assert!(rounds_of(vec![past(false)], &related).mean > rounds_of(Vec::new(), &related).mean);
}

#[test]
fn seconds_are_remembered_from_the_same_machines_only() {
    let configuration = Configuration { algorithm: "l-bfgs".to_owned(), workers: 4, passes: 1.0 };
    let pace = |same_machines: bool, real_clock: bool| {
        let begin = inputs(problem(100_000, 300, Loss::Logistic, 1e-4), machines(16), to_error(1e-4));
        let before = Planner::new(Inputs { real_clock, ..begin.clone() });
        let at = before.position(&configuration).expect("offered");
        let slow = 2.0 * before.models[at].per_round;
        let scores = [10.0, 110.0].map(|rounds| PastScore { rounds, seconds: slow * rounds, error: 0.5 });
        let pace_deviation = same_machines.then_some(0.0);
        let past = PastStage { scores: scores.to_vec(), pace_deviation, ..past(&configuration) };
        let after = Planner::new(Inputs { real_clock, history: vec![past], ..begin });
        (after.pace.mean(at).exp(), after.pace.variance(at) / before.pace.variance(at))
    };
    for real_clock in [false, true] {
        assert_eq!(pace(false, real_clock), (1.0, 1.0));
        let (times, narrower) = pace(true, real_clock);
        assert!((1.8..=2.0).contains(&times) && narrower < 0.2, "{times}, {narrower}");
    }
}

/// Two threads that wait for each other stand still while another program has one of their cores; one thread alone does not.
#[test]
fn threads_that_wait_for_a_core_hand_over_to_one_that_does_not() {
    let hands_over = |real_sharing: f64| {
        let begin = inputs(problem(1_000_000, 300, Loss::Hinge, 1e-4), machines(2), to_error(1e-3));
        let settings = Settings { real_sharing, ..Settings::default() };
        let kept = |each: &Configuration| (each.algorithm.as_str(), each.workers) == ("cocoa", 1);
        let mut configurations: Vec<_> =
            begin.configurations.iter().filter(|each| kept(each)).cloned().collect();
        let together = Configuration { algorithm: "passcode".to_owned(), workers: 2, passes: 1.0 };
        configurations.push(together.clone());
        let mut planner = Planner::new(Inputs { real_clock: true, configurations, settings, ..begin });
        let at = planner.position(&together).expect("offered");
        let slow = 20.0 * planner.models[at].per_round;
        planner.start(&together, 0.0, 0.0);
        let mut scores =
            (1..=6).map(|round| Score { rounds: round, seconds: slow * round as f64, error: 0.5 });
        scores.find_map(|score| match planner.observe(score) {
            Next::HandOver(HandOver { to, .. }) => Some((to.algorithm, to.workers)),
            Next::GoOn => None,
        })
    };
    assert_eq!(hands_over(0.0), None, "the machine seems to be slow, whatever runs on it");
    for times in [0.5, 1.0, 2.0] {
        let to = hands_over(times * Settings::default().real_sharing);
        assert_eq!(to, Some(("cocoa".to_owned(), 1)), "{times} times the deviation");
    }
}

#[test]
fn who_has_a_floor_that_stays_does_not_finish_a_run() {
    let profile = problem(20_000, 300, Loss::Logistic, 1e-4);
    for goal in [1e-2, 1e-4] {
        let planner = planner(profile.clone(), machines(64), to_error(goal));
        let short: Vec<String> = planner
            .models
            .iter()
            .filter(|model| model.floor > 0.0)
            .map(|model| model.configuration.name())
            .collect();
        assert!(!short.is_empty(), "nobody to reject");
        let decision = planner.decide();
        for name in &short {
            let last = |candidate: &&Candidate| candidate.stages.last().map(|last| last.configuration.name());
            assert!(!alternatives(&decision).iter().any(|of| last(of).as_ref() == Some(name)), "{name}");
            let rejected = decision.rejected.iter().find(|rejected| rejected.name == *name);
            let reason = &rejected.expect("rejected").reason;
            assert!(reason.starts_with("no number of rounds gets its error below a floor"), "{reason}");
        }
    }
}

/// Whoever asks for it by name gets it.
#[test]
fn an_algorithm_with_a_floor_is_planned_where_there_is_no_other() {
    let mut inputs = inputs(problem(20_000, 300, Loss::Logistic, 1e-4), machines(64), to_error(1e-2));
    let share = Share::new(&inputs.profile.data, &inputs.profile.problem(), 64, 1.0);
    let stays = |entry: &&Entry| entry.about.floor.lasting(&share) > 0.0;
    let name = offered().find(stays).expect("one").name;
    inputs.configurations.retain(|configuration| configuration.algorithm == name);
    let plan = Planner::new(inputs).decide().plan.expect("a plan");
    assert_eq!(plan.first().algorithm, name);
}

#[test]
fn no_error_below_the_floor_is_predicted_for_a_deadline() {
    let planner = planner(problem(20_000, 300, Loss::Logistic, 1e-4), machines(64), within(1e6));
    let decision = planner.decide();
    let mut floors = 0;
    for candidate in alternatives(&decision) {
        let model = &planner.models[planner.position(candidate.first()).expect("offered")];
        let error = candidate.error.as_ref().expect("at the deadline");
        assert!(error.low >= model.floor * (1.0 - 1e-9), "{}: {error:?}", candidate.name());
        floors += u32::from(model.floor > 0.0);
    }
    assert!(floors > 0);
}

#[test]
fn a_stage_with_a_floor_that_stays_hands_over() {
    let mut planner = planner(problem(20_000, 300, Loss::Logistic, 1e-4), machines(64), to_error(1e-3));
    let short = planner.models.iter().find(|model| model.floor > 0.0).expect("one").configuration.clone();
    planner.go_on(&short, None);
    let Next::HandOver(to) = planner.observe(Score { rounds: 1, seconds: 1.0, error: 0.5 }) else {
        panic!("goes on")
    };
    assert_ne!(to.to.algorithm, short.algorithm);
    assert!(to.reason.starts_with(&format!("{}: no number of rounds", short.name())), "{}", to.reason);
}

#[test]
fn unknown_algorithms_are_left_out() {
    let unknown = Configuration { algorithm: "magic".to_owned(), workers: 4, passes: 1.0 };
    let known = inputs(problem(10_000, 30, Loss::Hinge, 1e-4), machines(8), to_error(1e-3));
    let configurations = [vec![unknown], known.configurations.clone()].concat();
    let with = Planner::new(Inputs { configurations, ..known.clone() }).decide();
    assert_eq!(with, Planner::new(known.clone()).decide());
    let nothing = Planner::new(Inputs { configurations: Vec::new(), ..known });
    assert_eq!(nothing.decide(), Decision::default());
}

#[test]
fn planning_is_deterministic() {
    for goal in [to_error(1e-4), within(1.0), Goal { within: Some(10.0), ..to_error(1e-3) }] {
        let run = || {
            let mut planner = planner(problem(100_000, 300, Loss::Logistic, 1e-4), machines(64), goal);
            let decision = planner.decide();
            planner.begin(decision.plan.as_ref().expect("a plan"));
            let scores = (1..50).map(|at| Score { rounds: at, seconds: 1e-3 * at as f64, error: 0.9 });
            let next: Vec<Next> = scores.map(|score| planner.observe(score)).collect();
            (decision, next, planner.decide(), planner.take_seconds().to_bits(), planner.take_seconds())
        };
        let (first, second) = (run(), run());
        assert!(f64::from_bits(first.3) > 0.0 && first.4 == 0.0);
        assert_eq!(first, second);
        let text = |decision: &Decision| serde_json::to_string(decision).expect("plain data");
        assert_eq!(text(&first.0), text(&second.0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_alternative_is_better_than_the_plan(
        profile in any_problem(),
        cluster in any_cluster(),
        goal in any_goal(),
        real_clock: bool,
    ) {
        let inputs = Inputs { real_clock, ..inputs(profile, cluster, goal) };
        let offered = inputs.configurations.len();
        let planner = Planner::new(inputs);
        let decision = planner.decide();
        let all = alternatives(&decision);
        prop_assert!(!all.is_empty() || decision.plan.is_none());
        prop_assert!(all.len() + decision.rejected.len() <= offered + 1);
        let order: Vec<f64> = all.iter().map(|candidate| candidate.criterion).collect();
        prop_assert!(order.windows(2).all(|pair| pair[0] <= pair[1]), "{order:?}");
        for candidate in all {
            check_numbers(candidate, &goal)?;
        }
    }

    #[test]
    fn whatever_a_run_does_the_planner_answers(
        profile in any_problem(),
        cluster in any_cluster(),
        goal in any_goal(),
        steps in prop::collection::vec((1..100_u64, -6.0..2.0_f64, -1.0..3.0_f64), 1..20),
    ) {
        let mut planner = planner(profile, cluster, goal);
        let Some(plan) = planner.decide().plan else { return Ok(()) };
        planner.begin(&plan);
        let mut now = Score { rounds: 0, seconds: 0.0, error: 1.0 };
        for (rounds, seconds, gain) in steps {
            now = Score {
                rounds: now.rounds + rounds,
                seconds: now.seconds + 10_f64.powf(seconds),
                error: (now.error * (-gain).exp()).min(1.0),
            };
            if let Next::HandOver(next) = planner.observe(now) {
                prop_assert!(planner.position(&next.to).is_some_and(|at| at < planner.candidates));
                prop_assert!(!next.reason.contains("NaN") && !next.reason.contains("inf"), "{}", next.reason);
                planner.switched(&next.to, now.rounds, now.seconds);
            }
            for candidate in alternatives(&planner.decide()) {
                check_numbers(candidate, &goal)?;
            }
        }
    }
}

fn check_numbers(candidate: &Candidate, goal: &Goal) -> Result<(), TestCaseError> {
    let stages = candidate.stages.iter();
    let estimates = stages.flat_map(|stage| [&stage.rounds, &stage.seconds]);
    for estimate in estimates.chain([&candidate.seconds, &candidate.error]).flatten() {
        let Estimate { low, mean, high } = *estimate;
        prop_assert!(0.0 <= low && low <= mean && mean <= high && high.is_finite(), "{candidate:?}");
    }
    prop_assert!(candidate.criterion.is_finite() && candidate.criterion >= 0.0, "{candidate:?}");
    let costs = candidate.stages.iter().filter_map(|stage| stage.cost).chain(candidate.cost);
    prop_assert!(costs.into_iter().all(|cost| cost.is_finite() && cost >= 0.0), "{candidate:?}");
    prop_assert_eq!(candidate.seconds.is_some(), goal.error.is_some());
    prop_assert_eq!(candidate.error.is_some(), goal.error.is_none());
    Ok(())
}

fn any_problem() -> impl Strategy<Value = Profile> {
    let sizes = (2.0..8.0_f64, 0.0..6.0_f64, -4.0..0.0_f64);
    let others = (0..LOSSES.len(), -8.0..0.0_f64, 0.001..1.0_f64, -3.0..3.0_f64, any::<bool>());
    (sizes, others).prop_map(|((rows, features, density), (loss, lambda, share, norm, bias))| {
        let (rows, features) = (10_f64.powf(rows), 10_f64.powf(features).round());
        let norm = 10_f64.powf(norm);
        let data = DataProfile {
            rows: rows as usize,
            features: features as usize,
            nonzeros: (rows * (features * 10_f64.powf(density)).max(1.0)) as usize,
            mean_squared_norm: norm,
            unevenness: 1.0 + share,
            spectrum: vec![(share * norm, 1.0), ((1.0 - share) * norm / features, features)],
        };
        Profile { data, loss: LOSSES[loss], lambda: 10_f64.powf(lambda), bias }
    })
}

fn any_cluster() -> impl Strategy<Value = Cluster> {
    let network = (-7.0..-2.0_f64, 6.0..11.0_f64);
    (0..11_u32, network, 0.1..10.0_f64, any::<bool>()).prop_map(|(doublings, network, speed, known)| {
        let mut cluster = machines(1 << doublings);
        let (latency, bandwidth) = (10_f64.powf(network.0), 10_f64.powf(network.1));
        cluster.network = Network { latency, bandwidth, ..Network::default() };
        cluster.machines[0].speed = speed;
        if known { priced(cluster) } else { cluster }
    })
}

fn any_goal() -> impl Strategy<Value = Goal> {
    let risk = prop_oneof![Just(Risk::Expected), (0.01..0.99_f64).prop_map(Risk::Quantile)];
    let figures = (-9.0..-0.5_f64, -3.0..4.0_f64, -4.0..4.0_f64);
    (0..6_u32, figures, risk).prop_map(|(kind, (error, seconds, money), risk)| {
        let (error, seconds, money) = (10_f64.powf(error), 10_f64.powf(seconds), 10_f64.powf(money));
        let goal = match kind {
            0 => to_error(error),
            1 => Goal { within: Some(seconds), ..to_error(error) },
            2 => within(seconds),
            3 => Goal { budget: Some(money), ..to_error(error) },
            4 => Goal { cheapest: true, ..to_error(error) },
            _ => Goal { budget: Some(money), ..within(seconds) },
        };
        Goal { risk, ..goal }
    })
}

/// Plays a run back that goes just as the planner predicts, and returns what was changed.
fn follow(planner: &mut Planner, plan: &Candidate) -> Vec<HandOver> {
    let goal = planner.goal.progress().expect("an error is asked for");
    let mut changes = Vec::new();
    let mut at = planner.position(plan.first()).expect("offered");
    let (mut from, mut rounds, mut seconds) = (0.0, 0.0, 0.0);
    'stages: loop {
        let model = planner.models[at].clone();
        let begun = seconds + model.set_up + if from > 0.0 { model.switch } else { 0.0 };
        let whole = model.effort(from, goal, 0.0).expect("it takes over");
        let steps = whole.ceil().clamp(1.0, 200.0) as u64;
        for step in 1..=steps {
            let made = (whole * step as f64 / steps as f64).ceil();
            let error = (-error_after(&model, from, goal, made)).exp();
            let now =
                Score { rounds: (rounds + made) as u64, seconds: begun + made * model.per_round, error };
            if let Next::HandOver(next) = planner.observe(now) {
                planner.switched(&next.to, now.rounds, now.seconds);
                at = planner.position(&next.to).expect("offered");
                changes.push(next);
                (from, rounds, seconds) = (planner.progress, now.rounds as f64, now.seconds);
                continue 'stages;
            }
        }
        return changes;
    }
}

/// ln 1/e of the error that is predicted after `made` rounds.
fn error_after(model: &Model, from: f64, goal: f64, made: f64) -> f64 {
    let (mut low, mut high) = (from, goal);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let takes = model.effort(from, middle, 0.0).unwrap_or(f64::INFINITY);
        if takes <= made * (1.0 + 1e-9) { low = middle } else { high = middle }
    }
    low
}

/// A run whose error stays at 0.9 for `times` the rounds predicted, unless it is handed over.
fn stall(planner: &mut Planner, times: f64) -> (Configuration, Option<HandOver>) {
    let plan = planner.decide().plan.expect("a plan");
    planner.begin(&plan);
    let model = planner.models[planner.position(plan.first()).expect("offered")].clone();
    let all = times * model.effort(0.0, planner.reference, 0.0).expect("from the start");
    let change = (1..=500).find_map(|step| {
        let rounds = (all * f64::from(step) / 500.0).ceil();
        let seconds = model.set_up + rounds * model.per_round;
        match planner.observe(Score { rounds: rounds as u64, seconds, error: 0.9 }) {
            Next::HandOver(change) => Some(change),
            Next::GoOn => None,
        }
    });
    (plan.first().clone(), change)
}

fn past(configuration: &Configuration) -> PastStage {
    PastStage {
        configuration: configuration.clone(),
        from: 1.0,
        scores: Vec::new(),
        rounds_deviation: Settings::default().repeat,
        pace_deviation: None,
    }
}

/// The scores of a run that reached its error after `rounds` rounds.
fn straight(rounds: f64, first: f64, last: f64) -> Vec<PastScore> {
    let at = |error: f64| PastScore { rounds: rounds * error.ln() / last.ln(), seconds: 0.0, error };
    vec![at(first), at(last)]
}

/// What was rejected for another reason than a floor under its error; there is some.
fn come_to_the_goal(decision: &Decision) -> Vec<&Rejected> {
    let comes = |rejected: &&Rejected| !rejected.reason.contains("floor");
    let all: Vec<&Rejected> = decision.rejected.iter().filter(comes).collect();
    assert!(!all.is_empty());
    all
}

fn alternatives(decision: &Decision) -> Vec<&Candidate> {
    decision.plan.iter().chain(&decision.alternatives).collect()
}

fn planner(profile: Profile, cluster: Cluster, goal: Goal) -> Planner {
    Planner::new(inputs(profile, cluster, goal))
}

/// What runs on machines without a common memory or servers.
fn offered() -> impl Iterator<Item = &'static Entry> {
    catalogue()
        .iter()
        .copied()
        .filter(|entry| matches!(entry.needs(), Needs::Collectives | Needs::Neighbours))
}

/// All that is offered, on powers of two, what is half-way between, and all
/// machines.
fn inputs(profile: Profile, cluster: Cluster, goal: Goal) -> Inputs {
    let most = cluster.boundaries().last().unwrap_or(1).min(profile.data.rows);
    let powers = std::iter::successors(Some(1), |m| Some(2 * m)).take_while(|m| *m <= most);
    let between = powers.clone().map(|m| m + m / 2).filter(|m| *m <= most);
    let mut workers: Vec<usize> = powers.chain(between).chain([most]).collect();
    workers.sort_unstable();
    workers.dedup();
    let mut configurations = Vec::new();
    let suits = |entry: &&Entry| (entry.unsuited)(profile.dimension(), profile.loss).is_none();
    for entry in offered().filter(suits) {
        for &workers in workers.iter().filter(|workers| **workers > 1 || entry.alone.is_none()) {
            let local_work = workers > 1 && entry.parameters.contains(&"local_steps");
            for &passes in if local_work { &[1.0, 4.0][..] } else { &[1.0] } {
                configurations.push(Configuration { algorithm: entry.name.to_owned(), workers, passes });
            }
        }
    }
    Inputs {
        profile,
        cluster,
        configurations,
        goal,
        real_clock: false,
        reading: None,
        history: Vec::new(),
        settings: Settings::default(),
    }
}

fn to_error(error: f64) -> Goal {
    Goal { error: Some(error), ..Goal::default() }
}

fn within(seconds: f64) -> Goal {
    Goal { within: Some(seconds), ..Goal::default() }
}

/// So many equal machines on a usual network.
fn machines(count: usize) -> Cluster {
    let kind =
        MachineType { name: "usual".to_owned(), count, speed: 1.0, cores: 1, memory: None, price: None };
    Cluster { machines: vec![kind], ..Cluster::of(Machine::default()) }
}

fn priced(mut cluster: Cluster) -> Cluster {
    cluster.machines.iter_mut().for_each(|kind| kind.price = Some(1.0));
    cluster
}

/// Rows of length 1 with at most 40 values, of which one direction has half and the others share the rest.
fn problem(rows: usize, features: usize, loss: Loss, lambda: f64) -> Profile {
    let data = DataProfile {
        rows,
        features,
        nonzeros: rows * features.min(40),
        mean_squared_norm: 1.0,
        unevenness: 1.3,
        spectrum: vec![(0.5, 1.0), (0.5 / features as f64, features as f64)],
    };
    Profile { data, loss, lambda, bias: false }
}

/// Problems on which pilots take next to nothing.
fn long_problems() -> impl Iterator<Item = Inputs> {
    let lambdas = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
    let all = LOSSES.into_iter().flat_map(move |loss| lambdas.map(|lambda| (loss, lambda)));
    all.map(|(loss, lambda)| inputs(problem(2_000_000, 200, loss, lambda), machines(16), to_error(1e-4)))
}

#[test]
fn pilots_are_made_where_they_are_worth_more_than_they_take() {
    let mut made = 0;
    for inputs in long_problems() {
        let mut planner = Planner::new(inputs.clone());
        let before = planner.decide().plan.expect("a plan");
        let mut seen: Vec<String> = Vec::new();
        while let Some(pilot) = planner.next_pilot() {
            assert!(pilot.worth > pilot.seconds && pilot.worth < before.criterion, "{pilot:?}");
            assert!((pilot.fraction * inputs.profile.data.rows as f64 - 1000.0).abs() < 1e-6);
            assert!(!seen.contains(&pilot.configuration.algorithm), "twice: {pilot:?}");
            seen.push(pilot.configuration.algorithm.clone());
        }
        assert_eq!(planner.decide().plan.expect("a plan"), before, "asking changes nothing");
        made += seen.len();
    }
    assert!(made > 0, "no pilot on any problem");
}

#[test]
fn a_pilot_moves_what_is_predicted_and_narrows_it() {
    let mut judged = 0;
    for inputs in long_problems() {
        let mut planner = Planner::new(inputs);
        let Some(pilot) = planner.next_pilot() else { continue };
        let at = planner.position(&pilot.configuration).expect("its configuration is a candidate");
        let (mean, variance) = planner.residual(at);
        let predicted = planner.models[at].effort(0.0, planner.reference, mean).expect("from the start");
        let stage = pilot.stage(straight(9.0 * predicted, 1e-2, 1e-4).into_iter());
        let told = mean + (stage.scores.last().expect("two").rounds / predicted).ln();
        planner.condition_on(&stage);
        let (after, narrower) = planner.residual(at);
        assert!(mean < after && after < told, "{mean} to {after}, told {told}");
        assert!(narrower < variance && narrower > 0.0, "{variance} to {narrower}");
        judged += 1;
    }
    assert!(judged > 0, "no pilot on any problem");
}

#[test]
fn no_pilots_on_small_data_and_none_where_time_or_money_is_limited() {
    let none = |inputs: Inputs| assert_eq!(Planner::new(inputs).next_pilot(), None);
    for inputs in long_problems() {
        let data = DataProfile { rows: 1999, nonzeros: 1999 * 40, ..inputs.profile.data.clone() };
        none(Inputs { profile: Profile { data, ..inputs.profile.clone() }, ..inputs.clone() });
        let priced = Inputs { cluster: priced(inputs.cluster.clone()), ..inputs.clone() };
        none(Inputs { goal: Goal { within: Some(1e9), ..inputs.goal }, ..priced.clone() });
        none(Inputs { goal: Goal { budget: Some(1e9), ..inputs.goal }, ..priced.clone() });
        none(Inputs { goal: Goal { cheapest: true, ..inputs.goal }, ..priced });
        none(Inputs { goal: within(1e3), ..inputs });
    }
}
