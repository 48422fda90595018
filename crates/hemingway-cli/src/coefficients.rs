//! What a model has learnt, for people: its most important coefficients.

use hemingway::{ClassCoefficients, Coefficient, ModelFile};
use serde_json::{Value, json};

use crate::summary::table;
use crate::{output, words};

/// So many are shown unless the user says how many.
pub const SHOWN: usize = 20;

pub fn in_words(model: &ModelFile, most: usize) -> String {
    let all = model.coefficients();
    let count = all.of.first().map_or(0, |one| one.coefficients.len());
    let importance = match all.standardised {
        true => "by how much a standard deviation of the feature moves the margin",
        false => "by how much a unit of the feature moves the margin; features of other units compare badly",
    };
    let rows = [
        ("labels", Some(words::labels(&model.labels))),
        ("problem", Some(format!("{} loss, lambda {}", model.loss, model.lambda))),
        ("importance", Some(importance.to_owned())),
        ("rows", all.normalised_rows.then(|| "coefficients are of rows brought to length 1".to_owned())),
        ("shown", (most < count).then(|| format!("the {most} most important of {}", words::count(count)))),
    ];
    let rows: Vec<(&str, String)> = rows.into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
    let several = all.of.len() > 1;
    let lists = all.of.iter().map(|one| list(one, most, several));
    format!("{}\n{}", table(&rows), lists.collect::<Vec<_>>().join("\n"))
}

/// The intercept and the most important features.
fn list(of: &ClassCoefficients, most: usize, several: bool) -> String {
    let title = of.class.as_ref().filter(|_| several).map(|class| format!("The class {class}:\n"));
    let intercept = vec!["intercept".to_owned(), words::number(of.intercept), words::NONE.to_owned()];
    let row = |one: &Coefficient| {
        vec![one.name.clone(), words::number(one.coefficient), words::number(one.importance)]
    };
    let rows = [intercept].into_iter().chain(of.coefficients.iter().take(most).map(row));
    title.unwrap_or_default() + &output::table(&["feature", "coefficient", "importance"], rows)
}

/// Of several classes a list of them.
pub fn as_json(model: &ModelFile, most: usize) -> Value {
    let all = model.coefficients();
    let mut object = json!({
        "run": model.run,
        "loss": model.loss,
        "lambda": model.lambda,
        "labels": model.labels,
        "standardised": all.standardised,
        "normalised_rows": all.normalised_rows,
    });
    let block = |mut one: ClassCoefficients| {
        one.coefficients.truncate(most);
        one
    };
    let mut blocks: Vec<ClassCoefficients> = all.of.into_iter().map(block).collect();
    if blocks.len() == 1 {
        let ClassCoefficients { intercept, coefficients, .. } = blocks.remove(0);
        (object["intercept"], object["coefficients"]) = (intercept.into(), json!(coefficients));
    } else {
        object["classes"] = json!(blocks);
    }
    object
}
