//! `hemingway train`: a model with a proof of how good it is.

use std::process::ExitCode;

use hemingway::{
    Changes, DataRequest, Loss, Parameters, PlanningRequest, Progress, RanksRequest, Risk, Scoring, Seconds,
    StopRules, TrainReport, TrainRequest, Watch,
};

use crate::arguments::{Adapt, Input, Normalise, Planning, Problem, Ranks, Reading, Stop, Train};
use crate::failure::Usage;
use crate::progress::Follower;
use crate::summary::summary;
use crate::{failure, interrupt, output, plan};

/// The run ended before what was asked for was reached.
pub const BEFORE_THE_GOAL: u8 = 3;

pub fn run(arguments: Train) -> anyhow::Result<ExitCode> {
    let json = arguments.json;
    interrupt::when_closed(move |report| tell(report, json));
    let report = train(arguments)?;
    tell(&report, json)?;
    if let Some(what) = report.unrecorded {
        return Err(failure::unrecorded(&what, &report.run, &report.model));
    }
    Ok(if report.goal_reached { ExitCode::SUCCESS } else { ExitCode::from(BEFORE_THE_GOAL) })
}

fn tell(report: &TrainReport, json: bool) -> anyhow::Result<()> {
    if json { output::json(&serde_json::to_value(report)?) } else { output::text(&summary(report)) }
}

fn train(arguments: Train) -> anyhow::Result<TrainReport> {
    let place = arguments.store.place()?;
    if arguments.take_over && arguments.resume.is_none() {
        return Err(
            Usage("--take-over says how to go on with a run; name it with --resume RUN".into()).into()
        );
    }
    let mut follower = Follower::new(arguments.quiet);
    let mut watch =
        Watch { interrupt: interrupt::listen()?, observe: &mut |progress| follow(&mut follower, progress) };
    let result = match arguments.resume.clone() {
        Some(run) => hemingway::resume(&run, &changes(arguments), &place, &mut watch),
        None => hemingway::train(request(arguments), &place, &mut watch),
    };
    interrupt::training_ended();
    follower.finish();
    Ok(result?)
}

pub fn follow(follower: &mut Follower, progress: Progress) {
    match progress {
        Progress::Loading(spec) => follower.loading(spec),
        Progress::Planned(explanation) => {
            explanation.warnings.iter().for_each(|warning| follower.warn(&format!("Warning: {warning}")));
            follower.say(&plan::in_short(explanation));
        }
        Progress::Switched(switched) => follower.say(&plan::switched(switched)),
        Progress::Noticed(note) => follower.warn(&format!("Noticed: {note}")),
        Progress::Started(run) => {
            interrupt::training_begins();
            follower.started(run.choice.stop);
        }
        Progress::Closable(closer) => interrupt::can_be_closed(closer),
        Progress::Point(point) => follower.point(point),
        Progress::Restarting { reason, gone, workers } => follower.restarting(reason, gone, workers),
    }
}

fn request(arguments: Train) -> TrainRequest {
    let request = problem(arguments.problem);
    TrainRequest {
        data: DataRequest { fraction: arguments.fraction, ..request.data },
        test: arguments.test,
        algorithm: arguments.algorithm,
        parameters: Parameters {
            local_steps: arguments.local_steps,
            batch: arguments.batch,
            step_size: arguments.step_size,
            memory: arguments.memory,
        },
        workers: arguments.workers,
        engine: arguments.engine,
        cluster: arguments.cluster,
        ranks: RanksRequest {
            restarts: arguments.restarts,
            patience: arguments.patience.0.map(Seconds),
            ..ranks(arguments.ranks)
        },
        stop: stop_rules(&arguments.stop),
        planning: planning(&arguments.planning),
        scoring: arguments.score_every.map(Scoring::Every),
        seed: arguments.seed,
        checkpoint_every: Seconds(arguments.checkpoint_every),
        model: arguments.model,
        ..request
    }
}

/// What to minimise on which data, as all commands that train are told.
pub fn problem(problem: Problem) -> TrainRequest {
    let defaults = TrainRequest::default();
    TrainRequest {
        loss: problem.loss.unwrap_or(if problem.regression { Loss::Squared } else { defaults.loss }),
        data: DataRequest {
            regression: problem.regression,
            normalise_rows: problem.normalise == Some(Normalise::Rows),
            standardise: problem.standardise,
            ..input(problem.input)
        },
        lambda: problem.lambda,
        bias: problem.bias,
        memory_limit: problem.memory_limit,
        ..defaults
    }
}

/// Where ranks are started, as all commands that start any are told.
pub fn ranks(ranks: Ranks) -> RanksRequest {
    RanksRequest { hosts: ranks.hosts, launcher: ranks.launcher, ..RanksRequest::default() }
}

fn changes(arguments: Train) -> Changes {
    let (stop, memory_limit) = (stop_rules(&arguments.stop), arguments.problem.memory_limit);
    Changes { stop, model: arguments.model, memory_limit, take_over: arguments.take_over }
}

/// What counts where something is left open.
pub fn planning(planning: &Planning) -> PlanningRequest {
    PlanningRequest {
        budget: planning.budget,
        cheapest: planning.cheapest,
        risk: planning.risk.map_or(Risk::Expected, Risk::Quantile),
        max_workers: planning.max_workers,
        adapt: planning.adapt == Adapt::On,
        hysteresis: planning.hysteresis,
    }
}

/// Goals and limits.
pub fn stop_rules(stop: &Stop) -> StopRules {
    StopRules {
        error: stop.error,
        objective: stop.objective,
        within: stop.within.map(Seconds),
        rounds: stop.rounds,
    }
}

/// The data that is named, or else the embedded digits.
pub fn input(input: Input) -> DataRequest {
    let spec = input.data.unwrap_or(DataRequest::default().spec);
    DataRequest { positive: input.positive, ..reading(spec, input.reading) }
}

/// How to read data, as all commands that read any are told.
pub fn reading(spec: String, reading: Reading) -> DataRequest {
    DataRequest {
        spec,
        format: reading.format,
        label: reading.label,
        zero_based: reading.zero_based,
        ..DataRequest::default()
    }
}
