//! `hemingway fit`: models of runs, how good they are, and what they predict.

use std::process::ExitCode;

use hemingway::{
    Ahead, Case, ChosenProblem, Estimate, Family, Fitted, Forecast, ProblemFilter, Store, Summary,
    choose_problem, summarise,
};
use serde_json::{Value, json};

use crate::arguments::Fit;
use crate::{output, words};

pub fn run(arguments: Fit) -> anyhow::Result<ExitCode> {
    let Runs { families, problem, others } = runs(&arguments)?;
    let models: Vec<Fitted> = families.into_iter().map(Fitted::to).collect();
    let about = json!({ "problem": problem, "other_problems": others });
    let ahead = match (arguments.goal, arguments.within) {
        (Some(goal), _) => Some(Ahead::Goal(goal)),
        (None, within) => within.map(Ahead::Within),
    };
    match (&arguments.predict, ahead) {
        (Some(file), _) => predictions(&models, hemingway::read_queries(file)?, arguments.json)?,
        (None, Some(ahead)) => {
            forecasts(&models, &arguments.workers, ahead, arguments.json.then_some(about))?
        }
        (None, None) => quality(&models, arguments.json.then_some(about))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What models are fitted to.
#[derive(Default)]
struct Runs {
    families: Vec<Family>,
    /// What the runs are on; unknown in traces of other programs.
    problem: Option<String>,
    /// Other problems that the store has runs on.
    others: Vec<String>,
}

fn runs(arguments: &Fit) -> anyhow::Result<Runs> {
    if let Some(file) = &arguments.traces {
        return Ok(Runs { families: hemingway::read_traces(file)?, ..Runs::default() });
    }
    let place = arguments.store.place()?;
    let store = Store::open_to_read(&place)?.ok_or_else(|| Store::missing(&place))?;
    let families = hemingway::families(&store)?;
    store.warnings().iter().for_each(|warning| output::warn(warning));
    let wanted =
        ProblemFilter { data: arguments.data.clone(), loss: arguments.loss, lambda: arguments.lambda };
    let Some(ChosenProblem { families, name, others }) = choose_problem(families, &wanted, store.file())?
    else {
        return Ok(Runs::default());
    };
    say_problem(&name, &others);
    Ok(Runs { families, problem: Some(name), others })
}

/// Which of several problems it is about, and how to ask for another.
fn say_problem(name: &str, others: &[String]) {
    if others.is_empty() {
        return;
    }
    let more = others.len().saturating_sub(MOST_OTHERS);
    let mut lines: Vec<String> = others.iter().take(MOST_OTHERS).map(|other| format!("  {other}")).collect();
    lines.extend((more > 0).then(|| format!("  and {more} more")));
    output::note(&format!(
        "note: these are the runs on {name}; DATA, --loss and --lambda choose among the other problems:\n{}",
        lines.join("\n")
    ));
}

/// So many other problems are named; all of them are in the JSON.
const MOST_OTHERS: usize = 8;

fn predictions(models: &[Fitted], queries: Vec<hemingway::Query>, json: bool) -> anyhow::Result<()> {
    let answers = hemingway::predict_traces(models, queries);
    if json {
        let predictions: Vec<_> = answers.iter().map(|(_, prediction)| prediction).collect();
        return output::json(&json!({ "predictions": predictions }));
    }
    for (query, prediction) in &answers {
        let what = format!("{} on {} workers, iteration {}", query.algorithm, query.workers, query.iteration);
        let (seconds, value) = (figure(prediction.seconds.as_ref()), figure(prediction.value.as_ref()));
        output::text(&format!("{what}: seconds {seconds}, value {value}\n"))?;
        prediction.warnings.iter().for_each(|warning| output::note(&format!("{what}: {warning}")));
    }
    Ok(())
}

/// How long a goal takes, or how far a time goes, for every family and number of workers.
///
/// With what is said of the problem it is JSON.
fn forecasts(models: &[Fitted], workers: &[usize], ahead: Ahead, json: Option<Value>) -> anyhow::Result<()> {
    let of = |fitted: &Fitted| -> Vec<Forecast> {
        let asked = if workers.is_empty() { measured_workers(&fitted.family) } else { workers.to_vec() };
        asked.into_iter().filter_map(|workers| fitted.forecast(workers, ahead)).collect()
    };
    if let Some(mut object) = json {
        object["families"] = models
            .iter()
            .map(|fitted| json!({ "family": about(&fitted.family), "forecasts": of(fitted) }))
            .collect();
        return output::json(&object);
    }
    for fitted in models {
        output::text(&format!("{}\n", title(&fitted.family)))?;
        let row = |forecast: Forecast| {
            let last = match ahead {
                Ahead::Goal(_) => written(forecast.seconds.as_ref(), words::duration),
                Ahead::Within(_) => figure(forecast.value.as_ref()),
            };
            vec![
                words::count(forecast.workers),
                written(forecast.iterations.as_ref(), |rounds| words::count(rounds as usize)),
                last,
                forecast.warning.unwrap_or_default(),
            ]
        };
        let last = if matches!(ahead, Ahead::Goal(_)) { "time" } else { "value" };
        let header = ["workers", "iterations", last, "extrapolated"];
        output::text(&output::table(&header, of(fitted).into_iter().map(row)))?;
    }
    Ok(())
}

/// The models in words, and how good they are; with what is said of the problem it is JSON.
fn quality(models: &[Fitted], json: Option<Value>) -> anyhow::Result<()> {
    let mut cases = Vec::new();
    let mut families = Vec::new();
    for fitted in models {
        let of_one = fitted.evaluate();
        if json.is_some() {
            families.push(as_json(fitted, &of_one));
        } else {
            output::text(&in_words(fitted))?;
        }
        cases.extend(of_one);
    }
    if let Some(mut object) = json {
        object["families"] = families.into();
        object["errors"] = serde_json::to_value(summarise(&cases))?;
        return output::json(&object);
    }
    output::text(&errors(&cases))
}

fn in_words(fitted: &Fitted) -> String {
    let (seconds, values) = described(fitted);
    let values = values.replace('\n', "\n                         ");
    let title = title(&fitted.family);
    format!("{title}\n  seconds per iteration  {seconds}\n  value                  {values}\n")
}

/// Beside the models: what is measured already, in place of what comes; and the curves of others.
const BASELINES: [&str; 6] = ["persistence", "nearest m", "as on 1/4", "ernest", "curve", "lasso"];

/// A line for each question, with the median error of the models and of the baselines.
fn errors(cases: &[Case]) -> String {
    if cases.is_empty() {
        return "\ntoo few runs to hold one out; `hemingway measure` makes more\n".to_owned();
    }
    let summaries = summarise(cases);
    let mut header = vec!["median error", "cases", "model", "9 of 10", "inside 90 %"];
    header.extend(BASELINES);
    let of = |question, method: &str| {
        summaries.iter().find(|summary| summary.question == question && summary.method == method)
    };
    let row = |ours: &Summary| {
        let mut row = vec![ours.question.to_string(), words::count(ours.cases)];
        row.extend([words::percent(ours.median), words::percent(ours.p90)]);
        row.push(ours.covered.map_or_else(|| "–".to_owned(), words::percent));
        let median = |method: &&str| {
            of(ours.question, method).map_or_else(String::new, |theirs| words::percent(theirs.median))
        };
        row.extend(BASELINES.iter().map(median));
        row
    };
    let ours = summaries.iter().filter(|summary| summary.method == "model");
    format!("\n{}", output::table(&header, ours.map(row)))
}

fn described(fitted: &Fitted) -> (String, String) {
    let seconds = match &fitted.system {
        Ok(model) => {
            let terms = model.terms();
            let terms: Vec<String> =
                terms.iter().map(|term| format!("{:.3e}·{}", term.seconds, term.name)).collect();
            let error = model
                .held_out_error()
                .map(|error| format!(" (off by {} on runs held out)", words::percent(error)));
            terms.join(" + ") + &error.unwrap_or_default()
        }
        Err(problem) => problem.clone(),
    };
    let values = match fitted.convergence() {
        Some(Ok(model)) => model.description(),
        Some(Err(problem)) => problem.clone(),
        None => String::new(),
    };
    (seconds, values)
}

fn as_json(fitted: &Fitted, cases: &[Case]) -> Value {
    let (seconds, values) = described(fitted);
    let system = match &fitted.system {
        Ok(model) => json!({ "seconds_per_iteration": seconds, "held_out_error": model.held_out_error() }),
        Err(problem) => json!({ "problem": problem }),
    };
    let convergence = match fitted.convergence() {
        Some(Ok(_)) => json!({ "description": values }),
        Some(Err(problem)) => json!({ "problem": problem }),
        None => Value::Null,
    };
    let errors = summarise(cases);
    json!({ "family": about(&fitted.family), "system": system, "convergence": convergence, "errors": errors })
}

fn measured_workers(family: &Family) -> Vec<usize> {
    let mut workers: Vec<usize> = family.observations.iter().map(|seen| seen.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    workers
}

/// One line about a family.
fn title(family: &Family) -> String {
    let algorithm = console::style(&family.algorithm).bold();
    match &family.problem {
        None => algorithm.to_string(),
        Some(problem) => {
            let data = problem.data.spec.rsplit('/').next().unwrap_or(&problem.data.spec);
            format!("{algorithm} on {data}, {}, λ = {:e}, {}", problem.loss, problem.lambda, problem.engine)
        }
    }
}

fn about(family: &Family) -> Value {
    json!({ "algorithm": family.algorithm, "problem": family.problem, "workers": measured_workers(family) })
}

fn figure(estimate: Option<&Estimate>) -> String {
    written(estimate, words::number)
}

fn written(estimate: Option<&Estimate>, write: fn(f64) -> String) -> String {
    estimate.map_or_else(
        || "unknown".to_owned(),
        |Estimate { low, mean, high }| format!("{} ({} to {})", write(*mean), write(*low), write(*high)),
    )
}
