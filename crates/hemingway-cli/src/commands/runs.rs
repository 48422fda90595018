//! `hemingway runs`: what is in the store, the latest first; and what leaves it.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use hemingway::{Point, Removed, Repaired, Status, Stop, Store, StoredRun};
use serde_json::{Value, json};

use crate::arguments::{Cleaning, PruneRuns, RemoveRuns, RepairRuns, Runs, RunsAction};
use crate::output::Column;
use crate::{output, words};

pub fn run(arguments: Runs) -> anyhow::Result<ExitCode> {
    match arguments.action {
        None => list(&arguments),
        Some(RunsAction::Rm(arguments)) => remove(&arguments),
        Some(RunsAction::Prune(arguments)) => prune(&arguments),
        Some(RunsAction::Repair(arguments)) => repair(&arguments),
    }
}

fn list(arguments: &Runs) -> anyhow::Result<ExitCode> {
    let place = arguments.store.place()?;
    let store = Store::open_to_read(&place)?;
    let runs = store.as_ref().map_or_else(|| Ok(Vec::new()), runs_with_ends)?;
    let (bytes, warnings) = store.as_ref().map_or((0, Vec::new()), |store| (store.bytes(), store.warnings()));
    warnings.iter().for_each(|warning| output::warn(warning));
    if arguments.json {
        let runs: Vec<Value> = runs.iter().map(as_json).collect();
        output::json(&json!({ "store": place.store(), "bytes": bytes, "warnings": warnings, "runs": runs }))?;
    } else if runs.is_empty() {
        output::text(&format!("no runs yet in {}\n", place.store().display()))?;
        output::note("hint: `hemingway train` makes the first");
    } else {
        let (table, left_out) = table(&runs);
        output::text(&table)?;
        let (count, size) = (words::counted(runs.len(), "run"), words::bytes(bytes));
        output::note(&format!("{count}, {size} in {}", place.store().display()));
        if !left_out.is_empty() {
            output::note(&format!("a wider terminal or --json also shows {}", left_out.join(", ")));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(arguments: &RemoveRuns) -> anyhow::Result<ExitCode> {
    let RemoveRuns { runs, take_over, cleaning } = arguments;
    let place = cleaning.store.place()?;
    let store = Store::open_existing(&place)?;
    let removed = store.remove_runs(runs, *take_over, &place, cleaning.models)?;
    say_removed(&removed, cleaning)
}

fn prune(arguments: &PruneRuns) -> anyhow::Result<ExitCode> {
    let PruneRuns { keep, cleaning } = arguments;
    let place = cleaning.store.place()?;
    let store = Store::open_existing(&place)?;
    let removed = store.prune(*keep, &place, cleaning.models)?;
    store.warnings().iter().for_each(|warning| output::warn(warning));
    say_removed(&removed, cleaning)
}

fn say_removed(removed: &Removed, cleaning: &Cleaning) -> anyhow::Result<ExitCode> {
    if cleaning.json {
        output::json(&serde_json::to_value(removed)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let count = words::counted(removed.runs.len(), "run");
    let names =
        if removed.runs.is_empty() { String::new() } else { format!(": {}", removed.runs.join(", ")) };
    output::text(&format!("removed {count}{names}\nfreed {}\n", words::bytes(removed.freed_bytes)))?;
    if !removed.studies.is_empty() {
        let count = if removed.studies.len() == 1 {
            "1 study".to_owned()
        } else {
            format!("{} studies", removed.studies.len())
        };
        output::text(&format!("removed {count}: {}\n", removed.studies.join(", ")))?;
    }
    if !removed.removed_models.is_empty() {
        output::text(&format!("removed {}\n", words::counted(removed.removed_models.len(), "model")))?;
    }
    if !removed.kept_models.is_empty() {
        let kept = words::counted(removed.kept_models.len(), "model");
        let lie = if removed.kept_models.len() == 1 { "is" } else { "are" };
        output::note(&format!(
            "{kept} of these runs {lie} still there; --models removes those beside the store"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn repair(arguments: &RepairRuns) -> anyhow::Result<ExitCode> {
    let place = arguments.store.place()?;
    let repaired = Store::open_existing(&place)?.repair()?;
    let Repaired { removed, left, freed_bytes } = &repaired;
    if arguments.json {
        output::json(&serde_json::to_value(&repaired)?)?;
    } else if removed.is_empty() {
        output::text("nothing to repair\n")?;
    } else {
        let lines: String = removed.iter().map(|what| format!("removed {what}\n")).collect();
        output::text(&format!("{lines}freed {}\n", words::bytes(*freed_bytes)))?;
    }
    left.iter().for_each(|what| output::warn(&format!("left alone: {what}")));
    Ok(ExitCode::SUCCESS)
}

/// A run, its latest point and its size in bytes.
type WithEnd = (StoredRun, Option<Point>, u64);

fn runs_with_ends(store: &Store) -> Result<Vec<WithEnd>, hemingway::Error> {
    let with_end = |run: StoredRun| {
        let (last, bytes) = (store.last_point(&run)?, store.bytes_of(&run)?);
        Ok((run, last, bytes))
    };
    let runs = store.runs()?.into_iter().map(with_end).collect::<Result<_, hemingway::Error>>()?;
    Ok(with_their_classes(runs))
}

/// The runs of classes below that of all classes, in their order.
fn with_their_classes(runs: Vec<WithEnd>) -> Vec<WithEnd> {
    let (mut classes, runs): (Vec<_>, Vec<_>) = runs.into_iter().partition(|(run, ..)| {
        run.request.class_of.is_some() // of a run that was removed they stay, at the end
    });
    classes.reverse();
    let mut ordered = Vec::new();
    for run in runs {
        let id = run.0.id.clone();
        ordered.push(run);
        ordered.extend(classes.extract_if(.., |(class, ..)| class.request.class_of.as_ref() == Some(&id)));
    }
    ordered.extend(classes);
    ordered
}

/// The table, and the columns that there was no room for.
fn table(runs: &[WithEnd]) -> (String, Vec<&'static str>) {
    let rows = runs.iter().map(|(run, last, bytes)| row(run, last.as_ref(), *bytes));
    output::fitted_table(&COLUMNS, rows, output::width())
}

const COLUMNS: [Column; 11] = [
    Column::fixed("run"),
    Column::fixed("when"),
    Column::flexible("data"),
    Column::optional("loss", 2),
    Column::flexible("algorithm"),
    Column::fixed("workers"),
    Column::optional("engine", 3),
    Column::flexible("status"),
    Column::fixed("error"),
    Column::fixed("time"),
    Column::optional("size", 1),
];

fn row(run: &StoredRun, last: Option<&Point>, bytes: u64) -> Vec<String> {
    let class = run.request.class_of.as_ref().and(run.request.data.positive.as_ref());
    let report = run.report.as_ref().filter(|_| run.is_of_several_classes());
    vec![
        class.map_or_else(|| run.id.clone(), |_| format!("  {}", run.id)),
        words::ago(age(run)),
        class.map_or_else(|| short(&run.dataset.name), |class| format!("class {class}")),
        run.request.loss.to_string(),
        report.map_or_else(|| run.choice.algorithm.clone(), |report| report.algorithm.clone()),
        words::count(report.map_or(run.choice.workers, |report| report.workers)),
        run.choice.engine.clone(),
        in_a_word(run),
        report.map(words::proved).or(last.map(words::certified)).unwrap_or_else(none),
        report
            .map_or(last.map(|last| last.seconds.0), |report| Some(report.seconds))
            .map_or_else(none, words::duration),
        words::bytes(bytes),
    ]
}

fn none() -> String {
    words::NONE.to_owned()
}

/// How a run stands, in a few words.
pub fn status(run: &StoredRun) -> String {
    match (&run.report, run.status) {
        (Some(report), Status::Done) if report.goal_reached => "done".to_owned(),
        (Some(report), Status::Done) if report.stop == Stop::Interrupted => "interrupted".to_owned(),
        (Some(report), Status::Done) => format!("stopped: {}", report.stop.reason()),
        (_, status) => status.to_string(),
    }
}

/// The same where there is little room.
fn in_a_word(run: &StoredRun) -> String {
    if run.status == Status::Died { "died".to_owned() } else { status(run) }
}

fn as_json((run, last, bytes): &WithEnd) -> Value {
    let last = last.as_ref();
    // A run of several classes has no points of its own.
    let of_all = run.report.as_ref().filter(|_| run.is_of_several_classes());
    let effort = last.map(|point| point.effort).or(of_all.map(|report| report.effort));
    json!({
        "run": run.id,
        "created": run.created,
        "created_utc": words::moment(run.created),
        "class_of": run.request.class_of,
        "class": run.request.class_of.as_ref().and(run.request.data.positive.as_ref()),
        "data": run.dataset.name,
        "loss": run.request.loss,
        "lambda": run.request.lambda,
        "algorithm": of_all.map_or(&run.choice.algorithm, |report| &report.algorithm),
        "workers": of_all.map_or(run.choice.workers, |report| report.workers),
        "engine": run.choice.engine,
        "status": run.status,
        "stop": run.report.as_ref().map(|report| report.stop),
        "goal_reached": run.report.as_ref().map(|report| report.goal_reached),
        "rounds": last.map(|point| point.round).or(of_all.map(|report| report.rounds)),
        "iterations": effort.map(|effort| effort.iterations),
        "epochs": effort.map(|effort| effort.epochs),
        "bytes_per_worker": effort.map(|effort| effort.bytes_per_worker),
        "seconds": last.map(|point| point.seconds.0).or(of_all.map(|report| report.seconds)),
        "certified_error": last.map(|point| point.certified_error).or(of_all.and_then(|report| report.certified_error)),
        "model": run.report.as_ref().map(|report| &report.model),
        "purpose": run.purpose,
        "bytes": bytes,
    })
}

fn age(run: &StoredRun) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    (now - run.created).max(0.0)
}

/// A path's last part; other names as they are.
fn short(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_owned()
}
