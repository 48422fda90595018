//! `hemingway train`: a model with a proof of how good it is.

use std::process::ExitCode;

use hemingway::data::{NumberStyle, several};
use hemingway::{
    Changes, DataRequest, Loss, Parameters, PlanningRequest, Progress, RanksRequest, Risk, Scoring, Seconds,
    StopRules, TrainReport, TrainRequest, Watch,
};

use crate::arguments::{
    Adapt, Columns, Input, Lambda, Normalise, Planning, Problem, Ranks, Reading, Running, Stop, Task, Train,
};
use crate::environment::with_machines;
use crate::failure::Usage;
use crate::progress::Follower;
use crate::summary::summary;
use crate::{failure, interrupt, lambda, output, plan};

/// The run ended before what was asked for was reached.
pub const BEFORE_THE_GOAL: u8 = 3;

pub fn run(arguments: Train) -> anyhow::Result<ExitCode> {
    let (json, verbose) = (arguments.running.json, arguments.verbose);
    interrupt::when_closed(move |report| tell(report, json, verbose));
    let report = train(arguments)?;
    tell(&report, json, verbose)?;
    if let Some(what) = report.unrecorded {
        return Err(failure::unrecorded(&what, &report.run, &report.model));
    }
    Ok(if report.goal_reached { ExitCode::SUCCESS } else { ExitCode::from(BEFORE_THE_GOAL) })
}

/// Says which algorithm another name stands for, where it is not only another spelling.
pub fn say_aliases<'a>(names: impl IntoIterator<Item = &'a String>, quiet: bool) {
    for name in names.into_iter().filter(|_| !quiet) {
        if let Some(stands_for) = hemingway::stands_for(name) {
            output::note(&format!(
                "`{name}` is {stands_for}; `hemingway algorithms {stands_for}` describes it"
            ));
        }
    }
}

fn tell(report: &TrainReport, json: bool, verbose: bool) -> anyhow::Result<()> {
    if json { output::json(&serde_json::to_value(report)?) } else { output::text(&summary(report, verbose)) }
}

fn train(arguments: Train) -> anyhow::Result<TrainReport> {
    let place = arguments.running.store.place()?;
    if arguments.take_over && arguments.resume.is_none() {
        return Err(
            Usage("--take-over says how to go on with a run; name it with --resume RUN".into()).into()
        );
    }
    say_aliases(&arguments.task.algorithm, arguments.running.quiet);
    let plot = arguments.choosing.path_plot.clone();
    plot.as_deref().map_or(Ok(()), hemingway::check_lambda_plot)?;
    let mut follower = Follower::new(arguments.running.quiet);
    let mut watch =
        Watch { interrupt: interrupt::listen()?, observe: &mut |progress| follow(&mut follower, progress) };
    let result = match arguments.resume.clone() {
        Some(run) => hemingway::resume(&run, &changes(arguments), &place, &mut watch),
        None => match lambda::request(&arguments.task.problem, &arguments.choosing)? {
            Some(how) => hemingway::train_choosing_lambda(request(arguments), &how, &place, &mut watch),
            None => hemingway::train(request(arguments), &place, &mut watch),
        },
    };
    interrupt::training_ended();
    follower.finish();
    let report = result?;
    if let (Some(file), Some(chosen)) = (plot, &report.lambda_choice) {
        hemingway::plot_lambda(chosen, &file)?;
    }
    Ok(report)
}

pub fn follow(follower: &mut Follower, progress: Progress) {
    match progress {
        Progress::Loading(spec) => follower.loading(spec),
        Progress::Planned(explanation) => {
            explanation.warnings.iter().for_each(|warning| follower.warn(&format!("Warning: {warning}")));
            follower.say(&plan::in_short(explanation));
        }
        Progress::Class { name, number, of } => {
            follower.next(&format!("class {name}"));
            follower.say(&format!("class {name} against the rest ({number} of {of})"));
        }
        Progress::ChoosingLambda(how, plan) => follower.say(&lambda::plan(how, plan)),
        Progress::LambdaModels { done, all } => follower.models(done, all),
        Progress::ChosenLambda(chosen) => {
            chosen.warnings.iter().for_each(|warning| follower.warn(&format!("Warning: {warning}")));
            follower.say(&lambda::chosen(chosen));
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
    TrainRequest { workers: arguments.workers, ..asked(arguments.task, arguments.running) }
}

/// What `train` and `explain` are asked alike: all but the workers.
pub fn asked(task: Task, running: Running) -> TrainRequest {
    let request = problem(task.problem);
    with_machines(TrainRequest {
        data: DataRequest { fraction: task.fraction, ..request.data },
        test: task.test,
        algorithm: task.algorithm,
        stop: stop_rules(&task.stop),
        planning: planning(&task.planning),
        parameters: Parameters {
            local_steps: running.local_steps,
            batch: running.batch,
            step_size: running.step_size,
            memory: running.memory,
            servers: running.servers,
            bits: running.bits,
            topology: running.topology,
        },
        engine: running.engine,
        cluster: running.cluster,
        ranks: RanksRequest {
            restarts: running.restarts,
            patience: running.patience.0.map(Seconds),
            ..ranks(running.ranks)
        },
        scoring: running.score_every.map(Scoring::Every),
        seed: running.seed,
        checkpoint_every: Seconds(running.checkpoint_every),
        model: running.model,
        ..request
    })
}

/// What to minimise on which data, as all commands that train take it.
pub fn problem(problem: Problem) -> TrainRequest {
    let defaults = TrainRequest::default();
    TrainRequest {
        loss: problem.loss.unwrap_or(if problem.regression { Loss::Squared } else { defaults.loss }),
        data: DataRequest {
            regression: problem.regression,
            class_weight: problem.class_weight,
            normalise_rows: problem.normalise == Some(Normalise::Rows),
            standardise: either(problem.standardise, problem.no_standardise),
            shuffle: problem.shuffle,
            ..input(problem.input)
        },
        lambda: match problem.lambda {
            Lambda::One(lambda) => lambda,
            Lambda::Several(_) => defaults.lambda,
        },
        bias: either(problem.bias, problem.no_bias),
        memory_limit: problem.memory_limit,
        ..defaults
    }
}

/// Refuses several lambdas where one has to be known.
pub fn check_one_lambda(problem: &Problem, command: &str) -> anyhow::Result<()> {
    match problem.lambda {
        Lambda::One(_) => Ok(()),
        Lambda::Several(_) => Err(Usage(format!(
            "`hemingway {command}` takes one --lambda\nhint: `hemingway train --lambda auto` chooses it; then give the number"
        ))
        .into()),
    }
}

/// Where ranks are started, as all commands that start any take it.
pub fn ranks(ranks: Ranks) -> RanksRequest {
    RanksRequest { hosts: ranks.hosts, launcher: ranks.launcher, ..RanksRequest::default() }
}

fn changes(arguments: Train) -> Changes {
    let Train { task, running, take_over, .. } = arguments;
    let (stop, memory_limit) = (stop_rules(&task.stop), task.problem.memory_limit);
    Changes { stop, model: running.model, memory_limit, take_over }
}

/// What is planned for where something is left open.
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
    let spec = if input.data.is_empty() { vec![DataRequest::default().spec] } else { input.data };
    let Columns { drop, keep, text, number, decimal_comma, thousands, weight } = input.columns;
    let numbers = NumberStyle { decimal_comma, thousands };
    let positive = input.positive;
    DataRequest { positive, drop, keep, text, number, numbers, weight, ..reading(&spec, input.reading) }
}

/// What two flags that exclude each other say, if one of them is given.
fn either(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

/// How to read data, as all commands that read any take it.
pub fn reading(data: &[String], reading: Reading) -> DataRequest {
    DataRequest {
        spec: several(data),
        format: reading.format,
        delimiter: reading.delimiter,
        label: reading.label,
        zero_based: reading.zero_based,
        drop_unlabelled: reading.drop_unlabelled,
        ..DataRequest::default()
    }
}
