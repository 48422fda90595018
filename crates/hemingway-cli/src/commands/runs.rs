//! `hemingway runs`: what is in the store, the latest first.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use hemingway::{Point, Status, Stop, Store, StoredRun};
use serde_json::{Value, json};

use crate::arguments::Runs;
use crate::{output, words};

pub fn run(arguments: Runs) -> anyhow::Result<ExitCode> {
    let place = arguments.store.place()?;
    let runs = match Store::open_to_read(&place)? {
        Some(store) => runs_with_ends(&store)?,
        None => Vec::new(),
    };
    if arguments.json {
        let runs: Vec<Value> = runs.iter().map(|(run, last)| as_json(run, last.as_ref())).collect();
        output::json(&json!({ "store": place.store(), "runs": runs }))?;
    } else if runs.is_empty() {
        output::text(&format!("no runs yet in {}\n", place.store().display()))?;
        output::note("hint: `hemingway train` makes the first");
    } else {
        output::text(&table(&runs))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A run and its latest point.
type WithEnd = (StoredRun, Option<Point>);

fn runs_with_ends(store: &Store) -> Result<Vec<WithEnd>, hemingway::Error> {
    let with_end = |run: StoredRun| store.last_point(&run).map(|last| (run, last));
    store.runs()?.into_iter().map(with_end).collect()
}

fn table(runs: &[WithEnd]) -> String {
    let header =
        ["run", "when", "data", "loss", "algorithm", "workers", "engine", "status", "proved", "time"];
    output::table(&header, runs.iter().map(|(run, last)| row(run, last.as_ref())))
}

fn row(run: &StoredRun, last: Option<&Point>) -> Vec<String> {
    vec![
        run.id.clone(),
        words::ago(age(run)),
        short(&run.dataset.name),
        run.request.loss.to_string(),
        run.choice.algorithm.clone(),
        words::count(run.choice.workers),
        run.choice.engine.clone(),
        status(run),
        proved(last),
        last.map_or_else(|| "–".to_owned(), |point| words::duration(point.seconds.0)),
    ]
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

fn proved(last: Option<&Point>) -> String {
    match last {
        Some(point) if point.certified_error.is_finite() => words::percent(point.certified_error),
        _ => "–".to_owned(),
    }
}

fn as_json(run: &StoredRun, last: Option<&Point>) -> Value {
    json!({
        "run": run.id,
        "created": run.created,
        "created_utc": words::moment(run.created),
        "data": run.dataset.name,
        "loss": run.request.loss,
        "lambda": run.request.lambda,
        "algorithm": run.choice.algorithm,
        "workers": run.choice.workers,
        "engine": run.choice.engine,
        "status": run.status,
        "stop": run.report.as_ref().map(|report| report.stop),
        "goal_reached": run.report.as_ref().map(|report| report.goal_reached),
        "rounds": last.map(|point| point.round),
        "seconds": last.map(|point| point.seconds),
        "certified_error": last.map(|point| point.certified_error),
        "model": run.report.as_ref().map(|report| &report.model),
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
