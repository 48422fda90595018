//! A run that goes on with another configuration keeps what it has reached.

mod trial;

use hemingway_train::{
    Checkpoint, Engine, Event, HandOver, Job, Loss, Point, Run, Start, Stop, StopRules, Threads, algorithm,
};
use trial::{Recipe, Trial, offered, simulated};

/// Rounds of the first stage.
const FIRST: u64 = 4;

fn trial(algorithm: &'static str, loss: Loss, workers: usize) -> Trial {
    let data = Recipe { rows: 120, columns: 9, sparse: true, ..Recipe::default() }.cook();
    let stop = StopRules { error: Some(1e-9), rounds: Some(60), ..StopRules::default() };
    Trial { workers, stop, ..Trial::of(data, loss, algorithm) }
}

struct Stage {
    run: Run,
    points: Vec<Point>,
    last: Option<Checkpoint>,
}

/// One stage; asked to hand over after so many rounds.
fn stage(trial: &Trial, engine: &dyn Engine, from: Option<&Checkpoint>, rounds: Option<u64>) -> Stage {
    let hand_over = HandOver::default();
    let algorithm = algorithm(trial.algorithm, &trial.parameters).unwrap();
    let job = Job {
        problem: trial.problem,
        algorithm: algorithm.as_ref(),
        workers: trial.workers,
        seed: trial.seed,
        stop: trial.stop,
        scoring: trial.scoring,
        start: from.map_or(Start::Zero, Start::Checkpoint),
        checkpoint_every: None,
        interrupt: None,
        hand_over: Some(&hand_over),
    };
    let (mut points, mut last) = (Vec::new(), None);
    let run = engine.run(&trial.data, &job, &mut |event| {
        match event {
            Event::Point(point) => {
                points.push(*point);
                if rounds.is_some_and(|rounds| point.round >= rounds) {
                    hand_over.ask(true);
                }
            }
            Event::Checkpoint(checkpoint) => last = Some(checkpoint.clone()),
        }
        Ok(())
    });
    Stage { run: run.unwrap(), points, last }
}

/// Hands over and goes on; returns both stages.
fn two_stages(before: &Trial, after: &Trial, engine: &dyn Engine) -> Option<(Stage, Stage)> {
    let first = stage(before, engine, None, Some(FIRST));
    if first.run.stop != Stop::HandedOver {
        return None; // It was done, or stuck, before.
    }
    let checkpoint = first.last.as_ref().expect("whoever takes over needs it");
    assert!(checkpoint.is_handed_over());
    let through_bytes = Checkpoint::from_bytes(&checkpoint.to_bytes()).unwrap();
    let second = stage(after, engine, Some(&through_bytes), None);
    Some((first, second))
}

#[test]
fn what_was_reached_and_proved_is_kept_whoever_takes_over() {
    let mut hand_overs = 0;
    for engine in [&simulated() as &dyn Engine, &Threads] {
        for loss in [Loss::Hinge, Loss::Logistic] {
            for from in offered(engine) {
                for to in offered(engine) {
                    let about = format!("{} to {} on {loss}, {}", from.name, to.name, engine.name());
                    let (before, after) = (trial(from.name, loss, 3), trial(to.name, loss, 2));
                    let Some((first, second)) = two_stages(&before, &after, engine) else { continue };
                    hand_overs += 1;
                    let (reached, next) = (first.points.last().unwrap(), &second.points[0]);
                    assert_eq!(next.round, reached.round + 1, "{about}");
                    assert!(next.primal <= reached.primal && next.dual >= reached.dual, "{about}");
                    assert!(next.seconds.0 >= first.last.as_ref().unwrap().seconds.0, "{about}");
                    assert!(next.wall_seconds.0 >= reached.wall_seconds.0, "{about}");
                    assert!(second.run.stop != Stop::HandedOver, "{about}");
                }
            }
        }
    }
    assert!(hand_overs > 100, "only {hand_overs} runs were handed over");
}

#[test]
fn a_dual_method_begins_where_a_primal_one_ended() {
    // Six rounds of L-BFGS come close to the optimum; from zero duals one pass of coordinate ascent does not.
    let goal = StopRules { error: Some(1e-9), rounds: Some(200), ..StopRules::default() };
    let before = Trial { stop: goal, ..trial("l-bfgs", Loss::Logistic, 3) };
    let after = Trial { stop: StopRules { rounds: Some(7), ..goal }, ..trial("cocoa", Loss::Logistic, 1) };
    let first = stage(&before, &simulated(), None, Some(6));
    assert_eq!(first.run.stop, Stop::HandedOver);
    let second = stage(&after, &simulated(), first.last.as_ref(), None);
    let cold = Trial { stop: StopRules { rounds: Some(1), ..goal }, ..after }.run(&simulated()).unwrap();
    let optimum = stage(&before, &simulated(), None, None).run.primal;
    let above = |current: f64| (current - optimum) / optimum;
    let (warm, cold) = (above(second.points[0].current), above(cold.points[0].current));
    assert!(warm < 0.05 * cold, "{warm:e} after a hand-over, {cold:e} from nothing");
}

#[test]
fn a_run_that_gets_stuck_hands_over_by_itself() {
    // Gradients know nothing of corners: it soon finds no way down.
    let stuck = stage(&trial("l-bfgs", Loss::Hinge, 2), &simulated(), None, None);
    assert_eq!(stuck.run.stop, Stop::NoProgress);
    let checkpoint = stuck.last.expect("whoever takes over needs it");
    assert!(checkpoint.is_handed_over() && checkpoint.model.duals.is_some());
    let reached = stuck.points.last().unwrap().certified_error;
    let rescue = Trial {
        stop: StopRules { error: Some(1e-4), rounds: Some(4000), ..StopRules::default() },
        ..trial("cocoa", Loss::Hinge, 1)
    };
    let rescued = stage(&rescue, &simulated(), Some(&checkpoint), None);
    assert!(reached > 1e-4, "{reached:e}");
    assert_eq!(rescued.run.stop, Stop::Error);
}

#[test]
fn telling_many_workers_where_to_begin_takes_time() {
    let before = trial("cocoa", Loss::Logistic, 1);
    let seconds = |workers: usize| {
        let (first, second) =
            two_stages(&before, &trial("cocoa", Loss::Logistic, workers), &simulated()).unwrap();
        second.points[0].seconds.0 - first.last.unwrap().seconds.0
    };
    let cold = |workers: usize| {
        trial("cocoa", Loss::Logistic, workers).run(&simulated()).unwrap().points[0].seconds.0
    };
    assert!(seconds(8) > cold(8) + 50e-6, "{} against {}", seconds(8), cold(8));
}
