//! What a run begins with, and who follows it.

use std::sync::atomic::AtomicBool;

use hemingway_plan::{Configuration, Planner, Score};
use hemingway_train::{Checkpoint, StopRules};

use crate::adaptive::Adaptive;
use crate::default_choice::SIMULATED;
use crate::inputs::{PlanInputs, Planning, SMALLEST_ERROR};
use crate::prepare::{Ready, Trainer};
use crate::{Choice, Error, Store, TrainRequest};

/// Decides what the request leaves open. Where only rounds are asked for there is nothing to plan by.
pub(super) fn plan(
    request: &TrainRequest,
    choice: &mut Choice,
    ready: &Ready,
    trainer: &Trainer,
    store: Option<&Store>,
    interrupt: &AtomicBool,
) -> Result<Option<Adaptive>, Error> {
    if !request.is_planned(&choice.stop) {
        return Ok(None);
    }
    let workers = trainer.workers();
    let Some((inputs, profiled)) = inputs(request, choice, ready, trainer, store, workers.as_deref()) else {
        return Ok(None);
    };
    let inputs = PlanInputs { pilots: trainer.pilots(interrupt), ..inputs };
    let Planning { planner, mut explanation } = inputs.plan()?;
    if choice.engine != SIMULATED {
        explanation.overhead_seconds += profiled;
    }
    let adaptive = explanation.plan().map(|plan| follow(planner, plan.first().clone(), request, choice));
    if let Some(plan) = explanation.plan() {
        choice.use_configuration(plan.first(), ready.summary.rows, request.parameters.clone());
        choice.reason = "planned".to_owned();
    }
    choice.explanation = Some(explanation);
    Ok(adaptive)
}

/// A run that was planned is followed when it goes on, too.
pub(super) fn follow_again(
    request: &TrainRequest,
    choice: &Choice,
    ready: &Ready,
    trainer: &Trainer,
    from: Option<&Checkpoint>,
) -> Result<Option<Adaptive>, Error> {
    if choice.explanation.is_none() {
        return Ok(None);
    }
    let workers = trainer.workers();
    let Some((inputs, _)) = inputs(request, choice, ready, trainer, None, workers.as_deref()) else {
        return Ok(None);
    };
    let mut planner = inputs.planner()?;
    let configuration = choice.configuration(ready.summary.rows);
    let score = from.map(|from| Score { rounds: from.round, seconds: from.seconds.0, error: 1.0 });
    planner.go_on(&configuration, score);
    Ok(Some(follow(planner, configuration, request, choice)))
}

/// All that a plan is made from, and the seconds that the profile took; nothing if nobody made a profile.
fn inputs<'a>(
    request: &'a TrainRequest,
    choice: &'a Choice,
    ready: &'a Ready,
    trainer: &Trainer,
    store: Option<&'a Store>,
    workers: Option<&'a [usize]>,
) -> Option<(PlanInputs<'a>, f64)> {
    let (profile, profiled) = trainer.profile(ready)?;
    let inputs = PlanInputs {
        request,
        choice,
        data: &ready.summary,
        profile,
        store,
        workers,
        algorithms: None,
        reading: trainer.reading(),
        room: ready.room,
        pilots: None,
    };
    Some((inputs, profiled))
}

/// Follows a run. How far an objective is from its goal, in errors, is not known while it runs; and where a goal cannot
/// be reached, no other configuration reaches it either.
fn follow(
    planner: Planner,
    configuration: Configuration,
    request: &TrainRequest,
    choice: &Choice,
) -> Adaptive {
    let StopRules { error, objective, .. } = choice.stop;
    let adapt =
        request.planning.adapt && objective.is_none() && error.is_none_or(|error| error >= SMALLEST_ERROR);
    let open_end = request.goal(&choice.stop).error.is_none();
    Adaptive::new(planner, configuration, adapt, open_end, choice.engine != SIMULATED)
}
