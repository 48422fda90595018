//! Choosing lambda in words: what is planned, what was chosen, and the score of every lambda.

use hemingway::{LambdaChoice, LambdaPlan, LambdaPoint, LambdaReport, LambdaRequest, Score, Select};

use crate::arguments::{Choosing, Lambda, Problem, SelectBy};
use crate::failure::Usage;
use crate::{output, words};

/// How lambda is to be chosen, if it is.
pub fn request(problem: &Problem, choosing: &Choosing) -> anyhow::Result<Option<LambdaRequest>> {
    let Lambda::Several(grid) = &problem.lambda else {
        return match choosing.given() {
            None => Ok(None),
            Some(flag) => Err(Usage(format!(
                "{flag} says how lambda is chosen, and one --lambda is given\nhint: add --lambda auto"
            ))
            .into()),
        };
    };
    let defaults = LambdaRequest::default();
    Ok(Some(LambdaRequest {
        grid: grid.clone(),
        folds: choosing.folds.unwrap_or(defaults.folds),
        fold_file: choosing.fold_file.clone(),
        validation: choosing.validation.clone(),
        select: match choosing.select {
            Some(SelectBy::Accuracy) => Select::Accuracy,
            Some(SelectBy::Loss) | None => Select::Loss,
        },
        one_standard_error: choosing.one_standard_error,
        error: choosing.path_error.unwrap_or(defaults.error),
    }))
}

/// What is said before lambda is chosen.
pub fn plan(how: &LambdaRequest, plan: &LambdaPlan) -> String {
    let (first, last) = (plan.lambdas.first(), plan.lambdas.last());
    let [first, last] = [first, last].map(|lambda| words::error(lambda.copied().unwrap_or_default()));
    let rows = match &how.validation {
        Some(spec) => format!("tried on {spec}"),
        None => format!("each on {} folds", plan.folds),
    };
    let mut lines = vec![format!(
        "{} from {first} to {last}, {rows}, models to error {}",
        words::counted(plan.lambdas.len(), "lambda"),
        words::error(how.error)
    )];
    lines.extend(plan.stretches().into_iter().map(|(range, configuration)| {
        let [from, to] = [range.start, range.end - 1].map(|at| words::error(plan.lambdas[at]));
        let until = if from == to { String::new() } else { format!(" to {to}") };
        format!("{from}{until}: {}", configuration.name())
    }));
    lines.push(arrangement(plan));
    let named = |(at, line): (usize, String)| {
        format!("{:<10}{}", if at == 0 { "Lambda" } else { "" }, output::wrapped(&line, 10))
    };
    lines.into_iter().enumerate().map(named).collect::<Vec<_>>().join("\n")
}

/// How many models at the same time, and what that is predicted to take.
fn arrangement(plan: &LambdaPlan) -> String {
    let how = match plan.side_by_side {
        1 => "one model after the other".to_owned(),
        several => format!("{several} models side by side"),
    };
    let time = words::predicted_duration(plan.predicted_seconds);
    let otherwise = plan.otherwise_seconds.map(|seconds| {
        let other =
            if plan.side_by_side == 1 { "side by side" } else { "one after the other on more workers" };
        format!("; {other} {}", words::predicted_duration(seconds))
    });
    format!("{how}: predicted {time} from zero weights{}", otherwise.unwrap_or_default())
}

/// What is said once it is chosen.
pub fn chosen(report: &LambdaReport) -> String {
    let text = format!("{} in {}", in_words(&report.choice), words::duration(report.seconds));
    format!("{:<10}{}", "Chosen", output::wrapped(&text, 10))
}

/// `2.2e-5, the best of 19 by log-loss on 5 folds: 0.3235 ± 0.0012`.
pub fn in_words(choice: &LambdaChoice) -> String {
    let rows = match (&choice.validation, choice.folds) {
        (Some(spec), _) => spec.clone(),
        (None, folds) => format!("{} folds", folds.unwrap_or_default()),
    };
    let which = match choice.lambda == choice.best {
        true => format!("the best of {}", choice.tried),
        false => format!(
            "the largest of {} within one standard error of the best ({})",
            choice.tried,
            words::error(choice.best)
        ),
    };
    let score = score(&choice.score, choice.value);
    format!("{}, {which} by {} on {rows}: {score}", words::error(choice.lambda), name(&choice.score))
}

fn name(score: &str) -> &str {
    match score {
        "log_loss" => "log-loss",
        "rmse" => "rms error",
        other => other,
    }
}

/// A mean with its standard error, to the digits that the error leaves.
fn score(name: &str, score: Score) -> String {
    let (factor, unit) = if name == "accuracy" { (100.0, " %") } else { (1.0, "") };
    let [mean, error] = [factor * score.mean, factor * score.standard_error];
    let digits = if error > 0.0 { (1.0 - error.log10().floor()).clamp(0.0, 9.0) as usize } else { 5 };
    format!("{mean:.digits$} ± {error:.digits$}{unit}")
}

/// Every lambda with its score, and where that lies between the best and the worst.
pub fn table(report: &LambdaReport) -> String {
    let choice = &report.choice;
    let select = if choice.score == "accuracy" { Select::Accuracy } else { Select::Loss };
    let means: Vec<f64> = report.points.iter().map(|point| point.score(select).mean).collect();
    let both = choice.score == "log_loss" || choice.score == "loss";
    let row = |point: &LambdaPoint| {
        let mark = if point.lambda == choice.lambda { "chosen" } else { "" };
        let accuracy = point.accuracy.filter(|_| both).map(|value| score("accuracy", value));
        let mut row = vec![words::error(point.lambda), score(&choice.score, point.score(select))];
        row.extend(accuracy);
        row.extend([
            words::error(point.certified_error),
            words::duration(point.seconds),
            curve(point.score(select).mean, &means),
            mark.to_owned(),
        ]);
        row
    };
    let mut header = vec!["lambda", name(&choice.score)];
    if report.points.iter().any(|point| both && point.accuracy.is_some()) {
        header.push("accuracy");
    }
    header.extend(["proved", "time", "", ""]);
    format!("{}\n", output::table(&header, report.points.iter().map(row)))
}

/// A star where a value lies between the smallest and the largest.
fn curve(value: f64, all: &[f64]) -> String {
    let finite = || all.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let share = if high > low { (value - low) / (high - low) } else { 0.0 };
    let at = if share.is_finite() { (share * (WIDTH - 1) as f64).round() as usize } else { WIDTH - 1 };
    format!("{}*", " ".repeat(at.min(WIDTH - 1)))
}

/// How wide the curve is, in characters.
const WIDTH: usize = 16;
