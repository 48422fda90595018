//! What a model has learnt, for people: its most important coefficients.

use hemingway::{Coefficient, Coefficients, ModelFile};
use serde_json::{Value, json};

use crate::summary::table;
use crate::{output, words};

/// So many are shown unless the user says how many.
pub const SHOWN: usize = 20;

pub fn in_words(model: &ModelFile, most: usize) -> String {
    let Coefficients { intercept, standardised, normalised_rows, coefficients } = model.coefficients();
    let count = coefficients.len();
    let importance = match standardised {
        true => "by how much a standard deviation of the feature moves the margin",
        false => "by how much a unit of the feature moves the margin; features of other units compare badly",
    };
    let rows = [
        ("labels", Some(words::labels(&model.labels))),
        ("problem", Some(format!("{} loss, lambda {}", model.loss, model.lambda))),
        ("intercept", Some(words::number(intercept))),
        ("importance", Some(importance.to_owned())),
        ("rows", normalised_rows.then(|| "coefficients are of rows brought to length 1".to_owned())),
        ("shown", (most < count).then(|| format!("the {most} most important of {}", words::count(count)))),
    ];
    let rows: Vec<(&str, String)> = rows.into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
    let row = |one: &Coefficient| {
        vec![one.name.clone(), words::number(one.coefficient), words::number(one.importance)]
    };
    let list =
        output::table(&["feature", "coefficient", "importance"], coefficients.iter().take(most).map(row));
    format!("{}\n{list}", table(&rows))
}

pub fn as_json(model: &ModelFile, most: usize) -> Value {
    let all = model.coefficients();
    let count = all.coefficients.len();
    json!({
        "run": model.run,
        "loss": model.loss,
        "lambda": model.lambda,
        "labels": model.labels,
        "intercept": all.intercept,
        "standardised": all.standardised,
        "normalised_rows": all.normalised_rows,
        "features": count,
        "coefficients": all.coefficients.into_iter().take(most).collect::<Vec<_>>(),
    })
}
