//! Every way a run can end.

mod trial;

use std::sync::atomic::{AtomicBool, Ordering};

use std::thread::sleep;
use std::time::Duration;

use hemingway_train::{
    Algorithm, Engine, Error, Event, Job, Loss, Model, Scoring, Seconds, Solver, Start, Stop, StopRules,
    Threads, Worker, catalogue,
};
use trial::{Recipe, Trial, offered, simulated, within_seconds};

fn trial(algorithm: &'static str, stop: StopRules) -> Trial {
    let data = Recipe { rows: 80, columns: 6, ..Recipe::default() }.cook();
    Trial { stop, workers: 2, ..Trial::of(data, Loss::Logistic, algorithm) }
}

#[test]
fn ends_once_the_error_is_certified() {
    for entry in catalogue() {
        let rules = StopRules { error: Some(1e-2), rounds: Some(5000), ..StopRules::default() };
        let outcome = trial(entry.name, rules).run(&simulated()).unwrap();
        assert_eq!(outcome.run.stop, Stop::Error, "{}", entry.name);
        assert!(outcome.run.stop.is_goal(&rules));
        let (last, before) = outcome.points.split_last().unwrap();
        assert!(last.certified_error <= 1e-2, "{}", entry.name);
        assert!(
            before.iter().all(|point| point.certified_error > 1e-2),
            "{} could have ended before",
            entry.name
        );
    }
}

#[test]
fn ends_once_the_objective_is_reached() {
    for entry in catalogue() {
        let far = trial(entry.name, StopRules { rounds: Some(30), ..StopRules::default() })
            .run(&simulated())
            .unwrap();
        let goal = far.points[far.points.len() * 2 / 3].primal;
        let rules = StopRules { objective: Some(goal), rounds: Some(30), ..StopRules::default() };
        let run = trial(entry.name, rules).run(&simulated()).unwrap().run;
        let first = far.points.iter().find(|point| point.primal <= goal).unwrap();
        assert_eq!((run.stop, run.rounds), (Stop::Objective, first.round), "{}", entry.name);
        assert!(run.primal <= goal);
    }
}

#[test]
fn ends_before_a_round_that_would_take_too_long() {
    for entry in catalogue() {
        let whole = trial(entry.name, StopRules { rounds: Some(12), ..StopRules::default() });
        let clock: Vec<f64> =
            whole.run(&simulated()).unwrap().points.iter().map(|point| point.seconds.0).collect();
        assert!(clock.windows(2).all(|pair| pair[1] > pair[0]), "{}: the clock moves on", entry.name);
        for scoring in [Scoring::Every(1), Scoring::default()] {
            let about = format!("{}, {scoring:?}", entry.name);
            let rounds = |limit: f64| {
                let rules = StopRules { within: Some(Seconds(limit)), ..StopRules::default() };
                let run = Trial { scoring, ..trial(entry.name, rules) }.run(&simulated()).unwrap().run;
                // Newton's method has nothing left to do before the time is up.
                let done = run.certified_error <= 1e-10;
                assert_eq!(run.stop, if done { Stop::NoProgress } else { Stop::Within }, "{about}");
                assert!(run.rounds == 1 || run.seconds.0 <= limit, "{about}: {} of {limit}", run.seconds.0);
                (run.rounds as usize, done)
            };
            let longest = clock.windows(2).map(|pair| pair[1] - pair[0]).fold(clock[0], f64::max);
            for limit in [clock[6], clock[6].next_down(), 0.5 * (clock[6] + clock[7])] {
                let (rounds, done) = rounds(limit);
                let ended = clock[rounds - 1];
                assert!(done || ended + longest * 1.101 > limit, "{about}: {ended} of {limit}");
            }
            assert_eq!(rounds(0.0), (1, false), "{about}: there is always one round");
        }
    }
}

/// Rounds of two milliseconds; in one of them the machine stands still.
#[derive(Debug)]
struct Dawdler {
    slow_round: u64,
    stands_still: Duration,
}

struct Dawdling {
    round: u64,
    slow_round: u64,
    stands_still: Duration,
    weights: Vec<f64>,
}

impl Algorithm for Dawdler {
    fn name(&self) -> &'static str {
        "dawdler"
    }

    fn start(&self, worker: &mut Worker, _: &Model, _: Option<&[f64]>) -> Result<Box<dyn Solver>, Error> {
        let Dawdler { slow_round, stands_still } = *self;
        let weights = vec![0.0; worker.local.dimension()];
        Ok(Box::new(Dawdling { round: 0, slow_round, stands_still, weights }))
    }
}

impl Solver for Dawdling {
    fn round(&mut self, _: &mut Worker) -> Result<(), Error> {
        self.round += 1;
        sleep(if self.round == self.slow_round { self.stands_still } else { Duration::from_millis(2) });
        Ok(())
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }
}

#[test]
fn one_slow_moment_does_not_end_a_run_before_its_deadline() {
    let data = Recipe { rows: 4, columns: 2, ..Recipe::default() }.cook();
    let trial = Trial::of(data, Loss::Logistic, "cocoa");
    let job = Job {
        problem: trial.problem,
        algorithm: &Dawdler { slow_round: 10, stands_still: Duration::from_millis(600) },
        workers: 1,
        seed: 1,
        stop: StopRules { within: Some(Seconds(1.0)), ..StopRules::default() },
        scoring: Scoring::Every(1_000_000),
        start: Start::Zero,
        checkpoint_every: None,
        interrupt: None,
        hand_over: None,
    };
    let run = Threads.run(&trial.data, &job, &mut |_| Ok(())).unwrap();
    assert_eq!(run.stop, Stop::Within);
    assert!(run.rounds > 10 && run.seconds.0 > 0.8, "{} rounds, {} s of 1 s", run.rounds, run.seconds.0);
}

#[test]
fn an_objective_below_the_proved_bound_ends_the_run_at_once() {
    for entry in catalogue() {
        let best = trial("newton", StopRules { error: Some(1e-9), ..StopRules::default() });
        let bound = best.run(&simulated()).unwrap().run.dual;
        let stop = StopRules { objective: Some(0.5 * bound), rounds: Some(2000), ..StopRules::default() };
        let run = trial(entry.name, stop).run(&simulated()).unwrap();
        assert_eq!(run.run.stop, Stop::Unreachable, "{}", entry.name);
        assert!(!run.run.stop.is_goal(&stop));
        let (last, before) = run.points.split_last().unwrap();
        assert!(last.dual > 0.5 * bound, "{}: {last:?}", entry.name);
        assert!(before.iter().all(|point| point.dual <= 0.5 * bound), "{} knew before", entry.name);
        // A certified error is a goal of its own, which can still be reached.
        let both = StopRules { error: Some(1e-2), rounds: Some(5000), ..stop };
        assert_eq!(
            trial(entry.name, both).run(&simulated()).unwrap().run.stop,
            Stop::Error,
            "{}",
            entry.name
        );
    }
}

#[test]
fn ends_after_so_many_rounds() {
    for engine in [&Threads as &dyn Engine, &simulated()] {
        for entry in offered(engine) {
            // The last round is scored even where it is not due.
            let trial = Trial {
                scoring: Scoring::Every(5),
                ..trial(entry.name, StopRules { rounds: Some(7), ..StopRules::default() })
            };
            let outcome = trial.run(engine).unwrap();
            assert_eq!((outcome.run.stop, outcome.run.rounds), (Stop::Rounds, 7), "{}", entry.name);
            let rounds: Vec<u64> = outcome.points.iter().map(|point| point.round).collect();
            assert_eq!(rounds, [5, 7], "{}", entry.name);
        }
    }
}

/// A goal that rounding puts out of reach.
const NEVER: StopRules = StopRules { error: Some(0.0), objective: None, within: None, rounds: Some(50_000) };

#[test]
fn ends_when_nothing_moves_any_more() {
    for loss in [Loss::Squared, Loss::SmoothedHinge, Loss::Logistic] {
        for algorithm in ["cocoa", "cocoa-plus", "gradient-descent", "l-bfgs"] {
            for workers in [1, 2] {
                for seed in 0..4 {
                    let data = Recipe { rows: 40, columns: 4, seed, ..Recipe::default() }.cook();
                    let mut trial = Trial { stop: NEVER, workers, ..Trial::of(data, loss, algorithm) };
                    trial.problem.lambda = 0.1;
                    let run = trial.run(&simulated()).unwrap().run;
                    let about = format!(
                        "{algorithm} on {loss}, {workers} workers, data {seed}, {} rounds",
                        run.rounds
                    );
                    assert_eq!(run.stop, Stop::NoProgress, "{about}, P - D = {:e}", run.primal - run.dual);
                    assert!(!run.stop.is_goal(&NEVER));
                }
            }
        }
    }
}

#[test]
fn ends_when_the_objective_diverges() {
    for engine in [&Threads as &dyn Engine, &simulated()] {
        for loss in [Loss::Squared, Loss::Logistic, Loss::Hinge] {
            let mut trial =
                trial("gradient-descent", StopRules { rounds: Some(2000), ..StopRules::default() });
            trial.problem.loss = loss;
            trial.parameters.step_size = Some(1e9);
            let run = trial.run(engine).unwrap().run;
            assert_eq!(run.stop, Stop::Diverged, "{loss} on {}", engine.name());
            assert!(!run.stop.is_goal(&trial.stop));
            assert!(
                run.model.weights.iter().all(|weight| weight.is_finite()),
                "{loss}: the best weights are kept"
            );
            assert!(run.primal.is_finite() && run.certified_error.is_finite(), "{loss}");
        }
    }
}

#[test]
fn ends_when_interrupted() {
    for engine in [&Threads as &dyn Engine, &simulated()] {
        for entry in offered(engine) {
            let flag = AtomicBool::new(false);
            let trial = trial(entry.name, StopRules { rounds: Some(1000), ..StopRules::default() });
            let mut last = 0;
            let run = trial.run_watched(engine, Some(&flag), &mut |event| {
                if let Event::Point(point) = event {
                    last = point.round;
                    flag.store(point.round >= 5, Ordering::Relaxed);
                }
                Ok(())
            });
            let run = run.unwrap();
            assert_eq!((run.stop, run.rounds, last), (Stop::Interrupted, 6, 6), "{}", entry.name);
            assert!(!run.stop.is_goal(&trial.stop));
        }
    }
}

#[test]
fn an_interrupted_run_is_finished_after_one_round() {
    let flag = AtomicBool::new(true);
    let trial = trial("cocoa", StopRules { rounds: Some(1000), ..StopRules::default() });
    let run = trial.run_watched(&Threads, Some(&flag), &mut |_| Ok(())).unwrap();
    assert_eq!((run.stop, run.rounds), (Stop::Interrupted, 1));
}

/// What an observer complains about.
#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
struct Full;

#[test]
fn an_observer_that_fails_ends_the_run_with_its_error() {
    for workers in [1, 2, 5] {
        for threads in [true, false] {
            for at_checkpoint in [true, false] {
                let outcome = within_seconds(60, move || {
                    let mut trial = trial("cocoa", StopRules { rounds: Some(1000), ..StopRules::default() });
                    (trial.workers, trial.checkpoint_every) = (workers, Some(Seconds(0.0)));
                    let mut seen = 0;
                    let engine: &dyn Engine = if threads { &Threads } else { &simulated() };
                    trial.run_watched(engine, None, &mut |event| {
                        seen += usize::from(matches!(event, Event::Checkpoint(_)) == at_checkpoint);
                        if seen < 4 { Ok(()) } else { Err(Error::Observer(Box::new(Full))) }
                    })
                });
                match outcome {
                    Err(Error::Observer(error)) => assert!(error.is::<Full>(), "{workers} workers: {error}"),
                    other => panic!("{workers} workers: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_goal_wins_over_a_limit_reached_in_the_same_round() {
    let rules = StopRules { error: Some(1e9), rounds: Some(1), ..StopRules::default() };
    assert_eq!(trial("cocoa", rules).run(&simulated()).unwrap().run.stop, Stop::Error);
}
