//! `hemingway show`: one run with its settings, its plan beside what it took, its progress and its result; or the
//! coefficients of its model.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hemingway::data::Labels;
use hemingway::{ModelFile, Owner, Point, Status, Store, StoredRun, TrainReport};
use serde_json::{Value, json};

use super::runs::status;
use crate::arguments::Show;
use crate::failure::Usage;
use crate::output::Column;
use crate::stages::beside_the_plan;
use crate::summary::{can_go_on, proved, table};
use crate::{coefficients, output, summary, words};

/// As many points are shown; all of them are in the JSON.
const SHOWN: usize = 16;

pub fn run(arguments: Show) -> anyhow::Result<ExitCode> {
    match arguments.coefficients {
        Some(most) => show_coefficients(&arguments, most),
        None if Path::new(&arguments.run).is_file() => show_coefficients(&arguments, None),
        None => show_run(&arguments),
    }
}

/// Of a model file, or of the model of a run.
fn show_coefficients(arguments: &Show, most: Option<usize>) -> anyhow::Result<ExitCode> {
    let file = Path::new(&arguments.run);
    let model = if file.is_file() { ModelFile::read(file)? } else { ModelFile::read(&model_of(arguments)?)? };
    if arguments.json {
        output::json(&coefficients::as_json(&model, most.unwrap_or(usize::MAX)))?;
    } else {
        output::text(&coefficients::in_words(&model, most.unwrap_or(coefficients::SHOWN)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn model_of(arguments: &Show) -> anyhow::Result<PathBuf> {
    let place = arguments.store.place()?;
    let store = Store::open_to_read(&place)?.ok_or_else(|| Store::missing(&place))?;
    let run = store.run(&arguments.run)?;
    run.report.map(|report| report.model).ok_or_else(|| {
        Usage(format!(
            "run {} has no model yet; `hemingway train --resume {}` goes on with it",
            run.id, run.id
        ))
        .into()
    })
}

fn show_run(arguments: &Show) -> anyhow::Result<ExitCode> {
    let place = arguments.store.place()?;
    let store = Store::open_to_read(&place)?.ok_or_else(|| Store::missing(&place))?;
    let run = store.run(&arguments.run)?;
    let points = store.points(&run)?;
    let classes = store.classes_of(&run.id)?;
    store.warnings().iter().for_each(|warning| output::warn(warning));
    if arguments.json {
        let shown = as_json(&run, &points, &classes, store.checkpoint_round(&run)?, store.bytes_of(&run)?);
        output::json(&shown)?;
    } else {
        output::text(&in_words(&run, &points, &classes))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(run: &StoredRun, points: &[Point], classes: &[StoredRun]) -> String {
    let progress = match (&run.dataset.labels, &run.report) {
        (Labels::Several(_), Some(report)) => {
            summary::classes(report).trim_end_matches('\n').to_owned() + "\n"
        }
        (Labels::Several(names), None) => classes_so_far(names.len(), classes),
        _ => progress(points),
    };
    let parts = [table(&settings(run)), beside_the_plan(run, points), progress, end(run)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// How far a run of several classes is.
fn classes_so_far(of: usize, classes: &[StoredRun]) -> String {
    if classes.is_empty() {
        return format!("none of {of} classes has been begun yet\n");
    }
    let name = |run: &StoredRun| run.request.data.positive.clone().unwrap_or_default();
    let rows = classes.iter().rev().map(|run| vec![name(run), status(run), run.id.clone()]);
    format!("{}{} of {of} classes begun\n", output::table(&["class", "status", "run"], rows), classes.len())
}

fn settings(run: &StoredRun) -> Vec<(&'static str, String)> {
    let data = &run.dataset;
    let size = format!("{} rows, {}", words::count(data.rows), words::features(data));
    let workers = words::counted(run.choice.workers, "worker");
    let bias = if run.request.has_bias() { ", bias" } else { "" };
    let mut rows = vec![
        ("run", run.id.clone()),
        ("begun", words::moment(run.created)),
        ("status", status(run)),
        ("data", format!("{}: {size}", data.name)),
        ("labels", crate::table::labels(data)),
        ("problem", format!("{} loss, lambda {}{bias}", run.request.loss, run.request.lambda)),
        ("method", format!("{} with {workers} on the {} engine", run.choice.algorithm, run.choice.engine)),
        ("parameters", parameters(run)),
        ("chosen", run.choice.reason.clone()),
        ("goal", goal(run)),
        ("seed", run.request.seed.to_string()),
    ];
    if let Some(weights) = words::class_weights(data) {
        rows.insert(5, ("weights", weights));
    }
    if let Some(all) = &run.request.class_of {
        rows.insert(1, ("part of", format!("run {all}, of all classes")));
    }
    if let Labels::Several(_) = data.labels {
        // Each class has its own.
        rows.retain(|(name, _)| !["method", "parameters", "chosen"].contains(name));
    }
    rows
}

fn parameters(run: &StoredRun) -> String {
    let given = run.report.as_ref().map_or(&run.choice.parameters, |report| &report.parameters);
    let Ok(Value::Object(fields)) = serde_json::to_value(given) else { return String::new() };
    let list: Vec<String> =
        fields.iter().map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect();
    if list.is_empty() { "defaults".to_owned() } else { list.join(", ") }
}

fn goal(run: &StoredRun) -> String {
    let rules = run.choice.stop;
    let parts = [
        rules.error.map(|error| format!("error {}", words::error(error))),
        rules.objective.map(|objective| format!("objective {objective}")),
        rules.within.map(|limit| format!("within {}", words::duration(limit.0))),
        rules.rounds.map(|rounds| format!("at most {}", words::counted(rounds as usize, "round"))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn progress(points: &[Point]) -> String {
    if points.is_empty() {
        return "no round has been scored yet\n".to_owned();
    }
    // Iterations of most methods are their rounds, and one worker sends nothing.
    let other_iterations = points.iter().any(|point| ![0, point.round].contains(&point.effort.iterations));
    let sends = points.iter().any(|point| point.effort.bytes_per_worker > 0.0);
    let columns: [(Column, bool, Figure); 9] = [
        (Column::fixed("round"), true, |point| words::count(point.round as usize)),
        (Column::optional("iterations", 3), other_iterations, iterations),
        (Column::fixed("epochs"), true, |point| words::rounded_count(point.effort.epochs)),
        (Column::optional("sent", 2), sends, sent),
        (Column::fixed("time"), true, |point| words::duration(point.seconds.0)),
        (Column::optional("wall time", 1), true, |point| words::duration(point.wall_seconds.0)),
        (Column::fixed("objective"), true, |point| words::number(point.primal)),
        (Column::fixed("lower bound"), true, |point| words::number(point.dual)),
        (Column::fixed("error"), true, words::certified),
    ];
    let shown: Vec<_> = columns.into_iter().filter(|(_, shown, _)| *shown).collect();
    let header: Vec<Column> = shown.iter().map(|(column, ..)| *column).collect();
    let row = |point: &Point| shown.iter().map(|(.., write)| write(point)).collect();
    output::fitted_table(&header, thinned(points).into_iter().map(row), output::width()).0
}

/// What a column shows of a point.
type Figure = fn(&Point) -> String;

fn iterations(point: &Point) -> String {
    match point.effort.iterations {
        0 => words::NONE.to_owned(),
        iterations => words::count(iterations as usize),
    }
}

/// By a worker, on average.
fn sent(point: &Point) -> String {
    let bytes = point.effort.bytes_per_worker;
    if bytes.is_nan() { words::NONE.to_owned() } else { words::bytes(bytes as u64) }
}

/// The first, the last, and some in between.
fn thinned(points: &[Point]) -> Vec<&Point> {
    let last = points.len() - 1;
    let shown = points.len().min(SHOWN);
    (0..shown).map(|step| &points[step * last / (shown - 1).max(1)]).collect()
}

fn end(run: &StoredRun) -> String {
    let resume = format!("Go on with:\n  hemingway train --resume {}\n", run.id);
    match (&run.report, run.status) {
        (Some(report), Status::Done) => {
            let rows = [
                ("ended", report.stop.reason().to_owned()),
                ("proved", proved(report)),
                ("model", report.model.display().to_string()),
            ];
            let unfinished = !report.goal_reached && can_go_on(report.stop);
            if unfinished { format!("{}\n{resume}", table(&rows)) } else { table(&rows) }
        }
        (report, Status::Running) => {
            let Owner { pid, host, .. } = &run.owner;
            format!("{}process {pid} on {host} works on it\n", before(report.as_ref()))
        }
        (report, Status::Failed) => {
            let failure = run.failure.as_deref().unwrap_or("no reason kept");
            format!("{}failed: {failure}\n\n{resume}", before(report.as_ref()))
        }
        (Some(report), _) => format!("{}\n{resume}", before(Some(report))),
        (None, _) => resume,
    }
}

/// What a run that goes further had come to before.
fn before(report: Option<&TrainReport>) -> String {
    report.map_or_else(String::new, |report| {
        format!("before it went on: {}, model {}\n", proved(report), report.model.display())
    })
}

fn as_json(
    run: &StoredRun,
    points: &[Point],
    classes: &[StoredRun],
    checkpoint_round: Option<u64>,
    bytes: u64,
) -> Value {
    let mut shown = json!({
        "run": run.id,
        "created": run.created,
        "created_utc": words::moment(run.created),
        "status": run.status,
        "purpose": run.purpose,
        "bytes": bytes,
        "request": run.request,
        "choice": run.choice,
        "dataset": run.dataset,
        "process": { "pid": run.owner.pid, "host": run.owner.host },
        "points": points,
        "checkpoint_round": checkpoint_round,
        "report": run.report,
        "failure": run.failure,
    });
    if !classes.is_empty() {
        let class = |run: &StoredRun| json!({ "class": run.request.data.positive, "run": run.id, "status": run.status });
        shown["classes"] = classes.iter().rev().map(class).collect();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use hemingway::{Effort, Seconds};

    fn points(count: u64) -> Vec<Point> {
        let zero = Seconds(0.0);
        let point = |round| Point {
            round,
            effort: Effort::default(),
            seconds: zero,
            wall_seconds: zero,
            current: 1.0,
            primal: 1.0,
            dual: 0.0,
            certified_error: 1.0,
        };
        (1..=count).map(point).collect()
    }

    #[test]
    fn the_first_and_the_last_point_are_always_shown() {
        for count in [1, 2, 15, 16, 17, 1000] {
            let points = points(count);
            let rounds: Vec<u64> = thinned(&points).iter().map(|point| point.round).collect();
            assert_eq!((rounds[0], rounds[rounds.len() - 1]), (1, count));
            assert!(rounds.len() <= SHOWN && rounds.windows(2).all(|pair| pair[0] < pair[1]), "{rounds:?}");
        }
    }
}
