//! The end of `train`, for someone who sees it for the first time.

use hemingway::{Stop, TrainReport};

use crate::{lambda, metrics, output, plan, table, words};

/// What was trained, how, how good it is, and what to do with it.
pub fn summary(report: &TrainReport, verbose: bool) -> String {
    let rows: Vec<(&str, String)> = [
        ("data", Some(data(report))),
        ("labels", Some(table::labels(&report.dataset))),
        ("weights", words::class_weights(&report.dataset)),
        ("columns", report.dataset.table.as_ref().map(table::columns)),
        ("scaling", scaling(report)),
        ("lambda", report.lambda_choice.as_ref().map(|chosen| lambda::in_words(&chosen.choice))),
        ("method", Some(method(report))),
        ("step size", step_size(report)),
        ("time", Some(time(report))),
        ("effort", words::effort(&report.effort, report.rounds)),
        ("wall time", Some(wall_time(report))),
        ("predicted", predicted(report)),
        ("actual", actual(report)),
        ("overhead", overhead(report)),
        ("switched", switched(report)),
        ("slow", slow(report)),
        ("cost", report.cost.map(words::cost)),
        ("objective", Some(objective(report))),
        ("proved", Some(proved(report))),
        ("accuracy", quality(report.train_accuracy, report.test_accuracy, words::share)),
        ("rms error", quality(report.train_rmse, report.test_rmse, words::number)),
        ("warning", report.dataset.table.as_ref().and_then(table::hashed)),
        ("warning", dropped(report)),
        ("model", Some(report.model.display().to_string())),
        ("run", Some(report.run.clone())),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, text?)))
    .collect();
    let path = report.lambda_choice.as_ref().map(lambda::table).unwrap_or_default();
    let test = report.test_metrics.as_ref();
    let test = test.map(|test| format!("On the test data:\n{}\n", metrics::more(test))).unwrap_or_default();
    let columns = report.dataset.table.as_ref().filter(|_| verbose).map(table::every_column);
    let columns = columns.map_or_else(String::new, |columns| format!("Columns:\n{columns}\n"));
    let (head, classes) = (headline(report), classes(report));
    format!("{head}\n\n{}\n{path}{classes}{test}{columns}{}", self::table(&rows), next(report))
}

/// A line for each of several classes.
pub fn classes(report: &TrainReport) -> String {
    if report.classes.is_empty() {
        return String::new();
    }
    let rows = report.classes.iter().map(|class| {
        vec![
            class.name.clone(),
            class.rows.map_or_else(|| words::NONE.to_owned(), words::count),
            class.algorithm.clone(),
            words::count(class.rounds as usize),
            words::duration(class.seconds),
            class.certified_error.map_or_else(|| words::NONE.to_owned(), words::error),
            class.run.clone(),
        ]
    });
    let header = ["class", "rows", "algorithm", "rounds", "time", "error", "run"];
    format!("{}\n", output::table(&header, rows))
}

/// The certified error in words.
pub fn proved(report: &TrainReport) -> String {
    match (report.certified_error, report.relative_to_start) {
        (Some(error), false) => {
            let worst = if report.classes.is_empty() { "" } else { " in the worst class" };
            format!("error {}{worst}, relative to the best possible objective", words::error(error))
        }
        (Some(error), true) => {
            format!("error {}, relative to the objective at the start", words::error(error))
        }
        (None, _) => "no error".to_owned(),
    }
}

/// Names on the left, texts on the right.
pub fn table(rows: &[(&str, String)]) -> String {
    let line = |name: &str, text: &str| {
        format!("  {}{}\n", console::style(format!("{name:<12}")).bold(), output::wrapped(text, 14))
    };
    rows.iter().map(|(name, text)| line(name, text)).collect()
}

fn headline(report: &TrainReport) -> String {
    let text = match report.stop {
        Stop::Interrupted => "Interrupted; the best model so far is saved.".to_owned(),
        Stop::Diverged => {
            "Diverged: the objective grew without bound. The best model seen is saved.".to_owned()
        }
        Stop::Unreachable => format!(
            "Stopped: no model reaches this objective; every model has at least {}. The best model so far is saved.",
            words::number(report.dual.unwrap_or(0.0))
        ),
        stop if report.goal_reached => format!("Trained: {}.", stop.reason()),
        stop => format!("Stopped before the goal: {}. The best model so far is saved.", stop.reason()),
    };
    console::style(text).bold().to_string()
}

fn data(report: &TrainReport) -> String {
    let data = &report.dataset;
    format!("{}: {} rows, {}", data.name, words::count(data.rows), words::features(data))
}

/// Of tables, where it is not what other data gets.
fn scaling(report: &TrainReport) -> Option<String> {
    report.dataset.table.as_ref().map(|_| table::scaling(report.standardise, report.bias))
}

fn method(report: &TrainReport) -> String {
    let workers = words::counted(report.workers, "worker");
    let workers = if report.classes.is_empty() { workers } else { format!("up to {workers}") };
    format!("{} loss, {} with {workers} on the {} engine", report.loss, report.algorithm, report.engine)
}

fn step_size(report: &TrainReport) -> Option<String> {
    let size = words::number(report.step_size?);
    let origin = if report.parameters.step_size.is_some() { "as given" } else { "found at the start" };
    Some(format!("{size}, {origin}"))
}

fn time(report: &TrainReport) -> String {
    let clock = if report.engine == "simulated" { "simulated" } else { "training" };
    let rounds = words::counted(report.rounds as usize, "round");
    format!("{} {clock} in {rounds}", words::duration(report.seconds))
}

fn wall_time(report: &TrainReport) -> String {
    let [load, train] = [report.load_seconds, report.wall_seconds].map(words::duration);
    let shuffle = report.shuffle_seconds.map(|seconds| format!(" (shuffle {})", words::duration(seconds)));
    format!("load {load}{}, train and score {train}", shuffle.unwrap_or_default())
}

/// What was predicted: the time from the profile to the goal, or the error at the deadline.
fn predicted(report: &TrainReport) -> Option<String> {
    let plan = report.plan.as_ref()?;
    let seconds = plan::predicted_seconds(plan, report.before_seconds);
    let time = seconds.map(|seconds| words::interval(&seconds, words::predicted_duration));
    time.or_else(|| plan::predicted_error(plan).map(|error| format!("error {error}")))
}

/// What came of it, as it was predicted.
fn actual(report: &TrainReport) -> Option<String> {
    let plan = report.plan.as_ref()?;
    let actual = report.seconds + report.before_seconds;
    let time = plan::predicted_seconds(plan, report.before_seconds).map(|seconds| {
        format!("{}; actual / predicted = {:.2}", words::duration(actual), actual / seconds.mean)
    });
    time.or_else(|| plan.error.as_ref().map(|_| format!("error {}", words::proved(report))))
}

/// What is part of the time but not of any round.
fn overhead(report: &TrainReport) -> Option<String> {
    report.plan.as_ref()?;
    let before = format!("profile and planning {}", words::duration(report.before_seconds));
    let later = report.overhead_seconds - report.before_seconds;
    let later = (!report.switches.is_empty()).then(|| format!("switches {}", words::duration(later)));
    Some([Some(before), later].into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn switched(report: &TrainReport) -> Option<String> {
    let steps = report.switches.iter().map(|switch| {
        format!(
            "from {} to {} at {}",
            switch.from.name(),
            switch.to.name(),
            words::duration(switch.at_seconds)
        )
    });
    let steps: Vec<String> = steps.collect();
    (!steps.is_empty()).then(|| steps.join(", "))
}

/// Workers that are slower than the others.
fn slow(report: &TrainReport) -> Option<String> {
    let slow = report.stragglers.iter().take(MOST_SLOW);
    let slow: Vec<String> = slow
        .map(|slow| {
            format!(
                "worker {} on {} took {:.1} times as long as the median",
                slow.worker, slow.host, slow.factor
            )
        })
        .collect();
    let rest = report.stragglers.len().saturating_sub(MOST_SLOW);
    let rest = (rest > 0).then(|| format!("and {rest} more"));
    (!slow.is_empty()).then(|| slow.into_iter().chain(rest).collect::<Vec<_>>().join(", "))
}

/// So many slow workers are named.
const MOST_SLOW: usize = 3;

fn objective(report: &TrainReport) -> String {
    let of_all = if report.classes.is_empty() { "" } else { ", the sum over all classes" };
    let value = format!("{}{of_all}", words::number(report.primal));
    match report.dual {
        Some(dual) => format!("{value}; no model has less than {}", words::number(dual)),
        None => value,
    }
}

fn quality(train: Option<f64>, test: Option<f64>, write: fn(f64) -> String) -> Option<String> {
    let train = format!("{} on the training data", write(train?));
    Some(match test {
        Some(test) => format!("{} on the test data, {train}", write(test)),
        None => train,
    })
}

fn dropped(report: &TrainReport) -> Option<String> {
    let values = report.test_dropped_values.filter(|count| *count > 0)?;
    let values = words::counted(values, "value");
    Some(format!("{values} of the test data left out, of features that the training data does not have"))
}

fn next(report: &TrainReport) -> String {
    let run = &report.run;
    let predict = format!("  hemingway predict {} DATA\n", shell_word(&report.model.to_string_lossy()));
    let show = format!("  hemingway show {run}\n");
    let resume = format!("  hemingway train --resume {run}\n");
    let unfinished = !report.goal_reached && can_go_on(report.stop);
    format!("Next:\n{predict}{show}{}", if unfinished { resume } else { String::new() })
}

/// Whether more time would help.
pub fn can_go_on(stop: Stop) -> bool {
    !matches!(stop, Stop::NoProgress | Stop::Diverged | Stop::Unreachable)
}

/// Quoted if a shell would take it apart.
fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:=@,".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
